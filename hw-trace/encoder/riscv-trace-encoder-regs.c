/*
 * RISC-V trace encoder: control registers
 *
 * Trace Control Interface 1.0, section "Trace Encoder Control Interface".
 * While trTeActive is 0 the encoder is in reset: every register has its
 * power-up value and writes are ignored.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/log.h"
#include "riscv-trace-encoder-private.h"
#include "hw/trace/trace.h"

/*
 * Power-up values
 */

static uint32_t control_reset(const RISCVTraceEncoder *s)
{
    const RISCVTraceEncoderConfig *cfg = &s->cfg;
    uint32_t val = 0;

    val = FIELD_DP32(val, TR_TE_CONTROL, INST_MODE, TR_TE_INST_MODE_HISTORY);
    val = FIELD_DP32(val, TR_TE_CONTROL, CONTEXT, cfg->context);
    val = FIELD_DP32(val, TR_TE_CONTROL, INST_STALL_ENA, cfg->stall);
    val = FIELD_DP32(val, TR_TE_CONTROL, INHIBIT_SRC, !cfg->src_bits);
    val = FIELD_DP32(val, TR_TE_CONTROL, INST_SYNC_MODE, cfg->sync_mode);
    val = FIELD_DP32(val, TR_TE_CONTROL, INST_SYNC_MAX, cfg->sync_max);
    return val;
}

static uint32_t features_reset(const RISCVTraceEncoder *s)
{
    const RISCVTraceEncoderConfig *cfg = &s->cfg;
    uint32_t val = riscv_trace_encoder_modes_power_up(cfg);

    /* It only says how the encoder is built. */
    val = FIELD_DP32(val, TR_TE_INST_FEATURES, IMPLICIT_RETURN_MODE,
                     riscv_trace_encoder_return_mode(cfg));
    val = FIELD_DP32(val, TR_TE_INST_FEATURES, SRC_ID, cfg->src_id);
    return FIELD_DP32(val, TR_TE_INST_FEATURES, SRC_BITS, cfg->src_bits);
}

/*
 * The protocol's version is 0.0 (Table 2.1) but for the draft: its Standard
 * Support Packet goes with 2.1.
 */
static uint32_t impl_reset(const RISCVTraceEncoder *s)
{
    uint32_t impl = TR_IMPL_VALUE(TR_COMP_ENCODER);

    if (s->params.wire_format == ETRACE_WIRE_2_1_DRAFT) {
        impl = FIELD_DP32(impl, TR_TE_IMPL, PROTOCOL_MAJOR, 2);
        impl = FIELD_DP32(impl, TR_TE_IMPL, PROTOCOL_MINOR, 1);
    }
    return impl;
}

/* All but trTeControl */
static void reset_others(RISCVTraceEncoder *s)
{
    s->regs[R_TR_TE_IMPL] = impl_reset(s);
    s->regs[R_TR_TE_INST_FEATURES] = features_reset(s);
    s->regs[R_TR_TE_INST_FILTERS] = 0;
    riscv_trace_timestamp_power_up(&s->ts, s->cfg.timestamp_mode);
    qatomic_set(&s->stall_or_overflow, false);
    RISCV_TRACE_CALL_UNITS(reset, s);
}

void riscv_trace_encoder_regs_reset(RISCVTraceEncoder *s)
{
    qatomic_set(&s->regs[R_TR_TE_CONTROL], control_reset(s));
    reset_others(s);
}

/*
 * Writes. Masks are those of fields that are implemented.
 */

bool riscv_trace_encoder_in_reset(RISCVTraceEncoder *s, RegisterInfo *reg)
{
    if (FIELD_EX32(s->regs[R_TR_TE_CONTROL], TR_TE_CONTROL, ACTIVE)) {
        return false;
    }
    qemu_log_mask(LOG_GUEST_ERROR, "%s: write to %s while trTeActive is 0\n",
                  TYPE_RISCV_TRACE_ENCODER, reg->access->name);
    return true;
}

uint32_t riscv_trace_encoder_reg(RegisterInfo *reg)
{
    return *(uint32_t *)reg->data;
}

void riscv_trace_encoder_reg_changed(RegisterInfo *reg, uint64_t val)
{
    riscv_trace_encoder_changed(reg->opaque);
}

static uint64_t control_pre_write(RegisterInfo *reg, uint64_t val64)
{
    RISCVTraceEncoder *s = reg->opaque;
    uint32_t old = s->regs[R_TR_TE_CONTROL];
    uint32_t val = val64;

    /* Kept apart, because the hart's thread sets it. */
    if (FIELD_EX32(val, TR_TE_CONTROL, INST_STALL_OR_OVERFLOW)) {
        qatomic_set(&s->stall_or_overflow, false);
        val = FIELD_DP32(val, TR_TE_CONTROL, INST_STALL_OR_OVERFLOW, 0);
    }
    if (!s->cfg.context_width) {
        val = FIELD_DP32(val, TR_TE_CONTROL, CONTEXT, 0);
    }
    if (!FIELD_EX32(s->regs[R_TR_TE_INST_FEATURES], TR_TE_INST_FEATURES,
                    SRC_BITS)) {
        val = FIELD_DP32(val, TR_TE_CONTROL, INHIBIT_SRC, 1);
    }
    val = riscv_trace_control(old, val, control_reset(s));
    if (!riscv_trace_enabled(old) && riscv_trace_enabled(val)) {
        qatomic_set(&s->stall_or_overflow, false);
    }
    if (!FIELD_EX32(val, TR_TE_CONTROL, ACTIVE)) {
        reset_others(s);
    }
    if ((old ^ val) & R_TR_TE_CONTROL_INHIBIT_SRC_MASK) {
        s->sink_class->restart(s->sink);
    }
    RISCV_TRACE_CALL_UNITS(control, s, old, val);
    return val;
}

static void control_post_write(RegisterInfo *reg, uint64_t val)
{
    RISCVTraceEncoder *s = reg->opaque;

    trace_riscv_trace_encoder_control(s->hart_index, val);
    riscv_trace_encoder_update(s);
    riscv_trace_encoder_changed(s);
}

static uint64_t control_post_read(RegisterInfo *reg, uint64_t val)
{
    RISCVTraceEncoder *s = reg->opaque;

    if (current_cpu == s->cpu) {
        /* Triggers that it has passed already may have moved bits. */
        riscv_trace_hart_drain_in_tb(s->cpu);
        val = riscv_trace_encoder_control(s);
    }
    val = FIELD_DP32(val, TR_TE_CONTROL, EMPTY,
                     !qatomic_read(&s->tracing) &&
                     !qatomic_read(&s->tracing_data));
    return FIELD_DP32(val, TR_TE_CONTROL, INST_STALL_OR_OVERFLOW,
                      qatomic_read(&s->stall_or_overflow));
}

static uint32_t features_mask(const RISCVTraceEncoderConfig *cfg)
{
    return R_TR_TE_INST_FEATURES_SRC_ID_MASK |
           R_TR_TE_INST_FEATURES_SRC_BITS_MASK |
           riscv_trace_encoder_modes_built_in(cfg);
}

static uint64_t features_pre_write(RegisterInfo *reg, uint64_t val64)
{
    RISCVTraceEncoder *s = reg->opaque;
    uint32_t mask = features_mask(&s->cfg);
    uint32_t old = s->regs[R_TR_TE_INST_FEATURES];
    uint32_t val = (old & ~mask) | (val64 & mask);
    uint32_t src = R_TR_TE_INST_FEATURES_SRC_ID_MASK |
                   R_TR_TE_INST_FEATURES_SRC_BITS_MASK;

    if (riscv_trace_encoder_in_reset(s, reg)) {
        return old;
    }
    if (FIELD_EX32(val, TR_TE_INST_FEATURES, SRC_BITS) > TR_TE_SRC_BITS_MAX) {
        val = FIELD_DP32(val, TR_TE_INST_FEATURES, SRC_BITS,
                         FIELD_EX32(old, TR_TE_INST_FEATURES, SRC_BITS));
    }
    if ((old ^ val) & src) {
        s->sink_class->restart(s->sink);
    }
    return val;
}

static void features_post_write(RegisterInfo *reg, uint64_t val)
{
    RISCVTraceEncoder *s = reg->opaque;

    if (!FIELD_EX32(val, TR_TE_INST_FEATURES, SRC_BITS)) {
        qatomic_or(&s->regs[R_TR_TE_CONTROL],
                   R_TR_TE_CONTROL_INHIBIT_SRC_MASK);
    }
    riscv_trace_encoder_changed(s);
}

/* The timestamp unit keeps its registers itself. */
static uint64_t ts_control_pre_write(RegisterInfo *reg, uint64_t val)
{
    RISCVTraceEncoder *s = reg->opaque;

    if (!riscv_trace_encoder_in_reset(s, reg)) {
        uint64_t hz = riscv_trace_timestamp_hz(&s->ts), now;

        riscv_trace_timestamp_write(&s->ts, val);
        now = riscv_trace_timestamp_hz(&s->ts);
        if (now && now != hz) {
            /* The reader knows the rate of a session. */
            s->sink_class->restart(s->sink);
        }
    }
    return 0;
}

static uint64_t ts_control_post_read(RegisterInfo *reg, uint64_t val)
{
    RISCVTraceEncoder *s = reg->opaque;

    return riscv_trace_timestamp_read(&s->ts);
}

static uint64_t ts_low_post_read(RegisterInfo *reg, uint64_t val)
{
    RISCVTraceEncoder *s = reg->opaque;

    return (uint32_t)riscv_trace_timestamp_now(&s->ts);
}

static uint64_t ts_high_post_read(RegisterInfo *reg, uint64_t val)
{
    RISCVTraceEncoder *s = reg->opaque;

    return riscv_trace_timestamp_now(&s->ts) >> 32;
}

static const RegisterAccessInfo riscv_trace_encoder_regs_info[] = {
    {   .name = "trTeControl", .addr = A_TR_TE_CONTROL,
        .ro = R_TR_TE_CONTROL_EMPTY_MASK | R_TR_TE_CONTROL_INST_MODE_MASK |
              R_TR_TE_CONTROL_FORMAT_MASK,
        .rsvd = TR_TE_CONTROL_RSVD,
        .pre_write = control_pre_write,
        .post_write = control_post_write,
        .post_read = control_post_read,
    },{ .name = "trTeImpl", .addr = A_TR_TE_IMPL,
        .ro = 0xffffffff,
    },{ .name = "trTeInstFeatures", .addr = A_TR_TE_INST_FEATURES,
        .rsvd = 0x0000f800,
        .pre_write = features_pre_write,
        .post_write = features_post_write,
    },{ .name = "trTsControl", .addr = A_TR_TS_CONTROL,
        .pre_write = ts_control_pre_write,
        .post_write = riscv_trace_encoder_reg_changed,
        .post_read = ts_control_post_read,
    },{ .name = "trTsCounterLow", .addr = A_TR_TS_COUNTER_LOW,
        .ro = 0xffffffff,
        .post_read = ts_low_post_read,
    },{ .name = "trTsCounterHigh", .addr = A_TR_TS_COUNTER_HIGH,
        .ro = 0xffffffff,
        .post_read = ts_high_post_read,
    },
};

/* Those of the core and of all units, for every encoder */
static const RegisterAccessInfo *all_registers(unsigned *num)
{
    static GArray *rows;

    if (!rows) {
        rows = g_array_new(false, false, sizeof(RegisterAccessInfo));
        g_array_append_vals(rows, riscv_trace_encoder_regs_info,
                            ARRAY_SIZE(riscv_trace_encoder_regs_info));
        for (unsigned i = 0; i < RISCV_TRACE_UNITS; i++) {
            const RISCVTraceEncoderUnit *unit = riscv_trace_encoder_units[i];

            if (unit && unit->num_regs) {
                g_array_append_vals(rows, unit->regs, unit->num_regs);
            }
        }
    }
    *num = rows->len;
    return (const RegisterAccessInfo *)rows->data;
}

void riscv_trace_encoder_regs_init(RISCVTraceEncoder *s)
{
    unsigned num;
    const RegisterAccessInfo *rows = all_registers(&num);

    s->reg_array = register_init_block32(DEVICE(s), rows, num, s->regs_info,
                                         s->regs, &riscv_trace_mmio_ops, false,
                                         RISCV_TRACE_MMIO_SIZE);
}
