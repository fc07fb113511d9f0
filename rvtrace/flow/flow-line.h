/*
 * Instruction flow: where a walk stands
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_FLOW_LINE_H
#define ETRACE_FLOW_LINE_H

#include "flow/flow-paths.h"
#include "flow/flow-private.h"

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
    uint64_t moves;         /* pushes and pops until then */
    unsigned passed;        /* branches since then */
    FlowPath path;
} Walk;

/*
 * Go to the page of pc. Returns false if there is none. Unless the image is
 * crowded, the consumer is not called.
 */
bool flow_line_turn_page(Walk *w);

/* The walk passes the branch at @pc. */
static inline void flow_line_keep_branch(Walk *w, uint64_t pc)
{
    if (w->passed < FLOW_PATH_LEARNT) {
        w->path.at[w->passed] = pc;
    }
    w->passed++;
}

/* The path leads over a page: it is known only as long as that stays. */
void flow_line_keep_page(Walk *w, uint64_t vpage, const CodePage *page);

#endif /* ETRACE_FLOW_LINE_H */
