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

/* A time that was reported behind a run that is not counted yet */
typedef struct LateTime {
    uint64_t ns;
    bool waited, ignored;
} LateTime;

/* What is weighed is either of a profile or of counts. */
typedef struct Weights {
    const HartResult *h;
    const Profile *profile;
    const Counts *ranges;
    Counter *counter;           /* of ranges */
    GArray *all;            /* Weight, by node or range */
    GArray *touched;        /* unsigned: since the last packet; first: before */
    GArray *parts;          /* unsigned: those that have Weight.insns */
    GArray *late;           /* LateTime; of ranges */
    unsigned now;           /* what was touched last */
    bool known;             /* there was a time */
    bool ignored;           /* what happens at the time is not selected */
    uint64_t from, to;      /* the interval, ns */
    uint64_t insns;         /* of the hart in it, selected or not, ... */
    uint64_t before;        /* ... and up to the last packet */
} Weights;

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

/* How many instructions the node, or the range, has so far */
static uint64_t insns_of(const Weights *w, unsigned index)
{
    const CountRange *range;

    if (w->profile) {
        return profile_node(w->profile, index)->self;
    }
    range = &g_array_index(w->ranges->ranges, CountRange, index);
    return range->insns * range->count;
}

/* ... and all of them have */
static uint64_t all_insns(const Weights *w)
{
    /* The last run is not counted before it is known how it was left. */
    return w->profile ? w->h->counts.insns : counter_insns(w->counter);
}

/* What ran since the last packet belongs to the interval. */
static void add_insns(Weights *w)
{
    uint64_t ran = all_insns(w);

    for (guint i = 0; i < w->touched->len; i++) {
        unsigned index = g_array_index(w->touched, unsigned, i);
        uint64_t now = insns_of(w, index);
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
    w->insns += w->known ? ran - w->before : 0;
    w->before = ran;
}

static void end_interval(Weights *w)
{
    if (w->insns) {
        divide(w);
    } else if (w->touched->len && !w->ignored) {
        /* Nothing ran: what was there waited. */
        weight(w, g_array_index(w->touched, unsigned, 0))->ns +=
            w->to - w->from;
    }
    w->from = w->to;
}

static void put_time(Weights *w, uint64_t ns, bool waited, bool ignored)
{
    w->ignored = ignored;
    if (!w->known) {
        /* When the time before it began is not known. */
        add_insns(w);
        w->known = true;
        w->from = w->to = ns;
        return;
    }
    if (ns != w->to && (waited || w->to - w->from >= MOMENT_CLOCK_STEP)) {
        end_interval(w);
    }
    add_insns(w);
    w->to = ns;
}

static void note_time(void *opaque, uint64_t ns, bool waited)
{
    Weights *w = opaque;

    put_time(w, ns, waited, w->h->ignored);
}

static uint64_t weight_of(const Weights *w, unsigned index)
{
    return index < w->all->len ? g_array_index(w->all, Weight, index).ns : 0;
}

static void end_nodes(void *opaque)
{
    Weights *w = opaque;

    w->ignored = w->h->ignored;
    end_interval(w);
}

/* Nothing has run since the last one of @w->late. */
static void put_late_time(Weights *w, uint64_t ns, bool waited)
{
    LateTime late = { .ns = ns, .waited = waited, .ignored = w->h->ignored };
    LateTime *last = w->late->len < 2 ? NULL :
        &g_array_index(w->late, LateTime, w->late->len - 1);

    if (last && last->ignored == late.ignored) {
        last->ns = ns;
        last->waited |= waited;
    } else {
        g_array_append_val(w->late, late);
    }
}

/* The last run is counted when it is known how it was left. */
static void note_late_time(void *opaque, uint64_t ns, bool waited)
{
    Weights *w = opaque;

    if (counter_is_behind(w->counter)) {
        put_late_time(w, ns, waited);
    } else {
        note_time(w, ns, waited);
    }
}

static void end_ranges(void *opaque)
{
    Weights *w = opaque;

    counter_lost(w->counter);
    w->ignored = w->h->ignored;
    end_interval(w);
    for (guint i = 0; i < w->ranges->ranges->len; i++) {
        g_array_index(w->ranges->ranges, CountRange, i).ns = weight_of(w, i);
    }
}

static void node_ran(void *opaque, const CallStackMoment *moment)
{
    touch(opaque, moment->node);
}

static void range_ran(void *opaque, unsigned range)
{
    Weights *w = opaque;

    touch(w, range);
    for (guint i = 0; i < w->late->len; i++) {
        const LateTime *late = &g_array_index(w->late, LateTime, i);

        put_time(w, late->ns, late->waited, late->ignored);
    }
    g_array_set_size(w->late, 0);
}

static void weights_free(void *opaque)
{
    Weights *w = opaque;

    g_array_unref(w->all);
    g_array_unref(w->touched);
    g_array_unref(w->parts);
    g_array_unref(w->late);
    g_free(w);
}

static const ObserverOps node_ops = {
    .moment = node_ran,
    .time = note_time,
    .end = end_nodes,
    .free = weights_free,
};

static const ObserverOps range_ops = {
    .time = note_late_time,
    .end = end_ranges,
    .free = weights_free,
};

static Weights *weigh(HartResult *h, const ObserverOps *ops)
{
    Weights *w = g_new0(Weights, 1);

    w->h = h;
    w->all = g_array_new(false, true, sizeof(Weight));
    w->touched = g_array_new(false, false, sizeof(unsigned));
    w->parts = g_array_new(false, false, sizeof(unsigned));
    w->late = g_array_new(false, false, sizeof(LateTime));
    hart_observe(h, ops, w, OBSERVER_EVERY_ROUND | OBSERVER_TIME);
    return w;
}

void hart_weigh_nodes(HartResult *h, const Profile *profile)
{
    weigh(h, &node_ops)->profile = profile;
}

void hart_weigh_ranges(HartResult *h, const Counts *ranges, Counter *counter)
{
    Weights *w = weigh(h, &range_ops);

    w->ranges = ranges;
    w->counter = counter;
    counter_watch(counter, range_ran, w);
}

uint64_t hart_node_time(const HartResult *h, unsigned node)
{
    const Weights *w = hart_observer(h, &node_ops);

    return w ? weight_of(w, node) : 0;
}
