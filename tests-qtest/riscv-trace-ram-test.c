/*
 * QTest testcase for the RAM sink of the RISC-V trace components
 *
 * Register facts are those of the RISC-V Trace Control Interface 1.0.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "qemu/bswap.h"
#include "qobject/qdict.h"
#include "riscv-trace-ram.h"

#define TE_STALL_OVERFLOW   (1u << 12)

#define RAM_STOP_ON_WRAP    (1u << 8)
#define RAM_ASYNC(n)        ((uint32_t)(n) << 12)
#define RAM_DEFAULTS        (RAM_SMEM | RAM_ASYNC(3))
#define RAM_WRAP            1u

#define SRAM_SIZE           0x100000

/*
 * RAM sink: registers
 */

static void test_ram_control(void)
{
    QTestState *qts = start_plain();

    g_assert_cmphex(qtest_readl(qts, RAM), ==, EMPTY | RAM_DEFAULTS);
    /* version 1.0, type 9, both modes */
    g_assert_cmphex(qtest_readl(qts, RAM + IMPL), ==, 0x00003901);
    qtest_writel(qts, RAM + IMPL, 0xffffffff);
    g_assert_cmphex(qtest_readl(qts, RAM + IMPL), ==, 0x00003901);

    /* In reset nothing else can be set, and releasing sets nothing else. */
    qtest_writel(qts, RAM, ENABLE);
    g_assert_cmphex(qtest_readl(qts, RAM), ==, EMPTY | RAM_DEFAULTS);
    qtest_writel(qts, RAM, ACTIVE | ENABLE);
    g_assert_cmphex(qtest_readl(qts, RAM), ==, EMPTY | ACTIVE | RAM_DEFAULTS);

    /* Every field by itself */
    qtest_writel(qts, RAM, ACTIVE);
    g_assert_cmphex(qtest_readl(qts, RAM), ==, EMPTY | ACTIVE);
    qtest_writel(qts, RAM, ACTIVE | RAM_SMEM);
    g_assert_cmphex(qtest_readl(qts, RAM), ==, EMPTY | ACTIVE | RAM_SMEM);
    qtest_writel(qts, RAM, ACTIVE | RAM_STOP_ON_WRAP);
    g_assert_cmphex(qtest_readl(qts, RAM), ==,
                    EMPTY | ACTIVE | RAM_STOP_ON_WRAP);
    for (unsigned n = 0; n < 8; n++) {
        qtest_writel(qts, RAM, ACTIVE | RAM_ASYNC(n));
        g_assert_cmphex(qtest_readl(qts, RAM), ==,
                        EMPTY | ACTIVE | RAM_ASYNC(n));
    }
    /* Plain bytes are the only format; what is reserved is 0. */
    qtest_writel(qts, RAM, 0xffffffff & ~ENABLE);
    g_assert_cmphex(qtest_readl(qts, RAM), ==, EMPTY | ACTIVE | RAM_SMEM |
                    RAM_STOP_ON_WRAP | RAM_ASYNC(7));

    qtest_writel(qts, RAM, 0);
    g_assert_cmphex(qtest_readl(qts, RAM), ==, EMPTY | RAM_DEFAULTS);
    qtest_quit(qts);
}

static void test_ram_one_mode(void)
{
    QTestState *qts = start(",trace=on",
                            "-global riscv-trace-ram.sram-size=0");

    /* no SRAM: trRamMode is tied to 1 */
    g_assert_cmphex(qtest_readl(qts, RAM + IMPL), ==, 0x00002901);
    qtest_writel(qts, RAM, ACTIVE);
    qtest_writel(qts, RAM, ACTIVE);
    g_assert_cmphex(qtest_readl(qts, RAM), ==, EMPTY | ACTIVE | RAM_SMEM);
    qtest_quit(qts);
}

/* "After setting 0, the lowest possible value must be set ..." */
static void test_ram_probe_smem(void)
{
    QTestState *qts = start_plain();

    qtest_writel(qts, RAM, ACTIVE);
    write_address(qts, START, 0);
    g_assert_cmphex(read_address(qts, START), ==, 0);
    write_address(qts, LIMIT, UINT64_MAX);
    g_assert_cmphex(read_address(qts, LIMIT), ==, 0x00fffffffffffffcull);
    write_address(qts, START, UINT64_MAX);
    g_assert_cmphex(read_address(qts, START), ==, 0x00fffffffffff000ull);
    write_address(qts, LIMIT, 0);
    g_assert_cmphex(read_address(qts, LIMIT), ==, 0xffc);

    /* Whole pages, none of which was not asked for */
    write_address(qts, START, DRAM + 4);
    g_assert_cmphex(read_address(qts, START), ==, DRAM + 0x1000);
    write_address(qts, START, DRAM + 0xfff);
    g_assert_cmphex(read_address(qts, START), ==, DRAM + 0x1000);
    write_address(qts, LIMIT, DRAM + 0x5ff8);
    g_assert_cmphex(read_address(qts, LIMIT), ==, DRAM + 0x4ffc);
    write_address(qts, LIMIT, DRAM + 0x5ffc);
    g_assert_cmphex(read_address(qts, LIMIT), ==, DRAM + 0x5ffc);
    write_address(qts, LIMIT, DRAM + 0x5fff);
    g_assert_cmphex(read_address(qts, LIMIT), ==, DRAM + 0x5ffc);

    /* Any word in the range */
    for (uint64_t a = DRAM + 0x1000; a <= DRAM + 0x5ffc; a += 0xffc) {
        write_address(qts, WP, a);
        g_assert_cmphex(read_address(qts, WP), ==, a);
    }
    write_address(qts, WP, DRAM + 0x2003);
    g_assert_cmphex(read_address(qts, WP), ==, DRAM + 0x2000);

    /* "it should try to set trRamRP": memory is read by itself */
    write_address(qts, RP, DRAM + 0x5ffc);
    g_assert_cmphex(read_address(qts, RP), ==, 0);
    g_assert_cmphex(qtest_readl(qts, RAM + DATA), ==, 0);
    qtest_quit(qts);
}

static void test_ram_probe_sram(void)
{
    QTestState *qts = start_plain();

    qtest_writel(qts, RAM, ACTIVE);
    qtest_writel(qts, RAM, ACTIVE);
    write_address(qts, START, UINT64_MAX);
    g_assert_cmphex(read_address(qts, START), ==, 0);
    /* at power-up all of it */
    g_assert_cmphex(read_address(qts, LIMIT), ==, SRAM_SIZE - 4);
    write_address(qts, LIMIT, 0);
    g_assert_cmphex(read_address(qts, LIMIT), ==, 0xffc);
    write_address(qts, LIMIT, 0x7ffc);
    g_assert_cmphex(read_address(qts, LIMIT), ==, 0x7ffc);
    write_address(qts, WP, 0x7ffc);
    g_assert_cmphex(read_address(qts, WP), ==, 0x7ffc);
    write_address(qts, RP, 0x7ffc);
    g_assert_cmphex(read_address(qts, RP), ==, 0x7ffc);
    write_address(qts, WP, 0x9000);
    g_assert_cmphex(read_address(qts, WP), ==, 0x7ffc);
    write_address(qts, LIMIT, UINT64_MAX);
    g_assert_cmphex(read_address(qts, LIMIT), ==, SRAM_SIZE - 4);

    /* Each mode has its own addresses. */
    qtest_writel(qts, RAM, ACTIVE | RAM_SMEM);
    write_address(qts, START, DRAM);
    write_address(qts, LIMIT, DRAM + 0xffc);
    qtest_writel(qts, RAM, ACTIVE);
    g_assert_cmphex(read_address(qts, START), ==, 0);
    g_assert_cmphex(read_address(qts, LIMIT), ==, SRAM_SIZE - 4);
    qtest_writel(qts, RAM, ACTIVE | RAM_SMEM);
    g_assert_cmphex(read_address(qts, START), ==, DRAM);
    g_assert_cmphex(read_address(qts, LIMIT), ==, DRAM + 0xffc);
    qtest_quit(qts);
}

/* trRamData: the word at trRamRP, which moves on and wraps */
static void test_ram_window(void)
{
    QTestState *qts = start_plain();

    qtest_writel(qts, RAM, ACTIVE);
    qtest_writel(qts, RAM, ACTIVE);
    write_address(qts, LIMIT, 0xffc);
    write_address(qts, RP, 0xff8);
    g_assert_cmphex(qtest_readl(qts, RAM + DATA), ==, 0);
    g_assert_cmphex(read_address(qts, RP), ==, 0xffc);
    qtest_readl(qts, RAM + DATA);
    g_assert_cmphex(read_address(qts, RP), ==, 0);
    qtest_readl(qts, RAM + DATA);
    g_assert_cmphex(read_address(qts, RP), ==, 4);
    /* Writing is for tests, and not implemented. */
    qtest_writel(qts, RAM + DATA, 0x12345678);
    g_assert_cmphex(read_address(qts, RP), ==, 4);
    qtest_quit(qts);
}

/*
 * Whole sequences. No hart runs: each time that tracing goes on and off, two
 * support packets come out.
 */

static void test_smem(void)
{
    QTestState *qts = start_plain();
    uint64_t base = DRAM + 0x10000, wp;
    g_autofree uint8_t *bytes = NULL;

    qtest_memset(qts, base - 0x1000, 0xa5, 0x4000);
    enable_smem(qts, base, 0x2000, 0);
    /* Enabling moves nothing but the write pointer, for what is written. */
    g_assert_cmphex(read_address(qts, START), ==, base);
    g_assert_cmphex(read_address(qts, LIMIT), ==, base + 0x1ffc);
    enable_path(qts);
    for (unsigned i = 0; i < 5; i++) {
        trace_once(qts, 0);
    }
    clear_control(qts, ENCODER(0), ENABLE);
    poll_control(qts, ENCODER(0), ENABLE | EMPTY, EMPTY);
    clear_control(qts, FUNNEL, ENABLE);
    disable_ram(qts);

    wp = read_address(qts, WP);
    g_assert_cmphex(wp & 3, ==, 0);
    g_assert_cmphex(wp, >, base);
    g_assert_cmphex(wp, <, base + 0x2000);
    bytes = g_malloc(0x4000);
    qtest_memread(qts, base - 0x1000, bytes, 0x4000);
    g_assert_cmpuint(check_trace(bytes + 0x1000, wp - base, true), ==, 10);
    /* and nothing else was written */
    for (size_t i = 0; i < 0x4000; i++) {
        if (i < 0x1000 || i >= 0x1000 + wp - base) {
            g_assert_cmphex(bytes[i], ==, 0xa5);
        }
    }
    qtest_quit(qts);
}

static void test_sram(void)
{
    QTestState *qts = start_plain();
    g_autofree uint32_t *words = NULL;
    uint64_t wp;

    discover(qts, RAM, 9);
    clear_control(qts, RAM, RAM_SMEM);
    write_address(qts, WP, 0);
    set_control(qts, RAM, ENABLE);
    enable_path(qts);
    trace_once(qts, 0);
    disable_ram(qts);
    wp = read_address(qts, WP);
    g_assert_cmphex(wp, >, 32);
    words = g_malloc(wp);
    write_address(qts, RP, 0);
    for (size_t i = 0; i < wp / 4; i++) {
        /* the first byte is the least significant one */
        words[i] = cpu_to_le32(qtest_readl(qts, RAM + DATA));
    }
    g_assert_cmpuint(check_trace((uint8_t *)words, wp, true), ==, 2);
    qtest_quit(qts);
}

/* "the trace tool should NOT write any of trRamStart/Limit/WP" */
static void test_ram_locked(void)
{
    QTestState *qts = start_plain();
    uint64_t base = DRAM + 0x10000, wp;

    enable_smem(qts, base, 0x2000, 0);
    wp = read_address(qts, WP);
    write_address(qts, START, 0);
    write_address(qts, LIMIT, 0xffc);
    write_address(qts, WP, 0);
    g_assert_cmphex(read_address(qts, START), ==, base);
    g_assert_cmphex(read_address(qts, LIMIT), ==, base + 0x1ffc);
    g_assert_cmphex(read_address(qts, WP), ==, wp);
    /* nor the mode */
    clear_control(qts, RAM, RAM_SMEM);
    g_assert_cmphex(qtest_readl(qts, RAM) & (RAM_SMEM | ENABLE), ==,
                    RAM_SMEM | ENABLE);
    disable_ram(qts);
    write_address(qts, START, DRAM);
    g_assert_cmphex(read_address(qts, START), ==, DRAM);
    qtest_quit(qts);
}

/* A write pointer that is not in the ring: refused, and reported */
static void test_ram_bad_range(void)
{
    QTestState *qts = start_plain();

    discover(qts, RAM, 9);
    write_address(qts, START, DRAM + 0x2000);
    write_address(qts, LIMIT, DRAM + 0x1ffc);
    write_address(qts, WP, DRAM + 0x2000);
    set_control(qts, RAM, ENABLE);
    g_assert_cmphex(qtest_readl(qts, RAM) & ENABLE, ==, 0);
    write_address(qts, LIMIT, DRAM + 0x2ffc);
    write_address(qts, WP, DRAM + 0x3000);
    set_control(qts, RAM, ENABLE);
    g_assert_cmphex(qtest_readl(qts, RAM) & ENABLE, ==, 0);
    write_address(qts, WP, DRAM + 0x2ffc);
    set_control(qts, RAM, ENABLE);
    g_assert_cmphex(qtest_readl(qts, RAM) & ENABLE, ==, ENABLE);
    qtest_quit(qts);
}

/* Where there is no RAM the sink stops; devices are not written to. */
static void test_ram_bad_address(void)
{
    static const uint64_t bases[] = {
        0x10000000,             /* the UART */
        0x100000,               /* what powers off the machine */
        0x20000000,             /* flash */
        FUNNEL,
        0x7fff000,              /* nothing at all */
        0x00fffffffffff000ull,
    };
    QTestState *qts = start_plain();

    for (unsigned i = 0; i < ARRAY_SIZE(bases); i++) {
        discover(qts, RAM, 9);
        write_address(qts, START, bases[i]);
        write_address(qts, LIMIT, bases[i] + 0xffc);
        write_address(qts, WP, bases[i]);
        set_control(qts, RAM, ENABLE);
        g_assert_cmphex(qtest_readl(qts, RAM) & (ENABLE | EMPTY), ==, EMPTY);
        g_assert_cmphex(read_address(qts, WP), ==, bases[i]);
    }
    /* The same inside of a ring that begins in RAM: the machine has 128 MiB. */
    enable_smem(qts, DRAM + 0x7fff000, 0x2000, RAM_ASYNC(0));
    enable_path(qts);
    for (unsigned i = 0; i < 2000 && qtest_readl(qts, RAM) & ENABLE; i++) {
        trace_once(qts, 0);
    }
    g_assert_cmphex(qtest_readl(qts, RAM) & ENABLE, ==, 0);
    g_assert_cmphex(read_address(qts, WP), ==, DRAM + 0x8000000);
    qtest_quit(qts);
}

/* The ring goes on at its start, and can be read from an alignment on. */
static void test_ram_wrap(void)
{
    QTestState *qts = start_plain();
    uint64_t base = DRAM + 0x10000, wp;
    g_autofree uint8_t *bytes = g_malloc(0x2000);
    g_autofree uint8_t *linear = g_malloc(0x1000);
    bool aligned = false;
    size_t i;

    qtest_memset(qts, base, 0xa5, 0x2000);
    enable_smem(qts, base, 0x1000, 0);
    enable_path(qts);
    for (i = 0; i < 4000 && !(qtest_readl(qts, RAM + WP) & RAM_WRAP); i++) {
        trace_once(qts, 0);
    }
    g_assert_cmphex(qtest_readl(qts, RAM + WP) & RAM_WRAP, ==, RAM_WRAP);
    for (i = 0; i < 20; i++) {
        trace_once(qts, 0);
    }
    disable_ram(qts);
    wp = read_address(qts, WP) & ~(uint64_t)RAM_WRAP;
    g_assert_cmphex(wp, >, base);
    g_assert_cmphex(wp, <, base + 0x1000);

    qtest_memread(qts, base, bytes, 0x2000);
    for (i = 0x1000; i < 0x2000; i++) {
        g_assert_cmphex(bytes[i], ==, 0xa5);
    }
    memcpy(linear, bytes + (wp - base), base + 0x1000 - wp);
    memcpy(linear + (base + 0x1000 - wp), bytes, wp - base);
    for (i = 0; i + 32 <= 0x1000 && !aligned; i++) {
        static const uint8_t sequence[32] = { [31] = 0x80 };

        aligned = !memcmp(linear + i, sequence, sizeof(sequence));
    }
    g_assert_true(aligned);
    /* one sequence for each eighth of the ring at least */
    g_assert_cmpuint(i, <, 0x1000 / 8 + 64);
    g_assert_cmpuint(check_trace(linear + i - 1, 0x1000 - i + 1, true), >,
                     100);

    /* "It is only set to 0 if trRamWPLow is written" */
    set_control(qts, RAM, ENABLE);
    disable_ram(qts);
    g_assert_cmphex(qtest_readl(qts, RAM + WP) & RAM_WRAP, ==, RAM_WRAP);
    qtest_writel(qts, RAM + WP + HIGH, 0);
    g_assert_cmphex(qtest_readl(qts, RAM + WP) & RAM_WRAP, ==, RAM_WRAP);
    qtest_writel(qts, RAM + WP, base);
    g_assert_cmphex(qtest_readl(qts, RAM + WP), ==, (uint32_t)base);
    qtest_quit(qts);
}

static void test_ram_stop_on_wrap(void)
{
    QTestState *qts = start_plain();
    uint64_t base = DRAM + 0x10000;
    g_autofree uint8_t *bytes = g_malloc(0x1000);
    g_autofree uint8_t *again = g_malloc(0x1000);

    enable_smem(qts, base, 0x1000, RAM_STOP_ON_WRAP);
    enable_path(qts);
    for (unsigned i = 0; i < 4000 && qtest_readl(qts, RAM) & ENABLE; i++) {
        trace_once(qts, 0);
    }
    g_assert_cmphex(qtest_readl(qts, RAM) & (ACTIVE | ENABLE | EMPTY), ==,
                    ACTIVE | EMPTY);
    g_assert_cmphex(read_address(qts, WP), ==, base | RAM_WRAP);
    qtest_memread(qts, base, bytes, 0x1000);
    g_assert_cmpuint(check_trace(bytes, 0x1000, true), >, 100);

    /* What comes now is lost: nothing is overwritten, the encoder knows. */
    set_control(qts, ENCODER(0), TE_INST_TRACING);
    poll_control(qts, ENCODER(0), EMPTY | TE_STALL_OVERFLOW,
                 TE_STALL_OVERFLOW);
    clear_control(qts, ENCODER(0), TE_INST_TRACING);
    poll_control(qts, ENCODER(0), EMPTY, EMPTY);
    qtest_memread(qts, base, again, 0x1000);
    g_assert_cmpint(memcmp(bytes, again, 0x1000), ==, 0);
    g_assert_cmphex(read_address(qts, WP), ==, base | RAM_WRAP);

    /* It can be used again, */
    write_address(qts, WP, base);
    set_control(qts, RAM, ENABLE);
    g_assert_cmphex(qtest_readl(qts, RAM) & ENABLE, ==, ENABLE);
    trace_once(qts, 0);
    disable_ram(qts);
    g_assert_cmphex(read_address(qts, WP), >, base + 32);
    /* or be reset while it is stopped. */
    qtest_writel(qts, RAM, 0);
    g_assert_cmphex(qtest_readl(qts, RAM), ==, EMPTY | RAM_DEFAULTS);
    qtest_quit(qts);
}

/* No alignment but the one that each enabling begins with */
static void test_ram_async(void)
{
    QTestState *qts = start_plain();
    uint64_t base = DRAM + 0x10000, wp;
    g_autofree uint8_t *bytes = g_malloc(0x1000);

    for (unsigned freq = 0; freq < 2; freq++) {
        unsigned aligns = 0;

        enable_smem(qts, base, 0x2000, 0);
        clear_control(qts, RAM, RAM_ASYNC(7));
        set_control(qts, RAM, RAM_ASYNC(freq));
        enable_path(qts);
        do {
            trace_once(qts, 0);
            wp = read_address(qts, WP);
        } while (wp < base + 0xf00);
        disable_ram(qts);
        qtest_memread(qts, base, bytes, 0xf00);
        for (size_t i = 0; i < 0xf00; i++) {
            aligns += bytes[i] == 0x80;
        }
        /* freq 1: every KiB */
        g_assert_cmpuint(aligns, ==, freq ? 4 : 1);
    }
    qtest_quit(qts);
}

/* What was traced before a reset can be read after it. */
static void test_ram_reset(void)
{
    QTestState *qts = start_plain();
    uint64_t base = DRAM + 0x10000, wp;
    g_autofree uint8_t *bytes = NULL;

    enable_smem(qts, base, 0x1000, 0);
    enable_path(qts);
    trace_once(qts, 0);
    qtest_system_reset(qts);
    g_assert_cmphex(qtest_readl(qts, RAM), ==, EMPTY | RAM_DEFAULTS);
    wp = read_address(qts, WP);
    g_assert_cmphex(wp, >, base + 32);
    bytes = g_malloc(wp - base);
    qtest_memread(qts, base, bytes, wp - base);
    g_assert_cmpuint(check_trace(bytes, wp - base, true), ==, 2);
    qtest_quit(qts);
}

/* Without a chardev, autostart traces into SRAM. */
static void test_ram_autostart(void)
{
    QTestState *qts = start(",trace=on,trace-autostart=on", "");

    g_assert_cmphex(qtest_readl(qts, RAM) & (ACTIVE | ENABLE | RAM_SMEM), ==,
                    ACTIVE | ENABLE);
    poll_control(qts, ENCODER(0), EMPTY, 0);
    qtest_quit(qts);

    qts = start(",trace=on,trace-autostart=on,trace-chardev=t",
                "-chardev null,id=t");
    g_assert_cmphex(qtest_readl(qts, RAM) & (ACTIVE | ENABLE), ==, 0);
    qtest_quit(qts);
}

/*
 * Migration
 */

static void wait_migrated(QTestState *qts)
{
    for (;;) {
        QDict *info = qtest_qmp_assert_success_ref(
            qts, "{ 'execute': 'query-migrate' }");
        bool done = g_str_equal(qdict_get_try_str(info, "status") ?: "",
                                "completed");

        g_assert_cmpstr(qdict_get_try_str(info, "status"), !=, "failed");
        qobject_unref(info);
        if (done) {
            return;
        }
        g_usleep(1000);
    }
}

/* Registers and memory move, and the trace goes on where it was. */
static void test_migrate(gconstpointer data)
{
    bool sram = GPOINTER_TO_INT(data);
    g_autofree char *path = tmp_name("migrate");
    g_autofree char *uri = g_strdup_printf("file:%s", path);
    QTestState *from = start(",trace=on", ""), *to;
    uint64_t base = sram ? 0 : DRAM + 0x10000, wp;
    g_autofree uint8_t *bytes = g_malloc0(0x1000);

    if (sram) {
        discover(from, RAM, 9);
        clear_control(from, RAM, RAM_SMEM);
        set_control(from, RAM, ENABLE);
    } else {
        enable_smem(from, base, 0x1000, 0);
    }
    enable_path(from);
    set_control(from, ENCODER(0), TE_INST_TRACING);
    poll_control(from, ENCODER(0), EMPTY, 0);
    qtest_qmp_assert_success(from, "{ 'execute': 'stop' }");
    wp = read_address(from, WP);
    qtest_qmp_assert_success(from, "{ 'execute': 'migrate',"
                             "  'arguments': { 'uri': %s } }", uri);
    wait_migrated(from);
    qtest_quit(from);

    to = start(",trace=on", "-incoming defer");
    qtest_qmp_assert_success(to, "{ 'execute': 'migrate-incoming',"
                             "  'arguments': { 'uri': %s } }", uri);
    wait_migrated(to);
    g_assert_cmphex(read_address(to, START), ==, base);
    g_assert_cmphex(read_address(to, WP), ==, wp);
    g_assert_cmphex(qtest_readl(to, RAM) & (ENABLE | RAM_SMEM), ==,
                    ENABLE | (sram ? 0 : RAM_SMEM));
    qtest_qmp_assert_success(to, "{ 'execute': 'cont' }");
    poll_control(to, ENCODER(0), EMPTY, 0);
    clear_control(to, ENCODER(0), ENABLE);
    poll_control(to, ENCODER(0), EMPTY, EMPTY);
    disable_ram(to);
    g_assert_cmphex(read_address(to, WP), >, wp);
    wp = read_address(to, WP) - base;
    if (sram) {
        write_address(to, RP, 0);
        for (size_t i = 0; i < wp; i += 4) {
            stl_le_p(bytes + i, qtest_readl(to, RAM + DATA));
        }
    } else {
        qtest_memread(to, base, bytes, wp);
    }
    /* on; on and off; nothing was open when the VM was stopped */
    g_assert_cmpuint(check_trace(bytes, wp, true), ==, 3);
    qtest_quit(to);
    g_unlink(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    qtest_add_func("/riscv-trace-ram/control", test_ram_control);
    qtest_add_func("/riscv-trace-ram/one-mode", test_ram_one_mode);
    qtest_add_func("/riscv-trace-ram/probe-smem", test_ram_probe_smem);
    qtest_add_func("/riscv-trace-ram/probe-sram", test_ram_probe_sram);
    qtest_add_func("/riscv-trace-ram/window", test_ram_window);
    qtest_add_func("/riscv-trace-ram/smem", test_smem);
    qtest_add_func("/riscv-trace-ram/sram", test_sram);
    qtest_add_func("/riscv-trace-ram/locked", test_ram_locked);
    qtest_add_func("/riscv-trace-ram/bad-range", test_ram_bad_range);
    qtest_add_func("/riscv-trace-ram/bad-address",
                   test_ram_bad_address);
    qtest_add_func("/riscv-trace-ram/wrap", test_ram_wrap);
    qtest_add_func("/riscv-trace-ram/stop-on-wrap",
                   test_ram_stop_on_wrap);
    qtest_add_func("/riscv-trace-ram/async", test_ram_async);
    qtest_add_func("/riscv-trace-ram/reset", test_ram_reset);
    qtest_add_func("/riscv-trace-ram/autostart", test_ram_autostart);
    qtest_add_data_func("/riscv-trace-ram/migrate/smem",
                        GINT_TO_POINTER(false), test_migrate);
    qtest_add_data_func("/riscv-trace-ram/migrate/sram",
                        GINT_TO_POINTER(true), test_migrate);
    return g_test_run();
}
