/*
 * Exits of perf.data: behind which sample a thread was gone
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_PERF_LIVES_H
#define ETRACE_VIEWS_PERF_LIVES_H

#include "profile/task-ends.h"
#include "views/perf/spool.h"

typedef struct PerfLives PerfLives;

/*
 * Reads the samples of @n spools, each of which may be NULL, once more. @ends
 * may be NULL: nothing is known. Returns NULL and sets @errp if that fails.
 */
PerfLives *perf_lives_new(Spool **spools, unsigned n, const TaskTable *tasks,
                          const TaskEnds *ends, GError **errp);
void perf_lives_free(PerfLives *lives);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PerfLives, perf_lives_free)

/*
 * To be called once behind each sample, in their order: does its thread have
 * no other one, because it ended? Harts' clocks differ: where a sample of the
 * next thread of this number, or of another thread of the process that ended,
 * is in front of it, the answer is no.
 */
bool perf_lives_over(PerfLives *lives);

#endif /* ETRACE_VIEWS_PERF_LIVES_H */
