/*
 * RISC-V trace: where the trace components of the virt machine are
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_VIRT_PRIVATE_H
#define HW_TRACE_RISCV_TRACE_VIRT_PRIVATE_H

#include "riscv-trace-regs.h"
#include "riscv-trace-sink.h"
#include "riscv-trace-virt.h"

/* Pages in the window VIRT_TRACE */
#define TRACE_ENCODER(s, i) \
    ((s)->memmap[VIRT_TRACE].base + (i) * RISCV_TRACE_MMIO_SIZE)
#define TRACE_FUNNEL(s)     TRACE_ENCODER(s, RISCV_TRACE_MAX_SOURCES)
#define TRACE_PIB(s)        TRACE_ENCODER(s, RISCV_TRACE_MAX_SOURCES + 1)
#define TRACE_RAM(s)        TRACE_ENCODER(s, RISCV_TRACE_MAX_SOURCES + 2)
#define TRACE_ATB(s)        TRACE_ENCODER(s, RISCV_TRACE_MAX_SOURCES + 3)
/* ... of which the topology "per-hart" has none: its RAM sinks are there. */
#define TRACE_HART_RAM(s, i) TRACE_ENCODER(s, RISCV_TRACE_MAX_SOURCES + (i))

#endif /* HW_TRACE_RISCV_TRACE_VIRT_PRIVATE_H */
