/*
 * A hart without Smctr and Ssctr has nothing of it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

void test_main(void)
{
    static const unsigned csrs[] = {
        CSR_SCTRCTL, CSR_SCTRSTATUS, CSR_SCTRDEPTH, CSR_VSCTRCTL, CSR_MCTRCTL
    };

    rule("2.6 without Smctr and Ssctr the CSRs are illegal");
    for (unsigned i = 0; i < 5; i++) {
        for (enum mode mode = M; mode <= U; mode++) {
            about("CSR %x from %s", (xlen_t)csrs[i], mode_name[mode]);
            check_eq("cause", run_insn(mode, insn_csrr(csrs[i], 10), 0).cause,
                     CAUSE_ILLEGAL);
            check_eq("cause", run_insn(mode, insn_csrw(csrs[i], 10), 0).cause,
                     CAUSE_ILLEGAL);
        }
    }

    rule("4.1 without Smctr and Ssctr SCTRCLR is illegal");
    for (enum mode mode = M; mode <= U; mode++) {
        about("%s", mode_name[mode]);
        check_eq("cause", run_insn(mode, SCTRCLR, 0).cause, CAUSE_ILLEGAL);
    }
}
