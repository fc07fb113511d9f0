/*
 * rvtrace: files for other people's tools
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results.h"

static int sample_command(const ViewCommand *v, bool binary, int argc,
                          char **argv)
{
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;
    const GOptionEntry some[] = {
        { "period", 0, 0, G_OPTION_ARG_INT64, &o.period,
          "Instructions of a hart from one sample to the next (default: "
          "100003)", "N" },
        { "branches", 0, 0, G_OPTION_ARG_INT, &o.branches,
          "Taken transfers before it that each sample has, at most 64 "
          "(default: 32)", "N" },
        { NULL }
    };
    const GOptionEntry chains[] = {
        { "no-call-chains", 0, 0, G_OPTION_ARG_NONE, &o.no_chains,
          "Leave them out, as perf2bolt needs it", NULL },
        { NULL }
    };
    g_autofree GOptionEntry *more = cli_join_entries(
        some, binary ? chains : &chains[1]);

    return view_command(v, &o, more, argc, argv);
}

int cmd_perf_data(int argc, char **argv)
{
    static const ViewCommand view = {
        .kind = "perf-data",
        .stacks = true,
        .summary = "Write samples with call chains and branch stacks, for "
                   "'perf report -i FILE' and\nother subcommands of Linux' "
                   "perf on any machine. perf finds the guest's kernel "
                   "by its build-id, when\nwhat 'rvtrace kernel-elf' wrote "
                   "was added with 'perf buildid-cache --add'.\nWithout the "
                   "Image below --sysroot, or if that has no build-id, perf "
                   "takes its\nown kernel's names: give it --kallsyms with "
                   "a copy of the guest's, or --vmlinux.",
    };

    return sample_command(&view, true, argc, argv);
}

int cmd_script(int argc, char **argv)
{
    static const ViewCommand view = {
        .kind = "script",
        .stacks = true,
        .summary = "Write samples with call chains as text, as 'perf script' "
                   "does.",
    };

    return sample_command(&view, false, argc, argv);
}

int cmd_callgrind(int argc, char **argv)
{
    static const ViewCommand view = {
        .kind = "callgrind",
        .stacks = true,
        .summary = "Write how often each instruction, call and jump was "
                   "executed, for\ncallgrind_annotate and KCachegrind.",
    };
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;
    const GOptionEntry more[] = {
        { "source-prefix", 0, 0, G_OPTION_ARG_FILENAME_ARRAY,
          &o.source_prefixes,
          "Source files whose names begin with OLD are at NEW; can be "
          "repeated", "OLD=NEW" },
        { NULL }
    };

    return view_command(&view, &o, more, argc, argv);
}

int cmd_pprof(int argc, char **argv)
{
    static const ViewCommand view = {
        .kind = "pprof",
        .stacks = true,
        .summary = "Write how many instructions were executed in each call "
                   "stack, or how long\nit took, as a profile.proto for 'go "
                   "tool pprof'.",
    };
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;
    g_autofree GOptionEntry *weight = weight_options(&o);

    return view_command(&view, &o, weight, argc, argv);
}

static int moments_command(const ViewCommand *v, ProfileOptions *o,
                           const GOptionEntry *more, int argc, char **argv)
{
    const GOptionEntry spans[] = {
        { "min-duration", 0, 0, G_OPTION_ARG_INT64, &o->min_duration,
          "Leave out functions that took fewer instructions or ns (default: "
          "0)", "N" },
        { NULL }
    };
    g_autofree GOptionEntry *clock = clock_options(o);
    g_autofree GOptionEntry *some = cli_join_entries(spans, clock);
    g_autofree GOptionEntry *entries = cli_join_entries(some, more);

    return view_command(v, o, entries, argc, argv);
}

int cmd_speedscope(int argc, char **argv)
{
    static const ViewCommand view = {
        .kind = "speedscope",
        .stacks = true,
        .summary = "Write what each task called when, and the call tree of "
                   "all, for\nhttps://www.speedscope.app. Time is the task's "
                   "own: instructions, or ns of virtual time.",
    };
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;
    const GOptionEntry more[] = {
        { "max-events", 0, 0, G_OPTION_ARG_INT64, &o.max_events,
          "Entries and exits of functions to write, at most (default: "
          "2000000)", "N" },
        { NULL }
    };

    return moments_command(&view, &o, more, argc, argv);
}

int cmd_uftrace(int argc, char **argv)
{
    static const ViewCommand view = {
        .kind = "uftrace",
        .stacks = true,
        .summary = "Write what each task called when, for 'uftrace report -d "
                   "FOLDER' and other\nsubcommands of uftrace. Time is the "
                   "task's own: instructions, or ns of virtual time.",
        .folder = true,
    };
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;
    const GOptionEntry none = { NULL };

    return moments_command(&view, &o, &none, argc, argv);
}
