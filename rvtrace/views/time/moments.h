/*
 * Moments: who ran which function since when, put aside while harts are decoded
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_MOMENTS_H
#define ETRACE_VIEWS_MOMENTS_H

#include "profile/callstack.h"

/* Those of a hart, in a temporary file without a name */
typedef struct Moments Moments;

/* Returns NULL and sets @errp if there is no room for temporary files. */
Moments *moments_new(GError **errp);
void moments_free(Moments *m);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Moments, moments_free)

/* For CallStackOptions.moment: @opaque is the Moments. */
void moments_put(void *opaque, const CallStackMoment *moment);

/* What a task of a hart did: a stack of spans, whose clock is its own */
typedef struct Track {
    unsigned index;         /* from 0 on, in the order of their first moments */
    unsigned hart;
    const Task *task;
    uint64_t time;          /* that the task ran on the hart, so far */
    void *opaque;           /* the consumer's; NULL at first */
    unsigned node;          /* moments_spans(): where it was last, ... */
    unsigned reported;      /* ... how many of them the consumer knows of */
    GArray *open;           /* ... and what has not been left */
} Track;

/*
 * A function is entered or left, at track->time. Functions that are left after
 * less than min_duration are neither. Time is what the moments have, ns or
 * instructions. Each span is within the one that was entered before it and has
 * not been left.
 */
typedef struct SpanOps {
    void (*enter)(void *opaque, Track *track, unsigned frame, uint64_t time);
    void (*leave)(void *opaque, Track *track, unsigned frame, uint64_t time);
    uint64_t min_duration;
} SpanOps;

/*
 * Call @ops with @opaque for the moments of hart number @hart, whose call tree
 * is @p, up to @end, a time. @tasks has the names. Adds each task of it to
 * @tracks, of Track, made by tracks_new(). Functions that were not left are
 * left at the end. Labels of groups are no spans. Returns false and sets @errp
 * if the temporary file is no good.
 */
bool moments_spans(Moments *m, unsigned hart, const Profile *p,
                   uint64_t end, const TaskTable *tasks,
                   GPtrArray *tracks, const SpanOps *ops, void *opaque,
                   GError **errp);

GPtrArray *tracks_new(void);

#endif /* ETRACE_VIEWS_MOMENTS_H */
