/*
 * Instruction flow: what is reported to the consumer
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_FLOW_REPORT_H
#define ETRACE_FLOW_REPORT_H

#include "flow/flow.h"

/* Something is lost: forget where we are, and report that. */
void flow_lose(Flow *f, FlowLossKind kind, uint64_t address);

/* Hand over the runs that are kept, before anything else is reported. */
void flow_flush(Flow *f);

/* Control leaves the last reported instruction, and with it this run. */
static inline void flow_emit(Flow *f, uint64_t pc, const uint8_t *code,
                             uint64_t wide, unsigned count, uint8_t itype,
                             uint64_t end)
{
    if (G_UNLIKELY(f->nr_runs == FLOW_RUNS)) {
        flow_flush(f);
    }
    f->runs[f->nr_runs++] = (FlowRun) {
        .pc = pc,
        .code = code,
        .wide = wide,
        .end = end,
        .count = count,
        .priv = f->priv,
        .itype = itype,
    };
    f->run_insns += count;
}

/* One instruction; what follows it is not known yet. */
void flow_emit_one(Flow *f, uint64_t pc);

/* No instruction: the one that was reported last is left by @itype. */
void flow_emit_end(Flow *f, uint8_t itype, uint64_t end);

#endif /* ETRACE_FLOW_REPORT_H */
