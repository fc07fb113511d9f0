/*
 * rvtrace: the virtual time of harts, as their packets report it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <math.h>
#include "analysis/results-private.h"
#include "base/say.h"
#include "trace/trace-clock.h"

void hart_time(void *opaque, uint64_t ticks, unsigned bits, bool timestamp)
{
    HartResult *h = opaque;
    bool waited = h->waits;
    uint64_t ns;

    /* One of the two: they are not the same clock. */
    if (timestamp != h->by_timestamps ||
        !virtual_clock_put(&h->time, ticks, bits)) {
        return;
    }
    h->waits = false;
    h->goes_on = h->goes_on_in == 1;
    h->goes_on_in -= h->goes_on_in > 0;
    ns = virtual_clock_ns(&h->time);
    FOR_OBSERVERS(o, h, time) {
        o->ops->time(o->state, ns, waited);
    }
    if (h->selection) {
        selection_time(h->selection, ns);
    }
}

void results_warn_of_clock(const Trace *t, unsigned hart, bool timestamps,
                           uint64_t ticks)
{
    unsigned bits = trace_clock_bits(t, hart, timestamps);
    double hz = ticks;
    const char *what = timestamps ? "timestamp" : "time";
    uint64_t seen, passed;

    switch (trace_look_at_clock(t, hart, timestamps, ticks, &seen, &passed)) {
    case TRACE_CLOCK_UNKNOWN:
        say_warn("hart %u: its %ss of %u bits wrap every %.3g s: how much time "
                 "passed is not known where packets are further apart; have "
                 "QEMU write longer ones, with -global "
                 "riscv-trace-encoder.%s-width=%u", hart, what, bits,
                 ldexp(1, bits) / hz, what, timestamps ? 40 : 64);
        break;
    case TRACE_CLOCK_WRAPPED:
        say_warn("hart %u: its timestamps of %u bits wrap every %.3g s, which "
                 "they did unseen: by them, %.4g s have passed, in fact "
                 "%.4g s, so times are too short; have QEMU write longer ones, "
                 "with -global riscv-trace-encoder.timestamp-width=40",
                 hart, bits, ldexp(1, bits) / hz, seen / hz, passed / hz);
        break;
    default:
        break;
    }
}

bool hart_time_begin(HartResult *h)
{
    const Job *job = h->all->job;
    bool must = job->selection && selection_has_times(job->selection) &&
                (h->selection || h->all->only_ends);

    h->is_process = h->all->t->sideband &&
                    sideband_is_process(h->all->t->sideband);
    if (!must && !(h->needs & OBSERVER_TIME) && !h->all->spacing) {
        return true;
    }
    if (trace_reports_time(h->all->t, h->hart, &h->by_timestamps)) {
        h->time.hz = job->select.tick_rate > 0 ?
                     (uint64_t)job->select.tick_rate :
                     trace_tick_rate(h->all->t, h->hart, h->by_timestamps);
        if (must || (h->needs & OBSERVER_TIME)) {
            results_warn_of_clock(h->all->t, h->hart, h->by_timestamps,
                                  h->time.hz);
        }
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
