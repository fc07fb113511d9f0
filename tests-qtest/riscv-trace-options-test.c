/*
 * QTest testcase for what starts RISC-V trace without software, and for the
 * filter that is a property
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qobject/qdict.h"
#include "riscv-trace-ram.h"

#define INST_FEATURES       0x008
#define INST_FILTERS        0x00c
#define FILTERS             0x400
#define FILTERS_END         0x700

#define PROP(text)          "-global riscv-trace-encoder." text " "

/*
 * Autostart, and the monitor
 */

/* trTeSrcBits are as many as number the harts. */
static void test_autostart_src_id(void)
{
    static const struct {
        const char *args;
        unsigned harts, src_bits;
    } cases[] = {
        { "-smp 1", 1, 0 }, { "-smp 2", 2, 1 }, { "-smp 3", 3, 2 },
        { "-smp 4", 4, 2 }, { "-smp 5", 5, 3 }, { "-smp 16", 16, 4 },
        { "-smp 2 -global riscv-trace-encoder.src-bits=8", 2, 8 },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        QTestState *qts = start(",trace=on,trace-autostart=on", cases[i].args);

        for (unsigned j = 0; j < cases[i].harts; j++) {
            uint32_t features = qtest_readl(qts, ENCODER(j) + INST_FEATURES);

            g_assert_cmpuint(features >> 28, ==, cases[i].src_bits);
            g_assert_cmpuint(features >> 16 & 0xfff, ==, j);
            g_assert(!(qtest_readl(qts, ENCODER(j)) & TE_INHIBIT_SRC) ==
                     (cases[i].harts > 1));
        }
        qtest_quit(qts);
    }
}

static uint32_t encoder_modes(QTestState *qts)
{
    return qtest_readl(qts, ENCODER(0) + INST_FEATURES) & 0x3f;
}

/*
 * Bits 5:0 of trTeInstFeatures that are on behind autostart: of trace-modes
 * what is built in, unless a mode's own property decides.
 */
static void test_modes(void)
{
    static const struct {
        const char *machine, *args;
        uint32_t modes;
    } cases[] = {
        { "", "", 0x3e },
        { "", PROP("branch-prediction=off"), 0x2e },
        { ",trace-modes=baseline", "", 0 },
        /* all that save bits */
        { ",trace-modes=all", "", 0x3e },
        { ",trace-modes=full-address", "", 0x01 },
        { ",trace-modes=implicit-exception", "", 0x02 },
        { ",trace-modes=sequential-jump", "", 0x04 },
        { ",trace-modes=implicit-return", "", 0x08 },
        { ",trace-modes=branch-prediction", "", 0x10 },
        { ",trace-modes=jump-target-cache", "", 0x20 },
        { ",trace-modes=implicit-return+branch-prediction", "", 0x18 },
        { ",trace-modes=all", PROP("sijump=off"), 0x3a },
        { ",trace-modes=all", PROP("return-stack-size=0"), 0x36 },
        { ",trace-modes=all",
          PROP("return-stack-size=0") PROP("call-counter-size=5"), 0x3e },
        { ",trace-modes=all", PROP("itype-width=3"), 0x36 },
        { ",trace-modes=all", PROP("bpred-size=0"), 0x2e },
        { ",trace-modes=all", PROP("cache-size=0"), 0x1e },
        { ",trace-modes=all", PROP("branch-prediction=off"), 0x2e },
        { ",trace-modes=all", PROP("branch-prediction=on"), 0x3e },
        { ",trace-modes=all", PROP("branch-prediction=auto"), 0x3e },
        { ",trace-modes=all", PROP("full-address=on"), 0x3f },
        { ",trace-modes=baseline", PROP("implicit-return=on"), 0x08 },
        { ",trace-modes=sequential-jump", PROP("implicit-return=on"), 0x0c },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        g_autofree char *machine =
            g_strdup_printf(",trace=on,trace-autostart=on%s",
                            cases[i].machine);
        QTestState *qts = start(machine, cases[i].args);

        g_assert_cmphex(encoder_modes(qts), ==, cases[i].modes);
        qtest_quit(qts);
    }
}

/* It is not what software finds at power-up. */
static void test_modes_power_up(void)
{
    QTestState *qts = start(",trace=on,trace-autostart=on,trace-modes=all", "");

    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmphex(encoder_modes(qts), ==, 0x3e);
        qtest_writel(qts, ENCODER(0), 0);
        g_assert_cmphex(encoder_modes(qts), ==, 0);
        qtest_writel(qts, ENCODER(0), ACTIVE);
        g_assert_cmphex(encoder_modes(qts), ==, 0);
        qtest_writel(qts, ENCODER(0) + INST_FEATURES, 0x08);
        g_assert_cmphex(encoder_modes(qts), ==, 0x08);
        qtest_system_reset(qts);
    }
    qtest_quit(qts);
}

/* x-riscv-trace-start, of encoders that nobody has programmed */
static void test_modes_monitor(void)
{
    QTestState *qts = start(",trace=on,trace-modes=all", "-smp 2");

    g_assert_cmphex(encoder_modes(qts), ==, 0);
    qtest_writel(qts, ENCODER(1), ACTIVE);
    qtest_writel(qts, ENCODER(1) + INST_FEATURES, 0x10);
    qtest_qmp_assert_success(qts, "{ 'execute': 'x-riscv-trace-start' }");
    g_assert_cmphex(encoder_modes(qts), ==, 0x3e);
    g_assert_cmphex(qtest_readl(qts, ENCODER(1) + INST_FEATURES) & 0x3f, ==,
                    0x10);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmphex(qtest_readl(qts, ENCODER(i)) &
                        (ACTIVE | ENABLE | TE_INST_TRACING), ==,
                        ACTIVE | ENABLE | TE_INST_TRACING);
    }
    qtest_quit(qts);
}

/*
 * The filter that is a property
 */

static void check_filter(QTestState *qts, const char *want)
{
    QDict *rsp = qtest_qmp(qts, "{ 'execute': 'qom-get', 'arguments': {"
                           "  'path': '/machine/trace-encoder0',"
                           "  'property': 'filter' } }");

    g_assert_cmpstr(qdict_get_str(rsp, "return"), ==, want);
    qobject_unref(rsp);
}

/* NULL, or what the error says */
static char *set_filter(QTestState *qts, const char *text)
{
    QDict *rsp = qtest_qmp(qts, "{ 'execute': 'qom-set', 'arguments': {"
                           "  'path': '/machine/trace-encoder0',"
                           "  'property': 'filter', 'value': %s } }", text);
    QDict *error = qdict_get_qdict(rsp, "error");
    char *says = NULL;

    if (error) {
        g_assert_cmpstr(qdict_get_str(error, "class"), ==, "GenericError");
        says = g_strdup(qdict_get_str(error, "desc"));
    }
    qobject_unref(rsp);
    return says;
}

/* What registers do stays as it is: none of them shows the property. */
static void check_filter_registers(QTestState *qts)
{
    g_assert_cmphex(qtest_readl(qts, ENCODER(0) + INST_FILTERS), ==, 0);
    for (unsigned ofs = FILTERS; ofs < FILTERS_END; ofs += 4) {
        g_assert_cmphex(qtest_readl(qts, ENCODER(0) + ofs), ==, 0);
    }
}

static void test_filter(void)
{
    QTestState *qts = start(",trace=on,trace-autostart=on", "");

    check_filter(qts, "");
    g_assert_null(set_filter(qts, "priv=S+U;context=7;pc=4096-0x1fff"));
    check_filter(qts, "priv=U+S;pc=0x1000-0x1fff;context=7");
    check_filter_registers(qts);
    /* It is no state of the machine's. */
    qtest_system_reset(qts);
    check_filter(qts, "priv=U+S;pc=0x1000-0x1fff;context=7");
    qtest_writel(qts, ENCODER(0), 0);
    check_filter(qts, "priv=U+S;pc=0x1000-0x1fff;context=7");
    g_assert_null(set_filter(qts, "priv=M"));
    check_filter(qts, "priv=M");
    g_assert_null(set_filter(qts, ""));
    check_filter(qts, "");
    qtest_quit(qts);

    qts = start(",trace=on", PROP("'filter=pc=0x20-0x2f;pc=0x10-0x1f'"));
    check_filter(qts, "pc=0x10-0x2f");
    check_filter_registers(qts);
    qtest_quit(qts);
}

/* An error says what to do, and changes nothing. */
static void test_filter_errors(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "asid=5", "filter of a trace encoder: 'asid=5' is none of "
          "priv=LEVEL, pc=FIRST-LAST and context=NUMBER" },
        { "priv=U;", "'' is none of priv=LEVEL" },
        { "priv=H", "'H' is no privilege level, which are U, S, M, VU and VS" },
        { "pc=0x1000", "pc=0x1000: needs the first and the last address" },
        { "pc=2-1", "the first address is above the last one" },
        { "context=x", "context=x: needs a number of at most 64 bits" },
        { "pc=0-0x100000000", "addresses of its hart have 32 bits" },
        { "pc=0-1;pc=4-5;pc=8-9;context=0;context=1;context=2;context=3;"
          "context=4;context=5",
          "at most 8 pc ranges and contexts together are possible" },
    };
    QTestState *qts = start(",trace=on", "-cpu rv32 " PROP("filter=priv=M"));

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        g_autofree char *says = set_filter(qts, cases[i].text);

        g_assert_nonnull(says);
        g_assert_nonnull(strstr(says, cases[i].says));
        check_filter(qts, "priv=M");
    }
    g_assert_null(set_filter(qts, "pc=0-0xffffffff"));
    qtest_quit(qts);
}

/* The monitor's overview has it. */
static void test_filter_query(void)
{
    QTestState *qts = start(",trace=on", PROP("filter=priv=U"));
    QDict *rsp = qtest_qmp(qts, "{ 'execute': 'x-query-riscv-trace' }");
    const char *text = qdict_get_str(qdict_get_qdict(rsp, "return"),
                                     "human-readable-text");

    g_assert_nonnull(strstr(text, ", filter priv=U\n"));
    qobject_unref(rsp);
    qtest_quit(qts);
}

/*
 * A RAM sink for each hart
 */

static char *get_string(QTestState *qts, const char *path, const char *name)
{
    QDict *rsp = qtest_qmp(qts, "{ 'execute': 'qom-get', 'arguments': {"
                           "  'path': %s, 'property': %s } }", path, name);
    char *value = g_strdup(qdict_get_str(rsp, "return"));

    qobject_unref(rsp);
    return value;
}

#define PER_HART            ",trace=on,trace-topology=per-hart"
#define HART_RAM(hart)      (FUNNEL + (hart) * 0x1000)

/* Encoders and RAM sinks (types 1 and 9, version 1.0), and nothing else */
static void test_per_hart(void)
{
    static const unsigned harts[] = { 1, 2, 16 };

    for (unsigned i = 0; i < ARRAY_SIZE(harts); i++) {
        g_autofree char *smp = g_strdup_printf("-smp %u", harts[i]);
        QTestState *qts = start(PER_HART, smp);
        g_autofree char *topology = get_string(qts, "/machine",
                                               "trace-topology");

        g_assert_cmpstr(topology, ==, "per-hart");
        for (unsigned j = 0; j < 16; j++) {
            bool is = j < harts[i];

            g_assert_cmphex(qtest_readl(qts, ENCODER(j) + IMPL) & 0xfff, ==,
                            is ? 0x101 : 0);
            g_assert_cmphex(qtest_readl(qts, HART_RAM(j) + IMPL), ==,
                            is ? 0x3901 : 0);
        }
        qtest_quit(qts);
    }
}

/* Packets go to the sink of their hart, if that is enabled, and nowhere else */
static void test_per_hart_sinks(void)
{
    QTestState *qts = start(PER_HART, "-smp 3");

    for (unsigned i = 0; i < 3; i++) {
        if (i != 1) {
            set_control(qts, HART_RAM(i), ACTIVE);
            /* trRamMode: its own memory */
            clear_control(qts, HART_RAM(i), 1u << 4);
            set_control(qts, HART_RAM(i), ENABLE);
        }
        set_control(qts, ENCODER(i), ACTIVE);
        set_control(qts, ENCODER(i), ENABLE);
    }
    for (unsigned i = 0; i < 3; i++) {
        uint32_t before[3];

        /* What waited for its word to be full is stored. */
        qtest_qmp_assert_success(qts, "{ 'execute': 'stop' }");
        qtest_qmp_assert_success(qts, "{ 'execute': 'cont' }");
        for (unsigned j = 0; j < 3; j++) {
            before[j] = qtest_readl(qts, HART_RAM(j) + WP);
        }
        if (i == 1) {
            set_control(qts, ENCODER(i), TE_INST_TRACING);
            clear_control(qts, ENCODER(i), TE_INST_TRACING);
        } else {
            trace_once(qts, i);
        }
        qtest_qmp_assert_success(qts, "{ 'execute': 'stop' }");
        for (unsigned j = 0; j < 3; j++) {
            uint32_t now = qtest_readl(qts, HART_RAM(j) + WP);

            if (j == i && j != 1) {
                g_assert_cmphex(now, >, before[j]);
            } else {
                g_assert_cmphex(now, ==, before[j]);
            }
        }
        qtest_qmp_assert_success(qts, "{ 'execute': 'cont' }");
    }
    qtest_quit(qts);
}

/* The monitor starts and stops all of them. */
static void test_per_hart_monitor(void)
{
    QTestState *qts = start(PER_HART, "-smp 2");
    QDict *rsp;

    qtest_qmp_assert_success(qts, "{ 'execute': 'x-riscv-trace-start' }");
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmphex(qtest_readl(qts, HART_RAM(i)) & ENABLE, ==, ENABLE);
    }
    rsp = qtest_qmp(qts, "{ 'execute': 'x-query-riscv-trace' }");
    g_assert_nonnull(strstr(qdict_get_str(qdict_get_qdict(rsp, "return"),
                                          "human-readable-text"),
                            "\nRAM sink 1 "));
    qobject_unref(rsp);
    qtest_qmp_assert_success(qts, "{ 'execute': 'x-riscv-trace-stop' }");
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmphex(qtest_readl(qts, HART_RAM(i)) & ENABLE, ==, 0);
    }
    qtest_quit(qts);
}

static void check_error(QTestState *qts, QDict *rsp, const char *says)
{
    QDict *error = qdict_get_qdict(rsp, "error");

    g_assert_nonnull(error);
    g_assert_nonnull(strstr(qdict_get_str(error, "desc"), says));
    qobject_unref(rsp);
}

static void test_topology_errors(void)
{
    QTestState *qts = start(PER_HART, "-smp 2");

    check_error(qts, qtest_qmp(qts, "{ 'execute': 'qom-set', 'arguments': {"
                               "  'path': '/machine',"
                               "  'property': 'trace-topology',"
                               "  'value': 'star' } }"),
                "trace-topology: 'star' is none of funnel and per-hart");
    check_error(qts, qtest_qmp(qts, "{ 'execute': 'x-riscv-trace-start',"
                               "  'arguments': { 'sink': 'pib' } }"),
                "there is no PIB sink");
    check_error(qts, qtest_qmp(qts, "{ 'execute': 'x-riscv-trace-save',"
                               "  'arguments': { 'filename': '/dev/null' } }"),
                "give \"hart\" 0 to 1");
    check_error(qts, qtest_qmp(qts, "{ 'execute': 'x-riscv-trace-save',"
                               "  'arguments': { 'filename': '/dev/null',"
                               "                 'hart': 2 } }"),
                "give \"hart\" 0 to 1");
    qtest_quit(qts);

    qts = start(",trace=on", "");
    check_error(qts, qtest_qmp(qts, "{ 'execute': 'x-riscv-trace-save',"
                               "  'arguments': { 'filename': '/dev/null',"
                               "                 'hart': 0 } }"),
                "leave out \"hart\"");
    qtest_quit(qts);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    qtest_add_func("/riscv-trace-options/autostart-src-id",
                   test_autostart_src_id);
    qtest_add_func("/riscv-trace-options/modes", test_modes);
    qtest_add_func("/riscv-trace-options/modes-power-up", test_modes_power_up);
    qtest_add_func("/riscv-trace-options/modes-monitor", test_modes_monitor);
    qtest_add_func("/riscv-trace-options/filter", test_filter);
    qtest_add_func("/riscv-trace-options/filter-errors", test_filter_errors);
    qtest_add_func("/riscv-trace-options/filter-query", test_filter_query);
    qtest_add_func("/riscv-trace-options/per-hart", test_per_hart);
    qtest_add_func("/riscv-trace-options/per-hart-sinks", test_per_hart_sinks);
    qtest_add_func("/riscv-trace-options/per-hart-monitor",
                   test_per_hart_monitor);
    qtest_add_func("/riscv-trace-options/topology-errors",
                   test_topology_errors);
    return g_test_run();
}
