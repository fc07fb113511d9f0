/*
 * Spools: samples of a hart on their way to a file
 *
 * Each hart's are put aside in a temporary file without a name while the harts
 * are decoded at the same time, and taken out in the order of time.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_SPOOL_H
#define ETRACE_VIEWS_SPOOL_H

#include "views/perf/sampler.h"

typedef struct Spool Spool;

/* Returns NULL and sets @errp if there is no room for temporary files. */
Spool *spool_new(GError **errp);
void spool_free(Spool *spool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Spool, spool_free)

/* For SamplerOptions.sample: @opaque is the spool. */
void spool_put(void *opaque, const Sample *sample);

/* What was put into a spool: sums and extremes */
typedef struct SpoolSummary {
    uint64_t samples;
    uint64_t first, last;               /* times; 0 if there are none */
    uint64_t kernel_lo, kernel_hi;      /* addresses of SAMPLE_KERNEL */
    /* The highest of them that is in an object, the bias of that, and it */
    uint64_t kernel_known, kernel_bias;
    unsigned kernel_object;
} SpoolSummary;

/* Of all @n spools, each of which may be NULL */
SpoolSummary spool_summary(Spool **spools, unsigned n);

/*
 * Call @fn with @opaque for the samples of @n spools, each of which may be
 * NULL, by time, then by spool. Can be done again. Returns false and sets
 * @errp if a temporary file could not be written or read.
 */
bool spool_merge(Spool **spools, unsigned n,
                 void (*fn)(void *opaque, const Sample *sample), void *opaque,
                 GError **errp);

#endif /* ETRACE_VIEWS_SPOOL_H */
