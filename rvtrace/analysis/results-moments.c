/*
 * rvtrace: how call stacks change, for those who want to know it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"

static void hand_on(void *opaque, const CallStackMoment *moment,
                    const char *lost)
{
    HartResult *h = opaque;
    const GArray *watchers = h->all->watchers;

    if (h->moments && !lost) {
        moments_put(h->moments, moment);
    }
    for (guint i = 0; watchers && i < watchers->len; i++) {
        const Watcher *w = &g_array_index(watchers, Watcher, i);

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

    if (h->weights) {
        hart_weights_moment(h, moment);
    }
    if (h->clock) {
        moment_clock_put(h->clock, moment);
    } else {
        hand_on(h, moment, NULL);
    }
}

/* Is what happens now in between instructions that are selected? */
static bool is_selected(const HartResult *h)
{
    return !h->selection ||
           (h->counts.selected && !h->ignored &&
            !selection_over(h->selection));
}

void hart_moment_lost(HartResult *h, FlowLossKind kind)
{
    CallStackMoment moment = {
        .insns = h->counts.selected, .time = h->counts.selected,
    };

    if (!is_selected(h)) {
        return;
    }
    if (h->clock) {
        moment_clock_lost(h->clock, moment.insns, flow_loss_text(kind));
    } else {
        hand_on(h, &moment, flow_loss_text(kind));
    }
}

bool hart_moments_over(HartResult *h)
{
    if (h->clock) {
        moment_clock_close(h->clock);
    }
    return !h->clock || moment_clock_closed(h->clock);
}

void hart_moments_end(HartResult *h)
{
    const GArray *watchers = h->all->watchers;

    hart_weights_end(h);
    h->end_time = h->clock ? moment_clock_end(h->clock) : h->counts.selected;
    for (guint i = 0; watchers && i < watchers->len; i++) {
        const Watcher *w = &g_array_index(watchers, Watcher, i);

        if (w->end) {
            w->end(h->watching[i], h->counts.selected, h->end_time);
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
    if (h->all->virtual_time && (h->moments || h->all->watchers)) {
        h->clock = moment_clock_new(hand_on, h);
    }
    return true;
}
