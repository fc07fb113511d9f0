/*
 * RISC-V trace encoder: the device around the E-Trace encoder of one hart
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_ENCODER_H
#define HW_TRACE_RISCV_TRACE_ENCODER_H

#include "qom/object.h"
#include "riscv-trace-modes.h"

#define TYPE_RISCV_TRACE_ENCODER "riscv-trace-encoder"
OBJECT_DECLARE_SIMPLE_TYPE(RISCVTraceEncoder, RISCV_TRACE_ENCODER)

/* Names of the GPIO lines */
#define RISCV_TRACE_ENCODER_TRIGGER_IN  "trigger-in"
#define RISCV_TRACE_ENCODER_IMPDEF      "impdef"
#define RISCV_TRACE_ENCODER_TRIGGER_OUT "trigger-out"

/* Bits 5:0 of trTeInstFeatures that who starts trace for the guest sets */
uint32_t riscv_trace_encoder_modes_start(const RISCVTraceEncoder *s);

#endif /* HW_TRACE_RISCV_TRACE_ENCODER_H */
