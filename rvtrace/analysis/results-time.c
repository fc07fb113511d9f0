/*
 * rvtrace: the virtual time of harts, as their packets report it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"

/* Ticks a second, unless somebody says so */
#define TIMESTAMP_HZ    1000000000
#define MTIME_HZ        10000000

/* Without times: "have ..." */
#define TIMES_REMEDY    "QEMU write it with -global " \
                        "riscv-trace-encoder.time-width=64"

void hart_time(void *opaque, uint64_t ticks, unsigned bits, bool timestamp)
{
    HartResult *h = opaque;
    uint64_t ns;

    /* One of the two: they are not the same clock. */
    if (timestamp != h->by_timestamps ||
        !virtual_clock_put(&h->time, ticks, bits)) {
        return;
    }
    ns = virtual_clock_ns(&h->time);
    if (h->clock) {
        moment_clock_time(h->clock, h->counts.selected, ns);
    }
    hart_weights_time(h, ns);
    if (h->selection) {
        selection_time(h->selection, ns);
    }
}

bool hart_time_begin(HartResult *h)
{
    const CliTrace *ct = h->all->ct;
    bool must = ct->selection && selection_has_times(ct->selection) &&
                (h->selection || h->all->only_ends);

    if (!must && !h->clock && !h->weights && !h->range_weights &&
        !h->all->spacing) {
        return true;
    }
    if (trace_reports_time(h->all->t, h->hart, &h->by_timestamps)) {
        h->time.hz = ct->select.tick_rate ? ct->select.tick_rate :
                     h->by_timestamps ? TIMESTAMP_HZ : MTIME_HZ;
    } else if (must) {
        cli_error("--from, --to: hart %u's trace does not report the time; "
                  "have " TIMES_REMEDY ", or give a number of instructions",
                  h->hart);
        return false;
    }
    return true;
}

static uint64_t end_of(const HartResult *h, uint64_t ticks)
{
    VirtualClock clock = { .hz = h->time.hz, .ticks = ticks };

    return clock.hz ? virtual_clock_ns(&clock) : 0;
}

bool results_find_ends(Results *r)
{
    g_auto(Results) quick = {
        .ct = r->ct, .t = r->t, .what = RESULT_STAT, .only_ends = true,
    };
    uint64_t ns = 0;

    if (!r->index && !results_decode(&quick)) {
        return false;
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

/* Do the packets of all harts that are asked for report the time? */
static bool reports_time(const Results *r)
{
    bool by_timestamps;

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (cli_hart_selected(r->ct, r->t, i) &&
            !trace_reports_time(r->t, i, &by_timestamps)) {
            return false;
        }
    }
    return true;
}

bool results_choose_time(Results *r, ClockChoice clock, bool by_time)
{
    bool must = clock == CLOCK_VIRTUAL;
    bool may = must || clock == CLOCK_BEST;

    r->by_time = by_time;
    if ((may || r->by_time) && !reports_time(r)) {
        if (must) {
            cli_error("--time virtual: the trace does not report the time; "
                      "have " TIMES_REMEDY);
        } else if (r->by_time) {
            cli_error("--weight time: the trace does not report the time; have "
                      TIMES_REMEDY);
        }
        if (must || r->by_time) {
            return false;
        }
        may = false;
    }
    r->virtual_time = may;
    return true;
}
