/*
 * RISC-V trace: the sideband stream's way out of the machine
 *
 * The records are made by the hart side (target/riscv/trace); see
 * etrace/sideband.h for their layout.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_SIDEBAND_H
#define HW_TRACE_RISCV_TRACE_SIDEBAND_H

#include "hw/qdev-core.h"
#include "riscv-trace-chardev.h"

#define TYPE_RISCV_TRACE_SIDEBAND "riscv-trace-sideband"
OBJECT_DECLARE_SIMPLE_TYPE(RISCVTraceSideband, RISCV_TRACE_SIDEBAND)

struct RISCVTraceSideband {
    DeviceState parent_obj;

    RISCVTraceChardev out;
    /* The session that it belongs to; NULL until somebody asks for it */
    const RISCVTraceChardevOps *ops;
    void *opaque;
};

/*
 * Report the peer to @ops; opened() is called from here if there is one
 * already. With NULL, nothing is reported any more. BQL held.
 */
void riscv_trace_sideband_listen(RISCVTraceSideband *s,
                                 const RISCVTraceChardevOps *ops,
                                 void *opaque);

#endif /* HW_TRACE_RISCV_TRACE_SIDEBAND_H */
