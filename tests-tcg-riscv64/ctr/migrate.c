/*
 * Migration in the middle of recording keeps every entry, WRPTR, FROZEN and
 * the control registers. migrate.py moves the machine where the guest says so,
 * and then sends it a character.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

#define UART ((volatile uint8_t *)0x10000000)   /* registers */

/* U-mode waits for the character; it must not record a thing meanwhile. */
static void wait_for_it(void)
{
    while (!(UART[5] & 1)) {
        continue;
    }
    (void)UART[0];
    asm volatile("ecall");
    __builtin_unreachable();
}

void test_main(void)
{
    static struct transfer first[300];
    struct run r = { .mode = U, .pc = (xlen_t)wait_for_it };
    unsigned n;
    uint8_t stack[256] __attribute__((aligned(16)));

    csr_write(CSR_SCTRDEPTH, 2);
    depth = 16u << csr_read(CSR_SCTRDEPTH);
    gen_begin();
    for (unsigned i = 0; i < 90; i++) {
        gen_transfer(i % 3 ? TAKEN : IND_CALL);
    }
    gen_end();
    n = gen_count;
    for (unsigned i = 0; i < n; i++) {
        first[i] = gen_list[i];
    }
    ctr_clear();
    run_at(U, gen_code, CTL_U);
    csr_write(CSR_VSCTRCTL, CTL_S | CTL_RETINH);
    csr_write(CSR_MCTRCTL, CTL_S | CTL_TKBRINH | CTL_MTE);

    rule("migration: the guest goes on");
    print("# migrate now\n");
    r.mctrctl = CTL_S | CTL_TKBRINH | CTL_MTE;
    r.x[2] = (xlen_t)stack + sizeof(stack);
    run(&r);
    check_eq("cause", r.cause, CAUSE_ECALL_U);

    rule("migration: every entry, sctrstatus, sctrdepth and vsctrctl are kept");
    check_eq("sctrdepth", csr_read(CSR_SCTRDEPTH), 2);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), n % depth);
    check_eq("vsctrctl", csr_read(CSR_VSCTRCTL), CTL_S | CTL_RETINH);
    check_buffer(first, n);

    rule("migration: recording goes on behind them");
    gen_begin();
    gen_transfer(SWAP);
    gen_end();
    first[n++] = gen_list[0];
    csr_write(CSR_VSCTRCTL, 0);
    run_at(U, gen_code, CTL_U);
    check_buffer(first, n);

    rule("migration: sctrstatus.FROZEN is kept");
    csr_write(CSR_SCTRSTATUS, STATUS_FROZEN | 9);
    print("# migrate now\n");
    r.pc = (xlen_t)wait_for_it;
    r.x[2] = (xlen_t)stack + sizeof(stack);
    r.mctrctl = CTL_U;
    run(&r);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), STATUS_FROZEN | 9);
}
