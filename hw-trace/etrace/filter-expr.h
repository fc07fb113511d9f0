/*
 * E-Trace filters as text: "priv=U;pc=0x80000000-0x80000fff"
 *
 *     expression = "" | term { ";" term }
 *     term       = "priv=" level { "+" level }
 *                | "pc=" first "-" last
 *                | "context=" number
 *     level      = "U" | "S" | "M" | "VU" | "VS"
 *
 * Numbers are decimal, or hexadecimal behind 0x. A term is true of an
 * instruction in one of these privilege levels, whose address is not below
 * first and not above last, or that ran in that context. Terms of the same
 * kind add up: one of them has to be true. Terms of different kinds restrict
 * each other: there has to be a true one of each kind that is there. An
 * expression without terms is true of every instruction.
 *
 * Expressions are made into filters and comparators (filter.h), a comparator
 * for each range and for each context, and so have the blocks, the inputs and
 * the meaning of these. A trap counts as the instruction that it happened at.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_FILTER_EXPR_H
#define HW_TRACE_ETRACE_FILTER_EXPR_H

#include "filter.h"

/* Both ends are part of it. */
typedef struct ETraceFilterRange {
    uint64_t first, last;
} ETraceFilterRange;

/*
 * What an expression says, sorted, without repetitions. Ranges that overlap
 * or touch are one. There are at most ETRACE_COMPARATORS_MAX ranges and
 * contexts together.
 */
typedef struct ETraceFilterExpr {
    uint8_t privs;              /* bit N: priv N; 0: any */
    uint8_t num_ranges;         /* 0: any address */
    uint8_t num_contexts;       /* 0: any context */
    ETraceFilterRange range[ETRACE_COMPARATORS_MAX];
    uint64_t context[ETRACE_COMPARATORS_MAX];
} ETraceFilterExpr;

/*
 * Read @text into @e. If it is no expression, returns false, and *@problem is
 * a new string, the caller's, that says what is wrong and what to write
 * instead; @e is as before then.
 */
bool etrace_filter_expr_parse(ETraceFilterExpr *e, const char *text,
                              char **problem);

/*
 * The expression as text, always the same for what means the same: priv by
 * the levels' numbers, pc in hexadecimal, context in decimal, each in
 * ascending order. A new string, the caller's.
 */
char *etrace_filter_expr_text(const ETraceFilterExpr *e);

/*
 * Do the ends of all ranges have at most @iaddress_width bits? Others would
 * be compared without their upper bits.
 */
bool etrace_filter_expr_fits(const ETraceFilterExpr *e,
                             unsigned iaddress_width);

/*
 * Program @f, which is used for nothing else: instruction trace and data
 * trace are what @e is true of. etrace_filter_active() is false if that is
 * everything. @f's iaddress_width and daddress_width are the caller's; its
 * context has 64 bits.
 */
void etrace_filter_expr_apply(const ETraceFilterExpr *e, ETraceFilter *f);

#endif /* HW_TRACE_ETRACE_FILTER_EXPR_H */
