/*
 * rvtrace: comparing what is decoded with what retired
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"

typedef struct TruthObserver {
    HartResult *h;
    TruthCheck check;
    uint64_t end;               /* instructions that retired */
} TruthObserver;

static void compare_runs(void *opaque, const FlowRun *runs, unsigned n)
{
    TruthObserver *o = opaque;

    for (unsigned i = 0; i < n && o->check.count <= o->end; i++) {
        truth_check_run(&o->check, &runs[i]);
    }
    if (o->check.count > o->end && o->h->all->what == RESULT_VERIFY) {
        o->h->d.stop = true;    /* Nothing can make it right again. */
    }
}

static const ObserverOps truth_ops = {
    .decoded = compare_runs,
    .free = g_free,
};

const TruthHart *hart_truth(const Results *r, unsigned hart)
{
    for (guint i = 0; r->truth && i < r->truth->harts->len; i++) {
        const TruthHart *h = &g_array_index(r->truth->harts, TruthHart, i);

        if (h->hart == hart) {
            return h;
        }
    }
    return NULL;
}

void hart_compare(HartResult *h, const TruthHart *truth)
{
    TruthObserver *o = g_new0(TruthObserver, 1);

    o->h = h;
    o->end = truth_hart_end(truth);
    truth_check_init(&o->check, truth);
    hart_observe(h, &truth_ops, o, OBSERVER_EVERY_ROUND);
}

TruthCheck *hart_check(const HartResult *h)
{
    TruthObserver *o = hart_observer(h, &truth_ops);

    return o ? &o->check : NULL;
}
