/*
 * CTR and the double trap of Ssdbltrp: freeze and type follow the cause of the
 * trap that is taken, which is 16 and an exception
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

#define DTE     BIT(59)     /* menvcfg */
#define SDT     BIT(24)     /* sstatus */

/* A trap to S-mode from S-mode with SDT=1 goes to M-mode as cause 16. */
static struct run double_trap(const char *code, uint64_t control)
{
    struct run r = { .mode = S, .pc = (xlen_t)code, .mctrctl = control };

    csr_set(sstatus, SDT);
    csr_write(CSR_SCTRSTATUS, 0);
    ctr_clear();
    csr_write(scause, 0);
    run(&r);
    csr_clear(sstatus, SDT);
    return r;
}

/*
 * An LCOFI cannot be taken as a double trap, and so have another cause: that
 * needs SDT=1 and enabled interrupts of S-mode. But "when the SDT bit is set to
 * 1 by an explicit CSR write, the SIE bit is cleared to 0", and SIE cannot be
 * set while SDT stays; less privileged modes, in which SIE does not matter, are
 * entered with SDT=0.
 */
static void no_interrupt(void)
{
    struct run r = { .mode = S };
    xlen_t after;

    rule("6.5 an interrupt never is a double trap: SDT=1 excludes SIE=1");
    csr_clear(sstatus, MSTATUS_SIE | SDT);
    csr_set(sstatus, MSTATUS_SIE);
    csr_set(sstatus, SDT);
    check_eq("SIE after SDT", csr_read(sstatus) & (SDT | MSTATUS_SIE), SDT);
    csr_set(sstatus, MSTATUS_SIE);
    check_eq("SIE while SDT", csr_read(sstatus) & (SDT | MSTATUS_SIE), SDT);
    csr_set(mstatus, MSTATUS_SIE);
    check_eq("SIE in mstatus", csr_read(mstatus) & (SDT | MSTATUS_SIE), SDT);
    csr_write(CSR_VSSTATUS, 0);
    csr_write(CSR_HENVCFG, csr_read(CSR_HENVCFG) | DTE);
    csr_set(CSR_VSSTATUS, SDT | MSTATUS_SIE);
    check_eq("SIE in vsstatus",
             csr_read(CSR_VSSTATUS) & (SDT | MSTATUS_SIE), SDT);

    rule("6.5 an interrupt never is a double trap: mret and sret to less "
         "privileged modes clear SDT");
    for (enum mode mode = U; mode < MODES; mode++) {
        about("mret to %s", mode_name[mode]);
        csr_set(sstatus, SDT);
        csr_set(CSR_VSSTATUS, SDT);
        r = run_at(mode, ecall_stub, 0);
        check_eq("mode", r.from, mode);
        check_eq("sstatus.SDT", csr_read(sstatus) & SDT, 0);
        if (mode != VS) {
            after = csr_read(CSR_VSSTATUS) & SDT;
            check_eq("vsstatus.SDT", after, mode == VU ? 0 : SDT);
        }
        about("sret to %s", mode_name[mode]);
        csr_set(sstatus, SDT);
        csr_set(CSR_VSSTATUS, SDT);
        csr_write(sepc, ecall_stub);
        if (mode == VS) {
            csr_set(sstatus, MSTATUS_SPP);
        } else {
            csr_clear(sstatus, MSTATUS_SPP);
        }
        if (mode == U) {
            csr_clear(CSR_HSTATUS, HSTATUS_SPV);
        } else {
            csr_set(CSR_HSTATUS, HSTATUS_SPV);
        }
        r = run_at(S, sret_stub, 0);
        check_eq("mode", r.from, mode);
        check_eq("sstatus.SDT", csr_read(sstatus) & SDT, 0);
        if (mode == VU) {
            check_eq("vsstatus.SDT", csr_read(CSR_VSSTATUS) & SDT, 0);
        }
    }
    csr_clear(sstatus, SDT);
    csr_write(CSR_VSSTATUS, 0);
}

void test_main(void)
{
    struct run r;
    const struct transfer want[] = {
        { addr(enter_mret), addr(ebreak_stub), TRAP_RETURN },
        { addr(ebreak_stub), addr(trap_vector), EXCEPTION },
    };

    csr_write(medeleg, 1 << CAUSE_BREAKPOINT | 1 << CAUSE_ILLEGAL);

    rule("6.5 without SDT a breakpoint to S freezes");
    csr_write(CSR_MENVCFG, csr_read(CSR_MENVCFG) | DTE);
    ctr_clear();
    r = run_at(S, ebreak_stub, CTL_S | CTL_BPFRZ);
    check_eq("scause", csr_read(scause), CAUSE_BREAKPOINT);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), STATUS_FROZEN);

    rule("6.5 a breakpoint that becomes a double trap does not freeze: the "
         "cause is not Breakpoint (3)");
    r = double_trap(ebreak_stub, CTL_S | CTL_M | CTL_BPFRZ);
    check_eq("mcause", r.cause, CAUSE_DOUBLE_TRAP);
    check_eq("mtval2", r.mtval2, CAUSE_BREAKPOINT);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), 2);
    check_buffer(want, 2);

    rule("6.1 a double trap is recorded as the trap from S to M that it is");
    for (unsigned i = 0; i < 8; i++) {
        struct transfer list[2];
        unsigned n = 0;
        uint64_t control = (i & 1 ? CTL_S : 0) | (i & 2 ? CTL_M : 0) |
                           (i & 4 ? CTL_MTE : 0);

        about("mctrctl %X", control);
        r = double_trap(illegal_stub, control);
        check_eq("mcause", r.cause, CAUSE_DOUBLE_TRAP);
        if (control & CTL_M) {
            list[n++] = (struct transfer){
                addr(enter_mret), control & CTL_S ? addr(illegal_stub) : 0,
                TRAP_RETURN };
            list[n++] = (struct transfer){
                control & CTL_S ? addr(illegal_stub) : 0, addr(trap_vector),
                EXCEPTION };
        } else if (control & CTL_S && control & CTL_MTE) {
            list[n++] = (struct transfer){ addr(illegal_stub), 0, EXCEPTION };
        }
        check_buffer(list, n);
    }
    csr_write(medeleg, 0);
    no_interrupt();
}
