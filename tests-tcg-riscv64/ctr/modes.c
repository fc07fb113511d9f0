/*
 * 6.1 Privilege mode transitions: Tables 7 and 8 as full matrices
 *
 * Each pair of modes, with each of them enabled or not, with each setting of
 * MTE, STE and vsctrctl.STE, by exceptions and by interrupts.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

static const uint64_t enable_bit[MODES] = {
    CTL_M, CTL_S, CTL_U, CTL_S, CTL_U
};

static bool virtual(enum mode mode)
{
    return mode == VS || mode == VU;
}

/* The two control registers with both modes enabled as asked */
static void controls(enum mode a, bool a_on, enum mode b, bool b_on,
                     uint64_t *mctrctl, uint64_t *vsctrctl)
{
    uint64_t *of_a = virtual(a) ? vsctrctl : mctrctl;
    uint64_t *of_b = virtual(b) ? vsctrctl : mctrctl;

    if (a_on) {
        *of_a |= enable_bit[a];
    }
    if (b_on) {
        *of_b |= enable_bit[b];
    }
}

/* Table 8: External Trap Enable Requirements */
static const struct external {
    enum mode source, target;
    uint64_t mctrctl, vsctrctl;     /* the bits required */
} table8[] = {
    { U, S, CTL_STE, 0 },
    { U, M, CTL_MTE | CTL_STE, 0 },
    { S, M, CTL_MTE, 0 },
    { VU, VS, 0, CTL_STE },
    { VU, S, CTL_STE, CTL_STE },
    { VU, M, CTL_MTE | CTL_STE, CTL_STE },
    { VS, S, CTL_STE, 0 },
    { VS, M, CTL_MTE | CTL_STE, 0 },
};

/*
 * Lets exception 2, or a software interrupt, trap from one mode to another.
 * The interrupt is pending when the source mode is entered.
 */
static void arrange(enum mode source, enum mode target, bool interrupt)
{
    csr_write(medeleg, target == M ? 0 : 1 << CAUSE_ILLEGAL);
    csr_write(mideleg, target == M ? 0 : 0x2);
    csr_write(mie, 0);
    csr_clear(sstatus, MSTATUS_SIE);
    if (have_h) {
        csr_write(CSR_HEDELEG, target == VS ? 1 << CAUSE_ILLEGAL : 0);
        csr_write(CSR_HIDELEG, target == VS ? 0x4 : 0);
        csr_write(CSR_HIE, 0);
        csr_write(CSR_HVIP, 0);
        csr_clear(CSR_VSSTATUS, MSTATUS_SIE);
    }
    csr_clear(mip, 0x2);
    if (!interrupt) {
        return;
    }
    if (target == VS) {
        csr_write(CSR_HVIP, 0x4);           /* VSSIP */
        csr_write(CSR_HIE, 0x4);
        if (source == VS) {
            csr_set(CSR_VSSTATUS, MSTATUS_SIE);
        }
    } else {
        csr_set(mip, 0x2);                  /* SSIP */
        csr_set(mie, 0x2);
        if (source == S && target == S) {
            csr_set(sstatus, MSTATUS_SIE);
        }
    }
}

static xlen_t first_cause(enum mode target, struct run *r)
{
    return target == M ? r->cause :
           target == S ? csr_read(scause) : csr_read(CSR_VSCAUSE);
}

/*
 * One trap. What M-mode's mret and, at the end, its handler do is to be seen
 * as well when M is enabled: Table 7 again.
 */
static void trap(enum mode source, enum mode target, bool interrupt,
                 uint64_t mctrctl, uint64_t vsctrctl, bool source_on,
                 bool target_on, uint64_t need_m, uint64_t need_vs)
{
    struct run r = { .mode = source, .pc = (xlen_t)illegal_stub,
                     .mctrctl = mctrctl, .mpie = source == M && interrupt };
    struct transfer want[4];
    unsigned n = 0;
    unsigned type = interrupt ? INTERRUPT : EXCEPTION;
    uint64_t to = addr(target == M ? trap_vector : quiet_trap);

    about("%s, mctrctl %X, vsctrctl %X", interrupt ? "interrupt" : "exception",
          mctrctl, vsctrctl);
    if (mctrctl & CTL_M) {
        /*
         * "Trap returns from an enabled mode back to a disabled mode are
         * partially recorded, such that ctrtarget.PC is 0."
         */
        want[n++] = (struct transfer){
            addr(enter_mret), source_on ? addr(illegal_stub) : 0, TRAP_RETURN };
    }
    if (source_on && target_on) {
        /* "Traps between enabled privilege modes are recorded as normal." */
        want[n++] = (struct transfer){ addr(illegal_stub), to, type };
    } else if (target_on) {
        /*
         * "Traps from a disabled privilege mode to an enabled privilege mode
         * are partially recorded, such that the ctrsource.PC is 0."
         */
        want[n++] = (struct transfer){ 0, to, type };
    } else if (source_on && (mctrctl & need_m) == need_m &&
               (vsctrctl & need_vs) == need_vs) {
        /* "In records for external traps, the ctrtarget.PC is 0." */
        want[n++] = (struct transfer){ addr(illegal_stub), 0, type };
    }

    arrange(source, target, interrupt);
    ctr_clear();
    if (have_h) {
        csr_write(CSR_VSCTRCTL, vsctrctl);
    }
    run(&r);
    arrange(source, target, false);
    if (have_h) {
        csr_write(CSR_VSCTRCTL, 0);
    }
    check_eq("cause", first_cause(target, &r),
             interrupt ? CAUSE_INTERRUPT | 1 : CAUSE_ILLEGAL);
    check_buffer(want, n);
}

/* All settings of enables and of xTE for a pair of modes */
static void traps(enum mode source, enum mode target, bool external,
                  uint64_t need_m, uint64_t need_vs)
{
    for (unsigned i = 0; i < 64; i++) {
        uint64_t mctrctl = (i & 1 ? CTL_MTE : 0) | (i & 2 ? CTL_STE : 0);
        uint64_t vsctrctl = i & 4 ? CTL_STE : 0;
        bool source_on = i & 8, target_on = i & 16;

        if (!have_h && i & 4) {
            continue;
        }
        if (source == target) {
            target_on = source_on;
        }
        if (external != (source_on && !target_on)) {
            continue;
        }
        controls(source, source_on, target, target_on, &mctrctl, &vsctrctl);
        trap(source, target, i & 32, mctrctl, vsctrctl, source_on, target_on,
             need_m, need_vs);
    }
}

static const char *to_name(enum mode mode)
{
    return mode == S && have_h ? "HS" : mode_name[mode];
}

static void all_traps(void)
{
    static const enum mode pairs[][2] = {
        { M, M }, { S, S }, { VS, VS }, { U, S }, { U, M }, { S, M },
        { VU, VS }, { VU, S }, { VU, M }, { VS, S }, { VS, M },
    };

    for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        enum mode a = pairs[i][0], b = pairs[i][1];

        if (virtual(a) && !have_h) {
            continue;
        }
        rule("6.1 Table 7: trap %s to %s, enabled to enabled, disabled to "
             "enabled and to disabled", to_name(a), to_name(b));
        traps(a, b, false, 0, 0);
    }
    for (unsigned i = 0; i < sizeof(table8) / sizeof(table8[0]); i++) {
        const struct external *e = &table8[i];

        if (virtual(e->source) && !have_h) {
            continue;
        }
        rule("6.1.2 Table 8: external trap %s to %s needs%s%s%s",
             to_name(e->source), to_name(e->target),
             e->mctrctl & CTL_MTE ? " mctrctl.MTE" : "",
             e->mctrctl & CTL_STE ? " sctrctl.STE" : "",
             e->vsctrctl ? " vsctrctl.STE" : "");
        traps(e->source, e->target, true, e->mctrctl, e->vsctrctl);
    }
}

/*
 * "Not only must the external trap enable bit for the target mode be set, but
 * the external trap enable bit(s) for any intervening modes must also be set":
 * it does not matter whether those modes are enabled.
 */
static void intervening(void)
{
    static const struct {
        enum mode source, target;
        uint64_t mctrctl, vsctrctl;     /* the enables of those between */
    } list[] = {
        { U, M, CTL_S, 0 }, { VU, S, 0, CTL_S }, { VU, M, CTL_S, CTL_S },
        { VS, M, CTL_S, 0 },
    };

    rule("6.1.2 an enabled intervening mode does not replace its external "
         "trap enable");
    for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        const struct external *e = table8;

        if (virtual(list[i].source) && !have_h) {
            continue;
        }
        while (e->source != list[i].source || e->target != list[i].target) {
            e++;
        }
        for (unsigned te = 0; te < (have_h ? 8 : 4); te++) {
            uint64_t mctrctl = list[i].mctrctl | (te & 1 ? CTL_MTE : 0) |
                               (te & 2 ? CTL_STE : 0);
            uint64_t vsctrctl = list[i].vsctrctl | (te & 4 ? CTL_STE : 0);

            controls(e->source, true, e->target, false, &mctrctl, &vsctrctl);
            trap(e->source, e->target, false, mctrctl, vsctrctl, true, false,
                 e->mctrctl, e->vsctrctl);
            trap(e->source, e->target, true, mctrctl, vsctrctl, true, false,
                 e->mctrctl, e->vsctrctl);
        }
    }
}

#ifndef RV32
/* "Note that external trap recording does not depend on EXCINH/INTRINH." */
static void external_ignore_filters(void)
{
    rule("6.1.2 external traps do not depend on EXCINH and INTRINH");
    for (unsigned i = 0; i < sizeof(table8) / sizeof(table8[0]); i++) {
        const struct external *e = &table8[i];
        uint64_t mctrctl = CTL_MTE | CTL_STE | CTL_EXCINH | CTL_INTRINH;
        uint64_t vsctrctl = CTL_STE | CTL_EXCINH | CTL_INTRINH;

        if (virtual(e->source) && !have_h) {
            continue;
        }
        if (!have_h) {
            vsctrctl = 0;
        }
        controls(e->source, true, e->target, false, &mctrctl, &vsctrctl);
        trap(e->source, e->target, false, mctrctl, vsctrctl, true, false,
             e->mctrctl, e->vsctrctl);
        trap(e->source, e->target, true, mctrctl, vsctrctl, true, false,
             e->mctrctl, e->vsctrctl);
    }
}
#endif

/*
 * A trap return to an ecall: mret is run()'s own, sret is what runs in S or
 * VS. The ecall's trap to M is seen if M is enabled.
 */
static void trap_return(enum mode source, enum mode target, bool source_on,
                        bool target_on)
{
    struct run r = { .mode = source == M ? target : source };
    struct transfer want[4];
    unsigned n = 0;
    uint64_t mctrctl = 0, vsctrctl = 0, from;

    controls(source, source_on, target, target_on, &mctrctl, &vsctrctl);
    about("mctrctl %X, vsctrctl %X", mctrctl, vsctrctl);
    if (source == M) {
        r.pc = (xlen_t)ecall_stub;
        from = addr(enter_mret);
    } else {
        r.pc = (xlen_t)sret_stub;
        from = addr(sret_stub);
        if (source == VS) {
            csr_write(CSR_VSEPC, ecall_stub);
            csr_clear(CSR_VSSTATUS, MSTATUS_SPP);
            csr_set(CSR_VSSTATUS, target == VS ? MSTATUS_SPP : 0);
        } else {
            csr_write(sepc, ecall_stub);
            csr_clear(sstatus, MSTATUS_SPP);
            csr_set(sstatus, target == S || target == VS ? MSTATUS_SPP : 0);
            if (have_h) {
                csr_clear(CSR_HSTATUS, HSTATUS_SPV);
                csr_set(CSR_HSTATUS, virtual(target) ? HSTATUS_SPV : 0);
            }
        }
    }
    if (source_on) {
        want[n++] = (struct transfer){
            from, target_on ? addr(ecall_stub) : 0, TRAP_RETURN };
    }
    if (mctrctl & CTL_M) {
        want[n++] = (struct transfer){
            target_on ? addr(ecall_stub) : 0, addr(trap_vector), EXCEPTION };
    }
    arrange(source, M, false);
    ctr_clear();
    r.mctrctl = mctrctl;
    if (have_h) {
        csr_write(CSR_VSCTRCTL, vsctrctl);
    }
    run(&r);
    if (have_h) {
        csr_write(CSR_VSCTRCTL, 0);
    }
    check_eq("reached mode", r.from, target);
    check_eq("reached pc", r.epc, addr(ecall_stub));
    check_buffer(want, n);
}

/* sret in M-mode: it is M that has to be enabled */
static void sret_in_m(enum mode target, bool m_on, bool target_on)
{
    struct run r = { .mode = M, .pc = (xlen_t)sret_stub };
    struct transfer want[3];
    unsigned n = 0;
    uint64_t mctrctl = 0, vsctrctl = 0;

    controls(M, m_on, target, target_on, &mctrctl, &vsctrctl);
    about("mctrctl %X, vsctrctl %X", mctrctl, vsctrctl);
    if (m_on) {
        want[n++] = (struct transfer){
            addr(enter_mret), addr(sret_stub), TRAP_RETURN };
        want[n++] = (struct transfer){
            addr(sret_stub), target_on ? addr(ecall_stub) : 0, TRAP_RETURN };
        want[n++] = (struct transfer){
            target_on ? addr(ecall_stub) : 0, addr(trap_vector), EXCEPTION };
    }
    arrange(M, M, false);
    csr_write(sepc, ecall_stub);
    csr_clear(sstatus, MSTATUS_SPP);
    csr_set(sstatus, target == S || target == VS ? MSTATUS_SPP : 0);
    if (have_h) {
        csr_clear(CSR_HSTATUS, HSTATUS_SPV);
        csr_set(CSR_HSTATUS, virtual(target) ? HSTATUS_SPV : 0);
        csr_write(CSR_VSCTRCTL, vsctrctl);
    }
    ctr_clear();
    r.mctrctl = mctrctl;
    run(&r);
    if (have_h) {
        csr_write(CSR_VSCTRCTL, 0);
    }
    check_eq("reached mode", r.from, target);
    check_buffer(want, n);
}

static void all_trap_returns(void)
{
    static const enum mode pairs[][2] = {
        { M, M }, { M, S }, { M, U }, { M, VS }, { M, VU }, { S, S }, { S, U },
        { S, VS }, { S, VU }, { VS, VS }, { VS, VU },
    };

    for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        enum mode a = pairs[i][0], b = pairs[i][1];

        if (!have_h && (virtual(a) || virtual(b))) {
            continue;
        }
        rule("6.1 Table 7: %s %s to %s with each enabled or not",
             a == M ? "mret" : "sret", to_name(a), to_name(b));
        for (unsigned on = 0; on < 4; on++) {
            if (a != b || on == 0 || on == 3) {
                trap_return(a, b, on & 1, on & 2);
            }
        }
    }
    for (enum mode mode = S; mode < MODES; mode++) {
        if (virtual(mode) && !have_h) {
            break;
        }
        rule("6.1 Table 7: sret in M to %s with each enabled or not",
             to_name(mode));
        for (unsigned on = 0; on < 4; on++) {
            sret_in_m(mode, on & 1, on & 2);
        }
    }
}

/* "The transfer completes/retires": a trap return that traps is none */
static void illegal_returns(void)
{
    rule("6 a trap return that raises an exception is not a transfer");
    arrange(S, M, false);
    for (unsigned i = 0; i < 3; i++) {
        struct transfer want[2];
        struct run r;

        about("case %u", i);
        csr_clear(mstatus, BIT(22));
        if (i == 2) {
            csr_set(mstatus, BIT(22));      /* TSR: sret in S is illegal */
        }
        ctr_clear();
        r = run_at(i == 1 ? U : S, i == 0 ? mret_stub : sret_stub,
                   CTL_S | CTL_U | CTL_MTE | CTL_STE);
        check_eq("cause", r.cause, CAUSE_ILLEGAL);
        want[0] = (struct transfer){
            addr(i == 0 ? mret_stub : sret_stub), 0, EXCEPTION };
        check_buffer(want, 1);
    }
    csr_clear(mstatus, BIT(22));
}

/* "Standard dependencies on FROZEN and transfer type inhibits also apply" */
static void frozen(void)
{
    rule("6.1 traps and trap returns are not recorded while FROZEN=1");
    arrange(U, S, false);
    csr_write(medeleg, 1 << CAUSE_ILLEGAL);
    ctr_clear();
    csr_write(CSR_SCTRSTATUS, STATUS_FROZEN);
    run_at(U, illegal_stub, CTL_U | CTL_S | CTL_M | CTL_STE | CTL_MTE);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), STATUS_FROZEN);
    check_buffer(NULL, 0);
    csr_write(medeleg, 0);
    csr_write(CSR_SCTRSTATUS, 0);
}

void test_main(void)
{
    all_traps();
    intervening();
#ifndef RV32
    external_ignore_filters();
#endif
    all_trap_returns();
    illegal_returns();
    frozen();
}
