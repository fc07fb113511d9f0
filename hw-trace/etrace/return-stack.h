/*
 * E-Trace return address stack, as encoder and decoder keep it
 *
 * Section 3.2.5, "Implicit return mode": calls push the address behind them,
 * returns take the newest one, and the oldest is dropped when there is no
 * more room. With a call counter only (return_stack_size_p 0) chapter 11 has
 * the same stack, with 2^call_counter_size_p entries: a decoder needs the
 * addresses in any case, and an encoder that has them, too, can report a
 * return that goes elsewhere.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_RETURN_STACK_H
#define HW_TRACE_ETRACE_RETURN_STACK_H

#include "etrace.h"

/* return_stack_size_p, and call_counter_size_p without it, at most */
#define ETRACE_RETURN_STACK_BITS_MAX    7
#define ETRACE_RETURN_STACK_MAX         (1u << ETRACE_RETURN_STACK_BITS_MAX)

typedef struct ETraceReturnStack {
    uint8_t max;                /* entries, 0: no implicit returns */
    uint8_t depth;
    uint8_t base;               /* index of the oldest entry, modulo max */
    uint16_t repeat_max;
    uint64_t link[ETRACE_RETURN_STACK_MAX];
    /*
     * How often more the entry was pushed in a row: recursion. Draft 2.1 only
     * (chapter 11 of 2.0.5), if there is a call counter beside the stack.
     */
    uint16_t repeat[ETRACE_RETURN_STACK_MAX];
} ETraceReturnStack;

/* An empty stack of the size that @params say */
void etrace_return_stack_init(ETraceReturnStack *s,
                              const ETraceParams *params);

static inline void etrace_return_stack_reset(ETraceReturnStack *s)
{
    s->depth = 0;
}

/* A call is to return to @link. */
void etrace_return_stack_push(ETraceReturnStack *s, uint64_t link);

/* Where a return is expected to go; the stack must not be empty. */
static inline uint64_t etrace_return_stack_top(const ETraceReturnStack *s)
{
    return s->link[(uint8_t)(s->base + s->depth - 1) & (s->max - 1)];
}

/* Take that away; the stack must not be empty. */
void etrace_return_stack_pop(ETraceReturnStack *s);

#endif /* HW_TRACE_ETRACE_RETURN_STACK_H */
