/*
 * RISC-V trace: the trace components of the virt machine
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/riscv/numa.h"
#include "hw/riscv/virt.h"
#include "riscv-trace-encoder.h"
#include "riscv-trace-virt-private.h"

/*
 * Options
 */

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
    return riscv_trace_check_chardev("trace-chardev", opt->chardev, errp) &&
           riscv_trace_check_chardev("trace-sideband", opt->sideband, errp);
}

bool riscv_trace_virt_create(RISCVVirtState *s, Error **errp)
{
    g_autoptr(GPtrArray) harts = g_ptr_array_new();

    if (!riscv_trace_virt_check(s, errp)) {
        return false;
    }
    if (!s->trace.on) {
        return true;
    }
    for (int i = 0; i < riscv_socket_count(MACHINE(s)); i++) {
        for (unsigned j = 0; j < s->soc[i].num_harts; j++) {
            g_ptr_array_add(harts, &s->soc[i].harts[j]);
        }
    }
    return riscv_trace_components_create(&s->trace, harts,
                                         s->memmap[VIRT_TRACE].base, errp);
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
