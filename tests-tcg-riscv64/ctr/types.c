/*
 * Tables 9 and 10: the type of every jump and branch, and what is recorded
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

static bool link(unsigned r)
{
    return r == 1 || r == 5;
}

/* Table 10, the rows of JALR */
static unsigned jalr_type(unsigned rd, unsigned rs)
{
    const struct {
        unsigned type;
        bool holds;
    } table[] = {
        /* Indirect call: JALR x1, rs where rs != x5 */
        { IND_CALL, rd == 1 && rs != 5 },
        /* Indirect call: JALR x5, rs where rs != x1 */
        { IND_CALL, rd == 5 && rs != 1 },
        /* Indirect jump: JALR x0, rs where rs != (x1 or x5) */
        { IND_JUMP, rd == 0 && !link(rs) },
        /* Co-routine swap: JALR x1, x5; JALR x5, x1 */
        { SWAP, rd == 1 && rs == 5 },
        { SWAP, rd == 5 && rs == 1 },
        /*
         * Function return: JALR rd, rs where rs == (x1 or x5) and
         * rd != (x1 or x5)
         */
        { RETURN, link(rs) && !link(rd) },
        /*
         * Other indirect jump: JALR rd, rs where rs != (x1 or x5) and
         * rd != (x0, x1, or x5)
         */
        { IND_LINK, !link(rs) && rd != 0 && !link(rd) },
    };
    unsigned type = 0, rows = 0;

    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].holds) {
            type = table[i].type;
            rows++;
        }
    }
    if (rows != 1) {
        bail("jalr x%u, x%u is in %u rows of Table 10", rd, rs, rows);
    }
    return type;
}

/* Table 10, the rows of JAL */
static unsigned jal_type(unsigned rd)
{
    return rd == 0 ? DIR_JUMP : link(rd) ? DIR_CALL : DIR_LINK;
}

/*
 * Runs what was generated in U-mode, every register at an ecall; expects one
 * transfer.
 */
static void one_jump(unsigned rs, xlen_t base, xlen_t target, unsigned type)
{
    struct run r = { .mode = U, .pc = (xlen_t)gen_code, .mctrctl = CTL_U };
    struct transfer t = { (xlen_t)gen_code, target, type };

    fence_i();
    r.x[rs] = base;
    r.x[0] = 0;
    ctr_clear();
    run(&r);
    check_eq("cause", r.cause,
             target ? CAUSE_ECALL_U : CAUSE_FETCH_ACCESS);
    check_eq("epc", r.epc, target);
    check_buffer(&t, 1);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), 1);
}

static void jalr(void)
{
    static const struct {
        unsigned type;
        const char *name;
    } types[] = {
        { IND_CALL, "indirect call" }, { IND_JUMP, "indirect jump" },
        { SWAP, "co-routine swap" }, { RETURN, "function return" },
        { IND_LINK, "other indirect jump" },
    };

    for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        rule("6.2 Table 10: JALR as %s, every rd and rs", types[i].name);
        for (unsigned n = 0; n < 1024; n++) {
            unsigned rd = n / 32, rs = n % 32;

            if (jalr_type(rd, rs) != types[i].type) {
                continue;
            }
            about("jalr x%u, x%u", rd, rs);
            gen_begin();
            /* from x0 only the lowest addresses can be reached: a fault */
            gen_word(insn_i(0x67, 0, rd, rs, rs ? 8 : 0));
            one_jump(rs, addr(ecall_stub) - 8, rs ? addr(ecall_stub) : 0,
                     types[i].type);
        }
    }

    rule("6.2 JALR: ctrtarget is the target with bit 0 clear");
    gen_begin();
    gen_word(insn_i(0x67, 0, 1, 6, -5));
    one_jump(6, addr(ecall_stub) + 6, addr(ecall_stub), IND_CALL);
}

static void jal(void)
{
    rule("6.2 Table 10: JAL as direct call, direct jump, other direct jump, "
         "every rd");
    for (unsigned rd = 0; rd < 32; rd++) {
        about("jal x%u", rd);
        gen_begin();
        gen_word(insn_jal(rd, 12));
        gen_word(0);
        gen_word(0);
        gen_word(0x73);
        one_jump(0, 0, addr(gen_code) + 12, jal_type(rd));
    }

    rule("6.2 JAL backwards");
    gen_begin();
    gen_word(insn_jal(0, 12));
    gen_word(0x73);
    gen_word(0);
    gen_word(insn_jal(1, -8));
    gen_end();
    ctr_clear();
    run_at(U, gen_code, CTL_U);
    check_buffer((const struct transfer[]){
        { addr(gen_code), addr(gen_code) + 12, DIR_JUMP },
        { addr(gen_code) + 12, addr(gen_code) + 4, DIR_CALL } }, 2);
}

static void compressed(void)
{
    rule("6.2 Table 10: C.JR, every rs1");
    for (unsigned rs = 1; rs < 32; rs++) {
        about("c.jr x%u", rs);
        gen_begin();
        gen_half(0x8002 | rs << 7);
        one_jump(rs, addr(ecall_stub), addr(ecall_stub),
                 link(rs) ? RETURN : IND_JUMP);
    }

    rule("6.2 Table 10: C.JALR, every rs1");
    for (unsigned rs = 1; rs < 32; rs++) {
        about("c.jalr x%u", rs);
        gen_begin();
        gen_half(0x9002 | rs << 7);
        one_jump(rs, addr(ecall_stub), addr(ecall_stub),
                 rs == 5 ? SWAP : IND_CALL);
    }

    rule("6.2 Table 10: C.J is a direct jump");
    gen_begin();
    gen_half(0xa011);                               /* c.j .+4 */
    gen_half(0);
    gen_word(0x73);
    one_jump(0, 0, addr(gen_code) + 4, DIR_JUMP);

#ifdef RV32
    rule("6.2 Table 10: C.JAL is a direct call");
    gen_begin();
    gen_half(0x2011);                               /* c.jal .+4 */
    gen_half(0);
    gen_word(0x73);
    one_jump(0, 0, addr(gen_code) + 4, DIR_CALL);
#endif
}

#ifndef RV32
#define NTB CTL_NTBREN
#else
#define NTB 0               /* 2.6: RV32 cannot access bits 63:32 */
#endif

/* One branch with operands x8 and x9: 12 bytes ahead, or 4 if compressed */
static void one_branch(uint32_t insn, bool half, xlen_t a, xlen_t b, bool taken,
                       uint64_t control)
{
    struct run r = { .mode = U, .pc = (xlen_t)gen_begin(),
                     .mctrctl = CTL_U | control };
    struct transfer t = { (xlen_t)gen_code, 0, taken ? TAKEN : NOT_TAKEN };
    xlen_t next = (xlen_t)gen_code + (half ? 2 : 4);

    if (half) {
        gen_half(insn);
        gen_half(taken ? 0 : 1);                    /* c.nop */
        gen_word(0x73);
        t.target = taken ? addr(gen_code) + 4 : next;
    } else {
        gen_word(insn);
        gen_word(taken ? 0 : 0x73);
        gen_word(0);
        gen_word(taken ? 0x73 : 0);
        t.target = taken ? addr(gen_code) + 12 : next;
    }
    fence_i();
    r.x[8] = a;
    r.x[9] = b;
    ctr_clear();
    run(&r);
    check_eq("cause", r.cause, CAUSE_ECALL_U);
    check_buffer(&t, taken || control);
}

static void branches(void)
{
    static const struct {
        const char *name;
        unsigned funct3;
        xlen_t a, b;            /* taken with these ... */
        xlen_t c, d;            /* ... not with those */
    } list[] = {
        { "beq", 0, 7, 7, 7, 8 }, { "bne", 1, 7, 8, 7, 7 },
        { "blt", 4, -1, 1, 1, -1 }, { "bge", 5, 1, 1, -1, 1 },
        { "bltu", 6, 1, -1, -1, 1 }, { "bgeu", 7, -1, -1, 1, -1 },
    };

    rule("6.2 Table 9: a taken branch is type 5");
    for (unsigned i = 0; i < 6; i++) {
        about("%s", list[i].name);
        one_branch(insn_branch(list[i].funct3, 8, 9, 12), false,
                   list[i].a, list[i].b, true, 0);
    }
    about("c.beqz");
    one_branch(0xc011, true, 0, 0, true, 0);
    about("c.bnez");
    one_branch(0xe011, true, 1, 0, true, 0);

    rule("6.2 a not-taken branch is not recorded by default");
    for (unsigned i = 0; i < 6; i++) {
        about("%s", list[i].name);
        one_branch(insn_branch(list[i].funct3, 8, 9, 12), false,
                   list[i].c, list[i].d, false, 0);
    }
    about("c.beqz");
    one_branch(0xc011, true, 1, 0, false, 0);
    about("c.bnez");
    one_branch(0xe011, true, 0, 0, false, 0);

    if (!NTB) {
        return;
    }
    rule("6.2 Table 9: a not-taken branch is type 4 with NTBREN=1");
    for (unsigned i = 0; i < 6; i++) {
        about("%s", list[i].name);
        one_branch(insn_branch(list[i].funct3, 8, 9, 12), false,
                   list[i].c, list[i].d, false, NTB);
    }
    about("c.beqz");
    one_branch(0xc011, true, 1, 0, false, NTB);
    about("c.bnez");
    one_branch(0xe011, true, 0, 0, false, NTB);

    rule("6.2 a taken branch is type 5 with NTBREN=1, too");
    for (unsigned i = 0; i < 6; i++) {
        about("%s", list[i].name);
        one_branch(insn_branch(list[i].funct3, 8, 9, 12), false,
                   list[i].a, list[i].b, true, NTB);
    }
    about("c.beqz");
    one_branch(0xc011, true, 0, 0, true, NTB);
    about("c.bnez");
    one_branch(0xe011, true, 1, 0, true, NTB);
}

/*
 * "Default CTR behavior [...] is to record all control transfers within
 * enabled privileged modes", and none in others
 */
static void every_mode(void)
{
    static const uint64_t en[MODES] = { CTL_M, CTL_S, CTL_U, CTL_S, CTL_U };

    for (enum mode mode = M; mode < MODES; mode++) {
        struct transfer want[32];
        unsigned n = 0;

        if (mode >= VS && !have_h) {
            break;
        }
        rule("2.1 recording in %s-mode if and only if its bit is set",
             mode_name[mode]);
        for (enum mode on = M; on < MODES; on++) {
            bool v = on == VS || on == VU;

            if (v && !have_h) {
                break;
            }
            about("code in %s, enabled is %s", mode_name[mode], mode_name[on]);
            gen_begin();
            for (unsigned type = TAKEN; type <= DIR_LINK; type++) {
                if (type != 6 && type != 7) {
                    gen_transfer(type);
                }
            }
            n = 0;
            /* Table 7: mret from M enabled, and the trap to it */
            if (on == M) {
                want[n++] = (struct transfer){
                    addr(enter_mret), mode == M ? addr(gen_code) : 0,
                    TRAP_RETURN };
            }
            for (unsigned i = 0; on == mode && i < gen_count; i++) {
                want[n++] = gen_list[i];
            }
            if (on == M) {
                want[n++] = (struct transfer){
                    mode == M ? gen_here() : 0, addr(trap_vector), EXCEPTION };
            }
            gen_end();
            ctr_clear();
            if (have_h) {
                csr_write(CSR_VSCTRCTL, v ? en[on] : 0);
            }
            run_at(mode, gen_code, v ? 0 : en[on]);
            if (have_h) {
                csr_write(CSR_VSCTRCTL, 0);
            }
            check_buffer(want, n);
        }
    }
}

void test_main(void)
{
    jalr();
    jal();
    compressed();
    branches();
    every_mode();
}
