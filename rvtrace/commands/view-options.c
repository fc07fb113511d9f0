/*
 * rvtrace: options of views, and commands that write one view
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results.h"

GOptionEntry *view_options(ProfileOptions *o)
{
    const GOptionEntry entries[] = {
        { "kallsyms", 'k', 0, G_OPTION_ARG_FILENAME_ARRAY, &o->kallsyms,
          "For all but stat and verify: symbols of the kernel", "FILE" },
        { "sysroot", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->sysroots,
          "Find what ran in the files below this folder, by its bytes: "
          "programs, libraries, modules, kernel; can be repeated", "DIR" },
        { "no-demangle", 0, 0, G_OPTION_ARG_NONE, &o->no_demangle,
          "Names of C++ and Rust as linkers know them", NULL },
        { "layers", 0, 0, G_OPTION_ARG_STRING, &o->layers,
          "What is below the stacks, the lowest first: hart, comm (the "
          "task's name), process, thread, priv (default: comm)", "LIST" },
        { "weight", 0, 0, G_OPTION_ARG_STRING, &o->weight,
          "For report, folded, flamegraph and pprof: what is counted, virtual "
          "time in ns or instructions (default: instructions)",
          "time|instructions" },
        { "title", 0, 0, G_OPTION_ARG_STRING, &o->title,
          "For flamegraph: title of the picture", "TEXT" },
        { "width", 0, 0, G_OPTION_ARG_INT, &o->width,
          "For flamegraph: width, pixels (default: 1200)", "N" },
        { "min-width", 0, 0, G_OPTION_ARG_DOUBLE, &o->min_width,
          "For flamegraph: leave out what is narrower, pixels (default: 0.3)",
          "X" },
        { "sort", 0, 0, G_OPTION_ARG_STRING, &o->sort,
          "For report: what distinguishes rows (default: dso,sym)",
          "LIST" },
        { "format", 0, 0, G_OPTION_ARG_STRING, &o->format,
          "For report: text (default), tsv or json", "text|tsv|json" },
        { "comm", 0, 0, G_OPTION_ARG_STRING, &o->comm,
          "For report and annotate: only tasks with such a name, a glob",
          "NAME" },
        { "dso", 0, 0, G_OPTION_ARG_STRING, &o->dso,
          "For report and annotate: only such objects", "NAME" },
        { "sym", 0, 0, G_OPTION_ARG_STRING, &o->sym,
          "For report and annotate: only such functions", "NAME" },
        { "percent-limit", 0, 0, G_OPTION_ARG_DOUBLE, &o->min_percent,
          "For report and annotate: leave out rows, functions with less",
          "X" },
        { "rows", 0, 0, G_OPTION_ARG_INT, &o->max_rows,
          "For report and annotate: at most so many rows, functions (default: "
          "0, all)", "N" },
        { "source", 0, 0, G_OPTION_ARG_NONE, &o->source,
          "For annotate: show source lines, too", NULL },
        { "source-prefix", 0, 0, G_OPTION_ARG_FILENAME_ARRAY,
          &o->source_prefixes,
          "For annotate, callgrind, html and lcov: sources whose names begin "
          "with OLD are at NEW", "OLD=NEW" },
        { "period", 0, 0, G_OPTION_ARG_INT64, &o->period,
          "For perf-data and script: instructions of a hart from one sample "
          "to the next (default: 100003)", "N" },
        { "branches", 0, 0, G_OPTION_ARG_INT, &o->branches,
          "For perf-data and script: taken transfers that each sample has, at "
          "most 64 (default: 32)", "N" },
        { "no-call-chains", 0, 0, G_OPTION_ARG_NONE, &o->no_chains,
          "For perf-data: leave them out, as perf2bolt needs it", NULL },
        { "min-duration", 0, 0, G_OPTION_ARG_INT64, &o->min_duration,
          "For speedscope, uftrace and timeline: leave out functions that "
          "took fewer instructions or ns (default: 0; timeline: 10000)", "N" },
        { "time", 0, 0, G_OPTION_ARG_STRING, &o->time,
          "For speedscope, uftrace and timeline: virtual time, by the trace's "
          "timestamps, or instructions (default: virtual, if there are some)",
          "virtual|instructions" },
        { "max-events", 0, 0, G_OPTION_ARG_INT64, &o->max_events,
          "For speedscope: entries and exits of functions to write, at most "
          "(default: 2000000)", "N" },
        { "object", 0, 0, G_OPTION_ARG_STRING, &o->object,
          "For pgo-llvm, pgo-bolt and pgo-gcov: which program or library "
          "(default: the only one that ran)", "NAME" },
        { "object-file", 0, 0, G_OPTION_ARG_FILENAME, &o->object_file,
          "For pgo-llvm, pgo-bolt and pgo-gcov: its ELF file", "FILE" },
        { "include", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->include,
          "For lcov: only source files with such a path, a glob", "GLOB" },
        { "exclude", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->exclude,
          "For lcov: no source files with such a path", "GLOB" },
        { "fail-under", 0, 0, G_OPTION_ARG_DOUBLE, &o->fail_under,
          "For lcov: exit with status 1 if less of the lines ran, percent",
          "N" },
        { "icicle", 0, 0, G_OPTION_ARG_NONE, &o->icicle,
          "For flamegraph: callers above what they call", NULL },
        { NULL }
    };
    const GOptionEntry none = { NULL };

    return cli_join_entries(entries, &none);
}

GOptionEntry *weight_options(ProfileOptions *o)
{
    const GOptionEntry entries[] = {
        { "weight", 0, 0, G_OPTION_ARG_STRING, &o->weight,
          "What is counted: virtual time, by the trace's timestamps, "
          "in ns, or instructions (default: instructions)",
          "time|instructions" },
        { NULL }
    };

    return g_memdup2(entries, sizeof(entries));
}

GOptionEntry *clock_options(ProfileOptions *o)
{
    const GOptionEntry entries[] = {
        { "time", 0, 0, G_OPTION_ARG_STRING, &o->time,
          "The clock: virtual time, by the trace's timestamps, or instructions "
          "(default: virtual, if there are some)", "virtual|instructions" },
        { NULL }
    };

    return g_memdup2(entries, sizeof(entries));
}

int view_write(CliTrace *ct, const char *kind, const char *file, char **truths,
               const ProfileOptions *o)
{
    g_autofree char *output = g_strconcat(kind, file ? "=" : NULL, file, NULL);
    char *outputs[] = { output, NULL };

    return cmd_decode_outputs(ct, outputs, truths, o);
}

int view_command(const ViewCommand *v, ProfileOptions *o,
                 const GOptionEntry *more, int argc, char **argv)
{
    g_auto(CliTrace) ct = { .selects = true };
    g_autofree char *file = NULL;
    const GOptionEntry common[] = {
        { "kallsyms", 'k', 0, G_OPTION_ARG_FILENAME_ARRAY, &o->kallsyms,
          "Symbols of the kernel: a copy of its /proc/kallsyms, or a "
          "System.map; can be repeated", "FILE" },
        { "sysroot", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->sysroots,
          "Find what ran in the files below this folder, by its bytes: "
          "programs, libraries, modules, kernel; can be repeated", "DIR" },
        { "no-demangle", 0, 0, G_OPTION_ARG_NONE, &o->no_demangle,
          "Names of C++ and Rust as linkers know them", NULL },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &file,
          v->folder ? "Folder to write to, which must be new or empty" :
          "Where to write to (default: standard output)",
          v->folder ? "FOLDER" : "FILE" },
        { NULL }
    };
    const GOptionEntry layers[] = {
        /* Labels of what is below the stacks; see profile_parse_layers() */
        { "layers", 0, 0, G_OPTION_ARG_STRING, &o->layers,
          "What is below the stacks, the lowest first: hart, comm (the "
          "task's name), process, thread, priv (default: comm)", "LIST" },
        { NULL }
    };
    g_autofree GOptionEntry *some = cli_join_entries(
        common, v->stacks ? layers : &layers[1]);
    g_autofree GOptionEntry *entries = cli_join_entries(some, more);

    if (!cli_parse(&ct, entries, v->summary, argc, argv)) {
        return CLI_ERROR;
    }
    return view_write(&ct, v->kind, file, v->truths ? *v->truths : NULL, o);
}
