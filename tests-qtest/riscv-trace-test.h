/*
 * What the QTest testcases for the RISC-V trace components have in common
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_QTEST_RISCV_TRACE_H
#define TESTS_QTEST_RISCV_TRACE_H

#include "libqtest.h"

/* Where the virt machine has them */
#define ENCODER(hart)       (0x3020000 + (hart) * 0x1000)
#define FUNNEL              0x3030000
#define PIB                 0x3031000
#define RAM                 0x3032000
#define ATB                 0x3033000

/* The control word of every component is the first one. */
#define ACTIVE              (1u << 0)
#define ENABLE              (1u << 1)
#define EMPTY               (1u << 3)

/* Behind the synchronisation sequence of a session: null packets with its id */
#define SESSION_MARK        (8 + 64 + 1)

#define TE_INST_TRACING     (1u << 2)
#define TE_INHIBIT_SRC      (1u << 15)

/* The machine with these options, "" or with a comma in front */
static inline QTestState *start(const char *machine_options, const char *args)
{
    return qtest_initf("-machine virt%s -bios none %s", machine_options, args);
}

/* Set all of @bits in the control word at @base. */
static inline void set_control(QTestState *qts, uint64_t base, uint32_t bits)
{
    qtest_writel(qts, base, qtest_readl(qts, base) | bits);
}

static inline void clear_control(QTestState *qts, uint64_t base, uint32_t bits)
{
    qtest_writel(qts, base, qtest_readl(qts, base) & ~bits);
}

static inline char *tmp_name(const char *name)
{
    return g_strdup_printf("%s/riscv-trace-%d-%s", g_get_tmp_dir(), getpid(),
                           name);
}

#endif /* TESTS_QTEST_RISCV_TRACE_H */
