/*
 * Activity: what a hart did when, in counts by time
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_ACTIVITY_H
#define ETRACE_ACTIVITY_H

#include "profile/callstack.h"
#include "views/time/bins.h"
#include "views/time/moment-clock.h"

/* Bins of tasks and traps, which are drawn, and of call stacks */
#define ACTIVITY_TASK_BINS  1024
#define ACTIVITY_NODE_BINS  256
/* Marks that are kept of a hart; of more, their number is known. */
#define ACTIVITY_MAX_MARKS  1000

/* Something that is worth to be seen: a note, a loss */
typedef struct ActivityMark {
    uint64_t at;                /* on the axis */
    const MomentMark *mark;     /* the watcher's */
} ActivityMark;

typedef struct Activity {
    unsigned hart;
    const Profile *profile;
    bool timed;                 /* the axis is ns of virtual time, not insns */
    uint64_t from, to;          /* of the axis */
    uint64_t insns;             /* in all */
    /* By Task.id: instructions; and if timed, ns; else NULL */
    Bins *tasks, *times;
    Bins *nodes;                /* by node of the profile: instructions */
    Bins *traps;                /* by cause: how many */
    GArray *marks;              /* ActivityMark, in order */
    uint64_t more_marks;        /* that had no room */
    /* What has been going on since the last moment */
    bool known;
    const Task *task;
    unsigned node;
    uint64_t since;             /* on the axis */
} Activity;

/*
 * Of @hart, whose call stacks are in @profile. @timed: the time of moments is
 * in ns. What moments call nobody's, but was called or interrupted by somebody,
 * is that task's. The caller frees it, before @profile and what marks point to.
 */
Activity *activity_new(unsigned hart, const Profile *profile, bool timed);
void activity_free(Activity *a);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Activity, activity_free)

/* For CallStackOptions.moment, where @opaque is an Activity */
void activity_moment(void *opaque, const CallStackMoment *moment);

/* At @time, as that of moments, there was @mark, a trap or something else. */
void activity_mark(Activity *a, uint64_t time, const MomentMark *mark);

/* The hart retired @insns instructions in all, up to @time. */
void activity_end(Activity *a, uint64_t insns, uint64_t time);

#endif /* ETRACE_ACTIVITY_H */
