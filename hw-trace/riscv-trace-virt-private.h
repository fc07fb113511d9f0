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

/* Page number @page of the window VIRT_TRACE */
#define TRACE_PAGE(s, page) \
    ((s)->memmap[VIRT_TRACE].base + (page) * RISCV_TRACE_MMIO_SIZE)
#define TRACE_ENCODER(s, i)     TRACE_PAGE(s, i)
#define TRACE_FUNNEL(s)         TRACE_PAGE(s, RISCV_TRACE_PAGE_FUNNEL)
#define TRACE_PIB(s)            TRACE_PAGE(s, RISCV_TRACE_PAGE_PIB)
#define TRACE_RAM(s)            TRACE_PAGE(s, RISCV_TRACE_PAGE_RAM)
#define TRACE_ATB(s)            TRACE_PAGE(s, RISCV_TRACE_PAGE_ATB)
#define TRACE_HART_RAM(s, i)    TRACE_PAGE(s, RISCV_TRACE_PAGE_HART_RAM + (i))

#endif /* HW_TRACE_RISCV_TRACE_VIRT_PRIVATE_H */
