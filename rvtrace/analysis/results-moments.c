/*
 * rvtrace: how call stacks change, for those who want to know it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"

/* FlowTrap.cause has 8 bits. */
#define NR_CAUSES   256

typedef struct MomentsObserver {
    HartResult *h;
    Moments *moments;           /* NULL: not asked for */
    MomentClock *clock;         /* NULL: they are not in virtual time */
    void **watching;            /* what the begin() of watchers returned */
    uint64_t end_time;          /* as that of moments */
    uint64_t skipped;           /* instructions that were not selected, ... */
    uint64_t before_end;        /* ... and before the last that was */
    uint64_t skipped_at_mark;
    bool happened;              /* something, since that mark */
    /* Marks that watchers are told of: they stay. */
    MomentMark lost[FLOW_LOST_NR_KINDS], traps[2][2 * NR_CAUSES];
    GPtrArray *notes;           /* MomentMark */
} MomentsObserver;

/* Tell the watchers that are @timeless, or the others. */
static void tell(MomentsObserver *o, bool timeless,
                 const CallStackMoment *moment, const MomentMark *mark)
{
    const GArray *watchers = o->h->all->watchers;

    for (guint i = 0; watchers && i < watchers->len; i++) {
        const Watcher *w = &g_array_index(watchers, Watcher, i);

        if (w->timeless != timeless) {
            continue;
        }
        if (mark && w->mark) {
            w->mark(o->watching[i], moment, mark);
        } else if (!mark && w->moment) {
            w->moment(o->watching[i], moment);
        }
    }
}

static void hand_on(void *opaque, const CallStackMoment *moment,
                    const MomentMark *mark)
{
    MomentsObserver *o = opaque;

    if (o->moments && !mark) {
        moments_put(o->moments, moment);
    }
    tell(o, false, moment, mark);
}

static void on_moment(void *opaque, const CallStackMoment *moment)
{
    MomentsObserver *o = opaque;
    CallStackMoment placed = *moment;

    o->happened = true;
    placed.place += o->skipped;
    tell(o, true, &placed, NULL);
    if (o->clock) {
        moment_clock_put(o->clock, &placed);
    } else {
        hand_on(o, &placed, NULL);
    }
}

static void on_runs(void *opaque, const FlowRun *runs, unsigned n,
                    const CallStackSite *site)
{
    MomentsObserver *o = opaque;
    const GArray *watchers = o->h->all->watchers;

    for (guint i = 0; watchers && !o->h->ignored && i < watchers->len; i++) {
        const Watcher *w = &g_array_index(watchers, Watcher, i);

        if (w->runs) {
            w->runs(o->watching[i], runs, n, site);
        }
    }
    if (!o->h->ignored) {
        o->before_end = o->skipped;
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        o->skipped += runs[i].count;
    }
}

/* Is what happens now in between instructions that are selected? */
static bool is_selected(const HartResult *h)
{
    return !h->selection ||
           (h->counts.selected && !h->ignored &&
            !selection_over(h->selection));
}

static void put_mark(MomentsObserver *o, const MomentMark *mark)
{
    uint64_t insns = o->h->counts.selected;
    CallStackMoment moment = {
        .insns = insns, .time = insns, .place = insns + o->skipped,
    };

    o->happened = true;
    if (!is_selected(o->h)) {
        return;
    }
    tell(o, true, &moment, mark);
    if (o->clock) {
        moment_clock_mark(o->clock, &moment, mark);
    } else {
        hand_on(o, &moment, mark);
    }
}

static void on_lost(void *opaque, FlowLossKind kind)
{
    MomentsObserver *o = opaque;

    put_mark(o, &o->lost[kind]);
}

static void on_trap(void *opaque, const FlowTrap *trap,
                    const CallStackSite *site)
{
    MomentsObserver *o = opaque;
    const GArray *watchers = o->h->all->watchers;
    uint64_t place = o->h->counts.selected + o->skipped;

    for (guint i = 0; watchers && i < watchers->len; i++) {
        const Watcher *w = &g_array_index(watchers, Watcher, i);

        if (w->trap && is_selected(o->h)) {
            w->trap(o->watching[i], place, trap, site);
        }
    }
    put_mark(o, &o->traps[!trap->epc_known]
                         [trap->cause + trap->interrupt * NR_CAUSES]);
}

/* Notes of text are about names. */
static void on_note(void *opaque, const SidebandNote *note)
{
    MomentsObserver *o = opaque;
    static const MomentMark reset = { .kind = MOMENT_RESET, .text = "" };
    MomentMark *mark;

    /* The one that the machine began with is nothing to be seen. */
    if (note->kind == SIDEBAND_NOTE_RESET && o->h->counts.selected) {
        put_mark(o, &reset);
    }
    if (note->kind < ETRACE_SB_NOTE_BEGIN ||
        note->kind > ETRACE_SB_NOTE_MARK) {
        return;
    }
    mark = g_new(MomentMark, 1);
    *mark = (MomentMark) {
        .kind = MOMENT_NOTE,
        .number = note->kind,
        .text = note->text,
        .len = note->len,
    };
    g_ptr_array_add(o->notes, mark);
    put_mark(o, mark);
}

static void on_selection(void *opaque)
{
    MomentsObserver *o = opaque;

    if (o->clock) {
        moment_clock_restart(o->clock);
    }
}

/* The time of the last moments is known behind them. */
static bool is_over(void *opaque)
{
    MomentsObserver *o = opaque;

    if (o->clock) {
        moment_clock_close(o->clock);
    }
    return !o->clock || moment_clock_closed(o->clock);
}

static void on_time(void *opaque, uint64_t ns, bool waited)
{
    static const MomentMark resumed = { .kind = MOMENT_RESUMED, .text = "" };
    static const MomentMark ended = { .kind = MOMENT_ENDED, .text = "" };
    MomentsObserver *o = opaque;
    bool goes_on = o->h->goes_on;

    if (o->clock && (waited || goes_on)) {
        moment_clock_split(o->clock);
    }
    if (o->clock && goes_on) {
        put_mark(o, o->h->d.flow.disabled ? &ended : &resumed);
    }
    if (o->clock) {
        moment_clock_time(o->clock, o->h->counts.selected, ns);
    }
    if (o->clock && goes_on) {
        moment_clock_split(o->clock);
    }
}

/*
 * Rounds of a loop in which nothing happens need not be followed: of those,
 * there are only more instructions.
 */
static void on_mark(void *opaque)
{
    MomentsObserver *o = opaque;

    o->skipped_at_mark = o->skipped;
    o->happened = false;
}

static bool can_repeat(void *opaque, uint64_t times)
{
    MomentsObserver *o = opaque;

    return !o->happened;
}

static void on_repeat(void *opaque, uint64_t times)
{
    MomentsObserver *o = opaque;

    o->skipped += times * (o->skipped - o->skipped_at_mark);
}

static void on_end(void *opaque)
{
    MomentsObserver *o = opaque;
    const GArray *watchers = o->h->all->watchers;
    uint64_t insns = o->h->counts.selected;
    CallStackMoment end = { .insns = insns, .place = insns + o->before_end };

    end.time = o->clock ? moment_clock_end(o->clock) : insns;
    o->end_time = end.time;
    for (guint i = 0; watchers && i < watchers->len; i++) {
        const Watcher *w = &g_array_index(watchers, Watcher, i);

        if (w->end) {
            w->end(o->watching[i], &end);
        }
    }
}

static void on_free(void *opaque)
{
    MomentsObserver *o = opaque;

    g_clear_pointer(&o->moments, moments_free);
    g_clear_pointer(&o->clock, moment_clock_free);
    g_ptr_array_unref(o->notes);
    g_free(o->watching);
    g_free(o);
}

static const ObserverOps moments_ops = {
    .runs = on_runs,
    .lost = on_lost,
    .trap = on_trap,
    .note = on_note,
    .selection_begins = on_selection,
    .is_over = is_over,
    .mark = on_mark,
    .can_repeat = can_repeat,
    .repeat = on_repeat,
    .moment = on_moment,
    .time = on_time,
    .end = on_end,
    .free = on_free,
};

static MomentsObserver *observer_new(HartResult *h)
{
    MomentsObserver *o = g_new0(MomentsObserver, 1);

    o->h = h;
    o->notes = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < FLOW_LOST_NR_KINDS; i++) {
        const char *text = flow_loss_text(i);

        o->lost[i] = (MomentMark) {
            .kind = MOMENT_LOST, .text = text, .len = strlen(text),
        };
    }
    for (unsigned i = 0; i < 2 * NR_CAUSES; i++) {
        o->traps[false][i] = o->traps[true][i] = (MomentMark) {
            .kind = MOMENT_TRAP, .number = i,
        };
        o->traps[true][i].nested = true;
    }
    return o;
}

/* Does a watcher want to be told of all that runs? */
static bool tells_runs(const Results *r)
{
    for (guint i = 0; r->watchers && i < r->watchers->len; i++) {
        if (g_array_index(r->watchers, Watcher, i).runs) {
            return true;
        }
    }
    return false;
}

bool hart_follow_moments(HartResult *h, GError **errp)
{
    const Results *r = h->all;
    unsigned needs = tells_runs(r) ? OBSERVER_EVERY_ROUND : 0;
    MomentsObserver *o;

    if (!r->watchers && !wants(h, RESULT_MOMENTS)) {
        return true;
    }
    o = observer_new(h);
    if (r->virtual_time) {
        o->clock = moment_clock_new(hand_on, o);
        needs |= OBSERVER_TIME;
    }
    hart_observe(h, &moments_ops, o, needs);
    if (wants(h, RESULT_MOMENTS)) {
        o->moments = moments_new(errp);
        return o->moments;
    }
    return true;
}

bool hart_begin_watchers(HartResult *h)
{
    const GArray *watchers = h->all->watchers;
    MomentsObserver *o = hart_observer(h, &moments_ops);

    if (!watchers) {
        return true;
    }
    o->watching = g_new0(void *, watchers->len);
    for (guint i = 0; i < watchers->len; i++) {
        const Watcher *w = &g_array_index(watchers, Watcher, i);

        o->watching[i] = w->begin(w->opaque, h);
        if (!o->watching[i]) {
            return false;
        }
    }
    return true;
}

void hart_begin_moments(HartResult *h)
{
    MomentsObserver *o = hart_observer(h, &moments_ops);

    if (o) {
        /* What an index spares was not selected. */
        o->skipped = o->before_end = h->counts.insns;
    }
}

Moments *hart_moments(const HartResult *h)
{
    MomentsObserver *o = hart_observer(h, &moments_ops);

    return o ? o->moments : NULL;
}

uint64_t hart_end_time(const HartResult *h)
{
    MomentsObserver *o = hart_observer(h, &moments_ops);

    return o ? o->end_time : 0;
}
