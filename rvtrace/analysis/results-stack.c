/*
 * rvtrace: call stacks of what runs, and samples of them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"

/* Nodes that a hart may have, however many there are */
#define MIN_NODES   (1u << 16)

typedef struct StackObserver {
    Profile *profile;
    CallStack *stack;
    /* Samples are taken: what happens is said to the stack by this one. */
    Sampler *sampler;
    Spool *samples;
} StackObserver;

static void stack_runs(void *opaque, const FlowRun *runs, unsigned n,
                       const CallStackSite *site)
{
    StackObserver *o = opaque;

    callstack_runs(o->stack, runs, n, site);
}

static void stack_trap(void *opaque, const FlowTrap *trap,
                       const CallStackSite *site)
{
    StackObserver *o = opaque;

    callstack_trap(o->stack, trap, site);
}

static void stack_lost(void *opaque, FlowLossKind kind)
{
    StackObserver *o = opaque;

    callstack_lost(o->stack);
}

static void stack_gap(void *opaque, bool fenced)
{
    StackObserver *o = opaque;

    callstack_gap(o->stack, fenced);
}

/* A hart that was reset returns to nobody. */
static void stack_note(void *opaque, const SidebandNote *note)
{
    StackObserver *o = opaque;

    if (note->kind != SIDEBAND_NOTE_RESET) {
        return;
    }
    if (o->sampler) {
        sampler_lost(o->sampler);
    } else {
        callstack_lost(o->stack);
    }
}

static void stack_select(void *opaque, bool selected)
{
    StackObserver *o = opaque;

    callstack_select(o->stack, selected);
}

static void stack_mark(void *opaque)
{
    StackObserver *o = opaque;

    callstack_mark(o->stack);
}

static bool stack_can_repeat(void *opaque, uint64_t times)
{
    StackObserver *o = opaque;

    return callstack_can_repeat(o->stack);
}

static void stack_repeat(void *opaque, uint64_t times)
{
    StackObserver *o = opaque;

    callstack_repeat(o->stack, times);
}

static void stack_free(void *opaque)
{
    StackObserver *o = opaque;

    g_clear_pointer(&o->sampler, sampler_free);
    g_clear_pointer(&o->samples, spool_free);
    g_clear_pointer(&o->stack, callstack_free);
    g_clear_pointer(&o->profile, profile_free);
    g_free(o);
}

static const ObserverOps stack_ops = {
    .runs = stack_runs,
    .trap = stack_trap,
    .lost = stack_lost,
    .gap = stack_gap,
    .note = stack_note,
    .select = stack_select,
    .mark = stack_mark,
    .can_repeat = stack_can_repeat,
    .repeat = stack_repeat,
    .free = stack_free,
};

static void sample_runs(void *opaque, const FlowRun *runs, unsigned n,
                        const CallStackSite *site)
{
    StackObserver *o = opaque;

    sampler_runs(o->sampler, runs, n, site);
}

static void sample_trap(void *opaque, const FlowTrap *trap,
                        const CallStackSite *site)
{
    StackObserver *o = opaque;

    sampler_trap(o->sampler, trap, site);
}

static void sample_lost(void *opaque, FlowLossKind kind)
{
    StackObserver *o = opaque;

    sampler_lost(o->sampler);
}

static void sample_select(void *opaque, bool selected)
{
    StackObserver *o = opaque;

    sampler_select(o->sampler, selected);
}

static void sample_mark(void *opaque)
{
    StackObserver *o = opaque;

    sampler_mark(o->sampler);
}

static bool sample_can_repeat(void *opaque, uint64_t times)
{
    StackObserver *o = opaque;

    return sampler_can_repeat(o->sampler, times);
}

static void sample_repeat(void *opaque, uint64_t times)
{
    StackObserver *o = opaque;

    sampler_repeat(o->sampler, times);
}

static const ObserverOps sampled_stack_ops = {
    .runs = sample_runs,
    .trap = sample_trap,
    .lost = sample_lost,
    .gap = stack_gap,
    .note = stack_note,
    .select = sample_select,
    .mark = sample_mark,
    .can_repeat = sample_can_repeat,
    .repeat = sample_repeat,
    .free = stack_free,
};

static bool sample(HartResult *h, StackObserver *o, GError **errp)
{
    SamplerOptions options = h->all->sampler;

    o->samples = spool_new(errp);
    if (!o->samples) {
        return false;
    }
    options.names = h->all->names;
    options.hart = h->hart;
    options.sample = spool_put;
    options.opaque = o->samples;
    o->sampler = sampler_new(o->stack, &options);
    return true;
}

/* Are numbers of nodes kept beside the stacks? */
static bool keeps_nodes(const HartResult *h)
{
    const Results *r = h->all;
    bool forgets = !r->virtual_time;

    for (guint i = 0; r->watchers && i < r->watchers->len; i++) {
        forgets &= g_array_index(r->watchers, Watcher, i).forgets;
    }
    return wants(h, RESULT_MOMENTS) || r->by_time ||
           (r->watchers && !forgets);
}

/* How many nodes each hart may have, so that all together are bounded */
static unsigned node_limit(const Results *r)
{
    unsigned harts = 0;

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        harts += job_has_hart(r->job, r->t, i);
    }
    return MAX(PROFILE_MAX_NODES / MAX(harts, 1), MIN_NODES);
}

bool hart_follow_stacks(HartResult *h, GError **errp)
{
    const Results *r = h->all;
    StackObserver *o = g_new0(StackObserver, 1);
    CallStackOptions options = r->layers;

    options.opaque = h;
    if (wants(h, RESULT_MOMENTS) || r->watchers || r->by_time) {
        options.moment = hart_moment;
    }
    if (wants(h, RESULT_COUNTS)) {
        options.handler = hart_count_handler;
    }
    o->profile = profile_new();
    o->profile->limit = node_limit(r);
    o->profile->fixed = keeps_nodes(h);
    o->stack = callstack_new(o->profile, PROFILE_ROOT, &options);
    if (r->moves) {
        hart_move_tasks(h, MOVES_OF_VIEWS, o->stack, o->profile, NULL);
    }
    hart_observe(h, wants(h, RESULT_SAMPLES) ? &sampled_stack_ops : &stack_ops,
                 o, 0);
    if (wants(h, RESULT_SAMPLES) && !sample(h, o, errp)) {
        return false;
    }
    if (r->by_time) {
        hart_weigh_nodes(h, o->profile);
    }
    return true;
}

static StackObserver *find(const HartResult *h)
{
    return hart_observer(h, &stack_ops) ?:
           hart_observer(h, &sampled_stack_ops);
}

Profile *hart_profile(const HartResult *h)
{
    StackObserver *o = find(h);

    return o ? o->profile : NULL;
}

CallStack *hart_stack(const HartResult *h)
{
    StackObserver *o = find(h);

    return o ? o->stack : NULL;
}

Spool *hart_samples(const HartResult *h)
{
    StackObserver *o = find(h);

    return o ? o->samples : NULL;
}
