/*
 * rvtrace: a run's profile, from its symbols to a file
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "elf-file.h"
#include "flamegraph.h"
#include "results.h"

void profile_options_clear(ProfileOptions *o)
{
    g_strfreev(o->kallsyms);
    g_free(o->title);
}

SymbolTable *profile_load_symbols(const CliTrace *ct,
                                  const ProfileOptions *o)
{
    g_autoptr(SymbolTable) table = symbols_new();
    g_autoptr(GError) err = NULL;

    for (char **p = ct->elfs; p && *p; p++) {
        uint64_t bias;
        g_autofree char *path = elf_file_split(*p, &bias, &err);

        if (!path || !symbols_add_elf(table, path, bias, &err)) {
            cli_error("--elf: %s", err->message);
            return NULL;
        }
    }
    for (char **p = o->kallsyms; p && *p; p++) {
        if (!symbols_add_kallsyms(table, *p, &err)) {
            cli_error("--kallsyms: %s", err->message);
            return NULL;
        }
    }
    symbols_sort(table);
    return g_steal_pointer(&table);
}

static void warn_full(const Profile *profile)
{
    if (profile->full) {
        cli_warn("more than %u different call stacks, %u frames in one or "
                 "%u functions: the innermost frames of some are counted with "
                 "their callers", PROFILE_MAX_NODES, PROFILE_MAX_DEPTH,
                 PROFILE_MAX_FRAMES);
    }
}

Profile *profile_join(const Results *r)
{
    Profile *all = profile_new(r->symbols);
    unsigned harts = 0;

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        harts += r->harts[i] != NULL;
    }
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        unsigned top = PROFILE_ROOT;

        if (!r->harts[i]) {
            continue;
        }
        if (harts > 1) {
            g_autofree char *name = g_strdup_printf("hart %u", i);

            top = profile_child(all, PROFILE_ROOT,
                                profile_label(all, FRAME_GROUP, name));
        }
        profile_merge(all, top, r->harts[i]->profile);
    }
    warn_full(all);
    return all;
}

static void write_flamegraph(Profile *profile, const CliTrace *ct,
                             const ProfileOptions *o, FILE *f)
{
    g_autofree char *count = flamegraph_commas(profile_sum(profile));
    g_autofree char *base = g_path_get_basename(*ct->traces);
    g_autofree char *title = o->title ? g_strdup(o->title) :
        g_strdup_printf("Instructions by call stack: %s", base);
    g_autofree char *subtitle = NULL;

    if (ct->hart >= 0) {
        subtitle = g_strdup_printf("%s instructions of hart %d", count,
                                   ct->hart);
    } else {
        subtitle = g_strdup_printf("%s instructions", count);
    }
    flamegraph_write(profile, &(FlameOptions) {
        .title = title,
        .subtitle = subtitle,
        .width = o->width,
        .min_width = o->min_width,
    }, f);
}

void profile_write(Profile *profile, const CliTrace *ct,
                   const ProfileOptions *o, bool svg, FILE *f)
{
    if (svg) {
        write_flamegraph(profile, ct, o, f);
    } else {
        profile_sum(profile);
        profile_write_folded(profile, f);
    }
}

bool profile_options_valid(const ProfileOptions *o)
{
    if (o->width < 200 || o->width > 100000) {
        cli_error("--width %d: must be between 200 and 100000 pixels",
                  o->width);
        return false;
    }
    if (!(o->min_width >= 0)) {
        cli_error("--min-width: must not be negative");
        return false;
    }
    return true;
}
