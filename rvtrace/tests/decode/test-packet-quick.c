/*
 * Packets that are read with a few shifts: what the tables say of the same bytes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "flow/packet-quick.h"

#define ROUNDS  2000000

/* Short payloads are as likely as long ones, and so are those of few bits. */
static unsigned random_payload(GRand *rand, uint8_t buf[8])
{
    unsigned len = g_rand_int_range(rand, 1, 9);
    uint64_t value = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);

    value = (int64_t)value >> g_rand_int_range(rand, 0, 64);
    value = value << 16 | (g_rand_int(rand) & 0xffff);
    for (unsigned i = 0; i < 8; i++) {
        buf[i] = value >> 8 * i;
    }
    return len;
}

static void test_inst(void)
{
    ETraceParams params = {
        .wire_format = ETRACE_WIRE_2_0, .iaddress_width = 64,
        .iaddress_lsb = 1, .f0s_width = 1, .bpred_size = 9, .cache_size = 7,
        .call_counter_size = 7, .return_stack_size = 7, .privilege_width = 3,
        .context_width = 32, .ecause_width = 6,
    };
    GRand *rand = g_rand_new_with_seed(1);
    unsigned taken = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        ETracePacket quick, slow;
        uint8_t buf[8];
        unsigned len = random_payload(rand, buf);

        if (!packet_quick(&params, packet_word(buf, len), len, &quick)) {
            continue;
        }
        taken++;
        g_assert_true(etrace_packet_unpack(&params, buf, len, &slow));
        check_cmpuint(quick.format, ==, slow.format);
        check_cmpuint(quick.branches, ==, slow.branches);
        check_cmpuint(quick.branch_map, ==, slow.branch_map);
        check_cmpuint(quick.branch_count, ==, slow.branch_count);
        check_cmpuint(quick.branch_fmt, ==, slow.branch_fmt);
        check_cmpuint(quick.address, ==, slow.address);
    }
    check_cmpuint(taken, >, ROUNDS / 8);
    g_rand_free(rand);
}

static void test_data(void)
{
    ETraceParams params = {
        .wire_format = ETRACE_WIRE_2_0, .iaddress_width = 64,
        .daddress_width = 64, .data_width = 64, .dtype_width = 4,
    };
    GRand *rand = g_rand_new_with_seed(2);
    unsigned taken = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        ETraceDataPacket quick, slow;
        uint8_t buf[8];
        unsigned len = random_payload(rand, buf);

        if (!packet_quick_data(&params, packet_word(buf, len), &quick)) {
            continue;
        }
        taken++;
        g_assert_true(etrace_data_packet_unpack(&params, NULL, buf, len,
                                                &slow));
        check_cmpuint(quick.format, ==, slow.format);
        check_cmpuint(quick.size, ==, slow.size);
        check_cmpuint(quick.diff, ==, slow.diff);
        check_cmpuint(quick.data_len, ==, slow.data_len);
        check_cmpuint(quick.data, ==, slow.data);
        check_cmpuint(quick.address, ==, slow.address);
        check_cmpuint(slow.multi | slow.subtype | slow.resp | slow.op_len |
                      slow.lrid | slow.operand, ==, 0);
    }
    check_cmpuint(taken, >, ROUNDS / 8);
    g_rand_free(rand);
}

/* Of other widths, the tables have to say. */
static void test_others(void)
{
    ETraceParams params = {
        .wire_format = ETRACE_WIRE_2_0, .iaddress_width = 64,
        .daddress_width = 64, .data_width = 64, .dtype_width = 4,
    };
    ETraceDataPacket pkt;

    g_assert_true(packet_quick_data(&params, 0, &pkt));
    params.data_width = 32;
    g_assert_false(packet_quick_data(&params, 0, &pkt));
    params.data_width = 64;
    params.daddress_width = 32;
    g_assert_false(packet_quick_data(&params, 0, &pkt));
    params.daddress_width = 64;
    params.doptions = ETRACE_DOPT_NO_DATA;
    g_assert_false(packet_quick_data(&params, 0, &pkt));
    params.doptions = 0;
    params.wire_format = ETRACE_WIRE_1_1_1;
    g_assert_false(packet_quick_data(&params, 0, &pkt));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/packet-quick/inst", test_inst);
    g_test_add_func("/packet-quick/data", test_data);
    g_test_add_func("/packet-quick/others", test_others);
    return g_test_run();
}
