/*
 * rvtrace timeline: who ran which function when
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results.h"

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
    static const ViewCommand view = {
        .kind = "timeline",
        .summary = "Write who ran which function when, as TrackEvents for "
                   "https://ui.perfetto.dev:\na track for each hart, process "
                   "and thread.",
    };
    g_auto(ProfileOptions) o = PROFILE_OPTIONS_INIT;
    const GOptionEntry own[] = {
        { "min-duration", 0, 0, G_OPTION_ARG_INT64, &o.min_duration,
          "Leave out what is shorter, instructions or ns (default: 10000)",
          "N" },
        { "title", 0, 0, G_OPTION_ARG_STRING, &o.title,
          "What the tracks of harts are called", "TEXT" },
        { NULL }
    };
    g_autofree GOptionEntry *clock = clock_options(&o);
    g_autofree GOptionEntry *more = cli_join_entries(own, clock);

    return view_command(&view, &o, more, argc, argv);
}
