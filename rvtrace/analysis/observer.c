/*
 * rvtrace: the observers of a hart that is decoded
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"

void hart_observe(HartResult *h, const ObserverOps *ops, void *state,
                  unsigned needs)
{
    Observer o = { .ops = ops, .state = state };

    g_array_append_val(h->observers, o);
    h->needs |= needs;
    h->named |= ops->runs != NULL;
}

void *hart_observer(const HartResult *h, const ObserverOps *ops)
{
    for (guint i = 0; i < h->observers->len; i++) {
        const Observer *o = &g_array_index(h->observers, Observer, i);

        if (o->ops == ops) {
            return o->state;
        }
    }
    return NULL;
}

void hart_moment(void *opaque, const CallStackMoment *moment)
{
    HartResult *h = opaque;

    FOR_OBSERVERS(o, h, moment) {
        o->ops->moment(o->state, moment);
    }
}
