/*
 * E-Trace data trace: what the port reports comes out of the packets
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-random.h"
#include "etrace-test.h"
#include "hw/trace/etrace/data-short.h"
#include "hw/trace/etrace/encap.h"
#include "hw/trace/etrace/packet-bits.h"

#define DOPT_NO_ADDRESS  ETRACE_DOPT_NO_ADDRESS
#define DOPT_NO_DATA     ETRACE_DOPT_NO_DATA

static uint64_t mask(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (1ull << bits) - 1;
}

static bool is_csr(const ETraceDataAccess *a)
{
    return a->dtype >= ETRACE_DTYPE_CSR_RW && a->dtype <= ETRACE_DTYPE_CSR_RC;
}

static bool is_atomic(const ETraceDataAccess *a)
{
    return a->dtype >= ETRACE_DTYPE_SWAP;
}

/*
 * An access of a program: near the one before it, and with data like those
 * before it, or not.
 */
static void random_access(const ETraceParams *p, const ETraceDataAccess *last,
                          ETraceDataAccess *a)
{
    static const uint8_t dtypes[] = { 0, 0, 0, 1, 1, 1, 4, 5, 6, 8, 9, 10, 11,
                                      12, 13, 14, 15 };
    unsigned width;

    *a = (ETraceDataAccess) {
        .dtype = dtypes[g_test_rand_int_range(0, sizeof(dtypes))],
        .size = g_test_rand_int_range(0, 4),
    };
    if (is_csr(a)) {
        a->size = p->iaddress_width == 64 ? 3 : 2;
    }
    width = 8 << a->size;
    a->data = etrace_random_bits(width);
    if (g_test_rand_bit()) {
        a->data = (last->data + g_test_rand_int_range(-300, 300)) &
                  mask(width);
    }
    if (is_csr(a)) {
        a->address = etrace_random_bits(12);
        a->operand = etrace_random_bits(width);
        return;
    }
    a->address = etrace_random_bits(64);
    if (g_test_rand_bit()) {
        a->address = last->address + g_test_rand_int_range(-300, 300);
    }
    a->address &= mask(p->daddress_width);
    if (is_atomic(a) || g_test_rand_bit()) {
        a->address &= ~mask(a->size);
    }
    if (is_atomic(a) && a->dtype != ETRACE_DTYPE_SC_FAILURE) {
        a->operand = etrace_random_bits(width);
    }
    a->multi = p->wire_format == ETRACE_WIRE_2_1_DRAFT && !is_atomic(a) &&
               g_test_rand_bit();
}

static void random_params(ETraceParams *p)
{
    etrace_params_init(p, g_test_rand_bit() ? 32 : 64);
    p->wire_format = g_test_rand_int_range(0, ETRACE_WIRE_MAX);
    p->data_width = g_test_rand_bit() ? 64 : 128;
    p->daddress_width = g_test_rand_bit() ? p->iaddress_width : 64;
    if (p->wire_format == ETRACE_WIRE_1_1_1) {
        p->daddress_width = p->iaddress_width;
    }
    p->doptions = g_test_rand_int_range(0, 3);
    g_assert_true(etrace_params_valid(p));
}

/* What the tables of chapter 7 have no packet for */
static bool is_missing(const ETraceParams *p, const ETraceDataAccess *a)
{
    return (a->dtype == ETRACE_DTYPE_SC_FAILURE &&
            (!(p->doptions & DOPT_NO_DATA) ||
             p->wire_format == ETRACE_WIRE_1_1_1)) ||
           /* 1.1.1: atomics of 4 and 8 bytes */
           (p->wire_format == ETRACE_WIRE_1_1_1 && is_atomic(a) &&
            a->size < 2);
}

/* What the modes leave of @a */
static ETraceDataAccess expected(const ETraceParams *p,
                                 const ETraceDataAccess *a)
{
    ETraceDataAccess e = *a;

    if ((p->doptions & DOPT_NO_ADDRESS) && !is_csr(a)) {
        e.address = 0;
    }
    if (p->doptions & DOPT_NO_DATA) {
        e.data = 0;
        e.operand = 0;
    }
    if (is_csr(a) && a->address >> 10 == 3) {
        e.operand = 0;          /* read-only */
    }
    return e;
}

static void same(const ETraceDataAccess *a, const ETraceDataAccess *b)
{
    g_assert_cmpuint(a->dtype, ==, b->dtype);
    g_assert_cmpuint(a->size, ==, b->size);
    g_assert_cmpuint(a->multi, ==, b->multi);
    g_assert_cmphex(a->address, ==, b->address);
    g_assert_cmphex(a->data, ==, b->data);
    g_assert_cmphex(a->operand, ==, b->operand);
}

/* What diff may be: section 7.1.3, and trTeDataAddrCompress */
static void check_diff(const ETraceParams *p, unsigned compress, bool first,
                       const ETraceDataPacket *pkt)
{
    static const uint8_t allowed[] = { 0x1, 0x7, 0xd, 0xf };

    if (first) {
        g_assert_cmpuint(pkt->diff, ==, 0);
    }
    if (p->doptions & DOPT_NO_DATA) {
        g_assert_cmpuint(pkt->diff, <=, compress != 0);
        return;
    }
    g_assert_cmpuint(allowed[compress] >> pkt->diff & 1, ==, 1);
    if (p->doptions & DOPT_NO_ADDRESS) {
        g_assert_cmpuint(pkt->diff, !=, 2);
    }
}

/*
 * Random accesses in every mode come back as they were. Behind a reset the
 * first access of each size is sent in full.
 */
static void test_roundtrip(void)
{
    uint64_t packets = 0;

    for (int i = 0; i < 6000; i++) {
        ETraceDataState in = { }, out = { };
        ETraceDataAccess last = { }, a, b, want;
        bool first[4] = { true, true, true, true };
        unsigned compress = g_test_rand_int_range(0, 4);
        ETraceParams p;

        random_params(&p);
        for (int j = 0; j < 200; j++) {
            uint8_t buf[ETRACE_PACKET_MAX];
            ETraceDataPacket pkt, again;
            size_t len;

            if (g_test_rand_int_range(0, 40) == 0) {
                etrace_data_reset(&in);
                etrace_data_reset(&out);
                memset(first, true, sizeof(first));
            }
            random_access(&p, &last, &a);
            g_assert_cmpuint(etrace_data_encode(&in, &p, compress, &a, &pkt),
                             ==, !is_missing(&p, &a));
            if (is_missing(&p, &a)) {
                continue;
            }
            if (!is_csr(&a)) {
                check_diff(&p, compress, first[a.size], &pkt);
            }
            first[a.size] = is_csr(&a);
            len = etrace_data_packet_pack(&p, NULL, &pkt, buf);
            g_assert_true(etrace_data_packet_unpack(&p, NULL, buf, len,
                                                    &again));
            g_assert_true(etrace_data_decode(&out, &p, &again, &b));
            want = expected(&p, &a);
            same(&b, &want);
            last = a;
            packets++;
        }
    }
    g_test_message("%" PRIu64 " packets", packets);
    g_assert_cmpuint(packets, >, 1000000);
}

/*
 * "depending on whichever results in the most efficient represenation": no
 * other way to send it is more than a byte shorter. (A byte can be won where
 * the compression of the last field goes on in the field in front of it.)
 */
static void test_shortest(void)
{
    for (int i = 0; i < 100000; i++) {
        ETraceDataAccess first, second, back;
        ETraceDataPacket pkt;
        uint8_t buf[ETRACE_PACKET_MAX];
        size_t best;
        ETraceParams p;

        random_params(&p);
        do {
            random_access(&p, &(ETraceDataAccess) { }, &first);
        } while (is_missing(&p, &first) || is_csr(&first));
        do {
            random_access(&p, &first, &second);
        } while (is_missing(&p, &second) || is_csr(&second) ||
                 second.size != first.size);
        for (unsigned compress = 0; compress < 4; compress++) {
            ETraceDataState state = { };
            size_t len;

            etrace_data_encode(&state, &p, 0, &first, &pkt);
            etrace_data_encode(&state, &p, compress, &second, &pkt);
            len = etrace_data_packet_pack(&p, NULL, &pkt, buf);
            best = compress ? MIN(best, len) : len;
            if (compress == ETRACE_DATA_COMPRESS_BEST) {
                g_assert_cmpuint(len, <=, best + 1);
            }
        }
        /* A base that is not known is noticed. */
        if (pkt.diff) {
            ETraceDataState none = { };

            g_assert_false(etrace_data_decode(&none, &p, &pkt, &back));
        }
    }
}

/*
 * Worked out by hand from the tables of chapter 7, fields from the first
 * (least significant) on. rv64: size 2 bits, daddress_width_p 64.
 */
static const struct {
    const char *why;
    uint8_t doptions;
    uint8_t compress;
    ETraceDataAccess access;
    const char *hex;
} golden[] = {
    { "lw, first of its size: format 0, size 2, diff 0, data_len 1, data, "
      "address >> 2", 0, ETRACE_DATA_COMPRESS_BEST,
      { .dtype = ETRACE_DTYPE_LOAD, .size = 2, .address = 0x1000,
        .data = 0x1234 }, "90 68 24 00 08" },
    { "sw behind it, the same data: format 2, size 2, diff 1, data_len 0, "
      "data 0, address 1", 0, ETRACE_DATA_COMPRESS_XOR,
      { .dtype = ETRACE_DTYPE_STORE, .size = 2, .address = 0x1004,
        .data = 0x1234 }, "32 00 02" },
    { "sb, another size: format 2, size 0, diff 0, no data_len, data ff, "
      "address", 0, ETRACE_DATA_COMPRESS_BEST,
      { .dtype = ETRACE_DTYPE_STORE, .size = 0, .address = 0x2000,
        .data = 0xff }, "82 7f 00 10" },
    { "lh, unaligned: format 1, size 1, diff 0, data_len 0, data, address",
      0, ETRACE_DATA_COMPRESS_BEST,
      { .dtype = ETRACE_DTYPE_LOAD, .size = 1, .address = 0x2001,
        .data = 5 }, "09 05 01 20" },
    { "lw, back 8 and one less: format 0, size 2, diff 3, data_len 0, "
      "data -1, address -2", 0, ETRACE_DATA_COMPRESS_DIFF,
      { .dtype = ETRACE_DTYPE_LOAD, .size = 2, .address = 0xffc,
        .data = 0x1233 }, "70 fe fd" },
    { "amoadd.w: format 6, subtype 1, size 2, diff 0, op_len 0, operand 3, "
      "data_len 0, data 7, address >> 2", 0, ETRACE_DATA_COMPRESS_NONE,
      { .dtype = ETRACE_DTYPE_ADD, .size = 2, .address = 0x100,
        .data = 7, .operand = 3 }, "8e 30 c0 01 10" },
    { "csrrs, read-only: format 5, subtype 1, diff 0, data_len 0, data 2, "
      "addr_msbs 3c, addr_lsbs 14", 0, ETRACE_DATA_COMPRESS_BEST,
      { .dtype = ETRACE_DTYPE_CSR_RS, .size = 3, .address = 0xf14,
        .data = 2 }, "0d 08 f0 14" },
    { "csrrw: the same with op_len 0, operand 1", 0,
      ETRACE_DATA_COMPRESS_BEST,
      { .dtype = ETRACE_DTYPE_CSR_RW, .size = 3, .address = 0x340,
        .data = 2, .operand = 1 }, "05 08 34 08" },
};

static void test_golden(void)
{
    ETraceDataState state = { };
    ETraceParams p;

    etrace_params_init(&p, 64);
    p.data_width = 64;
    p.daddress_width = 64;
    for (size_t i = 0; i < ARRAY_SIZE(golden); i++) {
        uint8_t buf[ETRACE_PACKET_MAX];
        ETraceDataPacket pkt;
        g_autofree char *hex = NULL;
        size_t len;

        p.doptions = golden[i].doptions;
        g_assert_true(etrace_data_encode(&state, &p, golden[i].compress,
                                         &golden[i].access, &pkt));
        len = etrace_data_packet_pack(&p, NULL, &pkt, buf);
        hex = etrace_test_hex(buf, len);
        if (strcmp(hex, golden[i].hex)) {
            g_error("%s: %s, not %s", golden[i].why, hex, golden[i].hex);
        }
    }
}

/* What no packet can say changes nothing. */
static void test_unsaid(void)
{
    static const ETraceDataAccess unsaid[] = {
        { .dtype = ETRACE_DTYPE_SC_FAILURE, .size = 2, .address = 0x10 },
        { .dtype = ETRACE_DTYPE_ADD, .size = 2, .address = 0x11 },
        { .dtype = ETRACE_DTYPE_LOAD, .size = 4 },
        { .dtype = 2 },
        { .dtype = 7 },
    };
    ETraceDataAccess near = { .size = 2, .address = 0x1000 };
    ETraceDataState state = { };
    ETraceDataPacket pkt;
    ETraceParams p;

    etrace_params_init(&p, 64);
    p.data_width = 64;
    p.daddress_width = 64;
    etrace_data_encode(&state, &p, 3, &near, &pkt);
    for (size_t i = 0; i < ARRAY_SIZE(unsaid); i++) {
        g_assert_false(etrace_data_encode(&state, &p, 3, &unsaid[i], &pkt));
    }
    near.address += 4;
    g_assert_true(etrace_data_encode(&state, &p, 3, &near, &pkt));
    g_assert_cmpuint(pkt.diff, !=, ETRACE_DIFF_FULL);
    g_assert_cmphex(pkt.address, ==, 4);

    p.doptions = DOPT_NO_ADDRESS | DOPT_NO_DATA;
    g_assert_false(etrace_data_encode(&state, &p, 3, &near, &pkt));
    p.doptions = 0;
    p.dtype_width = 1;
    g_assert_false(etrace_data_encode(&state, &p, 3, &(ETraceDataAccess) {
        .dtype = ETRACE_DTYPE_CSR_RW, .size = 3, .address = 0x300 }, &pkt));
}

/*
 * The short way makes the bytes of the long one, whatever the parameters, and
 * leaves the same state behind. All aligned loads and stores take it that
 * follow another one of their size, but for packets of more than 128 bits.
 */
static void test_short(void)
{
    unsigned taken = 0, possible = 0, full = 0;

    for (int i = 0; i < 10000; i++) {
        ETraceDataState slow = { }, quick = { };
        ETraceDataAccess last = { }, a;
        unsigned compress = g_test_rand_int_range(0, 4);
        ETraceDataShort how;
        ETraceParams p;

        random_params(&p);
        p.src_bits = g_test_rand_int_range(0, 13);
        p.src_id = etrace_random_bits(p.src_bits ?: 1) & mask(p.src_bits);
        p.doptions = g_test_rand_int_range(0, 4) ? 0 : p.doptions;
        p.data_width = 8 << g_test_rand_int_range(0, 5);
        p.dtype_width = g_test_rand_bit() ? 1 : p.dtype_width;
        if (!etrace_params_valid(&p)) {
            continue;
        }
        etrace_data_short_init(&how, &p, compress);
        for (int j = 0; j < 100; j++) {
            uint8_t buf[ETRACE_PACKET_MAX], want[ETRACE_ENCAP_MAX];
            uint8_t got[ETRACE_DATA_SHORT_MAX + 1];
            ETraceSlot slot;
            ETraceDataPacket pkt;
            unsigned len, size = 0, packets = 0;
            size_t n = 1;
            bool exists, known;

            random_access(&p, &last, &a);
            slot.access = (ETraceAccess) {
                .daddr = a.address,
                .type = ETRACE_SLOT_ACCESS,
                .dsize = a.size,
                .dtype = a.dtype,
                .multi = a.multi,
                .data = a.data | (g_test_rand_bit() ? ~mask(8 << a.size) : 0),
                .sdata = a.operand,
            };
            known = slow.known[a.size];
            got[ETRACE_DATA_SHORT_MAX] = 0x5a;
            len = etrace_data_short(&how, &quick, &slot, &n, got,
                                    ETRACE_DATA_SHORT_MAX, &packets);
            g_assert_cmphex(got[ETRACE_DATA_SHORT_MAX], ==, 0x5a);
            g_assert_cmpuint(n, ==, len != 0);
            g_assert_cmpuint(packets, ==, n);
            if (!len) {
                g_assert_cmpmem(&slow, sizeof(slow), &quick, sizeof(quick));
            }
            exists = etrace_data_encode(&slow, &p, compress, &a, &pkt);
            if (exists) {
                ETraceEncapPacket encap = {
                    .src_id = p.src_id, .data = true, .payload = buf,
                };

                encap.len = etrace_data_packet_pack(&p, NULL, &pkt, buf);
                size = etrace_encap_pack(&p, &encap, want);
            }
            if (known && exists && a.dtype <= ETRACE_DTYPE_STORE &&
                a.address && a.address != mask(p.daddress_width) &&
                !(a.address & mask(a.size)) &&
                !p.doptions && p.wire_format != ETRACE_WIRE_2_1_DRAFT &&
                compress != ETRACE_DATA_COMPRESS_NONE &&
                size <= 1u + p.src_bits / 8 + 16) {
                possible++;
                taken += len != 0;
                full += !pkt.diff;
            }
            if (len) {
                g_assert_true(exists && known);
                g_assert_cmpmem(got, len, want, size);
                g_assert_cmpmem(&slow, sizeof(slow), &quick, sizeof(quick));
            }
            quick = slow;
            last = a;
        }
    }
    g_assert_cmpuint(possible, >, 10000);
    g_assert_cmpuint(full, >, 1000);
    g_assert_cmpuint(taken, ==, possible);
}

/*
 * Many at once are one behind the other, up to one that takes the long way or
 * for which there may not be room. Other slots between them make nothing.
 */
static void test_short_many(void)
{
    enum { MANY = 40, ROOM = 200 };
    bool ended_for_room = false, ended_for_long = false;

    for (int i = 0; i < 2000; i++) {
        ETraceDataState one = { }, many;
        ETraceSlot slots[MANY];
        uint8_t want[ROOM], got[ROOM + 1];
        size_t room = g_test_rand_int_range(0, ROOM + 1), pos = 0;
        ETraceParams p = { .data_width = 64, .daddress_width = 64 };
        unsigned want_packets = 0, packets = 3;
        size_t n = MANY, done = 0;
        ETraceDataShort how;

        for (int j = 0; j < 4; j++) {
            one.known[j] = g_test_rand_int_range(0, 10);
            one.address[j] = 0x80000000;
        }
        for (int j = 0; j < MANY; j++) {
            unsigned size = g_test_rand_int_range(0, 4);

            slots[j].access = (ETraceAccess) {
                .daddr = 0x80000000 +
                         ((uint64_t)g_test_rand_int_range(0, 1000) << size),
                .type = ETRACE_SLOT_ACCESS,
                .dsize = size,
                .dtype = g_test_rand_int_range(0, 50) / 25 +
                         !g_test_rand_int_range(0, 50),
                .data = etrace_random_bits(64),
            };
            if (!g_test_rand_int_range(0, 4)) {
                slots[j].access.type = ETRACE_ITYPE_TAKEN_BRANCH;
            }
        }
        many = one;
        etrace_data_short_init(&how, &p, ETRACE_DATA_COMPRESS_BEST);
        while (done < MANY && pos + ETRACE_DATA_SHORT_MAX <= room) {
            size_t single = 1;

            pos += etrace_data_short(&how, &one, &slots[done], &single,
                                     want + pos, room - pos, &want_packets);
            if (!single) {
                break;
            }
            done++;
        }
        got[room] = 0x5a;
        g_assert_cmpuint(etrace_data_short(&how, &many, slots, &n, got, room,
                                           &packets), ==, pos);
        g_assert_cmpuint(n, ==, done);
        g_assert_cmpuint(packets, ==, 3 + want_packets);
        g_assert_cmpmem(got, pos, want, pos);
        g_assert_cmphex(got[room], ==, 0x5a);
        g_assert_cmpmem(&one, sizeof(one), &many, sizeof(many));
        if (done < MANY) {
            ended_for_room |= pos + ETRACE_DATA_SHORT_MAX > room;
            ended_for_long |= pos + ETRACE_DATA_SHORT_MAX <= room;
        }
    }
    g_assert_true(ended_for_room && ended_for_long);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/etrace/data/roundtrip", test_roundtrip);
    g_test_add_func("/etrace/data/shortest", test_shortest);
    g_test_add_func("/etrace/data/golden", test_golden);
    g_test_add_func("/etrace/data/unsaid", test_unsaid);
    g_test_add_func("/etrace/data/short", test_short);
    g_test_add_func("/etrace/data/short-many", test_short_many);
    return g_test_run();
}
