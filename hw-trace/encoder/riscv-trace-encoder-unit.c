/*
 * RISC-V trace encoder: the table of units
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "riscv-trace-encoder-unit.h"

const RISCVTraceEncoderUnit *riscv_trace_encoder_units[RISCV_TRACE_UNITS];

void riscv_trace_encoder_add_unit(RISCVTraceEncoderSlot slot,
                                  const RISCVTraceEncoderUnit *unit)
{
    assert(!riscv_trace_encoder_units[slot]);
    riscv_trace_encoder_units[slot] = unit;
}
