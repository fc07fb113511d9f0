/*
 * RISC-V trace: pin interface block sink, whose pins are a chardev
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_PIB_H
#define HW_TRACE_RISCV_TRACE_PIB_H

#include "hw/register.h"
#include "hw/sysbus.h"
#include "stream/riscv-trace-chardev.h"
#include "riscv-trace-regs.h"
#include "riscv-trace-replicator.h"

#define TYPE_RISCV_TRACE_PIB "riscv-trace-pib"
OBJECT_DECLARE_SIMPLE_TYPE(RISCVTracePIB, RISCV_TRACE_PIB)

#define RISCV_TRACE_PIB_R_MAX   (R_TR_PIB_IMPL + 1)

/* Alignment sequences whose record is still to be sent */
#define RISCV_TRACE_PIB_ALIGNS  256

typedef struct RISCVTraceAlign {
    uint64_t offset;            /* behind the sequence, in the trace */
    uint64_t packets[RISCV_TRACE_MAX_SOURCES];
} RISCVTraceAlign;

struct RISCVTracePIB {
    SysBusDevice parent_obj;

    RegisterInfoArray *reg_array;
    RegisterInfo regs_info[RISCV_TRACE_PIB_R_MAX];
    uint32_t regs[RISCV_TRACE_PIB_R_MAX];
    bool autostart;

    RISCVTraceReplicator *replicator;
    RISCVTraceOutput output;
    RISCVTraceChardev out;

    /* Of put(), which is called by one thread at a time */
    ETraceParams align_params;
    uint64_t since_align;       /* bytes */
    uint64_t packets[RISCV_TRACE_MAX_SOURCES];

    QemuMutex align_lock;       /* protects what follows */
    RISCVTraceAlign aligns[RISCV_TRACE_PIB_ALIGNS];
    unsigned num_aligns;
};

#endif /* HW_TRACE_RISCV_TRACE_PIB_H */
