/*
 * perf.data: samples as a file of Linux' perf
 *
 * What perf record would have written on the machine itself: samples of the
 * event "instructions" with call chains and branch stacks, and where each
 * process had its files mapped. perf report, script, annotate and perf2bolt
 * read it on any host.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_PERF_DATA_H
#define ETRACE_VIEWS_PERF_DATA_H

#include "profile/task-ends.h"
#include "views/perf/spool.h"

/* What was counted up to each sample: perf_event_attr.type and .config */
typedef struct PerfEvent {
    uint32_t type;
    uint64_t config;
    const char *name;               /* as perf shows it; a constant */
} PerfEvent;

extern const PerfEvent perf_event_instructions, perf_event_cpu_clock;

typedef struct PerfDataOptions {
    const ObjectTable *objects;
    const TaskTable *tasks;
    const TaskEnds *ends;           /* NULL: nothing is known of that */
    unsigned nr_harts;
    uint64_t period;                /* as the samplers had it */
    bool no_chains;                 /* perf2bolt does not expect any */
    bool filtered;                  /* some kinds of branches were left out */
    const PerfEvent *event;         /* NULL: instructions */
    const char *arch;               /* NULL: "riscv64" */
    const char *const *command;     /* NULL terminated; or NULL */
} PerfDataOptions;

/*
 * The samples of @n spools, each of which may be NULL. Times are ns; of
 * instructions, each took one. Returns false and sets @errp if
 * temporary files are no good; errors of @f are left for the caller to find.
 */
bool perf_data_write(Spool **spools, unsigned n, const PerfDataOptions *o,
                     FILE *f, GError **errp);

/* PERF_BR_*, and the new ones behind PERF_BR_EXTEND_ABI: the entry's bits */
uint64_t perf_branch_flags(const SampleBranch *b);

#endif /* ETRACE_VIEWS_PERF_DATA_H */
