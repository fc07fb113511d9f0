/*
 * RISC-V trace: a device that traces the harts of any machine
 *
 * Where a board has no trace components of its own, as most have none, this
 * device adds them. They are not mapped: it is the host that traces.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qapi/error.h"
#include "hw/qdev-properties.h"
#include "target/riscv/cpu.h"
#include "riscv-trace-compat.h"
#include "riscv-trace-components.h"
#include "riscv-trace-encoder.h"
#include "riscv-trace-sink.h"

#define TYPE_RISCV_TRACE "riscv-trace"
OBJECT_DECLARE_SIMPLE_TYPE(RISCVTrace, RISCV_TRACE)

struct RISCVTrace {
    DeviceState parent_obj;

    RISCVTraceOptions options;
    char *harts;                /* NULL: all of the machine */
};

/* Add harts number @first to @last. */
static bool add_harts(GPtrArray *harts, unsigned first, unsigned last,
                      Error **errp)
{
    for (unsigned i = first; i <= last; i++) {
        CPUState *cs = qemu_get_cpu(i);
        Object *cpu = cs ? object_dynamic_cast(OBJECT(cs), TYPE_RISCV_CPU) :
                           NULL;

        if (!cpu) {
            error_setg(errp, "harts: the machine has no hart %u", i);
            return false;
        }
        if (g_ptr_array_find(harts, cpu, NULL)) {
            error_setg(errp, "harts: %u is there twice", i);
            return false;
        }
        g_ptr_array_add(harts, cpu);
    }
    return true;
}

/* Numbers and ranges, with '+' between them: 0-3+5 */
static bool parse_harts(GPtrArray *harts, const char *list, Error **errp)
{
    g_auto(GStrv) parts = g_strsplit(list, "+", 0);

    for (unsigned i = 0; parts[i]; i++) {
        unsigned int first, last;
        const char *end;

        if (qemu_strtoui(parts[i], &end, 10, &first) < 0 ||
            (*end && *end != '-')) {
            goto wrong;
        }
        last = first;
        if (*end && (qemu_strtoui(end + 1, NULL, 10, &last) < 0 ||
                     last < first)) {
            goto wrong;
        }
        if (!add_harts(harts, first, last, errp)) {
            return false;
        }
    }
    return true;

wrong:
    error_setg(errp, "harts: '%s' is not a list such as 0-3+5", list);
    return false;
}

static void add_all_harts(GPtrArray *harts)
{
    CPUState *cs;

    CPU_FOREACH(cs) {
        Object *cpu = object_dynamic_cast(OBJECT(cs), TYPE_RISCV_CPU);

        if (cpu) {
            g_ptr_array_add(harts, cpu);
        }
    }
}

static void riscv_trace_realize(DeviceState *dev, Error **errp)
{
    ERRP_GUARD();
    RISCVTrace *s = RISCV_TRACE(dev);
    RISCVTraceOptions *opt = &s->options;
    g_autoptr(GPtrArray) harts = g_ptr_array_new();
    RISCVTraceModes modes;

    if (!s->harts) {
        add_all_harts(harts);
    } else if (!parse_harts(harts, s->harts, errp)) {
        return;
    }
    if (!harts->len) {
        error_setg(errp, "the machine has no RISC-V harts");
        return;
    }
    if (harts->len > RISCV_TRACE_MAX_SOURCES) {
        error_setg(errp, "harts: a trace is for up to %u harts, not for %u",
                   RISCV_TRACE_MAX_SOURCES, harts->len);
        error_append_hint(errp, "Choose some, such as harts=0-%u\n",
                          RISCV_TRACE_MAX_SOURCES - 1);
        return;
    }
    if (opt->modes && !riscv_trace_modes_parse(opt->modes, &modes, errp)) {
        error_prepend(errp, "modes: ");
        return;
    }
    if (riscv_trace_check_chardev("chardev", opt->chardev, errp) &&
        riscv_trace_check_chardev("sideband", opt->sideband, errp)) {
        riscv_trace_components_create(opt, harts, RISCV_TRACE_UNMAPPED, errp);
    }
}

static const Property riscv_trace_properties[] = {
    DEFINE_PROP_STRING("chardev", RISCVTrace, options.chardev),
    DEFINE_PROP_STRING("sideband", RISCVTrace, options.sideband),
    DEFINE_PROP_STRING("modes", RISCVTrace, options.modes),
    DEFINE_PROP_BOOL("autostart", RISCVTrace, options.autostart, true),
    DEFINE_PROP_STRING("harts", RISCVTrace, harts),
};

static void riscv_trace_class_init(ObjectClass *oc, RISCVTraceClassData data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);

    dc->desc = "E-Trace of a machine's RISC-V harts";
    dc->realize = riscv_trace_realize;
    /* The harts have to be traced from reset on. */
    dc->hotpluggable = false;
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
    device_class_set_props(dc, riscv_trace_properties);
    object_class_property_set_description(oc, "chardev",
                                          "ID of the chardev that gets the "
                                          "trace; without, it stays in the "
                                          "RAM sink");
    object_class_property_set_description(oc, "sideband",
                                          "ID of the chardev that gets the "
                                          "code that ran, beside the trace");
    object_class_property_set_description(oc, "modes",
                                          "all (that save bits), baseline "
                                          "(none), or their names with '+' "
                                          "between them");
    object_class_property_set_description(oc, "autostart",
                                          "Trace from reset, not from "
                                          "x-riscv-trace-start on");
    object_class_property_set_description(oc, "harts",
                                          "Which harts, such as 0-3+5 "
                                          "(default: all)");
}

static const TypeInfo riscv_trace_info = {
    .name = TYPE_RISCV_TRACE,
    .parent = TYPE_DEVICE,
    .instance_size = sizeof(RISCVTrace),
    .class_init = riscv_trace_class_init,
};

static void riscv_trace_register_types(void)
{
    type_register_static(&riscv_trace_info);
}

type_init(riscv_trace_register_types)
