/*
 * gdb's remote serial protocol: packets, and what is wrong with them
 *
 * What gdb gets to see of a trace is compared with QEMU's own log in
 * tests/tcg/riscv64/gdbserver.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "gdb/replay-private.h"
#include "gdb/rsp.h"

/* Put @text; only its last byte may be news. */
static RspEvent put(RspReader *r, const char *text)
{
    for (; text[1]; text++) {
        check_cmpint(rsp_reader_put(r, *text), ==, RSP_NOTHING);
    }
    return rsp_reader_put(r, *text);
}

static void expect_packet(RspReader *r, const char *text, const char *data)
{
    check_cmpint(put(r, text), ==, RSP_PACKET);
    check_cmpstr(r->data->str, ==, data);
}

static void test_packets(void)
{
    RspReader r;

    rsp_reader_init(&r);
    expect_packet(&r, "$#00", "");
    expect_packet(&r, "$g#67", "g");
    expect_packet(&r, "$m800002a8,4#90", "m800002a8,4");
    /* what is between packets means nothing */
    expect_packet(&r, "x#\n$?#3f", "?");
    /* digits in capital letters, too */
    expect_packet(&r, "$z#7A", "z");
    rsp_reader_clear(&r);
}

static void test_signs(void)
{
    RspReader r;

    rsp_reader_init(&r);
    check_cmpint(put(&r, "+"), ==, RSP_ACK);
    check_cmpint(put(&r, "-"), ==, RSP_NAK);
    check_cmpint(put(&r, "\003"), ==, RSP_INTERRUPT);
    /* within a packet they are data */
    expect_packet(&r, "$+-\003#5b", "+-\003");
    rsp_reader_clear(&r);
}

static void test_damaged(void)
{
    static const char *const texts[] = {
        "$g#66", "$g#76", "$g#6x", "$g#x7", "$h#67", "$gg#67",
    };
    RspReader r;

    rsp_reader_init(&r);
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        check_cmpint(put(&r, texts[i]), ==, RSP_DAMAGED);
        expect_packet(&r, "$g#67", "g");
    }
    /* the end of one was lost */
    expect_packet(&r, "$abc$g#67", "g");
    rsp_reader_clear(&r);
}

/* '}' and the byte with bit 5 inverted; both count */
static void test_escapes(void)
{
    g_autoptr(GString) out = g_string_new(NULL);
    RspReader r;

    rsp_reader_init(&r);
    expect_packet(&r, "$}\003#80", "#");
    expect_packet(&r, "$a}]b#9d", "a}b");
    rsp_put_packet(out, "a$#}*b", 6);
    check_cmpstr(out->str, ==, "$a}\004}\003}]}\nb#25");
    expect_packet(&r, out->str, "a$#}*b");
    rsp_reader_clear(&r);
}

/* Every byte comes back as it went. */
static void test_round_trip(void)
{
    g_autoptr(GString) out = g_string_new(NULL);
    char data[512];
    RspReader r;

    for (unsigned i = 0; i < sizeof(data); i++) {
        data[i] = i * 7;
    }
    rsp_put_packet(out, data, sizeof(data));
    rsp_reader_init(&r);
    for (gsize i = 0; i < out->len; i++) {
        check_cmpint(rsp_reader_put(&r, out->str[i]), ==,
                     i + 1 < out->len ? RSP_NOTHING : RSP_PACKET);
    }
    g_assert_cmpmem(r.data->str, r.data->len, data, sizeof(data));
    rsp_reader_clear(&r);
}

/* No more is kept than there may be, and what follows is taken again. */
static void test_too_long(void)
{
    g_autofree char *data = g_strnfill(RSP_MAX_DATA + 1, 'a');
    g_autoptr(GString) out = g_string_new(NULL);
    RspReader r;

    rsp_reader_init(&r);
    rsp_put_packet(out, data, RSP_MAX_DATA);
    check_cmpint(put(&r, out->str), ==, RSP_PACKET);
    g_string_truncate(out, 0);
    rsp_put_packet(out, data, RSP_MAX_DATA + 1);
    check_cmpint(put(&r, out->str), ==, RSP_TOO_LONG);
    check_cmpuint(r.data->len, ==, RSP_MAX_DATA);
    expect_packet(&r, "$g#67", "g");
    rsp_reader_clear(&r);
}

static void test_numbers(void)
{
    g_autoptr(GString) out = g_string_new(NULL);
    const char *p = "12aB,0000000000000000ffffffffffffffff;g";
    uint64_t value;

    check_true(rsp_get_number(&p, &value));
    check_cmphex(value, ==, 0x12ab);
    check_cmpint((uint8_t)*p++, ==, ',');
    check_true(rsp_get_number(&p, &value));
    check_cmphex(value, ==, UINT64_MAX);
    check_cmpint((uint8_t)*p++, ==, ';');
    check_false(rsp_get_number(&p, &value));
    p = "10000000000000000";
    check_false(rsp_get_number(&p, &value));
    rsp_put_value(out, 0x123456789abcdef0, 8);
    rsp_put_value(out, 0x1234, 4);
    rsp_put_hex(out, "\x00\xff", 2);
    check_cmpstr(out->str, ==, "f0debc9a78563412" "34120000" "00ff");
}

static void test_texts(void)
{
    g_autofree char *text = rsp_get_text("77686572650a");
    g_autofree char *none = rsp_get_text("");

    check_cmpstr(text, ==, "where\n");
    check_cmpstr(none, ==, "");
    check_true(!rsp_get_text("7"));
    check_true(!rsp_get_text("7x"));
    check_true(!rsp_get_text("77 8"));
}

#define LENGTH      40

/* What replay.h says of epochs, instruction by instruction */
static void check_epochs(const Replay *r)
{
    for (uint64_t i = 0; i <= LENGTH; i++) {
        unsigned epoch = replay_epoch(r, i), n = 0;
        const ReplayReport *all = (const ReplayReport *)r->reports->data;

        while (n < r->reports->len && all[n].at <= i) {
            n++;
        }
        check_cmpuint(epoch, ==, n);
        /* not before the last report, not after the second one to come */
        check_cmpuint(replay_not_before(r, epoch), ==, n ? all[n - 1].ns : 0);
        check_cmpuint(replay_not_after(r, epoch), ==,
                      n + 1 < r->reports->len ? all[n + 1].ns : UINT64_MAX);
    }
    for (uint64_t ns = 0; ns < 100; ns++) {
        uint64_t before = replay_before(r, ns), until = replay_until(r, ns);

        check_cmpuint(before, <=, LENGTH);
        check_cmpuint(until, <=, LENGTH);
        for (uint64_t i = 0; i < LENGTH; i++) {
            unsigned epoch = replay_epoch(r, i);

            check_cmpuint(i < before, ==, replay_not_after(r, epoch) < ns);
            check_cmpuint(i < until, ==, replay_not_before(r, epoch) <= ns);
        }
    }
}

static void test_epochs(void)
{
    for (unsigned round = 0; round < 200; round++) {
        Replay r = { .length = LENGTH };
        ReplayReport report = { 0 };

        r.reports = g_array_new(FALSE, FALSE, sizeof(ReplayReport));
        for (int n = g_test_rand_int_range(0, 12); n > 0; n--) {
            report.at += g_test_rand_int_range(0, 9);
            report.at = MIN(report.at, LENGTH);
            report.ns += g_test_rand_int_range(1, 12);
            g_array_append_val(r.reports, report);
        }
        check_epochs(&r);
        g_array_unref(r.reports);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/gdb/packets", test_packets);
    g_test_add_func("/gdb/signs", test_signs);
    g_test_add_func("/gdb/damaged", test_damaged);
    g_test_add_func("/gdb/escapes", test_escapes);
    g_test_add_func("/gdb/round-trip", test_round_trip);
    g_test_add_func("/gdb/too-long", test_too_long);
    g_test_add_func("/gdb/numbers", test_numbers);
    g_test_add_func("/gdb/texts", test_texts);
    g_test_add_func("/gdb/epochs", test_epochs);
    return g_test_run();
}
