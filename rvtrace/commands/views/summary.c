/*
 * rvtrace: summary: what a run was, in some ten lines
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/view.h"
#include "views/report/summary.h"

#define MAX_FUNCTIONS   6

/* Nothing but the clock's end is wanted of each hart. */
static void *begin_hart(void *opaque, const HartResult *h)
{
    return opaque;
}

static bool begin(ViewOutput *o, Results *r)
{
    results_watch(r, &(Watcher) { .begin = begin_hart, .opaque = r });
    return true;
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    const Results *r = p->r;
    SummaryFacts facts = { .max_functions = MAX_FUNCTIONS };

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
    .begin = begin,
    .write = write_view,
};
