/*
 * QTest testcase for the control registers of the RISC-V trace encoder
 *
 * Facts are those of the RISC-V Trace Control Interface 1.0 and of E-Trace
 * 2.0. No hart runs in these tests.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "qobject/qdict.h"
#include "riscv-trace-encoder-test.h"

/*
 * trTeControl, trTeImpl
 */

static void test_reset(void)
{
    QTestState *qts = start(",trace=on", "");

    g_assert_cmphex(rd(qts, CONTROL), ==, TE_DEFAULTS | EMPTY);
    /* version 1.0, type 1, protocol 0.0 */
    g_assert_cmphex(rd(qts, IMPL), ==, 0x00000101);
    g_assert_cmphex(rd(qts, INST_FEATURES), ==, FEATURES_DEFAULTS);
    for (unsigned ofs = INST_FILTERS; ofs < 0x1000; ofs += 4) {
        g_assert_cmphex(rd(qts, ofs), ==, 0);
    }
    qtest_quit(qts);
}

/*
 * E-Trace 2.0, Table 2.1: both fields are 0. The draft's Standard Support
 * Packet "must be implemented" from version 2.1 on, and only from there on.
 */
static void test_protocol(void)
{
    static const struct {
        const char *wire_format;
        unsigned major, minor;
    } versions[] = {
        { "2.0", 0, 0 }, { "1.1.1", 0, 0 }, { "2.1-draft", 2, 1 },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(versions); i++) {
        g_autofree char *args = g_strdup_printf(PROP("wire-format=%s"),
                                                versions[i].wire_format);
        QTestState *qts = start(",trace=on", args);
        uint32_t impl = 0x101 | versions[i].major << 16 |
                        versions[i].minor << 20;

        g_assert_cmphex(rd(qts, IMPL), ==, impl);
        wr(qts, CONTROL, ACTIVE);
        warl(qts, IMPL, 0xffffffff, impl);
        wr(qts, CONTROL, 0);
        g_assert_cmphex(rd(qts, IMPL), ==, impl);
        qtest_quit(qts);
    }
}

static void test_active(void)
{
    QTestState *qts = start(",trace=on", "");

    /* Nothing but trTeActive can be set while it is 0. */
    wr(qts, CONTROL, ENABLE | TE_INST_TRACING);
    g_assert_cmphex(rd(qts, CONTROL), ==, TE_DEFAULTS | EMPTY);
    for (unsigned ofs = INST_FEATURES; ofs < 0x1000; ofs += 4) {
        wr(qts, ofs, 0xffffffff);
    }
    for (unsigned ofs = INST_FILTERS; ofs < 0x1000; ofs += 4) {
        g_assert_cmphex(rd(qts, ofs), ==, 0);
    }
    g_assert_cmphex(rd(qts, INST_FEATURES), ==, FEATURES_DEFAULTS);

    /* Releasing puts every other field at its default. */
    wr(qts, CONTROL, ACTIVE);
    g_assert_cmphex(rd(qts, CONTROL), ==, TE_DEFAULTS | EMPTY | ACTIVE);

    wr(qts, CONTROL, ACTIVE | ENABLE | TE_INST_TRACING);
    g_assert_cmphex(rd(qts, CONTROL) &
                    (ACTIVE | ENABLE | TE_INST_TRACING | TE_STALL_ENA), ==,
                    ACTIVE | ENABLE | TE_INST_TRACING);

    /* Writing 0 resets all of it. */
    wr(qts, INST_FEATURES, 1);
    wr(qts, INST_FILTERS, 1);
    wr(qts, TRIG_EXT_IN, 2);
    wr(qts, TRIG_EXT_OUT, 1);
    wr(qts, FILTER(15), 1);
    wr(qts, COMP(7), 1);
    wr(qts, CONTROL, 0);
    g_assert_cmphex(rd(qts, CONTROL), ==, TE_DEFAULTS | EMPTY);
    g_assert_cmphex(rd(qts, INST_FEATURES), ==, FEATURES_DEFAULTS);
    for (unsigned ofs = INST_FILTERS; ofs < 0x1000; ofs += 4) {
        g_assert_cmphex(rd(qts, ofs), ==, 0);
    }
    qtest_quit(qts);
}

static void test_control(void)
{
    QTestState *qts = start_active("");
    uint32_t control;

    /* trTeInstMode: 6 is the only one; a rejected value must not give 0. */
    for (uint32_t mode = 0; mode < 8; mode++) {
        wr(qts, CONTROL, ACTIVE | mode << 4);
        g_assert_cmphex(rd(qts, CONTROL) & TE_INST_MODE, ==, 6u << 4);
    }
    for (uint32_t mode = 0; mode < 4; mode++) {
        wr(qts, CONTROL, ACTIVE | mode << TE_SYNC_MODE_SHIFT);
        g_assert_cmphex(rd(qts, CONTROL) & TE_SYNC_MODE, ==,
                        mode << TE_SYNC_MODE_SHIFT);
    }
    for (uint32_t n = 0; n < 16; n++) {
        wr(qts, CONTROL, ACTIVE | n << TE_SYNC_MAX_SHIFT);
        g_assert_cmphex(rd(qts, CONTROL) & TE_SYNC_MAX, ==,
                        n << TE_SYNC_MAX_SHIFT);
    }
    wr(qts, CONTROL, ACTIVE | TE_STALL_ENA | TE_TRIG_ENABLE);
    g_assert_cmphex(rd(qts, CONTROL) & (TE_STALL_ENA | TE_TRIG_ENABLE), ==,
                    TE_STALL_ENA | TE_TRIG_ENABLE);
    wr(qts, CONTROL, ACTIVE);
    g_assert_cmphex(rd(qts, CONTROL) & (TE_STALL_ENA | TE_TRIG_ENABLE), ==,
                    0);

    /*
     * Fields that stay 0: no context, format E-Trace, what is reserved.
     * trTeInhibitSrc stays 1, because there is no srcID.
     */
    wr(qts, CONTROL, 0xffffffff & ~ENABLE);
    control = rd(qts, CONTROL);
    g_assert_cmphex(control & (TE_CONTEXT | TE_FORMAT | TE_RESERVED), ==, 0);
    wr(qts, CONTROL, ACTIVE);
    g_assert_cmphex(rd(qts, CONTROL) & TE_INHIBIT_SRC, !=, 0);

    /* trTeEmpty is read only, trTeInstStallOrOverflow cleared by 1. */
    g_assert_cmphex(rd(qts, CONTROL) & EMPTY, !=, 0);
    wr(qts, CONTROL, ACTIVE | TE_STALL_OVERFLOW);
    g_assert_cmphex(rd(qts, CONTROL) & TE_STALL_OVERFLOW, ==, 0);
    warl(qts, IMPL, 0xffffffff, 0x00000101);
    qtest_quit(qts);

    qts = start_active(PROP("context-width=32") PROP("context=on"));
    g_assert_cmphex(rd(qts, CONTROL) & TE_CONTEXT, !=, 0);
    wr(qts, CONTROL, ACTIVE);
    g_assert_cmphex(rd(qts, CONTROL) & TE_CONTEXT, ==, 0);
    wr(qts, CONTROL, ACTIVE | TE_CONTEXT);
    g_assert_cmphex(rd(qts, CONTROL) & TE_CONTEXT, !=, 0);
    qtest_quit(qts);
}

static void test_power_up(void)
{
    QTestState *qts = start(",trace=on",
                            PROP("sync-mode=1") PROP("sync-max=4")
                            PROP("stall=off") PROP("src-bits=8")
                            PROP("src-id=171") PROP("implicit-return=on")
                            PROP("jump-target-cache=on")
                            PROP("timestamp-width=16")
                            PROP("timestamp-mode=1"));

    g_assert_cmphex(rd(qts, CONTROL), ==,
                    EMPTY | 6u << 4 | 1u << TE_SYNC_MODE_SHIFT |
                    4u << TE_SYNC_MAX_SHIFT);
    g_assert_cmphex(rd(qts, INST_FEATURES), ==, 0x80ab0000 |
                    FEATURES_DEFAULTS | 1u << 3 | 1u << 5);
    g_assert_cmphex(rd(qts, TS_CONTROL), ==, TS_ACTIVE | TS_COUNT |
                    TS_MODE(1) | TS_ENABLE | 16u << 24);
    /* Software may turn off what is on at power-up. */
    wr(qts, CONTROL, ACTIVE);
    warl(qts, INST_FEATURES, 0, FEATURES_DEFAULTS);
    warl(qts, TS_CONTROL, 0, 16u << 24);
    qtest_quit(qts);

    qts = start(",trace=on", PROP("full-address=on")
                PROP("implicit-exception=on") PROP("sequential-jump=on")
                PROP("branch-prediction=on"));
    g_assert_cmphex(rd(qts, INST_FEATURES), ==, FEATURES_DEFAULTS | 0x17);
    qtest_quit(qts);
}

/*
 * trTeInstFeatures
 */

static void test_features(void)
{
    QTestState *qts = start_active("");

    for (unsigned i = 0; i < 32; i++) {
        bool feature = i < 6;
        bool src = i >= 16 && i != 31;

        warl(qts, INST_FEATURES, 1u << i, FEATURES_DEFAULTS |
             (feature || src || i == 31 ? 1u << i : 0));
    }
    /* trTeSrcBits: 0 to 12 */
    for (unsigned n = 0; n < 16; n++) {
        wr(qts, INST_FEATURES, 5u << 28);
        warl(qts, INST_FEATURES, n << 28, FEATURES_DEFAULTS |
             (n <= 12 ? n : 5) << 28);
    }
    qtest_quit(qts);

    /* What is not built in cannot be turned on. */
    qts = start_active(PROP("sijump=off") PROP("return-stack-size=0")
                       PROP("bpred-size=0") PROP("cache-size=0"));
    warl(qts, INST_FEATURES, 0x0000ffff, 0x00000003);
    qtest_quit(qts);

    /* 1: simple level counting */
    qts = start_active(PROP("return-stack-size=0")
                       PROP("call-counter-size=5"));
    warl(qts, INST_FEATURES, 0, 0x00000040);
    warl(qts, INST_FEATURES, 0xffff, 0x0000007f);
    qtest_quit(qts);

    /* itype of 3 bits: calls and returns are not distinguished. */
    qts = start_active(PROP("itype-width=3"));
    warl(qts, INST_FEATURES, 0xffff, 0x00000037);
    qtest_quit(qts);
}

static void test_src_id(void)
{
    QTestState *qts = start(",trace=on", "-smp 3");

    for (unsigned i = 0; i < 3; i++) {
        /* trTeSrcBits 8, trTeSrcID */
        g_assert_cmphex(qtest_readl(qts, ENCODER(i) + INST_FEATURES), ==,
                        0x80000000 | i << 16 | FEATURES_DEFAULTS);
        g_assert_cmphex(qtest_readl(qts, ENCODER(i)) & TE_INHIBIT_SRC, ==, 0);
    }
    /* It can be left out of the packets. */
    set_control(qts, ENCODER(0), ACTIVE);
    set_control(qts, ENCODER(0), TE_INHIBIT_SRC);
    g_assert_cmphex(rd(qts, CONTROL) & TE_INHIBIT_SRC, !=, 0);
    clear_control(qts, ENCODER(0), TE_INHIBIT_SRC);
    g_assert_cmphex(rd(qts, CONTROL) & TE_INHIBIT_SRC, ==, 0);
    /* A srcID of no bits is not in the packets. */
    warl(qts, INST_FEATURES, 0, FEATURES_DEFAULTS);
    g_assert_cmphex(rd(qts, CONTROL) & TE_INHIBIT_SRC, !=, 0);
    clear_control(qts, ENCODER(0), TE_INHIBIT_SRC);
    g_assert_cmphex(rd(qts, CONTROL) & TE_INHIBIT_SRC, !=, 0);
    qtest_quit(qts);
}

/*
 * Data trace
 */

static void test_data(void)
{
    QTestState *qts = start_active("");

    warl(qts, DATA_CONTROL, 0xffffffff, 0);
    warl(qts, DATA_FILTERS, 0xffffffff, 0);
    qtest_quit(qts);

    /* implemented, StallEna, AddrCompress 3 */
    qts = start_active(PROP("data-width=64"));
    g_assert_cmphex(rd(qts, DATA_CONTROL), ==, 0xc0011);
    /* tracing, TrigEnable, StallEna, DropEna, NoValue, NoAddr */
    for (unsigned i = 0; i < 20; i++) {
        bool rw = i == 1 || i == 2 || i == 4 || i == 6 || i == 16 ||
                  i == 17 || i == 18 || i == 19;

        warl(qts, DATA_CONTROL, 1u << i, 1 | (rw ? 1u << i : 0));
    }
    /* trTeDataAddrCompress: 3, the protocol's, is whichever is shorter. */
    warl(qts, DATA_CONTROL, 3u << 18, 1 | 3u << 18);
    warl(qts, DATA_CONTROL, 0xfff00000, 1);
    bits(qts, DATA_FILTERS, 0x0000ffff);
    wr(qts, CONTROL, 0);
    g_assert_cmphex(rd(qts, DATA_CONTROL), ==, 0xc0011);
    qtest_quit(qts);

    qts = start_active(PROP("data-width=64") PROP("data-compress=2")
                       PROP("data-no-addr=on") PROP("data-no-value=on")
                       PROP("stall=off"));
    g_assert_cmphex(rd(qts, DATA_CONTROL), ==, 0xb0001);
    qtest_quit(qts);
}

static void test_machine_reset(void)
{
    QTestState *qts = start_active(PROP("timestamp-width=8"));

    wr(qts, CONTROL, ACTIVE | ENABLE | TE_INST_TRACING);
    wr(qts, INST_FEATURES, 0x3f);
    wr(qts, INST_FILTERS, 3);
    wr(qts, TS_CONTROL, TS_ACTIVE | TS_MODE(2));
    wr(qts, FILTER(2), 1);
    wr(qts, COMP(2) + 0x10, 1);
    qtest_system_reset(qts);
    g_assert_cmphex(rd(qts, CONTROL), ==, EMPTY | TE_DEFAULTS);
    g_assert_cmphex(rd(qts, INST_FEATURES), ==, FEATURES_DEFAULTS);
    g_assert_cmphex(rd(qts, TS_CONTROL), ==, 8u << 24);
    g_assert_cmphex(rd(qts, INST_FILTERS), ==, 0);
    g_assert_cmphex(rd(qts, FILTER(2)), ==, 0);
    g_assert_cmphex(rd(qts, COMP(2) + 0x10), ==, 0);
    qtest_quit(qts);
}

static void test_unknown_offsets(void)
{
    static const struct {
        unsigned first, end;
    } holes[] = {
        { 0x014, 0x01c }, { 0x020, 0x040 }, { 0x044, 0x048 },
        { 0x05c, 0x400 }, { 0x700, 0x1000 },
    };
    QTestState *qts = start_active(PROP("data-width=64")
                                   PROP("timestamp-width=63"));

    for (unsigned i = 0; i < ARRAY_SIZE(holes); i++) {
        for (unsigned ofs = holes[i].first; ofs < holes[i].end; ofs += 4) {
            warl(qts, ofs, 0xffffffff, 0);
        }
    }
    g_assert_cmphex(rd(qts, CONTROL) & (ACTIVE | ENABLE), ==, ACTIVE);
    /* Registers are 32 bits wide: nothing smaller gets through. */
    qtest_writeb(qts, ENCODER(0) + INST_FILTERS, 1);
    qtest_writew(qts, ENCODER(0) + FILTER(0), 1);
    g_assert_cmphex(rd(qts, INST_FILTERS), ==, 0);
    g_assert_cmphex(rd(qts, FILTER(0)), ==, 0);
    qtest_quit(qts);
}

/*
 * Discovery
 */

static int64_t parameter(QTestState *qts, const char *name)
{
    QDict *rsp = qtest_qmp(qts, "{ 'execute': 'qom-get', 'arguments': {"
                           "  'path': '/machine/trace-encoder0',"
                           "  'property': %s } }", name);
    QObject *val = qdict_get(rsp, "return");
    int64_t num;

    g_assert_nonnull(val);
    if (qobject_type(val) == QTYPE_QBOOL) {
        num = qdict_get_bool(rsp, "return");
    } else {
        num = qdict_get_int(rsp, "return");
    }
    qobject_unref(rsp);
    return num;
}

/* Every parameter of the tables in "Parameters and Discovery" */
static void test_parameters(void)
{
    static const struct {
        const char *name;
        int64_t value;
    } parameters[] = {
        { "arch", 0 }, { "blocks", 1 }, { "bpred-size", 10 },
        { "cache-size", 6 }, { "call-counter-size", 0 },
        { "ctype-width", 2 }, { "context-width", 30 }, { "time-width", 0 },
        { "ecause-width", 6 }, { "ecause-choice", 6 }, { "f0s-width", 1 },
        { "filter-context", 1 }, { "filter-time", 0 },
        { "filter-excint", 4 }, { "filter-privilege", 1 },
        { "filter-tval", 1 }, { "iaddress-lsb", 1 },
        { "iaddress-width", 64 }, { "iretire-width", 16 },
        { "ilastsize-width", 1 }, { "itype-width", 4 }, { "nocontext", 0 },
        { "notime", 1 }, { "privilege-width", 3 }, { "retires", 65535 },
        { "return-stack-size", 5 }, { "sijump", 1 }, { "impdef-width", 0 },
        { "comparators", 8 }, { "filters", 16 },
        { "daddress-width", 64 }, { "dblock-width", 0 }, { "data-width", 0 },
        { "dsize-width", 4 }, { "dtype-width", 4 },
        { "iaddr-lsbs-width", 16 }, { "lrid-width", 0 },
        { "lresp-width", 0 }, { "ldata-width", 0 }, { "sdata-width", 0 },
    };
    QTestState *qts = start(",trace=on", PROP("cache-size=6")
                            PROP("context-width=30"));

    for (unsigned i = 0; i < ARRAY_SIZE(parameters); i++) {
        g_assert_cmpint(parameter(qts, parameters[i].name), ==,
                        parameters[i].value);
    }
    qtest_quit(qts);
}

/*
 * Migration
 */

static void test_migrate(void)
{
    g_autofree char *path = tmp_name("migrate");
    g_autofree char *uri = g_strdup_printf("file:%s", path);
    g_autofree char *incoming = NULL;
    const char *props = PROP("timestamp-width=40") PROP("data-width=64")
                        PROP("context-width=32");
    static const struct {
        unsigned ofs;
        uint32_t val;
    } regs[] = {
        { INST_FEATURES, FEATURES_DEFAULTS | 0x29 }, { INST_FILTERS, 0x8001 },
        { DATA_CONTROL, 0x10057 }, { DATA_FILTERS, 0x10 },
        { TRIG_EXT_IN, 0x432 }, { TRIG_EXT_OUT, 0x30000001 },
        { FILTER(0), 0x0000fff1 }, { FILTER(15) + 8, 0x12345678 },
        { COMP(0), 0x0000f77f }, { COMP(7) + 0x1c, 0x9abcdef0 },
        { TS_CONTROL, 40u << 24 | TS_ACTIVE | TS_COUNT | TS_MODE(2) |
                      TS_PRESCALE(1) | TS_ENABLE },
    };
    QTestState *qts = start_active(props);
    uint32_t control;

    set_control(qts, ENCODER(0), ENABLE | TE_INST_TRACING | TE_TRIG_ENABLE |
                TE_CONTEXT);
    control = rd(qts, CONTROL);
    for (unsigned i = 0; i < ARRAY_SIZE(regs); i++) {
        warl(qts, regs[i].ofs, regs[i].val, regs[i].val);
    }
    qtest_clock_step(qts, 4000);
    g_assert_cmpuint(counter(qts), ==, 1000);

    qtest_qmp_assert_success(qts, "{ 'execute': 'migrate', 'arguments': {"
                             "  'uri': %s } }", uri);
    for (;;) {
        QDict *rsp = qtest_qmp(qts, "{ 'execute': 'query-migrate' }");
        const char *status = qdict_get_str(qdict_get_qdict(rsp, "return"),
                                           "status");
        bool done = g_str_equal(status, "completed");

        g_assert_cmpstr(status, !=, "failed");
        qobject_unref(rsp);
        if (done) {
            break;
        }
        g_usleep(10000);
    }
    qtest_quit(qts);

    incoming = g_strdup_printf("%s -incoming file:%s", props, path);
    qts = start(",trace=on", incoming);
    for (;;) {
        QDict *rsp = qtest_qmp(qts, "{ 'execute': 'query-status' }");
        const char *status = qdict_get_str(qdict_get_qdict(rsp, "return"),
                                           "status");
        bool done = !g_str_equal(status, "inmigrate");

        qobject_unref(rsp);
        if (done) {
            break;
        }
        g_usleep(10000);
    }
    g_assert_cmphex(rd(qts, CONTROL), ==, control);
    for (unsigned i = 0; i < ARRAY_SIZE(regs); i++) {
        g_assert_cmphex(rd(qts, regs[i].ofs), ==, regs[i].val);
    }
    /* The clock of qtest does not migrate: it begins at 0 again. */
    qtest_clock_step(qts, 8000);
    g_assert_cmpuint(counter(qts), ==, 2000);
    qtest_quit(qts);
    g_unlink(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    qtest_add_func("/riscv-trace-encoder/reset", test_reset);
    qtest_add_func("/riscv-trace-encoder/protocol", test_protocol);
    qtest_add_func("/riscv-trace-encoder/active", test_active);
    qtest_add_func("/riscv-trace-encoder/control", test_control);
    qtest_add_func("/riscv-trace-encoder/power-up", test_power_up);
    qtest_add_func("/riscv-trace-encoder/features", test_features);
    qtest_add_func("/riscv-trace-encoder/src-id", test_src_id);
    qtest_add_func("/riscv-trace-encoder/data", test_data);
    qtest_add_func("/riscv-trace-encoder/machine-reset", test_machine_reset);
    qtest_add_func("/riscv-trace-encoder/unknown-offsets",
                   test_unknown_offsets);
    qtest_add_func("/riscv-trace-encoder/parameters", test_parameters);
    qtest_add_func("/riscv-trace-encoder/migrate", test_migrate);
    return g_test_run();
}
