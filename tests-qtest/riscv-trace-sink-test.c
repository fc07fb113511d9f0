/*
 * QTest testcase for the PIB sink, the funnel and the ATB bridge of the RISC-V
 * trace components, and for several sinks at the same time
 *
 * Register facts are those of the RISC-V Trace Control Interface 1.0.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "qobject/qdict.h"
#include "riscv-trace-ram.h"

#define DIS_INPUT           0x008

#define PIB_MODE(n)         ((uint32_t)(n) << 4)
#define PIB_CLK_CENTER      (1u << 8)
#define PIB_CALIBRATE       (1u << 9)

/*
 * Several sinks
 */

static size_t file_size(const char *path)
{
    GStatBuf st;

    g_assert_cmpint(g_stat(path, &st), ==, 0);
    return st.st_size;
}

/* Each sink gets what is traced while it is enabled, and no more. */
static void test_both_sinks(void)
{
    g_autofree char *path = tmp_name("both");
    g_autofree char *args = g_strdup_printf("-chardev file,id=t,path=%s",
                                            path);
    QTestState *qts = start(",trace=on,trace-chardev=t", args);
    uint64_t base = DRAM + 0x10000, wp;
    size_t size;
    g_autofree char *contents = NULL;
    gsize len;

    /* RAM alone */
    enable_smem(qts, base, 0x1000, 0);
    enable_path(qts);
    trace_once(qts, 0);
    wp = read_address(qts, WP);
    g_usleep(100 * 1000);
    size = file_size(path);
    /* an alignment sequence */
    g_assert_cmpuint(size, ==, 32 + SESSION_MARK);

    /* The other one comes late: a session begins that both can read. */
    discover(qts, PIB, 0xa);
    set_control(qts, PIB, ENABLE);
    while (file_size(path) == size) {
        g_usleep(1000);
    }
    trace_once(qts, 0);
    g_assert_cmphex(read_address(qts, WP), >, wp);
    disable_ram(qts);
    wp = read_address(qts, WP);

    /* PIB alone */
    trace_once(qts, 0);
    poll_control(qts, PIB, EMPTY, EMPTY);
    g_assert_cmphex(read_address(qts, WP), ==, wp);
    qtest_quit(qts);

    g_assert_true(g_file_get_contents(path, &contents, &len, NULL));
    /* two alignment sequences, two times on and off */
    g_assert_cmpuint(check_trace((uint8_t *)contents + size, len - size, true),
                     ==, 4);
    g_unlink(path);
}

/* trPibMode and what depends on it */
static void test_pib_modes(void)
{
    QTestState *qts = start_plain();

    qtest_writel(qts, PIB, ACTIVE);
    for (unsigned mode = 0; mode < 16; mode++) {
        bool known = mode == 0 || mode == 4 || mode == 5 ||
                     (mode >= 8 && mode <= 12);
        uint32_t control;

        qtest_writel(qts, PIB, ACTIVE | PIB_MODE(5));
        qtest_writel(qts, PIB, ACTIVE | PIB_MODE(mode) | PIB_CLK_CENTER |
                               PIB_CALIBRATE | 0xabcd0000);
        control = qtest_readl(qts, PIB);
        g_assert_cmphex(control & PIB_MODE(15), ==,
                        PIB_MODE(known ? mode : 5));
        g_assert_cmphex(control & PIB_CLK_CENTER, ==,
                        known && mode >= 8 ? PIB_CLK_CENTER : 0);
        /* There are no pins to calibrate. */
        g_assert_cmphex(control & PIB_CALIBRATE, ==, 0);
        g_assert_cmphex(control & 0xffff0000, ==, 0xabcd0000);
    }
    qtest_quit(qts);
}

static void test_pib_off(void)
{
    QTestState *qts = start(",trace=on,trace-autostart=on,trace-chardev=t",
                            "-chardev file,id=t,path=/dev/null");

    poll_control(qts, ENCODER(0), EMPTY, 0);
    clear_control(qts, PIB, PIB_MODE(15));
    poll_control(qts, ENCODER(0), EMPTY, EMPTY);
    set_control(qts, PIB, PIB_MODE(8));
    poll_control(qts, ENCODER(0), EMPTY, 0);
    qtest_quit(qts);
}

/*
 * Funnel and ATB bridge
 */

static void test_dis_input(void)
{
    QTestState *qts = start(",trace=on", "-smp 3");
    uint64_t base = DRAM + 0x10000, wp;

    qtest_writel(qts, FUNNEL, ACTIVE);
    g_assert_cmphex(qtest_readl(qts, FUNNEL + DIS_INPUT), ==, 0);
    /* "it can be set to 0xFFFF to detect which inputs may be disabled" */
    qtest_writel(qts, FUNNEL + DIS_INPUT, 0xffffffff);
    g_assert_cmphex(qtest_readl(qts, FUNNEL + DIS_INPUT), ==, 7);
    for (unsigned i = 0; i < 3; i++) {
        qtest_writel(qts, FUNNEL + DIS_INPUT, 1u << i);
        g_assert_cmphex(qtest_readl(qts, FUNNEL + DIS_INPUT), ==, 1u << i);
    }

    qtest_writel(qts, FUNNEL + DIS_INPUT, 2);
    enable_smem(qts, base, 0x1000, 0);
    set_control(qts, FUNNEL, ENABLE);
    for (unsigned i = 0; i < 2; i++) {
        discover(qts, ENCODER(i), 1);
        set_control(qts, ENCODER(i), ENABLE);
    }
    wp = read_address(qts, WP);
    set_control(qts, ENCODER(1), TE_INST_TRACING);
    trace_once(qts, 0);
    g_assert_cmphex(read_address(qts, WP), >, wp);
    g_assert_cmphex(qtest_readl(qts, ENCODER(1)) & EMPTY, ==, EMPTY);
    wp = read_address(qts, WP);
    qtest_writel(qts, FUNNEL + DIS_INPUT, 0);
    poll_control(qts, ENCODER(1), EMPTY, 0);
    qtest_writel(qts, FUNNEL + DIS_INPUT, 2);
    poll_control(qts, ENCODER(1), EMPTY, EMPTY);
    disable_ram(qts);
    g_assert_cmphex(read_address(qts, WP), >, wp);

    qtest_system_reset(qts);
    g_assert_cmphex(qtest_readl(qts, FUNNEL + DIS_INPUT), ==, 0);
    qtest_quit(qts);
}

static void test_atb(void)
{
    QTestState *qts = start_plain();
    uint64_t base = DRAM + 0x10000, wp;

    /* optional */
    g_assert_cmphex(qtest_readl(qts, ATB + IMPL), ==, 0);
    qtest_quit(qts);

    qts = start(",trace=on,trace-atb=on", "");
    g_assert_cmphex(qtest_readl(qts, ATB), ==, EMPTY);
    g_assert_cmphex(qtest_readl(qts, ATB + IMPL), ==, 0x00000e01);
    qtest_writel(qts, ATB + IMPL, 0xffffffff);
    g_assert_cmphex(qtest_readl(qts, ATB + IMPL), ==, 0x00000e01);
    qtest_writel(qts, ATB, 0xffffffff);
    g_assert_cmphex(qtest_readl(qts, ATB), ==, EMPTY | ACTIVE);
    /* "Field trAtbBridgeID must be settable by trace tool" */
    for (uint32_t id = 0; id < 128; id++) {
        qtest_writel(qts, ATB, ACTIVE | id << 8);
        g_assert_cmphex(qtest_readl(qts, ATB), ==, EMPTY | ACTIVE | id << 8);
    }
    qtest_writel(qts, ATB, 0xffffffff & ~ENABLE);
    g_assert_cmphex(qtest_readl(qts, ATB), ==, EMPTY | ACTIVE | 0x7f00);

    /* It is on the way. */
    enable_smem(qts, base, 0x1000, 0);
    enable_path(qts);
    wp = read_address(qts, WP);
    set_control(qts, ENCODER(0), TE_INST_TRACING);
    g_usleep(50 * 1000);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0)) & EMPTY, ==, EMPTY);
    set_control(qts, ATB, ENABLE);
    poll_control(qts, ENCODER(0), EMPTY, 0);
    clear_control(qts, ATB, ENABLE);
    poll_control(qts, ENCODER(0), EMPTY, EMPTY);
    disable_ram(qts);
    g_assert_cmphex(read_address(qts, WP), >, wp);
    qtest_quit(qts);
}

/* Offsets without a register read 0 and ignore writes. */
static void test_unknown_offsets(void)
{
    static const uint64_t bases[] = { RAM, ATB };
    QTestState *qts = start(",trace=on,trace-atb=on", "");

    for (unsigned i = 0; i < ARRAY_SIZE(bases); i++) {
        qtest_writel(qts, bases[i], ACTIVE);
        for (uint64_t ofs = 0x008; ofs < 0x1000; ofs += 4) {
            if (bases[i] == RAM && ofs >= START && ofs <= DATA &&
                (ofs < 0x30 || ofs == DATA)) {
                continue;
            }
            qtest_writel(qts, bases[i] + ofs, 0xffffffff);
            g_assert_cmphex(qtest_readl(qts, bases[i] + ofs), ==, 0);
        }
        g_assert_cmphex(qtest_readl(qts, bases[i]) & (ACTIVE | ENABLE), ==,
                        ACTIVE);
    }
    qtest_quit(qts);
}

/*
 * The monitor
 */

static void expect_error(QTestState *qts, const char *command,
                         const char *text)
{
    QDict *response = qtest_qmp(qts, "{ 'execute': %s, 'arguments': {"
                                " 'filename': '/dev/null' } }", command);

    g_assert_nonnull(strstr(qdict_get_str(qdict_get_qdict(response, "error"),
                                          "desc"), text));
    qobject_unref(response);
}

static void test_monitor(void)
{
    g_autofree char *path = tmp_name("save");
    g_autofree char *contents = NULL;
    QTestState *qts = start(",trace=on,trace-atb=on", "-smp 2");
    g_autofree char *info = NULL;
    uint32_t on = ACTIVE | ENABLE;
    QDict *response;
    gsize len;

    /* Nothing has been set up: the RAM sink's own memory is used. */
    qtest_qmp_assert_success(qts, "{ 'execute': 'x-riscv-trace-start' }");
    g_assert_cmphex(qtest_readl(qts, RAM) & (on | RAM_SMEM), ==, on);
    g_assert_cmphex(qtest_readl(qts, PIB) & on, ==, 0);
    g_assert_cmphex(qtest_readl(qts, ATB) & on, ==, on);
    g_assert_cmphex(qtest_readl(qts, FUNNEL) & on, ==, on);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmphex(qtest_readl(qts, ENCODER(i)) & (on | TE_INST_TRACING),
                        ==, on | TE_INST_TRACING);
        poll_control(qts, ENCODER(i), EMPTY, 0);
    }
    expect_error(qts, "x-riscv-trace-save", "in use");
    info = qtest_hmp(qts, "info riscv-trace");
    g_assert_nonnull(strstr(info, "encoder 1"));
    g_assert_nonnull(strstr(info, "SRAM 0x0-0xfffff"));

    qtest_qmp_assert_success(qts, "{ 'execute': 'x-riscv-trace-stop' }");
    g_assert_cmphex(qtest_readl(qts, RAM) & (on | EMPTY), ==, ACTIVE | EMPTY);
    g_assert_cmphex(qtest_readl(qts, ATB) & on, ==, ACTIVE);
    g_assert_cmphex(qtest_readl(qts, FUNNEL) & on, ==, ACTIVE);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmphex(qtest_readl(qts, ENCODER(i)) &
                        (on | TE_INST_TRACING | EMPTY), ==, ACTIVE | EMPTY);
    }
    qtest_qmp_assert_success(qts, "{ 'execute': 'x-riscv-trace-save',"
                             "  'arguments': { 'filename': %s } }", path);
    g_assert_true(g_file_get_contents(path, &contents, &len, NULL));
    g_assert_cmpuint(len, ==, read_address(qts, WP));
    /* alignment (with a srcID), then each hart's on and off */
    g_assert_cmpuint(len, >, 33 + 4 * 3);
    g_assert_cmphex((uint8_t)contents[32], ==, 0x80);
    g_unlink(path);

    /* Nobody reads it, and nothing waits until somebody does. */
    g_assert_cmpint(mkfifo(path, 0600), ==, 0);
    response = qtest_qmp(qts, "{ 'execute': 'x-riscv-trace-save',"
                         "  'arguments': { 'filename': %s } }", path);
    g_assert_nonnull(strstr(qdict_get_str(qdict_get_qdict(response, "error"),
                                          "desc"), "not a regular file"));
    qobject_unref(response);
    g_unlink(path);

    /* A sink that is asked for; memory that the guest has set up stays. */
    qtest_qmp_assert_success(qts, "{ 'execute': 'x-riscv-trace-start',"
                             "  'arguments': { 'sink': 'pib' } }");
    g_assert_cmphex(qtest_readl(qts, PIB) & on, ==, on);
    g_assert_cmphex(qtest_readl(qts, RAM) & on, ==, ACTIVE);
    enable_smem(qts, DRAM, 0x1000, 0);
    qtest_qmp_assert_success(qts, "{ 'execute': 'x-riscv-trace-start',"
                             "  'arguments': { 'sink': 'ram' } }");
    g_assert_cmphex(qtest_readl(qts, RAM) & (on | RAM_SMEM), ==,
                    on | RAM_SMEM);
    qtest_quit(qts);

    qts = start("", "");
    expect_error(qts, "x-riscv-trace-save", "trace=on");
    qtest_quit(qts);
}

/*
 * What x-riscv-trace-save reads is memory that trace can be in, and nothing
 * else, whatever the guest has put into the registers.
 */
static const struct {
    uint64_t start, limit, wp;
    const char *message;
} bad_rings[] = {
    { 0x40000000, 0x7ffffffc, 0x7ffffffc, "is not all RAM" },   /* PCIe */
    { 0x10000000, 0x10000ffc, 0x10000100, "is not all RAM" },   /* UART */
    { 0x3020000, 0x3033ffc, 0x3033000, "is not all RAM" },      /* itself */
    { 0x1000, 0x1ffc, 0x1800, "is not all RAM" },               /* ROM */
    { 0x5000000000, 0x5000000ffc, 0x5000000800, "is not all RAM" },
    { 0, 0xfffffffffffffc, 0xfffffffffffffc, "is not all RAM" },
    { 0xfffffffffff000, 0xfffffffffffffc, 0xfffffffffffff8,
      "is not all RAM" },
    /* RAM, and then no more */
    { DRAM, 0xfffffffffffffc, 0xfffffffffffffc, "is not all RAM" },
    { DRAM + 0x1000, DRAM + 0x1ffc, DRAM, "is not between" },
    { DRAM + 0x1000, DRAM + 0x1ffc, DRAM + 0x2000, "is not between" },
    { DRAM + 0x1000, DRAM + 0x1ffc, 0xfffffffffffffc, "is not between" },
    { DRAM + 0x2000, DRAM + 0x1ffc, DRAM + 0x2000, "is not between" },
};

static void test_save_what(void)
{
    static const uint8_t bytes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    g_autofree char *path = tmp_name("save-what");
    g_autofree char *contents = NULL;
    QTestState *qts = start_plain();
    gsize len;

    discover(qts, RAM, 9);
    set_control(qts, RAM, RAM_SMEM);
    for (unsigned i = 0; i < ARRAY_SIZE(bad_rings); i++) {
        QDict *response;

        write_address(qts, START, bad_rings[i].start);
        write_address(qts, LIMIT, bad_rings[i].limit);
        write_address(qts, WP, bad_rings[i].wp);
        response = qtest_qmp(qts, "{ 'execute': 'x-riscv-trace-save',"
                             "  'arguments': { 'filename': %s } }", path);
        g_assert_true(qdict_haskey(response, "error"));
        g_assert_nonnull(strstr(qdict_get_str(qdict_get_qdict(response,
                                                              "error"),
                                              "desc"),
                                bad_rings[i].message));
        qobject_unref(response);
        g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    }

    qtest_memwrite(qts, DRAM + 0x1000, bytes, sizeof(bytes));
    write_address(qts, START, DRAM + 0x1000);
    write_address(qts, LIMIT, DRAM + 0x1ffc);
    write_address(qts, WP, DRAM + 0x1008);
    qtest_qmp_assert_success(qts, "{ 'execute': 'x-riscv-trace-save',"
                             "  'arguments': { 'filename': %s } }", path);
    g_assert_true(g_file_get_contents(path, &contents, &len, NULL));
    g_assert_cmpmem(contents, len, bytes, sizeof(bytes));
    g_unlink(path);
    qtest_quit(qts);
}

/*
 * The device tree: every component, connected to the next one
 */

static void test_device_tree(void)
{
    static const char *const wanted[] = {
        "trace@3020000", "trace@3021000", "trace@3030000", "trace@3031000",
        "trace@3032000", "trace@3033000", "in-ports", "out-ports",
        "remote-endpoint",
    };
    g_autofree char *path = tmp_name("dtb");
    g_autofree char *dtb = NULL;
    QTestState *qts = start(",trace=on,trace-atb=on", "-smp 2");
    unsigned nodes = 0;
    gsize size;

    qtest_qmp_assert_success(qts, "{ 'execute': 'dumpdtb',"
                             "  'arguments': { 'filename': %s } }", path);
    qtest_quit(qts);
    g_assert_true(g_file_get_contents(path, &dtb, &size, NULL));
    g_unlink(path);
    for (unsigned i = 0; i < ARRAY_SIZE(wanted); i++) {
        g_assert_nonnull(memmem(dtb, size, wanted[i], strlen(wanted[i]) + 1));
    }
    for (size_t i = 0; i + 22 <= size; i++) {
        nodes += !memcmp(dtb + i, "qemu,trace-component", 21);
    }
    g_assert_cmpuint(nodes, ==, 6);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    qtest_add_func("/riscv-trace-sink/both", test_both_sinks);
    qtest_add_func("/riscv-trace-sink/pib/modes", test_pib_modes);
    qtest_add_func("/riscv-trace-sink/pib/off", test_pib_off);
    qtest_add_func("/riscv-trace-sink/funnel/dis-input", test_dis_input);
    qtest_add_func("/riscv-trace-sink/atb", test_atb);
    qtest_add_func("/riscv-trace-sink/unknown-offsets",
                   test_unknown_offsets);
    qtest_add_func("/riscv-trace-sink/monitor", test_monitor);
    qtest_add_func("/riscv-trace-sink/save-what", test_save_what);
    qtest_add_func("/riscv-trace-sink/device-tree", test_device_tree);
    return g_test_run();
}
