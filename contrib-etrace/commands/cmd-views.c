/*
 * rvtrace: files for other people's tools
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "results.h"

/* The options of a view, which are the last ones of each command */
#define MAX_OPTIONS 6

static int view_command(const char *kind, bool folder, const char *summary,
                        ProfileOptions *o, const GOptionEntry *more,
                        int argc, char **argv)
{
    g_auto(CliTrace) ct = { .selects = true };
    g_autofree char *file = NULL, *output = NULL;
    char *outputs[] = { NULL, NULL };
    GOptionEntry entries[6 + MAX_OPTIONS] = {
        { "kallsyms", 'k', 0, G_OPTION_ARG_FILENAME_ARRAY, &o->kallsyms,
          "Symbols of the kernel: a copy of its /proc/kallsyms, or a "
          "System.map; can be repeated", "FILE" },
        { "sysroot", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->sysroots,
          "Find what ran in the files below this folder, by its bytes: "
          "programs, libraries, modules, kernel; can be repeated", "DIR" },
        { "no-demangle", 0, 0, G_OPTION_ARG_NONE, &o->no_demangle,
          "Names of C++ and Rust as linkers know them", NULL },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &file,
          folder ? "Folder to write to, which must be new or empty" :
          "Where to write to (default: standard output)",
          folder ? "FOLDER" : "FILE" },
        /* Labels of what is below the stacks; see profile_parse_layers() */
        { "layers", 0, 0, G_OPTION_ARG_STRING, &o->layers,
          "What is below the stacks, the lowest first: hart, comm (the "
          "task's name), process, thread, priv (default: comm)", "LIST" },
    };

    for (unsigned i = 0; more && more[i].long_name; i++) {
        entries[5 + i] = more[i];
    }
    if (!cli_parse(&ct, entries, summary, argc, argv)) {
        return CLI_ERROR;
    }
    output = g_strconcat(kind, file ? "=" : NULL, file, NULL);
    outputs[0] = output;
    return cmd_decode_outputs(&ct, outputs, NULL, o);
}

static int sample_command(const char *kind, const char *summary, int argc,
                          char **argv)
{
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;
    GOptionEntry more[MAX_OPTIONS] = {
        { "period", 0, 0, G_OPTION_ARG_INT64, &o.period,
          "Instructions of a hart from one sample to the next (default: "
          "100003)", "N" },
        { "branches", 0, 0, G_OPTION_ARG_INT, &o.branches,
          "Taken transfers before it that each sample has, at most 64 "
          "(default: 32)", "N" },
        { "no-call-chains", 0, 0, G_OPTION_ARG_NONE, &o.no_chains,
          "Leave them out, as perf2bolt needs it", NULL },
    };

    if (g_str_equal(kind, "script")) {
        more[2] = (GOptionEntry) G_OPTION_ENTRY_NULL;
    }
    return view_command(kind, false, summary, &o, more, argc, argv);
}

int cmd_perf_data(int argc, char **argv)
{
    return sample_command("perf-data", "Write samples with call chains and "
                          "branch stacks, for 'perf report -i FILE' and\n"
                          "other subcommands of Linux' perf on any machine.",
                          argc, argv);
}

int cmd_script(int argc, char **argv)
{
    return sample_command("script", "Write samples with call chains as text, "
                          "as 'perf script' does.", argc, argv);
}

int cmd_callgrind(int argc, char **argv)
{
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;
    const GOptionEntry more[MAX_OPTIONS] = {
        { "source-prefix", 0, 0, G_OPTION_ARG_FILENAME_ARRAY,
          &o.source_prefixes,
          "Source files whose names begin with OLD are at NEW; can be "
          "repeated", "OLD=NEW" },
    };

    return view_command("callgrind", false, "Write how often each instruction, "
                        "call and jump was executed, for\n"
                        "callgrind_annotate and KCachegrind.", &o, more, argc,
                        argv);
}

int cmd_pprof(int argc, char **argv)
{
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;

    return view_command("pprof", false, "Write how many instructions were "
                        "executed in each call stack, as a profile.proto\n"
                        "for 'go tool pprof'.", &o, NULL, argc, argv);
}

int cmd_speedscope(int argc, char **argv)
{
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;
    const GOptionEntry more[MAX_OPTIONS] = {
        { "min-duration", 0, 0, G_OPTION_ARG_INT64, &o.min_duration,
          "Leave out functions that took fewer instructions or ns (default: "
          "0)", "N" },
        { "time", 0, 0, G_OPTION_ARG_STRING, &o.time,
          "The clock: virtual time, by the trace's timestamps, or instructions "
          "(default: virtual, if there are some)", "virtual|instructions" },
        { "tick-rate", 0, 0, G_OPTION_ARG_INT64, &o.tick_rate,
          "Ticks of timestamps a second (default: 1000000000; of time fields "
          "10000000)", "HZ" },
        { "max-events", 0, 0, G_OPTION_ARG_INT64, &o.max_events,
          "Entries and exits of functions to write, at most (default: "
          "2000000)", "N" },
    };

    return view_command("speedscope", false, "Write what each task called "
                        "when, and the call tree of all, for\n"
                        "https://www.speedscope.app. Time is the task's own: "
                        "instructions, or ns of virtual time.", &o, more,
                        argc, argv);
}

int cmd_uftrace(int argc, char **argv)
{
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;
    const GOptionEntry more[MAX_OPTIONS] = {
        { "min-duration", 0, 0, G_OPTION_ARG_INT64, &o.min_duration,
          "Leave out functions that took fewer instructions or ns (default: "
          "0)", "N" },
        { "time", 0, 0, G_OPTION_ARG_STRING, &o.time,
          "The clock: virtual time, by the trace's timestamps, or instructions "
          "(default: virtual, if there are some)", "virtual|instructions" },
        { "tick-rate", 0, 0, G_OPTION_ARG_INT64, &o.tick_rate,
          "Ticks of timestamps a second (default: 1000000000; of time fields "
          "10000000)", "HZ" },
    };

    return view_command("uftrace", true, "Write what each task called when, "
                        "for 'uftrace report -d FOLDER' and other\n"
                        "subcommands of uftrace. Time is the task's own: "
                        "instructions, or ns of virtual time.", &o, more,
                        argc, argv);
}
