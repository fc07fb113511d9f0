/*
 * RISC-V trace encoder: instruction trace on and off
 *
 * trTeInstTracing is moved by software and by triggers, and the encoder
 * follows it in the hart's thread.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/main-loop.h"
#include "block/aio.h"
#include "hw/irq.h"
#include "riscv-trace-encoder-private.h"
#include "trace.h"

/*
 * Trace-on and trace-off move bits of registers, and that may show at the
 * trigger outputs. It happens in the hart's thread, too.
 */

static void pulse_outputs(RISCVTraceEncoder *s)
{
    uint8_t due = qatomic_xchg(&s->outputs_due, 0);
    uint32_t events = s->regs[R_TR_TE_TRIG_EXT_OUT_CONTROL];

    for (unsigned i = 0; i < TR_TE_TRIG_MAX; i++) {
        if (extract32(events, 4 * i, 4) & due) {
            trace_riscv_trace_encoder_trigger_out(s->hart_index, i);
            qemu_irq_pulse(s->trigger_out[i]);
        }
    }
}

static void pulse_outputs_bh(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    pulse_outputs(s);
    object_unref(OBJECT(s));
}

void riscv_trace_encoder_tracing_moved(RISCVTraceEncoder *s, uint32_t old,
                                       uint32_t val)
{
    if (!((old ^ val) & R_TR_TE_CONTROL_INST_TRACING_MASK)) {
        return;
    }
    qatomic_or(&s->outputs_due,
               FIELD_EX32(val, TR_TE_CONTROL, INST_TRACING)
               ? TR_TE_TRIG_OUT_START : TR_TE_TRIG_OUT_STOP);
    if (bql_locked()) {
        pulse_outputs(s);
    } else if (s->regs[R_TR_TE_TRIG_EXT_OUT_CONTROL]) {
        aio_bh_schedule_oneshot(qemu_get_aio_context(), pulse_outputs_bh,
                                object_ref(OBJECT(s)));
    } else {
        qatomic_set(&s->outputs_due, 0);
    }
}

void riscv_trace_encoder_trigger_tracing(RISCVTraceEncoder *s, bool on)
{
    uint32_t control = riscv_trace_encoder_control(s);
    uint32_t bit = R_TR_TE_CONTROL_INST_TRACING_MASK;
    uint32_t *data = &s->regs[R_TR_TE_DATA_CONTROL];

    if (FIELD_EX32(control, TR_TE_CONTROL, INST_TRIG_ENABLE)) {
        uint32_t *reg = &s->regs[R_TR_TE_CONTROL];

        control = on ? qatomic_fetch_or(reg, bit)
                     : qatomic_fetch_and(reg, ~bit);
        trace_riscv_trace_encoder_trigger(s->hart_index, on);
        riscv_trace_encoder_tracing_moved(s, control, on ? bit : 0);
    }
    bit = R_TR_TE_DATA_CONTROL_TRACING_MASK;
    if (FIELD_EX32(qatomic_read(data), TR_TE_DATA_CONTROL, TRIG_ENABLE)) {
        if (on) {
            qatomic_or(data, bit);
        } else {
            qatomic_and(data, ~bit);
        }
    }
}

/*
 * The encoder. In the hart's thread, or in another while the VM is stopped.
 */

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
