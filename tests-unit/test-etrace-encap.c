/*
 * Unformatted Trace & Diagnostic Data Packet Encapsulation 1.0
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-test.h"
#include "hw/trace/etrace-encap.h"

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
    g_test_add_func("/etrace/encap/parse-null", test_parse_null);
    g_test_add_func("/etrace/encap/parse-cut-off", test_parse_cut_off);
    g_test_add_func("/etrace/encap/align", test_align);
    g_test_add_func("/etrace/encap/find-align", test_find_align);
    g_test_add_func("/etrace/encap/find-align-not-in-packet",
                    test_find_align_not_in_packet);
    g_test_add_func("/etrace/encap/stream", test_stream);
    return g_test_run();
}
