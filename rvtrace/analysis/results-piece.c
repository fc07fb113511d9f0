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
    uint64_t end = UINT64_MAX;

    h->from = shard_border(h->indexed, job->shard - 1, job->shards);
    if (job->shard < job->shards) {
        h->to = shard_border(h->indexed, job->shard, job->shards);
        end = insns_before(h->to);
    }
    if (!h->selection) {
        h->selection = selection_hart_new(h->all->everything);
    }
    selection_hart_narrow(h->selection, insns_before(h->from), end);
}

/*
 * A point where not all of the sideband was there, that has grown since, is not
 * to be believed.
 */
static const IndexPoint *find_point(const HartResult *hart, TraceMatch match)
{
    const IndexHart *h = hart->indexed;
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
    ByteReader tree = h->indexed->tree, stacks;

    h->tree = tree_reader_new(&tree, names_objects(h->all->names),
                              h->all->tasks);
    if (!h->tree) {
        return false;
    }
    if (!h->from || !h->stack) {
        return true;
    }
    stacks = h->from->stacks;
    tree_reader_bind(h->tree, h->profile, &h->all->layers);
    return callstack_load(h->stack, h->tree, h->indexed->pieces, &stacks);
}

/* Losses outside the piece: they are known, but not decoded again. */
static void add_losses(HartResult *h, uint64_t from, uint64_t to)
{
    const GArray *known = h->indexed->losses;

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
    h->indexed = &h->all->index->harts[h->hart];
    if (h->all->job->shards) {
        choose_shard(h);
    }
    h->from = find_point(h, match);
    h->over = match == TRACE_SAME &&
              selection_hart_ends(h->selection, h->indexed->all.insns);
    if (!load_stacks(h)) {
        h->failed = true;
        return;
    }
    if (h->from) {
        const IndexCounts *before = &h->from->before;

        h->counts.insns = before->insns;
        h->counts.exceptions = before->exceptions;
        h->counts.interrupts = before->interrupts;
        h->counts.windows = before->windows;
        if (!h->all->job->shards) {
            add_losses(h, 0, before->losses);
        }
    }
}

/* The decoder is at h->from: whose address space is it? */
static void on_begun(void *opaque)
{
    HartResult *h = opaque;

    /* By now the selection has seen the notes that stand before it. */
    selection_hart_start(h->selection, h->from->before.insns);
    if (h->from->ticks && h->time.hz) {
        h->time.ticks = h->from->ticks;
        h->time.known = true;
        selection_time(h->selection, virtual_clock_ns(&h->time));
        if (h->clock) {
            moment_clock_time(h->clock, 0, virtual_clock_ns(&h->time));
        }
    }
    if (h->from->space_task &&
        tree_reader_task(h->tree, h->from->space_task, &h->who.space_task)) {
        h->who.space = h->from->space;
        h->who.generation = h->d.image->generation;
    }
}

/* What the trace has behind the place where the decoder stopped */
static void add_rest(HartResult *h)
{
    const IndexCounts *all = &h->indexed->all;

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
    const IndexCounts *all = &h->indexed->all;
    const Job *job = h->all->job;
    const IndexPoint *from = shard_border(h->indexed, job->shard - 1,
                                          job->shards);

    g_array_set_size(h->losses, 0);
    h->more_losses = 0;
    add_losses(h, from ? from->before.losses : 0,
               job->shard == job->shards ? all->losses :
               h->to ? h->to->before.losses : 0);
}

void hart_decode_piece(HartResult *h, const TraceConsumer *consumer)
{
    bool has = h->indexed;
    uint64_t from, to;

    if (h->failed) {
        return;
    }
    if (!has) {
        trace_decode(&h->d, h->all->t, h->hart, consumer, h);
        return;
    }
    selection_hart_range(h->selection, &from, &to);
    h->start = (TraceStart) {
        .point = h->from ? &h->from->at : NULL,
        .advanced = (const uint64_t *)h->indexed->advanced->data,
        .begun = on_begun,
    };
    /* A piece without anything in it */
    h->d.stop = h->over && from >= to;
    if (!h->d.stop) {
        h->failed = !trace_decode_from(&h->d, h->all->t, h->hart,
                                       h->from ? &h->start : NULL, consumer,
                                       h);
    }
    if (h->from) {
        trace_stats_add(&h->d.stats, &h->from->before.stats);
    }
    if (h->over && h->d.stop && !h->d.gave_up) {
        add_rest(h);
    }
    if (h->all->job->shards) {
        set_shard_losses(h);
    }
}
