/*
 * rvtrace: the virtual time of harts, as their packets report it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"
#include "base/say.h"

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
    FOR_OBSERVERS(o, h, time) {
        o->ops->time(o->state, ns);
    }
    if (h->selection) {
        selection_time(h->selection, ns);
    }
}

bool hart_time_begin(HartResult *h)
{
    const Job *job = h->all->job;
    bool must = job->selection && selection_has_times(job->selection) &&
                (h->selection || h->all->only_ends);

    if (!must && !(h->needs & OBSERVER_TIME) && !h->all->spacing) {
        return true;
    }
    if (trace_reports_time(h->all->t, h->hart, &h->by_timestamps)) {
        h->time.hz = job->select.tick_rate ? job->select.tick_rate :
                     h->by_timestamps ? TIMESTAMP_HZ : MTIME_HZ;
    } else if (must) {
        say_error("--from, --to: hart %u's trace does not report the time; "
                  "have " TIMES_REMEDY ", or give a number of instructions",
                  h->hart);
        return false;
    }
    return true;
}

/* Do the packets of all harts that are asked for report the time? */
static bool reports_time(const Results *r)
{
    bool by_timestamps;

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (job_has_hart(r->job, r->t, i) &&
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
            say_error("--time virtual: the trace does not report the time; "
                      "have " TIMES_REMEDY);
        } else if (r->by_time) {
            say_error("--weight time: the trace does not report the time; have "
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
