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
 * Ranges begin at each at[], which are in order, and even, and whatever is
 * below at[0] is one, too. Where they begin depends on the filters alone; which
 * of them are qualified, on the privilege and the contexts as well.
 */
typedef struct ETraceRanges {
    uint64_t mask;              /* bits of an address that are compared */
    uint64_t at[ETRACE_RANGES_MAX];
    uint64_t qualified;         /* bit I: the one from at[I] on */
    unsigned n;                 /* of at[]; 0: all addresses are alike */
    bool first;                 /* the one below at[0] is qualified */
} ETraceRanges;

QEMU_BUILD_BUG_ON(ETRACE_RANGES_MAX > 64);

/* The range that @pc is in: 0 is below at[0], I + 1 from at[I] on. */
static inline unsigned etrace_ranges_find(const ETraceRanges *ranges,
                                          uint64_t pc)
{
    unsigned i = 0;

    pc &= ranges->mask;
    while (i < ranges->n && ranges->at[i] <= pc) {
        i++;
    }
    return i;
}

/* Is an instruction at @pc qualified? */
static inline bool etrace_ranges_qualify(const ETraceRanges *ranges,
                                         uint64_t pc)
{
    unsigned i = etrace_ranges_find(ranges, pc);

    return i ? (ranges->qualified >> (i - 1)) & 1 : ranges->first;
}

bool etrace_ranges_equal(const ETraceRanges *a, const ETraceRanges *b);

#endif /* HW_TRACE_ETRACE_RANGES_H */
