/*
 * RISC-V trace encoder: filters
 *
 * Those of the registers, and that of the property, which works beside them:
 * what is traced is what both qualify. In the hart's own thread, or in another
 * while the VM is stopped.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "riscv-trace-encoder-private.h"

#define FILTER_REG(s, i, name)  ((s)->filter_regs[i][R_TR_TE_FILTER_##name])
#define COMP_REG(s, j, name)    ((s)->comp_regs[j][R_TR_TE_COMP_##name])

/*
 * From the registers and the property
 */

static void look_for_filters(RISCVTraceEncoder *s)
{
    s->filtered = etrace_filter_active(&s->filter) ||
                  etrace_filter_active(&s->expr_filter);
}

static uint64_t pair(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

static ETraceFilterConfig filter_config(RISCVTraceEncoder *s, unsigned i)
{
    uint32_t control = FILTER_REG(s, i, CONTROL);
    uint32_t inst = FILTER_REG(s, i, MATCH_INST);
    uint32_t data = FILTER_REG(s, i, MATCH_DATA);

#define CONTROL(name)   FIELD_EX32(control, TR_TE_FILTER_CONTROL, name)
    return (ETraceFilterConfig) {
        .enable = CONTROL(ENABLE),
        .match_privilege = CONTROL(MATCH_PRIVILEGE),
        .match_ecause = CONTROL(MATCH_ECAUSE),
        .match_interrupt = CONTROL(MATCH_INTERRUPT),
        .match_comp = {
            CONTROL(MATCH_COMP1), CONTROL(MATCH_COMP2), CONTROL(MATCH_COMP3),
        },
        .comp = { CONTROL(COMP1), CONTROL(COMP2), CONTROL(COMP3) },
        .match_impdef = CONTROL(MATCH_IMPDEF),
        .match_dtype = CONTROL(MATCH_DTYPE),
        .match_dsize = CONTROL(MATCH_DSIZE),
        .choice_privilege = FIELD_EX32(inst, TR_TE_FILTER_MATCH_INST,
                                       CHOICE_PRIVILEGE),
        .value_interrupt = FIELD_EX32(inst, TR_TE_FILTER_MATCH_INST,
                                      VALUE_INTERRUPT),
        .choice_ecause = pair(FILTER_REG(s, i, MATCH_ECAUSE_LOW),
                              FILTER_REG(s, i, MATCH_ECAUSE_HIGH)),
        .value_impdef = FILTER_REG(s, i, MATCH_VALUE_IMPDEF),
        .mask_impdef = FILTER_REG(s, i, MATCH_MASK_IMPDEF),
        .choice_dtype = FIELD_EX32(data, TR_TE_FILTER_MATCH_DATA,
                                   CHOICE_DTYPE),
        .choice_dsize = FIELD_EX32(data, TR_TE_FILTER_MATCH_DATA,
                                   CHOICE_DSIZE),
    };
#undef CONTROL
}

static ETraceComparatorConfig comp_config(RISCVTraceEncoder *s, unsigned j)
{
    uint32_t control = COMP_REG(s, j, CONTROL);

#define CONTROL(name)   FIELD_EX32(control, TR_TE_COMP_CONTROL, name)
    return (ETraceComparatorConfig) {
        .p_input = CONTROL(P_INPUT),
        .s_input = CONTROL(S_INPUT),
        .p_function = CONTROL(P_FUNCTION),
        .s_function = CONTROL(S_FUNCTION),
        .mode = CONTROL(MATCH_MODE),
        .p_notify = CONTROL(P_NOTIFY),
        .s_notify = CONTROL(S_NOTIFY),
        .p_match = pair(COMP_REG(s, j, P_MATCH_LOW),
                        COMP_REG(s, j, P_MATCH_HIGH)),
        .s_match = pair(COMP_REG(s, j, S_MATCH_LOW),
                        COMP_REG(s, j, S_MATCH_HIGH)),
    };
#undef CONTROL
}

void riscv_trace_encoder_filters_apply(RISCVTraceEncoder *s)
{
    ETraceFilterConfig filters[ETRACE_FILTERS_MAX];
    ETraceComparatorConfig comps[ETRACE_COMPARATORS_MAX];

    for (unsigned i = 0; i < ETRACE_FILTERS_MAX; i++) {
        filters[i] = filter_config(s, i);
    }
    for (unsigned j = 0; j < ETRACE_COMPARATORS_MAX; j++) {
        comps[j] = comp_config(s, j);
    }
    s->filter.iaddress_width = s->params.iaddress_width;
    s->filter.context_width = s->params.context_width;
    s->filter.daddress_width = s->params.daddress_width;
    s->filter.nested_max = s->cfg.filter_excint ?
                           1 << s->cfg.filter_excint : 1;
    etrace_filter_select(&s->filter, s->regs[R_TR_TE_INST_FILTERS],
                         s->regs[R_TR_TE_DATA_FILTERS], filters, comps);
    look_for_filters(s);
}

void riscv_trace_encoder_expr_apply(RISCVTraceEncoder *s)
{
    s->expr_filter.iaddress_width = s->params.iaddress_width;
    s->expr_filter.daddress_width = s->params.daddress_width;
    etrace_filter_expr_apply(&s->expr, &s->expr_filter);
    look_for_filters(s);
}

/*
 * What they say
 */

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
