/*
 * QTest testcase for the RISC-V trace encoder's filters, timestamps and
 * triggers, and for the sequences that software programs it with
 *
 * Facts are those of the RISC-V Trace Control Interface 1.0 and of E-Trace
 * 2.0. No hart runs in these tests.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "riscv-trace-encoder-test.h"

/*
 * Filters and comparators
 */

static void test_filters(void)
{
    QTestState *qts = start_active("");

    bits(qts, INST_FILTERS, 0x0000ffff);
    for (unsigned i = 0; i < 16; i++) {
        /* no impdef, no data trace */
        bits(qts, FILTER(i) + 0x00, 0x0000ffff);
        bits(qts, FILTER(i) + 0x04, 0x000001ff);
        bits(qts, FILTER(i) + 0x08, 0xffffffff);
        bits(qts, FILTER(i) + 0x0c, 0xffffffff);
        bits(qts, FILTER(i) + 0x10, 0);
        bits(qts, FILTER(i) + 0x14, 0);
        bits(qts, FILTER(i) + 0x18, 0);
        bits(qts, FILTER(i) + 0x1c, 0);
    }
    qtest_quit(qts);

    qts = start_active(PROP("impdef-width=20") PROP("data-width=32"));
    bits(qts, FILTER(3) + 0x00, 0x0301ffff);
    bits(qts, FILTER(3) + 0x10, 0x000fffff);
    bits(qts, FILTER(3) + 0x14, 0x000fffff);
    bits(qts, FILTER(3) + 0x18, 0x00ffffff);
    qtest_quit(qts);

    /* fewer of them, and without what is optional */
    qts = start_active(PROP("filters=3") PROP("comparators=0")
                       PROP("filter-excint=0"));
    bits(qts, INST_FILTERS, 0x00000007);
    bits(qts, FILTER(2) + 0x00, 0x00000003);
    bits(qts, FILTER(2) + 0x04, 0x000000ff);
    bits(qts, FILTER(2) + 0x08, 0);
    for (unsigned ofs = FILTER(3); ofs < 0x800; ofs += 4) {
        warl(qts, ofs, 0xffffffff, 0);
    }
    qtest_quit(qts);

    /* Filters may use the comparators that there are. */
    qts = start_active(PROP("comparators=5"));
    wr(qts, FILTER(0), 0x4280);     /* 4, 1, 2 */
    g_assert_cmphex(rd(qts, FILTER(0)), ==, 0x4280);
    warl(qts, FILTER(0), 0xeea0 | 0x1111, 0x4280 | 0x1111);
    warl(qts, FILTER(0), 0x8860, 0x8860);
    qtest_quit(qts);
}

static void test_comparators(void)
{
    static const unsigned matches[] = { 0x10, 0x14, 0x18, 0x1c };
    QTestState *qts = start_active("");

    for (unsigned j = 0; j < 8; j++) {
        for (unsigned k = 0; k < ARRAY_SIZE(matches); k++) {
            bits(qts, COMP(j) + matches[k], 0xffffffff);
        }
        bits(qts, COMP(j) + 0x04, 0);
        bits(qts, COMP(j) + 0x08, 0);
        bits(qts, COMP(j) + 0x0c, 0);
        /* functions, mode, notify: everything that there is */
        warl(qts, COMP(j), 0xffffff70, 0x0000f770);
        warl(qts, COMP(j), 0, 0);
        /* inputs: iaddr and tval; no context, no daddr */
        for (unsigned input = 0; input < 4; input++) {
            wr(qts, COMP(j), 0x8);
            warl(qts, COMP(j), input << 2 | input,
                 input == 1 || input == 3 ? 0x8 : input << 2 | input);
        }
    }
    qtest_quit(qts);

    qts = start_active(PROP("context-width=16") PROP("data-width=8")
                       PROP("comparators=2"));
    bits(qts, COMP(1), 0x0000f77f);
    for (unsigned ofs = COMP(2); ofs < 0x800; ofs += 4) {
        warl(qts, ofs, 0xffffffff, 0);
    }
    qtest_quit(qts);
}

/*
 * Timestamp unit
 */

static void test_timestamp(void)
{
    QTestState *qts = start_active(PROP("timestamp-width=40"));
    uint32_t width = 40u << 24;
    uint64_t now;

    g_assert_cmphex(rd(qts, TS_CONTROL), ==, width);
    /* None, external, internal system and core; shared with nobody */
    for (unsigned mode = 0; mode < 8; mode++) {
        warl(qts, TS_CONTROL, TS_ACTIVE, width | TS_ACTIVE);
        warl(qts, TS_CONTROL, TS_ACTIVE | TS_MODE(mode),
             width | TS_ACTIVE | (mode <= 3 ? TS_MODE(mode) : 0));
    }
    for (unsigned n = 0; n < 4; n++) {
        warl(qts, TS_CONTROL, TS_ACTIVE | TS_PRESCALE(n),
             width | TS_ACTIVE | TS_PRESCALE(n));
    }
    warl(qts, TS_CONTROL, TS_ACTIVE | TS_ENABLE,
         width | TS_ACTIVE | TS_ENABLE);
    /* There is no debug mode to run in; what is reserved. */
    warl(qts, TS_CONTROL, TS_ACTIVE | TS_RUN_IN_DEBUG, width | TS_ACTIVE);
    warl(qts, TS_CONTROL, TS_ACTIVE | 0xc0ff7c80, width | TS_ACTIVE);
    /* trTsActive 0: reset */
    warl(qts, TS_CONTROL, TS_COUNT | TS_MODE(2), width);

    /* It counts nanoseconds while trTsCount is 1. */
    wr(qts, TS_CONTROL, TS_ACTIVE | TS_MODE(2));
    qtest_clock_step(qts, 1000);
    g_assert_cmpuint(counter(qts), ==, 0);
    wr(qts, TS_CONTROL, TS_ACTIVE | TS_MODE(2) | TS_COUNT);
    qtest_clock_step(qts, 1000);
    g_assert_cmpuint(counter(qts), ==, 1000);
    wr(qts, TS_CONTROL, TS_ACTIVE | TS_MODE(2));
    qtest_clock_step(qts, 1000);
    g_assert_cmpuint(counter(qts), ==, 1000);
    /* "divided by 1, 4, 16, 64" */
    for (unsigned n = 0; n < 4; n++) {
        wr(qts, TS_CONTROL, TS_ACTIVE | TS_MODE(3) | TS_COUNT | TS_RESET |
           TS_PRESCALE(n));
        g_assert_cmpuint(counter(qts), ==, 0);
        g_assert_cmphex(rd(qts, TS_CONTROL) & TS_RESET, ==, 0);
        qtest_clock_step(qts, 6400);
        g_assert_cmpuint(counter(qts), ==, 6400 >> (2 * n));
    }
    /* 40 bits of it */
    wr(qts, TS_CONTROL, TS_ACTIVE | TS_MODE(2) | TS_COUNT | TS_RESET);
    qtest_clock_step(qts, (1ll << 40) + 5);
    g_assert_cmpuint(counter(qts), ==, 5);
    wr(qts, TS_COUNTER_LOW, 0);
    g_assert_cmpuint(counter(qts), ==, 5);

    /* external: 10 MHz, whether it counts or not */
    wr(qts, TS_CONTROL, TS_ACTIVE | TS_MODE(1));
    now = counter(qts);
    qtest_clock_step(qts, 1000 * 1000);
    g_assert_cmpuint(counter(qts) - now, ==, 10000);
    warl(qts, TS_CONTROL, 0, width);
    g_assert_cmpuint(counter(qts), ==, 0);
    qtest_quit(qts);

    /* no unit */
    qts = start_active("");
    warl(qts, TS_CONTROL, 0xffffffff, 0);
    g_assert_cmpuint(counter(qts), ==, 0);
    qtest_quit(qts);
}

/* "Funnels ... built with a Timestamp Unit", encoders share it */
static void test_timestamp_shared(void)
{
    const char *funnel = "-global riscv-trace-funnel.timestamp-width=40 ";
    g_autofree char *args = g_strconcat(funnel, "-smp 2 ",
                                        PROP("timestamp-width=16"), NULL);
    QTestState *qts = start(",trace=on", args);
    uint32_t width = 40u << 24;

    qtest_writel(qts, FUNNEL + TS_CONTROL, TS_ACTIVE | TS_MODE(2));
    g_assert_cmphex(qtest_readl(qts, FUNNEL + TS_CONTROL), ==, width);
    qtest_writel(qts, FUNNEL, ACTIVE);
    /* no core clock, no packets of its own, nobody to share with */
    for (unsigned mode = 0; mode < 8; mode++) {
        qtest_writel(qts, FUNNEL + TS_CONTROL, TS_ACTIVE);
        qtest_writel(qts, FUNNEL + TS_CONTROL, TS_ACTIVE | TS_MODE(mode) |
                     TS_ENABLE);
        g_assert_cmphex(qtest_readl(qts, FUNNEL + TS_CONTROL), ==,
                        width | TS_ACTIVE | (mode <= 2 ? TS_MODE(mode) : 0));
    }
    qtest_writel(qts, FUNNEL + TS_CONTROL, TS_ACTIVE | TS_MODE(2) | TS_COUNT |
                 TS_RESET);
    for (unsigned i = 0; i < 2; i++) {
        qtest_writel(qts, ENCODER(i), ACTIVE);
        qtest_writel(qts, ENCODER(i) + TS_CONTROL, TS_ACTIVE | TS_MODE(4));
        g_assert_cmphex(qtest_readl(qts, ENCODER(i) + TS_CONTROL), ==,
                        16u << 24 | TS_ACTIVE | TS_MODE(4));
    }
    qtest_clock_step(qts, 0x12345);
    g_assert_cmphex(qtest_readl(qts, FUNNEL + TS_COUNTER_LOW), ==, 0x12345);
    g_assert_cmphex(qtest_readl(qts, FUNNEL + TS_COUNTER_HIGH), ==, 0);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmphex(qtest_readl(qts, ENCODER(i) + TS_COUNTER_LOW), ==,
                        0x2345);
    }
    qtest_writel(qts, FUNNEL, 0);
    g_assert_cmphex(qtest_readl(qts, FUNNEL + TS_CONTROL), ==, width);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0) + TS_COUNTER_LOW), ==, 0);
    qtest_quit(qts);
}

/* trTsEnable: packets have the extend bit and a timestamp of T bytes. */
static void test_timestamp_packets(void)
{
    g_autofree char *path = tmp_name("timestamps");
    g_autofree char *args =
        g_strdup_printf("-chardev file,id=t,path=%s " PROP("timestamp-width=9")
                        PROP("timestamp-mode=2") PROP("src-bits=8")
                        PROP("src-id=7"), path);
    QTestState *qts = start(",trace=on,trace-autostart=on,trace-chardev=t",
                            args);
    g_autofree uint8_t *data = NULL;
    const uint8_t *packet;
    gsize size;

    poll_control(qts, EMPTY, 0);
    /* header, srcID, timestamp; "1 + S + T" */
    settle(qts);
    g_assert_true(g_file_get_contents(path, (char **)&data, &size, NULL));
    /* N = 31 + T + S */
    g_assert_cmpuint(size, >, 31 + 2 + 1 + 1 + SESSION_MARK + 4);
    for (unsigned i = 0; i < 31 + 2 + 1; i++) {
        g_assert_cmphex(data[i], ==, 0);
    }
    g_assert_cmphex(data[34], ==, 0x80);
    packet = data + 35 + SESSION_MARK;
    g_assert_cmphex(packet[0] & 0xe0, ==, 0x80);
    g_assert_cmphex(packet[1], ==, 7);
    g_assert_cmphex(packet[2], ==, 0);
    g_assert_cmphex(packet[3], ==, 0);
    g_assert_cmphex(packet[4] & 0xf, ==, 0xf);
    qtest_quit(qts);
    g_unlink(path);
}

/*
 * Triggers
 */

static void test_trigger_registers(void)
{
    QTestState *qts = start_active("");

    warl(qts, TRIG_DBG, 0xffffffff, 0);
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned action = 0; action < 16; action++) {
            /* 0: none, 2: on, 3: off, 4: notify */
            bool legal = action >= 2 && action <= 4;

            warl(qts, TRIG_EXT_IN, action << (4 * i),
                 legal ? action << (4 * i) : 0);
            warl(qts, TRIG_EXT_OUT, action << (4 * i),
                 (action & 3) << (4 * i));
        }
    }
    qtest_quit(qts);

    qts = start_active(PROP("trigger-inputs=2") PROP("trigger-outputs=3"));
    warl(qts, TRIG_EXT_IN, 0x22222222, 0x22);
    warl(qts, TRIG_EXT_OUT, 0x33333333, 0x333);
    qtest_quit(qts);
}

static void trigger(QTestState *qts, unsigned input)
{
    const char *path = "/machine/trace-encoder0";

    qtest_set_irq_in(qts, path, "trigger-in", input, 1);
    settle(qts);
    qtest_set_irq_in(qts, path, "trigger-in", input, 0);
    settle(qts);
}

static bool is_tracing(QTestState *qts)
{
    return rd(qts, CONTROL) & TE_INST_TRACING;
}

static void test_trigger_in(void)
{
    QTestState *qts = start_active("");

    wr(qts, TRIG_EXT_IN, 0x40302);
    /* not enabled */
    set_control(qts, ENCODER(0), TE_TRIG_ENABLE);
    trigger(qts, 0);
    g_assert_false(is_tracing(qts));
    /* not allowed to */
    clear_control(qts, ENCODER(0), TE_TRIG_ENABLE);
    set_control(qts, ENCODER(0), ENABLE);
    trigger(qts, 0);
    g_assert_false(is_tracing(qts));

    set_control(qts, ENCODER(0), TE_TRIG_ENABLE);
    trigger(qts, 1);
    g_assert_false(is_tracing(qts));
    trigger(qts, 0);
    g_assert_true(is_tracing(qts));
    trigger(qts, 4);
    trigger(qts, 1);
    g_assert_true(is_tracing(qts));
    trigger(qts, 2);
    g_assert_false(is_tracing(qts));
    qtest_quit(qts);
}

/* The same with a reader: then the encoder is at work. */
static void test_trigger_in_traced(void)
{
    QTestState *qts = start(",trace=on,trace-chardev=t",
                            "-chardev file,id=t,path=/dev/null");

    set_control(qts, PIB, ACTIVE);
    set_control(qts, PIB, ENABLE);
    set_control(qts, FUNNEL, ACTIVE);
    set_control(qts, FUNNEL, ENABLE);
    wr(qts, CONTROL, ACTIVE);
    wr(qts, TRIG_EXT_IN, 0x432);
    set_control(qts, ENCODER(0), ENABLE | TE_TRIG_ENABLE);
    settle(qts);
    for (int i = 0; i < 3; i++) {
        g_assert_false(is_tracing(qts));
        g_assert_cmphex(rd(qts, CONTROL) & EMPTY, !=, 0);
        trigger(qts, 0);
        g_assert_true(is_tracing(qts));
        poll_control(qts, EMPTY, 0);
        trigger(qts, 2);
        trigger(qts, 0);
        g_assert_cmphex(rd(qts, CONTROL) & EMPTY, ==, 0);
        trigger(qts, 1);
        g_assert_false(is_tracing(qts));
        poll_control(qts, EMPTY, EMPTY);
    }
    qtest_quit(qts);
}

/* Pulses of output @n, as the trace event reports them */
static unsigned pulses(const char *log, unsigned n)
{
    g_autofree char *text = NULL;
    g_autofree char *line = g_strdup_printf("hart 0: trigger output %u\n", n);
    unsigned count = 0;

    if (g_file_get_contents(log, &text, NULL, NULL)) {
        for (char *p = strstr(text, line); p; p = strstr(p + 1, line)) {
            count++;
        }
    }
    return count;
}

/* "Start trace transition ... will fire the trigger" */
static void test_trigger_out(void)
{
#ifdef CONFIG_TRACE_LOG
    g_autofree char *log = tmp_name("trigger-out");
    g_autofree char *args =
        g_strdup_printf("-trace riscv_trace_encoder_trigger_out -D %s", log);
    QTestState *qts = start_active(args);

    /* 0: start, 3: stop, 5: both */
    wr(qts, TRIG_EXT_OUT, 0x302001);
    wr(qts, TRIG_EXT_IN, 0x32);
    set_control(qts, ENCODER(0), ENABLE | TE_TRIG_ENABLE);
#define COUNTS(c0, c3, c5) do {                         \
        g_assert_cmpuint(pulses(log, 0), ==, c0);       \
        g_assert_cmpuint(pulses(log, 3), ==, c3);       \
        g_assert_cmpuint(pulses(log, 5), ==, c5);       \
        g_assert_cmpuint(pulses(log, 1), ==, 0);        \
    } while (0)

    COUNTS(0, 0, 0);
    set_control(qts, ENCODER(0), TE_INST_TRACING);
    COUNTS(1, 0, 1);
    set_control(qts, ENCODER(0), TE_INST_TRACING);
    COUNTS(1, 0, 1);
    clear_control(qts, ENCODER(0), TE_INST_TRACING);
    COUNTS(1, 1, 2);
    trigger(qts, 0);
    COUNTS(2, 1, 3);
    trigger(qts, 1);
    COUNTS(2, 2, 4);
#undef COUNTS
    qtest_quit(qts);
    g_unlink(log);
#else
    g_test_skip("needs the trace backend log");
#endif
}

/*
 * Sequences
 */

/* "Reset and Discovery" and "Enabling and Disabling", as a tool does them */
static void test_sequence(void)
{
    static const unsigned zeroed[] = {
        INST_FEATURES, INST_FILTERS, DATA_CONTROL, DATA_FILTERS, TRIG_DBG,
        TRIG_EXT_IN, TRIG_EXT_OUT, TS_CONTROL,
    };
    QTestState *qts = start(",trace=on,trace-chardev=t",
                            "-chardev file,id=t,path=/dev/null "
                            PROP("implicit-return=on")
                            PROP("timestamp-width=40")
                            PROP("timestamp-mode=2"));

    set_control(qts, PIB, ACTIVE);
    set_control(qts, PIB, ENABLE);
    set_control(qts, FUNNEL, ACTIVE);
    set_control(qts, FUNNEL, ENABLE);
    for (int i = 0; i < 2; i++) {
        wr(qts, CONTROL, 0);
        poll_control(qts, ACTIVE, 0);
        wr(qts, CONTROL, ACTIVE);
        poll_control(qts, ACTIVE, ACTIVE);
        g_assert_cmphex(rd(qts, CONTROL) & ENABLE, ==, 0);
        for (unsigned k = 0; k < ARRAY_SIZE(zeroed); k++) {
            wr(qts, zeroed[k], 0);
        }
        g_assert_cmphex(rd(qts, INST_FEATURES), ==, FEATURES_DEFAULTS);
        g_assert_cmphex(rd(qts, TS_CONTROL), ==, 40u << 24);
        /* Linux: enable, mode, tracing, each with its own write */
        set_control(qts, ENCODER(0), ENABLE);
        poll_control(qts, ENABLE, ENABLE);
        set_control(qts, ENCODER(0), 6u << 4);
        g_assert_cmphex(rd(qts, CONTROL) & TE_INST_MODE, ==, 6u << 4);
        set_control(qts, ENCODER(0), TE_INST_TRACING);
        poll_control(qts, TE_INST_TRACING, TE_INST_TRACING);
        poll_control(qts, EMPTY, 0);

        clear_control(qts, ENCODER(0), TE_INST_TRACING);
        poll_control(qts, TE_INST_TRACING, 0);
        clear_control(qts, ENCODER(0), ENABLE);
        poll_control(qts, ENABLE | EMPTY, EMPTY);
    }
    /* Reset while it runs */
    set_control(qts, ENCODER(0), ENABLE);
    set_control(qts, ENCODER(0), TE_INST_TRACING);
    poll_control(qts, EMPTY, 0);
    wr(qts, CONTROL, 0);
    poll_control(qts, ACTIVE | ENABLE | TE_INST_TRACING | EMPTY, EMPTY);
    qtest_quit(qts);
}

/* The support packets of @stream: their ioptions, LSB of all first. */
static unsigned supports(const char *path, uint8_t *ioptions, unsigned max)
{
    g_autofree uint8_t *data = NULL;
    unsigned n = 0;
    gsize size;

    g_assert_true(g_file_get_contents(path, (char **)&data, &size, NULL));
    for (gsize pos = 0; pos < size; pos += 1 + (data[pos] & 0x1f)) {
        unsigned len = data[pos] & 0x1f;
        uint32_t word = 0;

        if (len == 0) {
            continue;
        }
        g_assert_cmpuint(pos + len, <, size);
        for (unsigned i = 0; i < 4; i++) {
            /* sign compression */
            word |= (i < len ? data[pos + 1 + i] :
                     data[pos + len] & 0x80 ? 0xff : 0) << (8 * i);
        }
        /* format 3, subformat 3 */
        g_assert_cmphex(word & 0xf, ==, 0xf);
        g_assert_cmpuint(n, <, max);
        /* ienable, encoder_mode (1 bit), qual_status (2 bits) */
        ioptions[n++] = (word >> 8) & 0x3f;
    }
    return n;
}

/*
 * "issued by the encoder whenever the encoder configuration is changed": a
 * support packet for each change of a mode while tracing, and for no other
 * write
 */
static void test_modes_while_tracing(void)
{
    g_autofree char *path = tmp_name("modes");
    g_autofree char *args = g_strdup_printf("-chardev file,id=t,path=%s",
                                            path);
    QTestState *qts = start(",trace=on,trace-autostart=on,trace-modes=baseline,"
                            "trace-chardev=t", args);
    uint8_t ioptions[16];

    poll_control(qts, EMPTY, 0);
    settle(qts);
    g_assert_cmpuint(supports(path, ioptions, 16), ==, 1);
    g_assert_cmphex(ioptions[0], ==, 0);

    wr(qts, INST_FEATURES, 1 << 0);     /* full address: ioptions[2] */
    settle(qts);
    g_assert_cmpuint(supports(path, ioptions, 16), ==, 2);
    g_assert_cmphex(ioptions[1], ==, 0x04);

    wr(qts, INST_FEATURES, 1 << 0);
    wr(qts, INST_FILTERS, 1);
    wr(qts, FILTER(0), 1);
    set_control(qts, ENCODER(0), TE_TRIG_ENABLE);
    settle(qts);
    g_assert_cmpuint(supports(path, ioptions, 16), ==, 2);

    /* return, sequential jump, branch prediction, jump target cache */
    wr(qts, INST_FEATURES, 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5);
    settle(qts);
    g_assert_cmpuint(supports(path, ioptions, 16), ==, 3);
    g_assert_cmphex(ioptions[2], ==, 0x39);
    qtest_quit(qts);
    g_unlink(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    qtest_add_func("/riscv-trace-encoder-units/filters", test_filters);
    qtest_add_func("/riscv-trace-encoder-units/comparators", test_comparators);
    qtest_add_func("/riscv-trace-encoder-units/timestamp", test_timestamp);
    qtest_add_func("/riscv-trace-encoder-units/timestamp-shared",
                   test_timestamp_shared);
    qtest_add_func("/riscv-trace-encoder-units/timestamp-packets",
                   test_timestamp_packets);
    qtest_add_func("/riscv-trace-encoder-units/trigger-registers",
                   test_trigger_registers);
    qtest_add_func("/riscv-trace-encoder-units/trigger-in", test_trigger_in);
    qtest_add_func("/riscv-trace-encoder-units/trigger-in-traced",
                   test_trigger_in_traced);
    qtest_add_func("/riscv-trace-encoder-units/trigger-out", test_trigger_out);
    qtest_add_func("/riscv-trace-encoder-units/sequence", test_sequence);
    qtest_add_func("/riscv-trace-encoder-units/modes-while-tracing",
                   test_modes_while_tracing);
    return g_test_run();
}
