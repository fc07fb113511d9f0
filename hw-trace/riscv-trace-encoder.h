/*
 * RISC-V trace encoder: the device around the E-Trace encoder of one hart
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_RISCV_TRACE_ENCODER_H
#define HW_TRACE_RISCV_TRACE_ENCODER_H

#include "qom/object.h"

#define TYPE_RISCV_TRACE_ENCODER "riscv-trace-encoder"
OBJECT_DECLARE_SIMPLE_TYPE(RISCVTraceEncoder, RISCV_TRACE_ENCODER)

/* Names of the GPIO lines */
#define RISCV_TRACE_ENCODER_TRIGGER_IN  "trigger-in"
#define RISCV_TRACE_ENCODER_IMPDEF      "impdef"
#define RISCV_TRACE_ENCODER_TRIGGER_OUT "trigger-out"

/* A choice of modes */
typedef struct RISCVTraceModes {
    bool all;                   /* all that save bits and are built in */
    uint32_t named;             /* bits of trTeInstFeatures */
} RISCVTraceModes;

/*
 * "all", "baseline" or modes by their names with "+" between them; NULL is
 * the default. False with @errp set if it is none of this.
 */
bool riscv_trace_modes_parse(const char *text, RISCVTraceModes *chosen,
                             Error **errp);

/* Bits 5:0 of trTeInstFeatures that who starts trace for the guest sets */
uint32_t riscv_trace_encoder_modes_start(const RISCVTraceEncoder *s);

#endif /* HW_TRACE_RISCV_TRACE_ENCODER_H */
