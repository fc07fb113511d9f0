/*
 * rvtrace folded, flamegraph, report, annotate: where the instructions went
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results.h"

static int profile_command(const ViewCommand *v, int argc, char **argv)
{
    bool report = g_str_equal(v->kind, "report");
    bool annotate = g_str_equal(v->kind, "annotate");
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;
    g_autofree GOptionEntry *more = NULL, *names_weight = NULL;
    g_autofree GOptionEntry *weight = weight_options(&o);
    const GOptionEntry none = { NULL };
    const GOptionEntry picture[] = {
        { "title", 0, 0, G_OPTION_ARG_STRING, &o.title,
          "Title of the picture", "TEXT" },
        { "width", 0, 0, G_OPTION_ARG_INT, &o.width,
          "Width of the picture, pixels (default: 1200)", "N" },
        { "min-width", 0, 0, G_OPTION_ARG_DOUBLE, &o.min_width,
          "Leave out what is narrower, pixels (default: 0.3)", "X" },
        { "icicle", 0, 0, G_OPTION_ARG_NONE, &o.icicle,
          "Upside down: callers above what they call", NULL },
        { NULL }
    };
    const GOptionEntry table[] = {
        { "sort", 0, 0, G_OPTION_ARG_STRING, &o.sort,
          "What distinguishes rows: comm, pid, tid, dso (the object), "
          "sym, priv, hart, srcline, srcfile (default: dso,sym)", "LIST" },
        { "by-total", 0, 0, G_OPTION_ARG_NONE, &o.by_total,
          "Sort by what ran in a function and all that it called", NULL },
        { "percent-limit", 0, 0, G_OPTION_ARG_DOUBLE, &o.min_percent,
          "Leave out rows with less (default: 0.05; 0 with --format)", "X" },
        { "format", 0, 0, G_OPTION_ARG_STRING, &o.format,
          "text (default), or for scripts, with all rows: tsv, json",
          "text|tsv|json" },
        { "rows", 0, 0, G_OPTION_ARG_INT, &o.max_rows,
          "At most so many rows (default: 0, all)", "N" },
        { "callers", 0, 0, G_OPTION_ARG_STRING, &o.callers,
          "Instead: who called this function, a glob, and what it called",
          "NAME" },
        { NULL }
    };
    const GOptionEntry code[] = {
        { "source", 0, 0, G_OPTION_ARG_NONE, &o.source,
          "Show source lines, too, by debug info", NULL },
        { "source-prefix", 0, 0, G_OPTION_ARG_FILENAME_ARRAY,
          &o.source_prefixes,
          "Source files whose names begin with OLD are at NEW; can be "
          "repeated", "OLD=NEW" },
        { "percent-limit", 0, 0, G_OPTION_ARG_DOUBLE, &o.min_percent,
          "Leave out functions with less of all (default: 1; 0 with --sym)",
          "X" },
        { "rows", 0, 0, G_OPTION_ARG_INT, &o.max_rows,
          "At most so many functions (default: 0, all)", "N" },
        { NULL }
    };
    const GOptionEntry names[] = {
        { "comm", 0, 0, G_OPTION_ARG_STRING, &o.comm,
          "Only tasks with such a name, a glob", "NAME" },
        { "dso", 0, 0, G_OPTION_ARG_STRING, &o.dso,
          "Only objects with such a name, a glob", "NAME" },
        { "sym", 0, 0, G_OPTION_ARG_STRING, &o.sym,
          "Only functions with such a name, a glob", "NAME" },
        { NULL }
    };

    names_weight = cli_join_entries(weight, names);
    more = cli_join_entries(report ? table : annotate ? code :
                            g_str_equal(v->kind, "flamegraph") ? picture :
                            &none,
                            report ? names_weight : annotate ? names : weight);
    return view_command(v, &o, more, argc, argv);
}

int cmd_folded(int argc, char **argv)
{
    static const ViewCommand view = {
        .kind = "folded",
        .stacks = true,
        .summary = "Write how many instructions were executed in each call "
                   "stack: a line\n'frame;frame;frame count' for each.",
    };

    return profile_command(&view, argc, argv);
}

int cmd_flamegraph(int argc, char **argv)
{
    static const ViewCommand view = {
        .kind = "flamegraph",
        .stacks = true,
        .summary = "Draw a flame graph: how many instructions were executed "
                   "in each call stack, as\nan SVG. A browser lets one zoom "
                   "and search in it.",
    };

    return profile_command(&view, argc, argv);
}

int cmd_report(int argc, char **argv)
{
    static const ViewCommand view = {
        .kind = "report",
        .summary = "Write where the instructions went, as a table: by "
                   "process, object, function,\nprivilege level or hart.",
    };

    return profile_command(&view, argc, argv);
}

int cmd_annotate(int argc, char **argv)
{
    static const ViewCommand view = {
        .kind = "annotate",
        .summary = "Write how often each instruction of a function was "
                   "executed, how often branches\nwere taken and not, and "
                   "where calls and jumps went.",
    };

    return profile_command(&view, argc, argv);
}
