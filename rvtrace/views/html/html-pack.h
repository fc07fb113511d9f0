/*
 * Reports: counts by time, packed for a script
 *
 * Numbers have 7 bits in a byte, the low ones first, and bit 7 if more follow
 * (LEB128); bytes are in base64. The counts of a thing are: in how many bins it
 * has some, and for each how many bins are left out before it and the count.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_HTML_PACK_H
#define ETRACE_HTML_PACK_H

#include "views/html/html-report.h"

/* The bins of all harts: their width is the widest one of any. */
typedef struct HtmlAxis {
    uint64_t from, to;          /* the first and the last place of any hart */
    uint64_t start;             /* where the first bin begins, at or before */
    uint64_t width;             /* of the bins of tasks and traps */
    unsigned bins;              /* of those, at least 1 */
    unsigned per;               /* so many are one bin of call stacks */
    unsigned node_bins;         /* of those */
} HtmlAxis;

HtmlAxis html_axis(const HtmlReport *r);

void html_pack_number(GByteArray *out, uint64_t value);

/* The counts of a thing in bins 0 to @n - 1 */
void html_pack_counts(GByteArray *out, const uint64_t *counts, unsigned n);

/* @bytes as a string of JSON */
void html_put_packed(GString *s, const GByteArray *bytes);

#endif /* ETRACE_HTML_PACK_H */
