/*
 * What a debugger and the monitor see of CTR is what the guest sees. The guest
 * prints its registers and entries, and stays in a mode; gdb.py compares, and
 * writes registers; then the guest looks at what they are.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

/* Ends the line: the hart is in the mode now. */
static void wait_for_it(void)
{
    while (!(UART[UART_LSR] & UART_LSR_THRE)) {
        continue;
    }
    UART[0] = '\n';
    while (!(UART[UART_LSR] & UART_LSR_DR)) {
        continue;
    }
    (void)UART[0];
    asm volatile("ecall");
    __builtin_unreachable();
}

static void stay(enum mode mode, const char *what)
{
    struct run r = { .mode = mode, .pc = (xlen_t)wait_for_it };
    uint8_t stack[256] __attribute__((aligned(16)));

    r.mctrctl = csr_read(CSR_MCTRCTL);
    r.x[2] = (xlen_t)stack + sizeof(stack);
    print("# %s", what);
    run(&r);
    check_eq("mode", r.from, mode);
}

static void show(enum mode mode)
{
    print("# mode %s\n", mode_name[mode]);
    print("# csr mctrctl %X\n", csr_read(CSR_MCTRCTL));
    print("# csr sctrctl %X\n", csr_read(CSR_SCTRCTL));
    print("# csr vsctrctl %X\n", csr_read(CSR_VSCTRCTL));
    print("# csr sctrstatus %X\n", csr_read(CSR_SCTRSTATUS));
    print("# csr sctrdepth %X\n", csr_read(CSR_SCTRDEPTH));
    for (unsigned i = 0; i < depth; i++) {
        struct entry e = entry_read(i);

        print("# entry %u %X %X %X\n", i, e.source, e.target, e.data);
    }
    csr_write(CSR_SISELECT, 0x211);
    csr_write(CSR_VSISELECT, 0x2fe);
    print("# csr siselect %X\n", csr_read(CSR_SISELECT));
    print("# csr vsiselect %X\n", csr_read(CSR_VSISELECT));
}

/* Records of all types, some of them with a cycle count of some length */
static void record(void)
{
    gen_begin();
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned type = NOT_TAKEN; type <= DIR_LINK; type++) {
            if (type != 6 && type != 7) {
                gen_transfer(type);
                gen_nops(type * 20 * i * i * i);
            }
        }
    }
    gen_loop(50000);
    gen_transfer(DIR_JUMP);
    gen_end();
    ctr_clear();
    run_at(S, gen_code, CTL_S | CTL_M | CTL_NTBREN | CTL_TKBRINH);
    run_at(U, gen_code, CTL_U | CTL_RETINH | CTL_TKBRINH);
}

/* Kept in step with gdb.py, which writes these. */
static void written(void)
{
    struct entry e;

    check_eq("vsctrctl", csr_read(CSR_VSCTRCTL), CTL_BPFRZ | CTL_NTBREN);
    check_eq("sctrdepth", csr_read(CSR_SCTRDEPTH), 1);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), STATUS_FROZEN | 21);
    depth = 32;
    for (unsigned i = 0; i < 32; i += 31) {
        e = entry_read(i);
        about("entry %u", i);
        check_eq("ctrsource", e.source, 0x123456780001 + i * 0x10000);
        check_eq("ctrtarget", e.target, 0x2223334445550 + i * 0x10000);
        check_eq("ctrdata.TYPE", e.data & DATA_TYPE, 13);
    }
}

void test_main(void)
{
    static const char *const access[] = { "all", "none" };

    for (unsigned i = 0; i < 2; i++) {
        for (enum mode mode = M; mode < MODES; mode++) {
            rule("gdb: reads all of CTR in %s with mstateen0.CTR = %u",
                 mode_name[mode], !i);
            csr_write(CSR_SCTRDEPTH, mode % 3 + 2);
            depth = 16u << csr_read(CSR_SCTRDEPTH);
            record();
            csr_write(CSR_VSCTRCTL, CTL_BPFRZ | CTL_DIRJMPINH | CTL_STE);
            csr_write(CSR_SCTRSTATUS, STATUS_FROZEN | csr_read(CSR_SCTRSTATUS));
            csr_write(CSR_MCTRCTL, CTL_S | CTL_MTE | CTL_RASEMU | CTL_EXCINH);
            show(mode);
            print("# stateen %s\n", access[i]);
            set_stateen(i ? 0 : STATEEN_ALL, i ? 0 : STATEEN_ALL);
            stay(mode, "compare");
            set_stateen(STATEEN_ALL, STATEEN_ALL);

            rule("gdb: writes CTR in %s with mstateen0.CTR = %u",
                 mode_name[mode], !i);
            csr_write(CSR_VSCTRCTL, 0);
            csr_write(CSR_SCTRSTATUS, 0);
            set_stateen(i ? 0 : STATEEN_ALL, i ? 0 : STATEEN_ALL);
            stay(mode, "write");
            set_stateen(STATEEN_ALL, STATEEN_ALL);
            written();
        }
    }

    rule("gdb: a control register that it writes is in force at once");
    csr_write(CSR_VSCTRCTL, 0);
    csr_write(CSR_SCTRDEPTH, 4);
    depth = 256;
    ctr_clear();
    stay(U, "switch on");
    check_eq("recorded", csr_read(CSR_SCTRSTATUS) ||
                         entry_read(0).source & 1, 1);
}
