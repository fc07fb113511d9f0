/*
 * rvtrace: summary: what a run was, in some ten lines
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/report/summary.h"

#define MAX_FUNCTIONS   6

/* What a hart ran of each task */
typedef struct HartTasks {
    GArray *by_task;            /* uint64_t, instructions, by Task.id */
    const Task *task;           /* of the instructions since that many */
    uint64_t since;
} HartTasks;

static void free_hart(gpointer opaque)
{
    HartTasks *t = opaque;

    g_array_unref(t->by_task);
    g_free(t);
}

static void free_harts(void *state)
{
    g_ptr_array_unref(state);
}

static void *begin_hart(void *opaque, const HartResult *h)
{
    HartTasks *t = g_new0(HartTasks, 1);

    t->by_task = g_array_new(false, true, sizeof(uint64_t));
    g_ptr_array_add(opaque, t);
    return t;
}

static void count(HartTasks *t, uint64_t insns)
{
    unsigned task = t->task ? t->task->id : TASK_NONE;

    if (insns == t->since) {
        return;
    }
    if (t->by_task->len <= task) {
        g_array_set_size(t->by_task, task + 1);
    }
    g_array_index(t->by_task, uint64_t, task) += insns - t->since;
    t->since = insns;
}

static void on_moment(void *hart, const CallStackMoment *moment)
{
    HartTasks *t = hart;

    if (moment->task != t->task) {
        count(t, moment->insns);
        t->task = moment->task;
    }
}

static void end_hart(void *hart, const CallStackMoment *when)
{
    count(hart, when->insns);
}

/* What all harts have, in one; the caller frees it. */
static GArray *sum_of_tasks(const GPtrArray *harts)
{
    GArray *sum = g_array_new(false, true, sizeof(uint64_t));

    for (guint i = 0; i < harts->len; i++) {
        const GArray *by_task = ((const HartTasks *)harts->pdata[i])->by_task;

        if (sum->len < by_task->len) {
            g_array_set_size(sum, by_task->len);
        }
        for (guint k = 0; k < by_task->len; k++) {
            g_array_index(sum, uint64_t, k) += g_array_index(by_task,
                                                             uint64_t, k);
        }
    }
    return sum;
}

/* Besides, the clock's end is wanted of each hart. */
static bool begin(ViewOutput *o, Results *r)
{
    o->state = g_ptr_array_new_with_free_func(free_hart);
    results_watch(r, &(Watcher) {
        .begin = begin_hart,
        .moment = on_moment,
        .end = end_hart,
        .opaque = o->state,
        .forgets = true,
    });
    return true;
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    const Results *r = p->r;
    g_autoptr(GArray) by_task = sum_of_tasks(o->state);
    SummaryFacts facts = {
        .max_functions = MAX_FUNCTIONS,
        .tasks = r->tasks,
        .by_task = by_task,
        .format = format_choice(),
    };

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        const HartResult *h = r->harts[i];

        if (!h) {
            continue;
        }
        facts.harts += h->counts.insns > 0;
        facts.insns += h->counts.insns;
        facts.exceptions += h->counts.exceptions;
        facts.interrupts += h->counts.interrupts;
        facts.losses += trace_stats_losses(&h->d.stats);
        if (r->virtual_time) {
            facts.ns = MAX(facts.ns, hart_end_time(h));
        }
    }
    summary_write(p->counts, &facts, o->f);
    return CLI_OK;
}

const View view_summary = {
    .name = "summary",
    .summary = "say in ten lines what ran",
    .about = "Write in some ten lines what ran: how much, in which functions, "
             "tasks and\nprivilege levels, and what is missing.",
    .needs = RESULT_STAT | RESULT_COUNTS | RESULT_PROFILE,
    .flags = VIEW_WATCHES,
    .groups = { &format_group },
    .begin = begin,
    .write = write_view,
    .free = free_harts,
};
