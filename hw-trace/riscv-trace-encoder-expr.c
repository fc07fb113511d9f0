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
#include "riscv-trace-encoder.h"

/*
 * The property
 */

static char *riscv_trace_encoder_get_filter(Object *obj, Error **errp)
{
    return etrace_filter_expr_text(&RISCV_TRACE_ENCODER(obj)->expr);
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
        s->expr = expr;
    } else if (riscv_trace_encoder_expr_fits(s, &expr, errp)) {
        s->expr = expr;
        riscv_trace_encoder_changed(s);
    }
}

bool riscv_trace_encoder_expr_check(RISCVTraceEncoder *s, Error **errp)
{
    return riscv_trace_encoder_expr_fits(s, &s->expr, errp);
}

void riscv_trace_encoder_expr_class_props(ObjectClass *oc)
{
    object_class_property_add_str(oc, "filter", riscv_trace_encoder_get_filter,
                                  riscv_trace_encoder_set_filter);
    object_class_property_set_description(oc, "filter",
                                          "what is traced, such as "
                                          "priv=S+U;pc=0x1000-0x1fff;"
                                          "context=5 (default: everything)");
}

/*
 * Both kinds of filters. In the hart's thread.
 */

void riscv_trace_encoder_expr_apply(RISCVTraceEncoder *s)
{
    s->expr_filter.iaddress_width = s->params.iaddress_width;
    s->expr_filter.daddress_width = s->params.daddress_width;
    etrace_filter_expr_apply(&s->expr, &s->expr_filter);
}

bool riscv_trace_encoder_filters_active(const RISCVTraceEncoder *s)
{
    return etrace_filter_active(&s->filter) ||
           etrace_filter_active(&s->expr_filter);
}

void riscv_trace_encoder_filters_event(RISCVTraceEncoder *s,
                                       const ETraceEvent *event)
{
    etrace_filter_event(&s->filter, event);
    etrace_filter_event(&s->expr_filter, event);
}

ETraceFilterResult riscv_trace_encoder_filters_block(RISCVTraceEncoder *s,
                                                     const ETraceBlock *b,
                                                     uint64_t tval, unsigned n)
{
    const ETraceAccess *accesses = (const ETraceAccess *)s->accesses->data;
    bool *traced = (bool *)s->data.traced->data;
    ETraceFilterResult r, expr;

    r = etrace_filter_block(&s->filter, b, tval, accesses, n, traced);
    if (etrace_filter_active(&s->expr_filter)) {
        g_autofree bool *also = n ? g_new(bool, n) : NULL;

        expr = etrace_filter_block(&s->expr_filter, b, tval, accesses, n,
                                   also);
        r.qualified &= expr.qualified;
        for (unsigned i = 0; i < n; i++) {
            traced[i] &= also[i];
        }
    }
    return r;
}
