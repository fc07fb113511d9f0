/*
 * rvtrace: how call stacks change, for those who want to know it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "results-private.h"

/* Ticks a second, unless somebody says so */
#define TIMESTAMP_HZ    1000000000
#define MTIME_HZ        10000000

static void hand_on(void *opaque, const CallStackMoment *moment,
                    const char *lost)
{
    HartResult *h = opaque;

    if (h->moments && !lost) {
        moments_put(h->moments, moment);
    }
    for (unsigned i = 0; i < h->all->nr_watchers; i++) {
        const Watcher *w = &h->all->watchers[i];

        if (lost && w->lost) {
            w->lost(h->watching[i], moment->time, lost);
        } else if (!lost && w->moment) {
            w->moment(h->watching[i], moment);
        }
    }
}

void hart_moment(void *opaque, const CallStackMoment *moment)
{
    HartResult *h = opaque;

    if (h->clock) {
        moment_clock_put(h->clock, moment);
    } else {
        hand_on(h, moment, NULL);
    }
}

void hart_moment_lost(HartResult *h, FlowLossKind kind)
{
    CallStackMoment moment = {
        .insns = h->counts.selected, .time = h->counts.selected,
    };

    if (h->clock) {
        moment_clock_lost(h->clock, moment.insns, flow_loss_text(kind));
    } else {
        hand_on(h, &moment, flow_loss_text(kind));
    }
}

void hart_moment_time(void *opaque, uint64_t ticks, unsigned bits,
                      bool timestamp)
{
    HartResult *h = opaque;

    /* One of the two: they are not the same clock. */
    if (timestamp == h->by_timestamps) {
        moment_clock_time(h->clock, h->counts.selected, ticks, bits,
                          h->all->tick_rate ? h->all->tick_rate :
                          timestamp ? TIMESTAMP_HZ : MTIME_HZ);
    }
}

void hart_moments_end(HartResult *h)
{
    h->end_time = h->clock ? moment_clock_end(h->clock) : h->counts.selected;
    for (unsigned i = 0; i < h->all->nr_watchers; i++) {
        if (h->all->watchers[i].end) {
            h->all->watchers[i].end(h->watching[i], h->counts.selected,
                                    h->end_time);
        }
    }
}

bool hart_moments_begin(HartResult *h, GError **errp)
{
    if (wants(h, RESULT_MOMENTS)) {
        h->moments = moments_new(errp);
        if (!h->moments) {
            return false;
        }
    }
    if (h->all->virtual_time && (h->moments || h->all->nr_watchers) &&
        trace_tells_time(h->all->t, h->hart, &h->by_timestamps)) {
        h->clock = moment_clock_new(hand_on, h);
    }
    return true;
}

bool results_choose_time(Results *r, const ProfileOptions *o)
{
    bool by_timestamps, told = true;

    if (o->time && !g_str_equal(o->time, "virtual") &&
        !g_str_equal(o->time, "instructions")) {
        cli_error("--time %s: must be virtual or instructions", o->time);
        return false;
    }
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        told &= !cli_hart_selected(r->ct, r->t, i) ||
                trace_tells_time(r->t, i, &by_timestamps);
    }
    if (!told && o->time && g_str_equal(o->time, "virtual")) {
        cli_error("--time virtual: the trace does not tell the time; have "
                  "QEMU write it with -global "
                  "riscv-trace-encoder.time-width=64");
        return false;
    }
    r->virtual_time = told && (!o->time || g_str_equal(o->time, "virtual"));
    r->tick_rate = o->tick_rate;
    return true;
}
