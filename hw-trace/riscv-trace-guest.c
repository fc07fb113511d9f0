/*
 * RISC-V trace: what is known of the guest's operating system
 *
 * A unit of the encoder, with the property "guest-info", and an option of the
 * virt machine that sets it for all encoders.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "hw/riscv/virt.h"
#include "target/riscv/cpu.h"
#include "etrace/guest-info.h"
#include "encoder/riscv-trace-encoder-private.h"

struct RISCVTraceEncoderGuest {
    ETraceGuestInfo info;       /* before realize only */
};

/*
 * The encoder's property
 */

static char *guest_get_info(Object *obj, Error **errp)
{
    return etrace_guest_info_text(&RISCV_TRACE_ENCODER(obj)->guest->info);
}

static void guest_set_info(Object *obj, const char *value, Error **errp)
{
    RISCVTraceEncoder *s = RISCV_TRACE_ENCODER(obj);
    g_autofree char *problem = NULL;

    if (qdev_is_realized(DEVICE(s))) {
        error_setg(errp, "guest-info of a trace encoder cannot be changed "
                   "while the machine exists");
    } else if (!etrace_guest_info_parse(&s->guest->info, value, &problem)) {
        error_setg(errp, "guest-info of a trace encoder: %s", problem);
    }
}

static void guest_class_init(ObjectClass *oc)
{
    object_class_property_add_str(oc, "guest-info", guest_get_info,
                                  guest_set_info);
    object_class_property_set_description(oc, "guest-info",
                                          "where to find the task that runs, "
                                          "as in trace-guest-info (default: "
                                          "it is not looked for)");
}

/*
 * The unit
 */

static void guest_init(RISCVTraceEncoder *s)
{
    s->guest = g_new0(RISCVTraceEncoderGuest, 1);
}

static void guest_finalize(RISCVTraceEncoder *s)
{
    g_free(s->guest);
}

static void guest_port(RISCVTraceEncoder *s, RISCVTraceHartConfig *port)
{
    const ETraceGuestInfo *info = &s->guest->info;

    if (info->system != ETRACE_GUEST_UNKNOWN) {
        port->guest = info;
        port->follower = info->system == ETRACE_GUEST_LINUX ?
                         &riscv_trace_linux : &riscv_trace_rtos;
    }
}

static const RISCVTraceEncoderUnit guest_unit = {
    .class_init = guest_class_init,
    .init = guest_init,
    .finalize = guest_finalize,
    .port = guest_port,
};

static void register_guest(void)
{
    riscv_trace_encoder_add_unit(RISCV_TRACE_UNIT_GUEST, &guest_unit);
}

type_init(register_guest)

/*
 * The machine's option
 */

static char *machine_guest_info;    /* NULL: nothing is known */

static char *guest_get_option(Object *obj, Error **errp)
{
    return g_strdup(machine_guest_info);
}

static void guest_set_option(Object *obj, const char *value, Error **errp)
{
    RISCVTraceOptions *opt = &RISCV_VIRT_MACHINE(obj)->trace;
    g_autofree char *problem = NULL;
    ETraceGuestInfo info;

    if (!etrace_guest_info_parse(&info, value, &problem)) {
        error_setg(errp, "trace-guest-info: %s", problem);
        return;
    }
    g_free(machine_guest_info);
    machine_guest_info = value[0] ? g_strdup(value) : NULL;
    opt->needs_sideband = value[0] ? "trace-guest-info" : NULL;
    object_register_sugar_prop(TYPE_RISCV_TRACE_ENCODER, "guest-info", value,
                               false);
}

void riscv_trace_guest_class_init(ObjectClass *oc)
{
    object_class_property_add_str(oc, "trace-guest-info", guest_get_option,
                                  guest_set_option);
    object_class_property_set_description(oc, "trace-guest-info",
                                          "Where the guest's kernel keeps "
                                          "the task that runs: "
                                          "linux:pid=N:tgid=N:comm=N or "
                                          "rtos:current=N:name=N");
}
