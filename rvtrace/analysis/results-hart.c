/*
 * rvtrace: what happens in a hart that is decoded
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"

static void count_runs(void *opaque, const FlowRun *runs, unsigned n,
                       uint64_t insns)
{
    HartResult *h = opaque;

    h->counts.insns += insns;
    h->counts.selected += h->selection ? 0 : insns;
}

static void compare_runs(HartResult *h, const FlowRun *runs, unsigned n)
{
    if (!h->compared) {
        return;
    }
    for (unsigned i = 0; i < n && h->check.count <= h->end; i++) {
        truth_check_run(&h->check, &runs[i]);
    }
    if (h->check.count > h->end && h->all->what == RESULT_VERIFY) {
        h->d.stop = true;       /* Nothing can make it right again. */
    }
}

static void ignore(HartResult *h, bool ignored)
{
    h->ignored = ignored;
    if (h->sampler) {
        sampler_select(h->sampler, !ignored);
    } else if (h->stack) {
        callstack_select(h->stack, !ignored);
    }
}

static uint64_t count_insns(const FlowRun *runs, unsigned n)
{
    uint64_t insns = 0;

    for (unsigned i = 0; i < n; i++) {
        insns += runs[i].count;
    }
    return insns;
}

/* Are these selected? They are all of one task, and no border is in them. */
static void look_at_selection(HartResult *h, const FlowRun *runs, unsigned n,
                              const CallStackSite *site)
{
    uint64_t insns = count_insns(runs, n);

    /* How the instruction before was left is no news of those to come. */
    if (h->selection && insns) {
        bool covered = selection_covers(h->selection, site->task);

        if (covered == h->ignored) {
            ignore(h, !covered);
        }
        if (covered && h->clock && !h->counts.selected) {
            moment_clock_restart(h->clock);
        }
        selection_ran(h->selection, insns);
        h->counts.selected += covered ? insns : 0;
    }
}

/* Does anybody want to know what functions are executed? */
static bool has_names(const HartResult *h)
{
    return h->stack || h->counter || h->maker;
}

/* Runs of one privilege level at a time */
static void name_runs(HartResult *h, const FlowRun *runs, unsigned n)
{
    for (unsigned from = 0, i = 1; i <= n; i++) {
        if (i == n || runs[i].priv != runs[from].priv) {
            CallStackSite site = who_site(&h->who, &h->d, runs[from].priv);

            look_at_selection(h, runs + from, i - from, &site);
            if (h->sampler) {
                sampler_runs(h->sampler, runs + from, i - from, &site);
            } else if (h->stack) {
                callstack_runs(h->stack, runs + from, i - from, &site);
            }
            index_maker_runs(h->maker, runs + from, i - from, &site);
            if (h->counter && h->ignored) {
                counter_skip(h->counter, runs + from, i - from, &site);
            } else if (h->counter) {
                counter_runs(h->counter, runs + from, i - from, &site);
            }
            from = i;
        }
    }
}

/* The same, where the selection may begin or end by number within a run */
static void name_numbered(HartResult *h, const FlowRun *run)
{
    FlowRun rest = *run;
    uint64_t room = selection_room(h->selection);

    while (rest.count > room) {
        FlowRun head = selection_split(&rest, room);

        name_runs(h, &head, 1);
        room = selection_room(h->selection);
    }
    name_runs(h, &rest, 1);
}

/* ... or where a function begins */
static void name_pieces(HartResult *h, const FlowRun *runs, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        FlowRun rest = runs[i];

        while (rest.count && selection_awaits(h->selection)) {
            CallStackSite site = who_site(&h->who, &h->d, rest.priv);
            const char *name;
            unsigned before = hart_find_border(h, &rest, &site, &name);

            if (before == rest.count) {
                break;
            }
            if (before) {
                FlowRun head = selection_split(&rest, before);

                name_numbered(h, &head);
            }
            selection_enter(h->selection, site.task, name);
            if (selection_awaits(h->selection) && rest.count > 1) {
                /* Functions that begin here or behind it are others. */
                FlowRun head = selection_split(&rest, 1);

                name_numbered(h, &head);
            } else {
                break;
            }
        }
        name_numbered(h, &rest);
    }
}

static void name_trap(HartResult *h, const FlowTrap *trap)
{
    CallStackSite site = who_site(&h->who, &h->d, trap->priv);

    if (h->sampler) {
        sampler_trap(h->sampler, trap, &site);
    } else if (h->stack) {
        callstack_trap(h->stack, trap, &site);
    }
    index_maker_trap(h->maker, trap, &site);
    if (h->counter) {
        counter_trap(h->counter, trap, &site);
    }
}

static void on_runs(void *opaque, const FlowRun *runs, unsigned n,
                    uint64_t insns)
{
    HartResult *h = opaque;

    count_runs(h, runs, n, insns);
    compare_runs(h, runs, n);
    if (h->selection && (insns > selection_room(h->selection) ||
                         selection_awaits(h->selection))) {
        name_pieces(h, runs, n);
    } else if (has_names(h)) {
        name_runs(h, runs, n);
    }
    if (h->selection && selection_over(h->selection)) {
        h->d.stop |= hart_moments_over(h) && h->over;
    }
}

static void on_mark(void *opaque)
{
    HartResult *h = opaque;

    h->counts.insns_at_mark = h->counts.insns;
    h->counts.selected_at_mark = h->counts.selected;
    if (h->selection) {
        selection_mark(h->selection);
    }
    if (h->sampler) {
        sampler_mark(h->sampler);
    } else if (h->stack) {
        callstack_mark(h->stack);
    }
    index_maker_mark(h->maker);
    if (h->counter) {
        counter_mark(h->counter);
    }
}

static bool on_repeat(void *opaque, uint64_t times)
{
    HartResult *h = opaque;

    bool counted = h->counter && !h->ignored;

    if ((h->selection && !selection_can_repeat(h->selection, times)) ||
        (counted && !counter_can_repeat(h->counter)) ||
        !index_maker_can_repeat(h->maker) ||
        (h->sampler ? !sampler_can_repeat(h->sampler, times) :
         h->stack && !callstack_can_repeat(h->stack))) {
        return false;
    }
    if (h->sampler) {
        sampler_repeat(h->sampler, times);
    } else if (h->stack) {
        callstack_repeat(h->stack, times);
    }
    index_maker_repeat(h->maker, times);
    if (counted) {
        counter_repeat(h->counter, times);
    }
    if (h->selection) {
        selection_repeat(h->selection, times);
    }
    h->counts.selected += times * (h->counts.selected -
                                   h->counts.selected_at_mark);
    h->counts.insns += (h->counts.insns - h->counts.insns_at_mark) * times;
    return true;
}

static void on_trap(void *opaque, const FlowTrap *trap)
{
    HartResult *h = opaque;

    h->counts.interrupts += trap->interrupt;
    h->counts.exceptions += !trap->interrupt;
    if (has_names(h)) {
        name_trap(h, trap);
    }
}

static void on_window(void *opaque, uint64_t pc)
{
    HartResult *h = opaque;

    h->counts.windows++;
}

static void on_note(void *opaque, const SidebandNote *note)
{
    HartResult *h = opaque;

    if (h->selection) {
        selection_note(h->selection, note);
    }
}

/* Said when all harts are done: loss_report_add() shows no more than these. */
static void on_loss(void *opaque, const TraceLoss *loss)
{
    HartResult *h = opaque;

    if (h->sampler) {
        sampler_lost(h->sampler);
    } else if (h->stack) {
        callstack_lost(h->stack);
    }
    index_maker_lost(h->maker);
    if (h->counter) {
        counter_lost(h->counter);
    }
    hart_moment_lost(h, loss->flow.kind);
    if (h->losses->len < LOSS_REPORT_SHOWN ||
        loss->flow.kind == FLOW_LOST_WORK) {
        g_array_append_val(h->losses, *loss);
    } else {
        h->more_losses++;
    }
}

static const TraceConsumer count_consumer = {
    .flow = {
        .runs = count_runs,
        .mark = on_mark,
        .repeat = on_repeat,
        .trap = on_trap,
        .window_start = on_window,
    },
    .loss = on_loss,
};

static const TraceConsumer repeating_consumer = {
    .flow = {
        .runs = on_runs,
        .mark = on_mark,
        .repeat = on_repeat,
        .trap = on_trap,
        .window_start = on_window,
    },
    .loss = on_loss,
    .note = on_note,
    .synced = index_maker_synced,
};

/* To compare, to watch and to weigh, every round of a loop is needed. */
static const TraceConsumer consumer = {
    .flow = {
        .runs = on_runs,
        .trap = on_trap,
        .window_start = on_window,
    },
    .loss = on_loss,
    .note = on_note,
    .synced = index_maker_synced,
};

const TruthHart *hart_truth(const Results *r, unsigned hart)
{
    for (guint i = 0; r->truth && i < r->truth->harts->len; i++) {
        const TruthHart *h = &g_array_index(r->truth->harts, TruthHart, i);

        if (h->hart == hart) {
            return h;
        }
    }
    return NULL;
}

void hart_free(HartResult *h)
{
    g_clear_pointer(&h->selection, selection_hart_free);
    g_clear_pointer(&h->tree, tree_reader_free);
    g_clear_pointer(&h->maker, index_maker_free);
    g_clear_pointer(&h->borders, g_free);
    g_clear_pointer(&h->sampler, sampler_free);
    g_clear_pointer(&h->samples, spool_free);
    g_clear_pointer(&h->moments, moments_free);
    g_clear_pointer(&h->clock, moment_clock_free);
    g_clear_pointer(&h->weights, weights_free);
    g_clear_pointer(&h->range_weights, weights_free);
    g_clear_pointer(&h->stack, callstack_free);
    g_clear_pointer(&h->profile, profile_free);
    g_clear_pointer(&h->counter, counter_free);
    g_clear_pointer(&h->ranges, counts_free);
    g_array_unref(h->losses);
    g_free(h->watching);
    g_free(h);
}

HartResult *hart_new(const Results *r, unsigned hart, GError **errp)
{
    const TruthHart *truth = hart_truth(r, hart);
    HartResult *h = g_new0(HartResult, 1);

    h->all = r;
    h->hart = hart;
    h->who = (Who) { .names = r->names, .tasks = r->tasks };
    h->losses = g_array_new(false, false, sizeof(TraceLoss));
    if (truth) {
        h->compared = true;
        h->end = g_array_index(truth->points, TruthPoint,
                               truth->points->len - 1).count;
        truth_check_init(&h->check, truth);
    }
    if (wants(h, RESULT_PROFILE)) {
        CallStackOptions options = r->layers;

        if (!hart_moments_begin(h, errp)) {
            hart_free(h);
            return NULL;
        }
        if (h->moments || r->watchers || r->by_time) {
            options.moment = hart_moment;
            options.opaque = h;
        }
        h->profile = profile_new();
        h->stack = callstack_new(h->profile, PROFILE_ROOT, &options);
    }
    if (wants(h, RESULT_COUNTS)) {
        h->ranges = counts_new(names_objects(r->names), r->tasks);
        h->counter = counter_new(h->ranges, r->names, hart);
    }
    if (wants(h, RESULT_SAMPLES)) {
        SamplerOptions options = r->sampler;

        options.names = r->names;
        options.hart = hart;
        options.sample = spool_put;
        options.opaque = h->samples = spool_new(errp);
        if (!h->samples) {
            hart_free(h);
            return NULL;
        }
        h->sampler = sampler_new(h->stack, &options);
    }
    hart_weights_begin(h);
    if (r->job->selection && (h->stack || h->counter)) {
        h->selection = selection_hart_new(r->job->selection);
    }
    return h;
}

void hart_decode(HartResult *h)
{
    TraceConsumer how =
        h->compared || h->all->watchers || h->weights || h->range_weights ?
        consumer :
        has_names(h) ? repeating_consumer : count_consumer;

    how.time = h->time.hz ? hart_time : NULL;
    hart_decode_piece(h, &how);
    hart_moments_end(h);
    g_clear_pointer(&h->counter, counter_free);
}
