/*
 * 6.5 Freeze
 *
 * The breakpoint exception and the local counter overflow interrupt (LCOFI)
 * from every mode to every mode, with each setting of BPFRZ and LCOFIFRZ in
 * both control registers. Needs Sscofpmf; the virtual LCOFI needs Ssaia.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

#define LCOFI       13
#define TDATA1_M6   (6ull << 60 | BIT(6) | BIT(4) | BIT(3) | BIT(2))

static const uint64_t mode_bit[MODES] = { CTL_M, CTL_S, CTL_U, CTL_S, CTL_U };

enum event { EBREAK, C_EBREAK, TRIGGER, OVERFLOW, VIRTUAL_OVERFLOW };

static bool is_virtual(enum mode mode)
{
    return mode == VS || mode == VU;
}

static const char *handler_of(enum mode target)
{
    return target == M ? trap_vector : quiet_trap;
}

static void arrange(enum event event, enum mode source, enum mode target)
{
    xlen_t m = target == M ? 0 : BIT(LCOFI);

    csr_write(medeleg, target == M ? 0 : 1 << CAUSE_BREAKPOINT);
    csr_write(mie, 0);
    csr_clear(sstatus, MSTATUS_SIE);
    if (have_h) {
        csr_write(CSR_HEDELEG, target == VS ? 1 << CAUSE_BREAKPOINT : 0);
        csr_write(CSR_HIDELEG, 0);
        csr_clear(CSR_VSSTATUS, MSTATUS_SIE);
    }
    csr_write(mideleg, m);
    if (event == OVERFLOW) {
        if (target == VS) {
            csr_write(CSR_HIDELEG, BIT(LCOFI));
        }
        csr_set(mie, BIT(LCOFI));
        csr_set(mip, BIT(LCOFI));
        if (source == S && target == S) {
            csr_set(sstatus, MSTATUS_SIE);
        }
        if (target == VS) {
            csr_set(CSR_VSIE, BIT(LCOFI));
        }
    } else if (event == VIRTUAL_OVERFLOW) {
        csr_write(CSR_HVIEN, BIT(LCOFI));
        csr_write(CSR_HVIP, BIT(LCOFI));
        csr_set(CSR_VSIE, BIT(LCOFI));
    }
    if (source == VS && target == VS && event >= OVERFLOW) {
        csr_set(CSR_VSSTATUS, MSTATUS_SIE);
    }
}

static void disarrange(void)
{
    csr_clear(mip, BIT(LCOFI));
    csr_write(mie, 0);
    csr_clear(sstatus, MSTATUS_SIE);
    csr_write(mideleg, 0);
    csr_write(medeleg, 0);
    if (have_h) {
        csr_write(CSR_HIDELEG, 0);
        csr_write(CSR_HEDELEG, 0);
        csr_write(CSR_HVIP, 0);
        csr_clear(CSR_VSSTATUS, MSTATUS_SIE);
    }
}

/*
 * A taken branch, then the event, in the source mode; then, unless the event
 * is the ebreak, which ends the code, nothing else. All modes but M are
 * enabled unless it is source or target.
 */
static void one(enum event event, enum mode source, enum mode target,
                uint64_t mctrctl, uint64_t vsctrctl, bool enabled, bool freeze)
{
    bool async = event >= OVERFLOW;
    struct run r = { .mode = source, .mpie = source == M && async };
    struct transfer want[4];
    unsigned n = 0;
    xlen_t at, cause;

    about("mctrctl %X, vsctrctl %X%s", mctrctl, vsctrctl,
          enabled ? "" : ", modes disabled");
    gen_begin();
    if (!async) {
        gen_transfer(TAKEN);
    }
    at = gen_here();
    if (event == EBREAK) {
        gen_word(0x00100073);
    } else if (event == C_EBREAK) {
        gen_half(0x9002);
        gen_half(1);
    } else {
        gen_word(0x13);
    }
    gen_end();
    if (enabled) {
        mctrctl |= is_virtual(source) ? 0 : mode_bit[source];
        vsctrctl |= is_virtual(source) ? mode_bit[source] : 0;
        mctrctl |= is_virtual(target) ? 0 : mode_bit[target];
        vsctrctl |= is_virtual(target) ? mode_bit[target] : 0;
        if (mctrctl & CTL_M) {
            want[n++] = (struct transfer){ addr(enter_mret), addr(gen_code),
                                           TRAP_RETURN };
        }
        if (!async) {
            want[n++] = gen_list[0];
        }
        if (!freeze) {
            want[n++] = (struct transfer){ at, addr(handler_of(target)),
                                           async ? INTERRUPT : EXCEPTION };
        }
    }
    ctr_clear();
    arrange(event, source, target);
    if (event == TRIGGER) {
        csr_write(tselect, 0);
        csr_write(tdata1, TDATA1_M6 | BIT(24) | BIT(23));
        csr_write(tdata2, at);
    }
    if (have_h) {
        csr_write(CSR_VSCTRCTL, vsctrctl);
    }
    r.pc = (xlen_t)gen_code;
    r.mctrctl = mctrctl;
    run(&r);
    if (event == TRIGGER) {
        csr_write(tdata1, 6ull << 60);
    }
    disarrange();
    if (have_h) {
        csr_write(CSR_VSCTRCTL, 0);
    }
    cause = target == M ? r.cause :
            target == S ? csr_read(scause) : csr_read(CSR_VSCAUSE);
    check_eq("cause", cause,
             async ? CAUSE_INTERRUPT | LCOFI : CAUSE_BREAKPOINT);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS),
             (freeze ? STATUS_FROZEN : 0) | n);
    check_buffer(want, n);
    csr_write(CSR_SCTRSTATUS, 0);
}

static void event(const char *name, enum event event, enum mode source,
                  enum mode target)
{
    uint64_t bit = event < OVERFLOW ? CTL_BPFRZ : CTL_LCOFIFRZ;
    uint64_t other = event < OVERFLOW ? CTL_LCOFIFRZ : CTL_BPFRZ;
    bool by_vs = target == VS;

    rule("6.5 %s %s to %s freezes by %s.%s", name, mode_name[source],
         target == S && have_h ? "HS" : mode_name[target],
         by_vs ? "vsctrctl" : "sctrctl",
         event < OVERFLOW ? "BPFRZ" : "LCOFIFRZ");
    csr_write(scause, 0);
    one(event, source, target, 0, 0, true, false);
    one(event, source, target, bit, 0, true, !by_vs);
    one(event, source, target, other, 0, true, false);
    one(event, source, target, bit, 0, false, !by_vs);
    if (have_h) {
        one(event, source, target, 0, bit, true, by_vs);
        one(event, source, target, bit, bit, true, true);
        one(event, source, target, 0, other, true, false);
        one(event, source, target, 0, bit, false, by_vs);
    }
}

static const enum mode pairs[][2] = {
    { U, M }, { U, S }, { S, M }, { S, S }, { M, M }, { VU, M }, { VU, S },
    { VU, VS }, { VS, M }, { VS, S }, { VS, VS },
};
#define N_PAIRS (sizeof(pairs) / sizeof(pairs[0]))

static void breakpoints(void)
{
    for (unsigned i = 0; i < N_PAIRS; i++) {
        if (!is_virtual(pairs[i][0]) || have_h) {
            event("ebreak", EBREAK, pairs[i][0], pairs[i][1]);
        }
    }
    /* "regardless of source (ebreak, c.ebreak, Sdtrig)" */
    event("c.ebreak", C_EBREAK, U, M);
    event("c.ebreak", C_EBREAK, U, S);
    event("Sdtrig breakpoint", TRIGGER, U, M);
    event("Sdtrig breakpoint", TRIGGER, U, S);
    if (have_h) {
        event("Sdtrig breakpoint", TRIGGER, VU, VS);
    }
}

static void overflows(void)
{
    for (unsigned i = 0; i < N_PAIRS; i++) {
        if (pairs[i][1] == VS) {
            csr_write(mideleg, BIT(LCOFI));
            csr_write(CSR_HIDELEG, BIT(LCOFI));
            if (!(csr_read(CSR_HIDELEG) & BIT(LCOFI))) {
                continue;   /* LCOFI reaches VS as a virtual one only */
            }
            csr_write(CSR_HIDELEG, 0);
        }
        if (!is_virtual(pairs[i][0]) || have_h) {
            event("LCOFI", OVERFLOW, pairs[i][0], pairs[i][1]);
        }
    }
    if (!have_h) {
        return;
    }
    /* "This includes virtual LCOFIs pended by a hypervisor." */
    if (run_insn(M, insn_csrr(CSR_HVIEN, 10), 0).cause != CAUSE_ECALL_M) {
        rule("6.5 virtual LCOFI freezes by vsctrctl.LCOFIFRZ");
        skip("the hart has no hvien (Ssaia)");
        return;
    }
    csr_write(CSR_HVIEN, BIT(LCOFI));
    event("virtual LCOFI", VIRTUAL_OVERFLOW, VU, VS);
    event("virtual LCOFI", VIRTUAL_OVERFLOW, VS, VS);
    csr_write(CSR_HVIEN, 0);
}

/*
 * "If a local counter overflow interrupt is recognized without a trap, FROZEN
 * is not automatically set."
 */
static void no_trap(void)
{
    rule("6.5 an LCOFI that does not trap does not freeze");
    gen_begin();
    gen_transfer(TAKEN);
    gen_transfer(TAKEN);
    gen_end();
    ctr_clear();
    csr_write(mideleg, BIT(LCOFI));
    csr_set(mip, BIT(LCOFI));
    about("masked by sie");
    run_at(U, gen_code, CTL_U | CTL_LCOFIFRZ);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), 2);
    about("masked by sstatus.SIE");
    csr_set(mie, BIT(LCOFI));
    run_at(S, gen_code, CTL_S | CTL_LCOFIFRZ);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), 4);
    disarrange();
}

/* Other exceptions and interrupts do not. */
static void other_causes(void)
{
    rule("6.5 other exceptions and interrupts do not freeze");
    ctr_clear();
    about("illegal instruction to M");
    run_at(U, illegal_stub, CTL_U | CTL_M | CTL_BPFRZ | CTL_LCOFIFRZ);
    check_eq("FROZEN", csr_read(CSR_SCTRSTATUS) & STATUS_FROZEN, 0);
    about("software interrupt to M");
    csr_set(mie, 0x2);
    csr_set(mip, 0x2);
    run_at(U, ecall_stub, CTL_U | CTL_M | CTL_BPFRZ | CTL_LCOFIFRZ);
    about("software interrupt to S");
    csr_write(mideleg, 0x2);
    run_at(U, ecall_stub, CTL_U | CTL_S | CTL_BPFRZ | CTL_LCOFIFRZ);
    check_eq("FROZEN", csr_read(CSR_SCTRSTATUS) & STATUS_FROZEN, 0);
    csr_clear(mip, 0x2);
    disarrange();
}

/*
 * "When sctrstatus.FROZEN=1, transfer recording is inhibited. This bit can be
 * set by hardware, as described below, or by software."
 */
static void inhibits(void)
{
    rule("6.5 FROZEN set by software inhibits recording until cleared");
    gen_begin();
    for (unsigned type = NOT_TAKEN; type <= DIR_LINK; type++) {
        if (type != 6 && type != 7) {
            gen_transfer(type);
        }
    }
    gen_end();
    for (enum mode mode = S; mode < MODES; mode++) {
        bool virt = is_virtual(mode);

        if (virt && !have_h) {
            break;
        }
        about("%s", mode_name[mode]);
        ctr_clear();
        csr_write(CSR_SCTRSTATUS, STATUS_FROZEN | 9);
        if (virt) {
            csr_write(CSR_VSCTRCTL, mode_bit[mode] | CTL_NTBREN);
        }
        run_at(mode, gen_code, virt ? 0 : mode_bit[mode] | CTL_NTBREN);
        check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), STATUS_FROZEN | 9);
        check_buffer(NULL, 0);
        csr_clear(CSR_SCTRSTATUS, STATUS_FROZEN);
        run_at(mode, gen_code, virt ? 0 : mode_bit[mode] | CTL_NTBREN);
        check_buffer(gen_list, gen_count);
        csr_write(CSR_SCTRSTATUS, 0);
        if (have_h) {
            csr_write(CSR_VSCTRCTL, 0);
        }
    }

    rule("6.5 FROZEN takes effect with the next instruction");
    ctr_clear();
    gen_begin();
    gen_transfer(TAKEN);
    gen_transfer(DIR_CALL);
    gen_word(0x37 | 10 << 7 | 0x80000000);          /* lui a0, 0x80000 */
    gen_word(insn_i(0x73, 2, 0, 10, CSR_SCTRSTATUS));   /* csrs */
    gen_transfer(TAKEN);
    gen_word(insn_i(0x73, 3, 0, 10, CSR_SCTRSTATUS));   /* csrc */
    gen_transfer(DIR_JUMP);
    gen_end();
    run_at(S, gen_code, CTL_S);
    gen_list[2] = gen_list[3];
    check_buffer(gen_list, 3);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), 3);
}

/* The real thing: a counter overflows while a loop runs in U-mode */
static void counter(void)
{
    struct run r = { .mode = U, .mctrctl = CTL_U | CTL_S | CTL_LCOFIFRZ };
    xlen_t branch;

    rule("6.5 LCOFI of an overflowing counter freezes with the loop's last "
         "records");
    r.pc = (xlen_t)gen_begin();
    gen_word(insn_i(0x13, 0, 10, 10, -1));
    branch = gen_here();
    gen_word(insn_branch(1, 10, 0, -4));
    gen_end();
    ctr_clear();
    disarrange();
    csr_write(mcountinhibit, 0);
    csr_write(mhpmevent3, 1);                       /* cycles */
    csr_write(mhpmcounter3, -20000);
    csr_write(mideleg, BIT(LCOFI));
    csr_write(mie, BIT(LCOFI));
    csr_write(scause, 0);
    r.x[10] = 2000000000;
    run(&r);
    csr_write(mhpmevent3, 0);
    check_eq("scause", csr_read(scause), CAUSE_INTERRUPT | LCOFI);
    check_eq("FROZEN", csr_read(CSR_SCTRSTATUS) & STATUS_FROZEN, STATUS_FROZEN);
    for (unsigned i = 0; i < depth; i++) {
        check_eq("ctrsource", entry_read(i).source, branch + 1);
        check_eq("ctrtarget", entry_read(i).target, branch - 4);
    }
    disarrange();
    csr_write(CSR_SCTRSTATUS, 0);
}

/* "tdata1.type is WARL": 1 and 8 to 14 ended stock QEMU. */
static void unknown_triggers(void)
{
    rule("Sdtrig: types of triggers that do not exist are ignored");
    csr_write(tdata1, TDATA1_M6);
    for (uint64_t type = 0; type < 16; type++) {
        if (type == 2 || type == 3 || type == 6) {
            continue;           /* those that QEMU has */
        }
        about("type %u", (unsigned)type);
        csr_write(tdata1, type << 60 | (TDATA1_M6 & ~(15ull << 60)));
        check_eq("tdata1", csr_read(tdata1), TDATA1_M6);
    }
    csr_write(tdata1, 6ull << 60);
}

void test_main(void)
{
    unknown_triggers();
    breakpoints();
    overflows();
    no_trap();
    other_causes();
    inhibits();
    counter();
}
