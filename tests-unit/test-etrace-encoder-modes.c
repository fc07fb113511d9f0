/*
 * E-Trace encoder: optional modes (section 3.2), context and notify
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-encoder-fixture.h"

static void init_modes(Fixture *f, ETraceWireFormat wire_format,
                       uint8_t ioptions)
{
    ETraceParams params;

    etrace_params_init(&params, 64);
    params.wire_format = wire_format;
    params.sijump = 1;
    params.return_stack_size = 2;
    params.bpred_size = 6;
    params.cache_size = 6;
    params.f0s_width = 1;
    init_params(f, &params);
    f->enc.ioptions = ioptions;
}

/*
 * Sequentially inferable jumps: section 3.2.4
 */

static void test_sijump(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_SIJUMP);
    open_window(f, 0x1000);
    f->flags = ETRACE_BLOCK_SIJUMP;
    run(f, 0x1008, 0x100c, JALR);
    f->flags = 0;
    run(f, 0x2000, 0x2004, JALR);
    run(f, 0x3000, 0x3004, NONE);
    expect(f, "address 3000\n");
}

static void test_sijump_off(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, 0);
    open_window(f, 0x1000);
    f->flags = ETRACE_BLOCK_SIJUMP;
    run(f, 0x1008, 0x100c, JALR);
    f->flags = 0;
    run(f, 0x2000, 0x2004, NONE);
    expect(f, "address 2000\n");
}

/* "Both the constant load and the jump must be traced" */
static void test_sijump_first(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_SIJUMP);
    etrace_encoder_start(&f->enc);
    f->flags = ETRACE_BLOCK_SIJUMP;
    run(f, 0x1008, 0x1008, JALR);
    f->flags = 0;
    run(f, 0x2000, 0x2004, NONE);
    expect(f, "support no_change\nstart 1008 priv 3\naddress 2000\n");
}

/*
 * Branch prediction: sections 3.2.6 and 6.8
 */

/* @n times the same branch */
static void same_branch(Fixture *f, unsigned n, ETraceItype itype)
{
    for (unsigned i = 0; i < n; i++) {
        run(f, 0x1008, 0x100c, itype);
    }
}

static void test_predicted(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_BRANCH_PREDICTION);
    open_window(f, 0x1000);
    /* State 01: predicted not taken */
    same_branch(f, 40, NOT_TAKEN);
    expect(f, "");
    same_branch(f, 1, TAKEN);
    run(f, 0x1008, 0x1008, NONE);
    expect(f, "count 40 failed\n");
}

/* "Format 1 if the outcome of at least one of those 31 was not predicted" */
static void test_not_all_predicted(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_BRANCH_PREDICTION);
    open_window(f, 0x1000);
    same_branch(f, 1, TAKEN);       /* failed; 01 -> 11 */
    same_branch(f, 31, TAKEN);
    expect(f, "branches TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTT\n");
    same_branch(f, 30, TAKEN);      /* 31, with the one at hand */
    same_branch(f, 1, NOT_TAKEN);
    run(f, 0x1010, 0x1010, NONE);
    expect(f, "count 31 failed\n");
}

/* 10: the prediction must fail twice. */
static void test_fails_twice(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_BRANCH_PREDICTION);
    open_window(f, 0x1000);
    same_branch(f, 31, NOT_TAKEN);
    same_branch(f, 1, TAKEN);       /* 00 -> 01 */
    same_branch(f, 31, NOT_TAKEN);  /* all of them as predicted */
    same_branch(f, 1, TAKEN);
    same_branch(f, 1, TAKEN);       /* 01 -> 11 */
    same_branch(f, 1, TAKEN);
    expect(f, "count 31 failed\ncount 31 failed\n");
    etrace_encoder_end_window(&f->enc);
    expect(f, "branches TT 100c\nsupport ended_rep\n");
}

static void test_count_and_address(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_BRANCH_PREDICTION);
    open_window(f, 0x1000);
    same_branch(f, 33, NOT_TAKEN);
    run(f, 0x1010, 0x1014, JALR);
    run(f, 0x2000, 0x2004, NONE);
    expect(f, "count 33 2000\n");
}

/* Below 31 it is a branch map. */
static void test_few_and_address(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_BRANCH_PREDICTION);
    open_window(f, 0x1000);
    same_branch(f, 3, NOT_TAKEN);
    run(f, 0x1010, 0x1014, JALR);
    run(f, 0x2000, 0x2004, NONE);
    expect(f, "branches NNN 2000\n");
}

static void test_addr_fail(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_BRANCH_PREDICTION);
    open_window(f, 0x1000);
    same_branch(f, 33, NOT_TAKEN);
    etrace_encoder_end_window(&f->enc);
    expect(f, "count 33 100c\nsupport ended_rep\n");
    run(f, 0x1000, 0x1004, NONE);
    same_branch(f, 33, NOT_TAKEN);
    same_branch(f, 1, TAKEN);
    etrace_encoder_end_window(&f->enc);
    expect(f, "start 1000 priv 3\ncount 33 100c failed\nsupport ended_rep\n");
}

/* "The branch count reaches its maximum value (0xffff ffff)" */
static void test_count_max(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_BRANCH_PREDICTION);
    open_window(f, 0x1000);
    same_branch(f, 33, NOT_TAKEN);
    f->enc.pbc += UINT32_MAX - 3;   /* nobody has the time to wait for it */
    same_branch(f, 1, NOT_TAKEN);
    expect(f, "");
    same_branch(f, 1, NOT_TAKEN);
    expect(f, "count 4294967326 100c\n");
    same_branch(f, 33, NOT_TAKEN);
    same_branch(f, 1, TAKEN);
    run(f, 0x1008, 0x1008, NONE);
    expect(f, "count 34 failed\n");
}

/* "The lookup table entries are initialized to 01" at a synchronisation. */
static void test_predictor_at_sync(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_BRANCH_PREDICTION);
    open_window(f, 0x1000);
    same_branch(f, 2, TAKEN);
    trap(f, 0x1008, INTERRUPT, 7, 0);
    run(f, 0x8000, 0x8004, NONE);
    expect(f, "branches TT 100c\ninterrupt 7 handler 8000 priv 3\n");
    same_branch(f, 31, NOT_TAKEN);
    same_branch(f, 1, TAKEN);
    run(f, 0x1008, 0x1008, NONE);
    expect(f, "count 31 failed\n");
}

/*
 * Jump target cache: sections 3.2.7 and 6.8
 */

static void test_cache(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_JUMP_TARGET_CACHE);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, JALR);
    run(f, 0x812340, 0x812344, JALR);
    run(f, 0x1000, 0x1004, JALR);
    run(f, 0x812340, 0x812344, JALR);
    run(f, 0x1002, 0x1006, NONE);
    /* bits 6:1 of the target */
    expect(f, "address 812340\naddress 1000\nindex 32\naddress 1002\n");
}

/* "if that will result in a shorter packet" */
static void test_cache_or_difference(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_JUMP_TARGET_CACHE);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, JALR);
    run(f, 0x1100, 0x1104, JALR);
    run(f, 0x1100, 0x1104, JALR);
    run(f, 0x1100, 0x1104, NONE);
    expect(f, "address 1100\naddress 1100\naddress 1100\n");
}

/* Format 0 has no updiscon. */
static void test_cache_updiscon(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_JUMP_TARGET_CACHE);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, JALR);
    run(f, 0x812340, 0x812344, JALR);
    run(f, 0x1000, 0x1004, JALR);
    run(f, 0x812340, 0x812340, NONE);
    trap(f, 0x812344, INTERRUPT, 7, 0);
    expect(f, "address 812340\naddress 1000\naddress 812340 updiscon\n");
}

/* With branches */
static void test_cache_branches(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_JUMP_TARGET_CACHE);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, JALR);
    run(f, 0x812340, 0x812344, JALR);
    run(f, 0x1000, 0x1004, NOT_TAKEN);
    run(f, 0x1008, 0x100c, JALR);
    run(f, 0x812340, 0x812344, NONE);
    expect(f, "address 812340\naddress 1000\nindex 32 N\n");
}

/*
 * Implicit returns: sections 3.2.5 and 6.6.3
 */

static void test_implicit_return(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_IMPLICIT_RETURN);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, CALL);
    run(f, 0x2000, 0x2004, RETURN);
    run(f, 0x1010, 0x1014, RETURN);     /* no call for this one */
    run(f, 0x3000, 0x3004, NONE);
    expect(f, "address 3000\n");
}

/* Its address differs from the one at the top of the stack. */
static void test_failed_return(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_IMPLICIT_RETURN);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, CALL);
    run(f, 0x2000, 0x2004, CALL);
    run(f, 0x3000, 0x3004, RETURN);
    run(f, 0x4000, 0x4004, NONE);
    expect(f, "address 4000 irdepth 2\n");
}

/* A co-routine swap is neither a call nor a return. */
static void test_swap(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_IMPLICIT_RETURN);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, CALL);
    run(f, 0x2000, 0x2004, SWAP);
    run(f, 0x3000, 0x3004, RETURN);
    run(f, 0x1010, 0x1014, NONE);
    expect(f, "address 3000\n");
}

/* The oldest of 4 entries is dropped. */
static void test_stack_full(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_IMPLICIT_RETURN);
    open_window(f, 0x1000);
    for (unsigned i = 1; i <= 5; i++) {
        run(f, 0x1000 * i + 8, 0x1000 * i + 8, CALL);
    }
    run(f, 0x6008, 0x6008, RETURN);
    for (unsigned i = 5; i >= 2; i--) {
        run(f, 0x1000 * i + 12, 0x1000 * i + 12, RETURN);
    }
    run(f, 0x100c, 0x1010, NONE);
    /* The ninth jump that is inferred is reported, for want of room. */
    expect(f, "address 300c notify\naddress 100c\n");
}

/*
 * Trace-spec issue 254: two returns at the same depth. The number of the one
 * that failed would be taken for the other one's.
 */
static void test_failed_return_again(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_IMPLICIT_RETURN);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, CALL);
    run(f, 0x2000, 0x2004, RETURN);
    run(f, 0x1010, 0x1014, CALL);
    run(f, 0x3000, 0x3004, RETURN);
    run(f, 0x4000, 0x4004, NONE);
    expect(f, "address 3004 notify\naddress 4000 irdepth 1\n");
}

/* Issue 254: the instruction behind a return that is reported */
static void test_behind_return(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_IMPLICIT_RETURN);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, CALL);
    run(f, 0x2000, 0x2004, RETURN);
    run(f, 0x1010, 0x1010, NONE);
    trap(f, 0x1014, INTERRUPT, 7, 0);
    expect(f, "address 1010 notify\n");
}

/* A recursion unwinds: the same return, again and again */
static void recurse(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, CALL);
    for (unsigned i = 0; i < 3; i++) {
        run(f, 0x2000, 0x2004, CALL);
    }
    run(f, 0x2000, 0x2004, NOT_TAKEN);
    for (unsigned i = 0; i < 3; i++) {
        run(f, 0x2008, 0x200c, RETURN);
    }
    run(f, 0x2008, 0x2008, NONE);
}

static void test_recursion(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_IMPLICIT_RETURN);
    recurse(f);
    /* Nothing, as long as nothing has to be reported */
    run(f, 0x200c, 0x200c, TAKEN);
    run(f, 0x3000, 0x3004, NONE);
    expect(f, "");
}

static void test_recursion_trap(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_IMPLICIT_RETURN);
    recurse(f);
    trap(f, 0x200c, INTERRUPT, 7, 0);
    expect(f, "branches N 200c notify\naddress 200c notify\n"
              "address 200c notify\naddress 2008 notify\n");
}

/* Draft 2.1: implicit returns since the last branch or te_inst */
static void test_irets(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_1_DRAFT, ETRACE_IOPT_IMPLICIT_RETURN);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, CALL);
    run(f, 0x2000, 0x2004, RETURN);
    run(f, 0x1010, 0x1014, CALL);
    run(f, 0x3000, 0x3004, RETURN);
    run(f, 0x4000, 0x4004, NONE);       /* not where it was expected */
    trap(f, 0x4008, INTERRUPT, 7, 0);
    expect(f, "address 4000 irets 1\naddress 4004\n");
}

static void test_irets_reported(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_1_DRAFT, ETRACE_IOPT_IMPLICIT_RETURN);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, CALL);
    run(f, 0x2000, 0x2004, RETURN);
    run(f, 0x1010, 0x1014, NONE);
    trap(f, 0x1018, INTERRUPT, 7, 0);
    expect(f, "address 1014 irets 1\n");
}

/* itype_width_p 3 "precludes use of the implicit return mode" */
static void test_itype_width_3(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_IMPLICIT_RETURN);
    f->enc.itype_width = 3;
    open_window(f, 0x1000);
    g_assert_cmphex(f->enc.params.ioptions, ==, 0);
    run(f, 0x1008, 0x100c, CALL);
    run(f, 0x2000, 0x2004, RETURN);
    run(f, 0x1010, 0x1014, NONE);
    expect(f, "address 1010\n");
}

/*
 * Implicit exceptions: sections 3.2.3 and 6.3
 */

static void test_implicit_exception(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_IMPLICIT_EXCEPT);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, NONE);
    f->flags = ETRACE_BLOCK_TVEC;
    trap(f, 0x1010, EXCEPTION, 13, 0x99);
    f->flags = 0;
    run(f, 0x8000, 0x8004, NONE);
    /* The fixture has seen that there is no address in it. */
    expect(f, "address 100c\nexception 13 tval 99 handler 8000 priv 3\n");
    run(f, 0x8008, 0x8008, JALR);
    run(f, 0x9000, 0x9004, NONE);
    expect(f, "address 9000\n");
}

/* The handler is not where xtvec says: it must be reported. */
static void test_implicit_exception_elsewhere(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_2_0, ETRACE_IOPT_IMPLICIT_EXCEPT);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, NONE);
    trap(f, 0x1010, EXCEPTION, 13, 0x99);
    run(f, 0x8000, 0x8004, NONE);
    expect(f, "address 100c\nexception 13 tval 99 epc 1010 priv 3\n"
              "start 8000 priv 3\n");
}

/*
 * Draft 1.1.1: tvalepc, and a handler's address in each trap packet
 */

static void test_1_1_1_tvalepc(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_1_1_1, 0);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, JALR);
    trap(f, 0x2000, EXCEPTION, 2, 0x99);
    run(f, 0x8000, 0x8004, NONE);
    expect(f, "address 100c\nexception 2 tval 2000 handler 8000 priv 3\n");
    trap(f, 0x8008, EXCEPTION, 13, 0x99);
    run(f, 0x8000, 0x8004, NONE);
    expect(f, "address 8004\nexception 13 tval 99 handler 8000 priv 3\n");
}

static void test_1_1_1_back_to_back(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_1_1_1, 0);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, NONE);
    trap(f, 0x1010, EXCEPTION, 13, 0x99);
    trap(f, 0x8000, INTERRUPT, 7, 0);
    run(f, 0x9000, 0x9004, NONE);
    expect(f, "address 100c\nexception 13 tval 99 handler 8000 priv 3\n"
              "support no_change\ninterrupt 7 handler 9000 priv 3\n");
}

/* The loss is reported first; the trap itself is not lost. */
static void test_1_1_1_loss(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_1_1_1, 0);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, NONE);
    f->refuse = 1;
    trap(f, 0x1010, EXCEPTION, 13, 0x99);
    run(f, 0x8000, 0x8004, NONE);
    expect(f, "support trace_lost\n"
              "exception 13 tval 99 handler 8000 priv 3\n");
}

/* The trap ends the window: there is no handler to report it with. */
static void test_1_1_1_end(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_1_1_1, 0);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, NONE);
    trap(f, 0x1010, EXCEPTION, 13, 0x99);
    etrace_encoder_end_window(&f->enc);
    expect(f, "address 100c\nsupport ended_rep\n");
}

/* "The address is omitted": a mode that must be off where it is not known */
static void test_1_1_1_implicit_exception(Fixture *f)
{
    init_modes(f, ETRACE_WIRE_1_1_1, ETRACE_IOPT_IMPLICIT_EXCEPT);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, NONE);
    trap(f, 0x1010, EXCEPTION, 13, 0x99);
    run(f, 0x8000, 0x8004, NONE);
    expect(f, "address 100c\nsupport no_change\n"
              "exception 13 tval 99 handler 8000 priv 3\n"
              "support no_change\n");
}

/*
 * Context (Table "Context type"), notify, resynchronisation by cycles
 */

static void init_context(Fixture *f)
{
    ETraceParams params;

    etrace_params_init(&params, 64);
    params.context_width = 16;
    params.time_width = 32;
    init_params(f, &params);
}

static void test_context_unreported(Fixture *f)
{
    init_context(f);
    open_window(f, 0x1000);
    etrace_encoder_context(&f->enc, 0x12, ETRACE_CTYPE_UNREPORTED);
    run(f, 0x1008, 0x100c, NONE);
    expect(f, "");
    trap(f, 0x1010, INTERRUPT, 7, 0);
    etrace_encoder_time(&f->enc, 99, ETRACE_CTYPE_UNREPORTED);
    run(f, 0x8000, 0x8004, NONE);
    expect(f, "address 100c\n"
              "interrupt 7 handler 8000 priv 3 context 12 time 99\n");
}

static void test_context_imprecise(Fixture *f)
{
    init_context(f);
    open_window(f, 0x1000);
    etrace_encoder_context(&f->enc, 0x12, ETRACE_CTYPE_IMPRECISE);
    expect(f, "");
    run(f, 0x1008, 0x100c, TAKEN);
    expect(f, "context 12 priv 3\n");
    run(f, 0x2000, 0x2004, NONE);
    expect(f, "");
}

/* "If there were unreported branches beforehand, these first" */
static void test_context_precise(Fixture *f)
{
    init_context(f);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, TAKEN);
    etrace_encoder_context(&f->enc, 0x12, ETRACE_CTYPE_PRECISE);
    run(f, 0x2000, 0x2004, NONE);
    expect(f, "branches T 100c\nstart 2000 priv 3 context 12 time 0\n");
}

/* "The last instruction on the previous context, as well as the 1st" */
static void test_context_discontinuity(Fixture *f)
{
    init_context(f);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, NONE);
    etrace_encoder_context(&f->enc, 0x12, ETRACE_CTYPE_DISCON);
    run(f, 0x2000, 0x2004, NONE);
    expect(f, "address 100c\nsupport ended_rep\n"
              "start 2000 priv 3 context 12 time 0\n");
}

/* ctype "when a time value should be reported"; without a time, no report */
static void test_time_precise(Fixture *f)
{
    init_context(f);
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, TAKEN);
    etrace_encoder_time(&f->enc, 99, ETRACE_CTYPE_PRECISE);
    etrace_encoder_time(&f->enc, 100, ETRACE_CTYPE_UNREPORTED);
    expect(f, "");
    run(f, 0x2000, 0x2004, NONE);
    expect(f, "branches T 100c\nstart 2000 priv 3 context 0 time 100\n");
    run(f, 0x2008, 0x200c, NONE);
    expect(f, "");
    init_xlen(f, 64);
    open_window(f, 0x1000);
    etrace_encoder_time(&f->enc, 99, ETRACE_CTYPE_PRECISE);
    run(f, 0x1008, 0x100c, NONE);
    expect(f, "");
}

static void test_notify(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, NOT_TAKEN);
    etrace_encoder_notify(&f->enc);
    run(f, 0x1010, 0x1014, NONE);
    expect(f, "branches N 100c notify\n");
}

/* It is reported anyway: "notify == address[MSB]" (section 6.6.2, case 4) */
static void test_notify_target(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, JALR);
    run(f, 0x2000, 0x2000, NONE);
    etrace_encoder_notify(&f->enc);
    run(f, 0x2004, 0x2008, NONE);
    expect(f, "address 2000\n");
}

static void test_resync_cycles(Fixture *f)
{
    f->enc.sync_mode = ETRACE_SYNC_CYCLES;
    f->enc.sync_max = 100;
    open_window(f, 0x1000);
    etrace_encoder_cycles(&f->enc, 99);
    run(f, 0x1008, 0x100c, NONE);
    expect(f, "");
    etrace_encoder_cycles(&f->enc, 1);
    run(f, 0x1010, 0x1014, NONE);
    expect(f, "start 1010 priv 3\n");
}

/* A support packet "if the operating mode of the encoder changes" */
static void test_reconfigure(Fixture *f)
{
    open_window(f, 0x1000);
    run(f, 0x1008, 0x100c, NONE);
    f->enc.ioptions = ETRACE_IOPT_FULL_ADDRESS;
    etrace_encoder_reconfigure(&f->enc);
    expect(f, "address 100c\nsupport ended_rep\nsupport no_change\n");
    run(f, 0x1010, 0x1014, NONE);
    expect(f, "start 1010 priv 3\n");
}

static const Test tests[] = {
    TEST(sijump),
    TEST(sijump_off),
    TEST(sijump_first),
    TEST(predicted),
    TEST(not_all_predicted),
    TEST(fails_twice),
    TEST(count_and_address),
    TEST(few_and_address),
    TEST(addr_fail),
    TEST(count_max),
    TEST(predictor_at_sync),
    TEST(cache),
    TEST(cache_or_difference),
    TEST(cache_updiscon),
    TEST(cache_branches),
    TEST(implicit_return),
    TEST(failed_return),
    TEST(swap),
    TEST(stack_full),
    TEST(failed_return_again),
    TEST(behind_return),
    TEST(recursion),
    TEST(recursion_trap),
    TEST(irets),
    TEST(irets_reported),
    TEST(itype_width_3),
    TEST(implicit_exception),
    TEST(implicit_exception_elsewhere),
    TEST(1_1_1_tvalepc),
    TEST(1_1_1_back_to_back),
    TEST(1_1_1_loss),
    TEST(1_1_1_end),
    TEST(1_1_1_implicit_exception),
    TEST(context_unreported),
    TEST(context_imprecise),
    TEST(context_precise),
    TEST(context_discontinuity),
    TEST(time_precise),
    TEST(notify),
    TEST(notify_target),
    TEST(resync_cycles),
    TEST(reconfigure),
};

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add_tests(tests, ARRAY_SIZE(tests));
    return g_test_run();
}
