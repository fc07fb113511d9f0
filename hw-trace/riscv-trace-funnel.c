/*
 * RISC-V trace: funnel, several encoders into one sink
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/lockable.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "hw/qdev-properties.h"
#include "migration/vmstate.h"
#include "riscv-trace-compat.h"
#include "riscv-trace-funnel.h"
#include "trace.h"

static void riscv_trace_funnel_update(RISCVTraceFunnel *s)
{
    for (unsigned i = 0; i < s->num_inputs; i++) {
        if (s->sources[i]) {
            s->sources[i]->ops->update(s->sources[i]);
        }
    }
}

static bool riscv_trace_funnel_discards(RISCVTraceFunnel *s, unsigned index)
{
    return qatomic_read(&s->regs[R_TR_FUNNEL_DIS_INPUT]) & (1u << index);
}

/* Wait for a turn to use the sink, first come, first served. */
static void riscv_trace_funnel_begin_turn(RISCVTraceFunnel *s)
{
    uint32_t ticket;

    QEMU_LOCK_GUARD(&s->lock);
    ticket = s->next_ticket++;
    while (s->serving != ticket) {
        qemu_cond_wait(&s->turn, &s->lock);
    }
}

static void riscv_trace_funnel_end_turn(RISCVTraceFunnel *s)
{
    QEMU_LOCK_GUARD(&s->lock);
    s->serving++;
    if (s->serving != s->next_ticket) {
        qemu_cond_broadcast(&s->turn);
    }
}

/*
 * RISCVTraceSink
 */

static bool riscv_trace_funnel_connect(RISCVTraceSink *sink, unsigned index,
                                       RISCVTraceSource *src, Error **errp)
{
    RISCVTraceFunnel *s = RISCV_TRACE_FUNNEL(sink);

    if (index >= s->num_inputs) {
        error_setg(errp, "trace funnel has %u inputs, there is no input %u",
                   s->num_inputs, index);
        return false;
    }
    if (!s->sink_class->connect(s->sink, index, src, errp)) {
        return false;
    }
    s->sources[index] = src;
    return true;
}

static void riscv_trace_funnel_disconnect(RISCVTraceSink *sink, unsigned index)
{
    RISCVTraceFunnel *s = RISCV_TRACE_FUNNEL(sink);

    s->sink_class->disconnect(s->sink, index);
    s->sources[index] = NULL;
}

static bool riscv_trace_funnel_put(RISCVTraceSink *sink, unsigned index,
                                   const uint8_t *bytes, size_t len,
                                   unsigned packets)
{
    RISCVTraceFunnel *s = RISCV_TRACE_FUNNEL(sink);
    bool taken;

    /* What is on its way when an input is disabled */
    if (riscv_trace_funnel_discards(s, index)) {
        return false;
    }
    riscv_trace_funnel_begin_turn(s);
    taken = s->sink_class->put(s->sink, index, bytes, len, packets);
    riscv_trace_funnel_end_turn(s);
    return taken;
}

/*
 * What comes from an input that is disabled is to be discarded: there is no
 * use in tracing it. When it is enabled again, its trace starts anew, which a
 * decoder can follow.
 */
static bool riscv_trace_funnel_ready(RISCVTraceSink *sink, unsigned index)
{
    RISCVTraceFunnel *s = RISCV_TRACE_FUNNEL(sink);

    return riscv_trace_enabled(s->regs[R_TR_FUNNEL_CONTROL]) &&
           !riscv_trace_funnel_discards(s, index) &&
           s->sink_class->ready(s->sink, index);
}

static bool riscv_trace_funnel_room(RISCVTraceSink *sink, unsigned index)
{
    RISCVTraceFunnel *s = RISCV_TRACE_FUNNEL(sink);

    return s->sink_class->room(s->sink, index);
}

static bool riscv_trace_funnel_lost(RISCVTraceSink *sink, unsigned index)
{
    RISCVTraceFunnel *s = RISCV_TRACE_FUNNEL(sink);

    return s->sink_class->lost(s->sink, index);
}

static void riscv_trace_funnel_throttle(RISCVTraceSink *sink, unsigned index,
                                        bool lossless)
{
    RISCVTraceFunnel *s = RISCV_TRACE_FUNNEL(sink);

    s->sink_class->throttle(s->sink, index, lossless);
}

static void riscv_trace_funnel_restart(RISCVTraceSink *sink)
{
    RISCVTraceFunnel *s = RISCV_TRACE_FUNNEL(sink);

    s->sink_class->restart(s->sink);
}

static RISCVTraceTimestamp *riscv_trace_funnel_timestamp(RISCVTraceSink *sink)
{
    return &RISCV_TRACE_FUNNEL(sink)->ts;
}

/*
 * Registers
 */

static uint64_t riscv_trace_funnel_control_pre_write(RegisterInfo *reg,
                                                     uint64_t val)
{
    RISCVTraceFunnel *s = reg->opaque;

    if (!FIELD_EX32(val, TR_CONTROL, ACTIVE)) {
        riscv_trace_timestamp_power_up(&s->ts, s->timestamp_mode);
    }
    return riscv_trace_control(s->regs[R_TR_FUNNEL_CONTROL], val, 0);
}

static uint64_t riscv_trace_funnel_dis_input_pre_write(RegisterInfo *reg,
                                                       uint64_t val)
{
    RISCVTraceFunnel *s = reg->opaque;

    return val & riscv_trace_mask(s->num_inputs);
}

static void riscv_trace_funnel_post_write(RegisterInfo *reg, uint64_t val)
{
    RISCVTraceFunnel *s = reg->opaque;

    trace_riscv_trace_funnel_control(s->regs[R_TR_FUNNEL_CONTROL],
                                     s->regs[R_TR_FUNNEL_DIS_INPUT]);
    riscv_trace_funnel_update(s);
}

static uint64_t riscv_trace_funnel_control_post_read(RegisterInfo *reg,
                                                     uint64_t val)
{
    /* Packets pass without being stored. */
    return FIELD_DP32(val, TR_CONTROL, EMPTY, 1);
}

/* The unit keeps its registers itself; it is in reset with the funnel. */
static uint64_t riscv_trace_funnel_ts_pre_write(RegisterInfo *reg,
                                                uint64_t val)
{
    RISCVTraceFunnel *s = reg->opaque;

    if (FIELD_EX32(s->regs[R_TR_FUNNEL_CONTROL], TR_CONTROL, ACTIVE)) {
        riscv_trace_timestamp_write(&s->ts, val);
    }
    return 0;
}

static uint64_t riscv_trace_funnel_ts_post_read(RegisterInfo *reg,
                                                uint64_t val)
{
    RISCVTraceFunnel *s = reg->opaque;

    switch (reg->access->addr) {
    case A_TR_TS_CONTROL:
        return riscv_trace_timestamp_read(&s->ts);
    case A_TR_TS_COUNTER_LOW:
        return (uint32_t)riscv_trace_timestamp_now(&s->ts);
    default:
        return riscv_trace_timestamp_now(&s->ts) >> 32;
    }
}

static const RegisterAccessInfo riscv_trace_funnel_regs_info[] = {
    {   .name = "trFunnelControl", .addr = A_TR_FUNNEL_CONTROL,
        .ro = R_TR_CONTROL_EMPTY_MASK,
        .rsvd = TR_FUNNEL_CONTROL_RSVD,
        .pre_write = riscv_trace_funnel_control_pre_write,
        .post_write = riscv_trace_funnel_post_write,
        .post_read = riscv_trace_funnel_control_post_read,
    },{ .name = "trFunnelImpl", .addr = A_TR_FUNNEL_IMPL,
        .reset = TR_IMPL_VALUE(TR_COMP_FUNNEL),
        .ro = 0xffffffff,
    },{ .name = "trFunnelDisInput", .addr = A_TR_FUNNEL_DIS_INPUT,
        .rsvd = 0xffff0000,
        .pre_write = riscv_trace_funnel_dis_input_pre_write,
        .post_write = riscv_trace_funnel_post_write,
    },{ .name = "trTsControl", .addr = A_TR_TS_CONTROL,
        .pre_write = riscv_trace_funnel_ts_pre_write,
        .post_read = riscv_trace_funnel_ts_post_read,
    },{ .name = "trTsCounterLow", .addr = A_TR_TS_COUNTER_LOW,
        .ro = 0xffffffff,
        .post_read = riscv_trace_funnel_ts_post_read,
    },{ .name = "trTsCounterHigh", .addr = A_TR_TS_COUNTER_HIGH,
        .ro = 0xffffffff,
        .post_read = riscv_trace_funnel_ts_post_read,
    },
};

/*
 * Device
 */

static void riscv_trace_funnel_reset_enter(Object *obj, ResetType type)
{
    RISCVTraceFunnel *s = RISCV_TRACE_FUNNEL(obj);

    s->regs[R_TR_FUNNEL_CONTROL] = 0;
    s->regs[R_TR_FUNNEL_IMPL] = TR_IMPL_VALUE(TR_COMP_FUNNEL);
    qatomic_set(&s->regs[R_TR_FUNNEL_DIS_INPUT], 0);
    riscv_trace_timestamp_power_up(&s->ts, s->timestamp_mode);
}

static void riscv_trace_funnel_reset_exit(Object *obj, ResetType type)
{
    RISCVTraceFunnel *s = RISCV_TRACE_FUNNEL(obj);

    if (s->autostart) {
        s->regs[R_TR_FUNNEL_CONTROL] |= R_TR_CONTROL_ACTIVE_MASK |
                                        R_TR_CONTROL_ENABLE_MASK;
    }
    riscv_trace_funnel_update(s);
}

static void riscv_trace_funnel_realize(DeviceState *dev, Error **errp)
{
    RISCVTraceFunnel *s = RISCV_TRACE_FUNNEL(dev);

    if (!s->sink_obj) {
        error_setg(errp, "trace funnel needs a \"sink\"");
        return;
    }
    if (s->num_inputs < 1 || s->num_inputs > RISCV_TRACE_MAX_SOURCES) {
        error_setg(errp, "num-inputs of a trace funnel is 1 to %u",
                   RISCV_TRACE_MAX_SOURCES);
        return;
    }
    if (s->timestamp_width > RISCV_TRACE_TIMESTAMP_WIDTH_MAX) {
        error_setg(errp, "timestamp-width of a trace funnel is 0 to %u",
                   RISCV_TRACE_TIMESTAMP_WIDTH_MAX);
        return;
    }
    if (s->timestamp_mode > RISCV_TRACE_TIMESTAMP_SYSTEM &&
        s->timestamp_mode != RISCV_TRACE_TIMESTAMP_SHARED) {
        error_setg(errp, "timestamp-mode of a trace funnel is 0, 1, 2 or 4, "
                   "not %u", s->timestamp_mode);
        return;
    }
    if (s->timestamp_mode && !s->timestamp_width) {
        error_setg(errp, "timestamp-mode of a trace funnel needs "
                   "timestamp-width");
        return;
    }
    s->ts.width = s->timestamp_width;
    s->sink = RISCV_TRACE_SINK(s->sink_obj);
    s->sink_class = RISCV_TRACE_SINK_GET_CLASS(s->sink);
    if (s->sink_class->timestamp) {
        riscv_trace_timestamp_share(&s->ts,
                                    s->sink_class->timestamp(s->sink));
    }
    if (s->timestamp_mode == RISCV_TRACE_TIMESTAMP_SHARED && !s->ts.shared) {
        error_setg(errp, "timestamp-mode 4 of a trace funnel needs a "
                   "timestamp unit in the funnel behind it");
    }
}

static void riscv_trace_funnel_init(Object *obj)
{
    RISCVTraceFunnel *s = RISCV_TRACE_FUNNEL(obj);

    qemu_mutex_init(&s->lock);
    qemu_cond_init(&s->turn);
    riscv_trace_timestamp_init(&s->ts, 0, false);
    s->reg_array =
        register_init_block32(DEVICE(obj), riscv_trace_funnel_regs_info,
                              ARRAY_SIZE(riscv_trace_funnel_regs_info),
                              s->regs_info, s->regs, &riscv_trace_mmio_ops,
                              false, RISCV_TRACE_MMIO_SIZE);
    sysbus_init_mmio(SYS_BUS_DEVICE(obj), &s->reg_array->mem);
}

static void riscv_trace_funnel_finalize(Object *obj)
{
    RISCVTraceFunnel *s = RISCV_TRACE_FUNNEL(obj);

    riscv_trace_finalize_block(s->reg_array);
    riscv_trace_timestamp_cleanup(&s->ts);
    qemu_cond_destroy(&s->turn);
    qemu_mutex_destroy(&s->lock);
}

static int riscv_trace_funnel_post_load(void *opaque, int version_id)
{
    riscv_trace_funnel_update(opaque);
    return 0;
}

static bool riscv_trace_funnel_timestamp_needed(void *opaque)
{
    RISCVTraceFunnel *s = opaque;

    return s->timestamp_width;
}

static const VMStateDescription vmstate_riscv_trace_funnel_timestamp = {
    .name = TYPE_RISCV_TRACE_FUNNEL "/timestamp",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = riscv_trace_funnel_timestamp_needed,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT(ts, RISCVTraceFunnel, 1,
                       vmstate_riscv_trace_timestamp, RISCVTraceTimestamp),
        VMSTATE_END_OF_LIST()
    }
};

static const VMStateDescription vmstate_riscv_trace_funnel = {
    .name = TYPE_RISCV_TRACE_FUNNEL,
    .version_id = 1,
    .minimum_version_id = 1,
    .post_load = riscv_trace_funnel_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(regs[R_TR_FUNNEL_CONTROL], RISCVTraceFunnel),
        VMSTATE_UINT32(regs[R_TR_FUNNEL_DIS_INPUT], RISCVTraceFunnel),
        VMSTATE_END_OF_LIST()
    },
    .subsections = (const VMStateDescription * const []) {
        &vmstate_riscv_trace_funnel_timestamp,
        NULL
    }
};

static const Property riscv_trace_funnel_properties[] = {
    DEFINE_PROP_UINT8("num-inputs", RISCVTraceFunnel, num_inputs,
                      RISCV_TRACE_MAX_SOURCES),
    DEFINE_PROP_BOOL("autostart", RISCVTraceFunnel, autostart, false),
    DEFINE_PROP_UINT8("timestamp-width", RISCVTraceFunnel, timestamp_width,
                      0),
    DEFINE_PROP_UINT8("timestamp-mode", RISCVTraceFunnel, timestamp_mode,
                      RISCV_TRACE_TIMESTAMP_NONE),
    DEFINE_PROP_LINK("sink", RISCVTraceFunnel, sink_obj,
                     TYPE_RISCV_TRACE_SINK, Object *),
};

static void riscv_trace_funnel_class_init(ObjectClass *oc,
                                          RISCVTraceClassData data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    ResettableClass *rc = RESETTABLE_CLASS(oc);
    RISCVTraceSinkClass *sc = RISCV_TRACE_SINK_CLASS(oc);

    dc->desc = "RISC-V trace funnel";
    dc->realize = riscv_trace_funnel_realize;
    dc->vmsd = &vmstate_riscv_trace_funnel;
    device_class_set_props(dc, riscv_trace_funnel_properties);
    object_class_property_set_description(oc, "num-inputs",
        "number of encoders that can be connected (1 to 16)");
    object_class_property_set_description(oc, "autostart",
        "trace from reset");
    object_class_property_set_description(oc, "sink",
        "replicator or ATB bridge that gets the packets");
    object_class_property_set_description(oc, "timestamp-width",
        "width of timestamps (0 to 63), 0: no timestamp unit");
    object_class_property_set_description(oc, "timestamp-mode",
        "trTsMode at power-up (0: off, 1: external, 2: system, 4: shared)");
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
    /* Reason: has to be connected to encoders and a sink */
    dc->user_creatable = false;
    rc->phases.enter = riscv_trace_funnel_reset_enter;
    rc->phases.exit = riscv_trace_funnel_reset_exit;
    sc->connect = riscv_trace_funnel_connect;
    sc->disconnect = riscv_trace_funnel_disconnect;
    sc->put = riscv_trace_funnel_put;
    sc->ready = riscv_trace_funnel_ready;
    sc->room = riscv_trace_funnel_room;
    sc->lost = riscv_trace_funnel_lost;
    sc->throttle = riscv_trace_funnel_throttle;
    sc->restart = riscv_trace_funnel_restart;
    sc->timestamp = riscv_trace_funnel_timestamp;
}

static const TypeInfo riscv_trace_funnel_info = {
    .name = TYPE_RISCV_TRACE_FUNNEL,
    .parent = TYPE_SYS_BUS_DEVICE,
    .instance_size = sizeof(RISCVTraceFunnel),
    .instance_init = riscv_trace_funnel_init,
    .instance_finalize = riscv_trace_funnel_finalize,
    .class_init = riscv_trace_funnel_class_init,
    .interfaces = (InterfaceInfo[]) {
        { TYPE_RISCV_TRACE_SINK },
        { }
    },
};

static void riscv_trace_funnel_register_types(void)
{
    type_register_static(&riscv_trace_funnel_info);
}

type_init(riscv_trace_funnel_register_types)
