/*
 * Exception loops: a hart that takes the same exception again and again
 *
 * A stack pointer that leads nowhere, or a trap vector that does, and the
 * handler takes an exception itself: few instructions retire, or none, while
 * the trace grows. What a report has of them says little.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TRAP_LOOP_H
#define ETRACE_TRAP_LOOP_H

#include "flow/flow.h"

/* The same exception so often in a row; all 0 at first */
typedef struct TrapRow {
    FlowTrap trap;
    uint64_t times;
    uint64_t since;             /* instructions before the first one */
} TrapRow;

/* Of a hart */
typedef struct TrapLoop {
    TrapRow now, longest;
    uint64_t insns;             /* before the last trap */
} TrapLoop;

/* The hart takes @trap behind @insns instructions of its own. */
void trap_loop_put(TrapLoop *loop, const FlowTrap *trap, uint64_t insns);

/*
 * What there is to say of @hart's longest loop, for the caller to free; NULL:
 * nothing, exceptions were no more than a program may have.
 */
char *trap_loop_text(const TrapLoop *loop, unsigned hart);

#endif /* ETRACE_TRAP_LOOP_H */
