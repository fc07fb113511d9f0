/*
 * E-Trace parameters: which there can be, and what support packets change
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-test.h"

static void test_valid(void)
{
    ETraceParams good, p;

    etrace_params_init(&good, 64);
    g_assert_true(etrace_params_valid(&good));
    etrace_params_init(&p, 32);
    g_assert_true(etrace_params_valid(&p));

#define BAD(member, value) do {                 \
        p = good;                               \
        p.member = value;                       \
        g_assert_false(etrace_params_valid(&p)); \
    } while (0)
    BAD(wire_format, ETRACE_WIRE_MAX);
    BAD(wire_format, 255);
    BAD(iaddress_width, 0);
    BAD(iaddress_width, 65);
    BAD(iaddress_lsb, 3);
    BAD(privilege_width, 0);
    BAD(privilege_width, 4);
    BAD(ecause_width, 0);
    BAD(ecause_width, 9);
    BAD(time_width, 65);
    BAD(context_width, 65);
    BAD(return_stack_size, 32);
    BAD(call_counter_size, 33);
    BAD(bpred_size, 16);
    BAD(cache_size, 16);
    BAD(f0s_width, 4);
    BAD(sijump, 2);
    BAD(src_bits, 17);
    BAD(ts_bytes, 9);
#undef BAD

    /* Two optional formats need a field that says which. */
    p = good;
    p.bpred_size = 1;
    p.cache_size = 1;
    g_assert_false(etrace_params_valid(&p));
    p.f0s_width = 1;
    g_assert_true(etrace_params_valid(&p));

    /* 2+2+1+3+time+context+6+1+1+63+64 bits: 248 at most */
    p = good;
    p.time_width = 64;
    p.context_width = 41;
    g_assert_true(etrace_params_valid(&p));
    p.context_width = 42;
    g_assert_false(etrace_params_valid(&p));
}

/* Which each wire format has, and its support packet has room for */
static void test_wire_formats(void)
{
    ETraceParams good, p;

#define BAD(member, value) do {                 \
        p = good;                               \
        p.member = value;                       \
        g_assert_false(etrace_params_valid(&p)); \
        g_assert_nonnull(etrace_params_problem(&p)); \
    } while (0)
    etrace_params_init(&good, 64);
    good.wire_format = ETRACE_WIRE_1_1_1;
    g_assert_true(etrace_params_valid(&good));
    BAD(time_width, 16);

    good.wire_format = ETRACE_WIRE_2_1_DRAFT;
    good.f0s_width = 1;
    good.time_width = 64;
    good.bpred_size = 7;
    good.cache_size = 7;
    good.return_stack_size = 7;
    good.call_counter_size = 15;
    g_assert_true(etrace_params_valid(&good));
    g_assert_null(etrace_params_problem(&good));
    BAD(time_width, 8);
    BAD(bpred_size, 8);
    BAD(cache_size, 8);
    BAD(return_stack_size, 8);
#undef BAD
}

static void test_data(void)
{
    ETraceParams p;

    etrace_params_init(&p, 64);
    p.data_width = 64;
    g_assert_false(etrace_params_valid(&p));
    p.daddress_width = 64;
    g_assert_true(etrace_params_valid(&p));
    p.data_width = 48;
    g_assert_false(etrace_params_valid(&p));
    p.data_width = 128;
    p.lrid_width = 9;
    g_assert_false(etrace_params_valid(&p));
    p.lrid_width = 8;
    p.dtype_width = 5;
    g_assert_false(etrace_params_valid(&p));
    p.dtype_width = 4;
    g_assert_true(etrace_params_valid(&p));
}

/* Odd bits of srcID and the type field take room from the longest packet. */
static void test_room(void)
{
    ETraceParams p;

    etrace_params_init(&p, 64);
    p.time_width = 64;
    p.context_width = 41;       /* 248 bits */
    p.src_bits = 8;
    g_assert_true(etrace_params_valid(&p));
    p.src_bits = 9;
    g_assert_false(etrace_params_valid(&p));
    p.context_width = 40;
    g_assert_true(etrace_params_valid(&p));
    p.data_width = 64;
    p.daddress_width = 64;
    g_assert_false(etrace_params_valid(&p));
    p.context_width = 39;
    g_assert_true(etrace_params_valid(&p));
}

static void test_follow(void)
{
    ETracePacket pkt = { .format = 3, .subformat = 3 };
    ETraceParams from, to;

    /* 2.0: modes */
    etrace_params_init(&from, 64);
    etrace_params_init(&to, 64);
    from.ioptions = ETRACE_IOPT_FULL_ADDRESS | ETRACE_IOPT_IMPLICIT_EXCEPT;
    from.doptions = ETRACE_DOPT_NO_DATA;
    from.bpred_size = 3;
    etrace_packet_set_support(&pkt, &from);
    g_assert_true(etrace_params_follow(&to, &pkt));
    g_assert_cmphex(to.ioptions, ==, from.ioptions);
    g_assert_cmphex(to.doptions, ==, from.doptions);
    g_assert_cmpuint(to.bpred_size, ==, 0);

    /* 2.1: and parameters */
    pkt = (ETracePacket) { .format = 3, .subformat = 3 };
    from.wire_format = to.wire_format = ETRACE_WIRE_2_1_DRAFT;
    from.time_width = 32;
    from.f0s_width = 1;
    from.return_stack_size = 5;
    from.call_counter_size = 4;
    from.cache_size = 7;
    etrace_packet_set_support(&pkt, &from);
    g_assert_true(pkt.iret_ext);
    g_assert_true(etrace_params_follow(&to, &pkt));
    g_assert_cmpuint(to.time_width, ==, 32);
    g_assert_cmpuint(to.f0s_width, ==, 1);
    g_assert_cmpuint(to.return_stack_size, ==, 5);
    g_assert_cmpuint(to.call_counter_size, ==, 4);
    g_assert_cmpuint(to.bpred_size, ==, 3);
    g_assert_cmpuint(to.cache_size, ==, 7);

    /* What cannot be changes nothing: no subformat field, irdepth */
    pkt.f0s_width = 0;
    g_assert_false(etrace_params_follow(&to, &pkt));
    g_assert_cmpuint(to.f0s_width, ==, 1);
    pkt.f0s_width = 1;
    pkt.iret_ext = false;
    g_assert_false(etrace_params_follow(&to, &pkt));

    /* 1.1.1 has no doptions */
    pkt = (ETracePacket) { .format = 3, .subformat = 3 };
    etrace_params_init(&from, 64);
    from.wire_format = ETRACE_WIRE_1_1_1;
    from.ioptions = ETRACE_IOPT_SIJUMP;
    from.doptions = ETRACE_DOPT_NO_DATA;
    etrace_packet_set_support(&pkt, &from);
    g_assert_cmphex(pkt.ioptions, ==, ETRACE_IOPT_SIJUMP);
    g_assert_cmphex(pkt.doptions, ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/etrace/params/valid", test_valid);
    g_test_add_func("/etrace/params/wire-formats", test_wire_formats);
    g_test_add_func("/etrace/params/data", test_data);
    g_test_add_func("/etrace/params/room", test_room);
    g_test_add_func("/etrace/params/follow", test_follow);
    return g_test_run();
}
