/*
 * Chapter 6 beside Smrnmi and Smdbltrp: a resumable NMI is a trap to M-mode and
 * mnret a trap return, so Table 7 and 6.1.2 are about them as well.
 *
 * The hart's NMI handler is at NMI_VECTOR, that of exceptions while
 * mnstatus.NMIE=0 at EXCEPTION_VECTOR (properties of the CPU). A trap in
 * M-mode with mstatus.MDT=1 is delivered as an NMI (Smdbltrp), which lets the
 * guest make one. With -DLINE the NMI comes from outside: run.sh raises the
 * line when the guest asks for it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

#define NMI_VECTOR          ((uint32_t *)0x80080000)
#define EXCEPTION_VECTOR    ((uint32_t *)0x80080100)
#define NMIE                0x8

#ifdef LINE
/* Goes to run()'s handler without a trap, which cannot be taken yet. */
static void handler(void)
{
    xlen_t to = (xlen_t)trap_vector;

    NMI_VECTOR[0] = insn_i(0x73, 5, 0, 0, CSR_MCTRCTL);     /* csrwi 0 */
    NMI_VECTOR[1] = insn_jal(0, to - (xlen_t)&NMI_VECTOR[1]);
    fence_i();
}

static void from_outside(void)
{
    struct run r = { .mode = U, .pc = (xlen_t)spin_stub,
                     .mctrctl = CTL_U | CTL_M | CTL_DIRJMPINH | CTL_TRETINH |
                                CTL_LCOFIFRZ };
    struct transfer want = { addr(spin_stub), addr(NMI_VECTOR), INTERRUPT };

    rule("6.1, 6.5 an NMI from U to M is recorded as an interrupt, and is no "
         "counter overflow whatever its number");
    handler();
    ctr_clear();
    print("# raise the NMI line\n");
    run(&r);
    check_eq("mnepc", csr_read(CSR_MNEPC), addr(spin_stub));
    check_eq("mnstatus.NMIE", csr_read(CSR_MNSTATUS) & NMIE, 0);
    check_eq("FROZEN", csr_read(CSR_SCTRSTATUS) >> 31, 0);
    check_buffer(&want, 1);
}

void test_main(void)
{
    from_outside();
}
#else

#define MDT     BIT(42)
#define MNPV    0x80

static const uint64_t mode_bit[MODES] = { CTL_M, CTL_S, CTL_U, CTL_S, CTL_U };

/* Back to run()'s handler by an ecall: MDT=0, NMIE=1, and nothing recorded */
static uint32_t *leave(uint32_t *at)
{
    *at++ = insn_i(0x73, 5, 0, 0, CSR_MCTRCTL);     /* csrwi mctrctl, 0 */
    *at++ = insn_i(0x73, 3, 0, 5, 0x300);           /* csrc mstatus, t0 */
    *at++ = insn_i(0x73, 6, 0, 8, CSR_MNSTATUS);    /* csrsi mnstatus, 8 */
    *at++ = 0x73;
    return at;
}

static struct run nmi(uint64_t control)
{
    struct run r = { .mode = M, .mctrctl = control };

    r.pc = (xlen_t)gen_begin();
    gen_word(insn_i(0x73, 2, 0, 5, 0x300));         /* csrs mstatus, t0 */
    gen_word(0);
    gen_end();
    r.x[5] = MDT;
    ctr_clear();
    run(&r);
    check_eq("mnepc", csr_read(CSR_MNEPC), addr(gen_code) + 4);
    check_eq("mncause", csr_read(CSR_MNCAUSE), CAUSE_ILLEGAL);
    return r;
}

static void entry(void)
{
    const struct transfer want[] = {
        { addr(enter_mret), addr(gen_code), TRAP_RETURN },
        { addr(gen_code) + 4, addr(NMI_VECTOR), EXCEPTION },
        { addr(NMI_VECTOR) + 4, addr(EXCEPTION_VECTOR), EXCEPTION },
    };

    rule("6.1 a double trap in M that is taken as an NMI is recorded");
    leave(NMI_VECTOR);
    leave(EXCEPTION_VECTOR);
    nmi(CTL_M);
    check_buffer(want, 2);

    rule("6.1 an NMI is not recorded with M=0");
    nmi(0);
    check_buffer(NULL, 0);

    rule("6.1 an exception while NMIE=0 is recorded with the vector it goes "
         "to");
    NMI_VECTOR[0] = insn_i(0x73, 3, 0, 5, 0x300);   /* csrc mstatus, t0 */
    NMI_VECTOR[1] = 0;
    fence_i();
    nmi(CTL_M);
    check_buffer(want, 3);

    rule("6.2 EXCINH inhibits exceptions that are taken as NMIs");
    leave(NMI_VECTOR);
    fence_i();
    nmi(CTL_M | CTL_EXCINH);
    check_buffer(want, 1);

    rule("6.5 a breakpoint to M that is taken as an NMI freezes by BPFRZ");
    {
        struct run r = { .mode = M, .mctrctl = CTL_M | CTL_BPFRZ };

        r.pc = (xlen_t)gen_begin();
        gen_word(insn_i(0x73, 2, 0, 5, 0x300));
        gen_word(0x00100073);
        gen_end();
        r.x[5] = MDT;
        ctr_clear();
        run(&r);
        check_eq("mncause", csr_read(CSR_MNCAUSE), CAUSE_BREAKPOINT);
        check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), STATUS_FROZEN | 1);
        check_buffer(want, 1);
        csr_write(CSR_SCTRSTATUS, 0);
    }
}

/* mnret from M to each mode, with each of them enabled or not */
static void returns(void)
{
    for (enum mode mode = M; mode < MODES; mode++) {
        bool virt = mode == VS || mode == VU;

        rule("6.1 Table 7: mnret M to %s with each enabled or not",
             mode_name[mode]);
        for (unsigned on = 0; on < 4; on++) {
            bool m_on = on & 1, to_on = on & 2;
            uint64_t mctrctl = (m_on ? CTL_M : 0) |
                               (to_on && !virt ? mode_bit[mode] : 0);
            uint64_t vsctrctl = to_on && virt ? mode_bit[mode] : 0;
            struct run r = { .mode = M, .mctrctl = mctrctl };
            struct transfer want[3];
            unsigned n = 0;
            xlen_t mnret;

            if (mode == M && m_on != to_on) {
                continue;
            }
            about("mctrctl %X, vsctrctl %X", mctrctl, vsctrctl);
            r.pc = (xlen_t)gen_begin();
            gen_word(insn_csrw(CSR_MNEPC, 10));
            gen_word(insn_csrw(CSR_MNSTATUS, 11));
            mnret = gen_here();
            gen_word(0x70200073);
            gen_end();
            r.x[10] = (xlen_t)ecall_stub;
            r.x[11] = NMIE | (virt ? MNPV : 0) |
                      (xlen_t)(mode == M ? 3 : mode == S || mode == VS) << 11;
            ctr_clear();
            csr_write(CSR_VSCTRCTL, vsctrctl);
            run(&r);
            csr_write(CSR_VSCTRCTL, 0);
            check_eq("reached mode", r.from, mode);
            check_eq("reached pc", r.epc, addr(ecall_stub));
            if (m_on) {
                want[n++] = (struct transfer){
                    addr(enter_mret), addr(gen_code), TRAP_RETURN };
                want[n++] = (struct transfer){
                    mnret, to_on ? addr(ecall_stub) : 0, TRAP_RETURN };
                want[n++] = (struct transfer){
                    to_on ? addr(ecall_stub) : 0, addr(trap_vector),
                    EXCEPTION };
            }
            check_buffer(want, n);
        }
    }

    rule("6.1.1 mnret M to VS: the filters of vsctrctl are used");
    for (unsigned i = 0; i < 2; i++) {
        struct run r = { .mode = M, .mctrctl = CTL_M | (i ? 0 : CTL_TRETINH) };
        bool found = false;

        about(i ? "vsctrctl.TRETINH" : "mctrctl.TRETINH");
        r.pc = (xlen_t)gen_begin();
        gen_word(insn_csrw(CSR_MNEPC, 10));
        gen_word(insn_csrw(CSR_MNSTATUS, 11));
        gen_word(0x70200073);
        gen_end();
        r.x[10] = (xlen_t)ecall_stub;
        r.x[11] = NMIE | MNPV | 1 << 11;
        ctr_clear();
        csr_write(CSR_VSCTRCTL, CTL_S | (i ? CTL_TRETINH : 0));
        run(&r);
        csr_write(CSR_VSCTRCTL, 0);
        for (unsigned j = 0; j < 4; j++) {
            found |= entry_read(j).source == addr(gen_code) + 9 &&
                     entry_read(j).target == addr(ecall_stub);
        }
        check_eq("recorded", found, i == 0);
    }
}

void test_main(void)
{
    entry();
    returns();
}
#endif
