/*
 * Ranges of addresses that are traced, and others that are not
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "ranges.h"

bool etrace_ranges_equal(const ETraceRanges *a, const ETraceRanges *b)
{
    return a->mask == b->mask && a->n == b->n && a->first == b->first &&
           a->qualified == b->qualified &&
           !memcmp(a->at, b->at, a->n * sizeof(a->at[0]));
}
