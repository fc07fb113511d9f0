/*
 * Unformatted Trace & Diagnostic Data Packet Encapsulation 1.0
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-test.h"
#include "hw/trace/etrace/packet-plain.h"

static void set_params(ETraceParams *p, unsigned src_bits, uint16_t src_id,
                       unsigned ts_bytes)
{
    etrace_params_init(p, 64);
    p->src_bits = src_bits;
    p->src_id = src_id;
    p->ts_bytes = ts_bytes;
}

/* Header: length in bits 4:0, flow 0, extend 0; then srcID, then payload. */
static void test_wrap(void)
{
    static const struct {
        unsigned src_bits;
        uint16_t src_id;
        const char *payload, *bytes;
    } cases[] = {
        { 0, 0, "5f", "01 5f" },
        { 0, 7, "5f", "01 5f" },
        { 8, 3, "73 00 00 00 40", "05 03 73 00 00 00 40" },
        { 16, 0x1234, "73 00 00 00 40", "05 34 12 73 00 00 00 40" },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        uint8_t payload[ETRACE_PACKET_MAX], out[ETRACE_ENCAP_MAX];
        g_autofree char *hex = NULL;
        ETraceParams params;
        size_t len = etrace_test_bytes(cases[i].payload, payload,
                                       sizeof(payload));

        set_params(&params, cases[i].src_bits, cases[i].src_id, 0);
        len = etrace_encap_wrap(&params, payload, len, out);
        hex = etrace_test_hex(out, len);
        g_assert_cmpstr(hex, ==, cases[i].bytes);
    }
}

static void test_wrap_longest(void)
{
    uint8_t payload[ETRACE_PACKET_MAX] = { 1, 2, 3 };
    uint8_t out[ETRACE_ENCAP_MAX];
    ETraceParams params;

    set_params(&params, 16, 0xffff, 8);
    g_assert_cmpuint(etrace_encap_wrap(&params, payload, 31, out), ==, 34);
    g_assert_cmphex(out[0], ==, 31);
    g_assert_cmpmem(out + 3, 31, payload, 31);
}

static void test_parse(void)
{
    uint8_t buf[16];
    ETraceEncapPacket pkt;
    ETraceParams params;
    size_t len;

    /* flow 2, extend: srcID 16 bits, timestamp 3 bytes, payload 2 bytes */
    set_params(&params, 16, 0, 3);
    len = etrace_test_bytes("c2 34 12 aa bb cc 5f 01 99", buf, sizeof(buf));
    g_assert(etrace_encap_parse(&params, buf, len, &pkt) ==
             ETRACE_ENCAP_PACKET);
    g_assert_cmpuint(pkt.size, ==, 8);
    g_assert_cmphex(pkt.src_id, ==, 0x1234);
    g_assert_cmpuint(pkt.flow, ==, 2);
    g_assert_cmpuint(pkt.len, ==, 2);
    g_assert(pkt.payload == buf + 6);

    /* the same source, without a timestamp */
    len = etrace_test_bytes("02 34 12 5f 01", buf, sizeof(buf));
    g_assert(etrace_encap_parse(&params, buf, len, &pkt) ==
             ETRACE_ENCAP_PACKET);
    g_assert_cmpuint(pkt.size, ==, 5);
    g_assert_cmpuint(pkt.flow, ==, 0);
    g_assert(pkt.payload == buf + 3);
}

/*
 * A srcID that is no whole bytes, timestamp and type, transmitted one after
 * the other, LSB first; what is no whole byte of srcID counts as payload.
 */
static const struct {
    const char *what;
    unsigned src_bits, ts_bytes;
    bool type;
    ETraceEncapPacket pkt;
    const char *payload, *bytes;
} whole[] = {
    /* srcID in bits 0-5, payload (33 bits and a sign) in 6-39, sign in 40 */
    { "6 bits", 6, 0, false, { .src_id = 1 },
      "32 04 00 00 02", "06 81 0c 01 00 80 00" },
    /* srcID in bits 0-11, type 12, payload in 13-19 */
    { "12 bits, type data", 12, 0, true, { .src_id = 0xabc, .data = true },
      "22", "02 bc 5a 04" },
    { "12 bits, type instruction", 12, 0, true, { .src_id = 0xabc },
      "22", "02 bc 4a 04" },
    /* srcID in bits 0-3, timestamp 4-19, payload in 20-23 */
    { "4 bits, timestamp", 4, 2, false,
      { .src_id = 5, .extend = true, .timestamp = 0xbeef },
      "02", "81 f5 ee 2b" },
    { "whole bytes, timestamp", 8, 4, false,
      { .src_id = 0x12, .extend = true, .timestamp = 0x01020304 },
      "02", "81 12 04 03 02 01 02" },
    { "flow 2", 8, 4, false, { .src_id = 0x12, .flow = 2 },
      "02", "41 12 02" },
    { "type data, sign", 0, 0, true, { .data = true }, "fe", "01 fd" },
    { "type instruction", 0, 0, true, { }, "1f", "01 3e" },
    /* type and 8 bits of which none is a repetition */
    { "no room for the sign", 0, 0, true, { }, "40", "02 80 00" },
    { "no room for the other sign", 0, 0, true, { }, "bf", "02 7e ff" },
    { "7 bits and type", 7, 0, true, { .src_id = 0x7f, .data = true },
      "5f 01", "03 ff 5f 01" },
    { "16 bits and type", 16, 8, true,
      { .src_id = 0x8001, .data = true, .extend = true,
        .timestamp = 0x8000000000000001 },
      "00", "81 01 80 01 00 00 00 00 00 00 80 01" },
};

static void test_whole(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(whole); i++) {
        uint8_t payload[ETRACE_PACKET_MAX], out[ETRACE_ENCAP_MAX];
        g_autofree char *hex = NULL, *back = NULL;
        ETraceEncapPacket in = whole[i].pkt, pkt;
        ETraceParams params;
        size_t size;

        g_test_message("%s", whole[i].what);
        set_params(&params, whole[i].src_bits, 0, whole[i].ts_bytes);
        params.data_width = whole[i].type ? 64 : 0;
        params.daddress_width = 64;
        g_assert_true(etrace_params_valid(&params));
        in.payload = payload;
        in.len = etrace_test_bytes(whole[i].payload, payload,
                                   sizeof(payload));
        size = etrace_encap_pack(&params, &in, out);
        hex = etrace_test_hex(out, size);
        g_assert_cmpstr(hex, ==, whole[i].bytes);

        for (size_t cut = 0; cut < size; cut++) {
            g_assert(etrace_encap_parse(&params, out, cut, &pkt) ==
                     ETRACE_ENCAP_MORE);
        }
        g_assert(etrace_encap_parse(&params, out, size, &pkt) ==
                 ETRACE_ENCAP_PACKET);
        g_assert_cmpuint(pkt.size, ==, size);
        g_assert_cmphex(pkt.src_id, ==, in.src_id);
        g_assert_cmpuint(pkt.flow, ==, in.flow);
        g_assert_cmpuint(pkt.extend, ==, in.extend);
        g_assert_cmphex(pkt.timestamp, ==, in.timestamp);
        g_assert_cmpuint(pkt.data, ==, in.data);
        back = etrace_test_hex(pkt.payload, pkt.len);
        g_assert_cmpstr(back, ==, whole[i].payload);
    }
}

/* Seven bits of srcID and a type are a byte: there is no payload. */
static void test_only_odd_bits(void)
{
    ETraceEncapPacket pkt;
    ETraceParams params;
    uint8_t buf[] = { 0x01, 0x81 };

    set_params(&params, 7, 0, 0);
    params.data_width = 64;
    g_assert(etrace_encap_parse(&params, buf, 2, &pkt) ==
             ETRACE_ENCAP_PACKET);
    g_assert_cmphex(pkt.src_id, ==, 1);
    g_assert_true(pkt.data);
    g_assert_cmpuint(pkt.len, ==, 0);
}

/*
 * Whatever stands in front of a payload, at least one bit of it is sent: also
 * of one that is all 0, the first entry of the jump target cache where format
 * 0 has no other subformat. The short way sends the bytes of the other.
 */
static void test_plain(void)
{
    const ETracePlain plain[] = {
        etrace_plain_jump(0, 5, 0, 0, 0),
        etrace_plain_jump(0, 5, 3, 0, 0),
        etrace_plain_jump(1, 5, 0, 0, 0),
        etrace_plain_jump(0, 5, 0, 3, 0),
        etrace_plain_address(0, 0, 0),
        etrace_plain_address(0, 0, -1),
        etrace_plain_address(31, 0x7fffffff, INT64_MIN),
        etrace_plain_count_address(0, 0, false, 0),
        etrace_plain_count_address(0, 0, true, 0),
        etrace_plain_count(0, 0),
        etrace_plain_full_map(0x7fffffff),
    };

    for (unsigned i = 0; i < 17 * 2 * ARRAY_SIZE(plain); i++) {
        unsigned src_bits = i / 2 % 17;
        ETracePlain p = plain[i / (17 * 2)];
        uint8_t payload[ETRACE_PACKET_PLAIN_MAX];
        uint8_t want[ETRACE_ENCAP_MAX], out[ETRACE_PLAIN_WRAP_MAX];
        ETracePlainHead head;
        ETraceEncapPacket pkt;
        ETraceParams params;
        size_t len, size;

        set_params(&params, src_bits, (1u << src_bits) - 1, 0);
        params.data_width = i % 2 ? 64 : 0;
        head = etrace_plain_head(&params);
        len = etrace_plain_store(payload, p);
        size = etrace_encap_wrap(&params, payload, len, want);
        g_assert_cmpmem(out, etrace_plain_wrap(out, &head, p), want, size);
        g_assert(etrace_encap_parse(&params, out, size, &pkt) ==
                 ETRACE_ENCAP_PACKET);
        g_assert_cmpmem(pkt.payload, pkt.len, payload, len);
    }
}

/* Every payload that parameters allow comes through every framing. */
static void test_whole_random(void)
{
    for (int i = 0; i < 100000; i++) {
        uint8_t payload[ETRACE_PACKET_MAX], out[ETRACE_ENCAP_MAX];
        ETraceEncapPacket in = { .payload = payload }, pkt;
        ETraceParams params;
        size_t size, max;

        set_params(&params, g_test_rand_int_range(0, 17), 0,
                   g_test_rand_int_range(0, 9));
        params.data_width = g_test_rand_bit() ? 64 : 0;
        max = (248 - etrace_encap_odd_bits(&params)) / 8;
        in.len = g_test_rand_int_range(1, max + 1);
        for (size_t j = 0; j < in.len; j++) {
            payload[j] = g_test_rand_int();
        }
        /* the shortest form: the last byte is not all sign */
        payload[in.len - 1] = in.len == 1 ? payload[0] : 0x3c;
        in.src_id = g_test_rand_int() & ((1u << params.src_bits) - 1);
        in.flow = g_test_rand_int_range(0, 4);
        in.data = params.data_width && g_test_rand_bit();
        in.extend = params.ts_bytes && g_test_rand_bit();
        if (in.extend) {
            in.timestamp = (uint32_t)g_test_rand_int();
            in.timestamp &= UINT64_MAX >> (64 - 8 * params.ts_bytes);
        }
        size = etrace_encap_pack(&params, &in, out);
        g_assert(etrace_encap_parse(&params, out, size, &pkt) ==
                 ETRACE_ENCAP_PACKET);
        g_assert_cmpuint(pkt.size, ==, size);
        g_assert_cmphex(pkt.src_id, ==, in.src_id);
        g_assert_cmpuint(pkt.flow, ==, in.flow);
        g_assert_cmpuint(pkt.extend, ==, in.extend);
        g_assert_cmphex(pkt.timestamp, ==, in.timestamp);
        g_assert_cmpuint(pkt.data, ==, in.data);
        g_assert_cmpmem(pkt.payload, pkt.len, payload, in.len);
    }
}

static void test_parse_null(void)
{
    static const struct {
        uint8_t byte, flow;
        bool align;
    } nulls[] = {
        { 0x00, 0, false }, { 0x80, 0, true }, { 0x20, 1, false },
        { 0xe0, 3, true },
    };
    ETraceParams params;

    set_params(&params, 16, 0, 8);
    for (unsigned i = 0; i < ARRAY_SIZE(nulls); i++) {
        ETraceEncapPacket pkt;

        g_assert(etrace_encap_parse(&params, &nulls[i].byte, 1, &pkt) ==
                 ETRACE_ENCAP_NULL);
        g_assert_cmpuint(pkt.size, ==, 1);
        g_assert_cmpuint(pkt.flow, ==, nulls[i].flow);
        g_assert_cmpuint(pkt.align, ==, nulls[i].align);
    }
}

/* Buffers of exactly the length, for the address sanitizer to watch */
static void test_parse_cut_off(void)
{
    uint8_t whole[16];
    ETraceParams params;
    size_t len = etrace_test_bytes("83 34 12 aa bb cc 01 02 03", whole,
                                   sizeof(whole));

    set_params(&params, 16, 0, 3);
    for (size_t cut = 0; cut <= len; cut++) {
        g_autofree uint8_t *buf = g_memdup2(whole, cut);
        ETraceEncapPacket pkt;

        g_assert(etrace_encap_parse(&params, buf, cut, &pkt) ==
                 (cut == len ? ETRACE_ENCAP_PACKET : ETRACE_ENCAP_MORE));
    }
}

/* N null.idle and one null.alignment, N = 31 + T + S */
static void test_align(void)
{
    static const struct {
        unsigned src_bits, ts_bytes, n;
    } cases[] = {
        { 0, 0, 31 }, { 8, 0, 32 }, { 16, 8, 41 },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        uint8_t out[ETRACE_ALIGN_MAX];
        ETraceParams params;

        set_params(&params, cases[i].src_bits, 0, cases[i].ts_bytes);
        g_assert_cmpuint(etrace_encap_align(&params, out), ==,
                         cases[i].n + 1);
        for (unsigned j = 0; j < cases[i].n; j++) {
            g_assert_cmphex(out[j], ==, 0x00);
        }
        g_assert_cmphex(out[cases[i].n], ==, 0x80);
    }
}

/* "null packets ... idle for a 0 and alignment for a 1 ... LSB first" */
static void test_session_mark(void)
{
    const uint64_t id = 0x8000000000000005;
    uint8_t buf[ETRACE_ALIGN_MAX + ETRACE_SESSION_MARK_SIZE + 1];
    ETraceEncapPacket pkt;
    ETraceParams params;
    uint8_t *mark;
    uint64_t got;
    size_t n;

    set_params(&params, 8, 0, 5);
    n = etrace_encap_align(&params, buf);
    mark = buf + n;
    etrace_encap_mark_session(id, mark);
    n += ETRACE_SESSION_MARK_SIZE;
    buf[n] = 0x01;              /* the first packet */
    for (unsigned i = 0; i < ETRACE_SESSION_MARK_SIZE; i++) {
        bool bit = i == 0 || i == 8 || i == 10 || i >= 71;

        g_assert_cmphex(mark[i], ==, bit ? 0x80 : 0x00);
        g_assert_cmpint(etrace_encap_parse(&params, mark + i, 1, &pkt), ==,
                        ETRACE_ENCAP_NULL);
    }
    g_assert_cmpint(etrace_encap_find_mark(&params, buf, n + 1, &got), ==,
                    ETRACE_MARK_FOUND);
    g_assert_cmphex(got, ==, id);
    for (size_t i = 0; i < n; i++) {
        g_assert_cmpint(etrace_encap_find_mark(&params, buf, i, &got), ==,
                        ETRACE_MARK_MORE);
    }
    /* another source has shorter timestamps */
    set_params(&params, 0, 0, 0);
    g_assert_cmpint(etrace_encap_find_mark(&params, buf, n + 1, &got), ==,
                    ETRACE_MARK_FOUND);
    set_params(&params, 8, 0, 5);

    mark[1] = 0x80;             /* another version */
    g_assert_cmpint(etrace_encap_find_mark(&params, buf, n + 1, &got), ==,
                    ETRACE_MARK_NONE);
    mark[1] = 0x00;
    mark[20] = 0x01;            /* a packet */
    g_assert_cmpint(etrace_encap_find_mark(&params, buf, n + 1, &got), ==,
                    ETRACE_MARK_NONE);
    mark[20] = 0x00;
    buf[3] = 0x01;
    g_assert_cmpint(etrace_encap_find_mark(&params, buf, n + 1, &got), ==,
                    ETRACE_MARK_NONE);
}

static void test_find_align(void)
{
    uint8_t buf[200];
    ETraceParams params;
    size_t offset;

    set_params(&params, 8, 0, 0);       /* N is 32 */
    memset(buf, 0xff, sizeof(buf));
    g_assert_false(etrace_encap_find_align(&params, buf, sizeof(buf),
                                           &offset));
    g_assert_false(etrace_encap_find_align(&params, buf, 0, &offset));

    etrace_encap_align(&params, buf + 100);
    g_assert_true(etrace_encap_find_align(&params, buf, sizeof(buf),
                                          &offset));
    g_assert_cmpuint(offset, ==, 133);

    /* cut off before the alignment code */
    g_assert_false(etrace_encap_find_align(&params, buf, 132, &offset));
    /* one null byte too few */
    g_assert_false(etrace_encap_find_align(&params, buf + 101, 99, &offset));
    /* more of them do no harm */
    buf[99] = 0x00;
    buf[98] = 0x20;
    g_assert_true(etrace_encap_find_align(&params, buf, sizeof(buf),
                                          &offset));
    g_assert_cmpuint(offset, ==, 133);
}

/*
 * The longest run of zeros that a packet holds, with what looks like an
 * alignment code as its last byte, is not a synchronisation sequence.
 */
static void test_find_align_not_in_packet(void)
{
    uint8_t payload[ETRACE_PACKET_MAX] = { 0 };
    uint8_t buf[ETRACE_ENCAP_MAX + ETRACE_ALIGN_MAX];
    ETraceParams params;
    size_t offset, len;

    set_params(&params, 16, 0, 0);
    payload[30] = 0x80;
    len = etrace_encap_wrap(&params, payload, 31, buf);
    g_assert_cmpuint(len, ==, 34);
    g_assert_false(etrace_encap_find_align(&params, buf, len, &offset));

    /* A packet that ends in zeros lengthens the run of the real one. */
    payload[30] = 0;
    len = etrace_encap_wrap(&params, payload, 31, buf);
    len += etrace_encap_align(&params, buf + len);
    g_assert_true(etrace_encap_find_align(&params, buf, len, &offset));
    g_assert_cmpuint(offset, ==, len);
}

/*
 * Enter a stream of random packets anywhere: the first sequence found starts
 * a packet, and everything from there on is what was sent.
 */
static void test_stream(void)
{
    for (int round = 0; round < 2000; round++) {
        g_autoptr(GByteArray) stream = g_byte_array_new();
        g_autofree bool *starts = g_new0(bool, 20000);
        ETraceParams params;
        size_t from, offset, pos;

        set_params(&params, 8 * g_test_rand_int_range(0, 3), 0, 0);
        for (int i = 0; i < 50; i++) {
            uint8_t payload[ETRACE_PACKET_MAX] = { 0 };
            uint8_t out[ETRACE_ENCAP_MAX + ETRACE_ALIGN_MAX];
            size_t len = g_test_rand_int_range(1, 32);

            /* mostly null bytes */
            for (size_t j = 0; j < len; j++) {
                if (g_test_rand_int_range(0, 40) == 0) {
                    payload[j] = g_test_rand_int();
                } else {
                    payload[j] = g_test_rand_bit() ? 0x80 : 0x00;
                }
            }
            starts[stream->len] = true;
            if (g_test_rand_int_range(0, 10) == 0) {
                g_byte_array_append(stream, out,
                                    etrace_encap_align(&params, out));
                starts[stream->len] = true;
            }
            params.src_id = g_test_rand_bit() ? 0 : 0x80;
            g_byte_array_append(stream, out,
                                etrace_encap_wrap(&params, payload, len,
                                                  out));
        }
        starts[stream->len] = true;

        from = g_test_rand_int_range(0, stream->len);
        if (!etrace_encap_find_align(&params, stream->data + from,
                                     stream->len - from, &offset)) {
            continue;
        }
        for (pos = from + offset; pos < stream->len;) {
            ETraceEncapPacket pkt;

            g_assert_true(starts[pos]);
            g_assert(etrace_encap_parse(&params, stream->data + pos,
                                        stream->len - pos, &pkt) !=
                     ETRACE_ENCAP_MORE);
            /* the bytes of a synchronisation sequence are packets, too */
            while (pkt.payload == NULL && !pkt.align) {
                pos += pkt.size;
                g_assert(etrace_encap_parse(&params, stream->data + pos,
                                            stream->len - pos, &pkt) ==
                         ETRACE_ENCAP_NULL);
            }
            pos += pkt.size;
        }
        g_assert_cmpuint(pos, ==, stream->len);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/etrace/encap/wrap", test_wrap);
    g_test_add_func("/etrace/encap/wrap-longest", test_wrap_longest);
    g_test_add_func("/etrace/encap/parse", test_parse);
    g_test_add_func("/etrace/encap/whole", test_whole);
    g_test_add_func("/etrace/encap/whole-random", test_whole_random);
    g_test_add_func("/etrace/encap/only-odd-bits", test_only_odd_bits);
    g_test_add_func("/etrace/encap/plain", test_plain);
    g_test_add_func("/etrace/encap/parse-null", test_parse_null);
    g_test_add_func("/etrace/encap/parse-cut-off", test_parse_cut_off);
    g_test_add_func("/etrace/encap/align", test_align);
    g_test_add_func("/etrace/encap/session-mark", test_session_mark);
    g_test_add_func("/etrace/encap/find-align", test_find_align);
    g_test_add_func("/etrace/encap/find-align-not-in-packet",
                    test_find_align_not_in_packet);
    g_test_add_func("/etrace/encap/stream", test_stream);
    return g_test_run();
}
