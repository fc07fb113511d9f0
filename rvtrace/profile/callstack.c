/*
 * Call stacks from an instruction flow
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/callstack-private.h"

CallStack *callstack_new(Profile *profile, unsigned top,
                         const CallStackOptions *options)
{
    CallStack *cs = g_new0(CallStack, 1);

    cs->profile = profile;
    cs->top = top;
    cs->options = *options;
    cs->strayed = true;
    cs->contexts = callstack_contexts(cs);
    g_queue_init(&cs->suspended);
    cs->round = g_array_new(false, false, sizeof(RoundPart));
    return cs;
}

void callstack_free(CallStack *cs)
{
    callstack_forget(cs);
    g_hash_table_unref(cs->contexts);
    g_array_unref(cs->round);
    g_free(cs);
}

/* Execution is at @pc, in the innermost frame: how far does that extend? */
static void look_at_function(CallStack *cs, uint64_t pc)
{
    const Frame *f = innermost_frame(cs->now->stack);

    if (f && f->hi) {
        cs->lo = f->lo;
        cs->hi = f->hi;
    } else {
        const KnownFunction *k = callstack_function(cs, pc, false);

        cs->lo = k->lo;
        cs->hi = k->hi;
    }
}

/* @trap of @task leads to @priv; the handler's function is not known yet. */
static void begin_handler(CallStack *cs, const FlowTrap *trap,
                          const Task *task, unsigned priv)
{
    Context *from = cs->now;
    unsigned frame = callstack_trap_frame(cs, trap);
    uint64_t epc = trap->epc_known ? trap->epc : 0;
    Stack *st;

    cs->now = callstack_context(cs, priv);
    if (from && from != cs->now) {
        if (cs->now->stack->depth) {
            callstack_resume(cs, NULL);     /* it never returned */
        }
        from->stack->epc = epc;
        from->stack->called = false;
        from->stack->exact = trap->interrupt;
        st = cs->now->stack;
        st->base = profile_child(cs->profile, innermost_node(from->stack),
                                 frame);
        st->below = (Interrupted) {
            .priv = from->priv,
            .space = from->space,
            .tid = from->tid,
            .pc = epc,
            .task = task,
        };
        st->trapped = true;
        st->epc = 0;
    } else {
        callstack_push(cs, frame, epc, trap->interrupt ? ENTRY_INTERRUPT :
                                                         ENTRY_TRAP);
    }
}

/* The handler's first instruction is about to be executed. */
static void enter_handler(CallStack *cs, const FlowRun *run)
{
    if (cs->trapped_twice) {
        /*
         * The packets do not say where the first handler is, nor at which
         * level. One that can be interrupted at once is of a level below.
         */
        unsigned priv = priv_is_machine(run->priv) && cs->now &&
                        !priv_is_machine(cs->now->priv) ?
                        ETRACE_PRIV_S : run->priv;

        begin_handler(cs, &cs->first, cs->task_of_first, priv);
    }
    begin_handler(cs, &cs->trap, cs->task_of_trap, run->priv);
    cs->trapped = cs->trapped_twice = false;
    cs->reported_node = PROFILE_ROOT;
    callstack_enter_handler(cs, run->pc);
}

/* Execution goes on at another privilege level, or in another program. */
static void change_context(CallStack *cs, const FlowRun *run)
{
    bool back = cs->now && cs->itype == ETRACE_ITYPE_TRAP_RETURN &&
                cs->now->priv != run->priv;

    if (back) {
        callstack_end_handler(cs);
    }
    cs->now = callstack_context(cs, run->priv);
    cs->marked = false;
    if (back) {
        callstack_go_on(cs, run->pc);
    }
}

/* A trap that leads out of what is traced, or a jump there */
static void leave(CallStack *cs)
{
    Stack *st = cs->now->stack;

    if (cs->trapped) {
        st->epc = cs->trap.epc_known ? cs->trap.epc : 0;
        st->called = false;
        st->exact = cs->trap.interrupt;
    } else if (cs->itype == ETRACE_ITYPE_UNINFERABLE_CALL ||
               cs->itype == ETRACE_ITYPE_INFERABLE_CALL) {
        st->epc = cs->left;
        st->called = true;
        st->exact = false;
    } else if (cs->itype == ETRACE_ITYPE_TRAP_RETURN) {
        callstack_cut(cs, MAX(depth_of_trap(st), 1) - 1);
    }
}

static void begin_gap(CallStack *cs)
{
    if (cs->now) {
        leave(cs);
        cs->gap = true;
    }
    cs->trapped = cs->trapped_twice = false;
    cs->itype = ETRACE_ITYPE_NONE;
}

/* What was not traced is over. */
static void come_back(CallStack *cs, const FlowRun *run)
{
    cs->gap = false;
    cs->now = callstack_context(cs, run->priv);
    callstack_go_on(cs, run->pc);
}

/*
 * The kernel switched to another task in the middle of a function, whose
 * return leads to where that task was suspended.
 */
static bool is_other_task(const CallStack *cs, unsigned priv)
{
    Context key = callstack_key(cs, priv);

    return !callstack_same_context(&key, cs->now);
}

/* Behind a fence: has nothing else run? */
static bool is_seamless(const CallStack *cs, const FlowRun *run)
{
    if (!cs->now || is_other_task(cs, cs->now->priv)) {
        return false;
    }
    if (cs->trapped) {
        /* A filter by privilege leaves out handlers. */
        return !priv_is_user(run->priv) &&
               !(cs->trap.epc_known && run->pc == cs->trap.epc);
    }
    if (run->priv != cs->now->priv) {
        return cs->itype == ETRACE_ITYPE_TRAP_RETURN;
    }
    return cs->itype >= ETRACE_ITYPE_UNINFERABLE_CALL ||
           cs->itype == ETRACE_ITYPE_TRAP_RETURN ||
           (run->pc >= cs->lo && run->pc < cs->hi);
}

/* A task has another name from here on: exec, or it gave itself one. */
static void rename_stack(CallStack *cs)
{
    Stack *st = cs->now->stack;
    unsigned node = callstack_group(cs, st->priv);

    st->task = cs->site.task;
    st->base = node;
    for (unsigned i = 0; i < st->depth; i++) {
        Frame *f = &st->frames[i];

        node = profile_child(cs->profile, node,
                             profile_node(cs->profile, f->node)->frame);
        f->node = node;
    }
    cs->marked = false;
}

/* Bring the stack to where execution goes on. */
static void arrive(CallStack *cs, const FlowRun *run)
{
    bool moved = true;

    if (G_UNLIKELY(profile_is_crowded(cs->profile))) {
        callstack_merge_rare(cs);
    }
    if (cs->fenced && !is_seamless(cs, run)) {
        begin_gap(cs);
    }
    cs->fenced = false;
    if (cs->gap) {
        come_back(cs, run);
    } else if (cs->trapped) {
        enter_handler(cs, run);
    } else if (!cs->now || cs->now->priv != run->priv ||
               (cs->strayed && is_other_task(cs, run->priv) &&
                !callstack_introduce(cs, run->priv))) {
        change_context(cs, run);
    } else if (cs->itype >= ETRACE_ITYPE_UNINFERABLE_CALL ||
               cs->itype == ETRACE_ITYPE_TRAP_RETURN) {
        callstack_transfer(cs, cs->itype, cs->left, run->pc);
    } else {
        moved = false;
    }
    cs->strayed = false;
    if (cs->now->stack->task != cs->site.task && !cs->now->stack->trapped &&
        callstack_task(cs, run->priv)) {
        rename_stack(cs);
    }
    if (!cs->now->stack->depth) {
        callstack_push_function(cs, run->pc, false, 0);
        look_at_function(cs, run->pc);
    } else if (moved) {
        look_at_function(cs, run->pc);
    }
    if (run->pc < cs->lo || run->pc >= cs->hi) {
        callstack_replace(cs, run->pc, false);
        look_at_function(cs, run->pc);
    }
    cs->itype = ETRACE_ITYPE_NONE;
}

static void report_moment(CallStack *cs, const FlowRun *run)
{
    unsigned node = innermost_node(cs->now->stack);

    if (node == cs->reported_node && cs->site.task == cs->reported_task) {
        return;
    }
    cs->reported_node = node;
    cs->reported_task = cs->site.task;
    cs->options.moment(cs->options.opaque, &(CallStackMoment) {
        .insns = cs->insns,
        .time = cs->insns,
        .place = cs->insns,
        .node = node,
        .task = cs->site.task,
        .priv = run->priv,
        .begins = run->pc == cs->lo,
    });
}

static void enter_site(CallStack *cs, const CallStackSite *site)
{
    cs->strayed |= site->task != cs->site.task ||
                   site->space != cs->site.space;
    cs->site = *site;
}

void callstack_select(CallStack *cs, bool selected)
{
    cs->ignored = !selected;
    cs->marked = false;
}

/* @insns more in the innermost function; returns its node. */
static unsigned count_insns(CallStack *cs, uint64_t insns)
{
    unsigned node = innermost_node(cs->now->stack);

    if (!cs->ignored) {
        cs->insns += insns;
        profile_node(cs->profile, node)->self += insns;
    }
    return node;
}

/* At the site that was entered */
static void follow_run(CallStack *cs, const FlowRun *run)
{
    if (run->count) {
        RoundPart part = { .count = run->count };

        arrive(cs, run);
        if (cs->options.moment && !cs->ignored) {
            report_moment(cs, run);
        }
        part.node = count_insns(cs, part.count);
        if (cs->marked) {
            g_array_append_val(cs->round, part);
            cs->marked = cs->round->len < MAX_ROUND;
        }
    }
    if (run->itype) {
        cs->itype = run->itype;
        cs->left = run->end;
    }
}

void callstack_run(CallStack *cs, const FlowRun *run,
                   const CallStackSite *site)
{
    enter_site(cs, site);
    follow_run(cs, run);
}

/* Does the innermost function go on behind an instruction left like this? */
static bool stays(unsigned itype)
{
    return itype == ETRACE_ITYPE_NONE || etrace_itype_is_branch(itype) ||
           itype == ETRACE_ITYPE_INFERABLE_JUMP ||
           itype == ETRACE_ITYPE_OTHER_INFERABLE_JUMP;
}

void callstack_runs(CallStack *cs, const FlowRun *runs, unsigned n,
                    const CallStackSite *site)
{
    enter_site(cs, site);
    for (unsigned i = 0; i < n; i++) {
        uint64_t insns = 0;

        follow_run(cs, &runs[i]);
        if (!cs->now || cs->marked || cs->trapped) {
            continue;
        }
        /* As long as it stays in the function, there is only to count. */
        while (i + 1 < n && stays(cs->itype) && runs[i + 1].count &&
               runs[i + 1].pc - cs->lo < cs->hi - cs->lo) {
            const FlowRun *run = &runs[++i];

            insns += run->count;
            cs->itype = run->itype;
            if (run->itype) {
                cs->left = run->end;
            }
        }
        if (insns) {
            count_insns(cs, insns);
        }
    }
}

void callstack_mark(CallStack *cs)
{
    const Stack *st = cs->now ? cs->now->stack : NULL;

    cs->marked = st && !cs->trapped && !cs->gap;
    if (cs->marked) {
        cs->depth_at_mark = st->depth;
        cs->kept = MAX(st->depth, MAX_MARKED) - MAX_MARKED;
        memcpy(cs->frames_at_mark, st->frames + cs->kept,
               (st->depth - cs->kept) * sizeof(st->frames[0]));
        cs->itype_at_mark = cs->itype;
        cs->left_at_mark = cs->left;
        cs->lo_at_mark = cs->lo;
        cs->hi_at_mark = cs->hi;
        g_array_set_size(cs->round, 0);
    }
}

bool callstack_can_repeat(const CallStack *cs)
{
    const Stack *st = cs->now ? cs->now->stack : NULL;

    /* What is not the same now as it was then goes on changing. */
    return cs->marked && !cs->trapped && st->depth == cs->depth_at_mark &&
           cs->itype == cs->itype_at_mark && cs->left == cs->left_at_mark &&
           cs->lo == cs->lo_at_mark && cs->hi == cs->hi_at_mark &&
           !memcmp(st->frames + cs->kept, cs->frames_at_mark,
                   (st->depth - cs->kept) * sizeof(st->frames[0]));
}

void callstack_repeat(CallStack *cs, uint64_t times)
{
    for (guint i = 0; !cs->ignored && i < cs->round->len; i++) {
        const RoundPart *part = &g_array_index(cs->round, RoundPart, i);

        cs->insns += times * part->count;
        profile_node(cs->profile, part->node)->self += times * part->count;
    }
    cs->marked = false;
}

/*
 * Is @trap one that has left what is traced, once more? QEMU makes a system call
 * again that a signal has interrupted, and nothing runs in between.
 */
static bool is_made_again(const CallStack *cs, const FlowTrap *trap,
                          const CallStackSite *site)
{
    return cs->fenced && cs->trapped && !cs->trapped_twice &&
           trap->epc_known && cs->trap.epc_known &&
           trap->epc == cs->trap.epc && trap->priv == cs->trap.priv &&
           trap->cause == cs->trap.cause && !trap->interrupt &&
           !cs->trap.interrupt && site->task == cs->task_of_trap;
}

void callstack_trap(CallStack *cs, const FlowTrap *trap,
                    const CallStackSite *site)
{
    FlowRun target = { .pc = trap->epc, .priv = trap->priv };

    if (is_made_again(cs, trap, site)) {
        return;
    }
    cs->site = *site;
    /*
     * The target of a jump, or a handler's first instruction, may be all that
     * there was at its place, and so may what goes on behind a gap: a system
     * call that is made again.
     */
    if ((cs->itype || cs->trapped || cs->gap) && trap->epc_known) {
        arrive(cs, &target);
    }
    cs->marked = false;
    if (cs->trapped && !cs->gap) {
        cs->trapped_twice = true;
        cs->first = cs->trap;
        cs->task_of_first = cs->task_of_trap;
    }
    cs->gap = cs->fenced = false;
    cs->trap = *trap;
    cs->task_of_trap = site->task;
    cs->trapped = true;
    cs->itype = ETRACE_ITYPE_NONE;
}

void callstack_gap(CallStack *cs, bool fenced)
{
    cs->marked = false;
    cs->fenced = fenced;
    if (!fenced) {
        begin_gap(cs);
    }
}

void callstack_lost(CallStack *cs)
{
    cs->marked = false;
    callstack_forget(cs);
    cs->trapped = cs->trapped_twice = false;
    cs->gap = cs->fenced = false;
    cs->itype = ETRACE_ITYPE_NONE;
}
