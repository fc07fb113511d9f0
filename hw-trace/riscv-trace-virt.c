/*
 * RISC-V trace: the trace components of the virt machine
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/host-utils.h"
#include "chardev/char.h"
#include "system/address-spaces.h"
#include "hw/qdev-properties.h"
#include "hw/riscv/numa.h"
#include "hw/riscv/virt.h"
#include "hw/sysbus.h"
#include "system/qtest.h"
#include "system/tcg.h"
#include "riscv-trace-atb.h"
#include "riscv-trace-encoder.h"
#include "riscv-trace-funnel.h"
#include "riscv-trace-pib.h"
#include "riscv-trace-ram.h"
#include "riscv-trace-replicator.h"
#include "riscv-trace-sideband.h"
#include "riscv-trace-virt-private.h"

/*
 * Options
 */

static bool riscv_trace_virt_check_chardev(const char *property,
                                           const char *id, Error **errp)
{
    ERRP_GUARD();

    if (id && !qemu_chr_find(id)) {
        error_setg(errp, "%s: there is no chardev '%s'", property, id);
        error_append_hint(errp, "Create it with -chardev ...,id=%s\n", id);
        return false;
    }
    return true;
}

static bool riscv_trace_virt_check(RISCVVirtState *s, Error **errp)
{
    const RISCVTraceOptions *opt = &s->trace;
    unsigned harts = MACHINE(s)->smp.cpus;

    if (!opt->on) {
        const char *property = opt->chardev ? "trace-chardev" :
                               opt->sideband ? "trace-sideband" :
                               opt->autostart ? "trace-autostart" :
                               opt->modes ? "trace-modes" :
                               opt->atb ? "trace-atb" :
                               opt->per_hart ? "trace-topology" :
                               opt->needs_sideband;

        if (property) {
            error_setg(errp, "%s needs trace=on", property);
            return false;
        }
        return true;
    }
    if (!tcg_enabled() && !qtest_enabled()) {
        error_setg(errp, "trace=on is only available with TCG acceleration");
        return false;
    }
    if (opt->per_hart && (opt->chardev || opt->atb)) {
        error_setg(errp, "%s needs trace-topology=funnel: with per-hart, all "
                   "that a hart's trace can go to is its RAM sink",
                   opt->chardev ? "trace-chardev" : "trace-atb");
        return false;
    }
    if (opt->needs_sideband && !opt->sideband) {
        error_setg(errp, "%s needs trace-sideband, where what is found goes",
                   opt->needs_sideband);
        return false;
    }
    if (harts > RISCV_TRACE_MAX_SOURCES) {
        error_setg(errp, "trace=on is for up to %u harts, this machine has %u",
                   RISCV_TRACE_MAX_SOURCES, harts);
        return false;
    }
    return riscv_trace_virt_check_chardev("trace-chardev", opt->chardev,
                                          errp) &&
           riscv_trace_virt_check_chardev("trace-sideband", opt->sideband,
                                          errp);
}

/*
 * Devices
 */

static DeviceState *riscv_trace_virt_new(RISCVVirtState *s, const char *type,
                                         const char *name)
{
    DeviceState *dev = qdev_new(type);

    object_property_add_child(OBJECT(s), name, OBJECT(dev));
    object_unref(OBJECT(dev));
    return dev;
}

static bool riscv_trace_virt_map(DeviceState *dev, hwaddr base, Error **errp)
{
    if (!sysbus_realize(SYS_BUS_DEVICE(dev), errp)) {
        return false;
    }
    sysbus_mmio_map(SYS_BUS_DEVICE(dev), 0, base);
    return true;
}

static DeviceState *riscv_trace_virt_create_replicator(RISCVVirtState *s,
                                                       Error **errp)
{
    DeviceState *dev, *sideband;

    dev = riscv_trace_virt_new(s, TYPE_RISCV_TRACE_REPLICATOR,
                               "trace-replicator");
    if (s->trace.sideband) {
        sideband = riscv_trace_virt_new(s, TYPE_RISCV_TRACE_SIDEBAND,
                                        "trace-sideband-stream");
        if (!object_property_set_str(OBJECT(sideband), "chardev",
                                     s->trace.sideband, errp) ||
            !qdev_realize(sideband, NULL, errp)) {
            return NULL;
        }
        object_property_set_link(OBJECT(dev), "sideband", OBJECT(sideband),
                                 &error_abort);
    }
    return qdev_realize(dev, NULL, errp) ? dev : NULL;
}

static bool riscv_trace_virt_create_pib(RISCVVirtState *s,
                                        DeviceState *replicator, Error **errp)
{
    const RISCVTraceOptions *opt = &s->trace;
    DeviceState *dev;

    dev = riscv_trace_virt_new(s, TYPE_RISCV_TRACE_PIB, "trace-pib");
    qdev_prop_set_bit(dev, "autostart", opt->autostart);
    object_property_set_link(OBJECT(dev), "replicator", OBJECT(replicator),
                             &error_abort);
    if (opt->chardev && !object_property_set_str(OBJECT(dev), "chardev",
                                                 opt->chardev, errp)) {
        return false;
    }
    return riscv_trace_virt_map(dev, TRACE_PIB(s), errp);
}

/* The RAM sink of hart number @hart, or with -1 that of all of them */
static bool riscv_trace_virt_create_ram(RISCVVirtState *s, int hart,
                                        DeviceState *replicator, Error **errp)
{
    g_autofree char *name = hart < 0 ? g_strdup("trace-ram") :
                                       g_strdup_printf("trace-ram%d", hart);
    DeviceState *dev;

    dev = riscv_trace_virt_new(s, TYPE_RISCV_TRACE_RAM, name);
    qdev_prop_set_int32(dev, "hart", hart);
    if (s->trace.autostart && !s->trace.chardev) {
        /* Nobody reads the trace elsewhere. */
        qdev_prop_set_bit(dev, "autostart", true);
    }
    object_property_set_link(OBJECT(dev), "replicator", OBJECT(replicator),
                             &error_abort);
    object_property_set_link(OBJECT(dev), "memory",
                             OBJECT(get_system_memory()), &error_abort);
    return riscv_trace_virt_map(dev, hart < 0 ? TRACE_RAM(s) :
                                     TRACE_HART_RAM(s, hart), errp);
}

static DeviceState *riscv_trace_virt_create_atb(RISCVVirtState *s,
                                                DeviceState *sink,
                                                Error **errp)
{
    DeviceState *dev;

    dev = riscv_trace_virt_new(s, TYPE_RISCV_TRACE_ATB, "trace-atb-bridge");
    qdev_prop_set_bit(dev, "autostart", s->trace.autostart);
    object_property_set_link(OBJECT(dev), "sink", OBJECT(sink), &error_abort);
    return riscv_trace_virt_map(dev, TRACE_ATB(s), errp) ? dev : NULL;
}

static DeviceState *riscv_trace_virt_create_funnel(RISCVVirtState *s,
                                                   DeviceState *sink,
                                                   Error **errp)
{
    DeviceState *dev;

    dev = riscv_trace_virt_new(s, TYPE_RISCV_TRACE_FUNNEL, "trace-funnel");
    qdev_prop_set_bit(dev, "autostart", s->trace.autostart);
    qdev_prop_set_uint8(dev, "num-inputs", MACHINE(s)->smp.cpus);
    object_property_set_link(OBJECT(dev), "sink", OBJECT(sink), &error_abort);
    return riscv_trace_virt_map(dev, TRACE_FUNNEL(s), errp) ? dev : NULL;
}

/*
 * The srcID. 8 bits are what the encapsulation recommends, and what software
 * may have come to expect; who starts trace for the guest wants few bytes.
 */
static void riscv_trace_virt_set_source(RISCVVirtState *s, DeviceState *dev,
                                        unsigned index)
{
    unsigned needed = 32 - clz32(MACHINE(s)->smp.cpus - 1);

    if (!object_property_get_uint(OBJECT(dev), "src-bits", &error_abort)) {
        qdev_prop_set_uint8(dev, "src-bits", s->trace.autostart ? needed : 8);
    }
    qdev_prop_set_uint16(dev, "src-id", index);
}

static bool riscv_trace_virt_create_encoder(RISCVVirtState *s, unsigned index,
                                            RISCVCPU *cpu, DeviceState *sink,
                                            Error **errp)
{
    g_autofree char *name = g_strdup_printf("trace-encoder%u", index);
    DeviceState *dev = riscv_trace_virt_new(s, TYPE_RISCV_TRACE_ENCODER, name);

    qdev_prop_set_bit(dev, "autostart", s->trace.autostart);
    qdev_prop_set_uint32(dev, "hart-index", index);
    if (s->trace.modes) {
        qdev_prop_set_string(dev, "autostart-modes", s->trace.modes);
    }
    if (MACHINE(s)->smp.cpus > 1) {
        riscv_trace_virt_set_source(s, dev, index);
    }
    object_property_set_link(OBJECT(dev), "cpu", OBJECT(cpu), &error_abort);
    object_property_set_link(OBJECT(dev), "sink", OBJECT(sink), &error_abort);
    return riscv_trace_virt_map(dev, TRACE_ENCODER(s, index), errp);
}

/*
 * What encoders are connected to: the replicator, and before it all that they
 * share; or their sinks, behind it. NULL with @errp set if that fails.
 */
static DeviceState *riscv_trace_virt_create_sinks(RISCVVirtState *s,
                                                  Error **errp)
{
    DeviceState *sink = riscv_trace_virt_create_replicator(s, errp);

    if (!sink) {
        return NULL;
    }
    if (s->trace.per_hart) {
        for (unsigned i = 0; i < MACHINE(s)->smp.cpus; i++) {
            if (!riscv_trace_virt_create_ram(s, i, sink, errp)) {
                return NULL;
            }
        }
        return sink;
    }
    if (!riscv_trace_virt_create_pib(s, sink, errp) ||
        !riscv_trace_virt_create_ram(s, -1, sink, errp)) {
        return NULL;
    }
    if (s->trace.atb) {
        sink = riscv_trace_virt_create_atb(s, sink, errp);
    }
    return sink ? riscv_trace_virt_create_funnel(s, sink, errp) : NULL;
}

bool riscv_trace_virt_create(RISCVVirtState *s, Error **errp)
{
    DeviceState *sink;
    unsigned index = 0;

    if (!riscv_trace_virt_check(s, errp)) {
        return false;
    }
    if (!s->trace.on) {
        return true;
    }
    sink = riscv_trace_virt_create_sinks(s, errp);
    if (!sink) {
        return false;
    }
    for (int i = 0; i < riscv_socket_count(MACHINE(s)); i++) {
        for (unsigned j = 0; j < s->soc[i].num_harts; j++) {
            if (!riscv_trace_virt_create_encoder(s, index++,
                                                 &s->soc[i].harts[j], sink,
                                                 errp)) {
                return false;
            }
        }
    }
    return true;
}

/*
 * Machine properties
 */

static bool riscv_trace_virt_get_on(Object *obj, Error **errp)
{
    return RISCV_VIRT_MACHINE(obj)->trace.on;
}

static void riscv_trace_virt_set_on(Object *obj, bool value, Error **errp)
{
    RISCV_VIRT_MACHINE(obj)->trace.on = value;
}

static bool riscv_trace_virt_get_autostart(Object *obj, Error **errp)
{
    return RISCV_VIRT_MACHINE(obj)->trace.autostart;
}

static void riscv_trace_virt_set_autostart(Object *obj, bool value,
                                           Error **errp)
{
    RISCV_VIRT_MACHINE(obj)->trace.autostart = value;
}

static char *riscv_trace_virt_get_modes(Object *obj, Error **errp)
{
    return g_strdup(RISCV_VIRT_MACHINE(obj)->trace.modes);
}

static void riscv_trace_virt_set_modes(Object *obj, const char *value,
                                       Error **errp)
{
    ERRP_GUARD();
    RISCVTraceOptions *opt = &RISCV_VIRT_MACHINE(obj)->trace;
    RISCVTraceModes chosen;

    if (!riscv_trace_modes_parse(value, &chosen, errp)) {
        error_prepend(errp, "trace-modes: ");
        return;
    }
    g_free(opt->modes);
    opt->modes = g_strdup(value);
}

static bool riscv_trace_virt_get_atb(Object *obj, Error **errp)
{
    return RISCV_VIRT_MACHINE(obj)->trace.atb;
}

static void riscv_trace_virt_set_atb(Object *obj, bool value, Error **errp)
{
    RISCV_VIRT_MACHINE(obj)->trace.atb = value;
}

static char *riscv_trace_virt_get_topology(Object *obj, Error **errp)
{
    return g_strdup(RISCV_VIRT_MACHINE(obj)->trace.per_hart ? "per-hart" :
                                                              "funnel");
}

static void riscv_trace_virt_set_topology(Object *obj, const char *value,
                                          Error **errp)
{
    bool per_hart = g_str_equal(value, "per-hart");

    if (!per_hart && !g_str_equal(value, "funnel")) {
        error_setg(errp, "trace-topology: '%s' is none of funnel and per-hart",
                   value);
        return;
    }
    RISCV_VIRT_MACHINE(obj)->trace.per_hart = per_hart;
}

static char *riscv_trace_virt_get_chardev(Object *obj, Error **errp)
{
    return g_strdup(RISCV_VIRT_MACHINE(obj)->trace.chardev);
}

static void riscv_trace_virt_set_chardev(Object *obj, const char *value,
                                         Error **errp)
{
    RISCVTraceOptions *opt = &RISCV_VIRT_MACHINE(obj)->trace;

    g_free(opt->chardev);
    opt->chardev = g_strdup(value);
}

static char *riscv_trace_virt_get_sideband(Object *obj, Error **errp)
{
    return g_strdup(RISCV_VIRT_MACHINE(obj)->trace.sideband);
}

static void riscv_trace_virt_set_sideband(Object *obj, const char *value,
                                          Error **errp)
{
    RISCVTraceOptions *opt = &RISCV_VIRT_MACHINE(obj)->trace;

    g_free(opt->sideband);
    opt->sideband = g_strdup(value);
}

void riscv_trace_virt_class_init(ObjectClass *oc)
{
    object_class_property_add_bool(oc, "trace", riscv_trace_virt_get_on,
                                   riscv_trace_virt_set_on);
    object_class_property_set_description(oc, "trace",
                                          "(TCG only) Set on/off to "
                                          "enable/disable a trace encoder "
                                          "for each hart");
    object_class_property_add_bool(oc, "trace-autostart",
                                   riscv_trace_virt_get_autostart,
                                   riscv_trace_virt_set_autostart);
    object_class_property_set_description(oc, "trace-autostart",
                                          "Trace from reset, without guest "
                                          "software that enables it");
    object_class_property_add_str(oc, "trace-modes",
                                  riscv_trace_virt_get_modes,
                                  riscv_trace_virt_set_modes);
    object_class_property_set_description(oc, "trace-modes",
                                          "Modes that autostart uses: all "
                                          "(that save bits), baseline "
                                          "(none), or their names with '+' "
                                          "between them");
    object_class_property_add_bool(oc, "trace-atb", riscv_trace_virt_get_atb,
                                   riscv_trace_virt_set_atb);
    object_class_property_set_description(oc, "trace-atb",
                                          "Set on/off to enable/disable an "
                                          "ATB bridge between trace funnel "
                                          "and sinks");
    object_class_property_add_str(oc, "trace-topology",
                                  riscv_trace_virt_get_topology,
                                  riscv_trace_virt_set_topology);
    object_class_property_set_description(oc, "trace-topology",
                                          "funnel (default): one RAM sink "
                                          "and one PIB sink for all harts; "
                                          "per-hart: a RAM sink for each "
                                          "hart, no funnel");
    object_class_property_add_str(oc, "trace-chardev",
                                  riscv_trace_virt_get_chardev,
                                  riscv_trace_virt_set_chardev);
    object_class_property_set_description(oc, "trace-chardev",
                                          "ID of the chardev that gets the "
                                          "trace");
    object_class_property_add_str(oc, "trace-sideband",
                                  riscv_trace_virt_get_sideband,
                                  riscv_trace_virt_set_sideband);
    object_class_property_set_description(oc, "trace-sideband",
                                          "ID of the chardev that gets the "
                                          "code that ran, beside the trace");
}
