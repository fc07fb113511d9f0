/*
 * Call stacks from an instruction flow
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/callstack-private.h"

static void context_free(gpointer opaque)
{
    Context *c = opaque;

    g_free(c->stack);
    g_free(c);
}

static guint context_hash(gconstpointer key)
{
    const Context *c = key;

    return (c->tid * 0x9e3779b1u + c->space) * 8 + c->priv;
}

static gboolean context_equal(gconstpointer a, gconstpointer b)
{
    const Context *x = a, *y = b;

    return x->priv == y->priv && x->space == y->space && x->tid == y->tid;
}

CallStack *callstack_new(Profile *profile, unsigned top,
                         const CallStackOptions *options)
{
    CallStack *cs = g_new0(CallStack, 1);

    cs->profile = profile;
    cs->top = top;
    cs->options = *options;
    cs->contexts = g_hash_table_new_full(context_hash, context_equal,
                                         context_free, NULL);
    g_queue_init(&cs->suspended);
    cs->round = g_array_new(false, false, sizeof(RoundPart));
    return cs;
}

void callstack_free(CallStack *cs)
{
    g_hash_table_unref(cs->contexts);
    g_queue_clear_full(&cs->suspended, g_free);
    g_array_unref(cs->round);
    g_free(cs);
}

static Stack *new_stack(CallStack *cs, const Context *c)
{
    Stack *st = g_new(Stack, 1);

    st->priv = c->priv;
    st->space = c->space;
    st->tid = c->tid;
    st->base = callstack_group(cs, c->priv);
    st->trapped = false;
    st->task = cs->site.task;
    st->below = (Interrupted) { 0 };
    st->depth = 0;
    return st;
}

/* What distinguishes the context of who runs now, at @priv, from others */
static Context context_key(const CallStack *cs, unsigned priv)
{
    const Task *task = cs->site.task;

    return (Context) {
        .priv = priv,
        /* A kernel or a monitor keeps its stack when it switches spaces. */
        .space = priv_is_user(priv) ? cs->site.space : 0,
        /* Tasks of Linux from 1 on: the idle ones all have number 0. */
        .tid = task && task->known && !is_firmware(priv) ? task->tid + 1 : 0,
    };
}

static Context *get_context(CallStack *cs, unsigned priv)
{
    Context key = context_key(cs, priv);
    Context *c = g_hash_table_lookup(cs->contexts, &key);

    if (!c) {
        c = g_new(Context, 1);
        *c = key;
        c->stack = new_stack(cs, &key);
        g_hash_table_add(cs->contexts, c);
    }
    return c;
}

static unsigned innermost(const Stack *st)
{
    return st->depth ? st->frames[st->depth - 1].node : st->base;
}

/* Execution is at @pc, in the innermost frame: how far does that extend? */
static void look_at_function(CallStack *cs, uint64_t pc)
{
    const Stack *st = cs->now->stack;
    const Frame *f = st->depth ? &st->frames[st->depth - 1] : NULL;

    if (f && f->hi) {
        cs->lo = f->lo;
        cs->hi = f->hi;
    } else {
        const KnownFunction *k = callstack_function(cs, pc, false);

        cs->lo = k->lo;
        cs->hi = k->hi;
    }
}

static Frame *push(CallStack *cs, unsigned frame, uint64_t ret, bool trap)
{
    Stack *st = cs->now->stack;
    Frame *f;
    unsigned node;

    if (st->depth == MAX_DEPTH) {
        st->depth = 0;
    }
    node = profile_child(cs->profile, innermost(st), frame);
    f = &st->frames[st->depth++];
    /* Padding, too: frames are compared as they are. */
    memset(f, 0, sizeof(*f));
    f->ret = ret;
    f->node = node;
    f->trap = trap;
    return f;
}

/* @pc is where the function was called, if @called, or just somewhere in it */
static void push_function(CallStack *cs, uint64_t pc, bool called,
                          uint64_t ret)
{
    const KnownFunction *k = callstack_function(cs, pc, called);
    Frame *f = push(cs, k->frame, ret, false);

    if (k->symbol) {
        f->lo = k->lo;
        f->hi = k->hi;
    }
}

/* Whatever function it was, it is another one now: a tail call, mostly. */
static void replace_function(CallStack *cs, uint64_t pc)
{
    Stack *st = cs->now->stack;
    uint64_t ret = 0;

    if (st->depth && !st->frames[st->depth - 1].trap) {
        ret = st->frames[--st->depth].ret;
    }
    push_function(cs, pc, false, ret);
}

/* Remove frames up to the one whose caller goes on at @pc. */
static bool return_to(Stack *st, uint64_t pc)
{
    for (unsigned i = st->depth; i > 0 && !st->frames[i - 1].trap; i--) {
        if (st->frames[i - 1].ret == pc && pc) {
            st->depth = i - 1;
            return true;
        }
    }
    return false;
}

/*
 * Take up @st, a suspended stack, or start a new one if it is NULL. The
 * current one is kept; it may be returned to.
 */
static void resume_stack(CallStack *cs, Stack *st)
{
    Context *c = cs->now;

    cs->marked = false;
    if (c->stack->depth) {
        g_queue_push_head(&cs->suspended, c->stack);
        if (cs->suspended.length > MAX_SUSPENDED) {
            g_free(g_queue_pop_tail(&cs->suspended));
        }
    } else {
        g_free(c->stack);
    }
    c->stack = st ? st : new_stack(cs, c);
}

/* Can @st be in use in this context? */
static bool fits(const Context *c, const Stack *st)
{
    return st->priv == c->priv && st->space == c->space &&
           st->tid == c->tid;
}

/* Does the frame @skip frames below the innermost one return to @pc? */
static bool returns_to(const Stack *st, unsigned skip, uint64_t pc)
{
    for (unsigned i = 0; i <= skip; i++) {
        if (i >= st->depth || st->frames[st->depth - 1 - i].trap) {
            return false;
        }
    }
    return st->frames[st->depth - 1 - skip].ret == pc;
}

/*
 * A return to @pc, which this stack knows nothing of. Another stack is in use
 * now: the kernel switched tasks, or a program its coroutines. Since when
 * cannot be known: the innermost functions are those that switch, and may be
 * the same ones on both stacks. But if that stack was in use before, then
 * one of its innermost frames expects to return just there.
 */
static void switch_stack(CallStack *cs, uint64_t pc)
{
    Stack *now = cs->now->stack;

    for (unsigned skip = 0; skip < MAX_SWITCH_DEPTH; skip++) {
        for (GList *l = cs->suspended.head; l; l = l->next) {
            Stack *st = l->data;

            if (fits(cs->now, st) && returns_to(st, skip, pc)) {
                g_queue_delete_link(&cs->suspended, l);
                st->depth -= skip + 1;
                resume_stack(cs, st);
                return;
            }
        }
    }
    /*
     * A function that was not called may return to anywhere without that:
     * trap handlers jump to functions with an address of theirs in ra.
     */
    if (now->depth && now->frames[now->depth - 1].ret) {
        resume_stack(cs, NULL);
    }
}

/* longjmp: @pc is inside of a function that waits for a call to return. */
static void unwind_into(CallStack *cs, uint64_t pc)
{
    Stack *st = cs->now->stack;

    for (unsigned i = st->depth; i > 1 && !st->frames[i - 2].trap; i--) {
        const Frame *f = &st->frames[i - 2];

        if (f->hi && pc > f->lo && pc < f->hi) {
            st->depth = i - 1;
            return;
        }
    }
}

/* Remove frames up to a trap that hit at @pc, or at all if @pc is 0. */
static bool remove_trap(Stack *st, uint64_t pc)
{
    for (unsigned i = st->depth; i > 0; i--) {
        if (st->frames[i - 1].trap && (!pc || st->frames[i - 1].ret == pc)) {
            st->depth = i - 1;
            return true;
        }
    }
    return false;
}

/* An xRET within the privilege level, to @pc: tasks can be switched, too. */
static void trap_return(CallStack *cs, uint64_t pc)
{
    if (remove_trap(cs->now->stack, pc)) {
        return;
    }
    for (GList *l = cs->suspended.head; l; l = l->next) {
        Stack *st = l->data;

        if (fits(cs->now, st) && remove_trap(st, pc)) {
            g_queue_delete_link(&cs->suspended, l);
            resume_stack(cs, st);
            return;
        }
    }
    remove_trap(cs->now->stack, 0);
}

/* The handler's first instruction is about to be executed. */
static void enter_handler(CallStack *cs, const FlowRun *run)
{
    Context *from = cs->now;
    unsigned frame = callstack_trap_frame(cs, &cs->trap);

    cs->trapped = false;
    cs->now = get_context(cs, run->priv);
    if (from && from != cs->now) {
        if (cs->now->stack->depth) {
            resume_stack(cs, NULL);     /* it never returned */
        }
        cs->now->stack->base = profile_child(cs->profile,
                                             innermost(from->stack), frame);
        cs->now->stack->below = (Interrupted) {
            .priv = from->priv,
            .space = from->space,
            .tid = from->tid,
            .pc = cs->trap.epc_known ? cs->trap.epc : 0,
            .task = cs->task_of_trap,
        };
        cs->now->stack->trapped = true;
    } else {
        push(cs, frame, cs->trap.epc, true);
    }
    push_function(cs, run->pc, true, 0);
}

/* The last instruction was a jump: where did it lead to? */
static void follow_jump(CallStack *cs, uint64_t pc)
{
    switch (cs->itype) {
    case ETRACE_ITYPE_UNINFERABLE_CALL:
    case ETRACE_ITYPE_INFERABLE_CALL:
        push_function(cs, pc, true, cs->left);
        break;
    case ETRACE_ITYPE_RETURN:
    case ETRACE_ITYPE_COROUTINE_SWAP:
        if (!return_to(cs->now->stack, pc)) {
            switch_stack(cs, pc);
        }
        break;
    case ETRACE_ITYPE_UNINFERABLE_JUMP:
    case ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP:
        if (pc < cs->lo || pc >= cs->hi) {
            unwind_into(cs, pc);
        }
        break;
    default:
        return;
    }
    if (cs->now->stack->depth) {
        look_at_function(cs, pc);
    }
}

/* Execution goes on at another privilege level, or in another program. */
static void change_context(CallStack *cs, unsigned priv)
{
    if (cs->now && cs->itype == ETRACE_ITYPE_TRAP_RETURN &&
        cs->now->priv != priv) {
        /* Whoever returns to another level has nothing left to do. */
        cs->now->stack->depth = 0;
    }
    cs->now = get_context(cs, priv);
    cs->marked = false;
}

/*
 * The kernel switched to another task in the middle of a function, whose
 * return leads to where that task was suspended.
 */
static bool is_other_task(const CallStack *cs, unsigned priv)
{
    Context key = context_key(cs, priv);

    return !context_equal(&key, cs->now);
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
    if (cs->trapped) {
        enter_handler(cs, run);
        look_at_function(cs, run->pc);
    } else if (!cs->now || cs->now->priv != run->priv ||
               is_other_task(cs, run->priv)) {
        change_context(cs, run->priv);
        look_at_function(cs, run->pc);
    } else if (cs->itype == ETRACE_ITYPE_TRAP_RETURN) {
        trap_return(cs, run->pc);
        look_at_function(cs, run->pc);
    } else if (cs->itype >= ETRACE_ITYPE_UNINFERABLE_CALL) {
        follow_jump(cs, run->pc);
    }
    if (cs->now->stack->task != cs->site.task && !cs->now->stack->trapped &&
        !is_firmware(run->priv)) {
        rename_stack(cs);
    }
    if (!cs->now->stack->depth) {
        push_function(cs, run->pc, false, 0);
        look_at_function(cs, run->pc);
    } else if (run->pc < cs->lo || run->pc >= cs->hi) {
        replace_function(cs, run->pc);
        look_at_function(cs, run->pc);
    }
    cs->itype = ETRACE_ITYPE_NONE;
}

static void report_moment(CallStack *cs, const FlowRun *run)
{
    unsigned node = innermost(cs->now->stack);

    if (node == cs->reported_node && cs->site.task == cs->reported_task) {
        return;
    }
    cs->reported_node = node;
    cs->reported_task = cs->site.task;
    cs->options.moment(cs->options.opaque, &(CallStackMoment) {
        .insns = cs->insns,
        .time = cs->insns,
        .node = node,
        .task = cs->site.task,
        .priv = run->priv,
    });
}

void callstack_select(CallStack *cs, bool selected)
{
    cs->ignored = !selected;
    cs->marked = false;
}

/* @insns more in the innermost function; returns its node. */
static unsigned count_insns(CallStack *cs, uint64_t insns)
{
    unsigned node = innermost(cs->now->stack);

    if (!cs->ignored) {
        cs->insns += insns;
        profile_node(cs->profile, node)->self += insns;
    }
    return node;
}

void callstack_run(CallStack *cs, const FlowRun *run,
                   const CallStackSite *site)
{
    cs->site = *site;
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
    for (unsigned i = 0; i < n; i++) {
        uint64_t insns = 0;

        callstack_run(cs, &runs[i], site);
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

    cs->marked = st && !cs->trapped;
    if (cs->marked) {
        cs->depth_at_mark = st->depth;
        memcpy(cs->frames_at_mark, st->frames,
               st->depth * sizeof(st->frames[0]));
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
           !memcmp(st->frames, cs->frames_at_mark,
                   st->depth * sizeof(st->frames[0]));
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

void callstack_trap(CallStack *cs, const FlowTrap *trap,
                    const CallStackSite *site)
{
    FlowRun target = { .pc = trap->epc, .priv = trap->priv };

    cs->site = *site;
    /* The target of a jump may be all that there was at its place. */
    if (cs->itype && trap->epc_known && !cs->trapped) {
        arrive(cs, &target);
    }
    cs->marked = false;
    /* If another trap hit the handler's first instruction, the last counts. */
    cs->trap = *trap;
    cs->task_of_trap = site->task;
    cs->trapped = true;
    cs->itype = ETRACE_ITYPE_NONE;
}

void callstack_lost(CallStack *cs)
{
    cs->marked = false;
    g_hash_table_remove_all(cs->contexts);
    g_queue_clear_full(&cs->suspended, g_free);
    cs->now = NULL;
    cs->trapped = false;
    cs->itype = ETRACE_ITYPE_NONE;
}
