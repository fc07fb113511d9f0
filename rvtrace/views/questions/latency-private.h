/*
 * Latency: what latency.c and latency-write.c share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_LATENCY_PRIVATE_H
#define ETRACE_LATENCY_PRIVATE_H

#include "views/questions/latency.h"
#include "views/questions/spread.h"

/* One of the times that something took longest */
typedef struct Worst {
    uint64_t value;
    Place from, to;
    const Task *task;
    unsigned hart;
} Worst;

/* Series.frame of a trap that is on no call stack, without its cause */
#define LATENCY_TRAP_FRAME  0x80000000

/* Something that took time again and again */
typedef struct Series {
    CallKind kind;
    unsigned frame;             /* of the profile: its name; or as above */
    unsigned number;            /* of a system call; SYSCALL_UNKNOWN */
    Spread spread;
    GArray *worst;              /* Worst, the worst one first */
} Series;

struct LatencyHart {
    const Latency *latency;
    unsigned hart;
    const Profile *profile;
    Follower *follower;
    GByteArray *matches;        /* by frame: see latency.c */
    GHashTable *series;         /* guint64 * -> Series */
    bool waiting;               /* for options.last, since: */
    Place since;
    const Task *waiting_task;
    uint64_t dropped;           /* there was no room for its series */
};

struct Latency {
    LatencyOptions options;
    GPtrArray *harts;           /* LatencyHart */
};

void series_free(gpointer series);

/* Find or make it; NULL: there are more than @limit. */
Series *series_get(GHashTable *all, CallKind kind, unsigned frame,
                   unsigned number, unsigned limit);

/* One more, of which at most @worst are kept */
void series_add_worst(Series *s, const Worst *w, unsigned worst);

#endif /* ETRACE_LATENCY_PRIVATE_H */
