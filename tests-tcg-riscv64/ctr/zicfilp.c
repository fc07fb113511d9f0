/*
 * CTR beside Zicfilp: landing pads change nothing about records
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

#define LPE     4           /* menvcfg, senvcfg */
#define LPAD    0x00000017  /* lpad 0 */

void test_main(void)
{
    struct run r = { .mode = U };
    xlen_t target;

    csr_write(CSR_MENVCFG, csr_read(CSR_MENVCFG) | LPE);
    csr_write(CSR_SENVCFG, csr_read(CSR_SENVCFG) | LPE);

    rule("6.2 an indirect call to a landing pad is recorded");
    check_eq("senvcfg.LPE", csr_read(CSR_SENVCFG) & LPE, LPE);
    gen_begin();
    gen_transfer(IND_CALL);
    gen_word(LPAD);
    gen_transfer(IND_JUMP);
    gen_word(LPAD);
    gen_transfer(RETURN);
    gen_transfer(TAKEN);
    gen_end();
    ctr_clear();
    r.pc = (xlen_t)gen_code;
    r.mctrctl = CTL_U;
    run(&r);
    check_eq("cause", r.cause, CAUSE_ECALL_U);
    check_buffer(gen_list, gen_count);

    rule("6.1 an indirect call to no landing pad is recorded, and then the "
         "software-check exception at its target");
    gen_begin();
    gen_transfer(IND_CALL);
    target = gen_here();
    gen_end();
    ctr_clear();
    r.pc = (xlen_t)gen_code;
    r.mctrctl = CTL_U | CTL_MTE | CTL_STE;
    run(&r);
    check_eq("cause", r.cause, CAUSE_SW_CHECK);
    gen_list[gen_count++] = (struct transfer){ target, 0, EXCEPTION };
    check_buffer(gen_list, gen_count);
    csr_clear(mstatus, BIT(41));                    /* MPELP */
    csr_write(CSR_SENVCFG, csr_read(CSR_SENVCFG) & ~LPE);
}
