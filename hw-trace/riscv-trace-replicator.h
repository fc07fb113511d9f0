/*
 * RISC-V trace: replicator, one stream to several outputs
 *
 * The end of the chain: every packet goes to each output that is enabled and
 * takes packets of its hart, or to none of them. So what an encoder counts is
 * true for all outputs, and one sideband stream serves them all. It has no
 * registers: outputs are chosen with their own enable bits. Where each hart
 * has a sink of its own, it joins nothing and only keeps their session.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_REPLICATOR_H
#define HW_TRACE_RISCV_TRACE_REPLICATOR_H

#include "hw/qdev-core.h"
#include "qemu/thread.h"
#include "stream/riscv-trace-session.h"
#include "stream/riscv-trace-sideband.h"
#include "riscv-trace-sink.h"

#define TYPE_RISCV_TRACE_REPLICATOR "riscv-trace-replicator"
OBJECT_DECLARE_SIMPLE_TYPE(RISCVTraceReplicator, RISCV_TRACE_REPLICATOR)

/* a RAM sink for each hart, or PIB and RAM sink */
#define RISCV_TRACE_MAX_OUTPUTS     RISCV_TRACE_MAX_SOURCES

struct RISCVTraceReplicator {
    DeviceState parent_obj;

    RISCVTraceSideband *sideband;
    RISCVTraceSession session;
    RISCVTraceOutput *outputs[RISCV_TRACE_MAX_OUTPUTS];
    unsigned num_outputs;
    QemuMutex lock;             /* protects live and missed of the outputs */
};

/*
 * Connect an output, whose harts are set, before the machine runs and before
 * its chardev is opened. Returns false with @errp set if there are too many.
 */
bool riscv_trace_replicator_add(RISCVTraceReplicator *s,
                                RISCVTraceOutput *out, Error **errp);

/* Disconnect an output: it is not used any more. BQL. */
void riscv_trace_replicator_remove(RISCVTraceReplicator *s,
                                   RISCVTraceOutput *out);

/*
 * enabled() of @out may have changed. An output that comes late, when packets
 * of the session have gone elsewhere, makes a new session begin and waits for
 * that. Returns true if @out gets the packets that follow. BQL.
 */
bool riscv_trace_replicator_update(RISCVTraceReplicator *s,
                                   RISCVTraceOutput *out);

/*
 * The reader of @out, which has a chardev, came or went: for the owner's
 * RISCVTraceChardevOps.
 */
void riscv_trace_replicator_opened(RISCVTraceReplicator *s,
                                   RISCVTraceOutput *out);
void riscv_trace_replicator_closed(RISCVTraceReplicator *s,
                                   RISCVTraceOutput *out);

#endif /* HW_TRACE_RISCV_TRACE_REPLICATOR_H */
