/*
 * 3.1, 3.2 "When XLEN < MXLEN, both explicit writes (by software) and implicit
 * writes (for recorded transfers) will be zero-extended."
 *
 * U-mode, and then S-mode, with XLEN=32 on an RV64 hart
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

#define UXL         (3ull << 32)
#define UXL_32      (1ull << 32)
#define SXL         (3ull << 34)
#define SXL_32      (1ull << 34)

static bool set_xl(uint64_t field, uint64_t value)
{
    csr_write(mstatus, (csr_read(mstatus) & ~field) | value);
    return (csr_read(mstatus) & field) == value;
}

static void generate(void)
{
    gen_begin();
    for (unsigned type = NOT_TAKEN; type <= DIR_LINK; type++) {
        if (type != 6 && type != 7) {
            gen_transfer(type);
        }
    }
    gen_end();
}

static void implicit(void)
{
    struct run r;

    rule("3.1 U-mode with UXL=32: sources and targets are zero-extended");
    if (!set_xl(UXL, UXL_32)) {
        skip("UXL cannot be 32");
        return;
    }
    generate();
    ctr_clear();
    run_at(U, gen_code, CTL_U | CTL_NTBREN);
    check_buffer(gen_list, gen_count);

    rule("3.1 UXL=32: traps and trap returns are zero-extended");
    ctr_clear();
    r = run_at(U, illegal_stub, CTL_U | CTL_M);
    check_eq("cause", r.cause, CAUSE_ILLEGAL);
    check_buffer((const struct transfer[]){
        { addr(enter_mret), addr(illegal_stub), TRAP_RETURN },
        { addr(illegal_stub), addr(trap_vector), EXCEPTION } }, 2);
    ctr_clear();
    run_at(U, illegal_stub, CTL_U | CTL_STE | CTL_MTE);
    check_buffer((const struct transfer[]){
        { addr(illegal_stub), 0, EXCEPTION } }, 1);
    set_xl(UXL, 2ull << 32);
}

static void explicit(void)
{
    struct run r;

    rule("3.1 S-mode with SXL=32: writes to entries are zero-extended");
    if (!set_xl(SXL, SXL_32)) {
        skip("SXL cannot be 32");
        return;
    }
    ctr_clear();
    csr_write(CSR_SISELECT, 0x200);
    csr_write(CSR_SIREG, ~0ull);
    csr_write(CSR_SIREG2, ~0ull);
    r = run_insn(S, insn_csrw(CSR_SIREG, 10), 0xffffffff80001235);
    check_eq("cause", r.cause, CAUSE_ECALL_S);
    run_insn(S, insn_csrw(CSR_SIREG2, 10), 0xffffffff80005678);
    check_eq("ctrsource", entry_read(0).source, 0x80001235);
    check_eq("ctrtarget", entry_read(0).target, 0x80005678);

    rule("3.1 S-mode with SXL=32: sources and targets are zero-extended");
    generate();
    ctr_clear();
    run_at(S, gen_code, CTL_S);
    gen_list[0] = gen_list[1];
    check_buffer(gen_list + 1, gen_count - 1);
    set_xl(SXL, 2ull << 34);
}

void test_main(void)
{
    implicit();
    explicit();
}
