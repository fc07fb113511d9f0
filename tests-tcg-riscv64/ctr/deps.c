/*
 * Chapters 1 and 5: what Smctr and Ssctr bring along
 *
 * "Smctr and Ssctr depend on both the implementation of S-mode and the
 * Sscsrind extension." Run with smctr=on, with ssctr=on, and with both, and
 * smstateen=on; nothing of *csrind is asked for.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

#ifdef NO_MCTRCTL
#define WITH "Ssctr and Smstateen"
#else
#define WITH "Smctr and Smstateen"
#endif

static const unsigned state[] = {
    CSR_SISELECT, CSR_SIREG, CSR_SIREG2, CSR_SIREG3, CSR_SIREG6, CSR_SCTRCTL,
    CSR_SCTRSTATUS, CSR_SCTRDEPTH
};

static xlen_t cause(enum mode mode, unsigned csr)
{
    about("CSR %x from %s", (xlen_t)csr, mode_name[mode]);
    csr_write(CSR_SISELECT, 0x200);
    return run_insn(mode, insn_csrr(csr, 10), 0).cause;
}

void test_main(void)
{
    rule("5 " WITH ": mstateen0 has the bits CTR and 60");
    set_stateen(STATEEN_CTR | STATEEN_CSRIND, 0);
    check_eq("mstateen0", csr_read(CSR_MSTATEEN0),
             STATEEN_CTR | STATEEN_CSRIND);
    set_stateen(0, 0);
    check_eq("mstateen0", csr_read(CSR_MSTATEEN0) &
             (STATEEN_CTR | STATEEN_CSRIND), 0);

    if (have_h) {
        rule("5 " WITH ": hstateen0 has the bits CTR and 60");
        set_stateen(STATEEN_CTR | STATEEN_CSRIND,
                    STATEEN_CTR | STATEEN_CSRIND);
        check_eq("hstateen0", csr_read(CSR_HSTATEEN0),
                 STATEEN_CTR | STATEEN_CSRIND);
    }

    rule("5 " WITH ": S-mode can use CTR if both bits are set");
    set_stateen(STATEEN_CTR | STATEEN_CSRIND, 0);
    for (unsigned i = 0; i < sizeof(state) / sizeof(state[0]); i++) {
        check_eq("cause", cause(S, state[i]), CAUSE_ECALL_S);
    }
    check_eq("cause of SCTRCLR", run_insn(S, SCTRCLR, 0).cause, CAUSE_ECALL_S);
    gen_begin();
    gen_transfer(IND_CALL);
    gen_end();
    ctr_clear();
    run_at(S, gen_code, CTL_S);
    check_buffer(gen_list, 1);

    if (have_h) {
        rule("5 " WITH ": VS-mode can use CTR if both bits are set in both");
        set_stateen(STATEEN_CTR | STATEEN_CSRIND,
                    STATEEN_CTR | STATEEN_CSRIND);
        csr_write(CSR_VSISELECT, 0x200);
        for (unsigned i = 0; i < 7; i++) {
            check_eq("cause", cause(VS, state[i]), CAUSE_ECALL_VS);
        }
    }

    rule("5 " WITH ": S-mode cannot use CTR if they are clear");
    set_stateen(0, 0);
    for (unsigned i = 0; i < sizeof(state) / sizeof(state[0]); i++) {
        check_eq("cause", cause(S, state[i]), CAUSE_ILLEGAL);
    }
    check_eq("cause of SCTRCLR", run_insn(S, SCTRCLR, 0).cause, CAUSE_ILLEGAL);

#ifdef NO_MCTRCTL
    /*
     * "Ssctr is essentially identical to Smctr, except that it excludes
     * machine-level CSRs"
     */
    rule("1 Ssctr without Smctr has no mctrctl");
    check_eq("cause", cause(M, CSR_MCTRCTL), CAUSE_ILLEGAL);
#endif
}
