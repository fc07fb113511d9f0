/*
 * Tasks: who ran
 *
 * On Linux a thread, the kernel's and the idle ones included, where the
 * sideband reports them; else an address space, named after its program.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TASK_H
#define ETRACE_TASK_H

#include <glib.h>

typedef enum TaskKind {
    TASK_GUESSED,           /* it is an address space */
    TASK_KNOWN,             /* a kernel's: what M mode does is the firmware's */
    TASK_KNOWN_IN_M_MODE,   /* ... or there is no firmware */
} TaskKind;

typedef struct Task {
    unsigned id;            /* index in its TaskTable */
    TaskKind kind;
    /*
     * The guest's own numbers: of the thread and of the process. Of one that is
     * guessed, they are made up, the same for each address space, and above all
     * that Linux uses (4194304).
     */
    uint32_t tid, tgid;
    char *name;             /* comm, or the program's name, or [no task] */
} Task;

typedef struct TaskTable {
    GMutex lock;            /* of all that is below */
    GPtrArray *tasks;       /* Task; 0: nobody (firmware, bare metal) */
    GHashTable *index;
} TaskTable;

#define TASK_NONE       0
#define TASK_MADE_UP    4194305

TaskTable *task_table_new(void);
void task_table_free(TaskTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TaskTable, task_table_free)

static inline bool task_is_known(const Task *task)
{
    return task->kind != TASK_GUESSED;
}

/* While nobody adds any: when all harts have been decoded */
static inline const Task *task_get(const TaskTable *table, unsigned id)
{
    return g_ptr_array_index(table->tasks, id);
}

static inline unsigned task_table_size(const TaskTable *table)
{
    return table->tasks->len;
}

/*
 * The task with these numbers and this name, made if there is none. The same
 * thread under another name (exec, prctl) is another task here. Any thread may
 * call it; what it returns lives as long as @table.
 */
const Task *task_intern(TaskTable *table, TaskKind kind, uint32_t tid,
                        uint32_t tgid, const char *name);

#endif /* ETRACE_TASK_H */
