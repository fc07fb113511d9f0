/*
 * rvtrace folded, flamegraph, report, annotate: where the instructions went
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "results.h"

typedef struct ProfileCommand {
    const char *kind;           /* of decode --output */
    const char *summary;
    bool svg, report, annotate; /* which options it has */
} ProfileCommand;

/* Options that all profiles have, those of one kind, the last one */
#define MAX_ENTRIES 20

static void add_entries(GOptionEntry *entries, const GOptionEntry *more)
{
    while (entries->long_name) {
        entries++;
    }
    while (more->long_name) {
        *entries++ = *more++;
    }
}

static int profile_command(const ProfileCommand *c, int argc, char **argv)
{
    g_auto(CliTrace) ct = { .selects = true };
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;
    g_autofree char *file = NULL, *output = NULL;
    char *outputs[] = { NULL, NULL };
    GOptionEntry entries[MAX_ENTRIES] = {
        { "kallsyms", 'k', 0, G_OPTION_ARG_FILENAME_ARRAY, &o.kallsyms,
          "Symbols of the kernel: a copy of its /proc/kallsyms, or a "
          "System.map; can be repeated", "FILE" },
        { "sysroot", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o.sysroots,
          "Find what ran in the files below this folder, by its bytes: "
          "programs, libraries, modules, kernel; can be repeated", "DIR" },
        { "no-demangle", 0, 0, G_OPTION_ARG_NONE, &o.no_demangle,
          "Names of C++ and Rust as linkers know them", NULL },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &file,
          "Where to write to (default: standard output)", "FILE" },
    };
    const GOptionEntry stacks[] = {
        { "layers", 0, 0, G_OPTION_ARG_STRING, &o.layers,
          "What is below the stacks, the lowest first: hart, comm (the "
          "task's name), process, thread, priv (default: comm)", "LIST" },
        G_OPTION_ENTRY_NULL
    };
    const GOptionEntry picture[] = {
        { "title", 0, 0, G_OPTION_ARG_STRING, &o.title,
          "Title of the picture", "TEXT" },
        { "width", 0, 0, G_OPTION_ARG_INT, &o.width,
          "Width of the picture, pixels (default: 1200)", "N" },
        { "min-width", 0, 0, G_OPTION_ARG_DOUBLE, &o.min_width,
          "Leave out what is narrower, pixels (default: 0.3)", "X" },
        { "icicle", 0, 0, G_OPTION_ARG_NONE, &o.icicle,
          "Upside down: callers above what they call", NULL },
        G_OPTION_ENTRY_NULL
    };
    const GOptionEntry table[] = {
        { "sort", 0, 0, G_OPTION_ARG_STRING, &o.sort,
          "What rows are told apart by: comm, pid, tid, dso (the object), "
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
        G_OPTION_ENTRY_NULL
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
        G_OPTION_ENTRY_NULL
    };
    const GOptionEntry names[] = {
        { "comm", 0, 0, G_OPTION_ARG_STRING, &o.comm,
          "Only tasks with such a name, a glob", "NAME" },
        { "dso", 0, 0, G_OPTION_ARG_STRING, &o.dso,
          "Only objects with such a name, a glob", "NAME" },
        { "sym", 0, 0, G_OPTION_ARG_STRING, &o.sym,
          "Only functions with such a name, a glob", "NAME" },
        G_OPTION_ENTRY_NULL
    };

    add_entries(entries, c->report ? table : c->annotate ? code : stacks);
    if (c->report || c->annotate) {
        add_entries(entries, names);
    }
    if (c->svg) {
        add_entries(entries, picture);
    }
    if (!cli_parse(&ct, entries, c->summary, argc, argv)) {
        return CLI_ERROR;
    }
    output = g_strconcat(c->kind, file ? "=" : NULL, file, NULL);
    outputs[0] = output;
    return cmd_decode_outputs(&ct, outputs, NULL, &o);
}

int cmd_folded(int argc, char **argv)
{
    static const ProfileCommand command = {
        .kind = "folded",
        .summary = "Write how many instructions were executed in each call "
                   "stack: a line\n'frame;frame;frame count' for each.",
    };

    return profile_command(&command, argc, argv);
}

int cmd_flamegraph(int argc, char **argv)
{
    static const ProfileCommand command = {
        .kind = "flamegraph",
        .summary = "Draw a flame graph: how many instructions were executed "
                   "in each call stack, as\nan SVG. A browser lets one zoom "
                   "and search in it.",
        .svg = true,
    };

    return profile_command(&command, argc, argv);
}

int cmd_report(int argc, char **argv)
{
    static const ProfileCommand command = {
        .kind = "report",
        .summary = "Write where the instructions went, as a table: by "
                   "process, object, function,\nprivilege level or hart.",
        .report = true,
    };

    return profile_command(&command, argc, argv);
}

int cmd_annotate(int argc, char **argv)
{
    static const ProfileCommand command = {
        .kind = "annotate",
        .summary = "Write how often each instruction of a function was "
                   "executed, how often branches\nwere taken and not, and "
                   "where calls and jumps went.",
        .annotate = true,
    };

    return profile_command(&command, argc, argv);
}
