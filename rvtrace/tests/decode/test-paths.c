/*
 * Paths that were walked before: they hold as long as the code is the same
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/flow-fixture.h"
#include "flow/flow-paths.h"
#include "tests/fixtures/sb-build.h"

#define PAGE        0x1000
#define JALR_RA     0x000780e7      /* jalr ra, 0(a5) */
#define SV39        (UINT64_C(8) << 60)

/* A branch over one instruction, and a jump that leads back */
static const uint32_t program[] = { NOP, BNE_P8, NOP, JALR, NOP, JALR };
/* The instruction that the branch is over is a jump over the other one. */
static const uint32_t changed[] = { NOP, BNE_P8, J_P8, JALR, NOP, JALR };

static void put_code(FlowFixture *f, uint64_t phys, const uint32_t *raw,
                     unsigned n)
{
    g_autoptr(GByteArray) code = g_byte_array_new();

    for (unsigned i = 0; i < n; i++) {
        uint8_t buf[4];

        etrace_sb_put(buf, raw[i], 4);
        g_byte_array_append(code, buf, 4);
    }
    sb_code(f->bytes, phys, code->data, code->len);
}

/* The sideband of @f, which begins with program at BASE, has got more. */
static void use_sideband(FlowFixture *f)
{
    g_autoptr(GError) err = NULL;

    image_free(f->image);
    sideband_free(f->sb);
    f->sb = sideband_parse(f->bytes->data, f->bytes->len, 0, &err);
    check_no_error(err);
    f->image = image_new(&(InsnIsa) { .xlen = 64 }, f->sb, 0, NULL);
    f->flow.image = f->image;
}

static void set_up_program(FlowFixture *f)
{
    set_up(f, 64, program[0], program[1], program[2], program[3], program[4],
           program[5], 0);
    f->flow.paths = flow_paths_new();
}

static void tear_down_program(FlowFixture *f)
{
    flow_paths_free(f->flow.paths);
    tear_down(f);
}

/* Round again, the branch taken or not, from BASE to BASE */
static void round_again(FlowFixture *f, bool taken)
{
    check_true(map_addr(f, 1, !taken, 0, 0));
}

/* Is the path of a round known, and does it hold? */
static bool is_known(FlowFixture *f, bool taken)
{
    bool known;

    f->flow.branch_map = !taken;
    known = flow_paths_find(&f->flow, 1);
    f->flow.branch_map = 0;
    return known;
}

static void test_again(void)
{
    FlowFixture f;

    set_up_program(&f);
    start_m(&f, 0);
    check_false(is_known(&f, false));
    round_again(&f, false);
    check_true(is_known(&f, false));
    check_false(is_known(&f, true));
    round_again(&f, false);
    round_again(&f, true);
    round_again(&f, true);
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(0), A(4), A(8), A(12), A(0),
               A(4), A(12), A(0), A(4), A(12), A(0), END);
    check_cmpuint(f.losses->len, ==, 0);
    tear_down_program(&f);
}

/* An address on the path is where it ends, however well that is known. */
static void test_on_path(void)
{
    FlowFixture f;

    set_up_program(&f);
    start_m(&f, 0);
    round_again(&f, false);
    round_again(&f, false);
    check_true(map_addr(&f, 1, 1, 12, 0));
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(0), A(4), A(8), A(12), A(0),
               A(4), A(8), A(12), END);
    tear_down_program(&f);
}

/* The consumer gets the same, a run at a time or all at once. */
static uint64_t runs_insns;

static void on_runs(void *opaque, const FlowRun *runs, unsigned n,
                    uint64_t insns)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < n; i++) {
        const uint8_t *code = runs[i].code;
        uint64_t wide = runs[i].wide;

        sum += runs[i].count;
        for (unsigned j = 0; j < runs[i].count; j++) {
            unsigned len = flow_insn_length(code);

            check_cmpuint(wide & 1, ==, len == 4);
            wide >>= len / 2;
            code += len;
        }
    }
    check_cmpuint(sum, ==, insns);
    runs_insns += insns;
}

static void test_runs(void)
{
    const FlowOps ops = { .runs = on_runs };
    FlowFixture f;

    set_up_program(&f);
    f.flow.ops = &ops;
    runs_insns = 0;
    start_m(&f, 0);
    for (int i = 0; i < 10; i++) {
        round_again(&f, i & 1);
    }
    check_cmpuint(runs_insns, ==, 1 + 5 * 4 + 5 * 3);
    tear_down_program(&f);
}

static void test_replaced(void)
{
    FlowFixture f;

    set_up_program(&f);
    sb_fence(f.bytes, 0, 3);
    put_code(&f, BASE, changed, ARRAY_SIZE(changed));
    use_sideband(&f);
    start_m(&f, 0);
    round_again(&f, false);
    round_again(&f, false);
    check_true(is_known(&f, false));
    image_advance(f.image, 3);
    check_false(is_known(&f, false));
    round_again(&f, false);
    round_again(&f, false);
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(0), A(4), A(8), A(12), A(0),
               A(4), A(8), A(16), A(20), A(0), A(4), A(8), A(16), A(20), A(0),
               END);
    check_cmpuint(f.losses->len, ==, 0);
    tear_down_program(&f);
}

/* Code that is somewhere else leaves what is known alone. */
static void test_elsewhere(void)
{
    FlowFixture f;

    set_up_program(&f);
    sb_fence(f.bytes, 0, 2);
    put_code(&f, BASE + PAGE, changed, ARRAY_SIZE(changed));
    use_sideband(&f);
    start_m(&f, 0);
    round_again(&f, false);
    image_advance(f.image, 2);
    check_true(is_known(&f, false));
    tear_down_program(&f);
}

/* The same address is another page, and then the first one again. */
static void test_mapped(void)
{
    FlowFixture f;

    set_up_program(&f);
    put_code(&f, BASE + PAGE, changed, ARRAY_SIZE(changed));
    sb_space(f.bytes, 0, false, SV39 | 1);
    sb_map(f.bytes, 0, false, BASE, BASE);
    sb_fence(f.bytes, 0, 2);
    sb_space(f.bytes, 0, false, SV39 | 2);
    sb_map(f.bytes, 0, false, BASE, BASE + PAGE);
    sb_fence(f.bytes, 0, 3);
    sb_space(f.bytes, 0, false, SV39 | 1);
    use_sideband(&f);
    start(&f, 0, false, ETRACE_PRIV_S);
    round_again(&f, false);
    check_true(is_known(&f, false));
    image_advance(f.image, 2);
    check_false(is_known(&f, false));
    round_again(&f, false);
    check_true(is_known(&f, false));
    image_advance(f.image, 3);
    check_false(is_known(&f, false));
    round_again(&f, false);
    assert_pcs(&f, A(0), A(4), A(8), A(12), A(0), A(4), A(8), A(16), A(20),
               A(0), A(4), A(8), A(12), A(0), END);
    tear_down_program(&f);
}

/* More paths than there is room for: they make room for each other. */
static void test_many(void)
{
    static uint32_t branches[34];
    FlowFixture f;
    uint64_t insns = 1;

    set_up_program(&f);
    branches[0] = NOP;
    for (unsigned i = 0; i < 16; i++) {
        branches[2 * i + 1] = BNE_P8;
        branches[2 * i + 2] = NOP;
    }
    branches[33] = JALR;
    put_code(&f, BASE, branches, ARRAY_SIZE(branches));
    use_sideband(&f);
    f.flow.ops = &(FlowOps) { .runs = on_runs };
    runs_insns = 0;
    start_m(&f, 0);
    for (uint32_t i = 0; i < 100000; i++) {
        uint32_t map = i * 40503 & 0xffff;

        check_true(map_addr(&f, 16, map, 0, 0));
        insns += 18 + __builtin_popcount(map);
    }
    check_cmpuint(runs_insns, ==, insns);
    check_cmpuint(f.losses->len, ==, 0);
    tear_down_program(&f);
}

/* A program like that in these modes, which begins */
static void set_up_modes(FlowFixture *f, uint8_t ioptions, uint32_t second,
                         uint32_t last)
{
    set_up(f, 64, NOP, second, NOP, last, RET, 0);
    set_modes(f, ioptions);
    f->flow.paths = flow_paths_new();
    start_m(f, 0);
}

/* A branch is learned on a path that is known, as on one that is not. */
static void test_learned(void)
{
    FlowFixture f;
    const ETracePredictor *p = &f.flow.predictor;

    set_up_modes(&f, ETRACE_IOPT_BRANCH_PREDICTION, BNE_P8, JALR);
    round_again(&f, true);
    check_true(is_known(&f, true));
    round_again(&f, false);
    check_true(is_known(&f, false));
    check_true(etrace_predictor_taken(p, BASE + 4));
    round_again(&f, false);
    check_false(etrace_predictor_taken(p, BASE + 4));
    round_again(&f, true);
    check_false(etrace_predictor_taken(p, BASE + 4));
    round_again(&f, true);
    check_true(etrace_predictor_taken(p, BASE + 4));
    check_cmpuint(f.losses->len, ==, 0);
    tear_down_program(&f);
}

/* A call at the end of a path returns to what is behind it. */
static void test_call(void)
{
    FlowFixture f;

    set_up_modes(&f, ETRACE_IOPT_IMPLICIT_RETURN, BNE_P8, JALR_RA);
    round_again(&f, true);
    check_true(is_known(&f, true));
    check_cmpuint(f.flow.stack.depth, ==, 1);
    round_again(&f, true);
    check_cmpuint(f.flow.stack.depth, ==, 2);
    check_cmphex(etrace_return_stack_top(&f.flow.stack), ==, BASE + 16);
    tear_down_program(&f);
}

/* Where a return leads depends upon what called: the way is not kept. */
static void test_return(void)
{
    FlowFixture f;

    set_up(&f, 64, NOP, CALL_P8, JALR, RET, 0);
    set_modes(&f, ETRACE_IOPT_IMPLICIT_RETURN);
    f.flow.paths = flow_paths_new();
    start_m(&f, 0);
    for (int i = 0; i < 2; i++) {
        check_true(addr(&f, 0, 0));
        check_true(!flow_paths_find(&f.flow, 0));
        check_cmpuint(f.flow.stack.depth, ==, 0);
    }
    assert_pcs(&f, A(0), A(4), A(12), A(8), A(0), A(4), A(12), A(8), A(0),
               END);
    tear_down_program(&f);
}

/* A return that nothing called for ends a path, until something does. */
static void test_implicit(void)
{
    FlowFixture f;

    set_up_modes(&f, ETRACE_IOPT_IMPLICIT_RETURN, BNE_P8, RET);
    round_again(&f, true);
    check_true(is_known(&f, true));
    round_again(&f, true);
    etrace_return_stack_push(&f.flow.stack, BASE + 8);
    /* Back behind the branch, and then out of here */
    check_true(map_addr(&f, 1, 0, 0, 0));
    assert_pcs(&f, A(0), A(4), A(12), A(0), A(4), A(12), A(0), A(4), A(12),
               A(8), A(12), A(0), END);
    check_cmpuint(f.losses->len, ==, 0);
    tear_down_program(&f);
}

/* In other modes the same way may be another one. */
static void test_modes(void)
{
    FlowFixture f;

    set_up_modes(&f, ETRACE_IOPT_BRANCH_PREDICTION, BNE_P8, JALR);
    round_again(&f, true);
    check_true(is_known(&f, true));
    check_true(support(&f, ETRACE_QUAL_NO_CHANGE));
    check_cmpuint(f.flow.params.ioptions, ==, 0);
    check_false(is_known(&f, true));
    tear_down_program(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/paths/again", test_again);
    g_test_add_func("/paths/on-path", test_on_path);
    g_test_add_func("/paths/runs", test_runs);
    g_test_add_func("/paths/replaced", test_replaced);
    g_test_add_func("/paths/elsewhere", test_elsewhere);
    g_test_add_func("/paths/mapped", test_mapped);
    g_test_add_func("/paths/many", test_many);
    g_test_add_func("/paths/learned", test_learned);
    g_test_add_func("/paths/call", test_call);
    g_test_add_func("/paths/return", test_return);
    g_test_add_func("/paths/implicit", test_implicit);
    g_test_add_func("/paths/modes", test_modes);
    return g_test_run();
}
