/*
 * rvtrace: what results.c and results-moments.c share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_RESULTS_PRIVATE_H
#define ETRACE_RESULTS_PRIVATE_H

#include "results.h"

static inline bool wants(const HartResult *h, unsigned what)
{
    return h->all->what & what;
}

/* Before @h has a call stack; sets @errp if there is no temporary file. */
bool hart_moments_begin(HartResult *h, GError **errp);

/* For CallStackOptions.moment and TraceConsumer.time: @opaque is the hart. */
void hart_moment(void *opaque, const CallStackMoment *moment);
void hart_moment_time(void *opaque, uint64_t ticks, unsigned bits,
                      bool timestamp);

void hart_moment_lost(HartResult *h, FlowLossKind kind);
void hart_moments_end(HartResult *h);

#endif /* ETRACE_RESULTS_PRIVATE_H */
