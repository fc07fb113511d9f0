/*
 * System reset leaves a clean CTR: the text leaves reset values open; this
 * implementation documents that all of CTR's state is 0 after it. The guest
 * resets the machine once; a mark in memory says that it is the second start.
 * With RECORD it records, and reset-qmp.py resets it in the middle.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

#define SIFIVE_TEST ((volatile uint32_t *)0x100000)     /* a register */
#define MARK ((volatile uint64_t *)0x87000000)  /* outlives the guest */

void test_main(void)
{
    static const struct entry ones = { ~0ull, ~0ull, ~0ull };

    if (*MARK != 0x435452) {
        *MARK = 0x435452;
        csr_write(CSR_SCTRDEPTH, 4);
        for (unsigned i = 0; i < 256; i++) {
            entry_write(i, ones);
        }
        csr_write(CSR_SISELECT, 0x2ff);
        csr_write(CSR_SCTRSTATUS, STATUS_FROZEN | 77);
        csr_write(CSR_VSCTRCTL, CTL_S | CTL_RASEMU);
        csr_write(CSR_SCTRDEPTH, 3);
        csr_write(CSR_SCTRSTATUS, STATUS_FROZEN | 77);
#ifdef RECORD
        csr_write(CSR_SCTRSTATUS, 77);
        print("# reset now\n");
        run_at(U, spin_stub, CTL_U | CTL_MTE | CTL_NTBREN);
#endif
        csr_write(CSR_MCTRCTL, CTL_U | CTL_MTE | CTL_RASEMU);
        *SIFIVE_TEST = 0x7777;
        for (;;) {
            continue;
        }
    }
    rule("reset: mctrctl, vsctrctl, sctrstatus and sctrdepth are 0");
    check_eq("mctrctl", csr_read(CSR_MCTRCTL), 0);
    check_eq("vsctrctl", csr_read(CSR_VSCTRCTL), 0);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), 0);
    check_eq("sctrdepth", csr_read(CSR_SCTRDEPTH), 0);

    rule("reset: every entry is 0");
    csr_write(CSR_SCTRDEPTH, 4);
    for (unsigned i = 0; i < 256; i++) {
        struct entry e = entry_read(i);

        about("entry %u", i);
        check_eq("ctrsource", e.source, 0);
        check_eq("ctrtarget", e.target, 0);
        check_eq("ctrdata", e.data, 0);
    }

    rule("reset: recording starts at entry 0");
    depth = 256;
    gen_begin();
    gen_transfer(DIR_CALL);
    gen_transfer(RETURN);
    gen_end();
    run_at(U, gen_code, CTL_U);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), 2);
    check_buffer(gen_list, 2);
}
