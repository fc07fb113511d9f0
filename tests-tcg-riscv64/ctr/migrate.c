/*
 * Migration and snapshots in the middle of recording keep every entry, WRPTR,
 * FROZEN, the control registers and the cycle counter. migrate.py moves the
 * machine where the guest says so, and then sends it a character.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

/* The script moves the machine, and sends the character behind it. */
static void ask_for(const char *how)
{
    print("# move: %s\n", how);
}

/* U-mode waits for the character; it must not record a thing meanwhile. */
static void wait_for_it(void)
{
    while (!(UART[UART_LSR] & UART_LSR_DR)) {
        continue;
    }
    (void)UART[0];
    asm volatile("ecall");
    __builtin_unreachable();
}

static void at_rest(void)
{
    static struct transfer first[300];
    struct run r = { .mode = U, .pc = (xlen_t)wait_for_it };
    unsigned n;
    uint8_t stack[256] __attribute__((aligned(16)));

    csr_write(CSR_SCTRDEPTH, 2);
    depth = 16u << csr_read(CSR_SCTRDEPTH);
    gen_begin();
    for (unsigned i = 0; i < 90; i++) {
        gen_transfer(i % 3 ? TAKEN : IND_CALL);
    }
    gen_end();
    n = gen_count;
    for (unsigned i = 0; i < n; i++) {
        first[i] = gen_list[i];
    }
    ctr_clear();
    run_at(U, gen_code, CTL_U);
    csr_write(CSR_VSCTRCTL, CTL_S | CTL_RETINH);
    csr_write(CSR_MCTRCTL, CTL_S | CTL_TKBRINH | CTL_MTE);

    rule("migration: the guest goes on");
    ask_for("file");
    r.mctrctl = CTL_S | CTL_TKBRINH | CTL_MTE;
    r.x[2] = (xlen_t)stack + sizeof(stack);
    run(&r);
    check_eq("cause", r.cause, CAUSE_ECALL_U);

    rule("migration: every entry, sctrstatus, sctrdepth and vsctrctl are kept");
    check_eq("sctrdepth", csr_read(CSR_SCTRDEPTH), 2);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), n % depth);
    check_eq("vsctrctl", csr_read(CSR_VSCTRCTL), CTL_S | CTL_RETINH);
    check_buffer(first, n);

    rule("migration: recording goes on behind them");
    gen_begin();
    gen_transfer(SWAP);
    gen_end();
    first[n++] = gen_list[0];
    csr_write(CSR_VSCTRCTL, 0);
    run_at(U, gen_code, CTL_U);
    check_buffer(first, n);

    rule("migration: sctrstatus.FROZEN is kept");
    csr_write(CSR_SCTRSTATUS, STATUS_FROZEN | 9);
    ask_for("file");
    r.pc = (xlen_t)wait_for_it;
    r.x[2] = (xlen_t)stack + sizeof(stack);
    r.mctrctl = CTL_U;
    run(&r);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), STATUS_FROZEN | 9);
}

/* CCV and CC are implemented; with -icount they count instructions. */
static bool counts(void)
{
    bool yes;

    ctr_clear();
    entry_write(0, (struct entry){ 0, 0, DATA_CCV });
    yes = entry_read(0).data & DATA_CCV;
    ctr_clear();
    return yes;
}

/*
 * The hart records in this mode while it is moved: a loop of transfers that
 * leaves with the character. The buffer has to hold its last transfers; most
 * of them are from before the move, for the character is there when the hart
 * goes on.
 */
static void recording(enum mode mode, const char *how, bool exact)
{
    static const uint64_t enable[MODES] = { CTL_M, CTL_S, CTL_U, CTL_S, CTL_U };
    static struct transfer expected[400];
    static uint8_t cycles[400];
    uint64_t control = enable[mode] | CTL_EXCINH | CTL_TRETINH;
    struct run r = { .mode = mode, .pc = (xlen_t)gen_code };
    bool virt = mode == VS || mode == VU;
    unsigned loop, n = 0;
    bool cc = counts();
    xlen_t start = (xlen_t)gen_begin();

    for (unsigned i = 0; i < 99; i++) {
        static const uint8_t types[] = {
            TAKEN, IND_CALL, DIR_CALL, RETURN, SWAP, DIR_JUMP, IND_LINK,
        };

        gen_transfer(types[i % sizeof(types)]);
        cycles[i] = gen_list[i].source - (i ? gen_list[i - 1].target : start);
        cycles[i] = cycles[i] / 4 + 1;
    }
    gen_word(insn_i(0x13, 0, 31, 31, 1));           /* addi x31, x31, 1 */
    gen_word(insn_i(0x03, 4, 29, 30, UART_LSR));    /* lbu x29, LSR(x30) */
    gen_word(insn_i(0x13, 7, 29, 29, UART_LSR_DR)); /* andi x29, x29, DR */
    gen_word(insn_branch(1, 29, 0, 8));             /* bnez x29, 1f */
    gen_list[99] = (struct transfer){ gen_here(), start, DIR_JUMP };
    cycles[99] = 5;
    gen_word(insn_jal(0, start - gen_here()));
    gen_word(insn_i(0x03, 4, 29, 30, 0));           /* 1: lbu x29, (x30) */
    gen_end();
    loop = 100;

    rule("migration: %s: %s goes on recording, no transfer is lost or twice",
         how, mode_name[mode]);
    csr_write(CSR_SCTRDEPTH, 4);
    depth = 256;
    csr_write(CSR_VSCTRCTL, virt ? control : 0);
    r.mctrctl = virt ? 0 : control;
    r.x[30] = UART_BASE;
    ask_for(how);
    run(&r);
    csr_write(CSR_VSCTRCTL, 0);
    check_eq("mode", r.from, mode);

    for (unsigned i = 0; i < 4 * loop - 1; i++) {
        expected[n++] = gen_list[i % loop];
    }
    expected[n++] = (struct transfer){
        gen_list[99].source - 4, gen_list[99].source + 4, TAKEN };
    check("the loop ran long enough", r.x[31] >= 4);
    check_eq("WRPTR", csr_read(CSR_SCTRSTATUS), r.x[31] * loop % depth);
    check_buffer(expected, n);

    rule("migration: %s: %s: the cycle counter goes on", how, mode_name[mode]);
    for (unsigned i = 0; i < depth; i++) {
        uint64_t data = entry_read(i).data;

        about("entry %u", i);
        if (!cc) {
            check_eq("ctrdata", data & (DATA_CC | DATA_CCV), 0);
        } else if (!exact) {
            check_eq("CCV", data & DATA_CCV, DATA_CCV);
        } else {
            unsigned want = i ? cycles[(n - 1 - i) % loop] : 4;

            check_eq("CCV and CC", data & (DATA_CC | DATA_CCV),
                     DATA_CCV | (uint64_t)want << DATA_CC_SHIFT);
        }
    }
}

/* For S-mode: waits for the character and returns behind the trap. */
static void __attribute__((naked, aligned(4))) wait_in_s(void)
{
    asm volatile(
        ".option push\n"
        ".option norvc\n"
        "1:  lbu     t4, 5(t5)\n"
        "    andi    t4, t4, 1\n"
        "    beqz    t4, 1b\n"
        "    lbu     t4, 0(t5)\n"
        "    csrr    t4, sepc\n"
        "    addi    t4, t4, 4\n"
        "    csrw    sepc, t4\n"
        "    sret\n"
        ".option pop\n");
}

/* A jump, active cycles, a trap to S-mode, as many again, a jump */
static void __attribute__((naked, aligned(4))) pieces(void)
{
    asm volatile(
        ".option push\n"
        ".option norvc\n"
        "    j       1f\n"
        "1:  rdcycle a0\n"
        "2:  rdcycle a1\n"
        "    sub     a2, a1, a0\n"
        "    bltu    a2, a3, 2b\n"
        "    .word   0\n"
        "    rdcycle a4\n"
        "3:  rdcycle a5\n"
        "    sub     a6, a5, a4\n"
        "    bltu    a6, a3, 3b\n"
        "    j       4f\n"
        "4:  ecall\n"
        ".option pop\n");
}

/* A counter that stands still, for the hart is in a mode that is disabled */
static void standing(const char *how)
{
    struct run r = { .mode = U, .pc = (xlen_t)pieces };
    uint64_t data;
    unsigned cce, ccm;
    uint64_t value;
    bool cc = counts();

    rule("migration: %s: a cycle counter that stands still keeps its value",
         how);
    csr_write(stvec, wait_in_s);
    csr_write(medeleg, 1 << CAUSE_ILLEGAL);
    r.mctrctl = CTL_U | CTL_TKBRINH | CTL_EXCINH;
    r.x[30] = UART_BASE;
    r.x[13] = 20000000;
    ask_for(how);
    run(&r);
    csr_write(medeleg, 0);
    csr_write(stvec, quiet_trap);
    check_eq("cause", r.cause, CAUSE_ECALL_U);
    check_eq("records", csr_read(CSR_SCTRSTATUS), 2);
    data = entry_read(0).data;
    if (!cc) {
        check_eq("ctrdata", data & (DATA_CC | DATA_CCV), 0);
        return;
    }
    ccm = data >> 16 & 0xfff;
    cce = data >> 28 & 15;
    value = cce ? (uint64_t)(4096 + ccm) << (cce - 1) : ccm;
    check_eq("CCV", data & DATA_CCV, DATA_CCV);
    /* what both pieces took, and what is lost at CCE's precision */
    about("CC %X, pieces %X and %X", value, r.x[12], r.x[16]);
    check("CC has both pieces", value + BIT(14) >= r.x[12] + r.x[16]);
    check("CC has no more", value < r.x[12] + r.x[16] + BIT(26));
}

void test_main(void)
{
    bool exact;

    csr_write(CSR_SCTRDEPTH, 4);
    at_rest();

    /* One cycle for each instruction: then every CC is known. */
    csr_write(CSR_SCTRSTATUS, 0);
    csr_write(CSR_VSCTRCTL, 0);
    gen_begin();
    gen_transfer(DIR_JUMP);
    gen_nops(77);
    gen_transfer(DIR_JUMP);
    gen_end();
    ctr_clear();
    run_at(U, gen_code, CTL_U);
    exact = (entry_read(0).data & DATA_CC) >> DATA_CC_SHIFT == 78;

    print("# each CC is %s\n", exact ? "known" : "not known");
    for (enum mode mode = M; mode < MODES; mode++) {
        recording(mode, "live", exact);
    }
    recording(VU, "file", exact);
    recording(U, "loadvm", exact);
    recording(VU, "-loadvm", exact);
    standing("file");
    standing("loadvm");
    standing("-loadvm");
}
