/*
 * E-Trace packets: what goes in comes out, in every wire format
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-random.h"
#include "etrace-test.h"

static void random_params(ETraceParams *p)
{
    do {
        etrace_params_init(p, g_test_rand_bit() ? 32 : 64);
        p->wire_format = g_test_rand_int_range(0, ETRACE_WIRE_MAX);
        p->ioptions = g_test_rand_int_range(0, 32);
        p->iaddress_lsb = g_test_rand_int_range(0, 3);
        p->privilege_width = g_test_rand_int_range(2, 4);
        p->ecause_width = g_test_rand_int_range(1, 9);
        p->time_width = g_test_rand_int_range(0, 65);
        if (p->wire_format == ETRACE_WIRE_2_1_DRAFT) {
            p->time_width &= ~15;
        } else if (p->wire_format == ETRACE_WIRE_1_1_1) {
            p->time_width = 0;
        }
        p->context_width = g_test_rand_int_range(0, 65);
        p->return_stack_size = g_test_rand_int_range(0, 8);
        p->call_counter_size = g_test_rand_int_range(0, 8);
        p->bpred_size = g_test_rand_int_range(0, 16);
        p->cache_size = g_test_rand_int_range(0, 16);
        p->f0s_width = g_test_rand_int_range(0, 4);
        p->sijump = g_test_rand_bit();
    } while (!etrace_params_valid(p));
}

static uint64_t random_address(const ETraceParams *p)
{
    return etrace_random_bits(p->iaddress_width) >> p->iaddress_lsb
           << p->iaddress_lsb;
}

static void random_irdepth(const ETraceParams *p, ETracePacket *pkt)
{
    unsigned width = p->return_stack_size + (p->return_stack_size > 0) +
                     p->call_counter_size;

    if (p->wire_format == ETRACE_WIRE_2_1_DRAFT) {
        pkt->irreport = g_test_rand_bit();
        pkt->irets = pkt->irreport ? etrace_random_bits(8) : 0;
    } else if (width && g_test_rand_bit()) {
        pkt->irreport = true;
        pkt->irdepth = etrace_random_bits(width);
    }
}

/* Returns false if there is no such format. */
static bool random_format_0(const ETraceParams *p, ETracePacket *pkt)
{
    bool index = p->cache_size && (!p->bpred_size || g_test_rand_bit());

    if (!p->cache_size && !p->bpred_size) {
        return false;
    }
    pkt->subformat = index;
    if (index) {
        pkt->index = etrace_random_bits(p->cache_size);
        pkt->branches = g_test_rand_int_range(0, 32);
        pkt->branch_map = etrace_random_bits(pkt->branches);
        random_irdepth(p, pkt);
    } else {
        pkt->branch_count = etrace_random_bits(32);
        pkt->branch_fmt = g_test_rand_bit() ? g_test_rand_int_range(2, 4) : 0;
    }
    return true;
}

static void random_packet(const ETraceParams *p, ETracePacket *pkt)
{
    static const uint8_t priv[] = { 0, 1, 3, 4, 5, 6 };

    memset(pkt, 0, sizeof(*pkt));
    pkt->format = g_test_rand_int_range(0, 4);
    if (pkt->format == 0) {
        if (!random_format_0(p, pkt)) {
            pkt->format = 2;
        } else if (!pkt->branch_fmt) {
            return;
        }
    }
    if (pkt->format == 3) {
        pkt->subformat = g_test_rand_int_range(0, 4);
        if (pkt->subformat == ETRACE_SYNC_SUPPORT) {
            pkt->ienable = g_test_rand_bit();
            pkt->qual_status = g_test_rand_int_range(0, 4);
            pkt->ioptions = etrace_random_bits(5 + p->sijump);
            if (p->wire_format != ETRACE_WIRE_1_1_1) {
                pkt->denable = g_test_rand_bit();
                pkt->dloss = g_test_rand_bit();
                pkt->doptions = g_test_rand_int_range(0, 16);
            }
            if (p->wire_format == ETRACE_WIRE_2_1_DRAFT) {
                pkt->resync_disabled = g_test_rand_bit();
                pkt->iret_ext = g_test_rand_bit();
                pkt->mmacas_ext = g_test_rand_bit();
                pkt->time_width = 16 * g_test_rand_int_range(0, 8);
                pkt->f0s_width = g_test_rand_int_range(0, 4);
                pkt->return_stack_size = g_test_rand_int_range(0, 8);
                pkt->call_counter_size = g_test_rand_int_range(0, 16);
                pkt->bpred_size = g_test_rand_int_range(0, 8);
                pkt->cache_size = g_test_rand_int_range(0, 8);
            }
            return;
        }
        pkt->privilege = priv[g_test_rand_int_range(
                                  0, p->privilege_width == 2 ? 3 : 6)];
        pkt->time = etrace_random_bits(p->time_width);
        pkt->context = etrace_random_bits(p->context_width);
        if (pkt->subformat == ETRACE_SYNC_CONTEXT) {
            return;
        }
        pkt->branch = g_test_rand_bit();
        pkt->address = random_address(p);
        if (pkt->subformat == ETRACE_SYNC_TRAP) {
            pkt->ecause = etrace_random_bits(p->ecause_width);
            pkt->interrupt = g_test_rand_bit();
            pkt->thaddr = p->wire_format == ETRACE_WIRE_1_1_1 ||
                          g_test_rand_bit();
            if (!pkt->interrupt || p->wire_format == ETRACE_WIRE_1_1_1) {
                pkt->tval = etrace_random_bits(p->iaddress_width);
            }
            /* 1.1.1: always; 2.0: a handler's */
            if ((p->ioptions & ETRACE_IOPT_IMPLICIT_EXCEPT) && pkt->thaddr) {
                pkt->address = 0;
            }
        }
        return;
    }
    if (pkt->format == 1) {
        pkt->branches = g_test_rand_int_range(0, 32);
        pkt->branch_map = etrace_random_bits(pkt->branches ?: 31);
        if (pkt->branches == 0) {
            return;
        }
    }
    pkt->address = random_address(p);
    if (p->iaddress_width == 32 &&
        !(p->ioptions & ETRACE_IOPT_FULL_ADDRESS)) {
        pkt->address = (int64_t)(int32_t)pkt->address;
    }
    pkt->notify = g_test_rand_bit();
    pkt->updiscon = g_test_rand_bit();
    random_irdepth(p, pkt);
}

/* Bits of a branch map that no branch uses may be anything. */
static bool has_unused_bits(const ETracePacket *pkt)
{
    return pkt->branches & (pkt->branches + 1);
}

static void test_random(void)
{
    for (int i = 0; i < 300000; i++) {
        uint8_t buf[ETRACE_PACKET_MAX];
        uint8_t again[ETRACE_PACKET_MAX];
        ETracePacket in, out;
        ETraceParams params;
        size_t len;

        random_params(&params);
        random_packet(&params, &in);
        len = etrace_packet_pack(&params, &in, buf);
        g_assert_cmpuint(len, >=, 1);
        g_assert_cmpuint(len, <=, ETRACE_PACKET_MAX);
        g_assert_true(etrace_packet_unpack(&params, buf, len, &out));
        etrace_test_same(&out, &in);

        /* One byte less is another packet, or none: it is the shortest. */
        if (!has_unused_bits(&in) &&
            etrace_packet_unpack(&params, buf, len - 1, &out)) {
            size_t n = etrace_packet_pack(&params, &out, again);

            g_assert(n < len || memcmp(again, buf, len));
        }
    }
}

/*
 * Any bytes: no packet, or one that survives being packed again. Buffers have
 * exactly the length that they claim, for the address sanitizer to watch.
 */
static void test_fuzz(void)
{
    for (int i = 0; i < 300000; i++) {
        size_t len = g_test_rand_int_range(1, 34);
        g_autofree uint8_t *buf = g_malloc(len);
        uint8_t again[ETRACE_PACKET_MAX];
        ETracePacket first, second;
        ETraceParams params;
        size_t n;

        random_params(&params);
        for (size_t j = 0; j < len; j++) {
            buf[j] = etrace_random_bits(8);
        }
        if (!etrace_packet_unpack(&params, buf, len, &first)) {
            continue;
        }
        n = etrace_packet_pack(&params, &first, again);
        g_assert(n <= len || has_unused_bits(&first));
        g_assert_true(etrace_packet_unpack(&params, again, n, &second));
        etrace_test_same(&first, &second);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/etrace/packet/random", test_random);
    g_test_add_func("/etrace/packet/fuzz", test_fuzz);
    return g_test_run();
}
