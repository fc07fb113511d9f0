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
#include "qemu/atomic.h"
#include "qemu/cutils.h"
#include "qemu/module.h"
#include "riscv-trace-encoder-filters.h"

#define FILTER_REG(f, i, name)  ((f)->regs[i][R_TR_TE_FILTER_##name])
#define COMP_REG(f, j, name)    ((f)->comp_regs[j][R_TR_TE_COMP_##name])

/*
 * From the registers and the property
 */

static uint64_t pair(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

static ETraceFilterConfig filter_config(const RISCVTraceEncoderFilters *f,
                                        unsigned i)
{
    uint32_t control = FILTER_REG(f, i, CONTROL);
    uint32_t inst = FILTER_REG(f, i, MATCH_INST);
    uint32_t data = FILTER_REG(f, i, MATCH_DATA);

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
        .choice_ecause = pair(FILTER_REG(f, i, MATCH_ECAUSE_LOW),
                              FILTER_REG(f, i, MATCH_ECAUSE_HIGH)),
        .value_impdef = FILTER_REG(f, i, MATCH_VALUE_IMPDEF),
        .mask_impdef = FILTER_REG(f, i, MATCH_MASK_IMPDEF),
        .choice_dtype = FIELD_EX32(data, TR_TE_FILTER_MATCH_DATA,
                                   CHOICE_DTYPE),
        .choice_dsize = FIELD_EX32(data, TR_TE_FILTER_MATCH_DATA,
                                   CHOICE_DSIZE),
    };
#undef CONTROL
}

static ETraceComparatorConfig comp_config(const RISCVTraceEncoderFilters *f,
                                         unsigned j)
{
    uint32_t control = COMP_REG(f, j, CONTROL);

#define CONTROL(name)   FIELD_EX32(control, TR_TE_COMP_CONTROL, name)
    return (ETraceComparatorConfig) {
        .p_input = CONTROL(P_INPUT),
        .s_input = CONTROL(S_INPUT),
        .p_function = CONTROL(P_FUNCTION),
        .s_function = CONTROL(S_FUNCTION),
        .mode = CONTROL(MATCH_MODE),
        .p_notify = CONTROL(P_NOTIFY),
        .s_notify = CONTROL(S_NOTIFY),
        .p_match = pair(COMP_REG(f, j, P_MATCH_LOW),
                        COMP_REG(f, j, P_MATCH_HIGH)),
        .s_match = pair(COMP_REG(f, j, S_MATCH_LOW),
                        COMP_REG(f, j, S_MATCH_HIGH)),
    };
#undef CONTROL
}

static void apply_registers(RISCVTraceEncoder *s)
{
    RISCVTraceEncoderFilters *f = s->filters;
    ETraceFilterConfig filters[ETRACE_FILTERS_MAX];
    ETraceComparatorConfig comps[ETRACE_COMPARATORS_MAX];

    for (unsigned i = 0; i < ETRACE_FILTERS_MAX; i++) {
        filters[i] = filter_config(f, i);
    }
    for (unsigned j = 0; j < ETRACE_COMPARATORS_MAX; j++) {
        comps[j] = comp_config(f, j);
    }
    f->filter.iaddress_width = s->params.iaddress_width;
    f->filter.context_width = s->params.context_width;
    f->filter.daddress_width = s->params.daddress_width;
    f->filter.nested_max = s->cfg.filter_excint ?
                           1 << s->cfg.filter_excint : 1;
    etrace_filter_select(&f->filter, s->regs[R_TR_TE_INST_FILTERS],
                         s->regs[R_TR_TE_DATA_FILTERS], filters, comps);
}

static void apply_expr(RISCVTraceEncoder *s)
{
    RISCVTraceEncoderFilters *f = s->filters;

    f->expr_filter.iaddress_width = s->params.iaddress_width;
    f->expr_filter.daddress_width = s->params.daddress_width;
    etrace_filter_expr_apply(&f->expr, &f->expr_filter);
}

static void filters_configure(RISCVTraceEncoder *s)
{
    RISCVTraceEncoderFilters *f = s->filters;

    apply_registers(s);
    apply_expr(s);
    if (f->reset) {
        etrace_filter_reset(&f->filter);
        f->reset = false;
    }
    etrace_filter_event(&f->filter, &(ETraceEvent) {
        .value = qatomic_read(&f->impdef),
        .type = ETRACE_EVENT_IMPDEF,
    });
    s->filtered = etrace_filter_active(&f->filter) ||
                  etrace_filter_active(&f->expr_filter);
    s->needs_context |= f->expr.num_contexts;
    s->needs_data |= s->cfg.data_width && etrace_filter_needs_data(&f->filter);
}

/*
 * What they say
 */

static void filters_event(RISCVTraceEncoder *s, const ETraceEvent *event)
{
    etrace_filter_event(&s->filters->filter, event);
    etrace_filter_event(&s->filters->expr_filter, event);
}

/* What is traced is what both filters qualify. */
static void filters_before(RISCVTraceEncoder *s, RISCVTraceEncoderBlock *b)
{
    RISCVTraceEncoderFilters *f = s->filters;
    unsigned n = b->num_accesses;
    ETraceFilterResult r, expr;

    if (!s->filtered) {
        return;
    }
    r = etrace_filter_block(&f->filter, b->block, b->tval, b->accesses, n,
                            b->traced);
    if (etrace_filter_active(&f->expr_filter)) {
        g_autofree bool *also = n ? g_new(bool, n) : NULL;

        expr = etrace_filter_block(&f->expr_filter, b->block, b->tval,
                                   b->accesses, n, also);
        r.qualified &= expr.qualified;
        for (unsigned i = 0; i < n; i++) {
            b->traced[i] &= also[i];
        }
    }
    b->qualified = r.qualified;
    s->notify_due |= r.notify;
}

static bool filters_ranges(RISCVTraceEncoder *s, ETracePriv priv,
                           ETraceRanges *ranges)
{
    ETraceFilter *filters[ETRACE_RANGES_FILTERS] = {
        &s->filters->filter, &s->filters->expr_filter,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(filters); i++) {
        if (filters[i]->scope == ETRACE_FILTER_BY_BLOCK) {
            return false;
        }
    }
    etrace_filter_ranges(filters, ARRAY_SIZE(filters), priv, ranges);
    return true;
}

/*
 * The unit
 */

static void impdef_in(void *opaque, int n, int level)
{
    RISCVTraceEncoder *s = opaque;
    uint32_t impdef = deposit32(s->filters->impdef, n, 1, !!level);

    if (n < s->cfg.impdef_width && impdef != s->filters->impdef) {
        qatomic_set(&s->filters->impdef, impdef);
        riscv_trace_encoder_changed(s);
    }
}

static void filters_init(RISCVTraceEncoder *s)
{
    RISCVTraceEncoderFilters *f = g_new0(RISCVTraceEncoderFilters, 1);

    s->filters = f;
    etrace_filter_init(&f->filter);
    etrace_filter_init(&f->expr_filter);
    riscv_trace_encoder_filters_map(s);
    qdev_init_gpio_in_named(DEVICE(s), impdef_in, RISCV_TRACE_ENCODER_IMPDEF,
                            32);
}

static void filters_finalize(RISCVTraceEncoder *s)
{
    g_free(s->filters);
}

static void filters_reset(RISCVTraceEncoder *s)
{
    RISCVTraceEncoderFilters *f = s->filters;

    s->regs[R_TR_TE_DATA_FILTERS] = 0;
    memset(f->regs, 0, sizeof(f->regs));
    memset(f->comp_regs, 0, sizeof(f->comp_regs));
    f->reset = true;
}

static void filters_control(RISCVTraceEncoder *s, uint32_t old, uint32_t val)
{
    if (!riscv_trace_enabled(old) && riscv_trace_enabled(val)) {
        s->filters->reset = true;
    }
}

static void filters_post_load(RISCVTraceEncoder *s)
{
    ETraceFilter *filter = &s->filters->filter;
    uint8_t latch = filter->latch;
    uint16_t depth[ETRACE_FILTERS_MAX];

    /* Filters that are new start anew, but these go on. */
    memcpy(depth, filter->depth, sizeof(depth));
    apply_registers(s);
    memcpy(filter->depth, depth, sizeof(depth));
    filter->latch = latch;
    s->filters->reset = false;
    s->context = filter->context;
}

/*
 * A window is never open while the VM is stopped, but latches and nested traps
 * go on.
 */
static bool filters_needed(void *opaque)
{
    const RISCVTraceEncoderFilters *f = RISCV_TRACE_ENCODER(opaque)->filters;

    return !buffer_is_zero(f->regs, sizeof(f->regs)) ||
           !buffer_is_zero(f->comp_regs, sizeof(f->comp_regs)) || f->impdef;
}

static const VMStateDescription vmstate_filters_state = {
    .name = TYPE_RISCV_TRACE_ENCODER "/filters/state",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32_2DARRAY(regs, RISCVTraceEncoderFilters,
                               ETRACE_FILTERS_MAX, TR_TE_FILTER_SIZE / 4),
        VMSTATE_UINT32_2DARRAY(comp_regs, RISCVTraceEncoderFilters,
                               ETRACE_COMPARATORS_MAX, TR_TE_COMP_SIZE / 4),
        VMSTATE_UINT8(filter.latch, RISCVTraceEncoderFilters),
        VMSTATE_UINT16_ARRAY(filter.depth, RISCVTraceEncoderFilters,
                             ETRACE_FILTERS_MAX),
        VMSTATE_UINT64(filter.context, RISCVTraceEncoderFilters),
        VMSTATE_UINT32(filter.impdef, RISCVTraceEncoderFilters),
        VMSTATE_UINT32(impdef, RISCVTraceEncoderFilters),
        VMSTATE_END_OF_LIST()
    }
};

static const VMStateDescription vmstate_filters = {
    .name = TYPE_RISCV_TRACE_ENCODER "/filters",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = filters_needed,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT_POINTER(filters, RISCVTraceEncoder,
                               vmstate_filters_state,
                               RISCVTraceEncoderFilters),
        VMSTATE_END_OF_LIST()
    }
};

static const Property filters_props[] = {
    DEFINE_PROP_UINT8("impdef-width", RISCVTraceEncoder, cfg.impdef_width,
                      0),
    DEFINE_PROP_UINT8("filters", RISCVTraceEncoder, cfg.filters,
                      ETRACE_FILTERS_MAX),
    DEFINE_PROP_UINT8("comparators", RISCVTraceEncoder, cfg.comparators,
                      ETRACE_COMPARATORS_MAX),
    DEFINE_PROP_UINT8("filter-excint", RISCVTraceEncoder, cfg.filter_excint,
                      4),
};

static const RISCVTraceEncoderProp filters_texts[] = {
    { "impdef-width", "width of the implementation-defined input (0 to 32)",
      RISCV_TRACE_LIMITS(impdef_width, 0, 32) },
    { "filters", "number of filters (0 to 16)",
      RISCV_TRACE_LIMITS(filters, 0, ETRACE_FILTERS_MAX) },
    { "comparators", "number of comparators (0 to 8)",
      RISCV_TRACE_LIMITS(comparators, 0, ETRACE_COMPARATORS_MAX) },
    { "filter-excint", "log2 of nested traps that filters count (0 to "
      "8), 0: no filtering on traps",
      RISCV_TRACE_LIMITS(filter_excint, 0, 8) },
};

static const RISCVTraceEncoderUnit filters_unit = {
    .props = filters_props,
    .num_props = ARRAY_SIZE(filters_props),
    .texts = filters_texts,
    .num_texts = ARRAY_SIZE(filters_texts),
    .regs = riscv_trace_encoder_filters_regs,
    .num_regs = ARRAY_SIZE(riscv_trace_encoder_filters_regs),
    .vmsd = &vmstate_filters,
    .class_init = riscv_trace_encoder_expr_class_init,
    .init = filters_init,
    .finalize = filters_finalize,
    .check = riscv_trace_encoder_expr_check,
    .reset = filters_reset,
    .post_load = filters_post_load,
    .control = filters_control,
    .configure = filters_configure,
    .event = filters_event,
    .before = filters_before,
    .ranges = filters_ranges,
};

static void register_filters(void)
{
    riscv_trace_encoder_add_unit(RISCV_TRACE_UNIT_FILTERS, &filters_unit);
}

type_init(register_filters)
