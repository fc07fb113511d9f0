/*
 * RISC-V trace encoder: the filter that is a property
 *
 * It works beside the filters that software programs, and shows in none of
 * their registers: what is traced is what both qualify.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "target/riscv/cpu.h"
#include "riscv-trace-encoder-filters.h"

/*
 * The property
 */

static char *riscv_trace_encoder_get_filter(Object *obj, Error **errp)
{
    return etrace_filter_expr_text(&RISCV_TRACE_ENCODER(obj)->filters->expr);
}

static bool riscv_trace_encoder_expr_fits(RISCVTraceEncoder *s,
                                          const ETraceFilterExpr *expr,
                                          Error **errp)
{
    unsigned width = riscv_cpu_mxl_bits(cpu_env(s->cpu));

    if (!etrace_filter_expr_fits(expr, width)) {
        error_setg(errp, "filter of a trace encoder: addresses of its hart "
                   "have %u bits, those of pc= must not have more", width);
        return false;
    }
    return true;
}

static void riscv_trace_encoder_set_filter(Object *obj, const char *value,
                                           Error **errp)
{
    RISCVTraceEncoder *s = RISCV_TRACE_ENCODER(obj);
    g_autofree char *problem = NULL;
    ETraceFilterExpr expr;

    if (!etrace_filter_expr_parse(&expr, value, &problem)) {
        error_setg(errp, "filter of a trace encoder: %s", problem);
        return;
    }
    if (!qdev_is_realized(DEVICE(s))) {
        s->filters->expr = expr;
    } else if (riscv_trace_encoder_expr_fits(s, &expr, errp)) {
        s->filters->expr = expr;
        riscv_trace_encoder_changed(s);
    }
}

bool riscv_trace_encoder_expr_check(RISCVTraceEncoder *s, Error **errp)
{
    return riscv_trace_encoder_expr_fits(s, &s->filters->expr, errp);
}

void riscv_trace_encoder_expr_class_init(ObjectClass *oc)
{
    object_class_property_add_str(oc, "filter", riscv_trace_encoder_get_filter,
                                  riscv_trace_encoder_set_filter);
    object_class_property_set_description(oc, "filter",
                                          "what is traced, such as "
                                          "priv=S+U;pc=0x1000-0x1fff;"
                                          "context=5 (default: everything)");
}
