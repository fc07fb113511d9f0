/*
 * E-Trace encoder: windows, jumps, branches, traps (Figure 8.1)
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-encoder-fixture.h"

/*
 * Windows
 */

static void test_start(Fixture *f)
{
    run(f, 0x1000, 0x1010, NONE);
    expect(f, "");
    etrace_encoder_start(&f->enc);
    expect(f, "support no_change\n");
    run(f, 0x1000, 0x1010, NONE);
    expect(f, "start 1000 priv 3\n");
    run(f, 0x1014, 0x1020, NONE);
    expect(f, "");
}

static void test_start_at_branch(Fixture *f)
{
    etrace_encoder_start(&f->enc);
    run(f, 0x1000, 0x1000, TAKEN);
    expect(f, "support no_change\nstart 1000 priv 3 taken\n");
    /* It is not reported again with the next ones. */
    run(f, 0x2000, 0x2004, NOT_TAKEN);
    etrace_encoder_stop(&f->enc);
    expect(f, "branches N 2004\nsupport disabled ended_rep\n");

    etrace_encoder_start(&f->enc);
    run(f, 0x1000, 0x1000, NOT_TAKEN);
    expect(f, "support no_change\nstart 1000 priv 3\n");
    /* A branch that is not the block's first instruction waits. */
    etrace_encoder_stop(&f->enc);
    expect(f, "support disabled ended_rep\n");
    etrace_encoder_start(&f->enc);
    run(f, 0x1000, 0x1004, TAKEN);
    expect(f, "support no_change\nstart 1000 priv 3\n");
    etrace_encoder_stop(&f->enc);
    expect(f, "branches T 1004\nsupport disabled ended_rep\n");
}

static void test_stop_without_window(Fixture *f)
{
    etrace_encoder_stop(&f->enc);
    expect(f, "");
    etrace_encoder_start(&f->enc);
    etrace_encoder_end_window(&f->enc);
    expect(f, "support no_change\n");
    etrace_encoder_stop(&f->enc);
    expect(f, "support disabled no_change\n");
    run(f, 0x1000, 0x1010, NONE);
    expect(f, "");
}

static void test_end_window(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, TAKEN);
    run(f, 0x2000, 0x2008, NONE);
    etrace_encoder_end_window(&f->enc);
    expect(f, "branches T 2008\nsupport ended_rep\n");
    etrace_encoder_end_window(&f->enc);
    expect(f, "");
    run(f, 0x200c, 0x2010, NONE);
    expect(f, "start 200c priv 3\n");
}

/* The last instruction of the window is a branch: it is in the map. */
static void test_end_window_at_branch(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, NOT_TAKEN);
    etrace_encoder_end_window(&f->enc);
    expect(f, "branches N 100c\nsupport ended_rep\n");
}

/* Section 6.5.1, ended_ntr: no second packet for the target of an updiscon */
static void test_end_window_at_target(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, JALR);
    run(f, 0x2000, 0x2000, NONE);
    expect(f, "");
    etrace_encoder_end_window(&f->enc);
    expect(f, "address 2000 updiscon\nsupport ended_ntr\n");
}

static void test_end_window_after_sync(Fixture *f)
{
    etrace_encoder_start(&f->enc);
    run(f, 0x1000, 0x1000, NONE);
    etrace_encoder_end_window(&f->enc);
    expect(f, "support no_change\nstart 1000 priv 3\nsupport ended_rep\n");
}

/*
 * Jumps and branches
 */

static void test_inferable_jumps(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1010, JUMP);
    run(f, 0x2000, 0x2008, CALL);
    run(f, 0x1800, 0x1804, ETRACE_ITYPE_OTHER_INFERABLE_JUMP);
    run(f, 0x100, 0x104, NONE);
    expect(f, "");
}

static void test_updiscon(Fixture *f)
{
    static const ETraceItype itype[] = {
        ETRACE_ITYPE_TRAP_RETURN, ETRACE_ITYPE_UNINFERABLE_CALL,
        ETRACE_ITYPE_UNINFERABLE_JUMP, ETRACE_ITYPE_COROUTINE_SWAP,
        ETRACE_ITYPE_RETURN, ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP,
    };

    open_window(f, 0x1000);
    for (unsigned i = 0; i < ARRAY_SIZE(itype); i++) {
        run(f, 0x1008, 0x1010, itype[i]);
        expect(f, "");
        /* Its next instruction is in the block: nothing to wait for. */
        run(f, 0x2000, 0x2004, NONE);
        expect(f, "address 2000\n");
    }
    run(f, 0x2008, 0x200c, JALR);
    run(f, 0x3000, 0x3000, NONE);
    expect(f, "");
    run(f, 0x3004, 0x3004, NONE);
    expect(f, "address 3000\n");
}

static void test_branch_map(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1010, TAKEN);
    run(f, 0x2000, 0x2000, NOT_TAKEN);
    run(f, 0x2004, 0x2008, NOT_TAKEN);
    run(f, 0x200c, 0x2010, JALR);
    run(f, 0x3000, 0x3004, NONE);
    expect(f, "branches TNN 3000\n");
    run(f, 0x3008, 0x300c, JALR);
    run(f, 0x3000, 0x3004, NONE);
    expect(f, "address 3000\n");
}

static void test_branch_map_full(Fixture *f)
{
    open_window(f, 0x1000);
    branches(f, 0x2000, 31);
    expect(f, "");
    run(f, 0x2000, 0x2004, NONE);
    expect(f, "branches " NT5 NT5 NT5 "N\n");
    run(f, 0x2008, 0x2008, JALR);
    run(f, 0x3000, 0x3004, NONE);
    expect(f, "address 3000\n");
}

/* branches is 31, not 0, when an address is due with the 31st branch. */
static void test_branch_map_full_with_address(Fixture *f)
{
    open_window(f, 0x1000);
    branches(f, 0x2000, 30);
    run(f, 0x2008, 0x2008, JALR);
    run(f, 0x3000, 0x3000, NOT_TAKEN);
    run(f, 0x3004, 0x3008, NONE);
    expect(f, "branches " NT5 NT5 NT5 "N 3000\n");

    branches(f, 0x2000, 31);
    trap(f, 0x2000, INTERRUPT, 7, 0);
    expect(f, "branches " NT5 NT5 NT5 "N 2004\n");
}

static void test_rv32_addresses_wrap(Fixture *f)
{
    init_xlen(f, 32);
    open_window(f, 0xfffff000);
    run(f, 0xfffff008, 0xfffff010, JALR);
    run(f, 0x1000, 0x1004, JALR);
    expect(f, "address 1000\n");
    run(f, 0x80000000, 0x80000004, NONE);
    expect(f, "address 80000000\n");
}

static void test_full_address(Fixture *f)
{
    f->enc.ioptions = ETRACE_IOPT_FULL_ADDRESS;
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1010, JALR);
    f->address = 0;                 /* the packets are not differences */
    run(f, 0x2000, 0x2004, JALR);
    expect(f, "address 2000\n");
    f->address = 0;
    run(f, 0x3000, 0x3004, NONE);
    expect(f, "address 3000\n");
}

/*
 * Traps and privilege
 */

static void test_trap(Fixture *f)
{
    f->priv = U;
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1010, NONE);
    trap(f, 0x1014, EXCEPTION, 13, 0xdead0);
    expect(f, "address 1010\n");
    f->priv = S;
    run(f, 0x8000, 0x8000, NONE);
    expect(f, "exception 13 tval dead0 handler 8000 priv 1\n");
    run(f, 0x8004, 0x8008, XRET);
    f->priv = U;
    run(f, 0x1014, 0x1018, NONE);
    expect(f, "start 1014 priv 0\n");
}

static void test_interrupt_after_branch(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1010, TAKEN);
    trap(f, 0x2000, INTERRUPT, 7, 0x123);
    expect(f, "branches T 1010\n");
    run(f, 0x8000, 0x8000, TAKEN);
    expect(f, "interrupt 7 handler 8000 priv 3 taken\n");
    run(f, 0x9000, 0x9004, NONE);
    etrace_encoder_end_window(&f->enc);
    expect(f, "address 9004\nsupport ended_rep\n");
}

/* Two formats 3 in a row: the first one's instruction is reported already. */
static void test_trap_after_sync(Fixture *f)
{
    etrace_encoder_start(&f->enc);
    run(f, 0x1000, 0x1000, TAKEN);
    trap(f, 0x2000, EXCEPTION, 12, 0x2000);
    expect(f, "support no_change\nstart 1000 priv 3 taken\n");
    run(f, 0x8000, 0x8000, NONE);
    expect(f, "exception 12 tval 2000 handler 8000 priv 3\n");
    trap(f, 0x8004, EXCEPTION, 2, 0);
    expect(f, "");
    run(f, 0x8000, 0x8004, NONE);
    expect(f, "exception 2 tval 0 handler 8000 priv 3\n");
}

/* Section 6.6.2, case 2 */
static void test_trap_after_target(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1010, JALR);
    run(f, 0x2000, 0x2000, NONE);
    trap(f, 0x2004, INTERRUPT, 7, 0);
    expect(f, "address 2000 updiscon\n");
    run(f, 0x8000, 0x8004, NONE);
    expect(f, "interrupt 7 handler 8000 priv 3\n");
}

/* Section 6.3.1: the EPC cannot be inferred. */
static void test_trap_on_target(Fixture *f)
{
    f->priv = U;
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1010, JALR);
    trap(f, 0x2000, EXCEPTION, 12, 0x2000);
    expect(f, "address 1010\n"
              "exception 12 tval 2000 epc 2000 priv 0\n");
    f->priv = S;
    run(f, 0x8000, 0x8004, JALR);
    expect(f, "start 8000 priv 1\n");
    /* Differences go on from the handler, not from the EPC. */
    run(f, 0x8800, 0x8804, NONE);
    expect(f, "address 8800\n");
}

static void test_trap_first_in_window(Fixture *f)
{
    f->priv = U;
    etrace_encoder_start(&f->enc);
    trap(f, 0x1000, INTERRUPT, 5, 0);
    expect(f, "support no_change\ninterrupt 5 epc 1000 priv 0\n");
    f->priv = S;
    run(f, 0x8000, 0x8004, NONE);
    expect(f, "start 8000 priv 1\n");
}

static void test_trap_on_xret_target(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1010, XRET);
    f->priv = U;
    trap(f, 0x4000, EXCEPTION, 12, 0x4000);
    expect(f, "address 1010\n"
              "exception 12 tval 4000 epc 4000 priv 0\n");
    f->priv = M;
    run(f, 0x8000, 0x8004, NONE);
    expect(f, "start 8000 priv 3\n");
}

/* The first instruction of the first handler never retires. */
static void test_two_traps(Fixture *f)
{
    f->priv = U;
    open_window(f, 0x1000);
    trap(f, 0x1008, EXCEPTION, 8, 0);
    expect(f, "address 1004\n");
    f->priv = S;
    trap(f, 0x8000, EXCEPTION, 12, 0x8000);
    expect(f, "exception 8 tval 0 epc 1008 priv 0\n");
    f->priv = M;
    run(f, 0x9000, 0x9004, NONE);
    expect(f, "exception 12 tval 8000 handler 9000 priv 3\n");
}

static void test_three_traps_on_target(Fixture *f)
{
    f->priv = U;
    open_window(f, 0x1000);
    run(f, 0x1008, 0x1008, JALR);
    trap(f, 0x2000, EXCEPTION, 12, 0x2000);
    expect(f, "address 1008\nexception 12 tval 2000 epc 2000 priv 0\n");
    f->priv = S;
    trap(f, 0x8000, INTERRUPT, 9, 0);
    expect(f, "");
    trap(f, 0x8000, EXCEPTION, 1, 0x8000);
    expect(f, "interrupt 9 epc 8000 priv 1\n");
    f->priv = M;
    run(f, 0x9000, 0x9004, NONE);
    expect(f, "exception 1 tval 8000 handler 9000 priv 3\n");
}

static void test_end_window_with_trap(Fixture *f)
{
    f->priv = U;
    open_window(f, 0x1000);
    trap(f, 0x1008, EXCEPTION, 8, 0);
    expect(f, "address 1004\n");
    etrace_encoder_end_window(&f->enc);
    expect(f, "exception 8 tval 0 epc 1008 priv 0\nsupport ended_rep\n");
    /* If it is out already, it is not sent again. */
    trap(f, 0x1008, EXCEPTION, 8, 0);
    expect(f, "exception 8 tval 0 epc 1008 priv 0\n");
    etrace_encoder_end_window(&f->enc);
    expect(f, "support ended_rep\n");
}

/* ppccd_br: branches are reported, with the trap return's address. */
static void test_privilege_change(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, TAKEN);
    run(f, 0x2000, 0x2004, XRET);
    f->priv = U;
    run(f, 0x4000, 0x4000, NONE);
    expect(f, "branches T 2004\nstart 4000 priv 0\n");
}

static void test_privilege_change_at_target(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, JALR);
    run(f, 0x2000, 0x2000, XRET);
    f->priv = U;
    run(f, 0x4000, 0x4004, NONE);
    expect(f, "address 2000 updiscon\nstart 4000 priv 0\n");
}

/* A decoder would look for the xRET: the window has to end. */
static void test_privilege_change_alone(Fixture *f)
{
    open_window(f, 0x1000);
    f->priv = U;
    run(f, 0x1008, 0x100c, NONE);
    expect(f, "address 1004\nsupport ended_rep\nstart 1008 priv 0\n");
}

static const Test tests[] = {
    TEST(start),
    TEST(start_at_branch),
    TEST(stop_without_window),
    TEST(end_window),
    TEST(end_window_at_branch),
    TEST(end_window_at_target),
    TEST(end_window_after_sync),
    TEST(inferable_jumps),
    TEST(updiscon),
    TEST(branch_map),
    TEST(branch_map_full),
    TEST(branch_map_full_with_address),
    TEST(rv32_addresses_wrap),
    TEST(full_address),
    TEST(trap),
    TEST(interrupt_after_branch),
    TEST(trap_after_sync),
    TEST(trap_after_target),
    TEST(trap_on_target),
    TEST(trap_first_in_window),
    TEST(trap_on_xret_target),
    TEST(two_traps),
    TEST(three_traps_on_target),
    TEST(end_window_with_trap),
    TEST(privilege_change),
    TEST(privilege_change_at_target),
    TEST(privilege_change_alone),
};

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add_tests(tests, ARRAY_SIZE(tests));
    return g_test_run();
}
