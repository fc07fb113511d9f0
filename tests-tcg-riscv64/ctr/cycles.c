/*
 * 6.3 Cycle counting, on a machine that counts one cycle per instruction
 * (-icount shift=0): "increments at the same rate as the mcycle counter"
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

static const uint64_t mode_bit[MODES] = { CTL_M, CTL_S, CTL_U, CTL_S, CTL_U };

static unsigned cc(unsigned logical)
{
    return (entry_read(logical).data & DATA_CC) >> DATA_CC_SHIFT;
}

static bool ccv(unsigned logical)
{
    return entry_read(logical).data & DATA_CCV;
}

/*
 * "CCE holds 0 if the CtrCycleCounter value is less than 4096, otherwise it
 * holds the index of the most significant one bit in the CtrCycleCounter
 * value, minus 11. CCM holds CtrCycleCounter bits CCE+10:CCE-1."
 */
static unsigned encode(uint64_t cycles)
{
    unsigned msb = 0, cce;

    if (cycles >= BIT(27)) {
        return 0xffff;                  /* Table 11: 27 bits; saturates */
    }
    if (cycles < 4096) {
        return cycles;
    }
    while (cycles >> (msb + 1)) {
        msb++;
    }
    cce = msb - 11;
    return cce << 12 | (cycles >> (cce - 1) & 0xfff);
}

static void go(enum mode mode, uint64_t control)
{
    bool virt = mode == VS || mode == VU;
    uint64_t on = mode_bit[mode] | control;

    gen_end();
    ctr_clear();
    if (have_h) {
        csr_write(CSR_VSCTRCTL, virt ? on : 0);
    }
    run_at(mode, gen_code, virt ? 0 : on);
    if (have_h) {
        csr_write(CSR_VSCTRCTL, 0);
    }
}

/* Between two records, this many instructions, the second one included */
static void elapsed(void)
{
    rule("6.3 CC is the cycles since the prior record");
    for (unsigned n = 0; n < 60; n++) {
        about("%u instructions between two jumps", n);
        gen_begin();
        gen_transfer(DIR_JUMP);
        gen_nops(n);
        gen_transfer(DIR_JUMP);
        go(U, 0);
        check_eq("CCV", ccv(0), 1);
        check_eq("CC", cc(0), n + 1);
    }

    for (enum mode mode = M; mode < MODES; mode++) {
        unsigned n = 0;

        if (mode >= VS && !have_h) {
            break;
        }
        rule("6.3 every type of record in %s has its CC", mode_name[mode]);
        gen_begin();
        gen_transfer(TAKEN);
        for (unsigned type = NOT_TAKEN; type <= DIR_LINK; type++) {
            if (type != 6 && type != 7) {
                gen_transfer(type);
                n++;
            }
        }
        go(mode, CTL_NTBREN);
        /* in M the last record is the ecall's */
        for (unsigned i = 0; i < n; i++) {
            unsigned logical = (mode == M ? 1 : 0) + n - 1 - i;
            unsigned type = entry_read(logical).data & DATA_TYPE;
            bool indirect = type == IND_CALL || type == IND_JUMP ||
                            type == SWAP || type == RETURN || type == IND_LINK;

            about("type %u", type);
            check_eq("type", type, gen_list[i + 1].type);
            check_eq("CCV", ccv(logical), 1);
            check_eq("CC", cc(logical), indirect ? 3 : 1);
        }
    }

    rule("6.3 transfers that are not recorded do not end the count");
    gen_begin();
    gen_transfer(DIR_CALL);
    gen_nops(10);
    gen_transfer(DIR_JUMP);
    gen_transfer(TAKEN);
    gen_nops(10);
    gen_transfer(DIR_CALL);
    go(U, CTL_DIRJMPINH | CTL_TKBRINH);
    check_eq("CCV", ccv(0), 1);
    check_eq("CC", cc(0), 23);
}

static void encoded(uint64_t cycles)
{
    /* a loop takes 2 + 2n instructions and the jump is the last */
    uint64_t n = (cycles - 3) / 2;

    about("%X cycles", cycles);
    gen_begin();
    gen_transfer(DIR_JUMP);
    gen_loop(n);
    gen_nops(cycles - 3 - 2 * n);
    gen_transfer(DIR_JUMP);
    go(U, CTL_TKBRINH);
    check_eq("records", csr_read(CSR_SCTRSTATUS), 2);
    check_eq("CCV", ccv(0), 1);
    check_eq("CC", cc(0), encode(cycles));
}

static void exponents(void)
{
    static const uint16_t by_hand[][2] = {
        { 4095, 0x0fff }, { 4096, 0x1000 }, { 4097, 0x1001 }, { 8191, 0x1fff },
        { 8192, 0x2000 }, { 8193, 0x2000 }, { 8194, 0x2001 }, { 16383, 0x2fff },
        { 16384, 0x3000 }, { 16387, 0x3000 }, { 16388, 0x3001 },
        { 32767, 0x3fff }, { 32768, 0x4000 },
    };

    rule("6.3 CCE and CCM around 4095 and 4096, 8191 and 8192, ...");
    for (unsigned i = 0; i < sizeof(by_hand) / sizeof(by_hand[0]); i++) {
        check_eq("the test's own encoding", encode(by_hand[i][0]),
                 by_hand[i][1]);
        encoded(by_hand[i][0]);
    }
    for (unsigned e = 1; e <= 15; e++) {
        rule("6.3 CCE = %u: first, middle and last value", e);
        encoded(BIT(11 + e));
        encoded(BIT(11 + e) + BIT(10 + e) + 12345 % BIT(10 + e));
        encoded(BIT(12 + e) - 1);
    }

    /*
     * "The CC value saturates when all implemented bits in CCM and CCE are
     * 1." Table 11: the largest elapsed cycle value is 134201344.
     */
    rule("6.3 CC saturates with all bits 1");
    check_eq("the test's own encoding", encode(134201344), 0xffff);
    encoded(134201343);
    encoded(134201344);
    encoded(BIT(27));
    encoded(BIT(27) + 5000);
    encoded(2 * BIT(27) + 100);
}

/* Four jumps with an instruction in the middle: CCV = 0, 1, x, 1 */
static void resets(const char *what, enum mode mode, uint32_t insn,
                   uint64_t operand, bool reset)
{
    struct run r = { .mode = mode, .mctrctl = mode_bit[mode] };
    unsigned last = mode == M ? 1 : 0;          /* M: the ecall is recorded */

    rule("6.3 %s", what);
    gen_begin();
    gen_transfer(DIR_JUMP);
    gen_nops(5);
    gen_transfer(DIR_JUMP);
    gen_nops(5);
    gen_word(insn);
    gen_nops(7);
    gen_transfer(DIR_JUMP);
    gen_nops(9);
    gen_transfer(DIR_JUMP);
    gen_end();
    ctr_clear();
    if (mode == VS) {
        csr_write(CSR_VSCTRCTL, CTL_S);
        r.mctrctl = 0;
    }
    r.pc = (xlen_t)gen_code;
    r.x[10] = operand;
    run(&r);
    if (have_h) {
        csr_write(CSR_VSCTRCTL, 0);
    }
    check_eq("type of the last", entry_read(last).data & DATA_TYPE, DIR_JUMP);
    check_eq("CCV of the last", ccv(last), 1);
    check_eq("CC of the last", cc(last), 10);
    check_eq("CCV after it", ccv(last + 1), !reset);
    if (!reset) {
        check_eq("CC after it", cc(last + 1), 14);
    }
    if (insn != SCTRCLR) {
        check_eq("CCV of the second", ccv(last + 2), 1);
        check_eq("CC of the second", cc(last + 2), 6);
        if (mode != M) {
            check_eq("CCV of the first", ccv(last + 3), 0);
        }
    }
}

static void ccv_rules(void)
{
    rule("6.3 the first record after a write to mctrctl has CCV=0");
    gen_begin();
    gen_transfer(DIR_JUMP);
    gen_transfer(DIR_JUMP);
    go(U, 0);
    check_eq("CCV of the first", ccv(1), 0);
    check_eq("CCV of the second", ccv(0), 1);

    resets("the next record after a write to sctrctl has CCV=0", S,
           insn_csrw(CSR_SCTRCTL, 10), CTL_S, true);
    resets("the next record after a write to mctrctl has CCV=0", M,
           insn_csrw(CSR_MCTRCTL, 10), CTL_M, true);
    resets("the next record after SCTRCLR has CCV=0", S, SCTRCLR, 0, true);
    if (have_h) {
        resets("the next record after a write to vsctrctl has CCV=0", S,
               insn_csrw(CSR_VSCTRCTL, 10), 0, true);
        resets("the next record after VS writes sctrctl has CCV=0", VS,
               insn_csrw(CSR_SCTRCTL, 10), CTL_S, true);
    }
    resets("reading sctrctl resets nothing", S, insn_csrr(CSR_SCTRCTL, 10), 0,
           false);
    resets("writing sctrstatus resets nothing", S,
           insn_i(0x73, 3, 0, 10, CSR_SCTRSTATUS), 0, false);
}

static void check_range(const char *what, unsigned got, unsigned low,
                        unsigned high)
{
    if (got < low || got > high) {
        check_eq(what, got, low);
    }
}

/*
 * "Only cycles while CTR is active are counted, where active implies that the
 * current privilege mode is enabled for recording and CTR is not frozen."
 * Whether the cycle of the instruction that changes it counts is left open.
 */
static void active_only(void)
{
    struct run r = { .mode = U };
    xlen_t handler;

    rule("6.3 cycles in a disabled mode are not counted");
    handler = (xlen_t)gen_begin();
    gen_word(insn_csrr(0x141, 5));
    gen_word(insn_i(0x13, 0, 5, 5, 4));
    gen_word(insn_csrw(0x141, 5));
    gen_loop(1000);
    gen_word(0x10200073);
    r.pc = gen_here();
    gen_transfer(DIR_JUMP);
    gen_nops(100);
    gen_word(0);                                    /* to S and back */
    gen_nops(50);
    gen_transfer(DIR_JUMP);
    gen_end();
    csr_write(stvec, handler);
    csr_write(medeleg, 1 << CAUSE_ILLEGAL);
    ctr_clear();
    r.mctrctl = CTL_U;
    run(&r);
    check_eq("records", csr_read(CSR_SCTRSTATUS), 2);
    check_eq("CCV", ccv(0), 1);
    check_range("CC", cc(0), 151, 153);

    rule("6.3 cycles in every enabled mode are counted");
    ctr_clear();
    r.mctrctl = CTL_U | CTL_S | CTL_TKBRINH;
    run(&r);
    /* jump, exception, trap return, jump */
    check_eq("records", csr_read(CSR_SCTRSTATUS), 4);
    check_eq("CCV", ccv(0) && ccv(1) && ccv(2), 1);
    check_range("CC of the exception", cc(2), 100, 101);
    check_range("CC of the trap return", cc(1), 2006, 2007);
    check_eq("CC of the jump", cc(0), 51);
    ctr_clear();
    r.mctrctl = CTL_U | CTL_S | CTL_TKBRINH | CTL_EXCINH | CTL_TRETINH;
    run(&r);
    check_eq("records", csr_read(CSR_SCTRSTATUS), 2);
    check_range("CC over all", cc(0), 100 + 2006 + 51, 100 + 2006 + 52);
    csr_write(medeleg, 0);
    csr_write(stvec, quiet_trap);

    /*
     * The first record, of mret, has CCV=0; the interrupt comes at once; the
     * last one is that of quiet_trap's ecall.
     */
    rule("6.3 an interrupt has its CC");
    csr_write(mideleg, 2);
    csr_set(mie, 2);
    csr_set(mip, 2);
    ctr_clear();
    run_at(U, spin_stub, CTL_M | CTL_U | CTL_S);
    csr_clear(mip, 2);
    csr_clear(mie, 2);
    csr_write(mideleg, 0);
    check_eq("type", entry_read(1).data & DATA_TYPE, INTERRUPT);
    check_eq("CCV", ccv(1), 1);
    check_range("CC", cc(1), 0, 1);
    check_eq("CCV of the trap return", ccv(2), 0);

    rule("6.3 cycles while frozen are not counted");
    gen_begin();
    gen_word(0x37 | 10 << 7 | 0x80000000);          /* lui a0, 0x80000 */
    gen_transfer(DIR_JUMP);
    gen_nops(10);
    gen_word(insn_i(0x73, 2, 0, 10, CSR_SCTRSTATUS));   /* csrs */
    gen_loop(1000);
    gen_word(insn_i(0x73, 3, 0, 10, CSR_SCTRSTATUS));   /* csrc */
    gen_nops(20);
    gen_transfer(DIR_JUMP);
    go(S, CTL_TKBRINH);
    check_eq("records", csr_read(CSR_SCTRSTATUS), 2);
    check_eq("CCV", ccv(0), 1);
    check_range("CC", cc(0), 31, 33);
}

/*
 * "an implementation may opt to record CCV=0 for all calls, or those whose
 * parent call was popped"; otherwise "returns that pop a call entry [...] add
 * the CC field from the popped entry to the counter."
 */
static void rasemu(void)
{
    struct { bool v; unsigned c; } a, b, c, s;

    gen_begin();
    gen_transfer(DIR_CALL);                         /* a */
    gen_nops(5);
    gen_transfer(DIR_CALL);                         /* b */
    go(U, CTL_RASEMU);
    a.v = ccv(1);
    b.v = ccv(0), b.c = cc(0);

    gen_begin();
    gen_transfer(DIR_CALL);                         /* a */
    gen_nops(5);
    gen_transfer(DIR_CALL);                         /* 6 cycles */
    gen_nops(7);
    gen_transfer(RETURN);                           /* 7 + 3 more */
    gen_nops(3);
    gen_transfer(DIR_CALL);                         /* c: 3 + 1 more */
    go(U, CTL_RASEMU);
    c.v = ccv(0), c.c = cc(0);

    gen_begin();
    gen_transfer(DIR_CALL);                         /* a */
    gen_nops(5);
    gen_transfer(DIR_CALL);                         /* 6 cycles */
    gen_nops(7);
    gen_transfer(SWAP);                             /* 7 + 3 more */
    go(U, CTL_RASEMU);
    s.v = ccv(0), s.c = cc(0);

    rule("6.4 with RASEMU, CC of a call is that since its parent, or CCV=0");
    check("the first call has CCV=0", !a.v);
    check("second call", !b.v || b.c == 6);
    check("call after a popped one", !c.v || c.c == 6 + 10 + 4);
    check("co-routine swap", !s.v || s.c == 6 + 10);
}

/*
 * "CtrCycleCounter is reset on writes to xctrctl". Zicsr: csrrs and csrrc whose
 * register holds 0 write the CSR, those that name x0 or the immediate 0 do not.
 */
static void written_with_zero(void)
{
    static const struct {
        const char *name;
        unsigned funct3, rd, rs1;
        bool write;
    } cases[] = {
        { "csrrs x0, mctrctl, t1", 2, 0, 6, true },
        { "csrrs t2, mctrctl, t1", 2, 7, 6, true },
        { "csrrc x0, mctrctl, t1", 3, 0, 6, true },
        { "csrrc t2, mctrctl, t1", 3, 7, 6, true },
        { "csrrs t2, mctrctl, x0", 2, 7, 0, false },
        { "csrrc t2, mctrctl, x0", 3, 7, 0, false },
        { "csrrsi t2, mctrctl, 0", 6, 7, 0, false },
        { "csrrci t2, mctrctl, 0", 7, 7, 0, false },
    };

    rule("6.3 a write of xctrctl that changes nothing resets the counter");
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        about("%s", cases[i].name);
        gen_begin();
        gen_word(insn_i(0x13, 0, 6, 0, 0));             /* li t1, 0 */
        gen_transfer(DIR_JUMP);
        gen_word(insn_i(0x73, cases[i].funct3, cases[i].rd, cases[i].rs1,
                        CSR_MCTRCTL));
        gen_transfer(DIR_JUMP);
        go(M, 0);
        /* the last record is the ecall's */
        check_eq("type", entry_read(1).data & DATA_TYPE, DIR_JUMP);
        check_eq("CCV", ccv(1), !cases[i].write);
    }
}

void test_main(void)
{
    written_with_zero();
    elapsed();
    exponents();
    ccv_rules();
    active_only();
    rasemu();
}
