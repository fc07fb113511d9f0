/*
 * RISC-V trace: bridge to an Advanced Trace Bus
 *
 * Behind the bridge of a chip is the trace infrastructure of somebody else,
 * which wraps what it gets and hands it on to sinks of its own. Here the bus
 * is a wire: packets go through the bridge, if it is enabled, to the sink
 * behind it as they are.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_ATB_H
#define HW_TRACE_RISCV_TRACE_ATB_H

#include "hw/register.h"
#include "hw/sysbus.h"
#include "riscv-trace-regs.h"
#include "riscv-trace-sink.h"

#define TYPE_RISCV_TRACE_ATB "riscv-trace-atb"
OBJECT_DECLARE_SIMPLE_TYPE(RISCVTraceATB, RISCV_TRACE_ATB)

#define RISCV_TRACE_ATB_R_MAX   (R_TR_ATB_IMPL + 1)

struct RISCVTraceATB {
    SysBusDevice parent_obj;

    RegisterInfoArray *reg_array;
    RegisterInfo regs_info[RISCV_TRACE_ATB_R_MAX];
    uint32_t regs[RISCV_TRACE_ATB_R_MAX];
    bool autostart;

    Object *sink_obj;
    RISCVTraceSink *sink;
    RISCVTraceSinkClass *sink_class;
    RISCVTraceSource *sources[RISCV_TRACE_MAX_SOURCES];
};

#endif /* HW_TRACE_RISCV_TRACE_ATB_H */
