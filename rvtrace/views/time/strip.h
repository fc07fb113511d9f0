/*
 * Strips: which tasks a hart ran, over its instructions, in a few buckets
 *
 * The number of buckets is fixed; when there are more instructions than they
 * have room for, two become one. Each has the tasks that ran most in it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_STRIP_H
#define ETRACE_STRIP_H

#include "profile/callstack.h"

#define STRIP_BUCKETS   1024
/* Tasks of a bucket that are distinguished */
#define STRIP_TASKS     4

typedef struct StripShare {
    const Task *task;           /* NULL: nobody, as firmware at the start */
    uint64_t insns;             /* 0: the entry is empty */
} StripShare;

typedef struct StripBucket {
    StripShare shares[STRIP_TASKS];
    uint64_t others;            /* instructions of those without room */
} StripBucket;

typedef struct Strip {
    unsigned hart;
    const Profile *profile;
    StripBucket buckets[STRIP_BUCKETS];
    uint64_t width;             /* instructions of a bucket */
    uint64_t insns;             /* so far */
    GHashTable *totals;         /* Task -> uint64_t, exact; owns both */
    /* who runs */
    const Task *task;
    uint64_t *total;            /* of it; NULL: there was no moment yet */
} Strip;

/*
 * What moments call nobody's, but was called or interrupted by somebody, is
 * that task's: @profile, which they are about, says so.
 */
Strip *strip_new(unsigned hart, const Profile *profile);
void strip_free(Strip *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Strip, strip_free)

/* For CallStackOptions.moment, where opaque is a Strip */
void strip_moment(void *opaque, const CallStackMoment *moment);

/* The hart retired @insns instructions in all. */
void strip_end(Strip *s, uint64_t insns);

#endif /* ETRACE_STRIP_H */
