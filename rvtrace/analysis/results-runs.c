/*
 * rvtrace: what was executed, run by run, for those who want it all
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"

typedef struct RunsObserver {
    HartResult *h;
    bool ignored;           /* what comes is not selected */
} RunsObserver;

static void hand_on(void *opaque, const FlowRun *runs, unsigned n,
                    const CallStackSite *site)
{
    RunsObserver *o = opaque;
    const Results *r = o->h->all;

    if (!o->ignored && !r->runs(r->runs_opaque, runs, n)) {
        o->h->d.stop = true;
    }
}

static void on_select(void *opaque, bool selected)
{
    RunsObserver *o = opaque;

    o->ignored = !selected;
}

static const ObserverOps runs_ops = {
    .runs = hand_on,
    .select = on_select,
    .free = g_free,
};

void hart_hand_on_runs(HartResult *h)
{
    RunsObserver *o = g_new0(RunsObserver, 1);

    o->h = h;
    hart_observe(h, &runs_ops, o, OBSERVER_EVERY_ROUND);
}
