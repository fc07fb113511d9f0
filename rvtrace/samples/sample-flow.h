/*
 * The instructions that a sample's branch stack says were executed
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SAMPLES_SAMPLE_FLOW_H
#define ETRACE_SAMPLES_SAMPLE_FLOW_H

#include "flow/flow.h"
#include "samples/perf-samples.h"

typedef struct SampleFlowOps {
    void (*run)(void *opaque, const FlowRun *run);
    void (*trap)(void *opaque, const FlowTrap *trap);
    /* What comes does not follow from what was. */
    void (*lost)(void *opaque);
} SampleFlowOps;

typedef struct SampleFlowStats {
    uint64_t pieces;            /* between two branches */
    uint64_t unknown;           /* ... whose code is in no known file */
    uint64_t wrong;             /* ... that cannot have run so */
    uint64_t insns;             /* in all others */
} SampleFlowStats;

/*
 * Hand over what @s says, from its oldest branch to ip, in the code that its
 * maps' names know. The code has to be that of the files: a piece that holds a
 * jump which was not recorded is left out. @stats is added to.
 */
void sample_flow(const PerfSample *s, const InsnIsa *isa,
                 const SampleFlowOps *ops, void *opaque,
                 SampleFlowStats *stats);

/*
 * How the entry's source was left: what perf says, or else what the
 * instruction there is. *@trap: it did not retire.
 */
uint8_t sample_branch_itype(const PerfSample *s, const PerfBranch *b,
                            const InsnIsa *isa, bool *trap);

/* ETracePriv of @pc, where perf says @flags of the branch that led there */
uint8_t sample_priv(const PerfSample *s, uint64_t pc, uint64_t flags);

#endif /* ETRACE_SAMPLES_SAMPLE_FLOW_H */
