/*
 * Chapter 5, with 2.3, 2.4 and 4.1: who may access CTR state
 *
 * Each access from each mode with every combination of the bits CTR (54) and
 * CSRIND (60) of mstateen0 and hstateen0. Where the text names no exception,
 * the privileged architecture does: an access that HS-mode could do raises a
 * virtual-instruction exception in VS- and VU-mode, any other one an
 * illegal-instruction exception.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

/* What an access depends on */
#define BY_CTR      1       /* the bit CTR */
#define BY_CSRIND   2       /* bit 60: Sscsrind, chapter "Access control" */
#define ONLY_M      4       /* a machine-level CSR */
#define NOT_VS      8       /* VS-mode has no access of its own */

static const struct access {
    const char *name;
    unsigned csr;           /* 0: SCTRCLR */
    unsigned rules;
} accesses[] = {
    { "mctrctl", CSR_MCTRCTL, ONLY_M },
    { "sctrctl", CSR_SCTRCTL, BY_CTR },
    { "sctrstatus", CSR_SCTRSTATUS, BY_CTR },
    { "sctrdepth", CSR_SCTRDEPTH, BY_CTR | NOT_VS },
    { "vsctrctl", CSR_VSCTRCTL, BY_CTR | NOT_VS },
    { "SCTRCLR", 0, BY_CTR },
    { "siselect", CSR_SISELECT, BY_CSRIND },
    { "vsiselect", CSR_VSISELECT, BY_CSRIND | NOT_VS },
    { "sireg", CSR_SIREG, BY_CTR | BY_CSRIND },
    { "sireg2", CSR_SIREG2, BY_CTR | BY_CSRIND },
    { "sireg3", CSR_SIREG3, BY_CTR | BY_CSRIND },
    { "sireg4", CSR_SIREG4, BY_CTR | BY_CSRIND },
    { "sireg5", CSR_SIREG5, BY_CTR | BY_CSRIND },
    { "sireg6", CSR_SIREG6, BY_CTR | BY_CSRIND },
    { "vsireg", CSR_VSIREG, BY_CTR | BY_CSRIND | NOT_VS },
    { "vsireg2", CSR_VSIREG2, BY_CTR | BY_CSRIND | NOT_VS },
    { "vsireg3", CSR_VSIREG3, BY_CTR | BY_CSRIND | NOT_VS },
    { "vsireg4", CSR_VSIREG4, BY_CTR | BY_CSRIND | NOT_VS },
    { "vsireg5", CSR_VSIREG5, BY_CTR | BY_CSRIND | NOT_VS },
    { "vsireg6", CSR_VSIREG6, BY_CTR | BY_CSRIND | NOT_VS },
};

static const xlen_t ecall_from[MODES] = {
    CAUSE_ECALL_M, CAUSE_ECALL_S, CAUSE_ECALL_U, CAUSE_ECALL_VS, CAUSE_ECALL_U
};

static const char *const rule_text[MODES] = {
    "is not restricted by stateen",
    "is illegal with mstateen0 clear",
    "is illegal",
    "is illegal with mstateen0 clear, virtual with hstateen0 clear",
    "is illegal with mstateen0 clear, else virtual",
};

static xlen_t cause_of(unsigned rules, enum mode mode, uint64_t m, uint64_t h)
{
    if (mode == M) {
        return CAUSE_ECALL_M;
    }
    if (rules & ONLY_M || mode == U) {
        return CAUSE_ILLEGAL;
    }
    if (rules & BY_CSRIND) {
        /*
         * Sscsrind: "When mstateen0[60]=0, an attempt to access one of these
         * CSRs from a privilege mode less privileged than M-mode results in an
         * illegal instruction exception."
         */
        if (!(m & STATEEN_CSRIND)) {
            return CAUSE_ILLEGAL;
        }
        /*
         * "regardless of any other mstateen bits, if mstateen0[60]=1, a
         * virtual instruction exception is raised [...] for all attempts from
         * VS-mode or VU-mode to directly access vsiselect or vsireg*, and for
         * all attempts from VU-mode to access siselect or sireg*."
         */
        if (mode == VU || (mode == VS && rules & NOT_VS)) {
            return CAUSE_VIRTUAL;
        }
        /*
         * "When hstateen0[60]=0 and mstateen0[60]=1, all attempts from VS or
         * VU-mode to access siselect or sireg* raise a virtual instruction
         * exception, [...] regardless of [...] any other mstateen bit."
         */
        if (mode == VS && !(h & STATEEN_CSRIND)) {
            return CAUSE_VIRTUAL;
        }
    }
    if (rules & BY_CTR) {
        /*
         * "When mstateen0.CTR=0 and the privilege mode is less privileged than
         * M-mode, the following operations raise an illegal-instruction
         * exception"
         */
        if (!(m & STATEEN_CTR)) {
            return CAUSE_ILLEGAL;
        }
        /*
         * "When mstateen0.CTR=1 and hstateen0.CTR=0, both VS-mode accesses to
         * supervisor CTR state and VS-mode execution of SCTRCLR raise a
         * virtual-instruction exception."
         */
        if (mode == VS && !(h & STATEEN_CTR)) {
            return CAUSE_VIRTUAL;
        }
    }
    if (mode == S) {
        return CAUSE_ECALL_S;
    }
    return mode == VU || rules & NOT_VS ? CAUSE_VIRTUAL : CAUSE_ECALL_VS;
}

static uint64_t bits(unsigned n)
{
    return (n & 1 ? STATEEN_CTR : 0) | (n & 2 ? STATEEN_CSRIND : 0);
}

static void one(const struct access *a, enum mode mode, uint32_t insn,
                uint64_t m, uint64_t h, const char *how)
{
    xlen_t cause = cause_of(a->rules, mode, m, h);
    struct run r;

    about("%s, mstateen0 %X, hstateen0 %X", how, m, h);
    set_stateen(m, h);
    r = run_insn(mode, insn, 0);
    check_eq("cause", r.cause, cause);
    check_eq("mode", r.from, mode);
    if (cause != ecall_from[mode] && r.cause == cause && a->csr) {
        check_eq("xtval", r.tval, insn);    /* SCTRCLR: see clear.c */
    }
}

static void restrictions(const struct access *a, enum mode mode)
{
    if (mode == VS && a->rules & ONLY_M) {
        rule("5 %s from VS is illegal", a->name);
    } else if (mode == VS && a->rules & NOT_VS) {
        rule("5 %s from VS is illegal with mstateen0 clear, else virtual",
             a->name);
    } else {
        rule("5 %s from %s %s", a->name, mode_name[mode],
             a->rules & ONLY_M && mode != M ? "is illegal" : rule_text[mode]);
    }
    csr_write(CSR_SISELECT, 0x200);
    csr_write(CSR_VSISELECT, 0x200);
    for (unsigned n = 0; n < 16; n++) {
        uint64_t m = bits(n), h = bits(n >> 2);

        if (a->csr == 0) {
            one(a, mode, SCTRCLR, m, h, "executed");
        } else {
            one(a, mode, insn_csrr(a->csr, 10), m, h, "read");
            one(a, mode, insn_csrw(a->csr, 10), m, h, "written");
            csr_write(CSR_SISELECT, 0x200);
            csr_write(CSR_VSISELECT, 0x200);
        }
    }
    set_stateen(STATEEN_ALL, STATEEN_ALL);
}

/* "sireg* when siselect is in 0x200..0x2FF": first and last */
static void range(void)
{
    rule("5 sireg* of every entry are gated, of 0x200 and 0x2ff alike");
    for (unsigned i = 0x200; i <= 0x2ff; i += 0xff) {
        csr_write(CSR_SISELECT, i);
        csr_write(CSR_VSISELECT, i);
        for (unsigned j = 8; j < sizeof(accesses) / sizeof(accesses[0]); j++) {
            for (enum mode mode = S; mode <= VU; mode++) {
                one(&accesses[j], mode, insn_csrr(accesses[j].csr, 10),
                    STATEEN_CSRIND, STATEEN_CSRIND, accesses[j].name);
                one(&accesses[j], mode, insn_csrr(accesses[j].csr, 10),
                    STATEEN_CSRIND | STATEEN_CTR, STATEEN_CSRIND,
                    accesses[j].name);
                one(&accesses[j], mode, insn_csrr(accesses[j].csr, 10),
                    STATEEN_CSRIND | STATEEN_CTR, STATEEN_CSRIND | STATEEN_CTR,
                    accesses[j].name);
            }
        }
    }
    set_stateen(STATEEN_ALL, STATEEN_ALL);
}

/*
 * "The CTR bit is bit 54"; "hstateen0.CTR is read-only 0 when
 * mstateen0.CTR=0."
 */
static void stateen_bits(void)
{
    rule("5 mstateen0.CTR is bit 54 and writable");
    set_stateen(0, 0);
    csr_write(CSR_MSTATEEN0, STATEEN_CTR);
    check_eq("set", csr_read(CSR_MSTATEEN0), STATEEN_CTR);
    csr_write(CSR_MSTATEEN0, ~STATEEN_CTR);
    check_eq("clear", csr_read(CSR_MSTATEEN0) & STATEEN_CTR, 0);

    rule("5 hstateen0.CTR is bit 54, writable, and read-only 0 with "
         "mstateen0.CTR=0");
    csr_write(CSR_MSTATEEN0, STATEEN_CTR);
    csr_write(CSR_HSTATEEN0, STATEEN_CTR);
    check_eq("set", csr_read(CSR_HSTATEEN0), STATEEN_CTR);
    csr_write(CSR_HSTATEEN0, 0);
    check_eq("clear", csr_read(CSR_HSTATEEN0), 0);
    csr_write(CSR_HSTATEEN0, STATEEN_CTR);
    csr_write(CSR_MSTATEEN0, 0);
    check_eq("mstateen0.CTR=0", csr_read(CSR_HSTATEEN0), 0);
    csr_write(CSR_HSTATEEN0, 0);
    csr_write(CSR_HSTATEEN0, STATEEN_CTR);
    check_eq("written with mstateen0.CTR=0", csr_read(CSR_HSTATEEN0), 0);
    set_stateen(STATEEN_ALL, STATEEN_ALL);
}

/*
 * "When mstateen0.CTR=0, qualified control transfers executed in privilege
 * modes less privileged than M-mode will continue to implicitly update entry
 * registers and sctrstatus"; the same for hstateen0.CTR and V=1
 */
static void recording_goes_on(void)
{
    for (enum mode mode = S; mode <= VU; mode++) {
        uint64_t on = mode == S ? CTL_S : mode == U ? CTL_U : 0;

        rule("5 recording in %s goes on while stateen denies access",
             mode_name[mode]);
        gen_begin();
        gen_transfer(TAKEN);
        gen_transfer(IND_CALL);
        gen_transfer(RETURN);
        gen_end();
        for (unsigned i = 0; i < 3; i++) {
            about("stateen case %u", i);
            ctr_clear();
            csr_write(CSR_VSCTRCTL, mode == VS ? CTL_S :
                                    mode == VU ? CTL_U : 0);
            set_stateen(i == 0 ? 0 : STATEEN_CSRIND | STATEEN_CTR,
                        i == 2 ? STATEEN_ALL : 0);
            run_at(mode, gen_code, on);
            set_stateen(STATEEN_ALL, STATEEN_ALL);
            csr_write(CSR_VSCTRCTL, 0);
            check_buffer(gen_list, gen_count);
            check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), gen_count);
        }
    }
}

void test_main(void)
{
    stateen_bits();
    for (unsigned i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++) {
        for (enum mode mode = M; mode < MODES; mode++) {
            restrictions(&accesses[i], mode);
        }
    }
    range();
    recording_goes_on();
}
