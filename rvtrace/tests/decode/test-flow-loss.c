/*
 * Instruction flow: packets that cannot be followed
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/flow-fixture.h"

static void test_in_band_loss(void)
{
    FlowFixture f;

    set_up_loop(&f);
    start_m(&f, 0);
    check_false(support(&f, ETRACE_QUAL_TRACE_LOST));
    assert_loss(&f, FLOW_LOST_IN_BAND);
    check_cmphex(g_array_index(f.losses, FlowLoss, 0).pc, ==, BASE);
    check_true(addr(&f, 8, 0));          /* skipped */
    check_true(start_m(&f, 12));
    assert_pcs(&f, A(0), A(12), END);
    check_cmpuint(f.flow.skipped, ==, 1);
    tear_down(&f);
}

static void test_lost_code(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, NOP, 0);
    start_m(&f, 0);
    check_false(addr(&f, 16, 0));
    assert_loss(&f, FLOW_LOST_CODE);
    check_cmphex(g_array_index(f.losses, FlowLoss, 0).address, ==,
                 BASE + 8);
    assert_pcs(&f, A(0), A(4), END);
    tear_down(&f);
}

static void test_too_few_branches(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, BNE_P8, NOP, NOP, JALR, 0);
    start_m(&f, 0);
    check_false(addr(&f, 12, 0));
    assert_loss(&f, FLOW_LOST_BRANCHES);
    tear_down(&f);
}

static void test_too_many_branches(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, BNE_P8, NOP, NOP, JALR, 0);
    start_m(&f, 0);
    check_false(map_addr(&f, 3, 0, 12, 0));
    assert_loss(&f, FLOW_LOST_BRANCHES);
    tear_down(&f);
}

/* "ERROR: unexpected uninferable discontinuity" */
static void test_updiscon_in_full_map(void)
{
    FlowFixture f;

    set_up_loop(&f);
    start_m(&f, 0);
    check_false(full_map(&f, 0));
    assert_loss(&f, FLOW_LOST_UPDISCON);
    tear_down(&f);
}

/* notify: "not the target of an uninferable discontinuity" */
static void test_notify_behind_updiscon(void)
{
    FlowFixture f;

    set_up_loop(&f);
    start_m(&f, 0);
    check_false(addr(&f, 20, NOTIFY));
    assert_loss(&f, FLOW_LOST_UPDISCON);
    tear_down(&f);
}

/*
 * A branch that was reported on the path was executed once: a second visit
 * would have been reported with the first one's outcome. So what follows is
 * a synchronisation packet, or something is missing.
 */
static void test_branch_not_revisited(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, BNE_P8, NOP, JALR, NOP, 0);
    start_m(&f, 0);
    check_true(map_addr(&f, 1, 0, 4, 0));
    check_false(addr(&f, 12, 0));
    assert_loss(&f, FLOW_LOST_BRANCHES);
    assert_pcs(&f, A(0), A(4), END);
    tear_down(&f);
}

/* Privilege can only have changed by a return from a trap. */
static void test_privilege_without_xret(void)
{
    FlowFixture f;

    set_up_loop(&f);
    start_m(&f, 0);
    check_false(start(&f, 20, true, ETRACE_PRIV_U));
    assert_loss(&f, FLOW_LOST_UPDISCON);
    tear_down(&f);
}

/* "ERROR: Expecting trace to start with format 3" */
static void test_starts_with_format_2(void)
{
    FlowFixture f;

    set_up_loop(&f);
    check_false(addr(&f, 8, 0));
    assert_loss(&f, FLOW_LOST_ORDER);
    assert_pcs(&f, END);
    tear_down(&f);
}

/* The path is a circle, and the address is not on it. */
static void test_endless_loop(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, NOP, J_M8, NOP, NOP, 0);
    start_m(&f, 0);
    check_false(addr(&f, 16, 0));
    assert_loss(&f, FLOW_LOST_LOOP);
    check_cmpuint(f.pcs->len, <, 100);
    tear_down(&f);
}

static void test_endless_jump_to_self(void)
{
    FlowFixture f;

    set_up(&f, 64, J_SELF, NOP, 0);
    start_m(&f, 0);
    check_false(map_addr(&f, 3, 0, 4, 0));
    assert_loss(&f, FLOW_LOST_LOOP);
    tear_down(&f);
}

/* Modes that change what the packets mean must not be decoded wrongly. */
static void test_unsupported(void)
{
    FlowFixture f;

    set_up_loop(&f);
    check_false(flow_packet(&f.flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_SUPPORT,
        .ioptions = ETRACE_IOPT_IMPLICIT_RETURN,
    }));
    assert_loss(&f, FLOW_LOST_UNSUPPORTED);
    start_m(&f, 0);
    assert_pcs(&f, END);
    check_true(support(&f, ETRACE_QUAL_NO_CHANGE));
    start_m(&f, 0);
    assert_pcs(&f, A(0), END);
    tear_down(&f);
}

/* A sync packet that the path does not lead to is good to go on from. */
static void test_sync_elsewhere(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, NOP, J_M8, NOP, NOP, 0);
    start_m(&f, 0);
    check_false(start_m(&f, 12));
    assert_loss(&f, FLOW_LOST_LOOP);
    check_cmphex(g_array_index(f.pcs, uint64_t, f.pcs->len - 1), ==,
                 BASE + 12);
    check_true(addr(&f, 4, 0));
    check_cmphex(g_array_index(f.pcs, uint64_t, f.pcs->len - 1), ==,
                 BASE + 16);
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flow-loss/in-band-loss", test_in_band_loss);
    g_test_add_func("/flow-loss/lost-code", test_lost_code);
    g_test_add_func("/flow-loss/too-few-branches", test_too_few_branches);
    g_test_add_func("/flow-loss/too-many-branches", test_too_many_branches);
    g_test_add_func("/flow-loss/updiscon-in-full-map",
                    test_updiscon_in_full_map);
    g_test_add_func("/flow-loss/notify-behind-updiscon",
                    test_notify_behind_updiscon);
    g_test_add_func("/flow-loss/branch-not-revisited",
                    test_branch_not_revisited);
    g_test_add_func("/flow-loss/privilege-without-xret",
                    test_privilege_without_xret);
    g_test_add_func("/flow-loss/starts-with-format-2",
                    test_starts_with_format_2);
    g_test_add_func("/flow-loss/endless-loop", test_endless_loop);
    g_test_add_func("/flow-loss/endless-jump-to-self",
                    test_endless_jump_to_self);
    g_test_add_func("/flow-loss/unsupported", test_unsupported);
    g_test_add_func("/flow-loss/sync-elsewhere", test_sync_elsewhere);
    return g_test_run();
}
