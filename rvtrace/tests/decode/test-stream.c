/*
 * Trace streams: framing by encapsulation 1.0, and what is wrong with it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "trace/stream.h"

static bool known[65536];

static void init(Stream *s, const uint8_t *data, size_t len,
                 uint8_t src_bits, uint16_t src_id, uint8_t ts_bytes)
{
    StreamSources sources = {
        .params = {
            .src_bits = src_bits, .src_id = src_id, .ts_bytes = ts_bytes,
        },
        .known = src_bits ? known : NULL,
    };

    known[1] = known[2] = true;
    stream_init(s, data, 0, len, &sources);
}

static void expect_packet(Stream *s, size_t offset, size_t size,
                          const char *payload, size_t len)
{
    StreamItem item;

    check_cmpint(stream_next(s, &item), ==, STREAM_PACKET);
    check_cmpuint(item.offset, ==, offset);
    check_cmpuint(item.size, ==, size);
    g_assert_cmpmem(item.payload, item.len, payload, len);
}

static void expect(Stream *s, StreamEvent event, size_t offset, size_t size)
{
    StreamItem item;

    check_cmpint(stream_next(s, &item), ==, event);
    check_cmpuint(item.offset, ==, offset);
    check_cmpuint(item.size, ==, size);
}

/* header, payload; null.idle between packets is nothing */
static void test_one_source(void)
{
    static const uint8_t data[] = {
        0x02, 0xaa, 0xbb, 0x00, 0x00, 0x01, 0xcc,
    };
    Stream s;

    init(&s, data, sizeof(data), 0, 0, 0);
    expect_packet(&s, 0, 3, "\xaa\xbb", 2);
    expect_packet(&s, 5, 2, "\xcc", 1);
    expect(&s, STREAM_END, 7, 0);
    expect(&s, STREAM_END, 7, 0);
}

/* Packets of other sources are passed over. */
static void test_two_sources(void)
{
    static const uint8_t data[] = {
        0x01, 0x01, 0xaa, 0x01, 0x02, 0xbb, 0x01, 0x01, 0xcc,
    };
    Stream s;

    init(&s, data, sizeof(data), 8, 1, 0);
    expect_packet(&s, 0, 3, "\xaa", 1);
    expect_packet(&s, 6, 3, "\xcc", 1);
    expect(&s, STREAM_END, 9, 0);
    init(&s, data, sizeof(data), 8, 2, 0);
    expect_packet(&s, 3, 3, "\xbb", 1);
    expect(&s, STREAM_END, 9, 0);
}

/* "extend": T bytes of timestamp between srcID and payload */
static void test_timestamp(void)
{
    static const uint8_t data[] = {
        0x81, 0x01, 0x11, 0x22, 0xaa, 0x01, 0x01, 0xbb,
    };
    Stream s;

    init(&s, data, sizeof(data), 8, 1, 2);
    expect_packet(&s, 0, 5, "\xaa", 1);
    expect_packet(&s, 5, 3, "\xbb", 1);
}

static void test_align(void)
{
    uint8_t data[32 + 2] = { 0 };
    Stream s;

    data[31] = 0x80;
    data[32] = 0x01;
    data[33] = 0xaa;
    init(&s, data, sizeof(data), 0, 0, 0);
    expect(&s, STREAM_ALIGN, 31, 1);
    expect_packet(&s, 32, 2, "\xaa", 1);
}

/* A packet, 5 bytes that are none, a synchronisation sequence, a packet */
static void damaged(const uint8_t junk[5], bool lost)
{
    uint8_t data[3 + 5 + 33 + 3] = { 0x01, 0x01, 0xaa };
    StreamItem item;
    Stream s;

    memcpy(data + 3, junk, 5);
    data[3 + 5 + 32] = 0x80;
    memcpy(data + 3 + 5 + 33, "\x01\x01\xbb", 3);
    init(&s, data, sizeof(data), 8, 1, 0);
    expect_packet(&s, 0, 3, "\xaa", 1);
    if (lost) {
        expect(&s, STREAM_LOST, 3, 5 + 33);
    } else {
        check_cmpint(stream_next(&s, &item), !=, STREAM_LOST);
        return;
    }
    expect_packet(&s, 3 + 5 + 33, 3, "\xbb", 1);
    expect(&s, STREAM_END, sizeof(data), 0);
}

/* A source that does not exist */
static void test_unknown_source(void)
{
    damaged((const uint8_t[]) { 0x03, 0x07, 1, 2, 3 }, true);
    damaged((const uint8_t[]) { 0x03, 0x01, 1, 2, 3 }, false);
}

/* "extend must stay 0 when T = 0" */
static void test_extend(void)
{
    damaged((const uint8_t[]) { 0x83, 0x01, 1, 2, 3 }, true);
}

/* The stream ends inside of a packet. */
static void test_cut_off(void)
{
    static const uint8_t data[] = { 0x01, 0xaa, 0x05, 0xbb, 0xcc };
    Stream s;

    init(&s, data, sizeof(data), 0, 0, 0);
    expect_packet(&s, 0, 2, "\xaa", 1);
    expect(&s, STREAM_LOST, 2, 3);
    expect(&s, STREAM_END, 5, 0);
}

/* Only the part that was asked for */
static void test_part(void)
{
    static const uint8_t data[] = { 0xff, 0x01, 0xaa, 0xff };
    StreamSources sources = { 0 };
    Stream s;

    stream_init(&s, data, 1, 3, &sources);
    expect_packet(&s, 1, 2, "\xaa", 1);
    expect(&s, STREAM_END, 3, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/stream/one-source", test_one_source);
    g_test_add_func("/stream/two-sources", test_two_sources);
    g_test_add_func("/stream/timestamp", test_timestamp);
    g_test_add_func("/stream/align", test_align);
    g_test_add_func("/stream/unknown-source", test_unknown_source);
    g_test_add_func("/stream/extend", test_extend);
    g_test_add_func("/stream/cut-off", test_cut_off);
    g_test_add_func("/stream/part", test_part);
    return g_test_run();
}
