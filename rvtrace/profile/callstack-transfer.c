/*
 * Call stacks: what the way that execution took says of them
 *
 * This is the one place that decides so. It knows where execution goes on, how
 * the last instruction was left, which addresses the frames of the stacks wait
 * for, and where functions begin. In general, an address that a frame waits for
 * is a return to it, whatever instruction led there; the beginning of a
 * function that nobody waits for was called; and the inside of a function that
 * an outer frame is of was unwound to.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/callstack-private.h"

#define ECALL       0x00000073
#define ECALL_SIZE  4
#define SIGRETURN   0x08b00893      /* li a7, __NR_rt_sigreturn */

/*
 * Does what a trap hit at @epc go on at @pc? If not @exact, the handler may
 * have done what the instruction there was to do.
 */
static bool goes_on(uint64_t epc, bool exact, uint64_t pc)
{
    return epc && (pc == epc ||
                   (!exact && (pc - epc == 2 || pc - epc == 4)));
}

/* Of a signal, a system call that it interrupted may be made again. */
static bool trap_goes_on(const Frame *f, uint64_t pc)
{
    return goes_on(f->ret, f->entry == ENTRY_INTERRUPT, pc) ||
           (f->entry == ENTRY_SIGNAL && f->ret && pc + ECALL_SIZE == f->ret);
}

static bool is_inside(const Frame *f, uint64_t pc)
{
    return f->hi && pc > f->lo && pc < f->hi;
}

static bool is_entry(CallStack *cs, uint64_t pc)
{
    return callstack_function(cs, pc, false)->entry;
}

/* Is it known where functions begin, at @pc? */
static bool has_symbol(CallStack *cs, uint64_t pc)
{
    return callstack_function(cs, pc, false)->symbol;
}

/* Remove frames up to the one whose caller goes on at @pc. */
static bool return_to(CallStack *cs, uint64_t pc)
{
    const Stack *st = cs->now->stack;

    for (unsigned i = st->depth; i > 0; i--) {
        const Frame *f = &st->frames[i - 1];

        if (is_trap(f)) {
            return false;
        }
        if (f->entry == ENTRY_CALL && f->ret == pc && pc) {
            callstack_cut(cs, i - 1);
            return true;
        }
    }
    return false;
}

/* Does the frame @skip frames below the innermost one return to @pc? */
static unsigned returns_to(const Stack *st, unsigned skip, uint64_t pc)
{
    unsigned top = st->depth;

    /* It may have been left in the middle, or so it was believed. */
    if (top && is_trap(&st->frames[top - 1])) {
        top--;
    }
    if (skip >= top) {
        return 0;
    }
    for (unsigned i = 1; i <= skip + 1; i++) {
        if (st->frames[top - i].entry != ENTRY_CALL) {
            return 0;
        }
    }
    return st->frames[top - skip - 1].ret == pc ? top - skip : 0;
}

/*
 * Nobody on this stack waits for @pc. Another one is in use, if one of its
 * innermost frames waits just for that: the kernel switched tasks, or a program
 * its coroutines. Since when cannot be known: the innermost functions are those
 * that switch, and may be the same ones on both stacks.
 */
static bool switch_to(CallStack *cs, uint64_t pc)
{
    return callstack_awaits(cs, pc) &&
           callstack_resume_found(cs, returns_to, MAX_SWITCH_DEPTH, pc);
}

/* Whoever waits for @pc, on this stack or on another one, goes on there. */
static bool go_back_to(CallStack *cs, uint64_t pc)
{
    return return_to(cs, pc) || switch_to(cs, pc);
}

/*
 * Is it the function that goes on with an exception? It never comes back to
 * where it was called: what catches the exception, or has something to destroy,
 * is in an outer function then, though that may have the same code.
 */
static bool is_resumer(const CallStack *cs, const Frame *f)
{
    unsigned frame = profile_node(cs->profile, f->node)->frame;

    return !g_strcmp0(profile_frame(cs->profile, frame)->name,
                      "_Unwind_Resume");
}

/*
 * longjmp, an exception: @pc is inside of a function that waits for a call to
 * return.
 */
static bool unwind_into(CallStack *cs, uint64_t pc)
{
    const Stack *st = cs->now->stack;

    for (unsigned i = st->depth; i > 0; i--) {
        if (is_inside(&st->frames[i - 1], pc) &&
            (i == st->depth || !is_resumer(cs, &st->frames[i]))) {
            callstack_cut(cs, i);
            return true;
        }
        /* What a trap interrupted is not unwound, but a signal may be. */
        if (is_trap(&st->frames[i - 1])) {
            return false;
        }
    }
    return false;
}

/* Nobody waits for @pc, to which a function returned that ends at @left. */
static void follow_lost_return(CallStack *cs, uint64_t left, uint64_t pc)
{
    const Stack *st = cs->now->stack;
    const KnownJump *jump;

    /* Into what was there before the trace began, most likely */
    if (st->depth <= 1 && (!st->depth || !st->frames[0].ret)) {
        callstack_replace(cs, pc, false);
        return;
    }
    jump = callstack_jump(cs, left);
    if (is_entry(cs, pc)) {
        if (jump->sp == SP_KEPT ||
            (jump->through_t0 && jump->sp == SP_UNKNOWN)) {
            /* A jump, or a return that something like ftrace has diverted */
            callstack_replace(cs, pc, true);
            return;
        }
    } else if (unwind_into(cs, pc)) {
        return;
    } else if (jump->through_t0 && jump->sp == SP_KEPT) {
        callstack_replace(cs, pc, false);
        return;
    }
    /*
     * A stack that was not in use before. But a function that was not called
     * may return to anywhere without that: trap handlers jump to functions with
     * an address of theirs in ra.
     */
    if (innermost_frame(st)->ret) {
        callstack_resume(cs, NULL);
    } else {
        callstack_replace(cs, pc, false);
    }
}

static void follow_jump(CallStack *cs, uint64_t left, uint64_t pc)
{
    if (pc >= cs->lo && pc < cs->hi) {
        return;
    }
    if (is_entry(cs, pc)) {
        if (callstack_jump(cs, left)->sp == SP_TAKEN) {
            callstack_resume(cs, NULL);
        } else {
            callstack_replace(cs, pc, true);
        }
    } else if (!go_back_to(cs, pc) && !unwind_into(cs, pc)) {
        callstack_replace(cs, pc, false);
    }
}

/*
 * Remove the frames of the trap that goes on at @pc, if that is the innermost
 * one; if @any, of one that others have interrupted, too.
 */
static bool remove_trap(CallStack *cs, bool any, uint64_t pc)
{
    const Stack *st = cs->now->stack;

    for (unsigned i = st->depth; i > 0; i--) {
        const Frame *f = &st->frames[i - 1];

        if (f->entry == ENTRY_CALL) {
            continue;
        }
        if (trap_goes_on(f, pc)) {
            callstack_cut(cs, i - 1);
            return true;
        }
        if (!any) {
            return false;
        }
    }
    return false;
}

/* Was @st trapped where @pc goes on? Exactly there, in the first round */
static unsigned trapped_at(const Stack *st, unsigned round, uint64_t pc)
{
    for (unsigned i = st->depth; i > 0; i--) {
        const Frame *f = &st->frames[i - 1];

        if (f->entry != ENTRY_CALL) {
            return (round ? trap_goes_on(f, pc) : f->ret == pc) ? i : 0;
        }
    }
    return 0;
}

/*
 * Take up a stack that was trapped where @pc goes on, if there is one. Of the
 * current one, the innermost handler has nothing left to do then.
 */
static bool resume_trapped(CallStack *cs, unsigned rounds, uint64_t pc)
{
    Stack *st = cs->now->stack;
    unsigned depth = st->depth, trap = depth_of_trap(st);

    if (trap || st->trapped) {
        st->depth = trap;
    }
    if (callstack_resume_found(cs, trapped_at, rounds, pc)) {
        return true;
    }
    st->depth = depth;
    return false;
}

/* A handler has returned for the function that trapped, to its caller. */
static bool return_from_trapped(CallStack *cs, unsigned trap, uint64_t pc)
{
    const Stack *st = cs->now->stack;

    for (unsigned i = trap - 1; i > 0 && !is_trap(&st->frames[i - 1]); i--) {
        if (st->frames[i - 1].ret == pc) {
            callstack_cut(cs, i - 1);
            return true;
        }
    }
    return false;
}

/*
 * An xRET within the privilege level. Where it does not go on with what was
 * interrupted, that is kept, and another task runs.
 */
static void follow_xret(CallStack *cs, uint64_t left, uint64_t pc)
{
    const Stack *st = cs->now->stack;
    unsigned trap;

    if (remove_trap(cs, false, pc) || resume_trapped(cs, 1, pc) ||
        remove_trap(cs, true, pc) || resume_trapped(cs, 2, pc)) {
        return;
    }
    trap = depth_of_trap(st);
    if (!trap) {
        /* The way into a first task, or just a jump */
        if (callstack_jump(cs, left)->sp == SP_TAKEN) {
            callstack_resume(cs, NULL);
        }
        return;
    }
    if (!st->frames[trap - 1].ret ||
        (trap > 1 && is_inside(&st->frames[trap - 2], pc))) {
        callstack_cut(cs, trap - 1);    /* elsewhere in the same function */
        return;
    }
    if (return_from_trapped(cs, trap, pc)) {
        return;
    }
    callstack_cut(cs, trap);
    callstack_resume(cs, NULL);
}

void callstack_transfer(CallStack *cs, unsigned itype, uint64_t left,
                        uint64_t pc)
{
    switch (itype) {
    case ETRACE_ITYPE_INFERABLE_CALL:
        callstack_push_function(cs, pc, true, left);
        break;
    case ETRACE_ITYPE_UNINFERABLE_CALL:
        if (is_entry(cs, pc) || !go_back_to(cs, pc)) {
            callstack_push_function(cs, pc, true, left);
        }
        break;
    case ETRACE_ITYPE_COROUTINE_SWAP:
        /* jalr ra, t0 is one by its registers, and what Go and Java call by */
        if (go_back_to(cs, pc)) {
            break;
        }
        if (is_entry(cs, pc) || !has_symbol(cs, pc)) {
            callstack_push_function(cs, pc, true, left);
        } else {
            callstack_resume(cs, NULL);
        }
        break;
    case ETRACE_ITYPE_RETURN:
        if (!go_back_to(cs, pc)) {
            follow_lost_return(cs, left, pc);
        }
        break;
    case ETRACE_ITYPE_UNINFERABLE_JUMP:
    case ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP:
        follow_jump(cs, left, pc);
        break;
    case ETRACE_ITYPE_TRAP_RETURN:
        follow_xret(cs, left, pc);
        break;
    }
}

void callstack_end_handler(CallStack *cs)
{
    unsigned trap = depth_of_trap(cs->now->stack);

    /*
     * The handler has nothing left to do. One that it interrupted goes on
     * later: it is another task's, which the scheduler left in the middle.
     */
    if (trap && !cs->now->tid) {
        callstack_cut(cs, trap);
        callstack_resume(cs, NULL);
    } else {
        callstack_cut(cs, 0);
    }
}

/* Was @st interrupted where @pc goes on? Exactly there, in the first round */
static unsigned left_at(const Stack *st, unsigned round, uint64_t pc)
{
    return goes_on(st->epc, st->exact || !round, pc) ? st->depth + 1 : 0;
}

/*
 * Is it known which stack is whose? Then, what goes on elsewhere than where it
 * was interrupted is a signal's handler, or a trap that firmware passes on.
 */
static bool has_own_stack(const CallStack *cs)
{
    return cs->now->tid && cs->now->priv != ETRACE_PRIV_VU &&
           cs->now->priv != ETRACE_PRIV_VS;
}

void callstack_enter_handler(CallStack *cs, uint64_t pc)
{
    const CallStackOptions *o = &cs->options;

    callstack_push_function(cs, pc, true, 0);
    if (o->handler && !cs->ignored) {
        o->handler(o->opaque, pc, cs->now->priv, &cs->site);
    }
}

static bool is_insn(const CallStack *cs, uint64_t pc, uint32_t insn)
{
    uint32_t raw;

    return cs->site.image &&
           image_raw(cs->site.image, cs->now->priv, pc, UINT64_MAX, &raw) &&
           raw == insn;
}

/* What runs at @pc interrupts the stack, which goes on at @epc later. */
static void enter_signal(CallStack *cs, uint64_t pc, uint64_t epc)
{
    const char *name = cs->now->priv == ETRACE_PRIV_U ? "[signal]" : "[trap]";

    /* A system call is over when a signal is handled. */
    if (is_insn(cs, epc, ECALL)) {
        epc += ECALL_SIZE;
    }
    callstack_push(cs, profile_label(cs->profile, FRAME_TRAP, name), epc,
                   ENTRY_SIGNAL);
    callstack_enter_handler(cs, pc);
}

/*
 * Linux ends handlers of signals by a system call. What the innermost one
 * interrupted waits then: another handler may begin before that goes on.
 */
static void end_signal(CallStack *cs, uint64_t pc)
{
    Stack *st = cs->now->stack;

    if (!st->epc || st->called || !is_insn(cs, st->epc, ECALL) ||
        !is_insn(cs, st->epc - 4, SIGRETURN)) {
        return;
    }
    for (unsigned i = st->depth; i > 0; i--) {
        const Frame *f = &st->frames[i - 1];

        if (f->entry == ENTRY_SIGNAL) {
            st->epc = trap_goes_on(f, pc) ? pc : f->ret;
            st->exact = false;
            callstack_cut(cs, i - 1);
            return;
        }
    }
}

void callstack_go_on(CallStack *cs, uint64_t pc)
{
    Stack *st = cs->now->stack;
    uint64_t epc;

    end_signal(cs, pc);
    epc = st->epc;
    if (!st->depth) {
        return;
    }
    if (goes_on(epc, st->exact, pc)) {
        st->epc = 0;
        return;
    }
    if (callstack_resume_found(cs, left_at, 1, pc)) {
        cs->now->stack->epc = 0;
        return;
    }
    if (remove_trap(cs, true, pc) || return_to(cs, pc)) {
        st->epc = 0;
        return;
    }
    if (callstack_resume_found(cs, left_at, 2, pc) || switch_to(cs, pc)) {
        cs->now->stack->epc = 0;
        return;
    }
    if (epc && !st->called && !has_own_stack(cs) &&
        !is_inside(innermost_frame(st), pc)) {
        callstack_resume(cs, NULL);
        return;
    }
    st->epc = 0;
    if (is_inside(innermost_frame(st), pc)) {
        return;
    }
    if (epc && is_entry(cs, pc)) {
        if (st->called) {
            callstack_push_function(cs, pc, true, epc);
        } else {
            enter_signal(cs, pc, epc);
        }
    } else if (!unwind_into(cs, pc)) {
        callstack_replace(cs, pc, is_entry(cs, pc));
    }
}
