/*
 * RISC-V trace: the trace components of a machine
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/host-utils.h"
#include "chardev/char.h"
#include "system/address-spaces.h"
#include "hw/boards.h"
#include "hw/qdev-properties.h"
#include "hw/sysbus.h"
#include "system/qtest.h"
#include "system/tcg.h"
#include "riscv-trace-atb.h"
#include "riscv-trace-components.h"
#include "riscv-trace-encoder.h"
#include "riscv-trace-funnel.h"
#include "riscv-trace-pib.h"
#include "riscv-trace-ram.h"
#include "riscv-trace-regs.h"
#include "riscv-trace-replicator.h"
#include "stream/riscv-trace-sideband.h"

/* What is created */
typedef struct Plan {
    const RISCVTraceOptions *opt;
    unsigned harts;             /* how many */
    hwaddr base;
} Plan;

bool riscv_trace_check_chardev(const char *property, const char *id,
                               Error **errp)
{
    ERRP_GUARD();

    if (id && !qemu_chr_find(id)) {
        error_setg(errp, "%s: there is no chardev '%s'", property, id);
        error_append_hint(errp, "Create it with -chardev ...,id=%s\n", id);
        return false;
    }
    return true;
}

static DeviceState *new_component(const char *type, const char *name)
{
    DeviceState *dev = qdev_new(type);

    object_property_add_child(qdev_get_machine(), name, OBJECT(dev));
    object_unref(OBJECT(dev));
    return dev;
}

/* Realize it, and map it there, if components are mapped. */
static bool realize(const Plan *p, DeviceState *dev, unsigned page,
                    Error **errp)
{
    if (!sysbus_realize(SYS_BUS_DEVICE(dev), errp)) {
        return false;
    }
    if (p->base != RISCV_TRACE_UNMAPPED) {
        sysbus_mmio_map(SYS_BUS_DEVICE(dev), 0,
                        p->base + page * RISCV_TRACE_MMIO_SIZE);
    }
    return true;
}

static DeviceState *create_replicator(const Plan *p, Error **errp)
{
    DeviceState *dev, *sideband;

    dev = new_component(TYPE_RISCV_TRACE_REPLICATOR, "trace-replicator");
    if (p->opt->sideband) {
        sideband = new_component(TYPE_RISCV_TRACE_SIDEBAND,
                                 "trace-sideband-stream");
        if (!object_property_set_str(OBJECT(sideband), "chardev",
                                     p->opt->sideband, errp) ||
            !qdev_realize(sideband, NULL, errp)) {
            return NULL;
        }
        object_property_set_link(OBJECT(dev), "sideband", OBJECT(sideband),
                                 &error_abort);
    }
    return qdev_realize(dev, NULL, errp) ? dev : NULL;
}

static bool create_pib(const Plan *p, DeviceState *replicator, Error **errp)
{
    const RISCVTraceOptions *opt = p->opt;
    DeviceState *dev;

    dev = new_component(TYPE_RISCV_TRACE_PIB, "trace-pib");
    qdev_prop_set_bit(dev, "autostart", opt->autostart);
    object_property_set_link(OBJECT(dev), "replicator", OBJECT(replicator),
                             &error_abort);
    if (opt->chardev && !object_property_set_str(OBJECT(dev), "chardev",
                                                 opt->chardev, errp)) {
        return false;
    }
    return realize(p, dev, RISCV_TRACE_PAGE_PIB, errp);
}

/* The RAM sink of hart number @hart, or with -1 that of all of them */
static bool create_ram(const Plan *p, int hart, DeviceState *replicator,
                       Error **errp)
{
    g_autofree char *name = hart < 0 ? g_strdup("trace-ram") :
                                       g_strdup_printf("trace-ram%d", hart);
    DeviceState *dev;

    dev = new_component(TYPE_RISCV_TRACE_RAM, name);
    qdev_prop_set_int32(dev, "hart", hart);
    if (p->opt->autostart && !p->opt->chardev) {
        /* Nobody reads the trace elsewhere. */
        qdev_prop_set_bit(dev, "autostart", true);
    }
    object_property_set_link(OBJECT(dev), "replicator", OBJECT(replicator),
                             &error_abort);
    object_property_set_link(OBJECT(dev), "memory",
                             OBJECT(get_system_memory()), &error_abort);
    return realize(p, dev, hart < 0 ? RISCV_TRACE_PAGE_RAM :
                                      RISCV_TRACE_PAGE_HART_RAM + hart, errp);
}

static DeviceState *create_atb(const Plan *p, DeviceState *sink, Error **errp)
{
    DeviceState *dev;

    dev = new_component(TYPE_RISCV_TRACE_ATB, "trace-atb-bridge");
    qdev_prop_set_bit(dev, "autostart", p->opt->autostart);
    object_property_set_link(OBJECT(dev), "sink", OBJECT(sink), &error_abort);
    return realize(p, dev, RISCV_TRACE_PAGE_ATB, errp) ? dev : NULL;
}

static DeviceState *create_funnel(const Plan *p, DeviceState *sink,
                                  Error **errp)
{
    DeviceState *dev;

    dev = new_component(TYPE_RISCV_TRACE_FUNNEL, "trace-funnel");
    qdev_prop_set_bit(dev, "autostart", p->opt->autostart);
    qdev_prop_set_uint8(dev, "num-inputs", p->harts);
    object_property_set_link(OBJECT(dev), "sink", OBJECT(sink), &error_abort);
    return realize(p, dev, RISCV_TRACE_PAGE_FUNNEL, errp) ? dev : NULL;
}

/*
 * The srcID. 8 bits are what the encapsulation recommends, and what software
 * may have come to expect; who starts trace for the guest wants few bytes.
 */
static void set_source(const Plan *p, DeviceState *dev, unsigned index)
{
    unsigned needed = 32 - clz32(p->harts - 1);

    if (!object_property_get_uint(OBJECT(dev), "src-bits", &error_abort)) {
        qdev_prop_set_uint8(dev, "src-bits", p->opt->autostart ? needed : 8);
    }
    qdev_prop_set_uint16(dev, "src-id", index);
}

static bool create_encoder(const Plan *p, unsigned index, Object *cpu,
                           DeviceState *sink, Error **errp)
{
    g_autofree char *name = g_strdup_printf("trace-encoder%u", index);
    DeviceState *dev = new_component(TYPE_RISCV_TRACE_ENCODER, name);

    qdev_prop_set_bit(dev, "autostart", p->opt->autostart);
    qdev_prop_set_uint32(dev, "hart-index", index);
    if (p->opt->modes) {
        qdev_prop_set_string(dev, "autostart-modes", p->opt->modes);
    }
    if (p->harts > 1) {
        set_source(p, dev, index);
    }
    object_property_set_link(OBJECT(dev), "cpu", cpu, &error_abort);
    object_property_set_link(OBJECT(dev), "sink", OBJECT(sink), &error_abort);
    return realize(p, dev, index, errp);
}

/*
 * What encoders are connected to: the replicator, and before it all that they
 * share; or their sinks, behind it. NULL with @errp set if that fails.
 */
static DeviceState *create_sinks(const Plan *p, Error **errp)
{
    DeviceState *sink = create_replicator(p, errp);

    if (!sink) {
        return NULL;
    }
    if (p->opt->per_hart) {
        for (unsigned i = 0; i < p->harts; i++) {
            if (!create_ram(p, i, sink, errp)) {
                return NULL;
            }
        }
        return sink;
    }
    if (!create_pib(p, sink, errp) || !create_ram(p, -1, sink, errp)) {
        return NULL;
    }
    if (p->opt->atb) {
        sink = create_atb(p, sink, errp);
    }
    return sink ? create_funnel(p, sink, errp) : NULL;
}

bool riscv_trace_components_create(const RISCVTraceOptions *opt,
                                   const GPtrArray *harts, hwaddr base,
                                   Error **errp)
{
    Plan plan = { .opt = opt, .harts = harts->len, .base = base };
    DeviceState *sink;

    if (!tcg_enabled() && !qtest_enabled()) {
        error_setg(errp, "a trace is only available with TCG acceleration");
        return false;
    }
    if (object_resolve_path_component(qdev_get_machine(),
                                      "trace-replicator")) {
        error_setg(errp, "the machine's harts are traced already");
        return false;
    }
    sink = create_sinks(&plan, errp);
    if (!sink) {
        return false;
    }
    for (unsigned i = 0; i < harts->len; i++) {
        if (!create_encoder(&plan, i, harts->pdata[i], sink, errp)) {
            return false;
        }
    }
    return true;
}
