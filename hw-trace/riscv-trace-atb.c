/*
 * RISC-V trace: bridge to an Advanced Trace Bus
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "hw/qdev-properties.h"
#include "migration/vmstate.h"
#include "riscv-trace-compat.h"
#include "riscv-trace-atb.h"
#include "trace.h"

static void riscv_trace_atb_update(RISCVTraceATB *s)
{
    for (unsigned i = 0; i < RISCV_TRACE_MAX_SOURCES; i++) {
        if (s->sources[i]) {
            s->sources[i]->ops->update(s->sources[i]);
        }
    }
}

/*
 * RISCVTraceSink
 */

static bool riscv_trace_atb_connect(RISCVTraceSink *sink, unsigned index,
                                    RISCVTraceSource *src, Error **errp)
{
    RISCVTraceATB *s = RISCV_TRACE_ATB(sink);

    if (!s->sink_class->connect(s->sink, index, src, errp)) {
        return false;
    }
    s->sources[index] = src;
    return true;
}

static void riscv_trace_atb_disconnect(RISCVTraceSink *sink, unsigned index)
{
    RISCVTraceATB *s = RISCV_TRACE_ATB(sink);

    s->sink_class->disconnect(s->sink, index);
    s->sources[index] = NULL;
}

static bool riscv_trace_atb_put(RISCVTraceSink *sink, unsigned index,
                                const uint8_t *bytes, size_t len,
                                unsigned packets)
{
    RISCVTraceATB *s = RISCV_TRACE_ATB(sink);

    return s->sink_class->put(s->sink, index, bytes, len, packets);
}

static bool riscv_trace_atb_ready(RISCVTraceSink *sink, unsigned index)
{
    RISCVTraceATB *s = RISCV_TRACE_ATB(sink);

    return riscv_trace_enabled(s->regs[R_TR_ATB_CONTROL]) &&
           s->sink_class->ready(s->sink, index);
}

static bool riscv_trace_atb_room(RISCVTraceSink *sink, unsigned index)
{
    RISCVTraceATB *s = RISCV_TRACE_ATB(sink);

    return s->sink_class->room(s->sink, index);
}

static bool riscv_trace_atb_lost(RISCVTraceSink *sink, unsigned index)
{
    RISCVTraceATB *s = RISCV_TRACE_ATB(sink);

    return s->sink_class->lost(s->sink, index);
}

static void riscv_trace_atb_throttle(RISCVTraceSink *sink, unsigned index,
                                     bool lossless)
{
    RISCVTraceATB *s = RISCV_TRACE_ATB(sink);

    s->sink_class->throttle(s->sink, index, lossless);
}

static void riscv_trace_atb_restart(RISCVTraceSink *sink)
{
    RISCVTraceATB *s = RISCV_TRACE_ATB(sink);

    s->sink_class->restart(s->sink);
}

/*
 * Registers
 */

static uint64_t riscv_trace_atb_control_pre_write(RegisterInfo *reg,
                                                  uint64_t val)
{
    RISCVTraceATB *s = reg->opaque;

    return riscv_trace_control(s->regs[R_TR_ATB_CONTROL], val, 0);
}

static void riscv_trace_atb_control_post_write(RegisterInfo *reg, uint64_t val)
{
    trace_riscv_trace_atb_control(val);
    riscv_trace_atb_update(reg->opaque);
}

static uint64_t riscv_trace_atb_control_post_read(RegisterInfo *reg,
                                                  uint64_t val)
{
    /* Packets pass without being stored. */
    return FIELD_DP32(val, TR_CONTROL, EMPTY, 1);
}

static const RegisterAccessInfo riscv_trace_atb_regs_info[] = {
    {   .name = "trAtbBridgeControl", .addr = A_TR_ATB_CONTROL,
        .ro = R_TR_CONTROL_EMPTY_MASK,
        .rsvd = TR_ATB_CONTROL_RSVD,
        .pre_write = riscv_trace_atb_control_pre_write,
        .post_write = riscv_trace_atb_control_post_write,
        .post_read = riscv_trace_atb_control_post_read,
    },{ .name = "trAtbBridgeImpl", .addr = A_TR_ATB_IMPL,
        /* trAtbBridgeAsyncFreq is 0: alignment is left to the sinks. */
        .ro = 0xffffffff,
    },
};

/*
 * Device
 */

static void riscv_trace_atb_reset_enter(Object *obj, ResetType type)
{
    RISCVTraceATB *s = RISCV_TRACE_ATB(obj);

    s->regs[R_TR_ATB_CONTROL] = 0;
    s->regs[R_TR_ATB_IMPL] = TR_IMPL_VALUE(TR_COMP_ATB_BRIDGE);
}

static void riscv_trace_atb_reset_exit(Object *obj, ResetType type)
{
    RISCVTraceATB *s = RISCV_TRACE_ATB(obj);

    if (s->autostart) {
        s->regs[R_TR_ATB_CONTROL] |= R_TR_CONTROL_ACTIVE_MASK |
                                     R_TR_CONTROL_ENABLE_MASK;
    }
    riscv_trace_atb_update(s);
}

static void riscv_trace_atb_realize(DeviceState *dev, Error **errp)
{
    RISCVTraceATB *s = RISCV_TRACE_ATB(dev);

    if (!s->sink_obj) {
        error_setg(errp, "trace ATB bridge needs a \"sink\"");
        return;
    }
    s->sink = RISCV_TRACE_SINK(s->sink_obj);
    s->sink_class = RISCV_TRACE_SINK_GET_CLASS(s->sink);
}

static void riscv_trace_atb_init(Object *obj)
{
    RISCVTraceATB *s = RISCV_TRACE_ATB(obj);

    s->reg_array = register_init_block32(DEVICE(obj),
                                         riscv_trace_atb_regs_info,
                                         ARRAY_SIZE(riscv_trace_atb_regs_info),
                                         s->regs_info, s->regs,
                                         &riscv_trace_mmio_ops, false,
                                         RISCV_TRACE_MMIO_SIZE);
    sysbus_init_mmio(SYS_BUS_DEVICE(obj), &s->reg_array->mem);
}

static void riscv_trace_atb_finalize(Object *obj)
{
    riscv_trace_finalize_block(RISCV_TRACE_ATB(obj)->reg_array);
}

static int riscv_trace_atb_post_load(void *opaque, int version_id)
{
    riscv_trace_atb_update(opaque);
    return 0;
}

static const VMStateDescription vmstate_riscv_trace_atb = {
    .name = TYPE_RISCV_TRACE_ATB,
    .version_id = 1,
    .minimum_version_id = 1,
    .post_load = riscv_trace_atb_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(regs[R_TR_ATB_CONTROL], RISCVTraceATB),
        VMSTATE_END_OF_LIST()
    }
};

static const Property riscv_trace_atb_properties[] = {
    DEFINE_PROP_BOOL("autostart", RISCVTraceATB, autostart, false),
    DEFINE_PROP_LINK("sink", RISCVTraceATB, sink_obj,
                     TYPE_RISCV_TRACE_SINK, Object *),
};

static void riscv_trace_atb_class_init(ObjectClass *oc,
                                       RISCVTraceClassData data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    ResettableClass *rc = RESETTABLE_CLASS(oc);
    RISCVTraceSinkClass *sc = RISCV_TRACE_SINK_CLASS(oc);

    dc->desc = "RISC-V trace ATB bridge";
    dc->realize = riscv_trace_atb_realize;
    dc->vmsd = &vmstate_riscv_trace_atb;
    device_class_set_props(dc, riscv_trace_atb_properties);
    object_class_property_set_description(oc, "autostart",
        "trace from reset");
    object_class_property_set_description(oc, "sink",
        "replicator that gets the packets");
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
    /* Reason: has to be connected to encoders and a sink */
    dc->user_creatable = false;
    rc->phases.enter = riscv_trace_atb_reset_enter;
    rc->phases.exit = riscv_trace_atb_reset_exit;
    sc->connect = riscv_trace_atb_connect;
    sc->disconnect = riscv_trace_atb_disconnect;
    sc->put = riscv_trace_atb_put;
    sc->ready = riscv_trace_atb_ready;
    sc->room = riscv_trace_atb_room;
    sc->lost = riscv_trace_atb_lost;
    sc->throttle = riscv_trace_atb_throttle;
    sc->restart = riscv_trace_atb_restart;
}

static const TypeInfo riscv_trace_atb_info = {
    .name = TYPE_RISCV_TRACE_ATB,
    .parent = TYPE_SYS_BUS_DEVICE,
    .instance_size = sizeof(RISCVTraceATB),
    .instance_init = riscv_trace_atb_init,
    .instance_finalize = riscv_trace_atb_finalize,
    .class_init = riscv_trace_atb_class_init,
    .interfaces = (InterfaceInfo[]) {
        { TYPE_RISCV_TRACE_SINK },
        { }
    },
};

static void riscv_trace_atb_register_types(void)
{
    type_register_static(&riscv_trace_atb_info);
}

type_init(riscv_trace_atb_register_types)
