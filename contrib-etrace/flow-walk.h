/*
 * Instruction flow: what the parts of a walk share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_FLOW_WALK_H
#define ETRACE_FLOW_WALK_H

#include "flow-paths.h"
#include "flow-private.h"

/* A walk: from line to line */
typedef struct Walk {
    Flow *f;
    const Goal *g;
    CodePage *page;         /* of the line */
    uint64_t vpage;

    /* The line of instructions, and what retired before it */
    uint64_t pc;
    const uint8_t *code;
    unsigned count;
    bool first;             /* its first instruction was reported before */
    bool prev_known;
    uint64_t prev;
    /* The instruction that ends it, and what is behind that in memory */
    const CodeEnd *end;
    CodeEnd crossing;       /* ... if it ends on the next page */
    uint64_t end_pc, behind;
    uint64_t next;          /* where it leads */
    bool jumped;            /* not by a branch, nor just to what is behind */

    uint64_t insns;         /* since the last branch */
    FlowMark jumps, branches;

    /* If the path is to be remembered: */
    bool keep;
    uint64_t flushes;       /* when it began: its runs are all there still */
    FlowPath path;
} Walk;

/*
 * Go to the page of pc. Returns false if there is none. Unless the image is
 * crowded, the consumer is not called.
 */
bool flow_walk_turn_page(Walk *w);

/* flow-hurry.c */

/*
 * Lines that nothing can happen in: more branches are left than one, so that
 * the walk does not end. This is most of what a walk does, and does the same
 * as walk_lines(), which is left what does not fit. The state that each line
 * changes is in local variables, for speed.
 */
void flow_walk_hurry(Walk *w);

/* flow-along.c */

/*
 * Paths are kept where all branches are told one by one, and nothing but these
 * decides about the way: no stack and no predictor.
 */
bool flow_may_keep(const Flow *f, const Goal *g);

/*
 * Go along a path that is known. Returns WALK_ERROR, and has done nothing, if
 * there is none, or if it is not quite what the packet says.
 */
WalkResult flow_walk_path(Flow *f, const Goal *g);

/* The packet tells where the jump that was reported last led. */
WalkResult flow_arrive(Flow *f, const Goal *g);

#endif /* ETRACE_FLOW_WALK_H */
