/*
 * rvtrace timeline: who ran which function when
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "results.h"

/* So that a trace of 10^9 instructions is a file that can be looked at */
#define DEFAULT_MIN_DURATION    10000

static void *begin_hart(void *opaque, const HartResult *h)
{
    g_autoptr(GError) err = NULL;
    TimelineHart *th = timeline_hart(opaque, h->hart, h->profile, &err);

    if (!th) {
        cli_error("the timeline needs a temporary file: %s", err->message);
    }
    return th;
}

static void lost(void *hart, uint64_t time, const char *what)
{
    timeline_lost(hart, time, what);
}

static void end_hart(void *hart, uint64_t insns, uint64_t time)
{
    timeline_end(hart, time);
}

Timeline *timeline_begin(Results *r, const ProfileOptions *o)
{
    g_autofree char *base = g_path_get_basename(*r->ct->traces);
    TimelineOptions options = {
        .title = o->title ? o->title : base,
        .virtual_time = r->virtual_time,
        .min_duration = DEFAULT_MIN_DURATION,
    };
    Timeline *t;

    if (o->min_duration < -1) {
        cli_error("--min-duration: must not be negative");
        return NULL;
    }
    if (o->min_duration >= 0) {
        options.min_duration = o->min_duration;
    }
    t = timeline_new(&options);
    g_assert(r->nr_watchers < RESULTS_MAX_WATCHERS);
    r->watchers[r->nr_watchers++] = (Watcher) {
        .begin = begin_hart,
        .moment = timeline_moment,
        .lost = lost,
        .end = end_hart,
        .opaque = t,
    };
    return t;
}

int timeline_output(Timeline *t, FILE *f)
{
    g_autoptr(GError) err = NULL;

    if (!timeline_write(t, f, &err)) {
        cli_error("%s", err->message);
        return CLI_ERROR;
    }
    return CLI_OK;
}

int cmd_timeline(int argc, char **argv)
{
    g_auto(CliTrace) ct = { .selects = true };
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;
    g_autofree char *file = NULL, *output = NULL;
    char *outputs[] = { NULL, NULL };
    GOptionEntry entries[] = {
        { "kallsyms", 'k', 0, G_OPTION_ARG_FILENAME_ARRAY, &o.kallsyms,
          "Symbols of the kernel: a copy of its /proc/kallsyms, or a "
          "System.map; can be repeated", "FILE" },
        { "sysroot", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o.sysroots,
          "Find what ran in the files below this folder, by its bytes: "
          "programs, libraries, modules, kernel; can be repeated", "DIR" },
        { "no-demangle", 0, 0, G_OPTION_ARG_NONE, &o.no_demangle,
          "Names of C++ and Rust as linkers know them", NULL },
        { "min-duration", 0, 0, G_OPTION_ARG_INT64, &o.min_duration,
          "Leave out what is shorter, instructions or ns (default: 10000)",
          "N" },
        { "time", 0, 0, G_OPTION_ARG_STRING, &o.time,
          "The clock: virtual time, by the trace's timestamps, or instructions "
          "(default: virtual, if there are some)", "virtual|instructions" },
        { "tick-rate", 0, 0, G_OPTION_ARG_INT64, &o.tick_rate,
          "Ticks of timestamps a second (default: 1000000000; of time fields "
          "10000000)", "HZ" },
        { "title", 0, 0, G_OPTION_ARG_STRING, &o.title,
          "What the tracks of harts are called", "TEXT" },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &file,
          "Where to write to (default: standard output)", "FILE" },
        G_OPTION_ENTRY_NULL
    };

    if (!cli_parse(&ct, entries, "Write who ran which function when, as "
                   "TrackEvents for https://ui.perfetto.dev:\na track for "
                   "each hart, process and thread.", argc, argv)) {
        return CLI_ERROR;
    }
    output = g_strconcat("timeline", file ? "=" : NULL, file, NULL);
    outputs[0] = output;
    return cmd_decode_outputs(&ct, outputs, NULL, &o);
}
