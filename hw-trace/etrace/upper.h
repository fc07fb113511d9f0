/*
 * Sequentially inferable jumps of which the hart could not know: their register
 * is loaded where one block ends, and the jump begins the next one
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_UPPER_H
#define HW_TRACE_ETRACE_UPPER_H

#include "etrace.h"

/* The register that the last block ends in loading with upper bits */
typedef struct ETraceUpper {
    unsigned rd;                /* 0: none */
    uint64_t end;               /* of that block */
} ETraceUpper;

/* Is @b, which comes next, a jump through that register? */
static inline bool etrace_upper_is_sijump(const ETraceUpper *u,
                                          const ETraceBlock *b)
{
    return !etrace_itype_is_trap(b->itype) && b->itype != ETRACE_ITYPE_NONE &&
           b->cause && b->cause == u->rd && b->iaddr == u->end;
}

/* @b, behind which something else comes, */
static inline void etrace_upper_keep(ETraceUpper *u, const ETraceBlock *b)
{
    u->rd = b->itype == ETRACE_ITYPE_NONE ? b->cause : 0;
    u->end = b->iaddr + 2 * b->iretire;
}

/* ... or @h, the last of some histories, is the last block. */
static inline void etrace_upper_keep_history(ETraceUpper *u,
                                             const ETraceHistory *h)
{
    u->rd = h->itype == ETRACE_ITYPE_NONE ? h->irdepth : 0;
    u->end = h->next;
}

/*
 * @b comes next, and is the last block then. Returns what the encoder is to
 * get: @b, or in @room the same block as a sequentially inferable jump.
 */
static inline const ETraceBlock *etrace_upper_next(ETraceUpper *u,
                                                   const ETraceBlock *b,
                                                   ETraceBlock *room)
{
    if (etrace_upper_is_sijump(u, b)) {
        *room = *b;
        room->flags |= ETRACE_BLOCK_SIJUMP;
        b = room;
    }
    etrace_upper_keep(u, b);
    return b;
}

#endif /* HW_TRACE_ETRACE_UPPER_H */
