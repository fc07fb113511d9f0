/*
 * RISC-V trace encoder: the device around the E-Trace encoder of one hart
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_ENCODER_H
#define HW_TRACE_RISCV_TRACE_ENCODER_H

#include "hw/register.h"
#include "hw/sysbus.h"
#include "etrace-encap.h"
#include "etrace-encoder.h"
#include "riscv-trace-regs.h"
#include "riscv-trace-sink.h"

#define TYPE_RISCV_TRACE_ENCODER "riscv-trace-encoder"
OBJECT_DECLARE_SIMPLE_TYPE(RISCVTraceEncoder, RISCV_TRACE_ENCODER)

#define RISCV_TRACE_ENCODER_R_MAX   (R_TR_TE_INST_FEATURES + 1)

/* Packets are handed to the sink in batches of up to this many bytes. */
#define RISCV_TRACE_ENCODER_BATCH   1024

struct RISCVTraceEncoder {
    SysBusDevice parent_obj;

    RegisterInfoArray *reg_array;
    RegisterInfo regs_info[RISCV_TRACE_ENCODER_R_MAX];
    uint32_t regs[RISCV_TRACE_ENCODER_R_MAX];

    /* Properties */
    CPUState *cpu;
    Object *sink_obj;
    uint32_t hart_index;        /* input of the funnel, number in sideband */
    char *wire_format;
    uint16_t src_id;
    uint8_t src_bits;
    uint8_t sync_mode;          /* at power-up, as the one below */
    uint8_t sync_max;
    bool stall;                 /* trTeInstStallEna at power-up */
    bool autostart;

    RISCVTraceSource source;
    RISCVTraceSink *sink;
    RISCVTraceSinkClass *sink_class;
    ETraceParams params;        /* of the present session */

    /* Written by the hart's thread, read by any */
    bool tracing;               /* between start and stop of the hart */
    bool stall_or_overflow;     /* trTeInstStallOrOverflow */

    /* Of the hart's thread; of any other while the VM is stopped */
    ETraceEncoder enc;
    bool live;                  /* enc was started in the present session */
    bool lost;                  /* a batch was lost: tell enc */
    uint64_t packets;           /* put into the stream in this session */
    uint8_t batch[RISCV_TRACE_ENCODER_BATCH];
    size_t batch_len;
    unsigned batch_packets;
};

#endif /* HW_TRACE_RISCV_TRACE_ENCODER_H */
