/*
 * Chapter 6 "The transfer completes/retires": a hart without compressed
 * instructions, whose jumps to addresses that are not multiples of 4 trap
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

static void one(const char *what, uint32_t insn, xlen_t a0)
{
    struct run r = { .mode = U, .pc = (xlen_t)gen_begin(),
                     .mctrctl = CTL_U | CTL_NTBREN };

    about("%s", what);
    gen_word(insn);
    gen_end();
    r.x[10] = a0;
    ctr_clear();
    run(&r);
    check_eq("cause", r.cause, 0);
    check_eq("epc", r.epc, addr(gen_code));
    check_buffer(NULL, 0);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), 0);
}

void test_main(void)
{
    struct transfer want = { addr(gen_code), addr(gen_code) + 4, NOT_TAKEN };

    rule("6 a jump or branch that raises an address-misaligned exception is "
         "not recorded");
    one("jal", insn_jal(1, 6), 0);
    one("jalr", insn_i(0x67, 0, 1, 10, 0), addr(ecall_stub) + 2);
    one("jalr as return", insn_i(0x67, 0, 0, 1, 2), 0);
    one("beq", insn_branch(0, 0, 0, 6), 0);

    rule("6 a not-taken branch to a misaligned address is one");
    gen_begin();
    gen_word(insn_branch(1, 0, 0, 6));
    gen_end();
    ctr_clear();
    run_at(U, gen_code, CTL_U | CTL_NTBREN);
    check_buffer(&want, 1);
}
