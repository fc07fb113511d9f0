/*
 * RISC-V trace encoder: registers of filters and comparators
 *
 * Trace Control Interface 1.0, section "Trace Encoder Filter Registers".
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "riscv-trace-encoder-filters.h"
#include "hw/trace/trace.h"

/*
 * Bits that are implemented
 */

static uint32_t filter_control_mask(const RISCVTraceEncoderConfig *cfg)
{
    uint32_t mask = R_TR_TE_FILTER_CONTROL_ENABLE_MASK |
                    R_TR_TE_FILTER_CONTROL_MATCH_PRIVILEGE_MASK;

    if (cfg->filter_excint) {
        mask |= R_TR_TE_FILTER_CONTROL_MATCH_ECAUSE_MASK |
                R_TR_TE_FILTER_CONTROL_MATCH_INTERRUPT_MASK;
    }
    if (cfg->comparators) {
        mask |= R_TR_TE_FILTER_CONTROL_MATCH_COMP1_MASK |
                R_TR_TE_FILTER_CONTROL_COMP1_MASK |
                R_TR_TE_FILTER_CONTROL_MATCH_COMP2_MASK |
                R_TR_TE_FILTER_CONTROL_COMP2_MASK |
                R_TR_TE_FILTER_CONTROL_MATCH_COMP3_MASK |
                R_TR_TE_FILTER_CONTROL_COMP3_MASK;
    }
    if (cfg->impdef_width) {
        mask |= R_TR_TE_FILTER_CONTROL_MATCH_IMPDEF_MASK;
    }
    if (cfg->data_width) {
        mask |= R_TR_TE_FILTER_CONTROL_MATCH_DTYPE_MASK |
                R_TR_TE_FILTER_CONTROL_MATCH_DSIZE_MASK;
    }
    return mask;
}

static uint32_t filter_mask(const RISCVTraceEncoderConfig *cfg, unsigned reg)
{
    switch (reg) {
    case R_TR_TE_FILTER_CONTROL:
        return filter_control_mask(cfg);
    case R_TR_TE_FILTER_MATCH_INST:
        return R_TR_TE_FILTER_MATCH_INST_CHOICE_PRIVILEGE_MASK |
               (cfg->filter_excint ?
                R_TR_TE_FILTER_MATCH_INST_VALUE_INTERRUPT_MASK : 0);
    case R_TR_TE_FILTER_MATCH_ECAUSE_LOW:
    case R_TR_TE_FILTER_MATCH_ECAUSE_HIGH:
        return cfg->filter_excint ? UINT32_MAX : 0;
    case R_TR_TE_FILTER_MATCH_VALUE_IMPDEF:
    case R_TR_TE_FILTER_MATCH_MASK_IMPDEF:
        return riscv_trace_mask(cfg->impdef_width);
    case R_TR_TE_FILTER_MATCH_DATA:
        return cfg->data_width ?
               R_TR_TE_FILTER_MATCH_DATA_CHOICE_DTYPE_MASK |
               R_TR_TE_FILTER_MATCH_DATA_CHOICE_DSIZE_MASK : 0;
    default:
        return 0;
    }
}

static uint32_t comp_mask(unsigned reg)
{
    switch (reg) {
    case R_TR_TE_COMP_CONTROL:
        return R_TR_TE_COMP_CONTROL_P_INPUT_MASK |
               R_TR_TE_COMP_CONTROL_S_INPUT_MASK |
               R_TR_TE_COMP_CONTROL_P_FUNCTION_MASK |
               R_TR_TE_COMP_CONTROL_S_FUNCTION_MASK |
               R_TR_TE_COMP_CONTROL_MATCH_MODE_MASK |
               R_TR_TE_COMP_CONTROL_P_NOTIFY_MASK |
               R_TR_TE_COMP_CONTROL_S_NOTIFY_MASK;
    case R_TR_TE_COMP_P_MATCH_LOW:
    case R_TR_TE_COMP_P_MATCH_HIGH:
    case R_TR_TE_COMP_S_MATCH_LOW:
    case R_TR_TE_COMP_S_MATCH_HIGH:
        return UINT32_MAX;
    default:
        return 0;
    }
}

/* A field whose new value names something that there is not keeps its old. */
#define KEEP_UNLESS(ok, val, old, reg, field) do {                      \
        if (!(ok)) {                                                    \
            (val) = FIELD_DP32(val, reg, field,                         \
                               FIELD_EX32(old, reg, field));            \
        }                                                               \
    } while (0)

static uint32_t filter_control_legal(const RISCVTraceEncoderConfig *cfg,
                                     uint32_t old, uint32_t val)
{
    unsigned n = cfg->comparators;

    KEEP_UNLESS(FIELD_EX32(val, TR_TE_FILTER_CONTROL, COMP1) < n, val, old,
                TR_TE_FILTER_CONTROL, COMP1);
    KEEP_UNLESS(FIELD_EX32(val, TR_TE_FILTER_CONTROL, COMP2) < n, val, old,
                TR_TE_FILTER_CONTROL, COMP2);
    KEEP_UNLESS(FIELD_EX32(val, TR_TE_FILTER_CONTROL, COMP3) < n, val, old,
                TR_TE_FILTER_CONTROL, COMP3);
    return val;
}

static bool has_input(const RISCVTraceEncoderConfig *cfg, unsigned input)
{
    switch (input) {
    case ETRACE_COMP_CONTEXT:
        return cfg->context_width;
    case ETRACE_COMP_DADDR:
        return cfg->data_width;
    default:
        return true;
    }
}

static uint32_t comp_control_legal(const RISCVTraceEncoderConfig *cfg,
                                   uint32_t old, uint32_t val)
{
    KEEP_UNLESS(has_input(cfg, FIELD_EX32(val, TR_TE_COMP_CONTROL, P_INPUT)),
                val, old, TR_TE_COMP_CONTROL, P_INPUT);
    KEEP_UNLESS(has_input(cfg, FIELD_EX32(val, TR_TE_COMP_CONTROL, S_INPUT)),
                val, old, TR_TE_COMP_CONTROL, S_INPUT);
    return val;
}

/*
 * Access. Offsets are those in s->filters->mem.
 */

typedef struct FilterReg {
    uint32_t *word;             /* NULL: there is no such register */
    unsigned reg;               /* index in its filter or comparator */
    bool comp;
    uint32_t mask;              /* bits that can be written */
} FilterReg;

static FilterReg find_reg(RISCVTraceEncoder *s, hwaddr addr)
{
    FilterReg r = { .reg = addr % TR_TE_FILTER_SIZE / 4 };
    unsigned i = addr / TR_TE_FILTER_SIZE;

    QEMU_BUILD_BUG_ON(TR_TE_COMP_SIZE != TR_TE_FILTER_SIZE);
    if (i < ETRACE_FILTERS_MAX) {
        r.mask = i < s->cfg.filters ? filter_mask(&s->cfg, r.reg) : 0;
        r.word = &s->filters->regs[i][r.reg];
    } else {
        i -= ETRACE_FILTERS_MAX;
        r.comp = true;
        r.mask = i < s->cfg.comparators ? comp_mask(r.reg) : 0;
        r.word = &s->filters->comp_regs[i][r.reg];
    }
    if (!r.mask) {
        r.word = NULL;
    }
    return r;
}

static uint64_t riscv_trace_encoder_filter_read(void *opaque, hwaddr addr,
                                                unsigned size)
{
    FilterReg r = find_reg(opaque, addr);

    if (!r.word) {
        qemu_log_mask(LOG_GUEST_ERROR, "%s: read from unimplemented register "
                      "at 0x%" HWADDR_PRIx "\n", TYPE_RISCV_TRACE_ENCODER,
                      addr + TR_TE_FILTERS);
        return 0;
    }
    return *r.word;
}

static void riscv_trace_encoder_filter_write(void *opaque, hwaddr addr,
                                             uint64_t val64, unsigned size)
{
    RISCVTraceEncoder *s = opaque;
    FilterReg r = find_reg(s, addr);
    uint32_t val = val64 & r.mask;

    if (!r.word) {
        qemu_log_mask(LOG_GUEST_ERROR, "%s: write to unimplemented register "
                      "at 0x%" HWADDR_PRIx "\n", TYPE_RISCV_TRACE_ENCODER,
                      addr + TR_TE_FILTERS);
        return;
    }
    if (!FIELD_EX32(riscv_trace_encoder_control(s), TR_TE_CONTROL, ACTIVE)) {
        qemu_log_mask(LOG_GUEST_ERROR, "%s: write to 0x%" HWADDR_PRIx
                      " while trTeActive is 0\n", TYPE_RISCV_TRACE_ENCODER,
                      addr + TR_TE_FILTERS);
        return;
    }
    if (r.comp && r.reg == R_TR_TE_COMP_CONTROL) {
        val = comp_control_legal(&s->cfg, *r.word, val);
    } else if (!r.comp && r.reg == R_TR_TE_FILTER_CONTROL) {
        val = filter_control_legal(&s->cfg, *r.word, val);
    }
    trace_riscv_trace_encoder_filter(s->hart_index, addr + TR_TE_FILTERS, val);
    if (*r.word != val) {
        *r.word = val;
        riscv_trace_encoder_changed(s);
    }
}

static const MemoryRegionOps riscv_trace_encoder_filter_ops = {
    .read = riscv_trace_encoder_filter_read,
    .write = riscv_trace_encoder_filter_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {
        .min_access_size = 4,
        .max_access_size = 4,
    },
};

void riscv_trace_encoder_filters_map(RISCVTraceEncoder *s)
{
    memory_region_init_io(&s->filters->mem, OBJECT(s),
                          &riscv_trace_encoder_filter_ops, s,
                          TYPE_RISCV_TRACE_ENCODER "-filters",
                          TR_TE_COMPS_END - TR_TE_FILTERS);
    memory_region_add_subregion(&s->reg_array->mem, TR_TE_FILTERS,
                                &s->filters->mem);
}

/*
 * Which filters qualify instruction and data trace
 */

static uint64_t filters_pre_write(RegisterInfo *reg, uint64_t val)
{
    RISCVTraceEncoder *s = reg->opaque;
    bool data = reg->access->addr == A_TR_TE_DATA_FILTERS;

    if (riscv_trace_encoder_in_reset(s, reg) || (data && !s->cfg.data_width)) {
        return riscv_trace_encoder_reg(reg);
    }
    return val & riscv_trace_mask(s->cfg.filters);
}

const RegisterAccessInfo riscv_trace_encoder_filters_regs[2] = {
    {   .name = "trTeInstFilters", .addr = A_TR_TE_INST_FILTERS,
        .rsvd = 0xffff0000,
        .pre_write = filters_pre_write,
        .post_write = riscv_trace_encoder_reg_changed,
    },{ .name = "trTeDataFilters", .addr = A_TR_TE_DATA_FILTERS,
        .rsvd = 0xffff0000,
        .pre_write = filters_pre_write,
        .post_write = riscv_trace_encoder_reg_changed,
    },
};
