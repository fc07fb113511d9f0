/*
 * Packets of the optional modes, written by hand
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "check.h"
#include "flow-fixture.h"

#define AUIPC_T1    0x00000317      /* auipc t1, 0 */
#define JR_T1_P16   0x01030067      /* jalr x0, 16(t1) */
#define JR_T2_P16   0x01038067      /* jalr x0, 16(t2) */

static void test_sijump(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, AUIPC_T1, JR_T1_P16, NOP, NOP, NOP, NOP, 0);
    set_modes(&f, ETRACE_IOPT_SIJUMP);
    start_m(&f, 0);
    check_true(addr(&f, 24, 0));
    assert_pcs(&f, A(0), A(4), A(8), A(20), A(24), END);
    tear_down(&f);
}

/* Another register, or another instruction before: who knows the target? */
static void test_no_sijump(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, AUIPC_T1, JR_T2_P16, NOP, NOP, NOP, NOP, 0);
    set_modes(&f, ETRACE_IOPT_SIJUMP);
    start_m(&f, 0);
    check_true(addr(&f, 12, 0));
    assert_pcs(&f, A(0), A(4), A(8), A(12), END);
    tear_down(&f);
    set_up(&f, 64, AUIPC_T1, NOP, JR_T1_P16, NOP, NOP, NOP, 0);
    set_modes(&f, ETRACE_IOPT_SIJUMP);
    start_m(&f, 0);
    check_true(addr(&f, 12, 0));
    assert_pcs(&f, A(0), A(4), A(8), A(12), END);
    tear_down(&f);
}

static bool count(FlowFixture *f, uint32_t n, ETraceBranchFmt fmt,
                  int64_t delta)
{
    return flow_packet(&f->flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_OPT_EXT,
        .subformat = ETRACE_OPT_BRANCH_COUNT,
        .branch_count = n - 31,
        .branch_fmt = fmt,
        .address = delta,
    });
}

/* A loop of 33 iterations: not taken until the prediction has failed twice */
static void test_count(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, BNE_M4, NOP, NOP, 0);
    set_modes(&f, ETRACE_IOPT_BRANCH_PREDICTION);
    start_m(&f, 0);
    /* 01: fails, 11 from there on */
    check_true(map_addr(&f, 1, 0, 0, NOTIFY));
    check_true(count(&f, 31, ETRACE_BRANCH_FMT_NO_ADDR, 0));
    check_cmpuint(f.pcs->len, ==, 1 + 2 + 2 * 31 + 1);
    check_true(addr(&f, 8, 0));
    check_cmphex(g_array_index(f.pcs, uint64_t, f.pcs->len - 1), ==, BASE + 8);
    check_cmpuint(f.pcs->len, ==, 1 + 2 + 2 * 31 + 2);
    check_cmpuint(f.losses->len, ==, 0);
    tear_down(&f);
}

static void test_count_address(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, BNE_M4, NOP, JALR, NOP, 0);
    set_modes(&f, ETRACE_IOPT_BRANCH_PREDICTION);
    start_m(&f, 0);
    check_true(map_addr(&f, 1, 0, 0, NOTIFY));
    /* The address is the branch that failed the prediction. */
    check_true(count(&f, 31, ETRACE_BRANCH_FMT_ADDR_FAIL, 4));
    check_true(start_m(&f, 8));
    check_cmpuint(f.losses->len, ==, 0);
    tear_down(&f);
}

static void test_count_off(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, BNE_M4, NOP, 0);
    set_modes(&f, 0);
    start_m(&f, 0);
    check_false(count(&f, 31, ETRACE_BRANCH_FMT_NO_ADDR, 0));
    assert_loss(&f, FLOW_LOST_UNSUPPORTED);
    tear_down(&f);
}

static bool jump_target(FlowFixture *f, unsigned index)
{
    return flow_packet(&f->flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_OPT_EXT,
        .subformat = ETRACE_OPT_JUMP_TARGET,
        .index = index,
    });
}

static void test_cache(void)
{
    FlowFixture f;

    set_up_loop(&f);
    set_modes(&f, ETRACE_IOPT_JUMP_TARGET_CACHE);
    start_m(&f, 12);
    check_true(addr(&f, -12, 0));           /* to 0: index 0 */
    check_true(addr(&f, 12, UPDISCON));     /* to 12: index 6 */
    check_true(jump_target(&f, 0));
    assert_pcs(&f, A(12), A(16), A(0), A(4), A(8), A(12), A(16), A(12), A(16),
               A(0), END);
    /* The address is the base of the next difference. */
    check_true(addr(&f, 4, 0));
    check_cmpuint(f.losses->len, ==, 0);
    tear_down(&f);
}

static void test_cache_empty(void)
{
    FlowFixture f;

    set_up_loop(&f);
    set_modes(&f, ETRACE_IOPT_JUMP_TARGET_CACHE);
    start_m(&f, 12);
    check_true(addr(&f, -12, 0));
    check_true(start_m(&f, 4));             /* all invalid from here on */
    check_false(jump_target(&f, 0));
    assert_loss(&f, FLOW_LOST_CACHE);
    tear_down(&f);
}

static bool irreport(FlowFixture *f, int64_t delta, unsigned depth)
{
    return flow_packet(&f->flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_ADDR_ONLY,
        .address = delta,
        .irreport = true,
        .irdepth = depth,
    });
}

/* A call at 0 leads to a return at 8. */
static void test_returns(void)
{
    FlowFixture f;

    set_up(&f, 64, CALL_P8, NOP, RET, NOP, NOP, 0);
    set_modes(&f, ETRACE_IOPT_IMPLICIT_RETURN);
    start_m(&f, 0);
    check_true(addr(&f, 4, NOTIFY));
    assert_pcs(&f, A(0), A(8), A(4), END);
    /* The stack is empty now: uninferable */
    check_true(addr(&f, 8, 0));
    assert_pcs(&f, A(0), A(8), A(4), A(8), A(12), END);
    tear_down(&f);
}

static void test_failed_return(void)
{
    FlowFixture f;

    set_up(&f, 64, CALL_P8, NOP, RET, NOP, NOP, 0);
    set_modes(&f, ETRACE_IOPT_IMPLICIT_RETURN);
    start_m(&f, 0);
    check_true(irreport(&f, 16, 1));
    assert_pcs(&f, A(0), A(8), A(16), END);
    tear_down(&f);
}

static bool tvec(void *opaque, uint8_t priv, uint64_t *xtvec)
{
    *xtvec = BASE | 1;
    return priv == ETRACE_PRIV_M;
}

static bool implicit_trap(FlowFixture *f, bool interrupt, unsigned cause,
                          unsigned priv)
{
    return flow_packet(&f->flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_TRAP,
        .branch = true,
        .privilege = priv,
        .interrupt = interrupt,
        .ecause = cause,
        .thaddr = true,
    });
}

/* Vectored: interrupts go to BASE + 4 * cause, exceptions to BASE. */
static void test_implicit_exception(void)
{
    FlowFixture f;

    set_up_loop(&f);
    set_modes(&f, ETRACE_IOPT_IMPLICIT_EXCEPT);
    f.flow.tvec = tvec;
    start_m(&f, 4);
    check_true(implicit_trap(&f, true, 5, ETRACE_PRIV_M));
    check_true(implicit_trap(&f, false, 5, ETRACE_PRIV_M));
    assert_pcs(&f, A(4), A(20), A(0), END);
    /* The handler is the base of differences. */
    check_true(addr(&f, 4, NOTIFY));
    assert_pcs(&f, A(4), A(20), A(0), A(4), END);
    check_false(implicit_trap(&f, false, 5, ETRACE_PRIV_S));
    assert_loss(&f, FLOW_LOST_TVEC);
    check_cmpuint(f.traps->len, ==, 3);
    tear_down(&f);
}

static void test_context(void)
{
    FlowFixture f;

    set_up_loop(&f);
    start_m(&f, 4);
    check_cmpuint(f.contexts, ==, 1);
    check_true(flow_packet(&f.flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_CONTEXT,
        .privilege = ETRACE_PRIV_M,
        .context = 0x77,
    }));
    check_cmpuint(f.contexts, ==, 2);
    check_cmphex(f.context, ==, 0x77);
    /* It changes nothing of the path. */
    check_true(addr(&f, 4, 0));
    assert_pcs(&f, A(4), A(8), END);
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flow-modes/sijump", test_sijump);
    g_test_add_func("/flow-modes/no-sijump", test_no_sijump);
    g_test_add_func("/flow-modes/count", test_count);
    g_test_add_func("/flow-modes/count-address", test_count_address);
    g_test_add_func("/flow-modes/count-off", test_count_off);
    g_test_add_func("/flow-modes/cache", test_cache);
    g_test_add_func("/flow-modes/cache-empty", test_cache_empty);
    g_test_add_func("/flow-modes/returns", test_returns);
    g_test_add_func("/flow-modes/failed-return", test_failed_return);
    g_test_add_func("/flow-modes/implicit-exception",
                    test_implicit_exception);
    g_test_add_func("/flow-modes/context", test_context);
    return g_test_run();
}
