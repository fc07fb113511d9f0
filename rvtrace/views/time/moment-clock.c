/*
 * Moments in virtual time: when they were, by the timestamps around them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/virtual-clock.h"
#include "views/time/moment-clock.h"

typedef struct Waiting {
    CallStackMoment moment;
    const MomentMark *mark;     /* or NULL */
} Waiting;

/* What a timestamp says */
typedef struct Stamp {
    uint64_t insns, ns;
} Stamp;

struct MomentClock {
    MomentClockFn *fn;
    void *opaque;
    bool known;                 /* there was a timestamp */
    Stamp from, to;             /* the last one that counted; the latest */
    bool closing, closed;       /* one more timestamp counts; none does */
    guint before;               /* of those that wait, were before @to */
    GArray *waiting;            /* Waiting */
};

MomentClock *moment_clock_new(MomentClockFn *fn, void *opaque)
{
    MomentClock *c = g_new0(MomentClock, 1);

    c->fn = fn;
    c->opaque = opaque;
    c->waiting = g_array_new(false, false, sizeof(Waiting));
    return c;
}

void moment_clock_free(MomentClock *c)
{
    g_array_unref(c->waiting);
    g_free(c);
}

static uint64_t time_of(const MomentClock *c, uint64_t insns)
{
    uint64_t all = c->to.insns - c->from.insns;
    uint64_t ns = c->to.ns - c->from.ns;
    uint64_t part = MIN(insns - MIN(insns, c->from.insns), all);

    return all ? c->from.ns + share_of(ns, part, all) : c->to.ns;
}

/* Hand over what was before the latest timestamp, which counts then. */
static void hand_over(MomentClock *c)
{
    for (guint i = 0; i < c->before; i++) {
        Waiting *w = &g_array_index(c->waiting, Waiting, i);

        w->moment.time = time_of(c, w->moment.insns);
        c->fn(c->opaque, &w->moment, w->mark);
    }
    g_array_remove_range(c->waiting, 0, c->before);
    c->before = 0;
    c->from = c->to;
}

static void add(MomentClock *c, const Waiting *w)
{
    if (c->waiting->len >= MOMENT_CLOCK_WAITING) {
        hand_over(c);
        if (c->waiting->len >= MOMENT_CLOCK_WAITING) {
            c->to.insns = MAX(c->to.insns, w->moment.insns);
            c->before = c->waiting->len;
            hand_over(c);
        }
    }
    g_array_append_vals(c->waiting, w, 1);
}

void moment_clock_put(MomentClock *c, const CallStackMoment *moment)
{
    Waiting w = { .moment = *moment };

    add(c, &w);
}

void moment_clock_mark(MomentClock *c, const CallStackMoment *when,
                       const MomentMark *mark)
{
    Waiting w = { .moment = *when, .mark = mark };

    add(c, &w);
}

void moment_clock_restart(MomentClock *c)
{
    hand_over(c);
}

void moment_clock_split(MomentClock *c)
{
    hand_over(c);
}

void moment_clock_close(MomentClock *c)
{
    c->closing = true;
}

bool moment_clock_closed(const MomentClock *c)
{
    return c->closed;
}

void moment_clock_time(MomentClock *c, uint64_t insns, uint64_t ns)
{
    if (c->closed) {
        return;
    }
    c->closed = c->closing;
    if (!c->known) {
        /* When the time before it began is not known. */
        c->from = (Stamp) { insns, ns };
        c->to = c->from;
        c->known = true;
    } else if (ns != c->to.ns && c->to.ns - c->from.ns >= MOMENT_CLOCK_STEP) {
        hand_over(c);
    }
    c->to = (Stamp) { insns, ns };
    c->before = c->waiting->len;
}

uint64_t moment_clock_end(MomentClock *c)
{
    hand_over(c);
    c->before = c->waiting->len;
    hand_over(c);
    return c->to.ns;
}
