/*
 * RISC-V trace: the sideband stream's way out of the machine
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "qemu/module.h"
#include "hw/qdev-properties.h"
#include "hw/qdev-properties-system.h"
#include "hw/trace/riscv-trace-compat.h"
#include "riscv-trace-sideband.h"

static void riscv_trace_sideband_opened(void *opaque)
{
    RISCVTraceSideband *s = opaque;

    if (s->ops) {
        s->ops->opened(s->opaque);
    }
}

static void riscv_trace_sideband_closed(void *opaque)
{
    RISCVTraceSideband *s = opaque;

    if (s->ops) {
        s->ops->closed(s->opaque);
    }
}

static void riscv_trace_sideband_drained(void *opaque)
{
    RISCVTraceSideband *s = opaque;

    if (s->ops) {
        s->ops->drained(s->opaque);
    }
}

static const RISCVTraceChardevOps riscv_trace_sideband_chardev_ops = {
    .opened = riscv_trace_sideband_opened,
    .closed = riscv_trace_sideband_closed,
    .drained = riscv_trace_sideband_drained,
    .failure = "the trace goes on, but code that runs for the first time from "
               "here on cannot be decoded without the program",
};

void riscv_trace_sideband_listen(RISCVTraceSideband *s,
                                 const RISCVTraceChardevOps *ops, void *opaque)
{
    s->ops = ops;
    s->opaque = opaque;
    if (ops && riscv_trace_chardev_is_open(&s->out)) {
        ops->opened(opaque);
    }
}

static void riscv_trace_sideband_realize(DeviceState *dev, Error **errp)
{
    RISCVTraceSideband *s = RISCV_TRACE_SIDEBAND(dev);

    riscv_trace_chardev_init(&s->out, &riscv_trace_sideband_chardev_ops, s,
                             errp);
}

static void riscv_trace_sideband_unrealize(DeviceState *dev)
{
    riscv_trace_chardev_cleanup(&RISCV_TRACE_SIDEBAND(dev)->out);
}

static const Property riscv_trace_sideband_properties[] = {
    DEFINE_PROP_CHR("chardev", RISCVTraceSideband, out.chr),
    DEFINE_PROP_SIZE32("buffer-size", RISCVTraceSideband, out.capacity,
                       RISCV_TRACE_BUFFER_DEFAULT),
};

static void riscv_trace_sideband_class_init(ObjectClass *oc,
                                            RISCVTraceClassData data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);

    dc->desc = "RISC-V trace sideband stream";
    dc->realize = riscv_trace_sideband_realize;
    dc->unrealize = riscv_trace_sideband_unrealize;
    device_class_set_props(dc, riscv_trace_sideband_properties);
    object_class_property_set_description(oc, "chardev",
        "gets the code that ran, beside the trace");
    object_class_property_set_description(oc, "buffer-size",
        "bytes that wait for the reader at most (2M to 1G)");
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
    /* Reason: has to be linked to a sink */
    dc->user_creatable = false;
}

static const TypeInfo riscv_trace_sideband_info = {
    .name = TYPE_RISCV_TRACE_SIDEBAND,
    .parent = TYPE_DEVICE,
    .instance_size = sizeof(RISCVTraceSideband),
    .class_init = riscv_trace_sideband_class_init,
};

static void riscv_trace_sideband_register_types(void)
{
    type_register_static(&riscv_trace_sideband_info);
}

type_init(riscv_trace_sideband_register_types)
