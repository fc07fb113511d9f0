/*
 * 6.2 Transfer type filtering: each filter bit alone
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

/* Table 1: the filter bits, and the type of Table 9 that each is for */
static const struct filter {
    const char *name, *what;
    uint64_t bit;
    unsigned type;
} filters[] = {
    { "EXCINH", "exceptions", CTL_EXCINH, EXCEPTION },
    { "INTRINH", "interrupts", CTL_INTRINH, INTERRUPT },
    { "TRETINH", "trap returns", CTL_TRETINH, TRAP_RETURN },
    { "TKBRINH", "taken branches", CTL_TKBRINH, TAKEN },
    { "INDCALLINH", "indirect calls", CTL_INDCALLINH, IND_CALL },
    { "DIRCALLINH", "direct calls", CTL_DIRCALLINH, DIR_CALL },
    { "INDJMPINH", "indirect jumps", CTL_INDJMPINH, IND_JUMP },
    { "DIRJMPINH", "direct jumps", CTL_DIRJMPINH, DIR_JUMP },
    { "CORSWAPINH", "co-routine swaps", CTL_CORSWAPINH, SWAP },
    { "RETINH", "function returns", CTL_RETINH, RETURN },
    { "INDLJMPINH", "other indirect jumps", CTL_INDLJMPINH, IND_LINK },
    { "DIRLJMPINH", "other direct jumps", CTL_DIRLJMPINH, DIR_LINK },
};
#define N_FILTERS (sizeof(filters) / sizeof(filters[0]))

static const uint64_t mode_bit[MODES] = { CTL_M, CTL_S, CTL_U, CTL_S, CTL_U };

static struct transfer want[64];
static unsigned wanted;

static void expect(uint64_t source, uint64_t target, unsigned type,
                   unsigned types)
{
    if (types >> type & 1) {
        want[wanted++] = (struct transfer){ source, target, type };
    }
}

/*
 * Every jump and branch once in a mode; M-mode is left and entered by a trap
 * return and an exception that are seen there.
 */
static void jumps(enum mode mode, uint64_t control, unsigned types)
{
    bool virt = mode == VS || mode == VU;
    xlen_t end;

    gen_begin();
    for (unsigned type = NOT_TAKEN; type <= DIR_LINK; type++) {
        if (type != 6 && type != 7) {
            gen_transfer(type);
        }
    }
    end = gen_here();
    gen_end();
    wanted = 0;
    if (mode == M) {
        expect(addr(enter_mret), addr(gen_code), TRAP_RETURN, types);
    }
    for (unsigned i = 0; i < gen_count; i++) {
        expect(gen_list[i].source, gen_list[i].target, gen_list[i].type, types);
    }
    if (mode == M) {
        expect(end, addr(trap_vector), EXCEPTION, types);
    }
    ctr_clear();
    if (virt) {
        csr_write(CSR_VSCTRCTL, mode_bit[mode] | control);
    }
    run_at(mode, gen_code, virt ? 0 : mode_bit[mode] | control);
    if (have_h) {
        csr_write(CSR_VSCTRCTL, 0);
    }
    check_buffer(want, wanted);
}

/*
 * From U to S and back, by an exception and by an interrupt, or the same from
 * VU to VS: both modes enabled
 */
static void traps(bool virt, uint64_t control, unsigned types)
{
    struct run r = { .mode = virt ? VU : U };
    uint64_t both = CTL_U | CTL_S | control;
    xlen_t handler, sret, code;

    r.mctrctl = virt ? 0 : both;
    wanted = 0;
    ctr_clear();

    /* the handler: sepc += 4; sret */
    handler = (xlen_t)gen_begin();
    gen_word(insn_csrr(0x141, 5));
    gen_word(insn_i(0x13, 0, 5, 5, 4));
    gen_word(insn_csrw(0x141, 5));
    sret = gen_here();
    gen_word(0x10200073);
    code = gen_here();
    gen_word(0);
    gen_end();
    csr_write(stvec, handler);
    csr_write(medeleg, 1 << CAUSE_ILLEGAL);
    if (have_h) {
        csr_write(CSR_VSTVEC, handler);
        csr_write(CSR_HEDELEG, virt ? 1 << CAUSE_ILLEGAL : 0);
        csr_write(CSR_VSCTRCTL, virt ? both : 0);
    }
    r.pc = code;
    run(&r);
    check_eq("back at", r.epc, code + 4);
    expect(code, handler, EXCEPTION, types);
    expect(sret, code + 4, TRAP_RETURN, types);

    /* the handler: sip.SSIP = 0; sret */
    handler = (xlen_t)gen_begin();
    gen_word(insn_i(0x73, 7, 0, 2, 0x144));         /* csrci sip, 2 */
    sret = gen_here();
    gen_word(0x10200073);
    code = gen_here();
    gen_end();
    csr_write(mideleg, 0x2);
    if (virt) {
        csr_write(CSR_HIDELEG, 0x4);
        csr_write(CSR_HIE, 0x4);
        csr_write(CSR_HVIP, 0x4);
    } else {
        csr_set(mie, 0x2);
        csr_set(mip, 0x2);
    }
    r.pc = code;
    run(&r);
    check_eq("back at", r.epc, code);
    expect(code, handler, INTERRUPT, types);
    expect(sret, code, TRAP_RETURN, types);

    csr_write(mie, 0);
    csr_write(mideleg, 0);
    csr_write(medeleg, 0);
    csr_write(stvec, quiet_trap);
    if (have_h) {
        csr_write(CSR_HVIP, 0);
        csr_write(CSR_HIDELEG, 0);
        csr_write(CSR_HEDELEG, 0);
        csr_write(CSR_VSTVEC, quiet_trap);
        csr_write(CSR_VSCTRCTL, 0);
    }
    check_buffer(want, wanted);
}

/* In every mode and for every type: what is recorded with these bits? */
static void everywhere(uint64_t control, unsigned types)
{
    for (enum mode mode = M; mode < MODES; mode++) {
        if (mode >= VS && !have_h) {
            break;
        }
        about("jumps in %s", mode_name[mode]);
        jumps(mode, control, types);
    }
    about("traps from U to S");
    traps(false, control, types);
    if (have_h) {
        about("traps from VU to VS");
        traps(true, control, types);
    }
}

void test_main(void)
{
    const unsigned all = 0xff2e;        /* 1, 2, 3, 5, 8 to 15 */
    uint64_t every = 0;

    rule("6.2 with all filter bits 0, all but not-taken branches are recorded");
    everywhere(0, all);

    for (unsigned i = 0; i < N_FILTERS; i++) {
        rule("6.2 %s inhibits %s only", filters[i].name, filters[i].what);
        everywhere(filters[i].bit, all & ~(1u << filters[i].type));
        every |= filters[i].bit;
    }

    /*
     * "the polarity of the associated enable bit (NTBREN) is the opposite of
     * other bits"
     */
    rule("6.2 NTBREN enables not-taken branches");
    everywhere(CTL_NTBREN, all | 1u << NOT_TAKEN);

    rule("6.2 NTBREN does not depend on TKBRINH");
    everywhere(CTL_NTBREN | CTL_TKBRINH,
               (all | 1u << NOT_TAKEN) & ~(1u << TAKEN));

    rule("6.2 all inhibit bits together inhibit everything");
    everywhere(every, 0);

    rule("6.2 all filter bits together leave not-taken branches");
    everywhere(every | CTL_NTBREN, 1u << NOT_TAKEN);

    for (unsigned i = 0; i < N_FILTERS; i++) {
        rule("6.2 all inhibit bits but %s leave %s", filters[i].name,
             filters[i].what);
        everywhere(every & ~filters[i].bit, 1u << filters[i].type);
    }
}
