/*
 * Chapters 2, 3 and 7: fields of the CSRs and of the entry registers
 *
 * With -DNO_COUNT the hart is one whose cycle counting is off by property.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

/* Table 1, all but WPRI and Custom */
#define MCTRCTL_FIELDS (CTL_U | CTL_S | CTL_M | CTL_RASEMU | CTL_STE | \
                        CTL_MTE | CTL_BPFRZ | CTL_LCOFIFRZ | CTL_EXCINH | \
                        CTL_INTRINH | CTL_TRETINH | CTL_NTBREN | \
                        CTL_TKBRINH | CTL_INDCALLINH | CTL_DIRCALLINH | \
                        CTL_INDJMPINH | CTL_DIRJMPINH | CTL_CORSWAPINH | \
                        CTL_RETINH | CTL_INDLJMPINH | CTL_DIRLJMPINH)
#define SCTRCTL_FIELDS (MCTRCTL_FIELDS & ~(CTL_M | CTL_MTE))

/*
 * "All unimplemented fields are read-only 0, while all implemented fields are
 * writable." This implementation has them all, and no custom extension.
 */
static void mctrctl_fields(void)
{
    rule("2.1 mctrctl: every field of Table 1 is writable, WPRI and Custom "
         "read 0");
    csr_write(CSR_MCTRCTL, -1);
    csr_write(CSR_MCTRCTL, ~0ull & ~CTL_M);
    check_eq("written ~M", csr_read(CSR_MCTRCTL), MCTRCTL_FIELDS & ~CTL_M);
    csr_write(CSR_MCTRCTL, 0);
    check_eq("written 0", csr_read(CSR_MCTRCTL), 0);
    for (unsigned i = 0; i < 64; i++) {
        about("bit %u", i);
        csr_write(CSR_MCTRCTL, BIT(i));
        check_eq("mctrctl", csr_read(CSR_MCTRCTL), BIT(i) & MCTRCTL_FIELDS);
        csr_write(CSR_MCTRCTL, 0);
    }
}

/*
 * "Bits 2 and 9 in sctrctl are read-only 0. [...] All other mctrctl fields
 * are accessible through sctrctl."
 */
static void sctrctl_subset(void)
{
    rule("2.2 sctrctl: M and MTE read 0 and keep their values on writes");
    csr_write(CSR_MCTRCTL, CTL_MTE);
    check_eq("sctrctl", csr_read(CSR_SCTRCTL), 0);
    csr_write(CSR_SCTRCTL, -1);
    check_eq("mctrctl", csr_read(CSR_MCTRCTL), SCTRCTL_FIELDS | CTL_MTE);
    check_eq("sctrctl", csr_read(CSR_SCTRCTL), SCTRCTL_FIELDS);
    csr_write(CSR_SCTRCTL, 0);
    check_eq("mctrctl", csr_read(CSR_MCTRCTL), CTL_MTE);
    csr_write(CSR_MCTRCTL, CTL_M);
    check_eq("sctrctl with M=1", csr_read(CSR_SCTRCTL), 0);
    csr_write(CSR_SCTRCTL, CTL_M);
    csr_clear(CSR_SCTRCTL, CTL_M);
    check_eq("mctrctl.M", csr_read(CSR_MCTRCTL), CTL_M);
    csr_write(CSR_MCTRCTL, 0);

    rule("2.2 sctrctl: every other field of mctrctl is accessible");
    for (unsigned i = 0; i < 64; i++) {
        about("bit %u", i);
        csr_write(CSR_MCTRCTL, 0);
        csr_write(CSR_SCTRCTL, BIT(i));
        check_eq("mctrctl", csr_read(CSR_MCTRCTL), BIT(i) & SCTRCTL_FIELDS);
        csr_write(CSR_MCTRCTL, BIT(i));
        check_eq("sctrctl", csr_read(CSR_SCTRCTL), BIT(i) & SCTRCTL_FIELDS);
    }
    csr_write(CSR_MCTRCTL, 0);
}

/*
 * "The optional fields implemented in vsctrctl should match those implemented
 * in sctrctl."
 */
static void vsctrctl_fields(void)
{
    rule("2.3 vsctrctl: the fields of sctrctl, in a register of its own");
    csr_write(CSR_VSCTRCTL, 0);
    csr_write(CSR_MCTRCTL, 0);
    for (unsigned i = 0; i < 64; i++) {
        about("bit %u", i);
        csr_write(CSR_VSCTRCTL, BIT(i));
        check_eq("vsctrctl", csr_read(CSR_VSCTRCTL), BIT(i) & SCTRCTL_FIELDS);
        check_eq("mctrctl", csr_read(CSR_MCTRCTL), 0);
        csr_write(CSR_VSCTRCTL, 0);
        csr_write(CSR_SCTRCTL, BIT(i));
        check_eq("vsctrctl", csr_read(CSR_VSCTRCTL), 0);
        csr_write(CSR_SCTRCTL, 0);
    }
}

/*
 * "When V=1, vsctrctl substitutes for the usual sctrctl, so instructions that
 * normally read or modify sctrctl actually access vsctrctl instead."
 */
static void vsctrctl_substitutes(void)
{
    struct run r;

    rule("2.3 sctrctl: V=1 reads and writes vsctrctl");
    csr_write(CSR_VSCTRCTL, CTL_RETINH);
    r = run_insn(VS, insn_csrr(CSR_SCTRCTL, 10), 0);
    check_eq("cause", r.cause, CAUSE_ECALL_VS);
    check_eq("read in VS", r.x[10], CTL_RETINH);
    r = run_insn(VS, insn_csrw(CSR_SCTRCTL, 10), ~0ull);
    check_eq("cause", r.cause, CAUSE_ECALL_VS);
    check_eq("vsctrctl", csr_read(CSR_VSCTRCTL), SCTRCTL_FIELDS);
    check_eq("mctrctl", csr_read(CSR_MCTRCTL), 0);
    r = run_insn(VS, insn_i(0x73, 3, 11, 10, CSR_SCTRCTL), CTL_TKBRINH);
    check_eq("vsctrctl after csrrc", csr_read(CSR_VSCTRCTL),
             SCTRCTL_FIELDS & ~CTL_TKBRINH);
    check_eq("csrrc's old value", r.x[11], SCTRCTL_FIELDS);
    csr_write(CSR_VSCTRCTL, 0);
    r = run_insn(S, insn_csrw(CSR_SCTRCTL, 10), CTL_RETINH);
    check_eq("cause", r.cause, CAUSE_ECALL_S);
    check_eq("vsctrctl after a write in HS", csr_read(CSR_VSCTRCTL), 0);
    csr_write(CSR_VSCTRCTL, 0);
}

/*
 * Table 3. "It is implementation-specific which DEPTH value(s) are supported."
 * Here 16 to 256; DEPTH is WARL, so other codes must read as a legal one.
 */
static void sctrdepth_codes(void)
{
    rule("2.4 sctrdepth: DEPTH holds each of the codes 0 to 4");
    for (unsigned i = 0; i <= 4; i++) {
        csr_write(CSR_SCTRDEPTH, i);
        check_eq("sctrdepth", csr_read(CSR_SCTRDEPTH), i);
    }

    rule("2.4 sctrdepth: a reserved code reads as a legal value");
    for (unsigned from = 0; from <= 4; from++) {
        for (unsigned i = 5; i < 8; i++) {
            about("code %u after %u", i, from);
            csr_write(CSR_SCTRDEPTH, from);
            csr_write(CSR_SCTRDEPTH, i);
            check("<= 4", csr_read(CSR_SCTRDEPTH) <= 4);
        }
    }

    rule("2.4 sctrdepth: bits above DEPTH read 0");
    csr_write(CSR_SCTRDEPTH, ~0ull);
    check("<= 4", csr_read(CSR_SCTRDEPTH) <= 4);
    csr_write(CSR_SCTRDEPTH, ~7ull);
    check_eq("sctrdepth", csr_read(CSR_SCTRDEPTH), 0);
    set_depth_max();
}

/*
 * "All Entry Registers read as '0' and are read-only when the selected entry
 * is in the range N to 255."
 */
static void entries_beyond_depth(void)
{
    const struct entry ones = { ~0ull, ~0ull, ~0ull };

    for (unsigned code = 0; code <= 4; code++) {
        rule("2.4 entries %u to 255 read 0 and are read-only with DEPTH=%u",
             16u << code, code);
        csr_write(CSR_SCTRDEPTH, 4);
        csr_write(CSR_SCTRSTATUS, 0);
        for (unsigned i = 0; i < 256; i++) {
            entry_write(i, ones);
        }
        csr_write(CSR_SCTRDEPTH, code);
        csr_write(CSR_SCTRSTATUS, 5);
        for (unsigned i = 16u << code; i < 256; i++) {
            struct entry e = entry_read(i);

            about("entry %u", i);
            check_eq("ctrsource", e.source, 0);
            check_eq("ctrtarget", e.target, 0);
            check_eq("ctrdata", e.data, 0);
            sctrclr();
            entry_write(i, ones);
            e = entry_read(i);
            check_eq("written ctrsource", e.source, 0);
            check_eq("written ctrtarget", e.target, 0);
            check_eq("written ctrdata", e.data, 0);
            /* nor has the write gone to another entry */
            e = entry_read(i % (16u << code));
            check_eq("ctrsource of another", e.source, 0);
        }
    }
    set_depth_max();
    ctr_clear();
}

/*
 * "Bits above those needed to represent depth-1 (e.g., bits 7:4 for a depth of
 * 16) are read-only 0. On depth changes, WRPTR holds an unspecified but legal
 * value."
 */
static void sctrstatus_fields(void)
{
    for (unsigned code = 0; code <= 4; code++) {
        unsigned n = 16u << code;

        rule("2.5 sctrstatus.WRPTR holds 0 to %u with DEPTH=%u", n - 1, code);
        csr_write(CSR_SCTRDEPTH, 4);
        csr_write(CSR_SCTRSTATUS, 255);
        csr_write(CSR_SCTRDEPTH, code);
        check("legal after the depth change",
              (csr_read(CSR_SCTRSTATUS) & STATUS_WRPTR) < n);
        for (unsigned i = 0; i < 256; i++) {
            csr_write(CSR_SCTRSTATUS, i);
            check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), i & (n - 1));
        }
        if (code < 4) {
            csr_write(CSR_SCTRDEPTH, code + 1);
            check("legal after an increase",
                  (csr_read(CSR_SCTRSTATUS) & STATUS_WRPTR) < 2 * n);
        }
    }

    rule("2.5 sctrstatus: FROZEN is writable, undefined bits read 0");
    set_depth_max();
    csr_write(CSR_SCTRSTATUS, ~0ull);
    check_eq("written ones", csr_read(CSR_SCTRSTATUS),
             STATUS_FROZEN | (depth - 1));
    csr_write(CSR_SCTRSTATUS, ~(uint64_t)STATUS_FROZEN);
    check_eq("written ~FROZEN", csr_read(CSR_SCTRSTATUS), depth - 1);
    csr_set(CSR_SCTRSTATUS, STATUS_FROZEN);
    check_eq("FROZEN set", csr_read(CSR_SCTRSTATUS),
             STATUS_FROZEN | (depth - 1));
    csr_write(CSR_SCTRSTATUS, 0);
    check_eq("written 0", csr_read(CSR_SCTRSTATUS), 0);
}

/*
 * "the physical buffer entry Y associated with logical entry X (X < depth)
 * can be determined using the formula Y = (WRPTR - X - 1) % depth"
 */
static void logical_entries(void)
{
    for (unsigned code = 0; code <= 4; code++) {
        unsigned n = 16u << code;

        rule("2.5 logical entry X is physical (WRPTR - X - 1) %% %u", n);
        csr_write(CSR_SCTRDEPTH, code);
        sctrclr();
        /* WRPTR = 0: logical X is physical depth - 1 - X; name them all */
        csr_write(CSR_SCTRSTATUS, 0);
        for (unsigned x = 0; x < n; x++) {
            unsigned y = n - 1 - x;

            entry_write(x, (struct entry){ 0x1000 + 2 * y, 0x2000 + 2 * y,
                                           y & 15 });
        }
        for (unsigned wrptr = 0; wrptr < n; wrptr += n > 32 ? 13 : 1) {
            csr_write(CSR_SCTRSTATUS, wrptr);
            about("WRPTR %u", wrptr);
            for (unsigned x = 0; x < n; x++) {
                unsigned y = (wrptr + n - x - 1) % n;
                struct entry e = entry_read(x);

                check_eq("ctrsource", e.source, 0x1000 + 2 * y);
                check_eq("ctrtarget", e.target, 0x2000 + 2 * y);
                check_eq("ctrdata", e.data, y & 15);
            }
        }
    }
    set_depth_max();
    ctr_clear();
}

/*
 * "sireg provides access to ctrsource, sireg2 provides access to ctrtarget,
 * and sireg3 provides access to ctrdata. sireg4, sireg5, and sireg6 are
 * read-only 0."
 */
static void ireg_map(void)
{
    rule("3 sireg4 to sireg6 and vsireg4 to vsireg6 are read-only 0");
    csr_write(CSR_SISELECT, 0x203);
    entry_write(3, (struct entry){ 0x1235, 0x5678, 9 });
    csr_write(CSR_SIREG4, -1);
    csr_write(CSR_SIREG5, -1);
    csr_write(CSR_SIREG6, -1);
    check_eq("sireg4", csr_read(CSR_SIREG4), 0);
    check_eq("sireg5", csr_read(CSR_SIREG5), 0);
    check_eq("sireg6", csr_read(CSR_SIREG6), 0);
    if (have_h) {
        csr_write(CSR_VSISELECT, 0x203);
        csr_write(CSR_VSIREG4, -1);
        csr_write(CSR_VSIREG5, -1);
        csr_write(CSR_VSIREG6, -1);
        check_eq("vsireg4", csr_read(CSR_VSIREG4), 0);
        check_eq("vsireg5", csr_read(CSR_VSIREG5), 0);
        check_eq("vsireg6", csr_read(CSR_VSIREG6), 0);
    }
    check_eq("ctrsource", entry_read(3).source, 0x1235);
    check_eq("ctrtarget", entry_read(3).target, 0x5678);
    check_eq("ctrdata", entry_read(3).data, 9);

    rule("3 siselect selects the logical entries 0 to 255");
    set_depth_max();
    ctr_clear();
    for (unsigned i = 0; i < depth; i++) {
        entry_write(i, (struct entry){ 2 * i + 0x100, 4 * i, i & 15 });
    }
    for (unsigned i = 0; i < depth; i++) {
        struct entry e = entry_read(i);

        about("entry %u", i);
        check_eq("ctrsource", e.source, 2 * i + 0x100);
        check_eq("ctrtarget", e.target, 4 * i);
        check_eq("ctrdata", e.data, i & 15);
    }
    ctr_clear();
}

/* "There is not a separate set of entry registers for V=1." */
static void vsireg_alias(void)
{
    static const unsigned reg[] = { CSR_SIREG, CSR_SIREG2, CSR_SIREG3 };
    static const xlen_t value[] = { 0x4321, 0x8764, 11 };
    struct run r;

    rule("3 vsireg, vsireg2 and vsireg3 are the same entries");
    ctr_clear();
    csr_write(CSR_SISELECT, 0x200);
    csr_write(CSR_VSISELECT, 0x207);
    csr_write(CSR_VSIREG, 0x4321);
    csr_write(CSR_VSIREG2, 0x8764);
    csr_write(CSR_VSIREG3, 11);
    check_eq("entry 0", entry_read(0).source, 0);
    check_eq("ctrsource", entry_read(7).source, 0x4321);
    check_eq("ctrtarget", entry_read(7).target, 0x8764);
    check_eq("ctrdata", entry_read(7).data, 11);
    entry_write(7, (struct entry){ 0x11, 0x22, 3 });
    check_eq("vsireg", csr_read(CSR_VSIREG), 0x11);
    check_eq("vsireg2", csr_read(CSR_VSIREG2), 0x22);
    check_eq("vsireg3", csr_read(CSR_VSIREG3), 3);

    rule("3 sireg in VS-mode selects by vsiselect and reaches the same "
         "entries");
    csr_write(CSR_SISELECT, 0x200);
    for (unsigned i = 0; i < 3; i++) {
        r = run_insn(VS, insn_csrw(reg[i], 10), value[i]);
        check_eq("cause of the write", r.cause, CAUSE_ECALL_VS);
        r = run_insn(VS, insn_csrr(reg[i], 10), 0);
        check_eq("cause of the read", r.cause, CAUSE_ECALL_VS);
        check_eq("read", r.x[10], value[i]);
    }
    check_eq("ctrsource", entry_read(7).source, 0x4321);
    check_eq("ctrtarget", entry_read(7).target, 0x8764);
    check_eq("ctrdata", entry_read(7).data, 11);
    check_eq("entry 0", entry_read(0).source, 0);
}

static const xlen_t addresses[] = {
    0, 0x80000000, 0x7ffffffe, 0x3ffffffffe, (xlen_t)-0x8000000000ull,
    0xffffffff80000000, -2ull, 0x00fffffffffffffe,
};

/*
 * "must be able to hold all valid virtual or physical addresses that can serve
 * as a pc"
 */
static void entry_fields(void)
{
    rule("3.1 ctrsource holds V and every valid address");
    ctr_clear();
    csr_write(CSR_SISELECT, 0x200);
    for (unsigned i = 0; i < sizeof(addresses) / sizeof(xlen_t); i++) {
        csr_write(CSR_SIREG, addresses[i]);
        check_eq("V=0", csr_read(CSR_SIREG), addresses[i]);
        csr_write(CSR_SIREG, addresses[i] | 1);
        check_eq("V=1", csr_read(CSR_SIREG), addresses[i] | 1);
        csr_clear(CSR_SIREG, 1);
        check_eq("V cleared", csr_read(CSR_SIREG), addresses[i]);
    }

    rule("3.2 ctrtarget holds every valid address");
    for (unsigned i = 0; i < sizeof(addresses) / sizeof(xlen_t); i++) {
        csr_write(CSR_SIREG2, addresses[i]);
        check_eq("ctrtarget", csr_read(CSR_SIREG2), addresses[i]);
    }

    /* "MISP is read-only 0 when not implemented." */
    rule("3.2 ctrtarget.MISP is read-only 0");
    csr_write(CSR_SIREG2, 0x80000001);
    check_eq("ctrtarget", csr_read(CSR_SIREG2), 0x80000000);
    csr_set(CSR_SIREG2, 1);
    check_eq("ctrtarget", csr_read(CSR_SIREG2), 0x80000000);

    rule("3.3 ctrdata.TYPE holds 0 to 15");
    for (unsigned i = 0; i < 16; i++) {
        csr_write(CSR_SIREG3, i);
        check_eq("ctrdata", csr_read(CSR_SIREG3), i);
    }

    /* "Undefined bits must be implemented as read-only 0" */
    rule("3.3 ctrdata: undefined bits are read-only 0");
    csr_write(CSR_SIREG3, ~0ull);
    check_eq("undefined bits",
             csr_read(CSR_SIREG3) & ~(DATA_TYPE | DATA_CCV | DATA_CC), 0);
    check_eq("TYPE", csr_read(CSR_SIREG3) & DATA_TYPE, 15);

#ifdef NO_COUNT
    /* "Unimplemented fields are read-only 0." */
    rule("3.3 ctrdata: CC and CCV are read-only 0 without cycle counting");
    csr_write(CSR_SIREG3, ~0ull);
    check_eq("ctrdata", csr_read(CSR_SIREG3), DATA_TYPE);
    rule("3.3 ctrdata: CC and CCV of a record are 0 without cycle counting");
    gen_begin();
    gen_transfer(TAKEN);
    gen_transfer(TAKEN);
    gen_end();
    ctr_clear();
    run_at(U, gen_code, CTL_U);
    check_buffer(gen_list, gen_count);
    check_eq("ctrdata", entry_read(0).data, TAKEN);
    check_eq("ctrdata", entry_read(1).data, TAKEN);
#else
    rule("3.3 ctrdata: CC and CCV hold what is written");
    for (unsigned i = 15; i < 32; i++) {
        csr_write(CSR_SIREG3, BIT(i) | 5);
        check_eq("ctrdata", csr_read(CSR_SIREG3), BIT(i) | 5);
    }
#endif
    ctr_clear();
}

/*
 * "Any custom CTR extension must be associated with a non-zero value within
 * the designated custom bits"
 */
static void custom(void)
{
    rule("7 Custom: WARL, 0 without a custom extension, and standard "
         "behaviour");
    csr_write(CSR_MCTRCTL, 0xfull << 60);
    check_eq("mctrctl", csr_read(CSR_MCTRCTL), 0);
    csr_write(CSR_SCTRCTL, 0xfull << 60);
    check_eq("sctrctl", csr_read(CSR_SCTRCTL), 0);
    if (have_h) {
        csr_write(CSR_VSCTRCTL, 0xfull << 60);
        check_eq("vsctrctl", csr_read(CSR_VSCTRCTL), 0);
    }
    gen_begin();
    gen_transfer(TAKEN);
    gen_end();
    ctr_clear();
    run_at(U, gen_code, CTL_U | 0xfull << 60);
    check_buffer(gen_list, gen_count);
    ctr_clear();
}

/*
 * "When the depth is increased, the newly accessible entries contain
 * unspecified but legal values."
 */
static void deeper(void)
{
    static const struct entry ones = { ~0ull, ~0ull, ~0ull };

    rule("2.4 sctrdepth: entries that become accessible hold legal values");
    csr_write(CSR_SCTRDEPTH, 4);
    for (unsigned i = 0; i < 256; i++) {
        entry_write(i, ones);
    }
    csr_write(CSR_SCTRDEPTH, 0);
    for (unsigned i = 0; i < 256; i++) {
        entry_write(i, ones);
    }
    csr_write(CSR_SCTRDEPTH, 4);
    for (unsigned i = 0; i < 256; i++) {
        struct entry e = entry_read(i);

        about("entry %u", i);
        check_eq("MISP", e.target & 1, 0);
        check_eq("undefined bits",
                 e.data & ~(DATA_TYPE | DATA_CC | DATA_CCV), 0);
    }
    ctr_clear();
}

void test_main(void)
{
    mctrctl_fields();
    sctrctl_subset();
    if (have_h) {
        vsctrctl_fields();
        vsctrctl_substitutes();
    }
    sctrdepth_codes();
    entries_beyond_depth();
    sctrstatus_fields();
    logical_entries();
    ireg_map();
    if (have_h) {
        vsireg_alias();
    }
    entry_fields();
    custom();
    deeper();
}
