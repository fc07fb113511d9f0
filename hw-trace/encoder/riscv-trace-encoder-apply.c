/*
 * RISC-V trace encoder: from the registers to the hart and its encoder
 *
 * Registers are looked at between two TBs only, in the hart's thread and with
 * the BQL: in start(), and in riscv_trace_encoder_apply(), which a change of
 * any register asks for.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "riscv-trace-encoder-private.h"
#include "hw/trace/trace.h"

static RISCVTraceHartConfig riscv_trace_encoder_port(RISCVTraceEncoder *s)
{
    const RISCVTraceEncoderConfig *cfg = &s->cfg;
    RISCVTraceHartConfig port = { };

    if (cfg->context_width || s->needs_context) {
        if (!g_strcmp0(cfg->context_source, "mcontext")) {
            port.context = RISCV_TRACE_CONTEXT_MCONTEXT;
        } else if (!g_strcmp0(cfg->context_source, "scontext")) {
            port.context = RISCV_TRACE_CONTEXT_SCONTEXT;
        } else {
            port.context = RISCV_TRACE_CONTEXT_ASID;
        }
        port.ctype = cfg->ctype;
    }
    port.time = cfg->time_width;
    port.tvec = riscv_trace_encoder_ioptions(s) & ETRACE_IOPT_IMPLICIT_EXCEPT;
    port.data = s->needs_data;
    RISCV_TRACE_CALL_UNITS(port, s, &port);
    return port;
}

static bool riscv_trace_encoder_same_port(const RISCVTraceHartConfig *a,
                                          const RISCVTraceHartConfig *b)
{
    return a->context == b->context && a->ctype == b->ctype &&
           a->time == b->time && a->tvec == b->tvec && a->data == b->data;
}

/* trTeContext: while it is 0, packets have the context 0. */
static void riscv_trace_encoder_set_context(RISCVTraceEncoder *s, bool on)
{
    if (s->context_on == on) {
        return;
    }
    s->context_on = on;
    etrace_encoder_context(&s->enc, on ? s->context : 0,
                           ETRACE_CTYPE_IMPRECISE);
}

/* All but the modes and the port, of which others have to be informed */
static void riscv_trace_encoder_configure(RISCVTraceEncoder *s)
{
    uint32_t control = riscv_trace_encoder_control(s);
    unsigned sync_mode = FIELD_EX32(control, TR_TE_CONTROL, INST_SYNC_MODE);

    if (sync_mode == ETRACE_SYNC_CYCLES && s->enc.sync_mode != sync_mode) {
        s->cycles = riscv_trace_encoder_cycles();
    }
    s->enc.sync_mode = sync_mode;
    s->enc.sync_max = 1ULL << (4 + FIELD_EX32(control, TR_TE_CONTROL,
                                              INST_SYNC_MAX));
    riscv_trace_encoder_set_context(s, FIELD_EX32(control, TR_TE_CONTROL,
                                                  CONTEXT));
    s->timestamps = riscv_trace_timestamp_enabled(&s->ts);
    s->filtered = false;
    s->needs_context = false;
    s->needs_data = false;
    RISCV_TRACE_CALL_UNITS(configure, s);
}

static void riscv_trace_encoder_hart_start(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    etrace_encoder_init(&s->enc, &s->params, &riscv_trace_encoder_ops, s);
    s->enc.itype_width = s->cfg.itype_width;
    /* It was not reported when the hart stopped. */
    s->enc.lost = s->sink_class->lost(s->sink, s->hart_index);
    /* The hart reports its context first of all. */
    s->context_on = false;
    riscv_trace_encoder_configure(s);
    s->enc.ioptions = riscv_trace_encoder_ioptions(s);
    s->hart_config = riscv_trace_encoder_port(s);
    riscv_trace_hart_configure(s->cpu, &s->hart_config);
    s->pending = 0;
    s->off_due = false;
    s->notify_due = false;
    s->upper.rd = 0;
    s->live = true;
    s->lost = false;
    s->passed = false;
    RISCV_TRACE_CALL_UNITS(start, s);
    if (FIELD_EX32(riscv_trace_encoder_control(s), TR_TE_CONTROL,
                   INST_TRACING)) {
        riscv_trace_encoder_inst_on(s);
    } else if (s->enc.denable) {
        etrace_encoder_support(&s->enc);
    }
    riscv_trace_encoder_flush(s);
}

static void riscv_trace_encoder_hart_stop(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    if (s->live) {
        bool data_only = s->enc.denable && !s->tracing;

        s->enc.denable = false;
        riscv_trace_encoder_inst_off(s);
        if (data_only) {
            etrace_encoder_support(&s->enc);
            riscv_trace_encoder_flush(s);
        }
        riscv_trace_encoder_report_loss(s);
        s->live = false;
    }
    qatomic_set(&s->tracing, false);
    qatomic_set(&s->tracing_data, false);
}

/* True if a support packet is due */
static bool riscv_trace_encoder_apply_each(RISCVTraceEncoder *s)
{
    bool due = false;

    for (unsigned i = 0; i < RISCV_TRACE_UNITS; i++) {
        const RISCVTraceEncoderUnit *unit = riscv_trace_encoder_units[i];

        if (unit && unit->apply) {
            due |= unit->apply(s);
        }
    }
    return due;
}

static void riscv_trace_encoder_apply(CPUState *cs, run_on_cpu_data data)
{
    RISCVTraceEncoder *s = data.host_ptr;
    RISCVTraceHartConfig port;
    uint8_t ioptions;
    bool report;

    qatomic_set(&s->apply_pending, false);
    if (!s->live) {
        /* start() is going to see to it. */
        return;
    }
    riscv_trace_hart_drain(cs);
    riscv_trace_encoder_configure(s);
    port = riscv_trace_encoder_port(s);
    if (!riscv_trace_encoder_same_port(&port, &s->hart_config)) {
        riscv_trace_hart_restart(cs);
        return;
    }
    report = riscv_trace_encoder_apply_each(s);
    ioptions = riscv_trace_encoder_ioptions(s);
    if (ioptions != s->enc.ioptions) {
        trace_riscv_trace_encoder_modes(s->hart_index, ioptions);
        s->enc.ioptions = ioptions;
        etrace_encoder_reconfigure(&s->enc);
    } else if (report) {
        etrace_encoder_support(&s->enc);
    }
    riscv_trace_encoder_inst_follow(s);
    riscv_trace_encoder_flush(s);
    riscv_trace_hart_refresh(cs);
}

void riscv_trace_encoder_changed(RISCVTraceEncoder *s)
{
    if (!qatomic_xchg(&s->apply_pending, true)) {
        async_run_on_cpu(s->cpu, riscv_trace_encoder_apply,
                         RUN_ON_CPU_HOST_PTR(s));
    }
}

void riscv_trace_encoder_apply_units(RISCVTraceEncoder *s)
{
    if (riscv_trace_encoder_apply_each(s)) {
        etrace_encoder_support(&s->enc);
    }
}

uint64_t riscv_trace_encoder_fence(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    if (s->live) {
        etrace_encoder_end_window(&s->enc);
        riscv_trace_encoder_flush(s);
        riscv_trace_encoder_report_loss(s);
    }
    return s->packets;
}

/* The port is needed as long as there is a trigger that may turn trace on. */
static bool riscv_trace_encoder_watches(RISCVTraceEncoder *s)
{
    uint32_t data = qatomic_read(&s->regs[R_TR_TE_DATA_CONTROL]);

    return riscv_trace_encoder_control(s) &
           (R_TR_TE_CONTROL_INST_TRACING_MASK |
            R_TR_TE_CONTROL_INST_TRIG_ENABLE_MASK) ||
           data & (R_TR_TE_DATA_CONTROL_TRACING_MASK |
                   R_TR_TE_DATA_CONTROL_TRIG_ENABLE_MASK);
}

void riscv_trace_encoder_update(RISCVTraceEncoder *s)
{
    if (!qdev_is_realized(DEVICE(s))) {
        return;
    }
    riscv_trace_hart_enable(s->cpu,
                            riscv_trace_enabled(
                                riscv_trace_encoder_control(s)) &&
                            riscv_trace_encoder_watches(s) &&
                            s->sink_class->ready(s->sink,
                                                 s->hart_index));
}

static void riscv_trace_encoder_hart_trigger(void *opaque,
                                             ETraceTrigger action)
{
    RISCV_TRACE_CALL_UNITS(fired, opaque, action);
}

const RISCVTraceHartOps riscv_trace_encoder_hart_ops = {
    .retire = riscv_trace_encoder_hart_retire,
    .start = riscv_trace_encoder_hart_start,
    .stop = riscv_trace_encoder_hart_stop,
    .fence = riscv_trace_encoder_fence,
    .detail = riscv_trace_encoder_hart_detail,
    .trigger = riscv_trace_encoder_hart_trigger,
};

void riscv_trace_encoder_drain(RISCVTraceEncoder *s)
{
    riscv_trace_hart_drain(s->cpu);
}
