/*
 * rvtrace: virtual time as the weight of call stacks
 *
 * Packets are made many at a time: what they report ran since the time before.
 * In such an interval, each instruction takes as long as any other one; where
 * none ran, the time is that of the call stack that waited.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "results-private.h"

/* What a node of the hart's profile has */
typedef struct NodeWeight {
    uint64_t ns;
    uint64_t counted;       /* what its self was at the last packet */
    uint64_t insns;         /* of the interval */
} NodeWeight;

struct StackWeights {
    GArray *nodes;          /* NodeWeight, by node of the profile */
    GArray *touched;        /* unsigned: since the last packet; first: before */
    GArray *parts;          /* unsigned: nodes that have NodeWeight.insns */
    bool known;             /* there was a time */
    uint64_t from, to;      /* the interval, ns */
    uint64_t insns;         /* of the hart in it, selected or not, ... */
    uint64_t before;        /* ... and up to the last packet */
};

StackWeights *stack_weights_new(void)
{
    StackWeights *w = g_new0(StackWeights, 1);

    w->nodes = g_array_new(false, true, sizeof(NodeWeight));
    w->touched = g_array_new(false, false, sizeof(unsigned));
    w->parts = g_array_new(false, false, sizeof(unsigned));
    return w;
}

void stack_weights_free(StackWeights *w)
{
    g_array_unref(w->nodes);
    g_array_unref(w->touched);
    g_array_unref(w->parts);
    g_free(w);
}

void stack_weights_moment(StackWeights *w, const CallStackMoment *moment)
{
    g_array_append_val(w->touched, moment->node);
}

static NodeWeight *node_weight(StackWeights *w, unsigned node)
{
    return &g_array_index(w->nodes, NodeWeight, node);
}

/* Divide the interval's time among its instructions. */
static void divide(StackWeights *w)
{
    uint64_t done = 0, passed = w->to - w->from;

    for (guint i = 0; i < w->parts->len; i++) {
        NodeWeight *n = node_weight(w, g_array_index(w->parts, unsigned, i));

        /* Shares are rounded so that their sum is right. */
        n->ns += (unsigned __int128)passed * (done + n->insns) / w->insns -
                 (unsigned __int128)passed * done / w->insns;
        done += n->insns;
        n->insns = 0;
    }
    g_array_set_size(w->parts, 0);
    w->insns = 0;
    w->from = w->to;
}

/* What ran since the last packet belongs to the interval. */
static void add_insns(StackWeights *w, const HartResult *h)
{
    unsigned now;

    if (w->nodes->len < h->profile->nodes->len) {
        g_array_set_size(w->nodes, h->profile->nodes->len);
    }
    for (guint i = 0; i < w->touched->len; i++) {
        unsigned node = g_array_index(w->touched, unsigned, i);
        uint64_t self = profile_node(h->profile, node)->self;
        NodeWeight *n = node_weight(w, node);
        uint64_t insns = self - n->counted;

        n->counted = self;
        if (w->known && insns) {
            if (!n->insns) {
                g_array_append_val(w->parts, node);
            }
            n->insns += insns;
        }
    }
    if (w->touched->len) {
        now = g_array_index(w->touched, unsigned, w->touched->len - 1);
        g_array_set_size(w->touched, 0);
        g_array_append_val(w->touched, now);
    }
    w->insns += w->known ? h->counts.insns - w->before : 0;
    w->before = h->counts.insns;
}

void stack_weights_time(StackWeights *w, const HartResult *h, uint64_t ns)
{
    if (!w->known) {
        /* When the time before it began, there is no telling. */
        add_insns(w, h);
        w->known = true;
        w->from = w->to = ns;
        return;
    }
    if (ns != w->to && w->to - w->from >= MOMENT_CLOCK_STEP) {
        stack_weights_end(w, h);
    }
    add_insns(w, h);
    w->to = ns;
}

void stack_weights_end(StackWeights *w, const HartResult *h)
{
    if (w->insns) {
        divide(w);
    } else if (w->touched->len && !h->ignored) {
        /* Nothing ran: the call stack waited. */
        node_weight(w, g_array_index(w->touched, unsigned, 0))->ns +=
            w->to - w->from;
    }
    w->from = w->to;
}

uint64_t stack_weights_get(const StackWeights *w, unsigned node)
{
    return node < w->nodes->len ?
           g_array_index(w->nodes, NodeWeight, node).ns : 0;
}
