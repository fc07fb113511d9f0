/*
 * Strips: which tasks a hart ran, over its instructions, in a few buckets
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/time/strip.h"

/* Instructions of a bucket, to begin with */
#define FIRST_WIDTH     64

Strip *strip_new(unsigned hart, const Profile *profile)
{
    Strip *s = g_new0(Strip, 1);

    s->hart = hart;
    s->profile = profile;
    s->width = FIRST_WIDTH;
    s->totals = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    return s;
}

void strip_free(Strip *s)
{
    g_hash_table_unref(s->totals);
    g_free(s);
}

static void add_share(StripBucket *b, const Task *task, uint64_t insns)
{
    StripShare *least = &b->shares[0];

    for (unsigned i = 0; i < STRIP_TASKS; i++) {
        StripShare *share = &b->shares[i];

        if (!share->insns || share->task == task) {
            share->task = task;
            share->insns += insns;
            return;
        }
        if (share->insns < least->insns) {
            least = share;
        }
    }
    if (least->insns < insns) {
        b->others += least->insns;
        *least = (StripShare) { .task = task, .insns = insns };
    } else {
        b->others += insns;
    }
}

/* Two buckets become one. */
static void halve(Strip *s)
{
    for (unsigned i = 0; i < STRIP_BUCKETS / 2; i++) {
        StripBucket sum = s->buckets[2 * i];
        const StripBucket *b = &s->buckets[2 * i + 1];

        for (unsigned j = 0; j < STRIP_TASKS && b->shares[j].insns; j++) {
            add_share(&sum, b->shares[j].task, b->shares[j].insns);
        }
        sum.others += b->others;
        s->buckets[i] = sum;
    }
    memset(&s->buckets[STRIP_BUCKETS / 2], 0, sizeof(s->buckets) / 2);
    s->width *= 2;
}

/* Who ran did so until @insns instructions had retired. */
static void advance(Strip *s, uint64_t insns)
{
    *s->total += insns - s->insns;
    while (insns / s->width >= STRIP_BUCKETS) {
        halve(s);
    }
    while (s->insns < insns) {
        uint64_t i = s->insns / s->width;
        uint64_t end = MIN((i + 1) * s->width, insns);

        add_share(&s->buckets[i], s->task, end - s->insns);
        s->insns = end;
    }
}

/* Is @node below a trap? */
static bool is_handler(const Strip *s, unsigned node)
{
    while (node != PROFILE_ROOT) {
        const ProfileNode *n = profile_node(s->profile, node);

        if (profile_frame(s->profile, n->frame)->kind == FRAME_TRAP) {
            return true;
        }
        node = n->parent;
    }
    return false;
}

void strip_moment(void *opaque, const CallStackMoment *m)
{
    Strip *s = opaque;

    if (s->total && (m->task == s->task ||
                     (!m->task && is_handler(s, m->node)))) {
        return;
    }
    if (s->total) {
        advance(s, m->insns);
    }
    s->task = m->task;
    s->insns = m->insns;
    s->total = g_hash_table_lookup(s->totals, m->task);
    if (!s->total) {
        s->total = g_new0(uint64_t, 1);
        g_hash_table_insert(s->totals, (gpointer)m->task, s->total);
    }
}

void strip_end(Strip *s, uint64_t insns)
{
    if (s->total) {
        advance(s, insns);
    }
}
