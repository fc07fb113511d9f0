/*
 * Ranges of addresses that are traced, and others that are not
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_RANGES_H
#define HW_TRACE_ETRACE_RANGES_H

/* What the comparators of two sets of filters can make; see filter-ranges.c */
#define ETRACE_RANGES_MAX   64

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

#endif /* HW_TRACE_ETRACE_RANGES_H */
