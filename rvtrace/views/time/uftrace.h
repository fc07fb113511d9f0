/*
 * uftrace: what was called, as a folder of that tool
 *
 * uftrace report, graph, replay and dump read it. Its clock is each task's own
 * instructions, one a nanosecond, so that what a task waited does not count.
 * Addresses are made up: functions of all programs and of the kernel lie in
 * one address space there.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_UFTRACE_H
#define ETRACE_VIEWS_UFTRACE_H

#include "views/time/moments.h"

typedef struct Uftrace Uftrace;

/* One in the folder @path: see view_folder_new() */
Uftrace *uftrace_new(const char *path, GError **errp);
void uftrace_free(Uftrace *u);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Uftrace, uftrace_free)

/*
 * Add the moments of a hart; see moments_spans(). On harts other than 0 the
 * numbers of tasks are 8388608 larger for each hart, because a task's clock
 * there is another one.
 */
bool uftrace_add_hart(Uftrace *u, Moments *m, unsigned hart,
                      const Profile *p, uint64_t end,
                      const TaskTable *tasks, uint64_t min_duration,
                      GError **errp);

/* Write what belongs to all; returns false and sets @errp if that fails. */
bool uftrace_finish(Uftrace *u, GError **errp);

#endif /* ETRACE_VIEWS_UFTRACE_H */
