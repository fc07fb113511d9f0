/*
 * What the QTest testcases have in common that put trace into a RAM sink
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_QTEST_RISCV_TRACE_RAM_H
#define TESTS_QTEST_RISCV_TRACE_RAM_H

#include "riscv-trace-test.h"

#define IMPL                0x004
#define START               0x010
#define LIMIT               0x018
#define WP                  0x020
#define RP                  0x028
#define HIGH                4
#define DATA                0x040

#define RAM_SMEM            (1u << 4)

#define DRAM                0x80000000ull

static inline QTestState *start_plain(void)
{
    return start(",trace=on", "");
}

static inline uint64_t read_address(QTestState *qts, uint64_t reg)
{
    return qtest_readl(qts, RAM + reg) |
           (uint64_t)qtest_readl(qts, RAM + reg + HIGH) << 32;
}

static inline void write_address(QTestState *qts, uint64_t reg, uint64_t addr)
{
    qtest_writel(qts, RAM + reg, addr);
    qtest_writel(qts, RAM + reg + HIGH, addr >> 32);
}

static inline void poll_control(QTestState *qts, uint64_t base, uint32_t mask,
                         uint32_t value)
{
    gint64 end = g_get_monotonic_time() + 10 * G_USEC_PER_SEC;

    while ((qtest_readl(qts, base) & mask) != value) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        g_usleep(100);
    }
}

/* Reset, release and check the type, as the text lays down. */
static inline void discover(QTestState *qts, uint64_t base, uint32_t type)
{
    qtest_writel(qts, base, 0);
    poll_control(qts, base, ACTIVE, 0);
    qtest_writel(qts, base, ACTIVE);
    poll_control(qts, base, ACTIVE | ENABLE, ACTIVE);
    g_assert_cmphex(qtest_readl(qts, base + IMPL) & 0xfff, ==, type << 8 | 1);
}

static inline void enable_path(QTestState *qts)
{
    discover(qts, FUNNEL, 8);
    set_control(qts, FUNNEL, ENABLE);
    discover(qts, ENCODER(0), 1);
    set_control(qts, ENCODER(0), ENABLE);
}

static inline void trace_once(QTestState *qts, unsigned hart)
{
    set_control(qts, ENCODER(hart), TE_INST_TRACING);
    poll_control(qts, ENCODER(hart), EMPTY, 0);
    clear_control(qts, ENCODER(hart), TE_INST_TRACING);
    poll_control(qts, ENCODER(hart), EMPTY, EMPTY);
}

static inline void enable_smem(QTestState *qts, uint64_t base, uint64_t size,
                        uint32_t bits)
{
    discover(qts, RAM, 9);
    write_address(qts, START, base);
    write_address(qts, LIMIT, base + size - 4);
    write_address(qts, WP, base);
    set_control(qts, RAM, bits);
    set_control(qts, RAM, ENABLE);
    poll_control(qts, RAM, ENABLE, ENABLE);
}

static inline void disable_ram(QTestState *qts)
{
    clear_control(qts, RAM, ENABLE);
    poll_control(qts, RAM, ENABLE | EMPTY, EMPTY);
}

/*
 * Check that @bytes are null packets and support packets, the first thing an
 * alignment sequence if @aligned; returns the number of support packets.
 */
static inline unsigned check_trace(const uint8_t *bytes, size_t len,
                                   bool aligned)
{
    unsigned packets = 0;
    size_t i = 0;

    if (aligned) {
        g_assert_cmpuint(len, >=, 32);
        for (; i < 31; i++) {
            g_assert_cmphex(bytes[i], ==, 0);
        }
        g_assert_cmphex(bytes[i++], ==, 0x80);
    }
    while (i < len) {
        unsigned n = bytes[i] & 0x1f;

        if (n) {
            g_assert_cmpuint(i + 1 + n, <=, len);
            g_assert_cmphex(bytes[i] & 0xe0, ==, 0);
            g_assert_cmphex(bytes[i + 1] & 0xf, ==, 0xf);
            packets++;
        } else {
            g_assert_cmphex(bytes[i] & 0x7f, ==, 0);
        }
        i += 1 + n;
    }
    return packets;
}

#endif /* TESTS_QTEST_RISCV_TRACE_RAM_H */
