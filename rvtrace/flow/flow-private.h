/*
 * Instruction flow: what its parts share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_FLOW_PRIVATE_H
#define ETRACE_FLOW_PRIVATE_H

#include "flow/flow-report.h"

/* What a walk from one reported instruction to the next looks for. */
typedef struct Goal {
    uint64_t address;
    /* stop where the path comes to address with all branches processed */
    bool on_path;
    /* an uninferable jump leads to address, and ends the walk */
    bool by_updiscon;
    /* ... but it must be a return from a trap */
    bool by_xret;
    /* stop at the last branch; whether it is left is not known yet */
    bool last_branch;
    /* no branches can be on the way */
    bool no_branches;
    uint8_t target_priv;    /* privilege at the target of the jump */
    /* branches that remain when address is reached: 1 if it is a branch */
    unsigned remain;
    /*
     * The packet counts returns: in 2.0 the depth of the stack when a return
     * goes elsewhere, in draft 2.1 implicit returns before this address
     */
    bool irreport;
    unsigned ircount;
} Goal;

typedef enum WalkResult {
    WALK_ERROR,
    WALK_ON_PATH,
    WALK_UPDISCON,
    WALK_LAST_BRANCH,
} WalkResult;

/* A place of a walk that is remembered; see flow-loop.c */
typedef struct FlowMark {
    uint64_t pc;
    uint64_t steps, next;   /* places so far, and the next to be remembered */
    uint64_t pushes, pops, learnt, branches;    /* as in Flow */
    unsigned irets, depth;
    bool has_stack;
    ETraceReturnStack stack;
} FlowMark;

static inline bool flow_is_2_1(const Flow *f)
{
    return f->params.wire_format == ETRACE_WIRE_2_1_DRAFT;
}

static inline bool flow_mode(const Flow *f, unsigned ioption)
{
    return f->params.ioptions & ioption;
}

/* flow-packet.c */

/* Stack, predictor and cache of the sizes that the parameters say, empty */
void flow_init_history(Flow *f);

/* An instruction was left as @itype: if that is a call, it returns to @link. */
static inline void flow_push_call(Flow *f, unsigned itype, uint64_t link)
{
    if (itype != ETRACE_ITYPE_INFERABLE_CALL &&
        itype != ETRACE_ITYPE_UNINFERABLE_CALL) {
        return;
    }
    if (flow_mode(f, ETRACE_IOPT_IMPLICIT_RETURN) && f->stack.max) {
        etrace_return_stack_push(&f->stack, link);
        f->pushes++;
    }
    if (G_UNLIKELY(f->ends)) {
        flow_ends_call(f->ends, link);
    }
}

/* flow-loop.c */

static inline void flow_mark_init(FlowMark *m)
{
    m->steps = 0;
    m->next = 1;
}

/*
 * The path jumps to @pc; no branch was passed since flow_mark_init(). Returns
 * true if it has been there and goes round for ever.
 */
bool flow_endless(const Flow *f, const Goal *g, FlowMark *m, uint64_t pc);

/*
 * The path goes on at @pc, behind a branch, and every branch since
 * flow_mark_init() was as predicted. If this is a loop, have the consumer
 * repeat it, or else note that nobody pays for it.
 */
void flow_repeat(Flow *f, FlowMark *m, uint64_t pc);

/* From that many predicted branches on, loops are looked for. */
#define FLOW_REPEAT_MIN 64

/* flow-walk.c */

/*
 * Follow the path from f->pc, which was reported already, to @g. On return,
 * f->pc is the last instruction that was reported.
 */
WalkResult flow_walk(Flow *f, const Goal *g);

/*
 * Will the branch at f->pc, the only one that is left, be taken? The outcome
 * is put where that of a branch in a branch map is.
 */
void flow_settle_branch(Flow *f);

/*
 * Is the uninferable jump at @pc, with the instruction at @prev retired
 * before it, sequentially inferable? Returns true and its target.
 */
bool flow_sijump(Flow *f, uint64_t prev, uint64_t pc, uint64_t *target);

#endif /* ETRACE_FLOW_PRIVATE_H */
