/*
 * Latency: how long traps, functions, or the way from one to another take
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/questions/latency-private.h"

/* Of a frame: looked at; what it matches */
#define FRAME_SEEN      1
#define FRAME_SYM       2
#define FRAME_FIRST     4
#define FRAME_LAST      8

void series_free(gpointer opaque)
{
    Series *s = opaque;

    spread_clear(&s->spread);
    g_array_unref(s->worst);
    g_free(s);
}

Series *series_get(GHashTable *all, CallKind kind, unsigned frame,
                   unsigned number, unsigned limit)
{
    guint64 key = (guint64)frame << 32 | number;
    Series *s = g_hash_table_lookup(all, &key);

    if (!s && g_hash_table_size(all) < limit) {
        s = g_new0(Series, 1);
        s->kind = kind;
        s->frame = frame;
        s->number = number;
        s->worst = g_array_new(false, false, sizeof(Worst));
        spread_init(&s->spread);
        g_hash_table_insert(all, g_memdup2(&key, sizeof(key)), s);
    }
    return s;
}

void series_add_worst(Series *s, const Worst *w, unsigned worst)
{
    guint i = s->worst->len;

    while (i && g_array_index(s->worst, Worst, i - 1).value < w->value) {
        i--;
    }
    if (i < worst) {
        g_array_insert_val(s->worst, i, *w);
        g_array_set_size(s->worst, MIN(s->worst->len, worst));
    }
}

static void add(LatencyHart *h, CallKind kind, unsigned frame, unsigned number,
                const Worst *w)
{
    Series *s = series_get(h->series, kind, frame, number, LATENCY_MAX_SERIES);

    if (s) {
        spread_add(&s->spread, w->value);
        series_add_worst(s, w, h->latency->options.worst);
    } else {
        h->dropped++;
    }
}

/* What the frame matches: FRAME_* */
static unsigned matches(LatencyHart *h, unsigned frame)
{
    const LatencyOptions *o = &h->latency->options;
    const ProfileFrame *f = profile_frame(h->profile, frame);
    guint known = h->matches->len;

    if (frame >= known) {
        g_byte_array_set_size(h->matches, frame + 1);
        memset(h->matches->data + known, 0, frame + 1 - known);
    }
    if (!h->matches->data[frame]) {
        h->matches->data[frame] = FRAME_SEEN |
            (o->sym && frame_is_like(f, o->sym, o->dso) &&
             f->kind != FRAME_TRAP ? FRAME_SYM : 0) |
            (o->first && frame_is_like(f, o->first, NULL) ? FRAME_FIRST : 0) |
            (o->last && frame_is_like(f, o->last, NULL) ? FRAME_LAST : 0);
    }
    return h->matches->data[frame];
}

static void add_way(LatencyHart *h, const OpenCall *call, const Task *task)
{
    if (h->waiting && matches(h, call->frame) & FRAME_LAST) {
        add(h, CALL_FUNCTION, call->frame, SYSCALL_UNKNOWN, &(Worst) {
            .value = call->from.time - h->since.time,
            .from = h->since,
            .to = call->from,
            .task = h->waiting_task,
            .hart = h->hart,
        });
        h->waiting = false;
    }
    if (matches(h, call->frame) & FRAME_FIRST &&
        text_is_like(task->name, h->latency->options.comm)) {
        h->waiting = true;
        h->since = call->from;
        h->waiting_task = task;
    }
}

static void on_begin(void *opaque, OpenCall *calls, unsigned n,
                     const Task *task)
{
    LatencyHart *h = opaque;
    OpenCall *call = &calls[n - 1];
    OpenCall *trap = follow_trap(calls, n);

    if (h->latency->options.first) {
        add_way(h, call, task);
    } else if (call->kind == CALL_SYSCALL) {
        call->name = call->frame;
    } else if (trap && trap->kind == CALL_SYSCALL && trap->began &&
               trap->name == trap->frame &&
               syscall_name(profile_frame(h->profile, call->frame)->name)) {
        /* The first function of this kind says which system call it is. */
        trap->name = call->frame;
    }
}

static void on_end(void *opaque, const EndedCall *e)
{
    LatencyHart *h = opaque;
    const LatencyOptions *o = &h->latency->options;
    const OpenCall *call = e->call;
    bool function = call->kind == CALL_FUNCTION;
    bool is_syscall = call->kind == CALL_SYSCALL;
    Worst w = {
        .value = e->to.time - call->from.time,
        .from = call->from,
        .to = e->to,
        .task = e->task,
        .hart = h->hart,
    };

    if (e->end == CALL_UNSEEN || o->first || function != !!o->sym ||
        (function && !(matches(h, call->frame) & FRAME_SYM)) ||
        !text_is_like(e->task->name, o->comm)) {
        return;
    }
    add(h, call->kind, is_syscall ? call->name : call->frame,
        call->trap.syscall, &w);
}

/* Of a trap whose handler is on no call stack, the cause is the name. */
static void on_passed(void *opaque, const PassedTrap *p)
{
    LatencyHart *h = opaque;
    const LatencyOptions *o = &h->latency->options;

    if (p->returned && !o->first && !o->sym &&
        text_is_like(p->task->name, o->comm)) {
        add(h, p->trap.cause == SYSCALL_CAUSE ? CALL_SYSCALL :
            p->trap.cause & MOMENT_INTERRUPT ? CALL_INTERRUPT : CALL_EXCEPTION,
            LATENCY_TRAP_FRAME | p->trap.cause, p->trap.syscall, &(Worst) {
                .value = p->to.time - p->from.time,
                .from = p->from, .to = p->to, .task = p->task,
                .hart = h->hart,
            });
    }
}

static const FollowOps follow_ops = {
    .begin = on_begin, .end = on_end, .passed = on_passed,
};

static void hart_free(gpointer opaque)
{
    LatencyHart *h = opaque;

    follow_free(h->follower);
    g_byte_array_unref(h->matches);
    g_hash_table_unref(h->series);
    g_free(h);
}

Latency *latency_new(const LatencyOptions *options)
{
    Latency *l = g_new0(Latency, 1);

    l->options = *options;
    l->harts = g_ptr_array_new_with_free_func(hart_free);
    return l;
}

void latency_free(Latency *l)
{
    g_ptr_array_unref(l->harts);
    g_free(l);
}

LatencyHart *latency_hart(Latency *l, unsigned hart, const Profile *profile,
                          const TaskTable *tasks)
{
    LatencyHart *h = g_new0(LatencyHart, 1);

    h->latency = l;
    h->hart = hart;
    h->profile = profile;
    h->follower = follow_new(profile, tasks, &follow_ops, h);
    h->matches = g_byte_array_new();
    h->series = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                      series_free);
    g_ptr_array_add(l->harts, h);
    return h;
}

void latency_moment(void *hart, const CallStackMoment *moment)
{
    follow_moment(((LatencyHart *)hart)->follower, moment);
}

void latency_trap(void *hart, uint64_t place, const FlowTrap *trap,
                  const CallStackSite *site)
{
    follow_taken(((LatencyHart *)hart)->follower, trap, site);
}

void latency_mark(void *hart, const CallStackMoment *when,
                  const MomentMark *mark)
{
    LatencyHart *h = hart;

    if (mark->kind == MOMENT_LOST || mark->kind == MOMENT_RESET) {
        h->waiting = false;
    }
    follow_mark(h->follower, when, mark);
}

void latency_end(void *hart, const CallStackMoment *when)
{
    follow_end(((LatencyHart *)hart)->follower, when);
}
