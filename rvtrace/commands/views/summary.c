/*
 * rvtrace: summary: what a run was, in some ten lines
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/report/summary.h"

#define MAX_FUNCTIONS   6

/* What all harts have, in one; the caller frees it. */
static GArray *sum_of_tasks(const Results *r)
{
    GArray *sum = g_array_new(false, true, sizeof(uint64_t));

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        const GArray *by_task = r->harts[i] ? hart_by_task(r->harts[i]) : NULL;

        if (by_task && sum->len < by_task->len) {
            g_array_set_size(sum, by_task->len);
        }
        for (guint k = 0; by_task && k < by_task->len; k++) {
            g_array_index(sum, uint64_t, k) += g_array_index(by_task,
                                                             uint64_t, k);
        }
    }
    return sum;
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    const Results *r = p->r;
    g_autoptr(GArray) by_task = sum_of_tasks(r);
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
        facts.ns = MAX(facts.ns, hart_last_time(h));
    }
    summary_write(p->counts, &facts, o->f);
    return CLI_OK;
}

const View view_summary = {
    .name = "summary",
    .summary = "say in ten lines what ran",
    .about = "Write in some ten lines what ran: how much, in which functions, "
             "tasks and\nprivilege levels, and what is missing.",
    .needs = RESULT_STAT | RESULT_COUNTS | RESULT_SHARES,
    .groups = { &format_group },
    .write = write_view,
};
