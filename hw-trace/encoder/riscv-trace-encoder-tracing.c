/*
 * RISC-V trace encoder: instruction trace on and off
 *
 * trTeInstTracing is moved by software and by triggers, and the encoder
 * follows it in the hart's thread, or in another while the VM is stopped.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "riscv-trace-encoder-private.h"
#include "hw/trace/trace.h"

void riscv_trace_encoder_inst_on(RISCVTraceEncoder *s)
{
    s->off_due = false;
    if (!s->tracing) {
        qatomic_set(&s->tracing, true);
        trace_riscv_trace_encoder_tracing(s->hart_index, true);
        etrace_encoder_start(&s->enc);
    }
}

void riscv_trace_encoder_inst_off(RISCVTraceEncoder *s)
{
    s->off_due = false;
    if (s->tracing) {
        etrace_encoder_stop(&s->enc);
        riscv_trace_encoder_flush(s);
        qatomic_set(&s->tracing, false);
        trace_riscv_trace_encoder_tracing(s->hart_index, false);
    }
}

void riscv_trace_encoder_inst_follow(RISCVTraceEncoder *s)
{
    if (FIELD_EX32(riscv_trace_encoder_control(s), TR_TE_CONTROL,
                   INST_TRACING)) {
        riscv_trace_encoder_inst_on(s);
    } else {
        riscv_trace_encoder_inst_off(s);
    }
}
