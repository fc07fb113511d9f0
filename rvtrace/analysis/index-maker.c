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
struct IndexMaker {
    IndexHart *hart;
    Profile *profile;
    CallStack *stack;
    uint64_t spacing, next;     /* instructions */
};

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

void index_maker_synced(void *opaque)
{
    HartResult *h = opaque;
    IndexMaker *m = h->maker;
    IndexPoint p = { 0 };

    if (!m || h->counts.insns < m->next) {
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

/* When the hart has been decoded */
static void finish_hart(const HartResult *h)
{
    IndexHart *hart = h->maker->hart;

    hart->all = counts_so_far(h);
    hart->last_ticks = h->time.ticks;
    hart->sideband_end = h->d.sideband_end;
    g_array_append_vals(hart->losses, h->losses->data, h->losses->len);
}

static IndexMaker *maker_new(const HartResult *h, IndexHart *hart,
                             uint64_t spacing)
{
    IndexMaker *m = g_new0(IndexMaker, 1);
    CallStackOptions options = { .names = h->all->names };

    stack_tree_layers(&options);
    m->hart = hart;
    m->profile = profile_new();
    m->stack = callstack_new(m->profile, PROFILE_ROOT, &options);
    m->spacing = m->next = spacing;
    hart->present = true;
    hart->tree_writer = tree_writer_new(m->profile);
    hart->pool = stack_pool_new();
    return m;
}

void index_maker_free(IndexMaker *m)
{
    callstack_free(m->stack);
    profile_free(m->profile);
    g_free(m);
}

void index_maker_runs(IndexMaker *m, const FlowRun *runs, unsigned n,
                      const CallStackSite *site)
{
    if (m) {
        callstack_runs(m->stack, runs, n, site);
    }
}

void index_maker_trap(IndexMaker *m, const FlowTrap *trap,
                      const CallStackSite *site)
{
    if (m) {
        callstack_trap(m->stack, trap, site);
    }
}

void index_maker_lost(IndexMaker *m)
{
    if (m) {
        callstack_lost(m->stack);
    }
}

void index_maker_mark(IndexMaker *m)
{
    if (m) {
        callstack_mark(m->stack);
    }
}

bool index_maker_can_repeat(const IndexMaker *m)
{
    return !m || callstack_can_repeat(m->stack);
}

void index_maker_repeat(IndexMaker *m, uint64_t times)
{
    if (m) {
        callstack_repeat(m->stack, times);
    }
}

bool index_maker_can(const Results *r)
{
    if (r->job->limit != JOB_LIMIT_DEFAULT) {
        say_error("--limit: an index is of the whole trace");
        return false;
    }
    if (r->t->ram) {
        say_error("there is no index of a RAM sink's ring: it is small, and "
                  "what is in it changes");
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
            r->harts[i]->maker = maker_new(r->harts[i], &r->made->harts[i],
                                           r->spacing);
        }
    }
    return true;
}

bool index_maker_write(Results *r, const char *path)
{
    g_autoptr(GError) err = NULL;

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            finish_hart(r->harts[i]);
        }
    }
    if (!trace_index_write(r->made, r->t, path, &err)) {
        say_error("%s", err->message);
        return false;
    }
    return true;
}
