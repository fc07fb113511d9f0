/*
 * Latency: how long traps, functions, or the way from one to another take
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_LATENCY_H
#define ETRACE_LATENCY_H

#include "views/questions/follow.h"
#include "views/report/table.h"

/* Things of a hart that are told apart, and worst ones of each, at most */
#define LATENCY_MAX_SERIES  4096
#define LATENCY_MAX_WORST   100

/* What is written; text and JSON have all of them, one behind the other. */
typedef enum LatencyTable {
    LATENCY_SUMMARY,            /* a row for each thing that took time */
    LATENCY_WORST,              /* ... and for the times that it took longest */
    LATENCY_HISTOGRAM,          /* ... and for each power of two */
    LATENCY_NR_TABLES,
} LatencyTable;

typedef struct LatencyOptions {
    /* Globs: NULL, as linkers know a function will do, traps are in [] */
    const char *sym, *dso;      /* functions, in place of traps */
    const char *first, *last;   /* in place of both: from one to the other */
    const char *comm;           /* only what such tasks do */
    unsigned worst;             /* how many of each thing */
    bool virtual_time;          /* moments are in ns of it, or instructions */
    TableFormat format;
    LatencyTable table;         /* TSV: which one */
} LatencyOptions;

/* Of a trace, and of one of its harts */
typedef struct Latency Latency;
typedef struct LatencyHart LatencyHart;

/* The strings of @options must live as long. */
Latency *latency_new(const LatencyOptions *options);
void latency_free(Latency *l);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Latency, latency_free)

/*
 * What hart number @hart does. @profile and @tasks must live as long as @l,
 * which the result belongs to.
 */
LatencyHart *latency_hart(Latency *l, unsigned hart, const Profile *profile,
                          const TaskTable *tasks);

/* For Watcher: @hart is a LatencyHart. */
void latency_moment(void *hart, const CallStackMoment *moment);
void latency_mark(void *hart, const CallStackMoment *when,
                  const MomentMark *mark);
void latency_trap(void *hart, uint64_t place, const FlowTrap *trap,
                  const CallStackSite *site);
void latency_end(void *hart, const CallStackMoment *when);

/* When all harts have ended. Returns how many times something took time. */
uint64_t latency_write(const Latency *l, FILE *f);

#endif /* ETRACE_LATENCY_H */
