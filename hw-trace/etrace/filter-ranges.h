/*
 * E-Trace filters: which addresses are qualified
 *
 * Filters that depend on the address of an instruction, on privilege and
 * context alone (ETRACE_FILTER_BY_ADDRESS) need not see each block: in one
 * privilege, and as long as the context stays, code is qualified or it is not.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_FILTER_RANGES_H
#define HW_TRACE_ETRACE_FILTER_RANGES_H

#include "filter.h"

/* Filters that etrace_filter_ranges() takes together */
#define ETRACE_RANGES_FILTERS   2

/* Each comparator has two match values; each one may be a range of its own. */
#define ETRACE_RANGES_MAX   (ETRACE_RANGES_FILTERS *                    \
                             ETRACE_COMPARATORS_MAX * 2 * 2)

/*
 * Addresses below at[0] are qualified if @first says so; from each at[] on it
 * is the other way round. They are in order, and even.
 */
typedef struct ETraceRanges {
    uint64_t mask;              /* bits of an address that are compared */
    uint64_t at[ETRACE_RANGES_MAX];
    unsigned n;                 /* of at[]; 0: all addresses are alike */
    bool first;
} ETraceRanges;

/*
 * What all @n filters (at most ETRACE_RANGES_FILTERS, of the same
 * iaddress_width) qualify in privilege @priv, in their present contexts. None
 * of them is ETRACE_FILTER_BY_BLOCK.
 */
void etrace_filter_ranges(ETraceFilter *const *filters, unsigned n,
                          uint8_t priv, ETraceRanges *ranges);

/* Is an instruction at @pc qualified? */
static inline bool etrace_ranges_qualify(const ETraceRanges *ranges,
                                         uint64_t pc)
{
    bool qualified = ranges->first;

    pc &= ranges->mask;
    for (unsigned i = 0; i < ranges->n && ranges->at[i] <= pc; i++) {
        qualified = !qualified;
    }
    return qualified;
}

bool etrace_ranges_equal(const ETraceRanges *a, const ETraceRanges *b);

#endif /* HW_TRACE_ETRACE_FILTER_RANGES_H */
