/*
 * Encoders that report where a block ends instead of where it begins
 *
 * An address that a packet reports is that of the instruction that a jump leads
 * to. An encoder that gets blocks from its hart may have the last instruction's
 * at hand, and report that. Behind a return the rest is known: where its call
 * left off, up to that instruction. Elsewhere nobody knows.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_FLOW_ENDS_H
#define ETRACE_FLOW_ENDS_H

#include <stdint.h>

typedef struct Flow Flow;

#define FLOW_ENDS_DEPTH 64

/* Open calls, and how many blocks were corrected by them */
typedef struct FlowEnds {
    uint64_t link[FLOW_ENDS_DEPTH];     /* the newest ones, modulo */
    uint64_t calls;             /* pushed, and not popped */
    uint64_t filled;            /* blocks that got their beginning back */
    uint64_t open;              /* jumps behind which one may be missing */
} FlowEnds;

/* A call is to return to @link. */
static inline void flow_ends_call(FlowEnds *e, uint64_t link)
{
    e->link[e->calls++ % FLOW_ENDS_DEPTH] = link;
}

/*
 * The jump at f->pc led to where a packet says, @to, which has not been
 * reported yet. Reports what ran before it in its block, if that is known.
 */
void flow_ends_arrive(Flow *f, uint64_t to);

#endif /* ETRACE_FLOW_ENDS_H */
