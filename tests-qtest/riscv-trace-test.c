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

#define TE_STALL_ENA        (1u << 13)
#define TE_SYNC_MODE_SHIFT  16
#define TE_SYNC_MAX_SHIFT   20
#define TE_DEFAULTS         (6u << 4 | TE_STALL_ENA | TE_INHIBIT_SRC | \
                             1u << TE_SYNC_MODE_SHIFT | 8u << TE_SYNC_MAX_SHIFT)

#define PIB_ASYNC_FREQ_SHIFT 12
#define PIB_DEFAULTS        (5u << 4 | 3u << PIB_ASYNC_FREQ_SHIFT)

/* A machine with one hart whose trace nobody reads. */
static QTestState *start_plain(void)
{
    return start(",trace=on", "");
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

    for (uint32_t n = 0; n < 8; n++) {
        qtest_writel(qts, PIB, ACTIVE | 5u << 4 | n << PIB_ASYNC_FREQ_SHIFT);
        g_assert_cmphex(qtest_readl(qts, PIB), ==,
                        EMPTY | ACTIVE | 5u << 4 |
                        n << PIB_ASYNC_FREQ_SHIFT);
    }
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
    static const uint64_t bases[] = { FUNNEL, PIB };
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
    { ",trace-modes=all", { },
      "trace-modes needs trace=on" },
    { ",trace=on,trace-modes=fast", { },
      "trace-modes: 'fast' is no mode of a trace encoder: give all, baseline" },
    { ",trace=on,trace-modes=all+full-address", { },
      "'all' is no mode of a trace encoder" },
    { ",trace=on,trace-modes=", { },
      "no mode of a trace encoder is named: give baseline" },
    { ",trace=on,trace-modes=sequential-jump",
      { "-global", "riscv-trace-encoder.sijump=off" },
      "sequential-jump of a trace encoder needs sijump" },
    { ",trace=on,trace-modes=branch-prediction",
      { "-global", "riscv-trace-encoder.bpred-size=0" },
      "branch-prediction of a trace encoder needs bpred-size" },
    { ",trace=on,trace-modes=implicit-return",
      { "-global", "riscv-trace-encoder.itype-width=3" },
      "implicit-return of a trace encoder needs itype-width 4" },
    { ",trace=on,trace-modes=implicit-return",
      { "-global", "riscv-trace-encoder.implicit-return=off" },
      "implicit-return of a trace encoder is off, but named by trace-modes" },
    { ",trace=on", { "-global", "riscv-trace-encoder.filter=priv=X" },
      "'X' is no privilege level, which are U, S, M, VU and VS" },
    { ",trace=on", { "-global", "riscv-trace-encoder.filter=pc=0-0x100000000",
                     "-cpu", "rv32" },
      "addresses of its hart have 32 bits" },
    { ",trace=on,trace-chardev=nosuch", { },
      "there is no chardev 'nosuch'" },
    { ",trace=on,trace-chardev=t,trace-sideband=nosuch",
      { "-chardev", "null,id=t" },
      "there is no chardev 'nosuch'" },
    { ",trace-atb=on", { },
      "trace-atb needs trace=on" },
    { ",trace=on", { "-global", "riscv-trace-ram.sram-size=5000" },
      "multiple of 4096" },
    { ",trace=on", { "-global", "riscv-trace-ram.sram-size=2G" },
      "at most 1 GiB" },
    { ",trace=on,trace-autostart=on",
      { "-global", "riscv-trace-ram.sram-size=0" },
      "needs an sram-size" },
    { ",trace=on,trace-chardev=t,trace-sideband=t",
      { "-chardev", "null,id=t" },
      "in use" },
    { ",trace-topology=per-hart", { },
      "trace-topology needs trace=on" },
    { ",trace=on,trace-topology=ring", { },
      "trace-topology: 'ring' is none of funnel and per-hart" },
    { ",trace=on,trace-topology=per-hart,trace-chardev=t",
      { "-chardev", "null,id=t" },
      "trace-chardev needs trace-topology=funnel" },
    { ",trace=on,trace-topology=per-hart,trace-atb=on", { },
      "trace-atb needs trace-topology=funnel" },
    { ",trace=on", { "-smp", "17" },
      "up to 16 harts" },
    { ",trace=on", { "-global", "riscv-trace-encoder.wire-format=9.9" },
      "wire-format '9.9' is not known" },
    { ",trace=on", { "-global", "riscv-trace-encoder.sync-mode=4" },
      "sync-mode of a trace encoder is 0 to 3, not 4" },
    { ",trace=on", { "-global", "riscv-trace-encoder.sync-max=16" },
      "sync-max of a trace encoder is 0 to 15" },
    { ",trace=on", { "-global", "riscv-trace-encoder.src-bits=13" },
      "src-bits of a trace encoder is 0 to 12, not 13" },
    { ",trace=on", { "-global", "riscv-trace-encoder.src-id=1" },
      "does not fit" },
    { ",trace=on", { "-global", "riscv-trace-encoder.filters=17" },
      "filters of a trace encoder is 0 to 16, not 17" },
    { ",trace=on", { "-global", "riscv-trace-encoder.context=on" },
      "context of a trace encoder needs context-width" },
    { ",trace=on", { "-global", "riscv-trace-encoder.cache-size=0",
                     "-global", "riscv-trace-encoder.jump-target-cache=on" },
      "jump-target-cache of a trace encoder needs cache-size" },
    { ",trace=on", { "-global", "riscv-trace-encoder.timestamp-width=8",
                     "-global", "riscv-trace-encoder.timestamp-mode=4" },
      "needs a timestamp unit in its funnel" },
    { ",trace=on", { "-global", "riscv-trace-encoder.context-source=pid" },
      "context-source 'pid' is not known" },
    { ",trace=on", { "-global", "riscv-trace-encoder.context-width=64",
                     "-global", "riscv-trace-encoder.time-width=64" },
      "longer than 31 bytes" },
    { ",trace=on", { "-global", "riscv-trace-pib.buffer-size=4096" },
      "buffer-size 4096 is not between" },
    { ",trace=on", { "-global", "riscv-trace-encoder.daddress-width=0" },
      "daddress-width of a trace encoder is 1 to 64, not 0" },
    { ",trace=on", { "-global", "riscv-trace-encoder.daddress-width=65" },
      "daddress-width of a trace encoder is 1 to 64, not 65" },
    { ",trace=on", { "-global", "riscv-trace-encoder.timestamp-width=8",
                     "-global", "riscv-trace-encoder.timestamp-mode=5" },
      "timestamp-mode of a trace encoder is 0 to 4, not 5" },
    { ",trace=on", { "-global", "riscv-trace-funnel.timestamp-width=8",
                     "-global", "riscv-trace-funnel.timestamp-mode=3" },
      "timestamp-mode of a trace funnel is 0, 1, 2 or 4, not 3" },
    { ",trace=on", { "-global", "riscv-trace-funnel.timestamp-width=8",
                     "-global", "riscv-trace-funnel.timestamp-mode=5" },
      "timestamp-mode of a trace funnel is 0, 1, 2 or 4, not 5" },
    { ",trace=on", { "-global", "riscv-trace-funnel.timestamp-width=8",
                     "-global", "riscv-trace-funnel.timestamp-mode=4" },
      "timestamp-mode 4 of a trace funnel needs a timestamp unit" },
    { ",trace=on", { "-global", "riscv-trace-funnel.timestamp-mode=1" },
      "timestamp-mode of a trace funnel needs timestamp-width" },
};

/*
 * What is set up when a device is made is torn down with it, from the encoders
 * to the sinks, in a machine that is traced; what is left goes on.
 */
static void test_tear_down(void)
{
    static const char *const names[] = {
        "trace-encoder1", "trace-encoder0", "trace-funnel",
        "trace-atb-bridge", "trace-pib", "trace-ram", "trace-replicator",
        "trace-sideband-stream",
    };
    QTestState *qts = start(",trace=on,trace-autostart=on,trace-atb=on,"
                            "trace-chardev=t,trace-sideband=s",
                            "-smp 2 -chardev file,id=t,path=/dev/null "
                            "-chardev file,id=s,path=/dev/null");

    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        g_autofree char *path = g_strdup_printf("/machine/%s", names[i]);

        qtest_qmp_assert_success(qts, "{ 'execute': 'qom-set', 'arguments': {"
                                 "  'path': %s, 'property': 'realized',"
                                 "  'value': false } }", path);
        qtest_qmp_assert_success(qts, "{ 'execute': 'stop' }");
        qtest_qmp_assert_success(qts, "{ 'execute': 'cont' }");
        qtest_clock_step(qts, 1000000);
    }
    qtest_quit(qts);
}

/* Devices that nobody can make are refused; nothing of them is left. */
static void test_not_creatable(void)
{
    static const char *const types[] = {
        "riscv-trace-encoder", "riscv-trace-funnel", "riscv-trace-atb",
        "riscv-trace-pib", "riscv-trace-ram", "riscv-trace-replicator",
        "riscv-trace-sideband",
    };
    QTestState *qts = start(",trace=on", "");

    for (unsigned i = 0; i < 2 * ARRAY_SIZE(types); i++) {
        QDict *response = qtest_qmp(qts, "{ 'execute': 'device_add',"
                                    "  'arguments': { 'driver': %s } }",
                                    types[i % ARRAY_SIZE(types)]);

        g_assert_true(qdict_haskey(response, "error"));
        qobject_unref(response);
        qtest_qmp_assert_success(qts, "{ 'execute': 'device-list-properties',"
                                 "  'arguments': { 'typename': %s } }",
                                 types[i % ARRAY_SIZE(types)]);
    }
    g_assert_cmphex(qtest_readl(qts, PIB) & ENABLE, ==, 0);
    qtest_quit(qts);
}

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

    qtest_add_func("/riscv-trace/funnel", test_funnel);
    qtest_add_func("/riscv-trace/pib", test_pib);
    qtest_add_func("/riscv-trace/unknown-offsets", test_unknown_offsets);
    qtest_add_func("/riscv-trace/access-size", test_access_size);
    qtest_add_func("/riscv-trace/machine-reset", test_machine_reset);
    qtest_add_func("/riscv-trace/autostart", test_autostart);
    qtest_add_func("/riscv-trace/on-off", test_on_off);
    qtest_add_func("/riscv-trace/tear-down", test_tear_down);
    qtest_add_func("/riscv-trace/not-creatable", test_not_creatable);
    for (unsigned i = 0; i < ARRAY_SIZE(bad_options); i++) {
        g_autofree char *path =
            g_strdup_printf("/riscv-trace/bad-options/%u", i);

        qtest_add_data_func(path, &bad_options[i], test_bad_options);
    }
    return g_test_run();
}
