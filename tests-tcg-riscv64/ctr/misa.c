/*
 * CTR beside writes of misa: what a hart may execute is a part of what its
 * translated code is found by, and so is what CTR records. Neither may stand
 * for the other.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

#define CSR_MISA        0x301
#define MISA_M          BIT(12)
#define DIV             0x0252c033  /* div zero, t0, t0 */

/* The same code, which is generated once, with misa.M on, off and on */
static void on_off_on(uint64_t mctrctl)
{
    struct run r = { .mode = U };
    unsigned before;

    gen_begin();
    gen_transfer(TAKEN);
    gen_transfer(DIR_CALL);
    before = gen_count;
    gen_word(DIV);
    gen_transfer(RETURN);
    gen_end();

    for (int i = 0; i < 3; i++) {
        bool on = i != 1;
        xlen_t misa = csr_read(CSR_MISA), set;

        ctr_clear();
        r.pc = (xlen_t)gen_code;
        r.mctrctl = mctrctl;
        csr_write(CSR_MISA, on ? misa : misa & ~MISA_M);
        set = csr_read(CSR_MISA);
        run(&r);
        /* The checks are compiled for a hart that has everything. */
        csr_write(CSR_MISA, misa);
        check_eq("misa", set & MISA_M, on ? MISA_M : 0);
        check_eq("cause", r.cause, on ? CAUSE_ECALL_U : CAUSE_ILLEGAL);
        check_buffer(gen_list, !mctrctl ? 0 : on ? gen_count : before);
    }
}

void test_main(void)
{
    struct run r = { .mode = U };
    xlen_t misa;

    rule("2 a write of misa leaves the records alone");
    gen_begin();
    gen_transfer(TAKEN);
    gen_transfer(IND_CALL);
    gen_transfer(RETURN);
    gen_end();
    ctr_clear();
    r.pc = (xlen_t)gen_code;
    r.mctrctl = CTL_U;
    run(&r);
    misa = csr_read(CSR_MISA);
    csr_write(CSR_MISA, misa & ~MISA_M);
    csr_write(CSR_MISA, misa);
    check_buffer(gen_list, gen_count);

    rule("6 what misa switches off is illegal, recorded or not");
    on_off_on(CTL_U);
    on_off_on(0);
}
