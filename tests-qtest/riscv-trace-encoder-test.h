/*
 * What the QTest testcases for the RISC-V trace encoder have in common
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_QTEST_RISCV_TRACE_ENCODER_H
#define TESTS_QTEST_RISCV_TRACE_ENCODER_H

#include "riscv-trace-test.h"

#define CONTROL             0x000
#define IMPL                0x004
#define INST_FEATURES       0x008
#define INST_FILTERS        0x00c
#define DATA_CONTROL        0x010
#define DATA_FILTERS        0x01c
#define TS_CONTROL          0x040
#define TS_COUNTER_LOW      0x048
#define TS_COUNTER_HIGH     0x04c
#define TRIG_DBG            0x050
#define TRIG_EXT_IN         0x054
#define TRIG_EXT_OUT        0x058
#define FILTER(i)           (0x400 + 0x20 * (i))
#define COMP(j)             (0x600 + 0x20 * (j))

#define TE_INST_MODE        (7u << 4)
#define TE_CONTEXT          (1u << 9)
#define TE_TRIG_ENABLE      (1u << 11)
#define TE_STALL_OVERFLOW   (1u << 12)
#define TE_STALL_ENA        (1u << 13)
#define TE_SYNC_MODE_SHIFT  16
#define TE_SYNC_MODE        (3u << TE_SYNC_MODE_SHIFT)
#define TE_SYNC_MAX_SHIFT   20
#define TE_SYNC_MAX         (15u << TE_SYNC_MAX_SHIFT)
#define TE_FORMAT           (7u << 24)
#define TE_RESERVED         0xf80c4580u
#define TE_DEFAULTS         (6u << 4 | TE_STALL_ENA | TE_INHIBIT_SRC | \
                             1u << TE_SYNC_MODE_SHIFT | 8u << TE_SYNC_MAX_SHIFT)
/* trTeInstImplicitReturnMode: 3, full address comparing */
#define FEATURES_DEFAULTS   0x000000c0u

#define TS_ACTIVE           (1u << 0)
#define TS_COUNT            (1u << 1)
#define TS_RESET            (1u << 2)
#define TS_RUN_IN_DEBUG     (1u << 3)
#define TS_MODE(n)          ((uint32_t)(n) << 4)
#define TS_PRESCALE(n)      ((uint32_t)(n) << 8)
#define TS_ENABLE           (1u << 15)

#define PROP(text)          "-global riscv-trace-encoder." text " "

static inline uint32_t rd(QTestState *qts, unsigned ofs)
{
    return qtest_readl(qts, ENCODER(0) + ofs);
}

static inline void wr(QTestState *qts, unsigned ofs, uint32_t val)
{
    qtest_writel(qts, ENCODER(0) + ofs, val);
}

/* A machine with one hart, whose encoder is active */
static inline QTestState *start_active(const char *args)
{
    QTestState *qts = start(",trace=on", args);

    wr(qts, CONTROL, ACTIVE);
    return qts;
}

/* "Write any, read legal": what comes back of @val */
static inline void warl(QTestState *qts, unsigned ofs, uint32_t val,
                        uint32_t expect)
{
    wr(qts, ofs, val);
    g_assert_cmphex(rd(qts, ofs), ==, expect);
}

/* Every bit of @mask can be 1 and 0 by itself, no other can be 1. */
static inline void bits(QTestState *qts, unsigned ofs, uint32_t mask)
{
    warl(qts, ofs, 0xffffffff, mask);
    for (unsigned i = 0; i < 32; i++) {
        warl(qts, ofs, 1u << i, mask & (1u << i));
        warl(qts, ofs, ~(1u << i), mask & ~(1u << i));
    }
    warl(qts, ofs, 0, 0);
}

static inline void poll_control(QTestState *qts, uint32_t mask, uint32_t value)
{
    gint64 end = g_get_monotonic_time() + 10 * G_USEC_PER_SEC;

    while ((rd(qts, CONTROL) & mask) != value) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        g_usleep(1000);
    }
}

/* What has been asked of the hart's thread is done now. */
static inline void settle(QTestState *qts)
{
    g_usleep(50 * 1000);
    rd(qts, CONTROL);
}

static inline uint64_t counter(QTestState *qts)
{
    return rd(qts, TS_COUNTER_LOW) | (uint64_t)rd(qts, TS_COUNTER_HIGH) << 32;
}

#endif /* TESTS_QTEST_RISCV_TRACE_ENCODER_H */
