/*
 * Which tasks have ended, as far as a sideband lets one conclude it
 *
 * Nobody reports that a task ends. But when its descriptor is another task's,
 * it had: the kernel does not use one again before that.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TASK_ENDS_H
#define ETRACE_TASK_ENDS_H

#include "code/sideband.h"

/*
 * What identifies a thread: its number alone does not, because the kernel gives
 * the same number again. The two functions are for hash tables whose keys are
 * these, or structures that begin with one.
 */
typedef struct ThreadKey {
    uint64_t descriptor;    /* as in ETraceSbTask.task */
    uint32_t tid;
} ThreadKey;

guint thread_key_hash(gconstpointer key);
gboolean thread_key_equal(gconstpointer a, gconstpointer b);

typedef struct TaskEnds TaskEnds;

TaskEnds *task_ends_new(void);
void task_ends_free(TaskEnds *ends);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TaskEnds, task_ends_free)

/* Read the TASK records of @sb, which need not live longer than the call. */
void task_ends_add(TaskEnds *ends, const Sideband *sb);

/*
 * Has thread @tid, whose descriptor was at @descriptor, ended? False if it is
 * not known, and if a thread with this number was there again later.
 */
bool task_ends_has(const TaskEnds *ends, uint64_t descriptor, uint32_t tid);

#endif /* ETRACE_TASK_ENDS_H */
