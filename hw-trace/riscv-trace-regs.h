/*
 * RISC-V Trace Control Interface 1.0: registers of the trace components
 *
 * Every component is a page of 32-bit registers that starts with its control
 * word (bit 0 active, bit 1 enable, bit 3 empty) and its implementation word
 * (version and type).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_REGS_H
#define HW_TRACE_RISCV_TRACE_REGS_H

#include "hw/registerfields.h"
#include "exec/memory.h"

/* "tr??" components: what they have in common */
REG32(TR_CONTROL, 0x000)
    FIELD(TR_CONTROL, ACTIVE, 0, 1)
    FIELD(TR_CONTROL, ENABLE, 1, 1)
    FIELD(TR_CONTROL, EMPTY, 3, 1)
REG32(TR_IMPL, 0x004)
    FIELD(TR_IMPL, VER_MAJOR, 0, 4)
    FIELD(TR_IMPL, VER_MINOR, 4, 4)
    FIELD(TR_IMPL, COMP_TYPE, 8, 4)

#define TR_COMP_ENCODER     0x1
#define TR_COMP_FUNNEL      0x8
#define TR_COMP_PIB         0xa

/* Version 1.0 of the interface */
#define TR_IMPL_VALUE(type) \
    ((1 << R_TR_IMPL_VER_MAJOR_SHIFT) | ((type) << R_TR_IMPL_COMP_TYPE_SHIFT))

/* Trace encoder */
REG32(TR_TE_CONTROL, 0x000)
    FIELD(TR_TE_CONTROL, ACTIVE, 0, 1)
    FIELD(TR_TE_CONTROL, ENABLE, 1, 1)
    FIELD(TR_TE_CONTROL, INST_TRACING, 2, 1)
    FIELD(TR_TE_CONTROL, EMPTY, 3, 1)
    FIELD(TR_TE_CONTROL, INST_MODE, 4, 3)
    FIELD(TR_TE_CONTROL, CONTEXT, 9, 1)
    FIELD(TR_TE_CONTROL, INST_TRIG_ENABLE, 11, 1)
    FIELD(TR_TE_CONTROL, INST_STALL_OR_OVERFLOW, 12, 1)
    FIELD(TR_TE_CONTROL, INST_STALL_ENA, 13, 1)
    FIELD(TR_TE_CONTROL, INHIBIT_SRC, 15, 1)
    FIELD(TR_TE_CONTROL, INST_SYNC_MODE, 16, 2)
    FIELD(TR_TE_CONTROL, INST_SYNC_MAX, 20, 4)
    FIELD(TR_TE_CONTROL, FORMAT, 24, 3)
#define TR_TE_CONTROL_RSVD  0xf80c4580
REG32(TR_TE_IMPL, 0x004)
REG32(TR_TE_INST_FEATURES, 0x008)
    FIELD(TR_TE_INST_FEATURES, SRC_ID, 16, 12)
    FIELD(TR_TE_INST_FEATURES, SRC_BITS, 28, 4)

/* trTeInstMode: branch history, the protocol's optimised mode */
#define TR_TE_INST_MODE_HISTORY     6

/* Trace funnel */
REG32(TR_FUNNEL_CONTROL, 0x000)
#define TR_FUNNEL_CONTROL_RSVD      0xfffffff4
REG32(TR_FUNNEL_IMPL, 0x004)
REG32(TR_FUNNEL_DIS_INPUT, 0x008)

/* Pin interface block: the sink whose bytes leave the machine */
REG32(TR_PIB_CONTROL, 0x000)
    FIELD(TR_PIB_CONTROL, MODE, 4, 4)
    FIELD(TR_PIB_CONTROL, CLK_CENTER, 8, 1)
    FIELD(TR_PIB_CONTROL, CALIBRATE, 9, 1)
    FIELD(TR_PIB_CONTROL, ASYNC_FREQ, 12, 3)
    FIELD(TR_PIB_CONTROL, DIVIDER, 16, 16)
#define TR_PIB_CONTROL_RSVD         0x00008c04
REG32(TR_PIB_IMPL, 0x004)

/* trPibMode: asynchronous serial line of bytes, which a chardev is */
#define TR_PIB_MODE_SWT_UART        5

/*
 * The rules for bits 1:0 that all components share: a component that is not
 * active is in reset, so that all its control fields read as @reset; the
 * write that activates it sets nothing else. Returns the new value of the
 * control register that holds @old when @val is written.
 */
static inline uint32_t riscv_trace_control(uint32_t old, uint32_t val,
                                           uint32_t reset)
{
    if (!(val & R_TR_CONTROL_ACTIVE_MASK)) {
        return reset;
    }
    if (!(old & R_TR_CONTROL_ACTIVE_MASK)) {
        return reset | R_TR_CONTROL_ACTIVE_MASK;
    }
    return val;
}

/* True if the component with this control word is active and enabled. */
static inline bool riscv_trace_enabled(uint32_t control)
{
    uint32_t on = R_TR_CONTROL_ACTIVE_MASK | R_TR_CONTROL_ENABLE_MASK;

    return (control & on) == on;
}

#define RISCV_TRACE_MMIO_SIZE   0x1000

/* Accesses to a component's page; the opaque is a RegisterInfoArray. */
extern const MemoryRegionOps riscv_trace_mmio_ops;

#endif /* HW_TRACE_RISCV_TRACE_REGS_H */
