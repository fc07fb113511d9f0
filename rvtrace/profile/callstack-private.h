/*
 * Call stacks: what callstack.c and callstack-names.c share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_CALLSTACK_PRIVATE_H
#define ETRACE_CALLSTACK_PRIVATE_H

#include "profile/callstack.h"

/* Frames of a stack; beyond, those in its middle are dropped. */
#define MAX_DEPTH (1u << 18)
/* Frames that all stacks of a hart have room for together, roughly */
#define MAX_FRAMES (1u << 22)
/* Functions that a recursion which is folded consists of, at most */
#define FOLD_CYCLE 64
/* Stacks that are remembered while others are in use */
#define MAX_SUSPENDED 256
/* Stretches of a loop's round that are remembered */
#define MAX_ROUND 65536
/* Innermost frames that a round may leave */
#define MAX_MARKED 512
/* Functions that switching stacks is made of, at most */
#define MAX_SWITCH_DEPTH 4

/* What the function of a frame was entered by, and what takes it off again */
typedef enum FrameEntry {
    ENTRY_CALL,             /* a return */
    ENTRY_TRAP,             /* an exception in the same level: xRET */
    ENTRY_SIGNAL,           /* xRET of another level: another one */
    ENTRY_INTERRUPT,        /* an interrupt in the same level: xRET */
    FRAME_NR_ENTRIES,
} FrameEntry;

typedef struct Frame {
    uint64_t ret;           /* where its caller goes on; 0: not known */
    uint64_t lo, hi;        /* of a function with a symbol, else 0: where */
    unsigned node;
    uint8_t entry;          /* FrameEntry */
} Frame;

/* What a trap into another privilege level interrupted */
typedef struct Interrupted {
    unsigned priv, space;   /* the key of its context */
    uint32_t tid;
    uint64_t pc;            /* where it goes on; 0: nothing is known of it */
    const Task *task;
} Interrupted;

typedef struct Stack {
    unsigned priv, space;   /* space: of user programs only */
    uint32_t tid;           /* 0: not known, or firmware */
    unsigned base;          /* node below which frames[0] is */
    bool trapped;           /* ... is of a stack that was interrupted */
    const Task *task;       /* ... or else of the groups of this task */
    Interrupted below;      /* ... and whose node that is */
    /*
     * While something else runs: where the innermost function was left, by a
     * trap or by a call of what is not traced; 0: that is not known
     */
    uint64_t epc;
    bool called;            /* it was a call; else a trap */
    bool exact;             /* it was an interrupt: it goes on just there */
    unsigned depth, room;
    Frame *frames;
} Stack;

/* A privilege level, for each user program and each task that is known */
typedef struct Context {
    unsigned priv, space;
    uint32_t tid;
    Stack *stack;
} Context;

/* What was found for an address; see find_function() */
typedef struct KnownFunction {
    uint64_t pc;
    uint64_t lo, hi;
    unsigned generation;    /* of the image; 0: the entry is empty */
    unsigned space;
    unsigned frame;
    uint8_t priv;
    bool called, symbol;
    bool entry;             /* ... and it begins here */
} KnownFunction;

#define KNOWN_FUNCTIONS 4096

/* Where a function that jumps away has its stack pointer from */
typedef enum SpOrigin {
    SP_UNKNOWN,
    SP_KEPT,                /* it has computed it: the stack is the same */
    SP_TAKEN,               /* from memory or an argument: it may be another */
} SpOrigin;

/* What is known of a jump; see callstack_jump() */
typedef struct KnownJump {
    uint64_t end;           /* address behind it */
    unsigned generation, space;
    uint8_t priv;
    bool through_t0;
    SpOrigin sp;
} KnownJump;

#define KNOWN_JUMPS 256

/* Counts of addresses that suspended stacks wait for; see callstack_awaits() */
#define AWAITED_BITS 13

/* Instructions that a node was given in a round */
typedef struct RoundPart {
    unsigned node, count;
} RoundPart;

struct CallStack {
    Profile *profile;
    unsigned top;
    CallStackOptions options;
    CallStackSite site;     /* of what is being processed */
    /* The site's task or space is another one than when @now was chosen. */
    bool strayed;
    KnownFunction known[KNOWN_FUNCTIONS];
    KnownJump jumps[KNOWN_JUMPS];
    GHashTable *contexts;   /* Context */
    GQueue suspended;       /* Stack, the one suspended last first */
    uint16_t awaited[1u << AWAITED_BITS];
    unsigned nr_frames;     /* that all stacks have room for */
    Context *now;
    uint64_t lo, hi;        /* addresses of the innermost frame's function */
    uint8_t itype;          /* how the last instruction was left */
    uint64_t left;          /* ... and where a call returns to */
    /* callstack_mark() */
    bool marked;
    Frame frames_at_mark[MAX_MARKED];   /* the innermost ones */
    unsigned depth_at_mark;
    unsigned kept;          /* frames below them: the round leaves those */
    uint64_t lo_at_mark, hi_at_mark, left_at_mark;
    uint8_t itype_at_mark;
    GArray *round;          /* RoundPart since then */
    bool ignored;           /* what happens is not selected */
    uint64_t insns;         /* so far, of those that are */
    unsigned reported_node; /* of the last moment; 0: there was none */
    const Task *reported_task;
    bool trapped;           /* a trap has not come to its handler yet */
    FlowTrap trap;
    const Task *task_of_trap;
    bool trapped_twice;     /* that hit the first instruction of a handler */
    FlowTrap first;         /* ... of this one */
    const Task *task_of_first;
    bool gap;               /* what ran since is not traced */
    bool fenced;            /* ... or else nothing ran, most likely */
};

static inline unsigned innermost_node(const Stack *st)
{
    return st->depth ? st->frames[st->depth - 1].node : st->base;
}

static inline Frame *innermost_frame(const Stack *st)
{
    return st->depth ? &st->frames[st->depth - 1] : NULL;
}

/* Is it of a trap into the same level? */
static inline bool is_trap(const Frame *f)
{
    return f->entry == ENTRY_TRAP || f->entry == ENTRY_INTERRUPT;
}

/* Frames up to that of the innermost trap into the same level; 0: none */
static inline unsigned depth_of_trap(const Stack *st)
{
    unsigned depth = st->depth;

    while (depth && !is_trap(&st->frames[depth - 1])) {
        depth--;
    }
    return depth;
}

/* The jump, return or xRET that ends at @end; valid until the next call */
const KnownJump *callstack_jump(CallStack *cs, uint64_t end);

/* callstack-stack.c: stacks, and which one is in use */

/* Whose is what runs at @priv? The firmware works for whoever calls it. */
static inline const Task *callstack_task(const CallStack *cs, unsigned priv)
{
    const Task *task = cs->site.task;

    return task && (!priv_is_machine(priv) ||
                    task->kind == TASK_KNOWN_IN_M_MODE) ? task : NULL;
}

/* Context.tid of a task that is known: the idle ones of Linux have number 0. */
static inline uint32_t callstack_task_key(uint32_t tid)
{
    return tid + 1;
}

/* What distinguishes the context of what runs now, at @priv, from others */
static inline Context callstack_key(const CallStack *cs, unsigned priv)
{
    const Task *task = callstack_task(cs, priv);

    return (Context) {
        .priv = priv,
        /* A kernel or a monitor keeps its stack when it switches spaces. */
        .space = priv_is_user(priv) ? cs->site.space : 0,
        .tid = task && task_is_known(task) ? callstack_task_key(task->tid) :
                                             0,
    };
}

static inline bool callstack_same_context(const Context *a, const Context *b)
{
    return a->priv == b->priv && a->space == b->space && a->tid == b->tid;
}

Context *callstack_context(CallStack *cs, unsigned priv);
GHashTable *callstack_contexts(CallStack *cs);

/*
 * Until Linux says which task runs on a hart, that is the idle task. If it is
 * told of for the first time, what ran as nobody's at @priv is its context.
 * Returns whether that is the current one.
 */
bool callstack_introduce(CallStack *cs, unsigned priv);

/* May there be another stack of @depth frames? */
bool callstack_has_room(const CallStack *cs, unsigned depth);

/* An empty stack with room for @depth frames */
Stack *callstack_stack_new(CallStack *cs, unsigned depth);
void callstack_stack_free(CallStack *cs, Stack *st);
void callstack_forget(CallStack *cs);
/* Of suspended stacks, keep the last MAX_SUSPENDED. */
void callstack_bound_suspended(CallStack *cs);

/* The profile is crowded: make room, but keep all stacks that there are. */
void callstack_merge_rare(CallStack *cs);

/* Another innermost function of the current stack; see FrameEntry */
Frame *callstack_push(CallStack *cs, unsigned frame, uint64_t ret,
                      FrameEntry entry);

/* ... the one at @pc, which begins there if @called */
void callstack_push_function(CallStack *cs, uint64_t pc, bool called,
                             uint64_t ret);

/* Whatever function is the innermost one, it is another one now. */
void callstack_replace(CallStack *cs, uint64_t pc, bool called);

/* All but the @depth outermost frames of the current stack are left. */
static inline void callstack_cut(CallStack *cs, unsigned depth)
{
    cs->now->stack->depth = depth;
    if (depth < cs->kept) {
        cs->marked = false;
    }
}

/*
 * Take up @st, a suspended stack, or start a new one if it is NULL. The
 * current one is kept; it may be returned to.
 */
void callstack_resume(CallStack *cs, Stack *st);

/* @st is the last one that will be taken up, and not in use now. */
void callstack_suspend_behind(CallStack *cs, Stack *st);

/*
 * May one of the MAX_SWITCH_DEPTH innermost functions of a suspended stack,
 * which can be in use in this context, return to @pc? If this says no, none
 * does. There may be hundreds of stacks, and a program without symbols asks
 * whenever it jumps.
 */
bool callstack_awaits(const CallStack *cs, uint64_t pc);

/*
 * Take up the stack suspended last of which @found says so, if there is one:
 * all but its @found(...) - 1 outermost frames are left then.
 */
typedef unsigned StackFound(const Stack *st, unsigned round, uint64_t pc);
bool callstack_resume_found(CallStack *cs, StackFound *found, unsigned rounds,
                            uint64_t pc);

/* callstack-transfer.c: what the way execution took says of the stack */

/* Within a context: to @pc, behind an instruction that was left as @itype */
void callstack_transfer(CallStack *cs, unsigned itype, uint64_t left,
                        uint64_t pc);

/* An xRET leads to another level. */
void callstack_end_handler(CallStack *cs);

/*
 * To @pc, in the current context, whose stack something else interrupted that
 * is over: an xRET of another level, or what is not traced.
 */
void callstack_go_on(CallStack *cs, uint64_t pc);

/* A handler begins at @pc in place of what was interrupted. */
void callstack_enter_handler(CallStack *cs, uint64_t pc);

/* The node of everything at @priv that nothing called */
unsigned callstack_group(CallStack *cs, unsigned priv);

/* The frame of a trap within a privilege level, or into another one */
unsigned callstack_trap_frame(CallStack *cs, const FlowTrap *trap);

/*
 * The function at @pc, at the current privilege level; @called: that is where
 * it begins. Valid until the next call.
 */
const KnownFunction *callstack_function(CallStack *cs, uint64_t pc,
                                        bool called);

#endif /* ETRACE_CALLSTACK_PRIVATE_H */
