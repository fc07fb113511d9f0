/*
 * rvtrace: counting which code runs
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"

typedef struct CounterObserver {
    const HartResult *h;
    Counts *ranges;
    Counter *counter;           /* NULL: nothing more is counted */
} CounterObserver;

static void count_runs(void *opaque, const FlowRun *runs, unsigned n,
                       const CallStackSite *site)
{
    CounterObserver *o = opaque;

    if (o->h->ignored) {
        counter_skip(o->counter, runs, n, site);
    } else {
        counter_runs(o->counter, runs, n, site);
    }
}

static void count_trap(void *opaque, const FlowTrap *trap,
                       const CallStackSite *site)
{
    CounterObserver *o = opaque;

    counter_trap(o->counter, trap, site);
}

static void count_lost(void *opaque, FlowLossKind kind)
{
    CounterObserver *o = opaque;

    counter_lost(o->counter);
}

static void count_mark(void *opaque)
{
    CounterObserver *o = opaque;

    counter_mark(o->counter);
}

static bool count_can_repeat(void *opaque, uint64_t times)
{
    CounterObserver *o = opaque;

    return o->h->ignored || counter_can_repeat(o->counter);
}

static void count_repeat(void *opaque, uint64_t times)
{
    CounterObserver *o = opaque;

    if (!o->h->ignored) {
        counter_repeat(o->counter, times);
    }
}

static void count_end(void *opaque)
{
    CounterObserver *o = opaque;

    g_clear_pointer(&o->counter, counter_free);
}

static void count_free(void *opaque)
{
    CounterObserver *o = opaque;

    g_clear_pointer(&o->counter, counter_free);
    g_clear_pointer(&o->ranges, counts_free);
    g_free(o);
}

static const ObserverOps counter_ops = {
    .runs = count_runs,
    .trap = count_trap,
    .lost = count_lost,
    .mark = count_mark,
    .can_repeat = count_can_repeat,
    .repeat = count_repeat,
    .end = count_end,
    .free = count_free,
};

Counts *results_new_counts(const Results *r)
{
    return counts_new(names_objects(r->names),
                      r->what & RESULT_TASKS ? r->tasks : NULL);
}

void hart_count(HartResult *h)
{
    const Results *r = h->all;
    CounterObserver *o = g_new0(CounterObserver, 1);

    o->h = h;
    o->ranges = results_new_counts(r);
    o->counter = counter_new(o->ranges, r->names, h->hart);
    hart_observe(h, &counter_ops, o, 0);
    if (r->by_time) {
        hart_weigh_ranges(h, o->ranges, o->counter);
    }
}

void hart_count_handler(void *opaque, uint64_t pc, unsigned priv,
                        const CallStackSite *site)
{
    CounterObserver *o = hart_observer(opaque, &counter_ops);

    if (o && o->counter) {
        counter_handler(o->counter, pc, priv, site);
    }
}

Counts *hart_ranges(const HartResult *h)
{
    CounterObserver *o = hart_observer(h, &counter_ops);

    return o ? o->ranges : NULL;
}

Counts *hart_take_ranges(HartResult *h)
{
    CounterObserver *o = hart_observer(h, &counter_ops);

    return o ? g_steal_pointer(&o->ranges) : NULL;
}
