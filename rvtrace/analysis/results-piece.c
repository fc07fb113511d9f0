/*
 * rvtrace: a pass over a piece of a trace, by its index
 *
 * The piece that is decoded begins at a point of the index and ends behind
 * what is selected. Whatever does not depend upon a selection - how much there
 * is of everything, and what was lost - is in the index, so that nothing is
 * another than without it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/virtual-clock.h"
#include "profile/callstack-save.h"
#include "analysis/results-private.h"

/* The border in front of piece @k, from 0 on, of @n; NULL: the beginning */
static const IndexPoint *shard_border(const IndexHart *h, unsigned k,
                                      unsigned n)
{
    uint64_t share = share_of(h->all.insns, k, n);

    return k ? index_hart_find(h, share) : NULL;
}

static uint64_t insns_before(const IndexPoint *p)
{
    return p ? p->before.insns : 0;
}

/* Where the piece begins and ends */
static void choose_shard(HartResult *h)
{
    const Job *job = h->all->job;
    HartPiece *p = &h->piece;
    uint64_t end = UINT64_MAX;

    p->from = shard_border(p->indexed, job->shard - 1, job->shards);
    if (job->shard < job->shards) {
        p->to = shard_border(p->indexed, job->shard, job->shards);
        end = insns_before(p->to);
    }
    if (!h->selection) {
        h->selection = selection_hart_new(h->all->everything, h->hart);
    }
    selection_hart_narrow(h->selection, insns_before(p->from), end);
}

/*
 * A point where not all of the sideband was there, that has grown since, is not
 * to be believed.
 */
static const IndexPoint *find_point(const HartResult *hart, TraceMatch match)
{
    const IndexHart *h = hart->piece.indexed;
    uint64_t from, to, since = selection_hart_since(hart->selection);
    const IndexPoint *p, *timed;

    selection_hart_range(hart->selection, &from, &to);
    p = index_hart_find(h, from);
    timed = since ? index_hart_find_time(
        h, virtual_clock_ticks(&hart->time, since)) : NULL;
    if (timed && (!p || timed > p)) {
        p = timed;
    }
    while (p && match == TRACE_GROWN && p->at.sideband_pos &&
           p->at.sideband_pos >= h->sideband_end) {
        p = p == &g_array_index(h->points, IndexPoint, 0) ? NULL : p - 1;
    }
    return p;
}

static bool load_stacks(HartResult *h)
{
    HartPiece *p = &h->piece;
    ByteReader tree = p->indexed->tree, stacks;
    CallStack *stack = hart_stack(h);

    p->tree = tree_reader_new(&tree, names_objects(h->all->names),
                              h->all->tasks);
    if (!p->tree) {
        return false;
    }
    if (!stack) {
        return true;
    }
    /* A piece that begins with the trace needs it, too: tasks may arrive. */
    tree_reader_bind(p->tree, hart_profile(h), &h->all->layers);
    if (!p->from) {
        return true;
    }
    stacks = p->from->stacks;
    return callstack_load(stack, p->tree, p->indexed->pieces, &stacks);
}

/* Losses outside the piece: they are known, but not decoded again. */
static void add_losses(HartResult *h, uint64_t from, uint64_t to)
{
    const GArray *known = h->piece.indexed->losses;

    for (uint64_t i = from; i < to; i++) {
        if (i >= known->len) {
            h->more_losses += to - i;
            break;
        }
        g_array_append_val(h->losses, g_array_index(known, TraceLoss, i));
    }
}

void hart_choose_piece(HartResult *h, TraceMatch match)
{
    HartPiece *p = &h->piece;

    p->indexed = &h->all->index->harts[h->hart];
    if (h->all->job->shards) {
        choose_shard(h);
    }
    p->from = find_point(h, match);
    p->over = match == TRACE_SAME &&
              selection_hart_ends(h->selection, p->indexed->all.insns);
    if (!load_stacks(h)) {
        p->failed = true;
        return;
    }
    if (p->from) {
        const IndexCounts *before = &p->from->before;

        h->counts.insns = before->insns;
        h->counts.exceptions = before->exceptions;
        h->counts.interrupts = before->interrupts;
        h->counts.windows = before->windows;
        if (!h->all->job->shards) {
            add_losses(h, 0, before->losses);
        }
    }
}

/* The decoder is where the piece begins: whose address space is it? */
static void on_begun(void *opaque)
{
    HartResult *h = opaque;
    const IndexPoint *from = h->piece.from;

    /* By now the selection has seen the notes that stand before it. */
    selection_hart_start(h->selection, from->before.insns);
    if (from->ticks && h->time.hz) {
        h->time.ticks = from->ticks;
        h->time.known = true;
        selection_time(h->selection, virtual_clock_ns(&h->time));
        FOR_OBSERVERS(o, h, time) {
            o->ops->time(o->state, virtual_clock_ns(&h->time),
                         false);
        }
    }
    if (from->space_task &&
        tree_reader_task(h->piece.tree, from->space_task,
                         &h->who.space_task)) {
        h->who.space = from->space;
        h->who.generation = h->d.image->generation;
    }
}

/* What the trace has behind the place where the decoder stopped */
static void add_rest(HartResult *h)
{
    const IndexCounts *all = &h->piece.indexed->all;

    add_losses(h, h->losses->len + h->more_losses, all->losses);
    h->d.stats = all->stats;
    h->counts.insns = all->insns;
    h->counts.exceptions = all->exceptions;
    h->counts.interrupts = all->interrupts;
    h->counts.windows = all->windows;
}

/* Of a shard, those of its own piece; each is in one piece only. */
static void set_shard_losses(HartResult *h)
{
    const IndexCounts *all = &h->piece.indexed->all;
    const Job *job = h->all->job;
    const IndexPoint *from = shard_border(h->piece.indexed, job->shard - 1,
                                          job->shards);

    g_array_set_size(h->losses, 0);
    h->more_losses = 0;
    add_losses(h, from ? from->before.losses : 0,
               job->shard == job->shards ? all->losses :
               h->piece.to ? h->piece.to->before.losses : 0);
}

void hart_decode_piece(HartResult *h, const TraceConsumer *consumer)
{
    HartPiece *p = &h->piece;
    uint64_t from, to;

    if (p->failed) {
        return;
    }
    if (!p->indexed) {
        trace_decode(&h->d, h->all->t, h->hart, consumer, h);
        return;
    }
    selection_hart_range(h->selection, &from, &to);
    p->start = (TraceStart) {
        .point = p->from ? &p->from->at : NULL,
        .advanced = (const uint64_t *)p->indexed->advanced->data,
        .begun = on_begun,
    };
    /* A piece without anything in it */
    h->d.stop = p->over && from >= to;
    if (!h->d.stop) {
        /* An observer may have found that the index makes no sense. */
        p->failed |= !trace_decode_from(&h->d, h->all->t, h->hart,
                                        p->from ? &p->start : NULL, consumer,
                                        h);
    }
    if (p->from) {
        trace_stats_add(&h->d.stats, &p->from->before.stats);
    }
    if (p->over && h->d.stop && !h->d.gave_up) {
        add_rest(h);
    }
    if (h->all->job->shards) {
        set_shard_losses(h);
    }
}
