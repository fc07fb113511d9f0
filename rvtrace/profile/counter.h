/*
 * Counting what runs: from an instruction flow to Counts
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_COUNTER_H
#define ETRACE_COUNTER_H

#include "profile/callstack.h"
#include "profile/counts.h"

typedef struct Counter Counter;

/*
 * Count what @hart runs in @counts. Both @counts and @names must live as long
 * as the counter.
 */
Counter *counter_new(Counts *counts, const Names *names, unsigned hart);

/* What was not counted yet is counted. */
void counter_free(Counter *c);

/*
 * Call @ran with @opaque whenever a range of the counts, by its index, has run
 * once more. What counter_repeat() adds is not among that.
 */
void counter_watch(Counter *c, void (*ran)(void *opaque, unsigned range),
                   void *opaque);

/* Instructions so far: those that were counted, and those to be skipped */
uint64_t counter_insns(const Counter *c);

/* Is there a run that is not counted yet? It is the last one that was put. */
bool counter_is_behind(const Counter *c);

/* What happens, in order; as for callstack_runs() and its kin */
void counter_runs(Counter *c, const FlowRun *runs, unsigned n,
                  const CallStackSite *site);
void counter_trap(Counter *c, const FlowTrap *trap,
                  const CallStackSite *site);
void counter_lost(Counter *c);

/* As CallStackOptions.handler: what begins at @pc is called once more. */
void counter_handler(Counter *c, uint64_t pc, unsigned priv,
                     const CallStackSite *site);

/*
 * The same of runs that are not to be counted. A transfer that leads to them
 * from one that is, is.
 */
void counter_skip(Counter *c, const FlowRun *runs, unsigned n,
                  const CallStackSite *site);

/*
 * As callstack_mark() and its kin
 */
void counter_mark(Counter *c);
bool counter_can_repeat(const Counter *c);
void counter_repeat(Counter *c, uint64_t times);

#endif /* ETRACE_COUNTER_H */
