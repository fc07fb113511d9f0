/*
 * Packets of the optional modes, written by hand
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/flow-fixture.h"

#define AUIPC_T1    0x00000317      /* auipc t1, 0 */
#define JR_T1       0x00030067      /* jalr x0, 0(t1) */
#define JR_T1_M8    0xff830067      /* jalr x0, -8(t1) */
#define CALL_P12    0x00c000ef      /* jal ra, .+12 */
#define CALL_M4     0xffdff0ef      /* jal ra, .-4 */
#define CALL_M8     0xff9ff0ef      /* jal ra, .-8 */
#define BNE_P16     0x00059863      /* bne a1, x0, .+16 */
#define J_M4        0xffdff06f      /* j .-4 */
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

/* The same code again, and nothing that a packet reports on the way */
static void test_sijump_loop(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, AUIPC_T1, JR_T1, NOP, 0);
    set_modes(&f, ETRACE_IOPT_SIJUMP);
    start_m(&f, 0);
    check_false(addr(&f, 12, 0));
    assert_loss(&f, FLOW_LOST_LOOP);
    check_cmpuint(f.pcs->len, <, 100);
    tear_down(&f);
    /* Where the path does come by, it stops: a spin is no loss. */
    set_up(&f, 64, NOP, AUIPC_T1, JR_T1, NOP, 0);
    set_modes(&f, ETRACE_IOPT_SIJUMP);
    start_m(&f, 0);
    for (int i = 0; i < 100; i++) {
        check_true(start_m(&f, i % 2 ? 4 : 8));
    }
    check_cmpuint(f.losses->len, ==, 0);
    check_cmpuint(f.pcs->len, ==, 1 + 2 + 99);
    tear_down(&f);
}

/* Calls and implicit returns in a circle, in the modes and formats */
static void test_return_loop(void)
{
    for (unsigned wire = 0; wire < ETRACE_WIRE_MAX; wire++) {
        FlowFixture f;

        /* 0: call 12; 4: j 0; 8: not on the way; 12: ret */
        set_up(&f, 64, CALL_P12, J_M4, NOP, RET, 0);
        f.params.wire_format = wire;
        set_modes(&f, ETRACE_IOPT_IMPLICIT_RETURN);
        start_m(&f, 0);
        check_false(addr(&f, 8, 0));
        assert_loss(&f, FLOW_LOST_LOOP);
        check_cmpuint(f.pcs->len, <, 1000);
        tear_down(&f);
    }
}

/*
 * Draft 2.1 counts the returns: the loop is left after as many of them as the
 * packet says.
 */
static void test_counted_returns(void)
{
    FlowFixture f;

    set_up(&f, 64, CALL_P12, J_M4, NOP, RET, 0);
    f.params.wire_format = ETRACE_WIRE_2_1_DRAFT;
    set_modes(&f, ETRACE_IOPT_IMPLICIT_RETURN);
    start_m(&f, 0);
    check_true(flow_packet(&f.flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_ADDR_ONLY, .address = 4, .irreport = true,
        .irets = 200,
    }));
    check_cmpuint(f.losses->len, ==, 0);
    check_cmpuint(f.pcs->len, ==, 3 * 200);
    tear_down(&f);
}

/* Recursion without end: the stack is full some time */
static void test_endless_recursion(void)
{
    for (unsigned irreport = 0; irreport < 2; irreport++) {
        FlowFixture f;

        set_up(&f, 64, NOP, CALL_M4, NOP, 0);
        set_modes(&f, ETRACE_IOPT_IMPLICIT_RETURN);
        start_m(&f, 0);
        check_false(flow_packet(&f.flow, &(ETracePacket) {
            .format = ETRACE_FORMAT_ADDR_ONLY, .address = 8,
            .irreport = irreport, .irdepth = 3,
        }));
        assert_loss(&f, FLOW_LOST_LOOP);
        check_cmpuint(f.pcs->len, <, 1000);
        tear_down(&f);
    }
}

/* ... and the depth that a packet reports is one on the way there. */
static void test_recursion_depth(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, CALL_M4, NOP, 0);
    set_modes(&f, ETRACE_IOPT_IMPLICIT_RETURN);
    start_m(&f, 0);
    check_true(flow_packet(&f.flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_ADDR_ONLY, .address = 4, .irreport = true,
        .irdepth = 3,
    }));
    check_cmpuint(f.losses->len, ==, 0);
    check_cmpuint(f.pcs->len, ==, 8);
    tear_down(&f);
}

/*
 * Loops of predicted branches: all rounds count, and the predictor and the
 * stack are as if each had been watched.
 */
static void check_rounds(FlowFixture *f, uint32_t n, bool repeat,
                         uint64_t *insns, Flow *end)
{
    set_modes(f, ETRACE_IOPT_BRANCH_PREDICTION | ETRACE_IOPT_IMPLICIT_RETURN |
                 ETRACE_IOPT_SIJUMP);
    if (repeat) {
        repeat_rounds(f);
    }
    start_m(f, 0);
    check_true(count(f, n, ETRACE_BRANCH_FMT_NO_ADDR, 0));
    check_cmpuint(f->losses->len, ==, 0);
    if (n < 64 || n > 300) {
        check_cmpint(f->repeats, ==, repeat && n > 300);
    }
    *insns = f->insns;
    *end = f->flow;
    tear_down(f);
}

static void set_up_rounds(FlowFixture *f, unsigned program)
{
    switch (program) {
    case 0:     /* a branch that is not taken, and a jump back */
        set_up(f, 64, NOP, BNE_P8, J_M8, NOP, 0);
        break;
    case 1:     /* a function with a branch of its own */
        set_up(f, 64, NOP, BNE_P16, CALL_P12, J_M8, NOP, BNE_P8, RET, NOP, 0);
        break;
    case 2:     /* it never returns */
        set_up(f, 64, NOP, BNE_P16, CALL_M8, NOP, NOP, 0);
        break;
    default:    /* a sequentially inferable jump back */
        set_up(f, 64, NOP, BNE_P16, AUIPC_T1, JR_T1_M8, NOP, NOP, 0);
        break;
    }
}

static void test_rounds(void)
{
    for (unsigned program = 0; program < 4; program++) {
        for (uint32_t n = 31; n < 5000; n += 1 + n / 16) {
            uint64_t watched, repeated;
            Flow a, b;
            FlowFixture f;

            set_up_rounds(&f, program);
            check_rounds(&f, n, false, &watched, &a);
            set_up_rounds(&f, program);
            check_rounds(&f, n, true, &repeated, &b);
            check_cmpuint(watched, ==, repeated);
            check_cmphex(a.pc, ==, b.pc);
            check_cmpuint(a.branches, ==, b.branches);
            check_cmpuint(a.stack.depth, ==, b.stack.depth);
            check_cmpuint(a.irets, ==, b.irets);
            g_assert_cmpmem(a.predictor.state, sizeof(a.predictor.state),
                            b.predictor.state, sizeof(b.predictor.state));
        }
    }
}

/* As many as a packet can say, in no time */
static void test_many_rounds(void)
{
    FlowFixture f;

    set_up_rounds(&f, 1);
    set_modes(&f, ETRACE_IOPT_BRANCH_PREDICTION | ETRACE_IOPT_IMPLICIT_RETURN);
    repeat_rounds(&f);
    start_m(&f, 0);
    check_true(flow_packet(&f.flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_OPT_EXT,
        .subformat = ETRACE_OPT_BRANCH_COUNT,
        .branch_count = UINT32_MAX - 1,
        .branch_fmt = ETRACE_BRANCH_FMT_NO_ADDR,
    }));
    check_cmpuint(f.pcs->len, <, 10000);
    /* 5 instructions with 2 branches a round; and what is before and behind */
    check_cmpuint(f.insns, >, 5 * (UINT64_C(1) << 31));
    check_cmpuint(f.insns, <, 5 * (UINT64_C(1) << 31) + 100);
    check_cmpuint(f.losses->len, ==, 0);
    tear_down(&f);
}

/* Without that, a loop's rounds are not counted as work. */
static void test_work(void)
{
    FlowFixture f;

    set_up_rounds(&f, 0);
    set_modes(&f, ETRACE_IOPT_BRANCH_PREDICTION);
    f.flow.steps_max = 1000;
    start_m(&f, 0);
    check_true(count(&f, 100000, ETRACE_BRANCH_FMT_NO_ADDR, 0));
    check_cmpuint(f.pcs->len, >, 300000);
    tear_down(&f);
    /* What goes on without coming back is. */
    set_up_rounds(&f, 0);
    set_modes(&f, ETRACE_IOPT_BRANCH_PREDICTION);
    f.flow.steps_max = 50;
    start_m(&f, 0);
    check_false(count(&f, 60, ETRACE_BRANCH_FMT_NO_ADDR, 0));
    assert_loss(&f, FLOW_LOST_WORK);
    check_cmpuint(f.pcs->len, <, 60);
    tear_down(&f);
}

/* No further, in the middle of a packet */
static void test_stop(void)
{
    bool stop = true;
    FlowFixture f;

    set_up_rounds(&f, 0);
    set_modes(&f, ETRACE_IOPT_BRANCH_PREDICTION);
    f.flow.stop = &stop;
    start_m(&f, 0);
    count(&f, 100000, ETRACE_BRANCH_FMT_NO_ADDR, 0);
    check_cmpuint(f.pcs->len, <, 10);
    check_cmpuint(f.losses->len, ==, 0);
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
    check_true(flow_packet(&f.flow, &(ETracePacket) {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_CONTEXT,
        .privilege = ETRACE_PRIV_M,
        .context = 0x77,
    }));
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
    g_test_add_func("/flow-modes/sijump-loop", test_sijump_loop);
    g_test_add_func("/flow-modes/return-loop", test_return_loop);
    g_test_add_func("/flow-modes/counted-returns", test_counted_returns);
    g_test_add_func("/flow-modes/endless-recursion", test_endless_recursion);
    g_test_add_func("/flow-modes/recursion-depth", test_recursion_depth);
    g_test_add_func("/flow-modes/rounds", test_rounds);
    g_test_add_func("/flow-modes/many-rounds", test_many_rounds);
    g_test_add_func("/flow-modes/work", test_work);
    g_test_add_func("/flow-modes/stop", test_stop);
    g_test_add_func("/flow-modes/cache", test_cache);
    g_test_add_func("/flow-modes/cache-empty", test_cache_empty);
    g_test_add_func("/flow-modes/returns", test_returns);
    g_test_add_func("/flow-modes/failed-return", test_failed_return);
    g_test_add_func("/flow-modes/implicit-exception",
                    test_implicit_exception);
    g_test_add_func("/flow-modes/context", test_context);
    return g_test_run();
}
