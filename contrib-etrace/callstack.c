/*
 * Call stacks from an instruction flow
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "callstack.h"

/* Deeper than this, a stack is rather a sign of calls that never return. */
#define MAX_DEPTH 512
/* Stacks that are remembered while others are in use */
#define MAX_SUSPENDED 256
/* Stretches of a loop's round that are remembered */
#define MAX_ROUND 65536
/* Functions that switching stacks is made of, at most */
#define MAX_SWITCH_DEPTH 4

typedef struct Frame {
    uint64_t ret;           /* where its caller goes on; 0: not known */
    unsigned node;
    bool trap;              /* removed by xRET */
} Frame;

typedef struct Stack {
    unsigned priv, space;   /* space: of user programs only */
    unsigned base;          /* node below which frames[0] is */
    unsigned depth;
    Frame frames[MAX_DEPTH];
} Stack;

/* A privilege level, or a user program */
typedef struct Context {
    unsigned priv, space;
    Stack *stack;
} Context;

/* Instructions that a node was given in a round */
typedef struct RoundPart {
    unsigned node, count;
} RoundPart;

struct CallStack {
    Profile *profile;
    unsigned top;
    bool merge_spaces;
    GHashTable *contexts;   /* Context */
    GQueue suspended;       /* Stack, the one suspended last first */
    Context *now;
    uint64_t lo, hi;        /* addresses of the innermost frame's function */
    uint8_t itype;          /* how the last instruction was left */
    uint64_t left;          /* ... and where a call returns to */
    /* callstack_mark() */
    bool marked;
    Frame frames_at_mark[MAX_DEPTH];
    unsigned depth_at_mark;
    uint64_t lo_at_mark, hi_at_mark, left_at_mark;
    uint8_t itype_at_mark;
    GArray *round;          /* RoundPart since then */
    bool trapped;           /* a trap has not come to its handler yet */
    FlowTrap trap;
};

static void context_free(gpointer opaque)
{
    Context *c = opaque;

    g_free(c->stack);
    g_free(c);
}

static guint context_hash(gconstpointer key)
{
    const Context *c = key;

    return c->space * 8 + c->priv;
}

static gboolean context_equal(gconstpointer a, gconstpointer b)
{
    const Context *x = a, *y = b;

    return x->priv == y->priv && x->space == y->space;
}

CallStack *callstack_new(Profile *profile, unsigned top, bool merge_spaces)
{
    CallStack *cs = g_new0(CallStack, 1);

    cs->profile = profile;
    cs->top = top;
    cs->merge_spaces = merge_spaces;
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

static FrameKind frame_kind(unsigned priv)
{
    switch (priv) {
    case ETRACE_PRIV_U:
        return FRAME_USER;
    case ETRACE_PRIV_S:
        return FRAME_SUPERVISOR;
    case ETRACE_PRIV_VU:
    case ETRACE_PRIV_VS:
        return FRAME_GUEST;
    default:
        return FRAME_MACHINE;
    }
}

/* The node of everything at one privilege level that nothing called */
static unsigned group_node(CallStack *cs, unsigned priv, unsigned space)
{
    static const char *const names[8] = {
        [ETRACE_PRIV_U] = "U-mode",
        [ETRACE_PRIV_S] = "S-mode",
        [ETRACE_PRIV_M] = "M-mode",
        [ETRACE_PRIV_D] = "debug mode",
        [ETRACE_PRIV_VU] = "VU-mode",
        [ETRACE_PRIV_VS] = "VS-mode",
    };
    Profile *p = cs->profile;
    unsigned node = profile_child(p, cs->top, profile_label(p, FRAME_GROUP,
        names[priv & 7] ? names[priv & 7] : "unknown mode"));

    /* Programs share the kernel, but not their addresses. */
    if (space && !cs->merge_spaces) {
        g_autofree char *name = g_strdup_printf("address space %u", space);

        node = profile_child(p, node, profile_label(p, FRAME_GROUP, name));
    }
    return node;
}

static const char *cause_name(bool interrupt, unsigned cause)
{
    static const char *const exceptions[] = {
        [0] = "instruction address misaligned",
        [1] = "instruction access fault",
        [2] = "illegal instruction",
        [3] = "breakpoint",
        [4] = "load address misaligned",
        [5] = "load access fault",
        [6] = "store address misaligned",
        [7] = "store access fault",
        [8] = "ecall from U",
        [9] = "ecall from S",
        [10] = "ecall from VS",
        [11] = "ecall from M",
        [12] = "instruction page fault",
        [13] = "load page fault",
        [15] = "store page fault",
        [16] = "double trap",
        [18] = "software check",
        [19] = "hardware error",
        [20] = "instruction guest-page fault",
        [21] = "load guest-page fault",
        [22] = "virtual instruction",
        [23] = "store guest-page fault",
    };
    static const char *const interrupts[] = {
        [1] = "supervisor software interrupt",
        [2] = "VS software interrupt",
        [3] = "machine software interrupt",
        [5] = "supervisor timer interrupt",
        [6] = "VS timer interrupt",
        [7] = "machine timer interrupt",
        [9] = "supervisor external interrupt",
        [10] = "VS external interrupt",
        [11] = "machine external interrupt",
        [12] = "guest external interrupt",
        [13] = "counter overflow interrupt",
    };

    if (interrupt) {
        return cause < ARRAY_SIZE(interrupts) ? interrupts[cause] : NULL;
    }
    return cause < ARRAY_SIZE(exceptions) ? exceptions[cause] : NULL;
}

static unsigned trap_frame(CallStack *cs, const FlowTrap *trap)
{
    const char *name = cause_name(trap->interrupt, trap->cause);
    g_autofree char *label = name ? g_strdup_printf("[%s]", name) :
        g_strdup_printf("[%s %u]", trap->interrupt ? "interrupt" :
                        "exception", trap->cause);

    return profile_label(cs->profile, FRAME_TRAP, label);
}

static Stack *new_stack(CallStack *cs, unsigned priv, unsigned space)
{
    Stack *st = g_new(Stack, 1);

    st->priv = priv;
    st->space = space;
    st->base = group_node(cs, priv, space);
    st->depth = 0;
    return st;
}

/* A kernel or a monitor goes on with its stack when it switches spaces. */
static bool is_user(unsigned priv)
{
    return priv == ETRACE_PRIV_U || priv == ETRACE_PRIV_VU;
}

static Context *get_context(CallStack *cs, unsigned priv, unsigned space)
{
    Context key = { .priv = priv, .space = is_user(priv) ? space : 0 };
    Context *c = g_hash_table_lookup(cs->contexts, &key);

    if (!c) {
        c = g_new(Context, 1);
        *c = key;
        c->stack = new_stack(cs, key.priv, key.space);
        g_hash_table_add(cs->contexts, c);
    }
    return c;
}

static unsigned innermost(const Stack *st)
{
    return st->depth ? st->frames[st->depth - 1].node : st->base;
}

static const ProfileFrame *frame_of(const CallStack *cs, unsigned node)
{
    return profile_frame(cs->profile, profile_node(cs->profile, node)->frame);
}

/* Execution is at @pc, in the innermost frame: how far does that extend? */
static void look_at_function(CallStack *cs, uint64_t pc)
{
    const ProfileFrame *f = frame_of(cs, innermost(cs->now->stack));

    if (f->symbol) {
        cs->lo = f->lo;
        cs->hi = f->hi;
    } else {
        symbols_find(cs->profile->symbols, pc, &cs->lo, &cs->hi);
    }
}

static void push(CallStack *cs, unsigned frame, uint64_t ret, bool trap)
{
    Stack *st = cs->now->stack;
    unsigned node;

    if (st->depth == MAX_DEPTH) {
        st->depth = 0;
    }
    node = profile_child(cs->profile, innermost(st), frame);
    /* Padding, too: frames are compared as they are. */
    memset(&st->frames[st->depth], 0, sizeof(st->frames[0]));
    st->frames[st->depth].ret = ret;
    st->frames[st->depth].node = node;
    st->frames[st->depth].trap = trap;
    st->depth++;
}

/* @pc is where the function was called, if @called, or just somewhere in it */
static void push_function(CallStack *cs, uint64_t pc, bool called,
                          uint64_t ret)
{
    push(cs, profile_function(cs->profile, frame_kind(cs->now->priv), pc,
                              called), ret, false);
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
    c->stack = st ? st : new_stack(cs, c->priv, c->space);
}

/* Can @st be in use in this context? */
static bool fits(const Context *c, const Stack *st)
{
    return st->priv == c->priv && st->space == c->space;
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
 * now: the kernel switched tasks, or a program its coroutines. Since when,
 * there is no telling: the innermost functions are those that switch, and may
 * be the same ones on both stacks. But if that stack was in use before, then
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
        const ProfileFrame *f = frame_of(cs, st->frames[i - 2].node);

        if (f->symbol && pc > f->lo && pc < f->hi) {
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
static void enter_handler(CallStack *cs, const FlowRun *run, unsigned space)
{
    Context *from = cs->now;
    unsigned frame = trap_frame(cs, &cs->trap);

    cs->trapped = false;
    cs->now = get_context(cs, run->priv, space);
    if (from && from != cs->now) {
        if (cs->now->stack->depth) {
            resume_stack(cs, NULL);     /* it never returned */
        }
        cs->now->stack->base = profile_child(cs->profile,
                                             innermost(from->stack), frame);
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
static void change_context(CallStack *cs, unsigned priv, unsigned space)
{
    if (cs->now && cs->itype == ETRACE_ITYPE_TRAP_RETURN) {
        /* Whoever returns to another level has nothing left to do. */
        cs->now->stack->depth = 0;
    }
    cs->now = get_context(cs, priv, space);
    cs->marked = false;
}

/* Bring the stack to where execution goes on. */
static void arrive(CallStack *cs, const FlowRun *run, unsigned space)
{
    if (cs->trapped) {
        enter_handler(cs, run, space);
        look_at_function(cs, run->pc);
    } else if (!cs->now || cs->now->priv != run->priv ||
               (is_user(run->priv) && cs->now->space != space)) {
        change_context(cs, run->priv, space);
        look_at_function(cs, run->pc);
    } else if (cs->itype == ETRACE_ITYPE_TRAP_RETURN) {
        trap_return(cs, run->pc);
        look_at_function(cs, run->pc);
    } else if (cs->itype >= ETRACE_ITYPE_UNINFERABLE_CALL) {
        follow_jump(cs, run->pc);
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

void callstack_run(CallStack *cs, const FlowRun *run, unsigned space)
{
    if (run->count) {
        RoundPart part = { .count = run->count };

        arrive(cs, run, space);
        part.node = innermost(cs->now->stack);
        profile_node(cs->profile, part.node)->self += part.count;
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
                    unsigned space)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t insns = 0;

        callstack_run(cs, &runs[i], space);
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
            profile_node(cs->profile, innermost(cs->now->stack))->self +=
                insns;
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

bool callstack_repeat(CallStack *cs, uint64_t times)
{
    const Stack *st = cs->now ? cs->now->stack : NULL;

    /* What is not the same now as it was then goes on changing. */
    if (!cs->marked || cs->trapped || st->depth != cs->depth_at_mark ||
        cs->itype != cs->itype_at_mark || cs->left != cs->left_at_mark ||
        cs->lo != cs->lo_at_mark || cs->hi != cs->hi_at_mark ||
        memcmp(st->frames, cs->frames_at_mark,
               st->depth * sizeof(st->frames[0]))) {
        return false;
    }
    for (guint i = 0; i < cs->round->len; i++) {
        const RoundPart *part = &g_array_index(cs->round, RoundPart, i);

        profile_node(cs->profile, part->node)->self += times * part->count;
    }
    cs->marked = false;
    return true;
}

void callstack_trap(CallStack *cs, const FlowTrap *trap, unsigned space)
{
    FlowRun target = { .pc = trap->epc, .priv = trap->priv };

    /* The target of a jump may be all that there was at its place. */
    if (cs->itype && trap->epc_known && !cs->trapped) {
        arrive(cs, &target, space);
    }
    cs->marked = false;
    /* If another trap hit the handler's first instruction, the last counts. */
    cs->trap = *trap;
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
