/*
 * E-Trace data packets: what goes in comes out
 *
 * Bytes worked out by hand are in golden/data-*.txt.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-random.h"
#include "etrace-test.h"
#include "hw/trace/etrace/data-packet.h"

static void random_params(ETraceParams *p)
{
    etrace_params_init(p, g_test_rand_bit() ? 32 : 64);
    p->wire_format = g_test_rand_int_range(0, ETRACE_WIRE_MAX);
    p->data_width = 8 << g_test_rand_int_range(0, 5);
    p->daddress_width = p->wire_format == ETRACE_WIRE_1_1_1 ?
                        p->iaddress_width : g_test_rand_int_range(12, 65);
    p->lrid_width = g_test_rand_bit() ? g_test_rand_int_range(1, 9) : 0;
    p->dtype_width = g_test_rand_int_range(0, 5);
    p->doptions = g_test_rand_int_range(0, 3);
    g_assert_true(etrace_params_valid(p));
}

static uint64_t random_address(const ETraceParams *p,
                               const ETraceDataPacket *pkt)
{
    bool aligned = pkt->format != ETRACE_DATA_LOAD_UNALIGNED &&
                   pkt->format != ETRACE_DATA_STORE_UNALIGNED;
    unsigned width = p->daddress_width;
    uint64_t address = etrace_random_bits(width);

    if (pkt->diff) {
        /* a difference that the field holds */
        address = (int64_t)(address << (64 - width)) >> (64 - width);
    }
    return aligned ? address >> pkt->size << pkt->size : address;
}

/* Which values a packet carries (chapter 7's tables) */
static void random_values(const ETraceParams *p, ETraceDataPacket *pkt)
{
    bool no_address = p->doptions & ETRACE_DOPT_NO_ADDRESS;
    bool no_data = p->doptions & ETRACE_DOPT_NO_DATA;
    unsigned width = 8 << pkt->size;
    bool request = p->lrid_width && !no_data;

    switch (pkt->format) {
    case ETRACE_DATA_CSR:
        pkt->address = etrace_random_bits(12);
        if (!no_data) {
            pkt->data = etrace_random_bits(width);
            if (pkt->address >> 10 != 3) {
                pkt->operand = etrace_random_bits(width);
            }
        }
        return;
    case ETRACE_DATA_SPLIT_LOAD_DATA:
    case ETRACE_DATA_SPLIT_ATOMIC_DATA:
        pkt->lrid = etrace_random_bits(p->lrid_width);
        pkt->resp = g_test_rand_int_range(0, 4);
        if (pkt->resp != ETRACE_RESP_ERROR) {
            pkt->data = etrace_random_bits(width);
        }
        return;
    case ETRACE_DATA_ATOMIC:
        if (!no_data) {
            pkt->operand = etrace_random_bits(width);
            request |= pkt->subtype == ETRACE_ATOMIC_CAS_FAILURE;
            if (!request) {
                pkt->data = etrace_random_bits(width);
            } else if (pkt->subtype != ETRACE_ATOMIC_CAS_FAILURE) {
                pkt->lrid = etrace_random_bits(p->lrid_width);
            }
        }
        break;
    case ETRACE_DATA_LOAD:
    case ETRACE_DATA_LOAD_UNALIGNED:
        if (request && !no_address) {
            pkt->lrid = etrace_random_bits(p->lrid_width);
            break;
        }
        /* fall through */
    default:
        if (!no_data) {
            pkt->data = etrace_random_bits(width);
        }
        break;
    }
    if (!no_address) {
        pkt->address = random_address(p, pkt);
    }
}

/* False if the dice made no packet that there is. */
static bool random_packet(const ETraceParams *p, ETraceDataPacket *pkt)
{
    memset(pkt, 0, sizeof(*pkt));
    pkt->format = g_test_rand_int_range(0, 8);
    pkt->size = g_test_rand_int_range(0, 4);
    if (pkt->format == ETRACE_DATA_CSR) {
        pkt->size = p->iaddress_width == 64 ? 3 : 2;
    }
    if (pkt->format == ETRACE_DATA_CSR || pkt->format == ETRACE_DATA_ATOMIC) {
        pkt->subtype = g_test_rand_int_range(0, 10);
    }
    if (pkt->format <= ETRACE_DATA_STORE_UNALIGNED) {
        pkt->multi = g_test_rand_bit();
    }
    if (pkt->format != ETRACE_DATA_SPLIT_LOAD_DATA &&
        pkt->format != ETRACE_DATA_SPLIT_ATOMIC_DATA) {
        pkt->diff = g_test_rand_int_range(0, 4);
    }
    if (!etrace_data_packet_exists(p, pkt)) {
        return false;
    }
    random_values(p, pkt);
    if (!(p->doptions & ETRACE_DOPT_NO_DATA)) {
        etrace_data_packet_shorten(p, pkt);
    }
    return true;
}

static void same(const ETraceDataPacket *a, const ETraceDataPacket *b)
{
    g_assert_cmpuint(a->format, ==, b->format);
    g_assert_cmpuint(a->multi, ==, b->multi);
    g_assert_cmpuint(a->subtype, ==, b->subtype);
    g_assert_cmpuint(a->size, ==, b->size);
    g_assert_cmpuint(a->diff, ==, b->diff);
    g_assert_cmpuint(a->resp, ==, b->resp);
    g_assert_cmphex(a->lrid, ==, b->lrid);
    g_assert_cmphex(a->data, ==, b->data);
    g_assert_cmphex(a->operand, ==, b->operand);
    g_assert_cmphex(a->address, ==, b->address);
}

/* The response of a split atomic is read with the size of its request. */
static void note_request(ETraceDataSizes *sizes, const ETraceDataPacket *pkt)
{
    memset(sizes, 0, sizeof(*sizes));
    if (pkt->format == ETRACE_DATA_SPLIT_ATOMIC_DATA) {
        sizes->size[pkt->lrid] = pkt->size;
    }
}

static void test_random(void)
{
    unsigned packets = 0, kinds[ETRACE_WIRE_MAX][8] = { };

    for (int i = 0; i < 1000000; i++) {
        uint8_t buf[ETRACE_PACKET_MAX];
        ETraceDataPacket in, out;
        ETraceDataSizes sizes;
        ETraceParams params;
        size_t len;

        random_params(&params);
        if (!random_packet(&params, &in)) {
            continue;
        }
        note_request(&sizes, &in);
        len = etrace_data_packet_pack(&params, &sizes, &in, buf);
        g_assert_cmpuint(len, >=, 1);
        g_assert_cmpuint(len, <=, ETRACE_PACKET_MAX);
        g_assert_true(etrace_data_packet_unpack(&params, &sizes, buf, len,
                                                &out));
        same(&out, &in);
        packets++;
        kinds[params.wire_format][in.format]++;
    }
    g_assert_cmpuint(packets, >, 100000);
    /* Every format of every wire format; 2.1 has one kind of responses. */
    for (unsigned w = 0; w < ETRACE_WIRE_MAX; w++) {
        for (unsigned f = 0; f < 8; f++) {
            if (w == ETRACE_WIRE_2_1_DRAFT &&
                f == ETRACE_DATA_SPLIT_ATOMIC_DATA) {
                g_assert_cmpuint(kinds[w][f], ==, 0);
            } else {
                g_assert_cmpuint(kinds[w][f], >, 1000);
            }
        }
    }
}

/* Any bytes: no packet, or one that survives being packed again. */
static void test_fuzz(void)
{
    for (int i = 0; i < 500000; i++) {
        size_t len = g_test_rand_int_range(1, 34);
        g_autofree uint8_t *buf = g_malloc(len);
        uint8_t again[ETRACE_PACKET_MAX];
        ETraceDataPacket first, second;
        ETraceDataSizes sizes = { };
        ETraceParams params;
        size_t n;

        random_params(&params);
        memset(&sizes, g_test_rand_int_range(0, 4), sizeof(sizes));
        for (size_t j = 0; j < len; j++) {
            buf[j] = etrace_random_bits(8);
        }
        if (!etrace_data_packet_unpack(&params, &sizes, buf, len, &first)) {
            continue;
        }
        g_assert_true(etrace_data_packet_exists(&params, &first));
        n = etrace_data_packet_pack(&params, &sizes, &first, again);
        g_assert_true(etrace_data_packet_unpack(&params, &sizes, again, n,
                                                &second));
        same(&first, &second);
    }
}

#define DOPT_NO_ADDRESS  ETRACE_DOPT_NO_ADDRESS
#define DOPT_NO_DATA     ETRACE_DOPT_NO_DATA

static void test_reject(void)
{
    static const struct {
        const char *why, *hex;
        uint8_t wire_format, data_width, dtype_width, doptions;
    } bad[] = {
        { "no data trace", "00", .data_width = 0 },
        { "response of unified loads", "04", .data_width = 64 },
        { "response of unified atomics", "07", .data_width = 64 },
        { "CSR subtype 3", "1d", .data_width = 64 },
        { "CSR diff 2", "45", .data_width = 64 },
        { "atomic subtype 7 with data", "3e", .data_width = 64 },
        { "atomic subtype 7 in 1.1.1", "3e", .data_width = 64,
          .wire_format = ETRACE_WIRE_1_1_1, .doptions = DOPT_NO_DATA },
        { "no atomics", "06", .data_width = 64, .dtype_width = 3 },
        { "no CSRs", "05", .data_width = 64, .dtype_width = 2 },
        { "16 bytes", "20", .data_width = 128 },
        { "8 bytes, data_width 32", "18", .data_width = 32 },
        { "diff 2, data only", "40", .data_width = 64,
          .doptions = DOPT_NO_ADDRESS },
        { "neither address nor data", "00", .data_width = 64,
          .doptions = DOPT_NO_ADDRESS | DOPT_NO_DATA },
        { "2.1: subformat 0 of atomics and CSRs", "02", .data_width = 64,
          .wire_format = ETRACE_WIRE_2_1_DRAFT },
        { "2.1: response of unified loads", "03", .data_width = 64,
          .wire_format = ETRACE_WIRE_2_1_DRAFT },
        { "2.1: CAS failure, data only", "1e", .data_width = 64,
          .wire_format = ETRACE_WIRE_2_1_DRAFT, .doptions = DOPT_NO_ADDRESS },
        /* 3 + 2 + 1 + 64 bits are 9 bytes */
        { "10 bytes of address", "00 00 00 00 00 00 00 00 00 00",
          .data_width = 64, .doptions = DOPT_NO_DATA },
        { "bits behind the address", "00 00 00 00 00 00 00 00 40",
          .data_width = 64, .doptions = DOPT_NO_DATA },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        uint8_t buf[ETRACE_PACKET_MAX];
        size_t len = etrace_test_bytes(bad[i].hex, buf, sizeof(buf));
        ETraceDataSizes sizes = { };
        ETraceDataPacket pkt;
        ETraceParams params;

        etrace_params_init(&params, 64);
        params.wire_format = bad[i].wire_format;
        params.data_width = bad[i].data_width;
        params.daddress_width = 64;
        params.dtype_width = bad[i].dtype_width;
        params.doptions = bad[i].doptions;
        if (etrace_data_packet_unpack(&params, &sizes, buf, len, &pkt)) {
            g_error("accepted: %s (%s)", bad[i].why, bad[i].hex);
        }
    }
}

/* data_len, op_len: "upper bytes that are all the same value" are left out */
static void test_shorten(void)
{
    static const struct {
        uint8_t size;
        uint64_t data;
        uint8_t len;
    } cases[] = {
        { 0, 0, 0 }, { 0, 0xff, 0 }, { 1, 0x7f, 0 }, { 1, 0x80, 1 },
        { 1, 0xff80, 0 }, { 1, 0xff7f, 1 }, { 2, 0x00800000, 3 },
        { 2, 0xff800000, 2 }, { 2, 0xffffffff, 0 }, { 3, 0xffffffff, 4 },
        { 3, 0x7fffffff, 3 }, { 3, UINT64_MAX, 0 }, { 3, 1ull << 63, 7 },
    };
    ETraceParams params;

    etrace_params_init(&params, 64);
    params.data_width = 64;
    params.daddress_width = 64;
    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        ETraceDataPacket pkt = {
            .size = cases[i].size,
            .data = cases[i].data,
        };

        etrace_data_packet_shorten(&params, &pkt);
        g_assert_cmpuint(pkt.data_len, ==, cases[i].len);
        g_assert_cmpuint(pkt.op_len, ==, 0);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/etrace/data-packet/random", test_random);
    g_test_add_func("/etrace/data-packet/fuzz", test_fuzz);
    g_test_add_func("/etrace/data-packet/reject", test_reject);
    g_test_add_func("/etrace/data-packet/shorten", test_shorten);
    return g_test_run();
}
