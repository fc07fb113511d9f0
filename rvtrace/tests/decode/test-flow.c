/*
 * Instruction flow: packets written by hand after the specification's text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/flow-fixture.h"

/* "1. ... carries on executing the 2nd pass of the loop." */
static void test_looplabel_1(void)
{
    FlowFixture f;

    set_up_loop(&f);
    check_true(start_m(&f, 0));
    check_true(addr(&f, 8, 0));
    assert_pcs(&f, A(0), A(4), A(8), END);
    check_true(addr(&f, 0, 0));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), A(8), A(12), A(16), A(8),
               END);
    tear_down(&f);
}

/* "2. ... an exception ... in the second iteration at looplabel + 4." */
static void test_looplabel_2(void)
{
    FlowFixture f;

    set_up_loop(&f);
    check_true(start_m(&f, 0));
    check_true(addr(&f, 8, UPDISCON));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), A(8), END);
    check_true(trap(&f, 2, true, 20));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), A(8), A(20), END);
    check_cmpuint(f.traps->len, ==, 1);
    check_true(g_array_index(f.traps, FlowTrap, 0).epc_known);
    check_cmphex(g_array_index(f.traps, FlowTrap, 0).epc, ==, BASE + 12);
    tear_down(&f);
}

/* "3. An exception occurs immediately after the 1st execution." */
static void test_looplabel_3(void)
{
    FlowFixture f;

    set_up_loop(&f);
    check_true(start_m(&f, 0));
    check_true(addr(&f, 8, 0));
    check_true(trap(&f, 2, true, 20));
    assert_pcs(&f, A(0), A(4), A(8), A(20), END);
    check_cmphex(g_array_index(f.traps, FlowTrap, 0).epc, ==, BASE + 12);
    tear_down(&f);
}

/* "4. ... reports the 1st execution of looplabel with notify" */
static void test_looplabel_4(void)
{
    FlowFixture f;

    set_up_loop(&f);
    check_true(start_m(&f, 0));
    check_true(addr(&f, 8, NOTIFY));
    assert_pcs(&f, A(0), A(4), A(8), END);
    check_true(addr(&f, 0, 0));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), A(8), END);
    tear_down(&f);
}

/* Section 6.5.1: "stopped after executing looplabel in the 1st iteration" */
static void test_ended_rep(void)
{
    FlowFixture f;

    set_up_loop(&f);
    start_m(&f, 0);
    addr(&f, 8, 0);
    check_true(support(&f, ETRACE_QUAL_ENDED_REP));
    assert_pcs(&f, A(0), A(4), A(8), END);
    check_cmpuint(f.ends, ==, 1);
    /* and what follows starts with a synchronisation packet */
    check_true(start_m(&f, 12));
    assert_pcs(&f, A(0), A(4), A(8), A(12), END);
    check_cmpuint(f.starts, ==, 2);
    tear_down(&f);
}

/* "... in the 2nd loop iteration" */
static void test_ended_ntr(void)
{
    FlowFixture f;

    set_up_loop(&f);
    start_m(&f, 0);
    addr(&f, 8, 0);
    check_true(support(&f, ETRACE_QUAL_ENDED_NTR));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), A(8), END);
    tear_down(&f);
}

/* The same, but the address was not inferred: it was updiscon's */
static void test_ended_ntr_updiscon(void)
{
    FlowFixture f;

    set_up_loop(&f);
    start_m(&f, 0);
    addr(&f, 8, UPDISCON);
    check_true(support(&f, ETRACE_QUAL_ENDED_NTR));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), A(8), END);
    tear_down(&f);
}

/*
 * A full branch map without an address: the last branch is reached, but
 * "we do not yet know whether it retires" what follows it.
 */
static void test_full_map(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, BNE_M4, NOP, JALR, 0);
    start_m(&f, 0);
    check_true(full_map(&f, 0));
    check_cmpuint(f.pcs->len, ==, 62);
    for (guint i = 0; i < 62; i++) {
        check_cmphex(g_array_index(f.pcs, uint64_t, i), ==,
                     BASE + 4 * (i & 1));
    }
    /* the 31st was taken; then one that is not, and on to an address */
    check_true(map_addr(&f, 1, 1, 8, 0));
    check_cmpuint(f.pcs->len, ==, 65);
    check_cmphex(g_array_index(f.pcs, uint64_t, 62), ==, BASE);
    check_cmphex(g_array_index(f.pcs, uint64_t, 63), ==, BASE + 4);
    check_cmphex(g_array_index(f.pcs, uint64_t, 64), ==, BASE + 8);
    check_cmpuint(f.losses->len, ==, 0);
    tear_down(&f);
}

/* Two full maps on end: the bit that is left is the oldest. */
static void test_full_map_twice(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, BNE_M4, NOP, JALR, 0);
    start_m(&f, 0);
    full_map(&f, 0);
    check_true(full_map(&f, 0));
    check_cmpuint(f.pcs->len, ==, 124);
    tear_down(&f);
}

/* branches = 31 with an address: all 31 are used up on the way. */
static void test_map_31_with_address(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, BNE_M4, NOP, JALR, 0);
    start_m(&f, 0);
    check_true(map_addr(&f, 31, 1u << 30, 8, 0));
    check_cmpuint(f.pcs->len, ==, 63);
    check_cmphex(g_array_index(f.pcs, uint64_t, 62), ==, BASE + 8);
    tear_down(&f);
}

/* The reported instruction is a branch itself: its bit is in the map. */
static void test_report_branch(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, BNE_P8, NOP, NOP, JALR, NOP, 0);
    start_m(&f, 0);
    check_true(map_addr(&f, 1, 0, 4, NOTIFY));
    assert_pcs(&f, A(0), A(4), END);
    /* taken: to 12; then the jump, to 20 */
    check_true(addr(&f, 16, 0));
    assert_pcs(&f, A(0), A(4), A(12), A(16), A(20), END);
    tear_down(&f);
}

/* An exception after a branch: EPC is where the branch led to. */
static void test_trap_after_branch(void)
{
    for (unsigned not_taken = 0; not_taken < 2; not_taken++) {
        FlowFixture f;

        set_up(&f, 64, NOP, BNE_P8, NOP, NOP, JALR, NOP, 0);
        start_m(&f, 0);
        check_true(map_addr(&f, 1, not_taken, 4, 0));
        check_true(trap(&f, 13, true, 20));
        assert_pcs(&f, A(0), A(4), A(20), END);
        check_cmphex(g_array_index(f.traps, FlowTrap, 0).epc, ==,
                     BASE + (not_taken ? 8 : 12));
        tear_down(&f);
    }
}

/* Section 6.2.1: branch says whether the first instruction is taken. */
static void test_start_at_branch(void)
{
    for (unsigned branch = 0; branch < 2; branch++) {
        FlowFixture f;

        set_up(&f, 64, BNE_P8, NOP, NOP, JALR, NOP, 0);
        check_true(start(&f, 0, branch, ETRACE_PRIV_M));
        check_true(addr(&f, 16, 0));
        if (branch) {
            assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), END);
        } else {
            assert_pcs(&f, A(0), A(8), A(12), A(16), END);
        }
        tear_down(&f);
    }
}

/* branch is 1 for what is no branch: it must not stay in the map. */
static void test_start_not_at_branch(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, BNE_P8, NOP, NOP, JALR, NOP, 0);
    start(&f, 0, true, ETRACE_PRIV_M);
    check_true(map_addr(&f, 1, 0, 20, 0));
    assert_pcs(&f, A(0), A(4), A(12), A(16), A(20), END);
    tear_down(&f);
}

/*
 * Section 6.3.1: "if a second interrupt or exception occurs immediately, ...
 * thaddr is 0, and address is undefined"
 */
static void test_back_to_back(void)
{
    FlowFixture f;
    const FlowTrap *t;

    set_up_loop(&f);
    start_m(&f, 0);
    addr(&f, 4, 0);
    check_true(trap(&f, 5, false, 8));
    check_true(trap(&f, 7, true, 20));
    assert_pcs(&f, A(0), A(4), A(20), END);
    check_cmpuint(f.traps->len, ==, 2);
    t = &g_array_index(f.traps, FlowTrap, 0);
    check_cmpuint(t[0].cause, ==, 5);
    check_cmpuint(t[1].cause, ==, 7);
    /* the first handler's address is nowhere in the trace */
    check_false(t[1].epc_known);
    check_cmpuint(f.losses->len, ==, 0);
    check_true(addr(&f, 4, 0));
    check_cmphex(g_array_index(f.pcs, uint64_t, 3), ==, BASE + 24);
    tear_down(&f);
}

/* "an exception occurs at the target of an uninferable PC discontinuity" */
static void test_trap_on_target(void)
{
    FlowFixture f;

    set_up_loop(&f);
    start_m(&f, 0);
    check_true(addr(&f, 16, 0));
    check_true(trap(&f, 12, false, 0x4000));
    check_true(start_m(&f, 20));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), A(20), END);
    check_true(g_array_index(f.traps, FlowTrap, 0).epc_known);
    check_cmphex(g_array_index(f.traps, FlowTrap, 0).epc, ==,
                 BASE + 0x4000);
    check_cmpuint(f.starts, ==, 1);
    tear_down(&f);
}

/*
 * A trap reported with thaddr 0, whatever the reason, and its handler in a
 * packet of its own: no path leads from the one to the other.
 */
static void test_handler_apart(void)
{
    FlowFixture f;

    set_up_loop(&f);
    start_m(&f, 0);
    check_true(addr(&f, 4, 0));
    check_true(trap(&f, 5, false, 8));
    check_true(start_m(&f, 20));
    assert_pcs(&f, A(0), A(4), A(20), END);
    check_cmpuint(f.losses->len, ==, 0);
    tear_down(&f);
}

/* "An exception occuring on the 1st traced instruction is treated" so, too */
static void test_trap_on_first(void)
{
    FlowFixture f;

    set_up_loop(&f);
    check_true(support(&f, ETRACE_QUAL_NO_CHANGE));
    check_true(trap(&f, 1, false, 0));
    check_true(start_m(&f, 20));
    assert_pcs(&f, A(20), END);
    check_cmphex(g_array_index(f.traps, FlowTrap, 0).epc, ==, BASE);
    check_cmphex(g_array_index(f.traps, FlowTrap, 0).tval, ==, 0x1234);
    check_cmpuint(f.losses->len, ==, 0);
    tear_down(&f);
}

/* An ecall does not retire: it is where the trap hits. */
static void test_ecall(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, NOP, ECALL, NOP, NOP, 0);
    start_m(&f, 0);
    check_true(addr(&f, 4, 0));
    check_true(trap(&f, 11, true, 12));
    assert_pcs(&f, A(0), A(4), A(12), END);
    check_cmphex(g_array_index(f.traps, FlowTrap, 0).epc, ==, BASE + 8);
    tear_down(&f);
}

/* Resynchronisation: followed "up to and through the format 3 packet" */
static void test_resync(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, J_P8, NOP, NOP, NOP, JALR, 0);
    start_m(&f, 0);
    check_true(start_m(&f, 16));
    assert_pcs(&f, A(0), A(4), A(12), A(16), END);
    check_cmpuint(f.starts, ==, 1);
    check_cmpuint(f.losses->len, ==, 0);
    tear_down(&f);
}

/*
 * A return from a trap into another privilege level: an address on the way
 * there is not the place, only behind the return is.
 */
static void test_privilege_change(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, NOP, NOP, MRET, NOP, 0);
    start_m(&f, 0);
    check_true(start(&f, 4, true, ETRACE_PRIV_U));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(4), END);
    check_cmpuint(g_array_index(f.privs, guint, 3), ==, ETRACE_PRIV_M);
    check_cmpuint(g_array_index(f.privs, guint, 4), ==, ETRACE_PRIV_U);
    tear_down(&f);
}

/* mret to M: an uninferable jump like any other */
static void test_xret_same_privilege(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, MRET, NOP, NOP, 0);
    start_m(&f, 0);
    check_true(addr(&f, 12, 0));
    assert_pcs(&f, A(0), A(4), A(12), END);
    tear_down(&f);
}

/* The target is encoded in jalr x0, 16(x0), but is reported nevertheless. */
static void test_jalr_x0(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, JALR_X0, NOP, NOP, 0);
    start_m(&f, 0);
    check_true(addr(&f, 12, 0));
    assert_pcs(&f, A(0), A(4), A(12), END);
    tear_down(&f);
}

/* A loop of inferable jumps: notify distinguishes the visits. */
static void test_jump_loop(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, NOP, J_M8, NOP, 0);
    start_m(&f, 0);
    check_true(addr(&f, 8, NOTIFY));
    check_true(addr(&f, 0, NOTIFY));
    check_true(addr(&f, -4, 0));
    check_true(trap(&f, 2, true, 12));
    assert_pcs(&f, A(0), A(4), A(8), A(0), A(4), A(8), A(0), A(4), A(12),
               END);
    tear_down(&f);
}

/* j . is its own next instruction. */
static void test_jump_to_self(void)
{
    FlowFixture f;

    set_up(&f, 64, J_SELF, NOP, 0);
    start_m(&f, 0);
    check_true(addr(&f, 0, NOTIFY));
    check_true(addr(&f, 0, NOTIFY));
    check_true(addr(&f, 0, 0));
    check_true(trap(&f, 7, true, 4));
    assert_pcs(&f, A(0), A(0), A(0), A(0), A(4), END);
    check_cmphex(g_array_index(f.traps, FlowTrap, 0).epc, ==, BASE);
    tear_down(&f);
}

static void assert_left(FlowFixture *f, guint i, ETraceItype itype)
{
    check_cmpuint(f->left->len, ==, i + 1);
    check_cmpuint(g_array_index(f->left, guint, i), ==, itype);
}

/* A call whose target traps, or lies behind the window, was a call. */
static void test_left_by_call(void)
{
    for (int traps = 0; traps < 2; traps++) {
        FlowFixture f;

        set_up(&f, 64, NOP, CALL_P8, NOP, NOP, NOP, 0);
        start_m(&f, 0);
        check_true(addr(&f, 4, 0));
        check_cmpuint(f.left->len, ==, 0);
        check_true(traps ? trap(&f, 12, true, 16)
                         : support(&f, ETRACE_QUAL_ENDED_REP));
        assert_left(&f, 0, ETRACE_ITYPE_INFERABLE_CALL);
        if (traps) {
            check_cmphex(g_array_index(f.traps, FlowTrap, 0).epc, ==,
                         BASE + 12);
        }
        tear_down(&f);
    }
}

/* ... and once only, if the path goes on */
static void test_left_once(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, CALL_P8, NOP, NOP, JALR, NOP, 0);
    start_m(&f, 0);
    check_true(addr(&f, 4, NOTIFY));
    check_true(addr(&f, 8, 0));
    assert_pcs(&f, A(0), A(4), A(12), END);
    assert_left(&f, 0, ETRACE_ITYPE_INFERABLE_CALL);
    tear_down(&f);
}

/* Full-address mode: addresses are no differences. */
static void test_full_address(void)
{
    FlowFixture f;

    set_up_loop(&f);
    flow_packet(&f.flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_SUPPORT,
        .ioptions = ETRACE_IOPT_FULL_ADDRESS,
    });
    start_m(&f, 0);
    check_true(addr(&f, BASE + 8, UPDISCON));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(16), A(8), END);
    tear_down(&f);
}

/* RV32: 2-byte instructions, and addresses of 32 bits */
static void test_rv32(void)
{
    FlowFixture f;

    /* c.nop; c.jal .+4; c.nop; c.jr a5 */
    set_up(&f, 32, C_NOP, 0x2011, C_NOP, 0x8782, C_NOP, 0);
    start_m(&f, 0);
    check_true(addr(&f, (int64_t)-2 + 2, 0));
    assert_pcs(&f, A(0), A(2), A(6), A(0), END);
    check_true(addr(&f, -0x80000000ll, UPDISCON));
    check_cmphex(g_array_index(f.pcs, uint64_t, f.pcs->len - 1), ==, 0);
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flow/looplabel-1", test_looplabel_1);
    g_test_add_func("/flow/looplabel-2", test_looplabel_2);
    g_test_add_func("/flow/looplabel-3", test_looplabel_3);
    g_test_add_func("/flow/looplabel-4", test_looplabel_4);
    g_test_add_func("/flow/ended-rep", test_ended_rep);
    g_test_add_func("/flow/ended-ntr", test_ended_ntr);
    g_test_add_func("/flow/ended-ntr-updiscon", test_ended_ntr_updiscon);
    g_test_add_func("/flow/full-map", test_full_map);
    g_test_add_func("/flow/full-map-twice", test_full_map_twice);
    g_test_add_func("/flow/map-31-with-address", test_map_31_with_address);
    g_test_add_func("/flow/report-branch", test_report_branch);
    g_test_add_func("/flow/trap-after-branch", test_trap_after_branch);
    g_test_add_func("/flow/start-at-branch", test_start_at_branch);
    g_test_add_func("/flow/start-not-at-branch", test_start_not_at_branch);
    g_test_add_func("/flow/back-to-back", test_back_to_back);
    g_test_add_func("/flow/trap-on-target", test_trap_on_target);
    g_test_add_func("/flow/handler-apart", test_handler_apart);
    g_test_add_func("/flow/trap-on-first", test_trap_on_first);
    g_test_add_func("/flow/ecall", test_ecall);
    g_test_add_func("/flow/resync", test_resync);
    g_test_add_func("/flow/privilege-change", test_privilege_change);
    g_test_add_func("/flow/xret-same-privilege", test_xret_same_privilege);
    g_test_add_func("/flow/jalr-x0", test_jalr_x0);
    g_test_add_func("/flow/jump-loop", test_jump_loop);
    g_test_add_func("/flow/jump-to-self", test_jump_to_self);
    g_test_add_func("/flow/left-by-call", test_left_by_call);
    g_test_add_func("/flow/left-once", test_left_once);
    g_test_add_func("/flow/full-address", test_full_address);
    g_test_add_func("/flow/rv32", test_rv32);
    return g_test_run();
}
