/*
 * E-Trace encoder: the example of chapter 4; what sync packets reset; modes
 * and signals that are not there
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-encoder-fixture.h"

#define RETURN      ETRACE_ITYPE_RETURN
#define FAR         0x7ffff2000     /* differences to it are long */

/* Section 4.2.6, "Example 1": 9 instructions, 2 branches */
static void test_example(Fixture *f)
{
    static const ETraceBlock blocks[] = {
        { .iretire = 7, .iaddr = 0x1000, .itype = 8, .ilastsize = 0 },
        { .iretire = 3, .iaddr = 0x0940, .itype = 4, .ilastsize = 0 },
        { .iretire = 1, .iaddr = 0x0946, .itype = 5, .ilastsize = 0 },
        { .iretire = 4, .iaddr = 0x0988, .itype = 0, .ilastsize = 1 },
    };

    etrace_encoder_start(&f->enc);
    for (unsigned i = 0; i < ARRAY_SIZE(blocks); i++) {
        etrace_encoder_block(&f->enc, &blocks[i], 0);
    }
    expect(f, "support no_change\nstart 1000 priv 0\naddress 940\n");
    etrace_encoder_stop(&f->enc);
    expect(f, "branches NT 98c\nsupport disabled ended_rep\n");
}

/* notime_p 0, nocontext_p 1: the packets that have a time, at their moment */
static void test_time(Fixture *f)
{
    ETraceParams p = f->enc.params;

    p.time_width = 16;
    init_params(f, &p);
    etrace_encoder_time(&f->enc, 1234);
    etrace_encoder_start(&f->enc);
    run(f, 0x1000, 0x1004, NONE);
    expect(f, "support no_change\n"
           "start 1000 priv 3 context 0 time 1234\n");
    etrace_encoder_time(&f->enc, 3456);
    trap(f, 0x1008, INTERRUPT, 7, 0);
    run(f, 0x800, 0x804, NONE);
    expect(f, "address 1004\n"
           "interrupt 7 handler 800 priv 3 context 0 time 3456\n");
}

/* nocontext_p 1: there is no such signal. */
static void test_context_none(Fixture *f)
{
    open_window(f, 0x1000);
    etrace_encoder_context(&f->enc, 5, ETRACE_CTYPE_DISCON);
    run(f, 0x1008, 0x100c, NONE);
    expect(f, "");
}

static void test_notify_without_window(Fixture *f)
{
    etrace_encoder_start(&f->enc);
    etrace_encoder_notify(&f->enc);
    run(f, 0x1000, 0x1004, NONE);
    run(f, 0x1008, 0x100c, NONE);
    expect(f, "support no_change\nstart 1000 priv 3\n");
}

/* Modes for which there is nothing stay off. */
static void test_modes_missing(Fixture *f)
{
    f->enc.ioptions = ETRACE_IOPT_IMPLICIT_RETURN | ETRACE_IOPT_SIJUMP |
                      ETRACE_IOPT_BRANCH_PREDICTION |
                      ETRACE_IOPT_JUMP_TARGET_CACHE;
    etrace_encoder_start(&f->enc);
    expect(f, "support no_change\n");
    g_assert_cmphex(f->enc.params.ioptions, ==, 0);
}

/* Changes of data trace alone do not end the window; dloss is reported once. */
static void test_reconfigure_data(Fixture *f)
{
    open_window(f, 0x1000);
    f->enc.denable = true;
    f->enc.dloss = true;
    f->enc.params.doptions = ETRACE_DOPT_NO_DATA;
    etrace_encoder_reconfigure(&f->enc);
    expect(f, "support no_change\n");
    g_assert_false(f->enc.dloss);
    run(f, 0x1008, 0x100c, NONE);
    expect(f, "");
}

/*
 * Implicit return mode: section 3.2.5
 */

static void open_returns(Fixture *f, unsigned stack, unsigned counter)
{
    ETraceParams p = f->enc.params;

    p.return_stack_size = stack;
    p.call_counter_size = counter;
    init_params(f, &p);
    f->enc.ioptions = ETRACE_IOPT_IMPLICIT_RETURN;
    open_window(f, 0x1000);
}

/* call_counter_size_p: irdepth is the nested call count. */
static void test_call_counter(Fixture *f)
{
    open_returns(f, 0, 3);
    run(f, 0x1008, 0x100c, CALL);
    run(f, 0x2000, 0x2004, RETURN);
    run(f, 0x1010, 0x1014, NOT_TAKEN);
    expect(f, "");
    run(f, 0x1018, 0x101c, CALL);
    run(f, 0x2000, 0x2004, CALL);
    run(f, 0x3000, 0x3004, RETURN);
    run(f, 0x6000, 0x6004, NONE);
    expect(f, "branches N 6000 irdepth 2\n");
}

/* "Reset to 0 whenever a synchronization packet is sent" */
static void test_returns_at_sync(Fixture *f)
{
    open_returns(f, 3, 0);
    run(f, 0x1008, 0x100c, CALL);
    run(f, 0x2000, 0x2004, NONE);
    etrace_encoder_end_window(&f->enc);
    run(f, 0x2008, 0x200c, RETURN);
    run(f, 0x1010, 0x1014, NONE);
    expect(f, "address 2004\nsupport ended_rep\n"
           "start 2008 priv 3\naddress 1010\n");
}

/*
 * Jump target cache mode: section 3.2.7
 */

static void open_cache(Fixture *f)
{
    ETraceParams p = f->enc.params;

    p.cache_size = 3;
    p.return_stack_size = 3;
    init_params(f, &p);
    f->enc.ioptions = ETRACE_IOPT_JUMP_TARGET_CACHE |
                      ETRACE_IOPT_IMPLICIT_RETURN;
    open_window(f, 0x1000);
}

/* "If it is not found in the cache, the entry at that index is replaced" */
static void test_cache_replaces(Fixture *f)
{
    open_cache(f);
    run(f, 0x1008, 0x100c, JALR);
    run(f, FAR, FAR + 4, JALR);
    run(f, 0x3000, 0x3004, JALR);
    run(f, FAR, FAR + 4, NONE);
    expect(f, "address 7ffff2000\naddress 3000\naddress 7ffff2000\n");
}

/* "All invalidated when a synchronization packet is sent" */
static void test_cache_at_sync(Fixture *f)
{
    open_cache(f);
    run(f, 0x1008, 0x100c, JALR);
    run(f, FAR, FAR + 4, NONE);
    expect(f, "address 7ffff2000\n");
    etrace_encoder_end_window(&f->enc);
    run(f, 0x3000, 0x3004, JALR);
    run(f, FAR, FAR + 4, NONE);
    expect(f, "address 7ffff2004\nsupport ended_rep\n"
           "start 3000 priv 3\naddress 7ffff2000\n");
}

/* "Any such inferrable return target must not be stored in the cache." */
static void test_cache_and_returns(Fixture *f)
{
    open_cache(f);
    run(f, 0x1008, 0x100c, JALR);
    run(f, FAR, FAR + 4, CALL);
    run(f, 0x3000, 0x3004, RETURN);
    run(f, FAR + 8, FAR + 12, JALR);
    expect(f, "address 7ffff2000\n");
    run(f, 0x4002, 0x4006, JALR);
    run(f, FAR + 8, FAR + 12, NONE);
    expect(f, "address 4002\naddress 7ffff2008\n");
}

int main(int argc, char **argv)
{
    static const Test tests[] = {
        TEST(example),
        TEST(time),
        TEST(context_none),
        TEST(notify_without_window),
        TEST(modes_missing),
        TEST(reconfigure_data),
        TEST(call_counter),
        TEST(returns_at_sync),
        TEST(cache_replaces),
        TEST(cache_at_sync),
        TEST(cache_and_returns),
    };

    g_test_init(&argc, &argv, NULL);
    add_tests(tests, ARRAY_SIZE(tests));
    return g_test_run();
}
