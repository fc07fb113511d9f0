/*
 * rvtrace: where each hart ends, for selections that are counted from there
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"

static uint64_t end_of(const HartResult *h, uint64_t ticks)
{
    VirtualClock clock = { .hz = h->time.hz, .ticks = ticks };

    return clock.hz ? virtual_clock_ns(&clock) : 0;
}

bool results_find_ends(Results *r)
{
    g_auto(Results) quick = {
        .job = r->job, .t = r->t, .what = RESULT_STAT, .only_ends = true,
    };
    uint64_t ns = 0;

    if (!r->index) {
        if (!results_make_harts(&quick)) {
            return false;
        }
        results_decode_harts(&quick);
    }
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            uint64_t ticks = r->index ? r->index->harts[i].last_ticks :
                                        quick.harts[i]->time.ticks;

            ns = MAX(ns, end_of(r->harts[i], ticks));
        }
    }
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i] && r->harts[i]->selection) {
            selection_hart_end(r->harts[i]->selection, r->index ?
                               r->index->harts[i].all.insns :
                               quick.harts[i]->counts.insns, ns);
        }
    }
    return true;
}
