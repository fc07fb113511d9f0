/*
 * 2.3 "If the H extension is implemented, the vsctrctl register is [...]":
 * a hart without H
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

void test_main(void)
{
    static const unsigned csrs[] = {
        CSR_VSCTRCTL, CSR_VSISELECT, CSR_VSIREG, CSR_VSIREG3
    };

    rule("2.3 without H there is no vsctrctl");
    for (unsigned i = 0; i < 4; i++) {
        for (enum mode mode = M; mode <= U; mode++) {
            about("CSR %x from %s", (xlen_t)csrs[i], mode_name[mode]);
            check_eq("cause", run_insn(mode, insn_csrr(csrs[i], 10), 0).cause,
                     CAUSE_ILLEGAL);
            check_eq("cause", run_insn(mode, insn_csrw(csrs[i], 10), 0).cause,
                     CAUSE_ILLEGAL);
        }
    }
    csr_write(CSR_SCTRCTL, -1);
    check_eq("mctrctl.STE", csr_read(CSR_MCTRCTL) & CTL_STE, CTL_STE);
    csr_write(CSR_MCTRCTL, 0);
}
