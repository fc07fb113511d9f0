/*
 * RISC-V trace encoder: triggers
 *
 * Trace-on, trace-off and trace-notify come from the hart's debug triggers, in
 * order with its blocks, or from the external inputs. Outputs pulse when
 * instruction trace begins or ends.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "block/aio.h"
#include "hw/irq.h"
#include "target/riscv/cpu.h"
#include "riscv-trace-encoder-private.h"
#include "hw/trace/trace.h"

struct RISCVTraceEncoderTriggers {
    qemu_irq out[TR_TE_TRIG_MAX];
    uint8_t in_level;           /* bit per line */
    uint8_t outputs_due;        /* TR_TE_TRIG_OUT_*, to be pulsed; atomic */

    /* Wait for the block with the instruction that they are of */
    bool on, off, notify;
    uint64_t on_pc, off_pc, notify_pc;  /* -1: whatever comes */
};

/*
 * Trace-on and trace-off move bits of registers, and that may show at the
 * trigger outputs. It happens in the hart's thread, too.
 */

static void pulse_outputs(RISCVTraceEncoder *s)
{
    uint8_t due = qatomic_xchg(&s->triggers->outputs_due, 0);
    uint32_t events = s->regs[R_TR_TE_TRIG_EXT_OUT_CONTROL];

    for (unsigned i = 0; i < TR_TE_TRIG_MAX; i++) {
        if (extract32(events, 4 * i, 4) & due) {
            trace_riscv_trace_encoder_trigger_out(s->hart_index, i);
            qemu_irq_pulse(s->triggers->out[i]);
        }
    }
}

static void pulse_outputs_bh(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    pulse_outputs(s);
    object_unref(OBJECT(s));
}

/* trTeControl goes from @old to @val. Any thread. */
static void tracing_moved(RISCVTraceEncoder *s, uint32_t old, uint32_t val)
{
    if (!((old ^ val) & R_TR_TE_CONTROL_INST_TRACING_MASK)) {
        return;
    }
    qatomic_or(&s->triggers->outputs_due,
               FIELD_EX32(val, TR_TE_CONTROL, INST_TRACING)
               ? TR_TE_TRIG_OUT_START : TR_TE_TRIG_OUT_STOP);
    if (bql_locked()) {
        pulse_outputs(s);
    } else if (s->regs[R_TR_TE_TRIG_EXT_OUT_CONTROL]) {
        aio_bh_schedule_oneshot(qemu_get_aio_context(), pulse_outputs_bh,
                                object_ref(OBJECT(s)));
    } else {
        qatomic_set(&s->triggers->outputs_due, 0);
    }
}

/*
 * A trigger moves trTeInstTracing and trTeDataTracing, as far as their
 * TrigEnable bits allow. Any thread.
 */
static void move_tracing(RISCVTraceEncoder *s, bool on)
{
    uint32_t control = riscv_trace_encoder_control(s);
    uint32_t bit = R_TR_TE_CONTROL_INST_TRACING_MASK;
    uint32_t *data = &s->regs[R_TR_TE_DATA_CONTROL];

    if (FIELD_EX32(control, TR_TE_CONTROL, INST_TRIG_ENABLE)) {
        uint32_t *reg = &s->regs[R_TR_TE_CONTROL];

        control = on ? qatomic_fetch_or(reg, bit)
                     : qatomic_fetch_and(reg, ~bit);
        trace_riscv_trace_encoder_trigger(s->hart_index, on);
        tracing_moved(s, control, on ? bit : 0);
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
 * From the hart
 */

static void triggers_event(RISCVTraceEncoder *s, const ETraceEvent *event)
{
    RISCVTraceEncoderTriggers *t = s->triggers;

    if (event->type != ETRACE_EVENT_TRIGGER) {
        return;
    }
    switch (event->sub) {
    case ETRACE_TRIGGER_ON:
        t->on = true;
        t->on_pc = event->value;
        break;
    case ETRACE_TRIGGER_OFF:
        t->off = true;
        t->off_pc = event->value;
        break;
    case ETRACE_TRIGGER_NOTIFY:
        t->notify = true;
        t->notify_pc = event->value;
        break;
    }
    s->pending |= 1u << RISCV_TRACE_UNIT_TRIGGERS;
}

/* Is the instruction of a trigger in this block? */
static bool has_pc(const ETraceBlock *b, uint64_t pc)
{
    return !etrace_itype_is_trap(b->itype) &&
           (pc == UINT64_MAX ||
            (pc >= b->iaddr && pc <= etrace_block_last(b)));
}

/*
 * Trace-on and trace-off around a block: "tracing starts from the oldest
 * instruction retired in the cycle that Trace-on is asserted, and stops
 * following the newest". The end waits for the next block, because "if
 * trace-off occurs on the cycle before trace-on, then tracing will continue
 * unimpeded".
 */
static void triggers_before(RISCVTraceEncoder *s, RISCVTraceEncoderBlock *b)
{
    RISCVTraceEncoderTriggers *t = s->triggers;

    if (t->on && has_pc(b->block, t->on_pc)) {
        move_tracing(s, true);
        if (FIELD_EX32(riscv_trace_encoder_control(s), TR_TE_CONTROL,
                       INST_TRACING)) {
            riscv_trace_encoder_inst_on(s);
        }
        s->moved = true;
    } else if (s->off_due) {
        riscv_trace_encoder_inst_off(s);
    }
    if (t->notify && has_pc(b->block, t->notify_pc)) {
        s->notify_due = true;
    }
}

static void triggers_after(RISCVTraceEncoder *s,
                           const RISCVTraceEncoderBlock *b)
{
    RISCVTraceEncoderTriggers *t = s->triggers;

    s->pending &= ~(1u << RISCV_TRACE_UNIT_TRIGGERS);
    if (t->off && has_pc(b->block, t->off_pc)) {
        move_tracing(s, false);
        s->off_due = !FIELD_EX32(riscv_trace_encoder_control(s),
                                 TR_TE_CONTROL, INST_TRACING);
        s->moved = true;
        s->pending |= 1u << RISCV_TRACE_UNIT_TRIGGERS;
    }
    t->on = false;
    t->off = false;
    t->notify = false;
}

static void triggers_start(RISCVTraceEncoder *s)
{
    s->triggers->on = false;
    s->triggers->off = false;
    s->triggers->notify = false;
}

static bool triggers_armed(RISCVTraceEncoder *s)
{
    return riscv_has_trace_trigger(cpu_env(s->cpu));
}

/* The hart is not traced, and so its encoder sees no more than that. */
static void triggers_fired(RISCVTraceEncoder *s, ETraceTrigger action)
{
    if (riscv_trace_enabled(riscv_trace_encoder_control(s)) &&
        action != ETRACE_TRIGGER_NOTIFY) {
        move_tracing(s, action == ETRACE_TRIGGER_ON);
    }
}

/*
 * From the external inputs
 */

typedef struct External {
    RISCVTraceEncoder *s;
    ETraceTrigger action;
} External;

static void external_work(CPUState *cs, run_on_cpu_data data)
{
    g_autofree External *work = data.host_ptr;
    RISCVTraceEncoder *s = work->s;

    if (!s->live) {
        triggers_fired(s, work->action);
        return;
    }
    /* Between two TBs: no block is partly before and partly behind it. */
    riscv_trace_encoder_drain(s);
    if (work->action == ETRACE_TRIGGER_NOTIFY) {
        s->notify_due = true;
        s->pending |= 1u << RISCV_TRACE_UNIT_TRIGGERS;
        return;
    }
    move_tracing(s, work->action == ETRACE_TRIGGER_ON);
    riscv_trace_encoder_inst_follow(s);
    riscv_trace_encoder_apply_units(s);
    riscv_trace_encoder_flush(s);
}

/* BQL */
static void external(RISCVTraceEncoder *s, ETraceTrigger action)
{
    External *work = g_new(External, 1);

    *work = (External) { s, action };
    async_run_on_cpu(s->cpu, external_work, RUN_ON_CPU_HOST_PTR(work));
}

static void trigger_in(void *opaque, int n, int level)
{
    RISCVTraceEncoder *s = opaque;
    unsigned action = extract32(s->regs[R_TR_TE_TRIG_EXT_IN_CONTROL], 4 * n,
                                4);
    bool fires = level && !(s->triggers->in_level & (1 << n));

    s->triggers->in_level = deposit32(s->triggers->in_level, n, 1, !!level);
    if (fires && action) {
        trace_riscv_trace_encoder_trigger_in(s->hart_index, n, action);
        external(s, action);
    }
}

/*
 * Registers
 */

/* Actions that are reserved do nothing: "No action" */
static uint64_t in_control_pre_write(RegisterInfo *reg, uint64_t val)
{
    RISCVTraceEncoder *s = reg->opaque;
    uint32_t actions = 0;

    if (riscv_trace_encoder_in_reset(s, reg)) {
        return riscv_trace_encoder_reg(reg);
    }
    for (unsigned i = 0; i < s->cfg.trigger_inputs; i++) {
        unsigned action = extract32(val, 4 * i, 4);

        if (action >= ETRACE_TRIGGER_ON && action <= ETRACE_TRIGGER_NOTIFY) {
            actions = deposit32(actions, 4 * i, 4, action);
        }
    }
    return actions;
}

static uint64_t out_control_pre_write(RegisterInfo *reg, uint64_t val)
{
    RISCVTraceEncoder *s = reg->opaque;
    uint32_t events = 0;

    if (riscv_trace_encoder_in_reset(s, reg)) {
        return riscv_trace_encoder_reg(reg);
    }
    for (unsigned i = 0; i < s->cfg.trigger_outputs; i++) {
        events = deposit32(events, 4 * i, 4, extract32(val, 4 * i, 4) &
                           (TR_TE_TRIG_OUT_START | TR_TE_TRIG_OUT_STOP));
    }
    return events;
}

static const RegisterAccessInfo triggers_regs[] = {
    {   .name = "trTeTrigDbgControl", .addr = A_TR_TE_TRIG_DBG_CONTROL,
        .ro = 0xffffffff,
    },{ .name = "trTeTrigExtInControl", .addr = A_TR_TE_TRIG_EXT_IN_CONTROL,
        .pre_write = in_control_pre_write,
    },{ .name = "trTeTrigExtOutControl", .addr = A_TR_TE_TRIG_EXT_OUT_CONTROL,
        .pre_write = out_control_pre_write,
    },
};

static void triggers_reset(RISCVTraceEncoder *s)
{
    s->regs[R_TR_TE_TRIG_EXT_IN_CONTROL] = 0;
    s->regs[R_TR_TE_TRIG_EXT_OUT_CONTROL] = 0;
}

/*
 * The unit
 */

static void triggers_init(RISCVTraceEncoder *s)
{
    DeviceState *dev = DEVICE(s);

    s->triggers = g_new0(RISCVTraceEncoderTriggers, 1);
    qdev_init_gpio_in_named(dev, trigger_in, RISCV_TRACE_ENCODER_TRIGGER_IN,
                            TR_TE_TRIG_MAX);
    qdev_init_gpio_out_named(dev, s->triggers->out,
                             RISCV_TRACE_ENCODER_TRIGGER_OUT, TR_TE_TRIG_MAX);
}

static void triggers_finalize(RISCVTraceEncoder *s)
{
    g_free(s->triggers);
}

static bool triggers_needed(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    return s->regs[R_TR_TE_TRIG_EXT_IN_CONTROL] ||
           s->regs[R_TR_TE_TRIG_EXT_OUT_CONTROL] || s->triggers->in_level;
}

static const VMStateDescription vmstate_triggers_state = {
    .name = TYPE_RISCV_TRACE_ENCODER "/triggers/state",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT8(in_level, RISCVTraceEncoderTriggers),
        VMSTATE_END_OF_LIST()
    }
};

static const VMStateDescription vmstate_triggers = {
    .name = TYPE_RISCV_TRACE_ENCODER "/triggers",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = triggers_needed,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(regs[R_TR_TE_TRIG_EXT_IN_CONTROL], RISCVTraceEncoder),
        VMSTATE_UINT32(regs[R_TR_TE_TRIG_EXT_OUT_CONTROL], RISCVTraceEncoder),
        VMSTATE_STRUCT_POINTER(triggers, RISCVTraceEncoder,
                               vmstate_triggers_state,
                               RISCVTraceEncoderTriggers),
        VMSTATE_END_OF_LIST()
    }
};

static const Property triggers_props[] = {
    DEFINE_PROP_UINT8("trigger-inputs", RISCVTraceEncoder,
                      cfg.trigger_inputs, TR_TE_TRIG_MAX),
    DEFINE_PROP_UINT8("trigger-outputs", RISCVTraceEncoder,
                      cfg.trigger_outputs, TR_TE_TRIG_MAX),
};

static const RISCVTraceEncoderProp triggers_texts[] = {
    { "trigger-inputs", "number of external trigger inputs (0 to 8)",
      RISCV_TRACE_LIMITS(trigger_inputs, 0, TR_TE_TRIG_MAX) },
    { "trigger-outputs", "number of external trigger outputs (0 to 8)",
      RISCV_TRACE_LIMITS(trigger_outputs, 0, TR_TE_TRIG_MAX) },
};

static const RISCVTraceEncoderUnit triggers_unit = {
    .props = triggers_props,
    .num_props = ARRAY_SIZE(triggers_props),
    .texts = triggers_texts,
    .num_texts = ARRAY_SIZE(triggers_texts),
    .regs = triggers_regs,
    .num_regs = ARRAY_SIZE(triggers_regs),
    .vmsd = &vmstate_triggers,
    .init = triggers_init,
    .finalize = triggers_finalize,
    .reset = triggers_reset,
    .control = tracing_moved,
    .start = triggers_start,
    .event = triggers_event,
    .before = triggers_before,
    .after = triggers_after,
    .armed = triggers_armed,
    .fired = triggers_fired,
};

static void register_triggers(void)
{
    riscv_trace_encoder_add_unit(RISCV_TRACE_UNIT_TRIGGERS, &triggers_unit);
}

type_init(register_triggers)
