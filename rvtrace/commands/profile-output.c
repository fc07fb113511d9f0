/*
 * rvtrace: a run's profile, from its symbols to a file
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "elf/elf-file.h"
#include "views/report/flamegraph.h"
#include "names/guest-text.h"
#include "names/kernel-elf.h"
#include "names/kernel-image.h"
#include "names/object-elf.h"
#include "names/sysroot.h"
#include "analysis/results.h"
#include "samples/perf-samples.h"
#include "views/report/report.h"

void profile_options_clear(ProfileOptions *o)
{
    g_strfreev(o->kallsyms);
    g_strfreev(o->sysroots);
    g_free(o->layers);
    g_free(o->sort);
    g_free(o->comm);
    g_free(o->dso);
    g_free(o->sym);
    g_free(o->callers);
    g_free(o->format);
    g_strfreev(o->source_prefixes);
    g_free(o->weight);
    g_free(o->time);
    g_free(o->object);
    g_free(o->object_file);
    g_strfreev(o->include);
    g_strfreev(o->exclude);
    g_free(o->title);
}

/*
 * An object with its code, for views that show it; a file of symbols alone
 * will do, too. Code of modules is not where their symbols say.
 */
static Object *elf_object(ObjectTable *table, const char *path)
{
    Object *o = object_elf_load(table, path, path, NULL);

    if (o && o->kind == OBJECT_MODULE) {
        object_drop(table, o);
        o = NULL;
    }
    return o ?: object_new(table, OBJECT_PROGRAM, path, path);
}

/* A kernel's Image has code and names, too, and a place of its own. */
static bool add_image(Names *names, ObjectTable *table, const char *path,
                      uint64_t bias)
{
    Object *kernel = kernel_image_load(table, path, NULL);

    if (kernel) {
        kernel_image_symbols(kernel);
        names_add_fixed(names, kernel, KERNEL_ELF_BASE + bias);
    }
    return kernel;
}

static bool add_elf(Names *names, ObjectTable *table, const char *arg)
{
    g_autoptr(GError) err = NULL;
    uint64_t bias;
    g_autofree char *path = elf_file_split(arg, &bias, &err);
    g_autoptr(SymbolTable) symbols = NULL;
    Object *o;

    if (!path) {
        cli_error("--elf: %s", err->message);
        return false;
    }
    symbols = symbols_new();
    if (!symbols_add_elf(symbols, path, 0, &err)) {
        if (add_image(names, table, path, bias)) {
            return true;
        }
        cli_error("--elf: %s", err->message);
        return false;
    }
    symbols_sort(symbols);
    o = elf_object(table, path);
    symbols_free(o->symbols);
    o->symbols = g_steal_pointer(&symbols);
    names_add_fixed(names, o, bias);
    return true;
}

static bool add_kallsyms(Names *names, ObjectTable *table, char **paths)
{
    g_autoptr(GError) err = NULL;
    Object *o;

    if (!paths) {
        return true;
    }
    o = object_new(table, OBJECT_KERNEL, "[kernel]", NULL);
    for (; *paths; paths++) {
        if (!symbols_add_kallsyms(o->symbols, *paths, &err)) {
            cli_error("--kallsyms: %s", err->message);
            return false;
        }
    }
    symbols_sort(o->symbols);
    names_add_fixed(names, o, 0);
    return true;
}

/* Look for what ran of all parts of @t. */
static bool scan_sysroots(Names *names, const Trace *t, char **roots)
{
    g_autoptr(GError) err = NULL;
    char **all = roots;
    unsigned malformed;

    for (const Trace *part = t; part; part = part->next) {
        if (part->sideband) {
            names_add_sideband(names, part->sideband);
        }
    }
    for (; roots && *roots; roots++) {
        if (!sysroot_scan(names, *roots, &err)) {
            cli_error("--sysroot: %s", err->message);
            return false;
        }
    }
    names_decide(names);
    malformed = names_add_texts(names, all);
    if (malformed) {
        cli_warn("%u lines that the guest sent as texts make no sense, and "
                 "are left out; see rvtrace-guest", malformed);
    }
    return true;
}

/* Did the guest of any part say something of itself? */
static bool has_texts(const Trace *t)
{
    for (const Trace *part = t; part; part = part->next) {
        if (part->sideband && guest_text_in(part->sideband)) {
            return true;
        }
    }
    return false;
}

char **profile_sysroots(const CliTrace *ct, const ProfileOptions *o)
{
    return o->sysroots ?: ct->shard_sysroots;
}

/* By what perf recorded of their maps */
static void name_processes(const Names *names, PerfSamples *samples,
                           ObjectTable *table, char **roots)
{
    unsigned missing;

    process_table_names(samples->processes, names, roots, table, &missing);
    if (missing) {
        cli_warn("%u files that processes had mapped are not below a "
                 "--sysroot, or are no ELF files", missing);
    }
}

Names *profile_load_names(const CliTrace *ct, const ProfileOptions *o,
                          const Trace *t, ObjectTable *table)
{
    g_autoptr(Names) names = names_new(table);
    char **sysroots = profile_sysroots(ct, o);

    for (char **p = ct->elfs; p && *p; p++) {
        if (!add_elf(names, table, *p)) {
            return NULL;
        }
    }
    if (!add_kallsyms(names, table, o->kallsyms ?: ct->shard_kallsyms)) {
        return NULL;
    }
    if (t->samples) {
        name_processes(names, t->samples, table, sysroots);
    } else if ((sysroots || has_texts(t)) &&
               !scan_sysroots(names, t, sysroots)) {
        return NULL;
    }
    if (!o->no_demangle) {
        names_demangle(names);
    }
    return g_steal_pointer(&names);
}

bool profile_parse_layers(Results *r, const ProfileOptions *o)
{
    static const char *const texts[CALLSTACK_NR_LAYERS] = {
        [CALLSTACK_LAYER_COMM] = "comm",
        [CALLSTACK_LAYER_PROCESS] = "process",
        [CALLSTACK_LAYER_THREAD] = "thread",
        [CALLSTACK_LAYER_PRIV] = "priv",
    };
    g_auto(GStrv) words = g_strsplit(o->layers ? o->layers : "comm", ",", -1);

    r->layers.names = r->names;
    for (char **w = words; *w; w++) {
        unsigned i = 0;

        if (w == words && (g_str_equal(*w, "hart") ||
                           (!**w && !words[1]))) {
            r->hart_layer = **w;
            continue;
        }
        while (i < CALLSTACK_NR_LAYERS && !g_str_equal(*w, texts[i])) {
            i++;
        }
        if (i == CALLSTACK_NR_LAYERS ||
            r->layers.nr_layers == CALLSTACK_NR_LAYERS) {
            cli_error("--layers %s: must be some of comm, process, thread, "
                      "priv, separated by commas, with hart in front or not",
                      o->layers);
            return false;
        }
        r->layers.layers[r->layers.nr_layers++] = i;
    }
    return true;
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

/* What each node of the hart's profile took, ns; the caller frees it. */
static uint64_t *times(const HartResult *h)
{
    uint64_t *ns = g_new(uint64_t, h->profile->nodes->len);

    for (guint i = 0; i < h->profile->nodes->len; i++) {
        ns[i] = weights_get(h->weights, i);
    }
    return ns;
}

Profile *profile_join(const Results *r, bool by_time)
{
    g_autoptr(Profile) all = profile_new();

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        g_autofree uint64_t *weights = NULL;
        unsigned top = PROFILE_ROOT;

        if (!r->harts[i]) {
            continue;
        }
        weights = by_time ? times(r->harts[i]) : NULL;
        if (r->hart_layer) {
            g_autofree char *name = g_strdup_printf("hart %u", i);

            top = profile_child(all, PROFILE_ROOT,
                                profile_label(all, FRAME_GROUP, name));
        }
        profile_merge(all, top, r->harts[i]->profile, weights);
    }
    warn_full(all);
    return profile_tidy(all);
}

Counts *counts_join(const Results *r)
{
    Counts *all = counts_new(names_objects(r->names), r->tasks);

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            counts_merge(all, r->harts[i]->ranges);
        }
    }
    counts_sort(all);
    return all;
}

static void write_flamegraph(Profile *profile, const Results *r,
                             const ProfileOptions *o, FILE *f)
{
    const CliTrace *ct = r->ct;
    uint64_t selected;
    g_autofree char *count = flamegraph_commas(profile_sum(profile));
    g_autofree char *ran = flamegraph_commas(results_insns(r, &selected));
    g_autofree char *base = g_path_get_basename(*ct->traces);
    g_autofree char *title = o->title ? g_strdup(o->title) :
        g_strdup_printf("%s by call stack: %s", r->by_time ?
                        "Virtual time" : "Instructions", base);
    g_autoptr(GString) subtitle = g_string_new(NULL);

    g_string_append_printf(subtitle, "%s %s", count, r->by_time ?
                           "ns of virtual time" : "instructions");
    if (ct->hart >= 0) {
        g_string_append_printf(subtitle, " of hart %d", ct->hart);
    }
    if (ct->selection) {
        g_string_append_printf(subtitle, ", selected from %s%s", ran,
                               r->by_time ? " instructions" : "");
    }
    flamegraph_write(profile, &(FlameOptions) {
        .title = title,
        .subtitle = subtitle->str,
        .width = o->width,
        .min_width = o->min_width,
        .unit = r->by_time ? "ns" : NULL,
        .icicle = o->icicle,
    }, f);
}

void profile_write(Profile *profile, const Results *r,
                   const ProfileOptions *o, bool svg, FILE *f)
{
    if (svg) {
        write_flamegraph(profile, r, o, f);
    } else {
        profile_sum(profile);
        profile_write_folded(profile, f);
    }
}

SourceTree *profile_sources(const CliTrace *ct, const ProfileOptions *o)
{
    char **sysroots = profile_sysroots(ct, o);

    return source_tree_new(o->source_prefixes, sysroots ? *sysroots : NULL,
                           NULL);
}

bool profile_options_valid(const ProfileOptions *o)
{
    g_autoptr(SourceTree) sources = NULL;
    g_autoptr(GError) err = NULL;
    ReportOptions report;
    TableFormat format;

    if (o->sort && !report_parse_keys(o->sort, &report)) {
        cli_error("--sort %s: must be some of comm, pid, tid, dso, sym, priv, "
                  "hart, srcline, srcfile, separated by commas", o->sort);
        return false;
    }
    if (o->format && !table_parse_format(o->format, &format)) {
        cli_error("--format %s: must be text, tsv or json", o->format);
        return false;
    }
    if (o->format && o->callers) {
        cli_error("--callers writes text only: leave out --format");
        return false;
    }
    sources = source_tree_new(o->source_prefixes, NULL, &err);
    if (!sources) {
        cli_error("--source-prefix: %s", err->message);
        return false;
    }
    if (o->min_percent < 0 || o->max_rows < 0) {
        cli_error("--percent-limit, --rows: must not be negative");
        return false;
    }
    if (o->fail_under > 100) {
        cli_error("--fail-under: 0 to 100 per cent");
        return false;
    }
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
