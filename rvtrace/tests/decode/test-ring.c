/*
 * Dumps of RAM sinks: order, and numbers of what is left
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "trace/ring.h"
#include "tests/fixtures/sb-build.h"

#define START   0x80001000u
#define SIZE    0x1000u

static ETraceParams params;

/* A packet of @n payload bytes, of source 0: no srcID */
static void put_packet(GByteArray *trace, uint8_t first, unsigned n)
{
    uint8_t payload[ETRACE_PACKET_MAX] = { first, 1 };
    uint8_t wrapped[ETRACE_ENCAP_MAX];
    size_t len = etrace_encap_pack(&params, &(ETraceEncapPacket) {
        /* with data trace, two thirds of them */
        .data = params.data_width && first % 3,
        .payload = payload,
        .len = n,
    }, wrapped);

    g_byte_array_append(trace, wrapped, len);
}

static void put_align(GByteArray *trace)
{
    uint8_t bytes[ETRACE_ALIGN_MAX];

    g_byte_array_append(trace, bytes, etrace_encap_align(&params, bytes));
}

/*
 * What a hart has put out: alignment every 50 packets, a word's worth of
 * padding at the end. Returns the number of packets.
 */
static unsigned make_trace(GByteArray *trace, size_t size)
{
    unsigned n = 0;

    while (trace->len < size) {
        if (n % 50 == 0) {
            put_align(trace);
        }
        put_packet(trace, 0x81 + 4 * n, 2 + n % 7);
        n++;
    }
    while (trace->len % 4) {
        g_byte_array_append(trace, (const uint8_t *)"", 1);
    }
    return n;
}

/* The ring of SIZE bytes that such a trace leaves, and where it ends in it */
static uint8_t *make_ring(const GByteArray *trace, size_t *end)
{
    uint8_t *ring = g_malloc(SIZE);

    memset(ring, 0xee, SIZE);
    for (size_t i = 0; i < trace->len; i++) {
        ring[i % SIZE] = trace->data[i];
    }
    *end = trace->len % SIZE;
    return ring;
}

static Sideband *make_sideband(GByteArray *sb, uint64_t bytes, uint64_t wp,
                               bool wrapped, uint64_t packets)
{
    GError *err = NULL;
    Sideband *s;

    sb_session(sb, 1, 1, 0);
    sb_params(sb, 0, &params);
    /* The last one counts. */
    sb_u64s(sb, ETRACE_SB_RAM, ETRACE_SB_ALL_HARTS, 5,
            (uint64_t)1, (uint64_t)START, (uint64_t)START + SIZE - 4,
            (uint64_t)START, (uint64_t)1);
    sb_u64s(sb, ETRACE_SB_RAM, ETRACE_SB_ALL_HARTS, 5,
            bytes, (uint64_t)START, (uint64_t)START + SIZE - 4,
            wp | wrapped, packets);
    s = sideband_parse(sb->data, sb->len, 0, &err);
    check_no_error(err);
    return s;
}

static unsigned count_packets(const Ring *ring)
{
    size_t pos = ring->begin;
    unsigned n = 0;

    while (pos < ring->size) {
        ETraceEncapPacket pkt;

        switch (etrace_encap_parse(&params, ring->data + pos,
                                   ring->size - pos, &pkt)) {
        case ETRACE_ENCAP_PACKET:
            n++;
            break;
        case ETRACE_ENCAP_NULL:
            break;
        default:
            g_assert_not_reached();
        }
        pos += pkt.size;
    }
    return n;
}

/* A ring that has wrapped: the sideband says so, or the caller */
static void test_wrapped(gconstpointer data)
{
    size_t size = GPOINTER_TO_UINT(data), end;
    g_autoptr(GByteArray) trace = g_byte_array_new();
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    unsigned total = make_trace(trace, size), left;
    g_autofree uint8_t *dump = make_ring(trace, &end);
    Sideband *sb = make_sideband(bytes, trace->len, START + end, true, total);
    GError *err = NULL;
    Ring ring;

    check_true(ring_init(&ring, dump, SIZE, RING_NOT_WRAPPED, sb, &err));
    check_true(ring.cut);
    check_true(ring_find_begin(&ring, &params, &err));
    check_cmpuint(ring.size, ==, SIZE);
    g_assert_cmpmem(ring.data, SIZE, trace->data + trace->len - SIZE, SIZE);
    left = count_packets(&ring);
    check_cmpuint(left, >, 300);
    /* it begins behind an alignment sequence: one of 50 packets */
    check_cmpuint((total - left) % 50, ==, 0);
    check_cmpuint(ring_first_packet(&ring, &params, sb, 0), ==, total - left);
    ring_clear(&ring);

    check_true(ring_init(&ring, dump, SIZE, end, NULL, &err));
    check_true(ring_find_begin(&ring, &params, &err));
    check_cmpuint(count_packets(&ring), ==, left);
    check_cmpuint(ring_first_packet(&ring, &params, NULL, 0), ==, 0);
    ring_clear(&ring);

    /* in order already */
    check_true(ring_init(&ring, trace->data + trace->len - SIZE, SIZE, 0, sb,
                         &err));
    check_true(ring_find_begin(&ring, &params, &err));
    check_cmpuint(count_packets(&ring), ==, left);
    check_cmpuint(ring_first_packet(&ring, &params, sb, 0), ==, total - left);
    ring_clear(&ring);
    sideband_free(sb);
}

/* Data packets are counted as any other: RAM's numbers are of both. */
static void test_wrapped_data(void)
{
    params.data_width = 64;
    params.daddress_width = 64;
    test_wrapped(GUINT_TO_POINTER(9999));
    params.data_width = 0;
    params.daddress_width = 0;
}

/* One that has not: the whole of it, or up to the write pointer */
static void test_not_wrapped(void)
{
    g_autoptr(GByteArray) trace = g_byte_array_new();
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    unsigned total = make_trace(trace, 1000);
    size_t end;
    g_autofree uint8_t *dump = make_ring(trace, &end);
    Sideband *sb = make_sideband(bytes, trace->len, START + end, false, total);
    GError *err = NULL;

    for (int i = 0; i < 3; i++) {
        Ring ring;

        check_true(ring_init(&ring, dump, i ? end : SIZE, RING_NOT_WRAPPED,
                             i == 2 ? NULL : sb, &err));
        check_false(ring.cut);
        check_true(ring_find_begin(&ring, &params, &err));
        check_cmpuint(ring.begin, ==, 0);
        check_cmpuint(count_packets(&ring), ==, total);
        check_cmpuint(ring_first_packet(&ring, &params, sb, 0), ==, 0);
        ring_clear(&ring);
    }
    sideband_free(sb);
}

/* The session began in the ring: what is before it belongs to another. */
static void test_session_inside(void)
{
    g_autoptr(GByteArray) before = g_byte_array_new();
    g_autoptr(GByteArray) trace = g_byte_array_new();
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    unsigned total;
    Sideband *sb;
    GError *err = NULL;
    Ring ring;

    make_trace(before, 500);
    total = make_trace(trace, 700);
    sb = make_sideband(bytes, trace->len, START + before->len + trace->len,
                       false, total);
    g_byte_array_append(before, trace->data, trace->len);
    check_true(ring_init(&ring, before->data, before->len, RING_NOT_WRAPPED,
                         sb, &err));
    check_true(ring_find_begin(&ring, &params, &err));
    check_cmpuint(count_packets(&ring), ==, total);
    ring_clear(&ring);
    sideband_free(sb);
}

/*
 * The ring goes on after a migration: what is left of each side's trace. One
 * of @before bytes and one of @after are stored in it.
 */
static void check_two(size_t before, size_t after)
{
    g_autoptr(GByteArray) trace = g_byte_array_new();
    g_autoptr(GByteArray) later = g_byte_array_new();
    g_autoptr(GByteArray) bytes1 = g_byte_array_new();
    g_autoptr(GByteArray) bytes2 = g_byte_array_new();
    unsigned total1 = make_trace(trace, before);
    unsigned total2 = make_trace(later, after), left;
    size_t first = trace->len, end;
    g_autofree uint8_t *dump = NULL;
    Sideband *sb1, *sb2;
    GError *err = NULL;
    Ring ring1, ring2;
    bool wrapped;

    g_byte_array_append(trace, later->data, later->len);
    wrapped = trace->len >= SIZE;
    dump = make_ring(trace, &end);
    sb1 = make_sideband(bytes1, first, START + first % SIZE, first >= SIZE,
                        total1);
    sb2 = make_sideband(bytes2, later->len, START + end, wrapped, total2);

    check_true(ring_init(&ring2, dump, SIZE, RING_NOT_WRAPPED, sb2, &err));
    check_true(ring_find_begin(&ring2, &params, &err));
    check_cmpuint(count_packets(&ring2), ==, total2);
    check_true(ring_init_before(&ring1, &ring2, sb1, &err));
    check_cmpint(ring1.cut, ==, wrapped);
    check_cmpuint(ring1.size, ==, (wrapped ? SIZE : trace->len) - later->len);
    g_assert_cmpmem(ring1.data, ring1.size, trace->data + first - ring1.size,
                    ring1.size);
    check_true(ring_find_begin(&ring1, &params, &err));
    left = count_packets(&ring1);
    check_cmpuint(left, >, 100);
    check_cmpuint(ring_first_packet(&ring1, &params, sb1, 0), ==,
                  total1 - left);
    check_cmpint(left == total1, ==, !wrapped);
    ring_clear(&ring1);
    ring_clear(&ring2);
    sideband_free(sb1);
    sideband_free(sb2);
}

static void test_two_parts(void)
{
    check_two(1000, 2000);      /* all of both is there */
    check_two(3000, 2000);      /* the destination has wrapped it */
    check_two(5000, 2000);      /* the source had */
}

/* Three parts, the first of which begins before the ring */
static void test_three_parts(void)
{
    g_autoptr(GByteArray) all = g_byte_array_new();
    Sideband *sbs[3];
    GByteArray *bytes[3];
    unsigned totals[3];
    g_autofree uint8_t *dump = NULL;
    GError *err = NULL;
    Ring rings[3];
    size_t end;

    for (int i = 0; i < 3; i++) {
        g_autoptr(GByteArray) trace = g_byte_array_new();

        totals[i] = make_trace(trace, 1500);
        g_byte_array_append(all, trace->data, trace->len);
        bytes[i] = g_byte_array_new();
        sbs[i] = make_sideband(bytes[i], trace->len,
                               START + all->len % SIZE, all->len >= SIZE,
                               totals[i]);
    }
    dump = make_ring(all, &end);
    check_true(ring_init(&rings[2], dump, SIZE, RING_NOT_WRAPPED, sbs[2],
                         &err));
    check_true(ring_init_before(&rings[1], &rings[2], sbs[1], &err));
    check_true(ring_init_before(&rings[0], &rings[1], sbs[0], &err));
    for (int i = 0; i < 3; i++) {
        unsigned left;

        check_cmpint(rings[i].cut, ==, i == 0);
        check_true(ring_find_begin(&rings[i], &params, &err));
        left = count_packets(&rings[i]);
        check_cmpint(left == totals[i], ==, i > 0);
        check_cmpuint(ring_first_packet(&rings[i], &params, sbs[i], 0), ==,
                      totals[i] - left);
        ring_clear(&rings[i]);
        sideband_free(sbs[i]);
        g_byte_array_unref(bytes[i]);
    }
}

/* The first support packet reports the modes, wherever it is. */
static void test_ioptions(void)
{
    g_autoptr(GByteArray) trace = g_byte_array_new();
    ETracePacket pkt = {
        .format = ETRACE_FORMAT_SYNC, .subformat = ETRACE_SYNC_SUPPORT,
        .ienable = true, .qual_status = ETRACE_QUAL_ENDED_REP,
        .ioptions = ETRACE_IOPT_FULL_ADDRESS,
    };
    uint8_t payload[ETRACE_PACKET_MAX], wrapped[ETRACE_ENCAP_MAX];
    size_t len;
    GError *err = NULL;
    Ring ring;

    put_align(trace);
    put_packet(trace, 0x82, 4);
    check_true(ring_init(&ring, trace->data, trace->len, 0, NULL, &err));
    check_cmphex(ring_first_ioptions(&params, ring.data + ring.begin,
                                       ring.size - ring.begin), ==, 0);
    ring_clear(&ring);
    for (int i = 0; i < 2; i++) {
        len = etrace_packet_pack(&params, &pkt, payload);
        len = etrace_encap_wrap(&params, payload, len, wrapped);
        g_byte_array_append(trace, wrapped, len);
        pkt.ioptions = 0;
    }
    check_true(ring_init(&ring, trace->data, trace->len, 0, NULL, &err));
    check_cmphex(ring_first_ioptions(&params, ring.data + ring.begin,
                                       ring.size - ring.begin), ==,
                 ETRACE_IOPT_FULL_ADDRESS);
    ring_clear(&ring);
}

static void expect_error(bool ok, GError **err, const char *text)
{
    check_false(ok);
    check_nonnull(*err);
    check_nonnull(strstr((*err)->message, text));
    g_clear_error(err);
}

static void test_bad(void)
{
    g_autoptr(GByteArray) trace = g_byte_array_new();
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GByteArray) none = g_byte_array_new();
    unsigned total = make_trace(trace, 3 * SIZE);
    size_t end;
    g_autofree uint8_t *dump = make_ring(trace, &end);
    Sideband *sb = make_sideband(bytes, trace->len, START + end, true, total);
    Sideband *silent;
    GError *err = NULL;
    Ring ring;

    expect_error(ring_init(&ring, dump, SIZE, SIZE, NULL, &err), &err,
                 "has only 4096 bytes");
    expect_error(ring_init(&ring, dump, 0, 0, NULL, &err), &err,
                 "has only 0 bytes");
    expect_error(ring_init(&ring, dump, SIZE - 4, RING_NOT_WRAPPED, sb, &err),
                 &err, "bytes of trace, the dump has");
    sideband_free(sb);

    sb_session(none, 1, 1, 0);
    sb_params(none, 0, &params);
    silent = sideband_parse(none->data, none->len, 0, &err);
    check_no_error(err);
    expect_error(ring_init(&ring, dump, SIZE, 0, silent, &err), &err,
                 "reports no RAM sink");
    sideband_free(silent);

    memset(dump, 0xee, SIZE);
    check_true(ring_init(&ring, dump, SIZE, 8, NULL, &err));
    expect_error(ring_find_begin(&ring, &params, &err), &err,
                 "no alignment sequence");
    ring_clear(&ring);
}

/* What the two sides of a migration report cannot be so. */
static void test_bad_parts(void)
{
    g_autoptr(GByteArray) trace = g_byte_array_new();
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GByteArray) bytes1 = g_byte_array_new();
    g_autoptr(GByteArray) none = g_byte_array_new();
    unsigned total = make_trace(trace, 3 * SIZE);
    size_t end;
    g_autofree uint8_t *dump = make_ring(trace, &end);
    Sideband *sb = make_sideband(bytes, trace->len, START + end, true, total);
    Sideband *before = make_sideband(bytes1, 600, START + 600, false, 30);
    Sideband *silent;
    GError *err = NULL;
    Ring later, ring;

    /* The later part fills all of the ring. */
    check_true(ring_init(&later, dump, SIZE, RING_NOT_WRAPPED, sb, &err));
    expect_error(ring_init_before(&ring, &later, before, &err), &err,
                 "nothing left");
    sb_session(none, 1, 1, 0);
    sb_params(none, 0, &params);
    silent = sideband_parse(none->data, none->len, 0, &err);
    check_no_error(err);
    expect_error(ring_init_before(&ring, &later, silent, &err), &err,
                 "reports no RAM sink");
    ring_clear(&later);
    sideband_free(sb);

    /* It has not wrapped, and there is less before than there was. */
    g_byte_array_set_size(bytes, 0);
    sb = make_sideband(bytes, 400, START + 800, false, 20);
    check_true(ring_init(&later, trace->data, 800, RING_NOT_WRAPPED, sb,
                         &err));
    expect_error(ring_init_before(&ring, &later, before, &err), &err,
                 "reports 600 bytes");
    ring_clear(&later);
    sideband_free(sb);
    sideband_free(before);
    sideband_free(silent);
}

/* Records that cannot be are left out. */
static void test_bad_record(void)
{
    static const uint64_t bad[][5] = {
        { 10, START, START + SIZE - 4, START - 4, 1 },
        { 10, START, START + SIZE - 4, START + SIZE, 1 },
        { 10, START + SIZE, START, START, 1 },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        GError *err = NULL;
        SidebandRam ram;
        Sideband *sb;

        sb_session(bytes, 1, 1, 0);
        sb_params(bytes, 0, &params);
        sb_u64s(bytes, ETRACE_SB_RAM, ETRACE_SB_ALL_HARTS, 5, bad[i][0],
                bad[i][1], bad[i][2], bad[i][3], bad[i][4]);
        sb = sideband_parse(bytes->data, bytes->len, 0, &err);
        check_no_error(err);
        check_false(sideband_ram(sb, SIDEBAND_SHARED_RAM, &ram));
        check_nonnull(sideband_problem(sb));
        sideband_free(sb);
    }
}

/*
 * A ring that ends where the addresses do: the word behind its last one has
 * the address 0, so what a small dump has is not all of it.
 */
static void test_end_of_memory(void)
{
    static const uint8_t dump[16] = { 0 };

    for (size_t size = 0; size <= sizeof(dump); size++) {
        for (int wrapped = 0; wrapped < 2; wrapped++) {
            g_autoptr(GByteArray) bytes = g_byte_array_new();
            g_autoptr(GError) err = NULL;
            Sideband *sb;
            Ring ring;

            sb_session(bytes, 1, 1, 0);
            sb_params(bytes, 0, &params);
            sb_u64s(bytes, ETRACE_SB_RAM, ETRACE_SB_ALL_HARTS, 5,
                    UINT64_MAX, (uint64_t)0, UINT64_MAX,
                    (UINT64_MAX - 1) | wrapped, (uint64_t)1);
            sb = sideband_parse(bytes->data, bytes->len, 0, &err);
            check_no_error(err);
            check_false(ring_init(&ring, dump, size, RING_NOT_WRAPPED, sb,
                                  &err));
            check_nonnull(strstr(err->message, "bytes of trace, the dump has"));
            sideband_free(sb);
        }
    }
}

/* The same ring, of a whole dump */
static void test_limit_is_last_word(void)
{
    static const uint8_t dump[16] = { 0 };
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GError) err = NULL;
    Sideband *sb;
    Ring ring;

    sb_session(bytes, 1, 1, 0);
    sb_params(bytes, 0, &params);
    sb_u64s(bytes, ETRACE_SB_RAM, ETRACE_SB_ALL_HARTS, 5,
            (uint64_t)8, UINT64_MAX - 15, UINT64_MAX - 3, UINT64_MAX - 7,
            (uint64_t)1);
    sb = sideband_parse(bytes->data, bytes->len, 0, &err);
    check_no_error(err);
    check_true(ring_init(&ring, dump, sizeof(dump), RING_NOT_WRAPPED, sb,
                         &err));
    check_cmpuint(ring.size, ==, 8);
    ring_clear(&ring);
    sideband_free(sb);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    etrace_params_init(&params, 64);
    for (unsigned size = 5000; size < 30000; size += 4999) {
        g_autofree char *path = g_strdup_printf("/ring/wrapped/%u", size);

        g_test_add_data_func(path, GUINT_TO_POINTER(size), test_wrapped);
    }
    g_test_add_func("/ring/wrapped-data", test_wrapped_data);
    g_test_add_func("/ring/not-wrapped", test_not_wrapped);
    g_test_add_func("/ring/session-inside", test_session_inside);
    g_test_add_func("/ring/two-parts", test_two_parts);
    g_test_add_func("/ring/three-parts", test_three_parts);
    g_test_add_func("/ring/bad-parts", test_bad_parts);
    g_test_add_func("/ring/ioptions", test_ioptions);
    g_test_add_func("/ring/end-of-memory", test_end_of_memory);
    g_test_add_func("/ring/limit-is-last-word", test_limit_is_last_word);
    g_test_add_func("/ring/bad", test_bad);
    g_test_add_func("/ring/bad-record", test_bad_record);
    return g_test_run();
}
