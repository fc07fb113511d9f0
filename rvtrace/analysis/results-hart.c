/*
 * rvtrace: what happens in a hart that is decoded
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"

static void ignore(HartResult *h, bool ignored)
{
    h->ignored = ignored;
    FOR_OBSERVERS(o, h, select) {
        o->ops->select(o->state, !ignored);
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
        if (covered && !h->counts.selected) {
            FOR_OBSERVERS(o, h, selection_begins) {
                o->ops->selection_begins(o->state);
            }
        }
        selection_ran(h->selection, insns);
        h->counts.selected += covered ? insns : 0;
    }
}

/* Runs of one privilege level at a time */
static void name_runs(HartResult *h, const FlowRun *runs, unsigned n)
{
    for (unsigned from = 0, i = 1; i <= n; i++) {
        if (i == n || runs[i].priv != runs[from].priv) {
            CallStackSite site = who_site(&h->who, &h->d, runs[from].priv);

            look_at_selection(h, runs + from, i - from, &site);
            FOR_OBSERVERS(o, h, runs) {
                o->ops->runs(o->state, runs + from, i - from, &site);
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

/* Nothing more is selected: does nobody need what is behind that? */
static bool is_over(HartResult *h)
{
    bool over = true;

    FOR_OBSERVERS(o, h, is_over) {
        over &= o->ops->is_over(o->state);
    }
    return over;
}

static void on_runs(void *opaque, const FlowRun *runs, unsigned n,
                    uint64_t insns)
{
    HartResult *h = opaque;

    h->counts.insns += insns;
    h->counts.selected += h->selection ? 0 : insns;
    FOR_OBSERVERS(o, h, decoded) {
        o->ops->decoded(o->state, runs, n);
    }
    if (h->selection && (insns > selection_room(h->selection) ||
                         selection_awaits(h->selection))) {
        name_pieces(h, runs, n);
    } else if (h->named) {
        name_runs(h, runs, n);
    }
    if (h->selection && selection_over(h->selection)) {
        h->d.stop |= is_over(h) && h->piece.over;
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
    FOR_OBSERVERS(o, h, mark) {
        o->ops->mark(o->state);
    }
}

static bool on_repeat(void *opaque, uint64_t times)
{
    HartResult *h = opaque;

    if (h->selection && !selection_can_repeat(h->selection, times)) {
        return false;
    }
    FOR_OBSERVERS(o, h, can_repeat) {
        if (!o->ops->can_repeat(o->state, times)) {
            return false;
        }
    }
    FOR_OBSERVERS(o, h, repeat) {
        o->ops->repeat(o->state, times);
    }
    if (h->selection) {
        selection_repeat(h->selection, times);
    }
    h->counts.selected += times * (h->counts.selected -
                                   h->counts.selected_at_mark);
    h->counts.insns += (h->counts.insns - h->counts.insns_at_mark) * times;
    return true;
}

/*
 * A packet's time is told behind what it says. Behind that of a window's end, the
 * next one is that of the support packet by which a program goes on. A program
 * whose first instruction traps has a window that is nothing but that: no end of
 * it is told, but the times of both packets.
 */
#define TIMES_BEHIND_END    2
#define TIMES_BEHIND_TRAP   3

static void note_empty_window(HartResult *h)
{
    if (h->is_process && h->counts.insns == h->insns_at_trap) {
        h->goes_on_in = TIMES_BEHIND_TRAP;
    }
    h->insns_at_trap = h->counts.insns;
}

static void on_trap(void *opaque, const FlowTrap *trap)
{
    HartResult *h = opaque;

    h->counts.interrupts += trap->interrupt;
    h->counts.exceptions += !trap->interrupt;
    note_empty_window(h);
    trap_loop_put(&h->trap_loop, trap, h->counts.insns);
    if (h->named) {
        CallStackSite site = who_site(&h->who, &h->d, trap->priv);

        FOR_OBSERVERS(o, h, trap) {
            o->ops->trap(o->state, trap, &site);
        }
    }
}

static void on_window(void *opaque, uint64_t pc)
{
    HartResult *h = opaque;

    h->counts.windows++;
}

static void on_window_end(void *opaque, FlowWindowEnd why)
{
    HartResult *h = opaque;

    h->waits = h->is_process;
    h->goes_on_in = h->is_process ? TIMES_BEHIND_END : 0;
    if (why == FLOW_WINDOW_QUAL) {
        FOR_OBSERVERS(o, h, gap) {
            o->ops->gap(o->state, trace_decoder_fenced(&h->d));
        }
    }
}

static void on_note(void *opaque, const SidebandNote *note)
{
    HartResult *h = opaque;

    if (h->selection) {
        selection_note(h->selection, note);
    }
    FOR_OBSERVERS(o, h, note) {
        o->ops->note(o->state, note);
    }
}

/* Said when all harts are done: loss_report_add() shows no more than these. */
static void on_loss(void *opaque, const TraceLoss *loss)
{
    HartResult *h = opaque;

    FOR_OBSERVERS(o, h, lost) {
        o->ops->lost(o->state, loss->flow.kind);
    }
    if (h->losses->len < LOSS_REPORT_SHOWN ||
        loss->flow.kind == FLOW_LOST_WORK) {
        g_array_append_val(h->losses, *loss);
    } else {
        h->more_losses++;
    }
}

static void on_synced(void *opaque)
{
    HartResult *h = opaque;

    FOR_OBSERVERS(o, h, synced) {
        o->ops->synced(o->state);
    }
}

static const TraceConsumer consumer = {
    .flow = {
        .runs = on_runs,
        .mark = on_mark,
        .repeat = on_repeat,
        .trap = on_trap,
        .window_start = on_window,
        .window_end = on_window_end,
    },
    .loss = on_loss,
    .note = on_note,
    .synced = on_synced,
};

void hart_free(HartResult *h)
{
    for (guint i = h->observers->len; i; i--) {
        Observer *o = &g_array_index(h->observers, Observer, i - 1);

        o->ops->free(o->state);
    }
    g_array_unref(h->observers);
    g_clear_pointer(&h->selection, selection_hart_free);
    g_clear_pointer(&h->piece.tree, tree_reader_free);
    g_clear_pointer(&h->borders, g_free);
    g_array_unref(h->losses);
    g_free(h);
}

HartResult *hart_new(const Results *r, unsigned hart, GError **errp)
{
    const TruthHart *truth = hart_truth(r, hart);
    HartResult *h = g_new0(HartResult, 1);

    h->all = r;
    h->hart = hart;
    h->insns_at_trap = UINT64_MAX;
    h->who = (Who) { .names = r->names, .tasks = r->tasks };
    h->losses = g_array_new(false, false, sizeof(TraceLoss));
    h->observers = g_array_new(true, false, sizeof(Observer));
    if (truth) {
        hart_compare(h, truth);
    }
    if (wants(h, RESULT_PROFILE) &&
        (!hart_follow_stacks(h, errp) || !hart_follow_moments(h, errp))) {
        hart_free(h);
        return NULL;
    }
    if (wants(h, RESULT_COUNTS)) {
        hart_count(h);
    }
    if (wants(h, RESULT_SHARES)) {
        hart_count_tasks(h);
    }
    if (wants(h, RESULT_RUNS)) {
        hart_hand_on_runs(h);
    }
    if (r->job->selection && h->named) {
        h->selection = selection_hart_new(r->job->selection, hart);
    }
    return h;
}

void hart_decode(HartResult *h)
{
    TraceConsumer how = consumer;

    if (h->needs & OBSERVER_EVERY_ROUND) {
        how.flow.mark = NULL;
        how.flow.repeat = NULL;
    }
    how.time = h->time.hz ? hart_time : NULL;
    hart_begin_moments(h);
    hart_decode_piece(h, &how);
    for (guint i = h->observers->len; i; i--) {
        Observer *o = &g_array_index(h->observers, Observer, i - 1);

        if (o->ops->end) {
            o->ops->end(o->state);
        }
    }
}
