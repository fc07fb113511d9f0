/*
 * Call stacks from an instruction flow
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "callstack.h"

/* Deeper than this, a stack is rather a sign of calls that never return. */
#define MAX_DEPTH 512

typedef struct Frame {
    uint64_t ret;           /* where its caller goes on */
    unsigned node;
    bool trap;              /* removed by xRET */
} Frame;

/* A stack: one privilege level in one address space */
typedef struct Context {
    unsigned priv, space;
    unsigned base;          /* node below which frames[0] is */
    unsigned depth;
    Frame frames[MAX_DEPTH];
} Context;

struct CallStack {
    Profile *profile;
    unsigned top;
    GHashTable *contexts;   /* Context */
    Context *now;
    uint64_t lo, hi;        /* addresses of the innermost frame's function */
    uint8_t itype;          /* how the last instruction was left */
    uint64_t left;          /* ... and where a call returns to */
    bool trapped;           /* a trap has not come to its handler yet */
    FlowTrap trap;
};

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

CallStack *callstack_new(Profile *profile, unsigned top)
{
    CallStack *cs = g_new0(CallStack, 1);

    cs->profile = profile;
    cs->top = top;
    cs->contexts = g_hash_table_new_full(context_hash, context_equal, g_free,
                                         NULL);
    return cs;
}

void callstack_free(CallStack *cs)
{
    g_hash_table_unref(cs->contexts);
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
static unsigned group_node(CallStack *cs, const Context *c)
{
    static const char *const names[8] = {
        [ETRACE_PRIV_U] = "U-mode",
        [ETRACE_PRIV_S] = "S-mode",
        [ETRACE_PRIV_M] = "M-mode",
        [ETRACE_PRIV_D] = "debug mode",
        [ETRACE_PRIV_VU] = "VU-mode",
        [ETRACE_PRIV_VS] = "VS-mode",
    };
    const char *name = names[c->priv & 7] ? names[c->priv & 7] : "unknown";
    g_autofree char *with_space = NULL;

    /* Programs share the kernel, but not their addresses. */
    if (c->space && (c->priv == ETRACE_PRIV_U || c->priv == ETRACE_PRIV_VU)) {
        with_space = g_strdup_printf("%s, address space %u", name, c->space);
        name = with_space;
    }
    return profile_child(cs->profile, cs->top,
                         profile_label(cs->profile, FRAME_GROUP, name));
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

static Context *get_context(CallStack *cs, unsigned priv, unsigned space)
{
    Context key, *c;

    /* Only what makes up the key is looked at. */
    key.priv = priv;
    key.space = space;
    c = g_hash_table_lookup(cs->contexts, &key);
    if (!c) {
        c = g_new(Context, 1);
        c->priv = priv;
        c->space = space;
        c->depth = 0;
        c->base = group_node(cs, c);
        g_hash_table_add(cs->contexts, c);
    }
    return c;
}

static unsigned innermost(const Context *c)
{
    return c->depth ? c->frames[c->depth - 1].node : c->base;
}

/* The innermost frame has changed. */
static void look_at_function(CallStack *cs)
{
    const ProfileFrame *f = profile_frame(cs->profile,
        profile_node(cs->profile, innermost(cs->now))->frame);

    cs->lo = f->lo;
    cs->hi = f->hi;
}

static void push(CallStack *cs, unsigned frame, uint64_t ret, bool trap)
{
    Context *c = cs->now;
    unsigned node;

    if (c->depth == MAX_DEPTH) {
        c->depth = 0;
    }
    node = profile_child(cs->profile, innermost(c), frame);
    c->frames[c->depth++] = (Frame) {
        .ret = ret, .node = node, .trap = trap,
    };
}

static void push_function(CallStack *cs, uint64_t pc, uint64_t ret)
{
    push(cs, profile_function(cs->profile, frame_kind(cs->now->priv), pc),
         ret, false);
}

/* Nothing is known but where we are. */
static void start_over(CallStack *cs, uint64_t pc)
{
    Context *c = cs->now;

    c->depth = 0;
    c->base = group_node(cs, c);
    push_function(cs, pc, 0);
}

/* Whatever function it was, it is another one now: a tail call, mostly. */
static void replace_function(CallStack *cs, uint64_t pc)
{
    Context *c = cs->now;
    uint64_t ret = 0;

    if (c->depth && !c->frames[c->depth - 1].trap) {
        ret = c->frames[--c->depth].ret;
    }
    push_function(cs, pc, ret);
}

/* Remove frames up to the one whose caller goes on at @pc. */
static bool return_to(Context *c, uint64_t pc)
{
    for (unsigned i = c->depth; i > 0; i--) {
        if (c->frames[i - 1].trap) {
            break;
        }
        if (c->frames[i - 1].ret == pc && pc) {
            c->depth = i - 1;
            return true;
        }
    }
    return false;
}

/* longjmp: @pc is inside of a function that waits for a call to return. */
static void unwind_into(CallStack *cs, uint64_t pc)
{
    Context *c = cs->now;

    for (unsigned i = c->depth; i > 1; i--) {
        const ProfileFrame *f = profile_frame(cs->profile,
            profile_node(cs->profile, c->frames[i - 2].node)->frame);

        if (c->frames[i - 2].trap) {
            break;
        }
        if (f->symbol && pc > f->lo && pc < f->hi) {
            c->depth = i - 1;
            return;
        }
    }
}

static void trap_return(CallStack *cs)
{
    Context *c = cs->now;

    for (unsigned i = c->depth; i > 0; i--) {
        if (c->frames[i - 1].trap) {
            c->depth = i - 1;
            return;
        }
    }
}

/* The handler's first instruction is about to be executed. */
static void enter_handler(CallStack *cs, const FlowRun *run, unsigned space)
{
    Context *from = cs->now;
    unsigned frame = trap_frame(cs, &cs->trap);

    cs->trapped = false;
    cs->now = get_context(cs, run->priv, space);
    if (from && from != cs->now) {
        cs->now->base = profile_child(cs->profile, innermost(from), frame);
        cs->now->depth = 0;
    } else {
        push(cs, frame, 0, true);
    }
    push_function(cs, run->pc, 0);
}

/* The last instruction was a jump: where did it lead to? */
static void follow_jump(CallStack *cs, uint64_t pc)
{
    switch (cs->itype) {
    case ETRACE_ITYPE_UNINFERABLE_CALL:
    case ETRACE_ITYPE_INFERABLE_CALL:
        push_function(cs, pc, cs->left);
        break;
    case ETRACE_ITYPE_RETURN:
    case ETRACE_ITYPE_COROUTINE_SWAP:
        if (!return_to(cs->now, pc)) {
            start_over(cs, pc);
        }
        break;
    case ETRACE_ITYPE_UNINFERABLE_JUMP:
    case ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP:
        if (pc < cs->lo || pc >= cs->hi) {
            unwind_into(cs, pc);
        }
        break;
    default:
        break;
    }
}

void callstack_run(CallStack *cs, const FlowRun *run, unsigned space)
{
    if (run->count) {
        if (cs->trapped) {
            enter_handler(cs, run, space);
            look_at_function(cs);
        } else if (G_UNLIKELY(!cs->now || cs->now->priv != run->priv ||
                              cs->now->space != space)) {
            cs->now = get_context(cs, run->priv, space);
            look_at_function(cs);
        } else if (cs->itype == ETRACE_ITYPE_TRAP_RETURN) {
            trap_return(cs);
            look_at_function(cs);
        } else if (cs->itype >= ETRACE_ITYPE_UNINFERABLE_CALL) {
            follow_jump(cs, run->pc);
            look_at_function(cs);
        }
        if (!cs->now->depth) {
            start_over(cs, run->pc);
            look_at_function(cs);
        } else if (run->pc < cs->lo || run->pc >= cs->hi) {
            replace_function(cs, run->pc);
            look_at_function(cs);
        }
        profile_node(cs->profile, innermost(cs->now))->self += run->count;
        cs->itype = ETRACE_ITYPE_NONE;
    }
    if (run->itype) {
        cs->itype = run->itype;
        cs->left = run->end;
    }
}

void callstack_trap(CallStack *cs, const FlowTrap *trap)
{
    /* If another trap hit the handler's first instruction, the last counts. */
    cs->trap = *trap;
    cs->trapped = true;
    cs->itype = ETRACE_ITYPE_NONE;
}

void callstack_lost(CallStack *cs)
{
    g_hash_table_remove_all(cs->contexts);
    cs->now = NULL;
    cs->trapped = false;
    cs->itype = ETRACE_ITYPE_NONE;
}
