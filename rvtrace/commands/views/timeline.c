/*
 * rvtrace: timeline: who ran which function when
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/time/timeline.h"

/* So that a trace of 10^9 instructions is a file that can be looked at */
#define DEFAULT_MIN_DURATION    10000

static void *begin_hart(void *opaque, const HartResult *h)
{
    g_autoptr(GError) err = NULL;
    TimelineHart *th = timeline_hart(opaque, h->hart, hart_profile(h), &err);

    if (!th) {
        say_error("the timeline needs a temporary file: %s", err->message);
    }
    return th;
}

static void mark(void *hart, const CallStackMoment *when,
                 const MomentMark *mark)
{
    if (mark->kind == MOMENT_LOST) {
        timeline_lost(hart, when->time, mark->text);
    }
}

static void end_hart(void *hart, const CallStackMoment *when)
{
    timeline_end(hart, when->time);
}

static bool begin(ViewOutput *o, Results *r)
{
    g_autofree char *base = g_path_get_basename(*r->job->traces);

    o->state = timeline_new(&(TimelineOptions) {
        .title = title_option ?: base,
        .virtual_time = r->virtual_time,
        .min_duration = duration_option(DEFAULT_MIN_DURATION),
    });
    results_watch(r, &(Watcher) {
        .begin = begin_hart,
        .moment = timeline_moment,
        .mark = mark,
        .end = end_hart,
        .opaque = o->state,
    });
    return true;
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    g_autoptr(GError) err = NULL;

    if (!timeline_write(o->state, o->f, &err)) {
        cli_say(err);
        return CLI_ERROR;
    }
    return CLI_OK;
}

static void free_timeline(void *state)
{
    timeline_free(state);
}

const View view_timeline = {
    .name = "timeline",
    .summary = "draw who ran which function when, for Perfetto",
    .about = "Write who ran which function when, as TrackEvents for "
             "https://ui.perfetto.dev:\na track for each hart, process and "
             "thread.",
    .needs = RESULT_PROFILE,
    .flags = VIEW_BINARY | VIEW_ALL_LAYERS | VIEW_WATCHES,
    .groups = { &duration_group, &title_group, &clock_group },
    .begin = begin,
    .write = write_view,
    .free = free_timeline,
};
