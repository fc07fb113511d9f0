/*
 * E-Trace encoder: what a decoder needs to find the right visit of an address,
 * resynchronisation, losses
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-encoder-fixture.h"

/*
 * Resynchronisation: section 8.2
 */

static void test_resync_packets(Fixture *f)
{
    f->enc.sync_mode = ETRACE_SYNC_PACKETS;
    f->enc.sync_max = 2;
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, JALR);
    run(f, 0x2000, 0x2004, JALR);
    run(f, 0x3000, 0x3004, NONE);
    expect(f, "address 2000\naddress 3000\n");
    run(f, 0x3008, 0x300c, NONE);
    expect(f, "start 3008 priv 3\n");
    /* The count starts again, also with a full branch map. */
    branches(f, 0x3010, 31);
    run(f, 0x3010, 0x3014, JALR);
    run(f, 0x2000, 0x2004, NONE);
    expect(f, "branches " NT5 NT5 NT5 "N\naddress 2000\n");
    run(f, 0x2008, 0x200c, NONE);
    expect(f, "start 2008 priv 3\n");
}

static void test_resync_half_words(Fixture *f)
{
    f->enc.sync_mode = ETRACE_SYNC_HALFWORDS;
    f->enc.sync_max = 10;
    open_window(f, 0x1000);                 /* 4 */
    run(f, 0x1008, 0x100c, NONE);           /* 8 */
    run(f, 0x1010, 0x1010, NONE);           /* 10 */
    expect(f, "");
    run(f, 0x1014, 0x1014, NONE);
    expect(f, "start 1014 priv 3\n");
    run(f, 0x1018, 0x1020, NONE);           /* 2 + 6 */
    run(f, 0x1024, 0x1024, NONE);
    expect(f, "");
    run(f, 0x1028, 0x1028, NONE);
    expect(f, "start 1028 priv 3\n");
}

/* State 2: unreported branches first */
static void test_resync_branches(Fixture *f)
{
    f->enc.sync_mode = ETRACE_SYNC_HALFWORDS;
    f->enc.sync_max = 10;
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, TAKEN);
    run(f, 0x2000, 0x2000, NOT_TAKEN);
    expect(f, "");
    run(f, 0x2004, 0x2004, NOT_TAKEN);
    expect(f, "branches TN 2000\nstart 2004 priv 3\n");
}

static void test_resync_after_target(Fixture *f)
{
    f->enc.sync_mode = ETRACE_SYNC_HALFWORDS;
    f->enc.sync_max = 10;
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, JALR);
    run(f, 0x2000, 0x2000, NONE);
    run(f, 0x2004, 0x2004, NONE);
    expect(f, "address 2000 updiscon\nstart 2004 priv 3\n");
}

/* Any synchronisation packet restarts the count. */
static void test_resync_after_trap(Fixture *f)
{
    f->enc.sync_mode = ETRACE_SYNC_HALFWORDS;
    f->enc.sync_max = 10;
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1010, NONE);
    trap(f, 0x1014, INTERRUPT, 7, 0);
    run(f, 0x8000, 0x8008, NONE);
    expect(f, "address 1010\ninterrupt 7 handler 8000 priv 3\n");
    run(f, 0x800c, 0x8010, NONE);
    expect(f, "");
    run(f, 0x8014, 0x8018, NONE);
    expect(f, "start 8014 priv 3\n");
}

/*
 * Loops that the decoder could not count: see "The run" in the encoder
 */

static void test_loop_of_one(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1008, JUMP);
    run(f, 0x1008, 0x1008, JUMP);
    run(f, 0x1008, 0x1008, JUMP);
    run(f, 0x1008, 0x1008, JUMP);
    trap(f, 0x1008, INTERRUPT, 7, 0);
    expect(f, "address 1008 notify\naddress 1008 notify\n"
              "address 1008 notify\naddress 1008\n");
}

static void test_loop_of_two(Fixture *f)
{
    open_window(f, 0x1000);
    for (unsigned i = 0; i < 3; i++) {
        run(f, 0x1008, 0x1008, NONE);
        run(f, 0x100c, 0x100c, JUMP);
    }
    run(f, 0x1008, 0x1008, NONE);
    trap(f, 0x100c, INTERRUPT, 7, 0);
    expect(f, "address 100c notify\naddress 100c notify\n"
              "address 100c notify\naddress 1008\n");
}

/* The reported instruction itself counts once it is run again. */
static void test_loop_at_sync(Fixture *f)
{
    etrace_encoder_start(&f->enc);
    run(f, 0x1000, 0x1000, JUMP);
    run(f, 0x1000, 0x1000, JUMP);
    expect(f, "support no_change\nstart 1000 priv 3\n");
    run(f, 0x1000, 0x1000, JUMP);
    etrace_encoder_end_window(&f->enc);
    expect(f, "address 1000 notify\naddress 1000\nsupport ended_rep\n");
}

/* The decoder does not look for where it is: visits need not be distinct. */
static void test_loop_back_to_reported(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1008, JUMP);
    run(f, 0x1000, 0x1000, NONE);
    trap(f, 0x1004, INTERRUPT, 7, 0);
    expect(f, "address 1000\n");
}

/* In by a jump behind the loop's head, round through code in front of it */
static void test_loop_entered_in_the_middle(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1008, JUMP);
    run(f, 0x2010, 0x2018, JUMP);
    run(f, 0x2000, 0x200c, NONE);       /* not visited so far */
    run(f, 0x2010, 0x2014, NONE);       /* but this is */
    expect(f, "");
    etrace_encoder_end_window(&f->enc);
    expect(f, "address 2018 notify\naddress 2014\nsupport ended_rep\n");
}

static void test_loop_of_calls(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1008, CALL);
    run(f, 0x3000, 0x3004, CALL);
    run(f, 0x2000, 0x2004, CALL);
    expect(f, "");
    run(f, 0x3000, 0x3004, CALL);
    expect(f, "");
    run(f, 0x2000, 0x2004, CALL);
    trap(f, 0x3000, INTERRUPT, 7, 0);
    expect(f, "address 2004 notify\naddress 2004\n");
}

/* Branches distinguish the iterations. */
static void test_loop_with_branch(Fixture *f)
{
    open_window(f, 0x1000);
    for (unsigned i = 0; i < 10; i++) {
        run(f, 0x1008, 0x100c, NOT_TAKEN);
        run(f, 0x1010, 0x1014, JUMP);
    }
    expect(f, "");
    etrace_encoder_end_window(&f->enc);
    expect(f, "branches NNNNNNNNNN 1014\nsupport ended_rep\n");
}

static void test_loop_resync(Fixture *f)
{
    f->enc.sync_mode = ETRACE_SYNC_HALFWORDS;
    f->enc.sync_max = 10;
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1008, JUMP);
    run(f, 0x1008, 0x1008, JUMP);
    run(f, 0x1008, 0x1008, JUMP);
    expect(f, "");
    run(f, 0x1008, 0x1008, JUMP);
    expect(f, "address 1008 notify\naddress 1008 notify\naddress 1008\n"
              "start 1008 priv 3\n");
}

/* No more than this many jumps are distinguished. */
static void test_many_jumps(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1008, JUMP);
    for (unsigned i = 1; i < ETRACE_RUN_MAX; i++) {
        run(f, 0x10000 * i, 0x10000 * i + 4, JUMP);
    }
    run(f, 0x90000, 0x90004, JUMP);
    expect(f, "");
    run(f, 0xa0000, 0xa0004, JUMP);
    expect(f, "address 90004 notify\n");
}

/*
 * Section 6.6.2, cases 1 and 3: the target of an updiscon is in the code that
 * leads to it. Whatever follows must say which visit it was.
 */

static void run_back_to_visited(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1010, JALR);
    run(f, 0x1008, 0x100c, NONE);
    expect(f, "address 1008\n");
}

static void test_visited_then_trap(Fixture *f)
{
    run_back_to_visited(f);
    trap(f, 0x1010, INTERRUPT, 7, 0);
    expect(f, "address 100c\n");
}

static void test_visited_then_updiscon(Fixture *f)
{
    run_back_to_visited(f);
    run(f, 0x1010, 0x1010, JALR);
    run(f, 0x1008, 0x100c, NONE);
    expect(f, "address 1008\n");
}

static void test_visited_then_resync(Fixture *f)
{
    f->enc.sync_mode = ETRACE_SYNC_PACKETS;
    f->enc.sync_max = 1;
    run_back_to_visited(f);
    run(f, 0x1010, 0x1010, NONE);
    expect(f, "address 100c\nstart 1010 priv 3\n");
}

static void test_visited_then_privilege(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1010, XRET);
    run(f, 0x1008, 0x1010, XRET);
    expect(f, "address 1008\n");
    f->priv = U;
    run(f, 0x4000, 0x4004, NONE);
    expect(f, "address 1010\nstart 4000 priv 0\n");
}

/* A resync may not name an instruction that the decoder passes earlier. */
static void test_resync_at_visited(Fixture *f)
{
    f->enc.sync_mode = ETRACE_SYNC_HALFWORDS;
    f->enc.sync_max = 10;
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1010, JALR);
    run(f, 0x1008, 0x100c, NONE);
    expect(f, "address 1010\nstart 1008 priv 3\n");
}

/*
 * Losses
 */

static void test_loss(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1010, JALR);
    f->refuse = 1;
    f->not_ready = true;
    run(f, 0x2000, 0x2004, JALR);
    run(f, 0x3000, 0x3004, TAKEN);
    trap(f, 0x4000, EXCEPTION, 2, 0);
    etrace_encoder_end_window(&f->enc);
    run(f, 0x8000, 0x8004, NONE);
    expect(f, "");
    f->not_ready = false;
    run(f, 0x8008, 0x8010, NONE);
    expect(f, "support trace_lost\nstart 8008 priv 3\n");
    run(f, 0x8014, 0x8014, JALR);
    run(f, 0x9000, 0x9004, NONE);
    expect(f, "address 9000\n");
}

static void test_loss_then_trap(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1010, NONE);
    f->refuse = 1;
    trap(f, 0x1014, EXCEPTION, 2, 0x99);
    expect(f, "support trace_lost\nexception 2 tval 99 epc 1014 priv 3\n");
    run(f, 0x8000, 0x8004, NONE);
    expect(f, "start 8000 priv 3\n");
}

/* The support packet that reports the loss is lost, too. */
static void test_loss_of_support(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1010, JALR);
    f->refuse = 2;
    run(f, 0x2000, 0x2004, NONE);
    run(f, 0x2008, 0x2010, NONE);
    expect(f, "");
    run(f, 0x2014, 0x2018, NONE);
    expect(f, "support trace_lost\nstart 2014 priv 3\n");
}

static void test_loss_over_stop(Fixture *f)
{
    open_window(f, 0x1000);
    f->refuse = 1;
    f->not_ready = true;
    etrace_encoder_stop(&f->enc);
    expect(f, "");
    f->not_ready = false;
    etrace_encoder_start(&f->enc);
    expect(f, "support trace_lost\n");
    run(f, 0x2014, 0x2018, NONE);
    expect(f, "start 2014 priv 3\n");
}

static const Test tests[] = {
    TEST(resync_packets),
    TEST(resync_half_words),
    TEST(resync_branches),
    TEST(resync_after_target),
    TEST(resync_after_trap),
    TEST(loop_of_one),
    TEST(loop_of_two),
    TEST(loop_at_sync),
    TEST(loop_back_to_reported),
    TEST(loop_entered_in_the_middle),
    TEST(loop_of_calls),
    TEST(loop_with_branch),
    TEST(loop_resync),
    TEST(many_jumps),
    TEST(visited_then_trap),
    TEST(visited_then_updiscon),
    TEST(visited_then_resync),
    TEST(visited_then_privilege),
    TEST(resync_at_visited),
    TEST(loss),
    TEST(loss_then_trap),
    TEST(loss_of_support),
    TEST(loss_over_stop),
};

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add_tests(tests, ARRAY_SIZE(tests));
    return g_test_run();
}
