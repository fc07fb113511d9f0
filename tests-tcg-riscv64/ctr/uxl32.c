/*
 * 3.1, 3.2 "When XLEN < MXLEN, both explicit writes (by software) and implicit
 * writes (for recorded transfers) will be zero-extended."
 *
 * U-, S-, VU- and VS-mode with XLEN=32 on an RV64 hart. VSXLEN is 32 because
 * SXLEN is: hstatus.VSXL cannot be changed in QEMU.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

#define UXL         (3ull << 32)
#define UXL_32      (1ull << 32)
#define SXL         (3ull << 34)
#define SXL_32      (1ull << 34)

#define VSXL        UXL         /* in hstatus */
#define VSXL_32     UXL_32

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

    rule("3 S-mode with SXL=32 reads the low half of an entry of 64 bits");
    ctr_clear();
    csr_write(CSR_SISELECT, 0x200);
    csr_write(CSR_SIREG, 0x123456789abcdef1);
    csr_write(CSR_SIREG2, 0xfedcba9876543210);
    r = run_insn(S, insn_csrr(CSR_SIREG, 10), 0);
    check_eq("sireg", (uint32_t)r.x[10], 0x9abcdef1);
    r = run_insn(S, insn_csrr(CSR_SIREG2, 10), 0);
    check_eq("sireg2", (uint32_t)r.x[10], 0x76543210);
    check_eq("ctrsource", entry_read(0).source, 0x123456789abcdef1);
    check_eq("ctrtarget", entry_read(0).target, 0xfedcba9876543210);

    set_xl(SXL, 2ull << 34);
}

/* VU-mode: its UXL is vsstatus's. */
static void implicit_vu(void)
{
    struct run r;
    const struct transfer in = {
        addr(enter_mret), addr(illegal_stub), TRAP_RETURN };

    rule("3.1 VU-mode with UXL=32: sources and targets are zero-extended");
    csr_write(CSR_VSSTATUS, (csr_read(CSR_VSSTATUS) & ~UXL) | UXL_32);
    check_eq("vsstatus.UXL", csr_read(CSR_VSSTATUS) & UXL, UXL_32);
    generate();
    ctr_clear();
    csr_write(CSR_VSCTRCTL, CTL_U | CTL_NTBREN);
    run_at(VU, gen_code, 0);
    check_buffer(gen_list, gen_count);

    rule("3.1 VU-mode with UXL=32: traps to M, HS and VS and returns are "
         "zero-extended");
    csr_write(CSR_VSCTRCTL, CTL_U | CTL_S);
    ctr_clear();
    r = run_at(VU, illegal_stub, CTL_M);
    about("VU to M");
    check_eq("cause", r.cause, CAUSE_ILLEGAL);
    check_eq("mode", r.from, VU);
    check_buffer((const struct transfer[]){
        in, { addr(illegal_stub), addr(trap_vector), EXCEPTION } }, 2);
    about("VU to M, external");
    csr_write(CSR_VSCTRCTL, CTL_U | CTL_STE);
    ctr_clear();
    run_at(VU, illegal_stub, CTL_STE | CTL_MTE);
    check_buffer((const struct transfer[]){
        { addr(illegal_stub), 0, EXCEPTION } }, 1);
    csr_write(medeleg, 1 << CAUSE_ILLEGAL);
    about("VU to HS");
    csr_write(CSR_VSCTRCTL, CTL_U);
    ctr_clear();
    r = run_at(VU, illegal_stub, CTL_S);
    check_eq("mode", r.from, S);
    check_buffer((const struct transfer[]){
        { addr(illegal_stub), addr(quiet_trap), EXCEPTION } }, 1);
    csr_write(CSR_HEDELEG, 1 << CAUSE_ILLEGAL);
    about("VU to VS");
    csr_write(CSR_VSCTRCTL, CTL_U | CTL_S);
    ctr_clear();
    r = run_at(VU, illegal_stub, 0);
    check_eq("mode", r.from, VS);
    check_buffer((const struct transfer[]){
        { addr(illegal_stub), addr(quiet_trap), EXCEPTION } }, 1);
    csr_write(CSR_HEDELEG, 0);
    csr_write(medeleg, 0);
    csr_write(CSR_VSCTRCTL, 0);
    csr_write(CSR_VSSTATUS, (csr_read(CSR_VSSTATUS) & ~UXL) | 2ull << 32);

    rule("3.1 VU-mode with UXL=64 and U-mode with UXL=32: each has its own");
    set_xl(UXL, UXL_32);
    csr_write(CSR_VSCTRCTL, CTL_U);
    ctr_clear();
    r = run_at(VU, (const void *)0x7fff12340000, CTL_M);
    check_eq("mode", r.from, VU);
    check_buffer((const struct transfer[]){
        { addr(enter_mret), 0x7fff12340000, TRAP_RETURN },
        { 0x7fff12340000, addr(trap_vector), EXCEPTION } }, 2);
    csr_write(CSR_VSCTRCTL, 0);
    set_xl(UXL, 2ull << 32);
}

static void vs(void)
{
    struct run r;

    rule("3.1 VS-mode with VSXLEN=32: sources and targets are zero-extended");
    csr_write(CSR_HSTATUS, (csr_read(CSR_HSTATUS) & ~VSXL) | VSXL_32);
    check_eq("hstatus.VSXL, which QEMU does not let go to 32",
             csr_read(CSR_HSTATUS) & VSXL, 2ull << 32);
    if (!set_xl(SXL, SXL_32)) {
        skip("SXL cannot be 32");
        return;
    }
    generate();
    ctr_clear();
    csr_write(CSR_VSCTRCTL, CTL_S);
    run_at(VS, gen_code, 0);
    gen_list[0] = gen_list[1];
    check_buffer(gen_list + 1, gen_count - 1);

    rule("3.1 VSXLEN=32: traps and trap returns are zero-extended");
    ctr_clear();
    r = run_at(VS, illegal_stub, CTL_M);
    check_eq("mode", r.from, VS);
    check_buffer((const struct transfer[]){
        { addr(enter_mret), addr(illegal_stub), TRAP_RETURN },
        { addr(illegal_stub), addr(trap_vector), EXCEPTION } }, 2);
    about("to HS");
    csr_write(medeleg, 1 << CAUSE_ILLEGAL);
    ctr_clear();
    r = run_at(VS, illegal_stub, CTL_S);
    csr_write(medeleg, 0);
    check_eq("mode", r.from, S);
    check_buffer((const struct transfer[]){
        { addr(illegal_stub), addr(quiet_trap), EXCEPTION } }, 1);
    csr_write(CSR_VSCTRCTL, 0);

    rule("3.1 VSXLEN=32: writes to entries are zero-extended");
    ctr_clear();
    csr_write(CSR_VSISELECT, 0x200);
    csr_write(CSR_VSIREG, ~0ull);
    csr_write(CSR_VSIREG2, ~0ull);
    r = run_insn(VS, insn_csrw(CSR_SIREG, 10), 0xffffffff80001235);
    check_eq("cause", r.cause, CAUSE_ECALL_VS);
    run_insn(VS, insn_csrw(CSR_SIREG2, 10), 0xffffffff80005678);
    check_eq("ctrsource", entry_read(0).source, 0x80001235);
    check_eq("ctrtarget", entry_read(0).target, 0x80005678);

    rule("3 VSXLEN=32: VS-mode reads the low half of an entry of 64 bits");
    csr_write(CSR_VSIREG, 0x123456789abcdef1);
    csr_write(CSR_VSIREG2, 0xfedcba9876543210);
    r = run_insn(VS, insn_csrr(CSR_SIREG, 10), 0);
    check_eq("sireg", (uint32_t)r.x[10], 0x9abcdef1);
    r = run_insn(VS, insn_csrr(CSR_SIREG2, 10), 0);
    check_eq("sireg2", (uint32_t)r.x[10], 0x76543210);

    rule("2.6 VSXLEN=32: VS-mode leaves bits 63:32 of sctrctl alone");
    csr_write(CSR_VSCTRCTL, CTL_RETINH | CTL_DIRJMPINH | CTL_U);
    run_insn(VS, insn_csrw(CSR_SCTRCTL, 10), CTL_STE);
    check_eq("vsctrctl", csr_read(CSR_VSCTRCTL),
             CTL_RETINH | CTL_DIRJMPINH | CTL_STE);
    csr_write(CSR_VSCTRCTL, 0);
    set_xl(SXL, 2ull << 34);
}

void test_main(void)
{
    implicit();
    explicit();
    if (have_h) {
        implicit_vu();
        vs();
    }
}
