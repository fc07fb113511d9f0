/*
 * How values are spread: count, least, most and percentiles
 *
 * Values below 64 are counted exactly, others in buckets whose width is at most
 * 1/32 of what is in them. So the memory for it is bounded, whatever there is.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SPREAD_H
#define ETRACE_SPREAD_H

#include <stdint.h>
#include <glib.h>

typedef struct Spread {
    uint64_t count, least, most;
    double sum;
    GArray *buckets;            /* uint64_t */
} Spread;

void spread_init(Spread *s);
void spread_clear(Spread *s);

void spread_add(Spread *s, uint64_t value);
void spread_merge(Spread *s, const Spread *from);

/*
 * The value that @share of all, from 0 to 1, are not above: exact if it is
 * below 64, or the least or the most, else up to 1/32 more. 0 if there is none.
 */
uint64_t spread_percentile(const Spread *s, double share);

/*
 * How many values are from @from on and below twice that, and for 0, how many
 * are 0; @from is 0 or a power of two.
 */
uint64_t spread_octave(const Spread *s, uint64_t from);

#endif /* ETRACE_SPREAD_H */
