/*
 * QTest testcase for the RISC-V trace components of the virt machine
 *
 * Register facts are those of the RISC-V Trace Control Interface 1.0.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "qobject/qdict.h"
#include "riscv-trace-test.h"

#define CONTROL             0x000
#define IMPL                0x004
#define INST_FEATURES       0x008
#define DIS_INPUT           0x008

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
                             3u << TE_SYNC_MODE_SHIFT | TE_SYNC_MAX)

#define PIB_ASYNC_FREQ_SHIFT 12
#define PIB_ASYNC_FREQ      (7u << PIB_ASYNC_FREQ_SHIFT)
#define PIB_DEFAULTS        (5u << 4 | 3u << PIB_ASYNC_FREQ_SHIFT)

/* A machine with one hart whose trace nobody reads. */
static QTestState *start_plain(void)
{
    return start(",trace=on", "");
}

/*
 * Encoder registers
 */

static void test_encoder_reset(void)
{
    QTestState *qts = start_plain();

    g_assert_cmphex(qtest_readl(qts, ENCODER(0) + CONTROL), ==,
                    TE_DEFAULTS | EMPTY);
    /* version 1.0, type 1, protocol 0.0 */
    g_assert_cmphex(qtest_readl(qts, ENCODER(0) + IMPL), ==, 0x00000101);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0) + INST_FEATURES), ==, 0);
    qtest_quit(qts);
}

static void test_encoder_src_id(void)
{
    QTestState *qts = start(",trace=on", "-smp 3");

    for (unsigned i = 0; i < 3; i++) {
        /* trTeSrcBits 8, trTeSrcID */
        g_assert_cmphex(qtest_readl(qts, ENCODER(i) + INST_FEATURES), ==,
                        0x80000000 | i << 16);
        g_assert_cmphex(qtest_readl(qts, ENCODER(i)) & TE_INHIBIT_SRC, ==, 0);
    }
    /* It can be left out of the packets. */
    set_control(qts, ENCODER(0), ACTIVE);
    set_control(qts, ENCODER(0), TE_INHIBIT_SRC);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0)) & TE_INHIBIT_SRC, !=, 0);
    clear_control(qts, ENCODER(0), TE_INHIBIT_SRC);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0)) & TE_INHIBIT_SRC, ==, 0);
    qtest_quit(qts);
}

static void test_encoder_active(void)
{
    QTestState *qts = start_plain();

    /* Nothing but trTeActive can be set while it is 0. */
    qtest_writel(qts, ENCODER(0), ENABLE | TE_INST_TRACING);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0)), ==, TE_DEFAULTS | EMPTY);

    /* Releasing puts every other field at its default. */
    qtest_writel(qts, ENCODER(0), ACTIVE);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0)), ==,
                    TE_DEFAULTS | EMPTY | ACTIVE);

    qtest_writel(qts, ENCODER(0), ACTIVE | ENABLE | TE_INST_TRACING);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0)) &
                    (ACTIVE | ENABLE | TE_INST_TRACING | TE_STALL_ENA), ==,
                    ACTIVE | ENABLE | TE_INST_TRACING);

    /* Writing 0 resets. */
    qtest_writel(qts, ENCODER(0), 0);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0)), ==, TE_DEFAULTS | EMPTY);
    qtest_quit(qts);
}

static void test_encoder_warl(void)
{
    QTestState *qts = start_plain();
    uint32_t control;

    qtest_writel(qts, ENCODER(0), ACTIVE);

    /* trTeInstMode: 6 is the only one; a rejected value must not give 0. */
    for (uint32_t mode = 0; mode < 8; mode++) {
        qtest_writel(qts, ENCODER(0), ACTIVE | mode << 4);
        g_assert_cmphex(qtest_readl(qts, ENCODER(0)) & TE_INST_MODE, ==,
                        6u << 4);
    }

    /* trTeInstSyncMode: all but cycles (2) */
    for (uint32_t mode = 0; mode < 4; mode++) {
        qtest_writel(qts, ENCODER(0), ACTIVE | 1u << TE_SYNC_MODE_SHIFT);
        qtest_writel(qts, ENCODER(0), ACTIVE | mode << TE_SYNC_MODE_SHIFT);
        g_assert_cmphex(qtest_readl(qts, ENCODER(0)) & TE_SYNC_MODE, ==,
                        (mode == 2 ? 1u : mode) << TE_SYNC_MODE_SHIFT);
    }

    /* trTeInstSyncMax: every period */
    for (uint32_t n = 0; n < 16; n++) {
        qtest_writel(qts, ENCODER(0), ACTIVE | n << TE_SYNC_MAX_SHIFT);
        g_assert_cmphex(qtest_readl(qts, ENCODER(0)) & TE_SYNC_MAX, ==,
                        n << TE_SYNC_MAX_SHIFT);
    }

    /* trTeInstStallEna: both */
    qtest_writel(qts, ENCODER(0), ACTIVE | TE_STALL_ENA);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0)) & TE_STALL_ENA, !=, 0);
    qtest_writel(qts, ENCODER(0), ACTIVE);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0)) & TE_STALL_ENA, ==, 0);

    /*
     * Fields that stay 0: no context, no triggers, format E-Trace, what is
     * reserved. trTeInhibitSrc stays 1, because there is no srcID.
     */
    qtest_writel(qts, ENCODER(0), 0xffffffff);
    control = qtest_readl(qts, ENCODER(0));
    g_assert_cmphex(control & (TE_CONTEXT | TE_TRIG_ENABLE | TE_FORMAT |
                               TE_RESERVED), ==, 0);
    qtest_writel(qts, ENCODER(0), ACTIVE);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0)) & TE_INHIBIT_SRC, !=, 0);
    qtest_quit(qts);
}

static void test_encoder_read_only(void)
{
    QTestState *qts = start(",trace=on", "-smp 2");
    uint32_t features = qtest_readl(qts, ENCODER(1) + INST_FEATURES);

    qtest_writel(qts, ENCODER(1), ACTIVE);
    qtest_writel(qts, ENCODER(1) + IMPL, 0xffffffff);
    qtest_writel(qts, ENCODER(1) + INST_FEATURES, ~features);
    g_assert_cmphex(qtest_readl(qts, ENCODER(1) + IMPL), ==, 0x00000101);
    g_assert_cmphex(qtest_readl(qts, ENCODER(1) + INST_FEATURES), ==,
                    features);

    /* trTeEmpty */
    qtest_writel(qts, ENCODER(1), ACTIVE);
    g_assert_cmphex(qtest_readl(qts, ENCODER(1)) & EMPTY, !=, 0);

    /* trTeInstStallOrOverflow: writing 1 clears, so it cannot be set. */
    qtest_writel(qts, ENCODER(1), ACTIVE | TE_STALL_OVERFLOW);
    g_assert_cmphex(qtest_readl(qts, ENCODER(1)) & TE_STALL_OVERFLOW, ==, 0);
    qtest_quit(qts);
}

static void test_encoder_properties(void)
{
    QTestState *qts = start(",trace=on",
                            "-global riscv-trace-encoder.sync-mode=1 "
                            "-global riscv-trace-encoder.sync-max=4 "
                            "-global riscv-trace-encoder.stall=off "
                            "-global riscv-trace-encoder.src-bits=8 "
                            "-global riscv-trace-encoder.src-id=171");

    g_assert_cmphex(qtest_readl(qts, ENCODER(0)), ==,
                    EMPTY | 6u << 4 | 1u << TE_SYNC_MODE_SHIFT |
                    4u << TE_SYNC_MAX_SHIFT);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0) + INST_FEATURES), ==,
                    0x80ab0000);
    qtest_quit(qts);
}

/*
 * Funnel and PIB registers
 */

static void test_funnel(void)
{
    QTestState *qts = start_plain();

    g_assert_cmphex(qtest_readl(qts, FUNNEL + CONTROL), ==, EMPTY);
    g_assert_cmphex(qtest_readl(qts, FUNNEL + IMPL), ==, 0x00000801);
    qtest_writel(qts, FUNNEL + IMPL, 0xffffffff);
    g_assert_cmphex(qtest_readl(qts, FUNNEL + IMPL), ==, 0x00000801);

    qtest_writel(qts, FUNNEL, ENABLE);
    g_assert_cmphex(qtest_readl(qts, FUNNEL), ==, EMPTY);
    qtest_writel(qts, FUNNEL, ACTIVE);
    g_assert_cmphex(qtest_readl(qts, FUNNEL), ==, EMPTY | ACTIVE);
    qtest_writel(qts, FUNNEL, 0xffffffff);
    g_assert_cmphex(qtest_readl(qts, FUNNEL), ==, EMPTY | ACTIVE | ENABLE);
    qtest_writel(qts, FUNNEL, 0);
    g_assert_cmphex(qtest_readl(qts, FUNNEL), ==, EMPTY);

    /* No input can be disabled: reads 0. */
    qtest_writel(qts, FUNNEL, ACTIVE);
    qtest_writel(qts, FUNNEL + DIS_INPUT, 0xffff);
    g_assert_cmphex(qtest_readl(qts, FUNNEL + DIS_INPUT), ==, 0);
    qtest_quit(qts);
}

static void test_pib(void)
{
    QTestState *qts = start_plain();

    g_assert_cmphex(qtest_readl(qts, PIB + CONTROL), ==, EMPTY | PIB_DEFAULTS);
    g_assert_cmphex(qtest_readl(qts, PIB + IMPL), ==, 0x00000a01);
    qtest_writel(qts, PIB + IMPL, 0xffffffff);
    g_assert_cmphex(qtest_readl(qts, PIB + IMPL), ==, 0x00000a01);

    qtest_writel(qts, PIB, ENABLE);
    g_assert_cmphex(qtest_readl(qts, PIB), ==, EMPTY | PIB_DEFAULTS);
    qtest_writel(qts, PIB, ACTIVE);
    g_assert_cmphex(qtest_readl(qts, PIB), ==, EMPTY | ACTIVE | PIB_DEFAULTS);

    /* trPibAsyncFreq is the one field that has a choice. */
    for (uint32_t n = 0; n < 8; n++) {
        qtest_writel(qts, PIB, ACTIVE | n << PIB_ASYNC_FREQ_SHIFT);
        g_assert_cmphex(qtest_readl(qts, PIB), ==,
                        EMPTY | ACTIVE | 5u << 4 |
                        n << PIB_ASYNC_FREQ_SHIFT);
    }
    qtest_writel(qts, PIB, 0xffffffff);
    g_assert_cmphex(qtest_readl(qts, PIB), ==,
                    EMPTY | ACTIVE | ENABLE | 5u << 4 | PIB_ASYNC_FREQ);
    qtest_writel(qts, PIB, 0);
    g_assert_cmphex(qtest_readl(qts, PIB), ==, EMPTY | PIB_DEFAULTS);
    qtest_quit(qts);
}

/*
 * Whole pages
 */

/* Offsets without a register read 0 and ignore writes. */
static void test_unknown_offsets(void)
{
    static const uint64_t bases[] = { ENCODER(0), FUNNEL, PIB };
    QTestState *qts = start_plain();

    for (unsigned i = 0; i < ARRAY_SIZE(bases); i++) {
        qtest_writel(qts, bases[i], ACTIVE);
        for (uint64_t ofs = 0x00c; ofs < 0x1000; ofs += 4) {
            qtest_writel(qts, bases[i] + ofs, 0xffffffff);
            g_assert_cmphex(qtest_readl(qts, bases[i] + ofs), ==, 0);
        }
        g_assert_cmphex(qtest_readl(qts, bases[i]) & (ACTIVE | ENABLE), ==,
                        ACTIVE);
    }
    qtest_quit(qts);
}

/* Registers are 32 bits wide: nothing smaller gets through. */
static void test_access_size(void)
{
    QTestState *qts = start_plain();

    qtest_writeb(qts, ENCODER(0), ACTIVE);
    qtest_writew(qts, ENCODER(0), ACTIVE);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0)) & ACTIVE, ==, 0);
    qtest_quit(qts);
}

static void test_machine_reset(void)
{
    QTestState *qts = start_plain();

    qtest_writel(qts, PIB, ACTIVE);
    qtest_writel(qts, PIB, ACTIVE | ENABLE);
    qtest_writel(qts, FUNNEL, ACTIVE);
    qtest_writel(qts, ENCODER(0), ACTIVE);
    qtest_writel(qts, ENCODER(0), ACTIVE | ENABLE | TE_INST_TRACING);
    qtest_system_reset(qts);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0)), ==, EMPTY | TE_DEFAULTS);
    g_assert_cmphex(qtest_readl(qts, FUNNEL), ==, EMPTY);
    g_assert_cmphex(qtest_readl(qts, PIB), ==, EMPTY | PIB_DEFAULTS);
    qtest_quit(qts);
}

static void test_autostart(void)
{
    QTestState *qts = start(",trace=on,trace-autostart=on", "-smp 2");
    uint32_t on = ACTIVE | ENABLE;

    for (int i = 0; i < 2; i++) {
        g_assert_cmphex(qtest_readl(qts, PIB) & on, ==, on);
        g_assert_cmphex(qtest_readl(qts, FUNNEL) & on, ==, on);
        g_assert_cmphex(qtest_readl(qts, ENCODER(1)) & (on | TE_INST_TRACING),
                        ==, on | TE_INST_TRACING);
        /* and again, whatever the guest did to them */
        qtest_writel(qts, PIB, 0);
        qtest_writel(qts, FUNNEL, 0);
        qtest_writel(qts, ENCODER(1), 0);
        qtest_system_reset(qts);
    }
    qtest_quit(qts);
}

/*
 * The machine
 */

static bool has_trace_nodes(QTestState *qts)
{
    g_autofree char *path = tmp_name("dtb");
    g_autofree char *dtb = NULL;
    const char compatible[] = "riscv,trace-component";
    gsize size;

    qtest_qmp_assert_success(qts, "{ 'execute': 'dumpdtb',"
                             "  'arguments': { 'filename': %s } }", path);
    g_assert_true(g_file_get_contents(path, &dtb, &size, NULL));
    g_unlink(path);
    return memmem(dtb, size, compatible, sizeof(compatible)) != NULL;
}

static bool has_trace_devices(QTestState *qts)
{
    QDict *response = qtest_qmp(qts, "{ 'execute': 'qom-get', 'arguments': {"
                                "  'path': '/machine/trace-pib',"
                                "  'property': 'realized' } }");
    bool found = qdict_haskey(response, "return");

    qobject_unref(response);
    return found;
}

static void test_on_off(void)
{
    QTestState *qts = start_plain();

    g_assert_true(has_trace_devices(qts));
    g_assert_true(has_trace_nodes(qts));
    qtest_quit(qts);

    qts = start(",trace=off", "");
    g_assert_false(has_trace_devices(qts));
    g_assert_false(has_trace_nodes(qts));
    g_assert_cmphex(qtest_readl(qts, ENCODER(0) + IMPL), ==, 0);
    g_assert_cmphex(qtest_readl(qts, FUNNEL + IMPL), ==, 0);
    g_assert_cmphex(qtest_readl(qts, PIB + IMPL), ==, 0);
    qtest_quit(qts);
}

typedef struct BadOptions {
    const char *machine;
    const char *args[5];
    const char *message;
} BadOptions;

static const BadOptions bad_options[] = {
    { ",trace-chardev=t", { "-chardev", "null,id=t" },
      "trace-chardev needs trace=on" },
    { ",trace-sideband=t", { "-chardev", "null,id=t" },
      "trace-sideband needs trace=on" },
    { ",trace-autostart=on", { },
      "trace-autostart needs trace=on" },
    { ",trace=on,trace-chardev=nosuch", { },
      "there is no chardev 'nosuch'" },
    { ",trace=on,trace-chardev=t,trace-sideband=nosuch",
      { "-chardev", "null,id=t" },
      "there is no chardev 'nosuch'" },
    { ",trace=on,trace-sideband=t", { "-chardev", "null,id=t" },
      "trace-sideband needs trace-chardev" },
    { ",trace=on,trace-chardev=t,trace-sideband=t",
      { "-chardev", "null,id=t" },
      "in use" },
    { ",trace=on", { "-smp", "17" },
      "up to 16 harts" },
    { ",trace=on", { "-global", "riscv-trace-encoder.wire-format=9.9" },
      "wire-format '9.9' is not known" },
    { ",trace=on", { "-global", "riscv-trace-encoder.sync-mode=2" },
      "sync-mode of a trace encoder is 0 (off), 1 (packets) or 3" },
    { ",trace=on", { "-global", "riscv-trace-encoder.sync-max=16" },
      "sync-max of a trace encoder is 0 to 15" },
    { ",trace=on", { "-global", "riscv-trace-encoder.src-bits=12" },
      "src-bits of a trace encoder is 0 or 8" },
    { ",trace=on", { "-global", "riscv-trace-encoder.src-id=1" },
      "does not fit" },
    { ",trace=on", { "-global", "riscv-trace-pib.buffer-size=4096" },
      "buffer-size 4096 is not between" },
};

/* A machine that cannot be made says why, and QEMU ends. */
static void test_bad_options(gconstpointer data)
{
    const BadOptions *bad = data;
    g_autofree char *machine = g_strdup_printf("virt%s", bad->machine);
    g_autofree char *err = NULL;
    const char *argv[16] = {
        g_getenv("QTEST_QEMU_BINARY"), "-accel", "qtest", "-display", "none",
        "-nodefaults", "-bios", "none", "-machine", machine,
    };
    int status;

    for (unsigned i = 0; bad->args[i]; i++) {
        argv[10 + i] = bad->args[i];
    }
    g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL,
                               G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL,
                               &err, &status, NULL));
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    g_assert_nonnull(strstr(err, bad->message));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    qtest_add_func("/riscv-trace/encoder/reset", test_encoder_reset);
    qtest_add_func("/riscv-trace/encoder/src-id", test_encoder_src_id);
    qtest_add_func("/riscv-trace/encoder/active", test_encoder_active);
    qtest_add_func("/riscv-trace/encoder/warl", test_encoder_warl);
    qtest_add_func("/riscv-trace/encoder/read-only", test_encoder_read_only);
    qtest_add_func("/riscv-trace/encoder/properties",
                   test_encoder_properties);
    qtest_add_func("/riscv-trace/funnel", test_funnel);
    qtest_add_func("/riscv-trace/pib", test_pib);
    qtest_add_func("/riscv-trace/unknown-offsets", test_unknown_offsets);
    qtest_add_func("/riscv-trace/access-size", test_access_size);
    qtest_add_func("/riscv-trace/machine-reset", test_machine_reset);
    qtest_add_func("/riscv-trace/autostart", test_autostart);
    qtest_add_func("/riscv-trace/on-off", test_on_off);
    for (unsigned i = 0; i < ARRAY_SIZE(bad_options); i++) {
        g_autofree char *path =
            g_strdup_printf("/riscv-trace/bad-options/%u", i);

        qtest_add_data_func(path, &bad_options[i], test_bad_options);
    }
    return g_test_run();
}
