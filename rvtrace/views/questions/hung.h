/*
 * Why a hart hangs: what it did last
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_HUNG_H
#define ETRACE_HUNG_H

#include "views/questions/follow.h"
#include "views/report/table.h"

/*
 * Taken transfers that are remembered, in which loops are looked for, and how
 * many an end has to have in a loop, of at least three rounds
 */
#define HUNG_STEPS      65536
#define HUNG_LEAST      64
/* Instructions that an interrupt may take; after more, steps are forgotten. */
#define HUNG_INTERRUPT  1000000

/* Of a trace, and of one of its harts */
typedef struct Hung Hung;
typedef struct HungHart HungHart;

Hung *hung_new(TableFormat format);
void hung_free(Hung *u);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Hung, hung_free)

/*
 * What hart number @hart does. @profile, @names and @tasks must live as long as
 * @u, which the result belongs to.
 */
HungHart *hung_hart(Hung *u, unsigned hart, const Profile *profile,
                    const Names *names, const TaskTable *tasks);

/* For Watcher: @hart is a HungHart. */
void hung_runs(void *hart, const FlowRun *runs, unsigned n,
               const CallStackSite *site);
void hung_moment(void *hart, const CallStackMoment *moment);
void hung_mark(void *hart, const CallStackMoment *when,
               const MomentMark *mark);
void hung_trap(void *hart, uint64_t place, const FlowTrap *trap,
               const CallStackSite *site);
void hung_end(void *hart, const CallStackMoment *when);

/* When all harts have ended */
void hung_write(const Hung *u, FILE *f);

#endif /* ETRACE_HUNG_H */
