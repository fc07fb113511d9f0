/*
 * rvtrace folded, flamegraph: where the instructions went
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "callstack.h"
#include "cli.h"
#include "elf-file.h"
#include "flamegraph.h"

typedef struct ProfileState {
    CliTrace *ct;
    TraceDecoder d;
    CallStack *stack;
} ProfileState;

/* The options of both subcommands */
typedef struct ProfileOptions {
    CliTrace ct;
    char **kallsyms;
    gboolean merge_spaces;
    char *output;
    char *title;
    int width;
    double min_width;
} ProfileOptions;

static void options_clear(ProfileOptions *o)
{
    cli_trace_clear(&o->ct);
    g_strfreev(o->kallsyms);
    g_free(o->output);
    g_free(o->title);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ProfileOptions, options_clear)

static void on_run(void *opaque, const FlowRun *run)
{
    ProfileState *s = opaque;

    callstack_run(s->stack, run, trace_decoder_space(&s->d, run->priv));
}

static void on_mark(void *opaque)
{
    ProfileState *s = opaque;

    callstack_mark(s->stack);
}

static bool on_repeat(void *opaque, uint64_t times)
{
    ProfileState *s = opaque;

    return callstack_repeat(s->stack, times);
}

static void on_trap(void *opaque, const FlowTrap *trap)
{
    ProfileState *s = opaque;

    callstack_trap(s->stack, trap, trace_decoder_space(&s->d, trap->priv));
}

static void on_loss(void *opaque, const TraceLoss *loss)
{
    ProfileState *s = opaque;

    callstack_lost(s->stack);
    cli_report_loss(s->ct, loss);
}

static const TraceConsumer consumer = {
    .flow = {
        .run = on_run,
        .trap = on_trap,
        .mark = on_mark,
        .repeat = on_repeat,
    },
    .loss = on_loss,
};

static SymbolTable *load_symbols(const ProfileOptions *o)
{
    g_autoptr(SymbolTable) table = symbols_new();
    g_autoptr(GError) err = NULL;

    for (char **p = o->ct.elfs; p && *p; p++) {
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

static void profile_harts(Profile *profile, ProfileOptions *o, Trace *t)
{
    unsigned harts = 0;

    for (unsigned i = 0; i < t->nr_harts; i++) {
        harts += cli_hart_selected(&o->ct, t, i);
    }
    for (unsigned i = 0; i < t->nr_harts; i++) {
        g_autofree ProfileState *s = g_new0(ProfileState, 1);
        unsigned top = PROFILE_ROOT;

        if (!cli_hart_selected(&o->ct, t, i)) {
            continue;
        }
        if (harts > 1) {
            g_autofree char *name = g_strdup_printf("hart %u", i);

            top = profile_child(profile, PROFILE_ROOT,
                                profile_label(profile, FRAME_GROUP, name));
        }
        s->ct = &o->ct;
        s->stack = callstack_new(profile, top, o->merge_spaces);
        trace_decode(&s->d, t, i, &consumer, s);
        callstack_free(s->stack);
    }
}

static void write_flamegraph(Profile *profile, const ProfileOptions *o,
                             FILE *f)
{
    g_autofree char *count = flamegraph_commas(profile_sum(profile));
    g_autofree char *base = g_path_get_basename(*o->ct.traces);
    g_autofree char *title = o->title ? g_strdup(o->title) :
        g_strdup_printf("Instructions by call stack: %s", base);
    g_autofree char *subtitle = NULL;

    if (o->ct.hart >= 0) {
        subtitle = g_strdup_printf("%s instructions of hart %d", count,
                                   o->ct.hart);
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

static int write_output(Profile *profile, const ProfileOptions *o, bool svg)
{
    const char *name = o->output ? o->output : "standard output";
    FILE *f = stdout;
    bool ok;

    if (o->output) {
        f = fopen(o->output, "we");
        if (!f) {
            cli_error("cannot write %s: %s", o->output, g_strerror(errno));
            return CLI_ERROR;
        }
    }
    if (svg) {
        write_flamegraph(profile, o, f);
    } else {
        profile_sum(profile);
        profile_write_folded(profile, f);
    }
    ok = cli_flush(f, name);
    if (f != stdout && fclose(f) != 0 && ok) {
        cli_error("cannot write %s: %s", name, g_strerror(errno));
        ok = false;
    }
    return ok ? cli_finish_losses(&o->ct) : CLI_ERROR;
}

static int run(ProfileOptions *o, bool svg)
{
    g_autoptr(SymbolTable) symbols = load_symbols(o);
    g_autoptr(Profile) profile = NULL;
    g_autoptr(Trace) t = NULL;

    t = symbols ? cli_open(&o->ct) : NULL;
    if (!t) {
        return CLI_ERROR;
    }
    profile = profile_new(symbols);
    profile_harts(profile, o, t);
    if (profile->full) {
        cli_warn("more than %u different call stacks, %u frames in one or "
                 "%u functions: the innermost frames of some are counted with "
                 "their callers", PROFILE_MAX_NODES, PROFILE_MAX_DEPTH,
                 PROFILE_MAX_FRAMES);
    }
    return write_output(profile, o, svg);
}

static bool options_valid(const ProfileOptions *o)
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

static int profile_command(bool svg, const char *summary, int argc,
                           char **argv)
{
    g_auto(ProfileOptions) o = { .width = 1200, .min_width = 0.3 };
    GOptionEntry entries[] = {
        { "kallsyms", 'k', 0, G_OPTION_ARG_FILENAME_ARRAY, &o.kallsyms,
          "Symbols of the kernel: a copy of its /proc/kallsyms, or a "
          "System.map; can be repeated", "FILE" },
        { "merge-spaces", 0, 0, G_OPTION_ARG_NONE, &o.merge_spaces,
          "Count all user programs as one", NULL },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &o.output,
          "Where to write to (default: standard output)", "FILE" },
        /* of flamegraph only; see below */
        { "title", 0, 0, G_OPTION_ARG_STRING, &o.title,
          "Title of the picture", "TEXT" },
        { "width", 0, 0, G_OPTION_ARG_INT, &o.width,
          "Width of the picture, pixels (default: 1200)", "N" },
        { "min-width", 0, 0, G_OPTION_ARG_DOUBLE, &o.min_width,
          "Leave out what is narrower, pixels (default: 0.3)", "X" },
        G_OPTION_ENTRY_NULL
    };

    if (!svg) {
        entries[3] = (GOptionEntry) G_OPTION_ENTRY_NULL;
    }
    if (!cli_parse(&o.ct, entries, summary, argc, argv) ||
        !options_valid(&o)) {
        return CLI_ERROR;
    }
    return run(&o, svg);
}

int cmd_folded(int argc, char **argv)
{
    return profile_command(false, "Write how many instructions were executed "
                           "in each call stack: a line\n'frame;frame;frame "
                           "count' for each.", argc, argv);
}

int cmd_flamegraph(int argc, char **argv)
{
    return profile_command(true, "Draw a flame graph: how many instructions "
                           "were executed in each call stack, as\nan SVG. A "
                           "browser lets one zoom and search in it.",
                           argc, argv);
}
