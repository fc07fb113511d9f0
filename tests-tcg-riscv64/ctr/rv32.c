/*
 * RV32: 2.6, and the bits of mstateen0h and hstateen0h
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

#define LOW_FIELDS (CTL_U | CTL_S | CTL_M | CTL_RASEMU | CTL_STE | CTL_MTE | \
                    CTL_BPFRZ | CTL_LCOFIFRZ)
#define HIGH_CTR    (STATEEN_CTR >> 32)
#define HIGH_CSRIND (STATEEN_CSRIND >> 32)

/* "RV32 cannot access xctrctl bits 63:32." */
static void control(void)
{
    rule("2.6 RV32: mctrctl and sctrctl have the fields of bits 31:0");
    csr_write(CSR_MCTRCTL, ~CTL_M);
    check_eq("mctrctl", csr_read(CSR_MCTRCTL), LOW_FIELDS & ~CTL_M);
    csr_write(CSR_MCTRCTL, 0);
    csr_write(CSR_SCTRCTL, -1);
    check_eq("sctrctl", csr_read(CSR_SCTRCTL),
             LOW_FIELDS & ~(CTL_M | CTL_MTE));
    csr_write(CSR_SCTRCTL, 0);
    if (have_h) {
        csr_write(CSR_VSCTRCTL, -1);
        check_eq("vsctrctl", csr_read(CSR_VSCTRCTL),
                 LOW_FIELDS & ~(CTL_M | CTL_MTE));
        csr_write(CSR_VSCTRCTL, 0);
    }

    rule("2.6 RV32: a write cannot reach bits 63:32");
    gen_begin();
    for (unsigned type = TAKEN; type <= DIR_LINK; type++) {
        if (type != 6 && type != 7) {
            gen_transfer(type);
        }
    }
    gen_end();
    ctr_clear();
    csr_write(CSR_MCTRCTL, ~(CTL_M | CTL_RASEMU));
    run_at(U, gen_code, CTL_U);
    check_buffer(gen_list, gen_count);
}

/* "ctrdata is a 64-bit register", of which sireg3 is the low half. */
static void entries(void)
{
    rule("3 RV32: sireg to sireg3 are 32 bits of the entry, sireg4 to sireg6 "
         "read-only 0");
    ctr_clear();
    csr_write(CSR_SISELECT, 0x200);
    csr_write(CSR_SIREG, 0xffffffff);
    csr_write(CSR_SIREG2, 0xfffffffe);
    csr_write(CSR_SIREG3, 7);
    csr_write(CSR_SIREG4, -1);
    csr_write(CSR_SIREG5, -1);
    csr_write(CSR_SIREG6, -1);
    check_eq("sireg", csr_read(CSR_SIREG), 0xffffffff);
    check_eq("sireg2", csr_read(CSR_SIREG2), 0xfffffffe);
    check_eq("sireg3", csr_read(CSR_SIREG3), 7);
    check_eq("sireg4", csr_read(CSR_SIREG4), 0);
    check_eq("sireg5", csr_read(CSR_SIREG5), 0);
    check_eq("sireg6", csr_read(CSR_SIREG6), 0);
    ctr_clear();
}

static void stateen(void)
{
    rule("5 RV32: mstateen0h has the bits CTR and 60");
    set_stateen(0, 0);
    csr_write(CSR_MSTATEEN0H, HIGH_CTR);
    check_eq("CTR", csr_read(CSR_MSTATEEN0H), HIGH_CTR);
    csr_write(CSR_MSTATEEN0H, HIGH_CSRIND);
    check_eq("60", csr_read(CSR_MSTATEEN0H), HIGH_CSRIND);
    csr_write(CSR_MSTATEEN0H, ~(HIGH_CTR | HIGH_CSRIND));
    check_eq("both clear",
             csr_read(CSR_MSTATEEN0H) & (HIGH_CTR | HIGH_CSRIND), 0);

    rule("5 RV32: writing mstateen0 leaves mstateen0h alone");
    csr_write(CSR_MSTATEEN0H, HIGH_CTR | HIGH_CSRIND);
    csr_write(CSR_MSTATEEN0, 0);
    check_eq("after 0", csr_read(CSR_MSTATEEN0H), HIGH_CTR | HIGH_CSRIND);
    csr_write(CSR_MSTATEEN0, -1);
    check_eq("after ~0", csr_read(CSR_MSTATEEN0H), HIGH_CTR | HIGH_CSRIND);

    if (have_h) {
        rule("5 RV32: hstateen0h has the bits CTR and 60, gated by "
             "mstateen0h");
        csr_write(CSR_HSTATEEN0H, HIGH_CTR | HIGH_CSRIND);
        check_eq("set", csr_read(CSR_HSTATEEN0H), HIGH_CTR | HIGH_CSRIND);
        csr_write(CSR_HSTATEEN0, 0);
        check_eq("after hstateen0 = 0", csr_read(CSR_HSTATEEN0H),
                 HIGH_CTR | HIGH_CSRIND);
        csr_write(CSR_MSTATEEN0H, HIGH_CSRIND);
        check_eq("mstateen0.CTR=0", csr_read(CSR_HSTATEEN0H), HIGH_CSRIND);
        csr_write(CSR_MSTATEEN0H, HIGH_CTR | HIGH_CSRIND);
        csr_write(CSR_HSTATEEN0H, 0);
        check_eq("clear", csr_read(CSR_HSTATEEN0H), 0);
    }

    rule("5 RV32: mstateen0.CTR and bit 60 restrict S-mode");
    csr_write(CSR_SISELECT, 0x200);
    for (unsigned i = 0; i < 4; i++) {
        bool ctr = i & 1, ind = i & 2;

        about("CTR %u, bit 60 %u", ctr, ind);
        csr_write(CSR_MSTATEEN0H,
                  (ctr ? HIGH_CTR : 0) | (ind ? HIGH_CSRIND : 0));
        check_eq("sctrctl", run_insn(S, insn_csrr(CSR_SCTRCTL, 10), 0).cause,
                 ctr ? CAUSE_ECALL_S : CAUSE_ILLEGAL);
        check_eq("sireg", run_insn(S, insn_csrr(CSR_SIREG, 10), 0).cause,
                 ctr && ind ? CAUSE_ECALL_S : CAUSE_ILLEGAL);
        check_eq("siselect", run_insn(S, insn_csrr(CSR_SISELECT, 10), 0).cause,
                 ind ? CAUSE_ECALL_S : CAUSE_ILLEGAL);
    }
    set_stateen(STATEEN_ALL, STATEEN_ALL);
}

/* pc is kept sign-extended, tdata2 is not. */
static void trigger(void)
{
    struct run r;

    rule("Sdtrig: an execute trigger above 2 GiB fires on RV32");
    gen_begin();
    gen_nops(4);
    gen_end();
    csr_write(tselect, 0);
    csr_write(tdata1, 6u << 28 | BIT(3) | BIT(2));      /* in U, execute */
    csr_write(tdata2, (xlen_t)gen_code + 8);
    r = run_at(U, gen_code, 0);
    csr_write(tdata1, 6u << 28);
    check_eq("cause", r.cause, CAUSE_BREAKPOINT);
    check_eq("epc", r.epc, (xlen_t)gen_code + 8);
}

void test_main(void)
{
    trigger();
    control();
    entries();
    stateen();
}
