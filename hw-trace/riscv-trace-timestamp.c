/*
 * RISC-V trace: timestamp unit of an encoder or a funnel
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "qemu/lockable.h"
#include "qemu/timer.h"
#include "riscv-trace-regs.h"
#include "riscv-trace-timestamp.h"

#define EXTERNAL_HZ     10000000

static bool is_internal(unsigned mode)
{
    return mode == RISCV_TRACE_TIMESTAMP_SYSTEM ||
           mode == RISCV_TRACE_TIMESTAMP_CORE;
}

static bool has_mode(const RISCVTraceTimestamp *t, unsigned mode)
{
    switch (mode) {
    case RISCV_TRACE_TIMESTAMP_NONE:
    case RISCV_TRACE_TIMESTAMP_EXTERNAL:
    case RISCV_TRACE_TIMESTAMP_SYSTEM:
        return true;
    case RISCV_TRACE_TIMESTAMP_CORE:
        return t->encoder;
    case RISCV_TRACE_TIMESTAMP_SHARED:
        return t->shared;
    default:
        return false;
    }
}

static unsigned get_mode(const RISCVTraceTimestamp *t)
{
    return FIELD_EX32(t->control, TR_TS_CONTROL, MODE);
}

static uint64_t mask(const RISCVTraceTimestamp *t)
{
    return riscv_trace_mask(t->width);
}

static int64_t clock_ns(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

/* The counter of the internal modes; t->lock is held. */
static uint64_t get_ticks(const RISCVTraceTimestamp *t, int64_t now)
{
    uint64_t ticks = t->ticks;

    if (is_internal(get_mode(t)) &&
        FIELD_EX32(t->control, TR_TS_CONTROL, COUNT)) {
        /* What was migrated may be any number. */
        ticks += ((uint64_t)now - (uint64_t)t->since) >>
                 (2 * FIELD_EX32(t->control, TR_TS_CONTROL, PRESCALE));
    }
    return ticks;
}

void riscv_trace_timestamp_reset(RISCVTraceTimestamp *t)
{
    QEMU_LOCK_GUARD(&t->lock);
    t->control = 0;
    t->ticks = 0;
    t->since = 0;
}

void riscv_trace_timestamp_init(RISCVTraceTimestamp *t, unsigned width,
                                bool encoder)
{
    qemu_mutex_init(&t->lock);
    t->width = width;
    t->encoder = encoder;
    t->shared = NULL;
    riscv_trace_timestamp_reset(t);
}

void riscv_trace_timestamp_cleanup(RISCVTraceTimestamp *t)
{
    qemu_mutex_destroy(&t->lock);
}

void riscv_trace_timestamp_share(RISCVTraceTimestamp *t,
                                 RISCVTraceTimestamp *from)
{
    t->shared = from && from->width ? from : NULL;
}

uint32_t riscv_trace_timestamp_read(RISCVTraceTimestamp *t)
{
    QEMU_LOCK_GUARD(&t->lock);
    return FIELD_DP32(t->control, TR_TS_CONTROL, WIDTH, t->width);
}

void riscv_trace_timestamp_write(RISCVTraceTimestamp *t, uint32_t val)
{
    int64_t now = clock_ns();
    uint32_t writable = R_TR_TS_CONTROL_ACTIVE_MASK |
                        R_TR_TS_CONTROL_COUNT_MASK |
                        R_TR_TS_CONTROL_MODE_MASK |
                        R_TR_TS_CONTROL_PRESCALE_MASK;

    if (!t->width) {
        return;
    }
    if (!FIELD_EX32(val, TR_TS_CONTROL, ACTIVE)) {
        riscv_trace_timestamp_reset(t);
        return;
    }
    QEMU_LOCK_GUARD(&t->lock);
    /* What was counted at the old rate */
    t->ticks = FIELD_EX32(val, TR_TS_CONTROL, RESET) ? 0 : get_ticks(t, now);
    t->since = now;

    if (t->encoder) {
        writable |= R_TR_TS_CONTROL_ENABLE_MASK;
    }
    if (!has_mode(t, FIELD_EX32(val, TR_TS_CONTROL, MODE))) {
        val = FIELD_DP32(val, TR_TS_CONTROL, MODE, get_mode(t));
    }
    t->control = val & writable;
}

void riscv_trace_timestamp_power_up(RISCVTraceTimestamp *t, unsigned mode)
{
    riscv_trace_timestamp_reset(t);
    if (mode == RISCV_TRACE_TIMESTAMP_NONE) {
        return;
    }
    riscv_trace_timestamp_write(t, R_TR_TS_CONTROL_ACTIVE_MASK |
                                R_TR_TS_CONTROL_COUNT_MASK |
                                R_TR_TS_CONTROL_ENABLE_MASK |
                                mode << R_TR_TS_CONTROL_MODE_SHIFT);
}

uint64_t riscv_trace_timestamp_ticks(RISCVTraceTimestamp *t)
{
    WITH_QEMU_LOCK_GUARD(&t->lock) {
        switch (get_mode(t)) {
        case RISCV_TRACE_TIMESTAMP_EXTERNAL:
            return muldiv64(clock_ns(), EXTERNAL_HZ, NANOSECONDS_PER_SECOND);
        case RISCV_TRACE_TIMESTAMP_SHARED:
            break;
        default:
            return get_ticks(t, clock_ns());
        }
    }
    /* Not under the lock: units are not shared in circles, but in chains. */
    return riscv_trace_timestamp_ticks(t->shared);
}

uint64_t riscv_trace_timestamp_bits(RISCVTraceTimestamp *t, uint64_t ticks)
{
    WITH_QEMU_LOCK_GUARD(&t->lock) {
        ticks &= mask(t);
        if (get_mode(t) != RISCV_TRACE_TIMESTAMP_SHARED) {
            return ticks;
        }
    }
    return riscv_trace_timestamp_bits(t->shared, ticks);
}

uint64_t riscv_trace_timestamp_now(RISCVTraceTimestamp *t)
{
    return riscv_trace_timestamp_bits(t, riscv_trace_timestamp_ticks(t));
}

uint64_t riscv_trace_timestamp_hz(RISCVTraceTimestamp *t)
{
    WITH_QEMU_LOCK_GUARD(&t->lock) {
        switch (get_mode(t)) {
        case RISCV_TRACE_TIMESTAMP_NONE:
            return 0;
        case RISCV_TRACE_TIMESTAMP_EXTERNAL:
            return EXTERNAL_HZ;
        case RISCV_TRACE_TIMESTAMP_SHARED:
            break;
        default:
            return NANOSECONDS_PER_SECOND >>
                   (2 * FIELD_EX32(t->control, TR_TS_CONTROL, PRESCALE));
        }
    }
    return riscv_trace_timestamp_hz(t->shared);
}

bool riscv_trace_timestamp_enabled(RISCVTraceTimestamp *t)
{
    QEMU_LOCK_GUARD(&t->lock);
    return FIELD_EX32(t->control, TR_TS_CONTROL, ENABLE) &&
           get_mode(t) != RISCV_TRACE_TIMESTAMP_NONE;
}

static int riscv_trace_timestamp_post_load(void *opaque, int version_id)
{
    RISCVTraceTimestamp *t = opaque;

    /* The mode may need something that is not here. */
    return has_mode(t, get_mode(t)) ? 0 : -EINVAL;
}

const VMStateDescription vmstate_riscv_trace_timestamp = {
    .name = "riscv-trace-timestamp",
    .version_id = 1,
    .minimum_version_id = 1,
    .post_load = riscv_trace_timestamp_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(control, RISCVTraceTimestamp),
        VMSTATE_UINT64(ticks, RISCVTraceTimestamp),
        VMSTATE_INT64(since, RISCVTraceTimestamp),
        VMSTATE_END_OF_LIST()
    }
};
