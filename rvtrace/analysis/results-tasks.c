/*
 * rvtrace: how much each task ran, and until when
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"

typedef struct TasksObserver {
    HartResult *h;
    GArray *by_task;            /* uint64_t, instructions, by Task.id */
    unsigned task;              /* that ran last */
    uint64_t at_mark;           /* what it had there */
    bool switched;              /* it was another one, since the mark */
    uint64_t ns;                /* the last time */
    bool closing, closed;       /* one more time counts; none does */
} TasksObserver;

static void run_task(TasksObserver *o, const Task *task)
{
    unsigned id = task ? task->id : TASK_NONE;

    if (id != o->task) {
        o->task = id;
        o->switched = true;
        if (o->by_task->len <= id) {
            g_array_set_size(o->by_task, id + 1);
        }
    }
}

static uint64_t *ran(TasksObserver *o)
{
    return &g_array_index(o->by_task, uint64_t, o->task);
}

static void on_runs(void *opaque, const FlowRun *runs, unsigned n,
                    const CallStackSite *site)
{
    TasksObserver *o = opaque;
    uint64_t insns = 0;

    if (o->h->ignored) {
        return;
    }
    run_task(o, site->task);
    for (unsigned i = 0; i < n; i++) {
        insns += runs[i].count;
    }
    *ran(o) += insns;
}

static void on_mark(void *opaque)
{
    TasksObserver *o = opaque;

    o->switched = false;
    o->at_mark = *ran(o);
}

static bool can_repeat(void *opaque, uint64_t times)
{
    TasksObserver *o = opaque;

    return !o->switched;
}

static void on_repeat(void *opaque, uint64_t times)
{
    TasksObserver *o = opaque;

    *ran(o) += times * (*ran(o) - o->at_mark);
}

static void on_time(void *opaque, uint64_t ns, bool waited)
{
    TasksObserver *o = opaque;

    if (o->h->all->virtual_time && !o->closed) {
        o->closed = o->closing;
        o->ns = ns;
    }
}

/* The first time behind what is selected says when that ended. */
static bool is_over(void *opaque)
{
    TasksObserver *o = opaque;

    o->closing = true;
    return !o->h->all->virtual_time || o->closed;
}

static void on_free(void *opaque)
{
    TasksObserver *o = opaque;

    g_array_unref(o->by_task);
    g_free(o);
}

static const ObserverOps tasks_ops = {
    .runs = on_runs,
    .mark = on_mark,
    .can_repeat = can_repeat,
    .repeat = on_repeat,
    .time = on_time,
    .is_over = is_over,
    .free = on_free,
};

void hart_count_tasks(HartResult *h)
{
    TasksObserver *o = g_new0(TasksObserver, 1);

    o->h = h;
    o->by_task = g_array_new(false, true, sizeof(uint64_t));
    o->task = TASK_NONE;
    g_array_set_size(o->by_task, TASK_NONE + 1);
    hart_observe(h, &tasks_ops, o, h->all->virtual_time ? OBSERVER_TIME : 0);
}

const GArray *hart_by_task(const HartResult *h)
{
    TasksObserver *o = hart_observer(h, &tasks_ops);

    return o ? o->by_task : NULL;
}

uint64_t hart_last_time(const HartResult *h)
{
    TasksObserver *o = hart_observer(h, &tasks_ops);

    return o ? o->ns : 0;
}
