/*
 * Live: the harts, of which one piece of the trace is decoded
 *
 * They decode it at the same time. Between two pieces nobody decodes.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "live/live-private.h"
#include "base/say.h"

/*
 * What happens in a hart
 */

static void on_runs(void *opaque, const FlowRun *runs, unsigned n,
                    uint64_t insns)
{
    LiveHart *h = opaque;

    h->sum.insns += insns;
    for (unsigned from = 0, i = 1; i <= n; i++) {
        if (i == n || runs[i].priv != runs[from].priv) {
            CallStackSite site = who_site(&h->who, &h->d, runs[from].priv);

            counter_runs(h->counter, runs + from, i - from, &site);
            from = i;
        }
    }
}

static void on_mark(void *opaque)
{
    LiveHart *h = opaque;

    h->insns_at_mark = h->sum.insns;
    counter_mark(h->counter);
}

static bool on_repeat(void *opaque, uint64_t times)
{
    LiveHart *h = opaque;

    if (!counter_can_repeat(h->counter)) {
        return false;
    }
    counter_repeat(h->counter, times);
    h->sum.insns += (h->sum.insns - h->insns_at_mark) * times;
    return true;
}

static void on_trap(void *opaque, const FlowTrap *trap)
{
    LiveHart *h = opaque;
    CallStackSite site = who_site(&h->who, &h->d, trap->priv);

    counter_trap(h->counter, trap, &site);
}

static void on_loss(void *opaque, const TraceLoss *loss)
{
    LiveHart *h = opaque;

    h->sum.losses += !h->skipping;
    counter_lost(h->counter);
}

static const TraceConsumer live_consumer = {
    .flow = {
        .runs = on_runs,
        .mark = on_mark,
        .repeat = on_repeat,
        .trap = on_trap,
    },
    .loss = on_loss,
};

/*
 * Pieces
 */

static void decode_piece(gpointer data, gpointer opaque)
{
    LiveHart *h = data;
    Live *l = opaque;

    trace_decoder_go_on(&h->d, l->piece_end);
    g_mutex_lock(&l->crew_lock);
    l->crew_left--;
    g_cond_signal(&l->crew_done);
    g_mutex_unlock(&l->crew_lock);
}

void live_decode_to(Live *l, size_t end)
{
    l->piece_end = end;
    for (unsigned i = 0; i < l->nr_harts; i++) {
        l->crew_left += l->harts[i].live != NULL;
    }
    for (unsigned i = 0; i < l->nr_harts; i++) {
        if (!l->harts[i].live) {
            continue;
        }
        if (l->pool) {
            g_thread_pool_push(l->pool, &l->harts[i], NULL);
        } else {
            decode_piece(&l->harts[i], l);
        }
    }
    g_mutex_lock(&l->crew_lock);
    while (l->crew_left) {
        g_cond_wait(&l->crew_done, &l->crew_lock);
    }
    g_mutex_unlock(&l->crew_lock);
    l->pos = end;
}

void live_skip_to(Live *l, size_t to)
{
    for (unsigned i = 0; i < l->nr_harts; i++) {
        LiveHart *h = &l->harts[i];
        uint64_t packets = 0;

        h->skipping = true;
        if (h->live && trace_decoder_skip(&h->d, to, &packets)) {
            h->skipped += packets;
            l->pos = to;
        }
        h->skipping = false;
    }
}

void live_begin_counts(Live *l)
{
    for (unsigned i = 0; i < l->nr_harts; i++) {
        LiveHart *h = &l->harts[i];

        if (h->live) {
            h->counts = counts_new(l->names->table, l->tasks);
            h->counter = counter_new(h->counts, l->names->names, i);
            h->who.names = l->names->names;
            h->who.space_task = NULL;
        }
    }
}

Counts *live_end_counts(Live *l)
{
    Counts *all = counts_new(l->names->table, l->tasks);

    for (unsigned i = 0; i < l->nr_harts; i++) {
        LiveHart *h = &l->harts[i];

        if (h->live) {
            g_clear_pointer(&h->counter, counter_free);
            counts_merge(all, h->counts);
            g_clear_pointer(&h->counts, counts_free);
        }
    }
    counts_sort(all);
    return all;
}

LiveSum live_sum_of(const LiveHart *h)
{
    LiveSum sum = h->sum;
    uint64_t skipped = h->skipped + h->d.flow.skipped;

    sum.packets += h->d.packets - MIN(skipped, h->d.packets);
    sum.skipped += skipped;
    return sum;
}

bool live_begin_harts(Live *l)
{
    unsigned present = 0;

    if (l->o.job->hart >= (int)l->t->nr_harts) {
        say_error("hart %d is not in the trace; it has %u hart%s from 0 on",
                  l->o.job->hart, l->t->nr_harts,
                  l->t->nr_harts == 1 ? "" : "s");
        return false;
    }
    if (l->nr_harts < l->t->nr_harts) {
        l->harts = g_renew(LiveHart, l->harts, l->t->nr_harts);
        l->before = g_renew(LiveSum, l->before, l->t->nr_harts);
        for (unsigned i = l->nr_harts; i < l->t->nr_harts; i++) {
            l->harts[i] = (LiveHart) { 0 };
            l->before[i] = (LiveSum) { 0 };
        }
        l->nr_harts = l->t->nr_harts;
    }
    for (unsigned i = 0; i < l->t->nr_harts; i++) {
        if (job_has_hart(l->o.job, l->t, i)) {
            l->harts[i].live = l;
            l->harts[i].who = (Who) { .tasks = l->tasks };
            present++;
        }
    }
    if (!live_find_names(l)) {
        return false;
    }
    live_begin_counts(l);
    for (unsigned i = 0; i < l->nr_harts; i++) {
        if (l->harts[i].live) {
            trace_decoder_begin(&l->harts[i].d, l->t, i, &live_consumer,
                                &l->harts[i]);
        }
    }
    l->pos = l->t->begin;
    if (present > 1 && l->o.job->jobs != 1) {
        l->pool = g_thread_pool_new(decode_piece, l, l->o.job->jobs ? :
                                    (int)g_get_num_processors(), false, NULL);
    }
    return true;
}

void live_end_harts(Live *l)
{
    if (l->pool) {
        g_thread_pool_free(l->pool, false, true);
        l->pool = NULL;
    }
    for (unsigned i = 0; i < l->nr_harts; i++) {
        LiveHart *h = &l->harts[i];

        if (h->live) {
            /* Who has not been to the end does not know what is missing. */
            h->d.stop |= l->pos < l->size;
            trace_decoder_end(&h->d);
            h->sum = live_sum_of(h);
            h->d = (TraceDecoder) { 0 };
            h->skipped = 0;
        }
    }
}

void live_forget_harts(Live *l)
{
    for (unsigned i = 0; i < l->nr_harts; i++) {
        l->harts[i].live = NULL;
    }
}
