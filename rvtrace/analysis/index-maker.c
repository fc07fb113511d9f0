/*
 * rvtrace: an index of the trace, made while that is decoded
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/callstack-save.h"
#include "analysis/results-private.h"
#include "base/say.h"

/*
 * More points than this do not make anything faster. When there are as many,
 * every other one is dropped, and new ones are twice as far apart.
 */
#define MAX_POINTS  2048

/*
 * Call stacks are followed apart from those of views, which have other layers
 * and only what is selected.
 */
typedef struct IndexMaker {
    HartResult *h;
    IndexHart *hart;
    Profile *profile;
    CallStack *stack;
    uint64_t spacing, next;     /* instructions */
} IndexMaker;

static IndexCounts counts_so_far(const HartResult *h)
{
    IndexCounts counts = {
        .insns = h->counts.insns,
        .exceptions = h->counts.exceptions,
        .interrupts = h->counts.interrupts,
        .windows = h->counts.windows,
        .losses = h->losses->len + h->more_losses,
        .stats = h->d.stats,
    };

    return counts;
}

static void thin_out(IndexMaker *m)
{
    GArray *points = m->hart->points;

    guint n = 0;

    for (guint i = 1; i < points->len; i += 2) {
        IndexPoint *a = &g_array_index(points, IndexPoint, n++);
        IndexPoint *b = &g_array_index(points, IndexPoint, i), swap = *a;

        *a = *b;
        *b = swap;
    }
    g_array_set_size(points, n);
    m->spacing *= 2;
}

/* Here there could be a place. */
static void on_synced(void *opaque)
{
    IndexMaker *m = opaque;
    HartResult *h = m->h;
    IndexPoint p = { 0 };

    if (h->counts.insns < m->next) {
        return;
    }
    p.bytes = g_byte_array_new();
    if (!trace_decoder_point(&h->d, &p.at) ||
        !callstack_save(m->stack, m->hart->tree_writer, m->hart->pool,
                        p.bytes)) {
        g_byte_array_unref(p.bytes);
        return;
    }
    g_array_set_size(m->hart->advanced, 0);
    g_array_append_vals(m->hart->advanced, h->d.ended->data,
                        h->d.ended->len);
    p.before = counts_so_far(h);
    p.before.stats.skipped_packets += h->d.flow.skipped;
    p.ticks = h->time.ticks;
    p.task = tree_writer_task(m->hart->tree_writer, h->who.task);
    if (h->who.space_task && h->who.generation == h->d.image->generation) {
        p.space_task = tree_writer_task(m->hart->tree_writer,
                                        h->who.space_task);
        p.space = h->who.space;
    }
    g_array_append_val(m->hart->points, p);
    if (m->hart->points->len == MAX_POINTS) {
        thin_out(m);
    }
    m->next = h->counts.insns + m->spacing;
}

static void on_runs(void *opaque, const FlowRun *runs, unsigned n,
                    const CallStackSite *site)
{
    IndexMaker *m = opaque;

    callstack_runs(m->stack, runs, n, site);
}

static void on_trap(void *opaque, const FlowTrap *trap,
                    const CallStackSite *site)
{
    IndexMaker *m = opaque;

    callstack_trap(m->stack, trap, site);
}

static void on_lost(void *opaque, FlowLossKind kind)
{
    IndexMaker *m = opaque;

    callstack_lost(m->stack);
}

static void on_gap(void *opaque, bool fenced)
{
    IndexMaker *m = opaque;

    callstack_gap(m->stack, fenced);
}

static void on_mark(void *opaque)
{
    IndexMaker *m = opaque;

    callstack_mark(m->stack);
}

static bool can_repeat(void *opaque, uint64_t times)
{
    IndexMaker *m = opaque;

    return callstack_can_repeat(m->stack);
}

static void on_repeat(void *opaque, uint64_t times)
{
    IndexMaker *m = opaque;

    callstack_repeat(m->stack, times);
}

static void on_end(void *opaque)
{
    IndexMaker *m = opaque;
    const HartResult *h = m->h;

    m->hart->all = counts_so_far(h);
    m->hart->last_ticks = h->time.ticks;
    m->hart->sideband_end = h->d.sideband_end;
    g_array_append_vals(m->hart->losses, h->losses->data, h->losses->len);
}

static void on_free(void *opaque)
{
    IndexMaker *m = opaque;

    callstack_free(m->stack);
    profile_free(m->profile);
    g_free(m);
}

static const ObserverOps maker_ops = {
    .runs = on_runs,
    .trap = on_trap,
    .lost = on_lost,
    .gap = on_gap,
    .synced = on_synced,
    .mark = on_mark,
    .can_repeat = can_repeat,
    .repeat = on_repeat,
    .end = on_end,
    .free = on_free,
};

static void make_index(HartResult *h, IndexHart *hart, uint64_t spacing)
{
    IndexMaker *m = g_new0(IndexMaker, 1);
    CallStackOptions options = { .names = h->all->names };

    stack_tree_layers(&options);
    m->h = h;
    m->hart = hart;
    m->profile = profile_new();
    m->profile->fixed = true;   /* the writer knows its nodes */
    m->stack = callstack_new(m->profile, PROFILE_ROOT, &options);
    m->spacing = m->next = spacing;
    hart->present = true;
    hart->tree_writer = tree_writer_new(m->profile);
    hart->pool = stack_pool_new();
    if (h->all->moves) {
        hart_move_tasks(h, MOVES_OF_INDEX, m->stack, m->profile, hart);
    }
    hart_observe(h, &maker_ops, m, 0);
}

bool index_maker_can(const Results *r)
{
    if (r->job->limit != JOB_LIMIT_DEFAULT) {
        say_error("--limit: an index is of the whole trace");
        return false;
    }
    if (r->t->ram) {
        say_error("a RAM sink's ring cannot be indexed: it is small, and its "
                  "contents change");
        return false;
    }
    return true;
}

bool index_maker_begin(Results *r)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *setup = results_index_setup(r->job, &err);
    g_autofree char *names = results_index_names(r);

    if (!setup) {
        say_error("%s", err->message);
        return false;
    }
    r->made = trace_index_new(r->t, setup, names);
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            make_index(r->harts[i], &r->made->harts[i], r->spacing);
        }
    }
    return true;
}

bool index_maker_write(Results *r, const char *path)
{
    g_autoptr(GError) err = NULL;

    if (!trace_index_write(r->made, r->t, path, &err)) {
        say_error("%s", err->message);
        return false;
    }
    return true;
}
