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
#include "system/memory.h"

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
#define TR_COMP_RAM         0x9
#define TR_COMP_PIB         0xa
#define TR_COMP_ATB_BRIDGE  0xe

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
    FIELD(TR_TE_IMPL, PROTOCOL_MAJOR, 16, 4)
    FIELD(TR_TE_IMPL, PROTOCOL_MINOR, 20, 4)
REG32(TR_TE_INST_FEATURES, 0x008)
    FIELD(TR_TE_INST_FEATURES, NO_ADDR_DIFF, 0, 1)
    FIELD(TR_TE_INST_FEATURES, NO_TRAP_ADDR, 1, 1)
    FIELD(TR_TE_INST_FEATURES, EN_SEQUENTIAL_JUMP, 2, 1)
    FIELD(TR_TE_INST_FEATURES, EN_IMPLICIT_RETURN, 3, 1)
    FIELD(TR_TE_INST_FEATURES, EN_BRANCH_PREDICTION, 4, 1)
    FIELD(TR_TE_INST_FEATURES, EN_JUMP_TARGET_CACHE, 5, 1)
    FIELD(TR_TE_INST_FEATURES, IMPLICIT_RETURN_MODE, 6, 2)
    FIELD(TR_TE_INST_FEATURES, SRC_ID, 16, 12)
    FIELD(TR_TE_INST_FEATURES, SRC_BITS, 28, 4)
#define TR_TE_SRC_BITS_MAX      12
REG32(TR_TE_INST_FILTERS, 0x00c)
REG32(TR_TE_DATA_CONTROL, 0x010)
    FIELD(TR_TE_DATA_CONTROL, IMPLEMENTED, 0, 1)
    FIELD(TR_TE_DATA_CONTROL, TRACING, 1, 1)
    FIELD(TR_TE_DATA_CONTROL, TRIG_ENABLE, 2, 1)
    FIELD(TR_TE_DATA_CONTROL, STALL_OR_OVERFLOW, 3, 1)
    FIELD(TR_TE_DATA_CONTROL, STALL_ENA, 4, 1)
    FIELD(TR_TE_DATA_CONTROL, DROP, 5, 1)
    FIELD(TR_TE_DATA_CONTROL, DROP_ENA, 6, 1)
    FIELD(TR_TE_DATA_CONTROL, NO_VALUE, 16, 1)
    FIELD(TR_TE_DATA_CONTROL, NO_ADDR, 17, 1)
    FIELD(TR_TE_DATA_CONTROL, ADDR_COMPRESS, 18, 2)
REG32(TR_TE_DATA_FILTERS, 0x01c)
REG32(TR_TE_TRIG_DBG_CONTROL, 0x050)
REG32(TR_TE_TRIG_EXT_IN_CONTROL, 0x054)
REG32(TR_TE_TRIG_EXT_OUT_CONTROL, 0x058)

/* trTeInstMode: branch history, the protocol's optimised mode */
#define TR_TE_INST_MODE_HISTORY     6

/* trTeInstImplicitReturnMode */
#define TR_TE_RETURN_NONE           0
#define TR_TE_RETURN_COUNTER        1
#define TR_TE_RETURN_STACK          3

/* trTeDataAddrCompress */
#define TR_TE_DATA_ADDR_FULL            0
#define TR_TE_DATA_ADDR_XOR             1
#define TR_TE_DATA_ADDR_DIFFERENTIAL    2
#define TR_TE_DATA_ADDR_PROTOCOL        3

/* A nibble for each of up to 8 triggers */
#define TR_TE_TRIG_MAX              8
#define TR_TE_TRIG_OUT_START        0x1
#define TR_TE_TRIG_OUT_STOP         0x2

/* Filters: 16 of these; offsets from the first */
#define TR_TE_FILTERS               0x400
#define TR_TE_FILTER_SIZE           0x20
REG32(TR_TE_FILTER_CONTROL, 0x00)
    FIELD(TR_TE_FILTER_CONTROL, ENABLE, 0, 1)
    FIELD(TR_TE_FILTER_CONTROL, MATCH_PRIVILEGE, 1, 1)
    FIELD(TR_TE_FILTER_CONTROL, MATCH_ECAUSE, 2, 1)
    FIELD(TR_TE_FILTER_CONTROL, MATCH_INTERRUPT, 3, 1)
    FIELD(TR_TE_FILTER_CONTROL, MATCH_COMP1, 4, 1)
    FIELD(TR_TE_FILTER_CONTROL, COMP1, 5, 3)
    FIELD(TR_TE_FILTER_CONTROL, MATCH_COMP2, 8, 1)
    FIELD(TR_TE_FILTER_CONTROL, COMP2, 9, 3)
    FIELD(TR_TE_FILTER_CONTROL, MATCH_COMP3, 12, 1)
    FIELD(TR_TE_FILTER_CONTROL, COMP3, 13, 3)
    FIELD(TR_TE_FILTER_CONTROL, MATCH_IMPDEF, 16, 1)
    FIELD(TR_TE_FILTER_CONTROL, MATCH_DTYPE, 24, 1)
    FIELD(TR_TE_FILTER_CONTROL, MATCH_DSIZE, 25, 1)
REG32(TR_TE_FILTER_MATCH_INST, 0x04)
    FIELD(TR_TE_FILTER_MATCH_INST, CHOICE_PRIVILEGE, 0, 8)
    FIELD(TR_TE_FILTER_MATCH_INST, VALUE_INTERRUPT, 8, 1)
REG32(TR_TE_FILTER_MATCH_ECAUSE_LOW, 0x08)
REG32(TR_TE_FILTER_MATCH_ECAUSE_HIGH, 0x0c)
REG32(TR_TE_FILTER_MATCH_VALUE_IMPDEF, 0x10)
REG32(TR_TE_FILTER_MATCH_MASK_IMPDEF, 0x14)
REG32(TR_TE_FILTER_MATCH_DATA, 0x18)
    FIELD(TR_TE_FILTER_MATCH_DATA, CHOICE_DTYPE, 0, 16)
    FIELD(TR_TE_FILTER_MATCH_DATA, CHOICE_DSIZE, 16, 8)

/* Comparators: 8 of these; offsets from the first */
#define TR_TE_COMPS                 0x600
#define TR_TE_COMPS_END             0x700
#define TR_TE_COMP_SIZE             0x20
REG32(TR_TE_COMP_CONTROL, 0x00)
    FIELD(TR_TE_COMP_CONTROL, P_INPUT, 0, 2)
    FIELD(TR_TE_COMP_CONTROL, S_INPUT, 2, 2)
    FIELD(TR_TE_COMP_CONTROL, P_FUNCTION, 4, 3)
    FIELD(TR_TE_COMP_CONTROL, S_FUNCTION, 8, 3)
    FIELD(TR_TE_COMP_CONTROL, MATCH_MODE, 12, 2)
    FIELD(TR_TE_COMP_CONTROL, P_NOTIFY, 14, 1)
    FIELD(TR_TE_COMP_CONTROL, S_NOTIFY, 15, 1)
REG32(TR_TE_COMP_P_MATCH_LOW, 0x10)
REG32(TR_TE_COMP_P_MATCH_HIGH, 0x14)
REG32(TR_TE_COMP_S_MATCH_LOW, 0x18)
REG32(TR_TE_COMP_S_MATCH_HIGH, 0x1c)

/* Timestamp unit of an encoder or a funnel */
REG32(TR_TS_CONTROL, 0x040)
    FIELD(TR_TS_CONTROL, ACTIVE, 0, 1)
    FIELD(TR_TS_CONTROL, COUNT, 1, 1)
    FIELD(TR_TS_CONTROL, RESET, 2, 1)
    FIELD(TR_TS_CONTROL, RUN_IN_DEBUG, 3, 1)
    FIELD(TR_TS_CONTROL, MODE, 4, 3)
    FIELD(TR_TS_CONTROL, PRESCALE, 8, 2)
    FIELD(TR_TS_CONTROL, ENABLE, 15, 1)
    FIELD(TR_TS_CONTROL, WIDTH, 24, 6)
REG32(TR_TS_COUNTER_LOW, 0x048)
REG32(TR_TS_COUNTER_HIGH, 0x04c)

/* Trace funnel */
REG32(TR_FUNNEL_CONTROL, 0x000)
#define TR_FUNNEL_CONTROL_RSVD      0xfffffff4
REG32(TR_FUNNEL_IMPL, 0x004)
REG32(TR_FUNNEL_DIS_INPUT, 0x008)

/*
 * Trace RAM sink. Addresses are 64 bits wide in pairs of registers; "LOW" has
 * bits 31:2, and bit 0 of the write pointer says that it has wrapped.
 */
REG32(TR_RAM_CONTROL, 0x000)
    FIELD(TR_RAM_CONTROL, MODE, 4, 1)
    FIELD(TR_RAM_CONTROL, STOP_ON_WRAP, 8, 1)
    FIELD(TR_RAM_CONTROL, MEM_FORMAT, 9, 2)
    FIELD(TR_RAM_CONTROL, ASYNC_FREQ, 12, 3)
#define TR_RAM_CONTROL_RSVD         0xffff88e4
REG32(TR_RAM_IMPL, 0x004)
    FIELD(TR_RAM_IMPL, HAS_SRAM, 12, 1)
    FIELD(TR_RAM_IMPL, HAS_SMEM, 13, 1)
REG32(TR_RAM_START_LOW, 0x010)
REG32(TR_RAM_START_HIGH, 0x014)
REG32(TR_RAM_LIMIT_LOW, 0x018)
REG32(TR_RAM_LIMIT_HIGH, 0x01c)
REG32(TR_RAM_WP_LOW, 0x020)
    FIELD(TR_RAM_WP_LOW, WRAP, 0, 1)
REG32(TR_RAM_WP_HIGH, 0x024)
REG32(TR_RAM_RP_LOW, 0x028)
REG32(TR_RAM_RP_HIGH, 0x02c)
REG32(TR_RAM_DATA, 0x040)

/* trRamMode */
#define TR_RAM_MODE_SRAM    0
#define TR_RAM_MODE_SMEM    1

/* Pin interface block: the sink whose bytes leave the machine */
REG32(TR_PIB_CONTROL, 0x000)
    FIELD(TR_PIB_CONTROL, MODE, 4, 4)
    FIELD(TR_PIB_CONTROL, CLK_CENTER, 8, 1)
    FIELD(TR_PIB_CONTROL, CALIBRATE, 9, 1)
    FIELD(TR_PIB_CONTROL, ASYNC_FREQ, 12, 3)
    FIELD(TR_PIB_CONTROL, DIVIDER, 16, 16)
#define TR_PIB_CONTROL_RSVD         0x00008c04
REG32(TR_PIB_IMPL, 0x004)

/* trPibMode; there are 1, 2, 4, 8 and 16 data pins in the parallel modes. */
#define TR_PIB_MODE_OFF             0
#define TR_PIB_MODE_SWT_MANCHESTER  4
#define TR_PIB_MODE_SWT_UART        5
#define TR_PIB_MODE_PARALLEL_1      8
#define TR_PIB_MODE_PARALLEL_16     12

/* Bridge to an Advanced Trace Bus */
REG32(TR_ATB_CONTROL, 0x000)
    FIELD(TR_ATB_CONTROL, ID, 8, 7)
#define TR_ATB_CONTROL_RSVD         0xffff80f4
REG32(TR_ATB_IMPL, 0x004)
    FIELD(TR_ATB_IMPL, ASYNC_FREQ, 12, 3)

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

/* @width ones, 0 to 63 */
static inline uint64_t riscv_trace_mask(unsigned width)
{
    return (1ULL << width) - 1;
}

/* trRamAsyncFreq and trPibAsyncFreq at power-up: see below */
#define TR_ASYNC_FREQ_RESET     3

/*
 * Distance of alignment sequences in bytes, which neither the interface nor
 * the encapsulation defines: 1 KiB, 4 KiB, 16 KiB ... 4 MiB; 0 for none.
 */
static inline uint64_t riscv_trace_align_distance(unsigned async_freq)
{
    return async_freq ? 256ULL << (2 * async_freq) : 0;
}

#define RISCV_TRACE_MMIO_SIZE   0x1000

/* Accesses to a component's page; the opaque is a RegisterInfoArray. */
extern const MemoryRegionOps riscv_trace_mmio_ops;

#endif /* HW_TRACE_RISCV_TRACE_REGS_H */
