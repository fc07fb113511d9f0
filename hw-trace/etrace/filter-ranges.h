/*
 * E-Trace filters: which addresses are qualified
 *
 * Filters that depend on the address of an instruction, on privilege and
 * context alone (ETRACE_FILTER_BY_ADDRESS) need not see each block: in one
 * privilege, and as long as the context stays, code is qualified or it is not.
 * Where ranges begin is the same in all of them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_FILTER_RANGES_H
#define HW_TRACE_ETRACE_FILTER_RANGES_H

#include "filter.h"
#include "ranges.h"

/* Filters that etrace_filter_ranges() takes together */
#define ETRACE_RANGES_FILTERS   2

/*
 * What all @n filters (at most ETRACE_RANGES_FILTERS, of the same
 * iaddress_width) qualify in privilege @priv, in their present contexts. None
 * of them is ETRACE_FILTER_BY_BLOCK.
 */
void etrace_filter_ranges(ETraceFilter *const *filters, unsigned n,
                          uint8_t priv, ETraceRanges *ranges);

#endif /* HW_TRACE_ETRACE_FILTER_RANGES_H */
