/*
 * RISC-V trace encoder: what is known of the guest, which is a property
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "target/riscv/cpu.h"
#include "riscv-trace-encoder-private.h"

static char *riscv_trace_encoder_get_guest(Object *obj, Error **errp)
{
    return etrace_guest_info_text(&RISCV_TRACE_ENCODER(obj)->guest);
}

static void riscv_trace_encoder_set_guest(Object *obj, const char *value,
                                          Error **errp)
{
    RISCVTraceEncoder *s = RISCV_TRACE_ENCODER(obj);
    g_autofree char *problem = NULL;

    if (qdev_is_realized(DEVICE(s))) {
        error_setg(errp, "guest-info of a trace encoder cannot be changed "
                   "while the machine exists");
    } else if (!etrace_guest_info_parse(&s->guest, value, &problem)) {
        error_setg(errp, "guest-info of a trace encoder: %s", problem);
    }
}

void riscv_trace_encoder_guest_class_props(ObjectClass *oc)
{
    object_class_property_add_str(oc, "guest-info",
                                  riscv_trace_encoder_get_guest,
                                  riscv_trace_encoder_set_guest);
    object_class_property_set_description(oc, "guest-info",
                                          "where to find the task that runs, "
                                          "as in trace-guest-info (default: "
                                          "it is not looked for)");
}
