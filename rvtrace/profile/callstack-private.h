/*
 * Call stacks: what callstack.c and callstack-names.c share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_CALLSTACK_PRIVATE_H
#define ETRACE_CALLSTACK_PRIVATE_H

#include "profile/callstack.h"

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
    uint64_t lo, hi;        /* of a function with a symbol, else 0: where */
    unsigned node;
    bool trap;              /* removed by xRET */
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
    unsigned depth;
    Frame frames[MAX_DEPTH];
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
} KnownFunction;

#define KNOWN_FUNCTIONS 4096

/* Instructions that a node was given in a round */
typedef struct RoundPart {
    unsigned node, count;
} RoundPart;

struct CallStack {
    Profile *profile;
    unsigned top;
    CallStackOptions options;
    CallStackSite site;     /* of what is being processed */
    KnownFunction known[KNOWN_FUNCTIONS];
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
    bool ignored;           /* what happens is not selected */
    uint64_t insns;         /* so far, of those that are */
    unsigned reported_node; /* of the last moment; 0: there was none */
    const Task *reported_task;
    bool trapped;           /* a trap has not come to its handler yet */
    FlowTrap trap;
    const Task *task_of_trap;
};

static inline bool is_firmware(unsigned priv)
{
    return priv == ETRACE_PRIV_M || priv == ETRACE_PRIV_D;
}

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
