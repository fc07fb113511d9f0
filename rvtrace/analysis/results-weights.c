/*
 * rvtrace: virtual time as the weight of call stacks and of code
 *
 * Packets are made many at a time: what they report ran since the time before.
 * In such an interval, each instruction takes as long as any other one; where
 * none ran, the time is that of the call stack, or the code, that waited.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/virtual-clock.h"
#include "analysis/results-private.h"

/* What a node of the hart's profile has, or a range of its counts */
typedef struct Weight {
    uint64_t ns;
    uint64_t counted;       /* instructions, up to the last packet */
    uint64_t insns;         /* of the interval */
    bool touched;           /* since the last packet */
} Weight;

struct Weights {
    GArray *all;            /* Weight, by node or range */
    GArray *touched;        /* unsigned: since the last packet; first: before */
    GArray *parts;          /* unsigned: those that have Weight.insns */
    unsigned now;           /* what was touched last */
    bool known;             /* there was a time */
    uint64_t from, to;      /* the interval, ns */
    uint64_t insns;         /* of the hart in it, selected or not, ... */
    uint64_t before;        /* ... and up to the last packet */
};

/* What is weighed: how many instructions each has, and all that ran have */
typedef struct Scale {
    uint64_t (*insns)(const HartResult *h, unsigned index);
    const HartResult *h;
    uint64_t ran;
} Scale;

static Weights *weights_new(void)
{
    Weights *w = g_new0(Weights, 1);

    w->all = g_array_new(false, true, sizeof(Weight));
    w->touched = g_array_new(false, false, sizeof(unsigned));
    w->parts = g_array_new(false, false, sizeof(unsigned));
    return w;
}

void weights_free(Weights *w)
{
    g_array_unref(w->all);
    g_array_unref(w->touched);
    g_array_unref(w->parts);
    g_free(w);
}

static Weight *weight(Weights *w, unsigned index)
{
    return &g_array_index(w->all, Weight, index);
}

static void touch(Weights *w, unsigned index)
{
    w->now = index;
    if (w->all->len <= index) {
        g_array_set_size(w->all, index + 1);
    }
    if (!weight(w, index)->touched) {
        weight(w, index)->touched = true;
        g_array_append_val(w->touched, index);
    }
}

/* Divide the interval's time among its instructions. */
static void divide(Weights *w)
{
    uint64_t done = 0, passed = w->to - w->from;

    for (guint i = 0; i < w->parts->len; i++) {
        Weight *n = weight(w, g_array_index(w->parts, unsigned, i));

        /* Shares are rounded so that their sum is right. */
        n->ns += share_of(passed, done + n->insns, w->insns) -
                 share_of(passed, done, w->insns);
        done += n->insns;
        n->insns = 0;
    }
    g_array_set_size(w->parts, 0);
    w->insns = 0;
    w->from = w->to;
}

/* What ran since the last packet belongs to the interval. */
static void add_insns(Weights *w, const Scale *s)
{
    for (guint i = 0; i < w->touched->len; i++) {
        unsigned index = g_array_index(w->touched, unsigned, i);
        uint64_t now = s->insns(s->h, index);
        Weight *n = weight(w, index);
        uint64_t insns = now - n->counted;

        n->counted = now;
        n->touched = false;
        if (w->known && insns) {
            if (!n->insns) {
                g_array_append_val(w->parts, index);
            }
            n->insns += insns;
        }
    }
    if (w->touched->len) {
        g_array_set_size(w->touched, 0);
        touch(w, w->now);
    }
    w->insns += w->known ? s->ran - w->before : 0;
    w->before = s->ran;
}

static void end_interval(Weights *w, const HartResult *h)
{
    if (w->insns) {
        divide(w);
    } else if (w->touched->len && !h->ignored) {
        /* Nothing ran: what was there waited. */
        weight(w, g_array_index(w->touched, unsigned, 0))->ns +=
            w->to - w->from;
    }
    w->from = w->to;
}

static void note_time(Weights *w, const Scale *s, uint64_t ns)
{
    if (!w->known) {
        /* When the time before it began is not known. */
        add_insns(w, s);
        w->known = true;
        w->from = w->to = ns;
        return;
    }
    if (ns != w->to && w->to - w->from >= MOMENT_CLOCK_STEP) {
        end_interval(w, s->h);
    }
    add_insns(w, s);
    w->to = ns;
}

uint64_t weights_get(const Weights *w, unsigned index)
{
    return index < w->all->len ? g_array_index(w->all, Weight, index).ns : 0;
}

static uint64_t node_insns(const HartResult *h, unsigned node)
{
    return profile_node(h->profile, node)->self;
}

static uint64_t range_insns(const HartResult *h, unsigned index)
{
    const CountRange *range = &g_array_index(h->ranges->ranges, CountRange,
                                             index);

    return range->insns * range->count;
}

static void range_ran(void *opaque, unsigned range)
{
    touch(opaque, range);
}

void hart_weights_begin(HartResult *h)
{
    if (h->all->by_time && h->stack) {
        h->weights = weights_new();
    }
    if (h->all->by_time && h->counter) {
        h->range_weights = weights_new();
        counter_watch(h->counter, range_ran, h->range_weights);
    }
}

void hart_weights_moment(HartResult *h, const CallStackMoment *moment)
{
    touch(h->weights, moment->node);
}

void hart_weights_time(HartResult *h, uint64_t ns)
{
    if (h->weights) {
        note_time(h->weights, &(Scale) {
            .insns = node_insns, .h = h, .ran = h->counts.insns,
        }, ns);
    }
    if (h->range_weights) {
        /* The last run is not counted before it is known how it was left. */
        note_time(h->range_weights, &(Scale) {
            .insns = range_insns, .h = h, .ran = counter_insns(h->counter),
        }, ns);
    }
}

void hart_weights_end(HartResult *h)
{
    if (h->weights) {
        end_interval(h->weights, h);
    }
    if (h->range_weights) {
        end_interval(h->range_weights, h);
        for (guint i = 0; i < h->ranges->ranges->len; i++) {
            g_array_index(h->ranges->ranges, CountRange, i).ns =
                weights_get(h->range_weights, i);
        }
    }
}
