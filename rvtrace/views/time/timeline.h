/*
 * Timelines: who ran which function when, for Perfetto
 *
 * Written are TrackEvents, in the protocol buffers of ui.perfetto.dev and its
 * trace processor. Each hart has a track of the tasks that it ran and one of
 * its privilege levels; each thread, below its process, one of the functions
 * that it was in and of the traps that interrupted it. Where a hart turns to
 * another task, the functions of the first one end, and begin again when it
 * goes on: what a span covers was executed for it, but for what was entered
 * within it. A thread that several harts ran has a track for each of them.
 *
 * What is shorter than asked for is never stored; the rest goes to temporary
 * files without names (in TMPDIR), one for each hart, so that memory is bounded
 * by the depth of stacks and the number of functions and tasks.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TIMELINE_H
#define ETRACE_TIMELINE_H

#include "profile/callstack.h"

typedef struct TimelineOptions {
    const char *title;          /* or NULL */
    /*
     * The time of moments is virtual, in ns. Else instructions are the clock,
     * one a nanosecond, and those of different harts do not compare.
     */
    bool virtual_time;
    uint64_t min_duration;      /* ns; spans that take less are left out */
} TimelineOptions;

typedef struct Timeline Timeline;
typedef struct TimelineHart TimelineHart;

/* @options are copied, but for what they point to. */
Timeline *timeline_new(const TimelineOptions *options);
void timeline_free(Timeline *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Timeline, timeline_free)

/*
 * The part of @hart, which @t owns. @profile is the one that its moments are
 * about. To be called once for each hart, by one thread; several threads may
 * then go on, each with another hart. Returns NULL and sets @errp if there can
 * be no temporary file.
 */
TimelineHart *timeline_hart(Timeline *t, unsigned hart, const Profile *profile,
                            GError **errp);

/* For CallStackOptions.moment, where opaque is a TimelineHart */
void timeline_moment(void *opaque, const CallStackMoment *moment);

/* At @time, something was lost: @what. */
void timeline_lost(TimelineHart *h, uint64_t time, const char *what);

/* There is no more, and it is @time. */
void timeline_end(TimelineHart *h, uint64_t time);

/*
 * Write everything to @f, once, after timeline_end() of each hart. Returns
 * false and sets @errp if a temporary file could not hold it; errors of @f are
 * the caller's to check.
 */
bool timeline_write(Timeline *t, FILE *f, GError **errp);

#endif /* ETRACE_TIMELINE_H */
