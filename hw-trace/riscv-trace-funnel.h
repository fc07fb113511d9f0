/*
 * RISC-V trace: funnel, several encoders into one sink
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_FUNNEL_H
#define HW_TRACE_RISCV_TRACE_FUNNEL_H

#include "hw/register.h"
#include "hw/sysbus.h"
#include "qemu/thread.h"
#include "riscv-trace-regs.h"
#include "riscv-trace-sink.h"

#define TYPE_RISCV_TRACE_FUNNEL "riscv-trace-funnel"
OBJECT_DECLARE_SIMPLE_TYPE(RISCVTraceFunnel, RISCV_TRACE_FUNNEL)

#define RISCV_TRACE_FUNNEL_R_MAX    (R_TR_TS_COUNTER_HIGH + 1)

struct RISCVTraceFunnel {
    SysBusDevice parent_obj;

    RegisterInfoArray *reg_array;
    RegisterInfo regs_info[RISCV_TRACE_FUNNEL_R_MAX];
    uint32_t regs[RISCV_TRACE_FUNNEL_R_MAX];
    RISCVTraceTimestamp ts;     /* encoders may share it */
    bool autostart;
    uint8_t num_inputs;
    uint8_t timestamp_width;
    uint8_t timestamp_mode;     /* at power-up */

    Object *sink_obj;
    RISCVTraceSink *sink;
    RISCVTraceSinkClass *sink_class;
    RISCVTraceSource *sources[RISCV_TRACE_MAX_SOURCES];

    /*
     * Harts run in parallel; the sink gets one batch of packets at a time.
     * Inputs are served in the order in which they came, so that none can
     * starve the others.
     */
    QemuMutex lock;             /* protects what follows */
    QemuCond turn;              /* @serving has changed */
    uint32_t next_ticket;
    uint32_t serving;
};

#endif /* HW_TRACE_RISCV_TRACE_FUNNEL_H */
