/*
 * RISC-V trace encoder: the device around the E-Trace encoder of one hart
 *
 * Registers run under the BQL (riscv-trace-encoder-regs.c); what the hart
 * retires is encoded in the hart's own thread (riscv-trace-encoder-port.c).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "migration/vmstate.h"
#include "hw/trace/etrace/sideband.h"
#include "hw/trace/riscv-trace-compat.h"
#include "riscv-trace-encoder-private.h"
#include "hw/trace/trace.h"

/*
 * The sink's end: RISCVTraceSourceOps. BQL.
 */

static void riscv_trace_encoder_source_update(RISCVTraceSource *src)
{
    riscv_trace_encoder_update(container_of(src, RISCVTraceEncoder, source));
}

static void riscv_trace_encoder_close(RISCVTraceSource *src)
{
    RISCVTraceEncoder *s = container_of(src, RISCVTraceEncoder, source);

    if (!qdev_is_realized(DEVICE(s))) {
        return;
    }
    riscv_trace_encoder_drain(s);
    riscv_trace_encoder_fence(s);
}

static const ETraceParams *riscv_trace_encoder_begin(RISCVTraceSource *src)
{
    RISCVTraceEncoder *s = container_of(src, RISCVTraceEncoder, source);

    riscv_trace_encoder_params(s, &s->params);

    /* Blocks are dropped until the hart starts anew. */
    s->live = false;
    qatomic_set(&s->tracing, false);
    qatomic_set(&s->tracing_data, false);
    s->packets = 0;
    s->batch.len = 0;
    s->batch.packets = 0;
    s->any_ticks = false;
    qatomic_set_u64(&s->first_ticks, 0);
    qatomic_set_u64(&s->last_ticks, 0);
    return &s->params;
}

static uint64_t riscv_trace_encoder_ticks(RISCVTraceSource *src)
{
    RISCVTraceEncoder *s = container_of(src, RISCVTraceEncoder, source);
    uint64_t first = qatomic_read_u64(&s->first_ticks);
    uint64_t last = qatomic_read_u64(&s->last_ticks);

    /* Software may set the counter back. */
    return last >= first ? last - first : ETRACE_SB_TICKS_UNKNOWN;
}

static void riscv_trace_encoder_stall(RISCVTraceSource *src, bool stalled)
{
    RISCVTraceEncoder *s = container_of(src, RISCVTraceEncoder, source);

    if (stalled) {
        qatomic_set(&s->stall_or_overflow, true);
    }
    if (riscv_trace_hart_stall(s->cpu, stalled)) {
        trace_riscv_trace_encoder_stall(s->hart_index, stalled);
    }
}

static const RISCVTraceSourceOps riscv_trace_encoder_source_ops = {
    .update = riscv_trace_encoder_source_update,
    .close = riscv_trace_encoder_close,
    .begin = riscv_trace_encoder_begin,
    .ticks = riscv_trace_encoder_ticks,
    .stall = riscv_trace_encoder_stall,
};

/*
 * Device
 */

static void riscv_trace_encoder_reset_enter(Object *obj, ResetType type)
{
    RISCVTraceEncoder *s = RISCV_TRACE_ENCODER(obj);

    /* What retired before the reset is still to be seen. */
    riscv_trace_encoder_close(&s->source);
    riscv_trace_encoder_regs_reset(s);
}

static void riscv_trace_encoder_reset_exit(Object *obj, ResetType type)
{
    RISCVTraceEncoder *s = RISCV_TRACE_ENCODER(obj);

    if (s->cfg.autostart) {
        qatomic_or(&s->regs[R_TR_TE_CONTROL],
                   R_TR_TE_CONTROL_ACTIVE_MASK | R_TR_TE_CONTROL_ENABLE_MASK |
                   R_TR_TE_CONTROL_INST_TRACING_MASK);
        s->regs[R_TR_TE_INST_FEATURES] |= riscv_trace_encoder_modes_start(s);
        if (s->cfg.data) {
            qatomic_or(&s->regs[R_TR_TE_DATA_CONTROL],
                       R_TR_TE_DATA_CONTROL_TRACING_MASK);
        }
    }
    riscv_trace_encoder_update(s);
    riscv_trace_encoder_changed(s);
}

static void riscv_trace_encoder_realize(DeviceState *dev, Error **errp)
{
    RISCVTraceEncoder *s = RISCV_TRACE_ENCODER(dev);

    if (!riscv_trace_encoder_check(s, errp)) {
        return;
    }
    s->sink = RISCV_TRACE_SINK(s->sink_obj);
    s->sink_class = RISCV_TRACE_SINK_GET_CLASS(s->sink);
    s->source.ops = &riscv_trace_encoder_source_ops;
    s->source.cpu = s->cpu;
    s->ts.width = s->cfg.timestamp_width;
    if (s->sink_class->timestamp) {
        riscv_trace_timestamp_share(&s->ts,
                                    s->sink_class->timestamp(s->sink));
    }
    if (s->cfg.timestamp_mode == RISCV_TRACE_TIMESTAMP_SHARED &&
        !s->ts.shared) {
        error_setg(errp, "timestamp-mode 4 of a trace encoder needs a "
                   "timestamp unit in its funnel");
        return;
    }
    if (!s->sink_class->connect(s->sink, s->hart_index, &s->source, errp)) {
        return;
    }
    riscv_trace_encoder_params(s, &s->params);
    riscv_trace_hart_attach(s->cpu, &riscv_trace_encoder_hart_ops, s,
                            s->hart_index);
}

static void riscv_trace_encoder_unrealize(DeviceState *dev)
{
    RISCVTraceEncoder *s = RISCV_TRACE_ENCODER(dev);

    riscv_trace_hart_detach(s->cpu);
    s->sink_class->disconnect(s->sink, s->hart_index);
}

static void riscv_trace_encoder_init(Object *obj)
{
    RISCVTraceEncoder *s = RISCV_TRACE_ENCODER(obj);

    riscv_trace_timestamp_init(&s->ts, 0, true);
    riscv_trace_encoder_regs_init(s);
    RISCV_TRACE_CALL_UNITS(init, s);
    sysbus_init_mmio(SYS_BUS_DEVICE(obj), &s->reg_array->mem);
}

static void riscv_trace_encoder_finalize(Object *obj)
{
    RISCVTraceEncoder *s = RISCV_TRACE_ENCODER(obj);

    riscv_trace_finalize_block(s->reg_array);
    riscv_trace_timestamp_cleanup(&s->ts);
    RISCV_TRACE_CALL_UNITS(finalize, s);
}

/*
 * Migration. The encoder itself has nothing to migrate: its window was ended
 * when the VM stopped, and the reader of the destination has a session of its
 * own. Units go on.
 */

static int riscv_trace_encoder_pre_load(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    RISCV_TRACE_CALL_UNITS(reset, s);
    return 0;
}

static int riscv_trace_encoder_post_load(void *opaque, int version_id)
{
    RISCVTraceEncoder *s = opaque;

    if (FIELD_EX32(s->regs[R_TR_TE_INST_FEATURES], TR_TE_INST_FEATURES,
                   SRC_BITS) > TR_TE_SRC_BITS_MAX) {
        return -EINVAL;
    }
    RISCV_TRACE_CALL_UNITS(post_load, s);
    riscv_trace_encoder_update(s);
    riscv_trace_encoder_changed(s);
    return 0;
}

static bool riscv_trace_encoder_timestamp_needed(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    return s->cfg.timestamp_width;
}

static const VMStateDescription vmstate_riscv_trace_encoder_timestamp = {
    .name = TYPE_RISCV_TRACE_ENCODER "/timestamp",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = riscv_trace_encoder_timestamp_needed,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT(ts, RISCVTraceEncoder, 1,
                       vmstate_riscv_trace_timestamp, RISCVTraceTimestamp),
        VMSTATE_END_OF_LIST()
    }
};

static const VMStateDescription vmstate_riscv_trace_encoder = {
    .name = TYPE_RISCV_TRACE_ENCODER,
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_load = riscv_trace_encoder_pre_load,
    .post_load = riscv_trace_encoder_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(regs[R_TR_TE_CONTROL], RISCVTraceEncoder),
        VMSTATE_BOOL(stall_or_overflow, RISCVTraceEncoder),
        VMSTATE_UINT32(regs[R_TR_TE_INST_FEATURES], RISCVTraceEncoder),
        VMSTATE_UINT32(regs[R_TR_TE_INST_FILTERS], RISCVTraceEncoder),
        VMSTATE_END_OF_LIST()
    },
};

/*
 * Units
 */

/* Each unit has a subsection, which it may need or not. */
static const VMStateDescription *riscv_trace_encoder_vmsd(void)
{
    static const VMStateDescription *subsections[RISCV_TRACE_UNITS + 2];
    static VMStateDescription vmsd;
    unsigned n = 0;

    for (unsigned i = 0; i < RISCV_TRACE_UNITS; i++) {
        const RISCVTraceEncoderUnit *unit = riscv_trace_encoder_units[i];

        if (unit && unit->vmsd) {
            subsections[n++] = unit->vmsd;
        }
    }
    subsections[n] = &vmstate_riscv_trace_encoder_timestamp;
    vmsd = vmstate_riscv_trace_encoder;
    vmsd.subsections = subsections;
    return &vmsd;
}

static void riscv_trace_encoder_class_init(ObjectClass *oc,
                                           RISCVTraceClassData data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    ResettableClass *rc = RESETTABLE_CLASS(oc);

    dc->desc = "RISC-V trace encoder";
    dc->realize = riscv_trace_encoder_realize;
    dc->unrealize = riscv_trace_encoder_unrealize;
    dc->vmsd = riscv_trace_encoder_vmsd();
    riscv_trace_encoder_class_props(oc);
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
    /* Reason: has to be connected to a hart and a sink */
    dc->user_creatable = false;
    rc->phases.enter = riscv_trace_encoder_reset_enter;
    rc->phases.exit = riscv_trace_encoder_reset_exit;
}

static const TypeInfo riscv_trace_encoder_info = {
    .name = TYPE_RISCV_TRACE_ENCODER,
    .parent = TYPE_SYS_BUS_DEVICE,
    .instance_size = sizeof(RISCVTraceEncoder),
    .instance_init = riscv_trace_encoder_init,
    .instance_finalize = riscv_trace_encoder_finalize,
    .class_init = riscv_trace_encoder_class_init,
};

static void riscv_trace_encoder_register_types(void)
{
    type_register_static(&riscv_trace_encoder_info);
}

type_init(riscv_trace_encoder_register_types)
