/*
 * An executable model of what Smctr/Ssctr 1.0 records
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "model.h"

/*
 * Every rule that the test must distinguish from its neighbour: n is the
 * mutant's number, text what the specification says, mutant something near.
 * With bits of ctr_mutants set, those rules are wrong: it must be found out.
 */
#define RULE(n, text, mutant) (ctr_mutants >> (n) & 1 ? (mutant) : (text))

uint64_t ctr_mutants;

static bool is_virtual(enum ctr_mode mode)
{
    return mode == MODE_VU || mode == MODE_VS;
}

static bool is_trap(enum ctr_type type)
{
    return type == TYPE_EXCEPTION || type == TYPE_INTERRUPT;
}

/* "M, S, U: Enable transfer recording in the selected privileged mode(s)." */
static bool enabled(const struct ctr *ctr, enum ctr_mode mode)
{
    switch (mode) {
    case MODE_M:
        return ctr->mctrctl & CTL_M;
    case MODE_S:
        return ctr->mctrctl & CTL_S;
    case MODE_U:
        return ctr->mctrctl & CTL_U;
    case MODE_VS:
        return ctr->vsctrctl & CTL_S;
    default:
        return RULE(25, ctr->vsctrctl, ctr->mctrctl) & CTL_U;
    }
}

/*
 * The control register for all fields but the mode enables, xTE and the
 * freeze bits. [6.1.1] "For all other xctrctl fields, the value in vsctrctl
 * is used."
 */
static uint64_t control(const struct ctr *ctr, const struct transfer *t)
{
    bool v = RULE(1, is_virtual(t->from) || is_virtual(t->to),
                  is_virtual(t->to));

    return v ? ctr->vsctrctl : ctr->mctrctl;
}

/* [6.5] The trap's target decides; for a trap to VS-mode vsctrctl does. */
static bool freezes(const struct ctr *ctr, const struct transfer *t)
{
    bool v = RULE(21, t->to == MODE_VS, false);
    uint64_t ctl;

    v = RULE(22, v, v || is_virtual(t->from));
    ctl = v ? ctr->vsctrctl : ctr->mctrctl;
    if (t->type == TYPE_INTERRUPT && t->lcofi) {
        return ctl & RULE(23, CTL_LCOFIFRZ, CTL_BPFRZ);
    }
    return t->type == TYPE_EXCEPTION && t->breakpoint && (ctl & CTL_BPFRZ);
}

/* [6.1.2, Table 8] From an enabled mode to one that is not */
static bool external_trap_enabled(const struct ctr *ctr,
                                  enum ctr_mode from, enum ctr_mode to)
{
    bool mte = ctr->mctrctl & CTL_MTE;
    bool ste = ctr->mctrctl & CTL_STE;
    bool vste = ctr->vsctrctl & CTL_STE;

    switch (from) {
    case MODE_U:
        return to == MODE_S ? ste : RULE(5, mte && ste, mte);
    case MODE_S:
        return mte;
    case MODE_VU:
        return to == MODE_VS ? vste :
               to == MODE_S ? RULE(26, ste && vste, ste) :
               RULE(27, mte && ste && vste, mte && ste);
    case MODE_VS:
        return (to == MODE_S ? ste : mte && ste) && RULE(0, true, vste);
    default:
        return false;
    }
}

/* [6.2] */
static bool filtered(uint64_t ctl, enum ctr_type type)
{
    switch (type) {
    case TYPE_EXCEPTION:
        return ctl & CTL_EXCINH;
    case TYPE_INTERRUPT:
        return ctl & CTL_INTRINH;
    case TYPE_TRAP_RETURN:
        return ctl & CTL_TRETINH;
    case TYPE_NOT_TAKEN:
        return RULE(8, !(ctl & CTL_NTBREN), ctl & CTL_NTBREN);
    case TYPE_TAKEN:
        return ctl & RULE(9, CTL_TKBRINH, 0);
    case TYPE_INDIRECT_CALL:
        return ctl & CTL_INDCALLINH;
    case TYPE_DIRECT_CALL:
        return ctl & CTL_DIRCALLINH;
    case TYPE_INDIRECT_JUMP:
        return ctl & CTL_INDJMPINH;
    case TYPE_DIRECT_JUMP:
        return ctl & CTL_DIRJMPINH;
    case TYPE_SWAP:
        return ctl & RULE(10, CTL_CORSWAPINH, CTL_RETINH);
    case TYPE_RETURN:
        return ctl & CTL_RETINH;
    case TYPE_OTHER_INDIRECT:
        return ctl & RULE(11, CTL_INDLJMPINH, CTL_DIRLJMPINH);
    default:
        return ctl & CTL_DIRLJMPINH;
    }
}

/* [2.5] "WRPTR wraps to 0 on an increment when the value matches depth-1" */
static unsigned next(const struct ctr *ctr, unsigned place)
{
    return place == RULE(15, ctr->depth, 256) - 1 ? 0 : place + 1;
}

/* "... and to depth-1 on a decrement when the value is 0." */
static unsigned previous(const struct ctr *ctr, unsigned place)
{
    return place == 0 ? ctr->depth - 1 : place - 1;
}

static void fill(struct ctr_entry *entry, const struct transfer *t)
{
    entry->source = t->source | SOURCE_V;
    entry->target = t->target;
    entry->type = t->type;
}

static void record(struct ctr *ctr, const struct transfer *t)
{
    fill(&ctr->entry[ctr->wrptr], t);
    ctr->wrptr = next(ctr, ctr->wrptr);
}

/* [6.4] Transfer type filters and external trap enables are ignored. */
static enum ctr_outcome emulate_ras(struct ctr *ctr, uint64_t ctl,
                                    const struct transfer *t)
{
    unsigned top = previous(ctr, ctr->wrptr);

    if (RULE(19, false, filtered(ctl, t->type))) {
        return FILTERED;
    }
    switch (t->type) {
    case TYPE_INDIRECT_CALL:
    case TYPE_DIRECT_CALL:
        record(ctr, t);
        return RAS_CALL;
    case TYPE_RETURN:
        /* "decrementing the WRPTR then invalidating the WRPTR entry" */
        if (RULE(30, true, ctr->entry[top].source & SOURCE_V)) {
            ctr->wrptr = RULE(17, top, ctr->wrptr);
            ctr->entry[top].source &= ~RULE(16, SOURCE_V, 0ull);
        }
        return RAS_RETURN;
    case TYPE_SWAP:
        /* "Logical entry 0 is overwritten, and WRPTR is not modified." */
        if (RULE(18, true, false)) {
            fill(&ctr->entry[top], t);
        } else {
            record(ctr, t);
        }
        return RAS_SWAP;
    default:
        return RAS_IGNORED;
    }
}

enum ctr_outcome ctr_transfer(struct ctr *ctr, const struct transfer *t)
{
    struct transfer rec = *t;
    uint64_t ctl = control(ctr, t);
    bool from = enabled(ctr, t->from);
    bool to = enabled(ctr, t->to);
    enum ctr_outcome outcome = RECORDED;

    /*
     * [6.5] FROZEN is set whether or not the modes are enabled; "The LCOFI
     * trap itself is not recorded", nor is the breakpoint exception.
     */
    if (freezes(ctr, t)) {
        ctr->frozen = true;
        if (RULE(20, true, false)) {
            return FREEZES;
        }
    } else if (ctr->frozen) {
        return WHILE_FROZEN;
    }

    /* [6] "The current privilege mode is enabled"; [6.1] Table 7 */
    if (t->type == TYPE_TRAP_RETURN ? RULE(4, !from, !from && !to) :
        !from && !to) {
        return DISABLED;
    }

    /* [6.4] Other types than calls, returns and swaps are inhibited. */
    if (ctl & CTL_RASEMU && RULE(28, true, !(is_trap(t->type) && !to))) {
        return emulate_ras(ctr, ctl, t);
    }

    if (is_trap(t->type) && !to) {
        /* [6.1.2] Does not depend on EXCINH and INTRINH; target is 0 */
        if (!external_trap_enabled(ctr, t->from, t->to)) {
            return EXTERNAL_OFF;
        }
        if (RULE(6, false, filtered(ctl, t->type))) {
            return FILTERED;
        }
        rec.target = RULE(7, 0, t->target);
        record(ctr, &rec);
        return EXTERNAL_ON;
    }

    if (filtered(ctl, t->type)) {
        return FILTERED;
    }
    if (is_trap(t->type) && !from) {
        rec.source = RULE(2, 0, t->source);
        outcome = NO_SOURCE;
    }
    if (t->type == TYPE_TRAP_RETURN && !to) {
        rec.target = RULE(3, 0, t->target);
        outcome = NO_TARGET;
    }
    record(ctr, &rec);
    return outcome;
}

unsigned ctr_place(const struct ctr *ctr, unsigned logical)
{
    return (ctr->wrptr - logical - RULE(29, 1, 0)) % ctr->depth;
}

static bool link(unsigned reg)
{
    return reg == 1 || reg == 5;
}

/* C.JALR rs is JALR x1, rs here and C.JR rs is JALR x0, rs. */
enum ctr_type ctr_jalr_type(unsigned rd, unsigned rs)
{
    if ((rd == 1 && rs == 5) || (rd == 5 && rs == 1)) {
        return TYPE_SWAP;
    }
    if (link(rd)) {
        return RULE(12, TYPE_INDIRECT_CALL,
                    rd == rs ? TYPE_SWAP : TYPE_INDIRECT_CALL);
    }
    if (link(rs)) {
        return RULE(13, TYPE_RETURN,
                    rd == 0 ? TYPE_RETURN : TYPE_OTHER_INDIRECT);
    }
    return rd == 0 ? TYPE_INDIRECT_JUMP : TYPE_OTHER_INDIRECT;
}

enum ctr_type ctr_jal_type(unsigned rd)
{
    if (RULE(14, link(rd), rd == 1)) {
        return TYPE_DIRECT_CALL;
    }
    return rd == 0 ? TYPE_DIRECT_JUMP : TYPE_OTHER_DIRECT;
}

/* All optional fields but the custom ones are taken to be there. */
#define VSCTRCTL_FIELDS (CTL_U | CTL_S | CTL_RASEMU | CTL_STE | CTL_BPFRZ | \
                         CTL_LCOFIFRZ | CTL_FILTERS)
#define MCTRCTL_FIELDS  (VSCTRCTL_FIELDS | CTL_M | CTL_MTE)

void ctr_write_mctrctl(struct ctr *ctr, uint64_t value)
{
    ctr->mctrctl = value & MCTRCTL_FIELDS;
}

/* [2.2] "Bits 2 and 9 in sctrctl are read-only 0." */
void ctr_write_sctrctl(struct ctr *ctr, uint64_t value)
{
    uint64_t hidden = RULE(31, CTL_M | CTL_MTE, CTL_M);

    ctr->mctrctl = (ctr->mctrctl & hidden) |
                   (value & MCTRCTL_FIELDS & ~hidden);
}

uint64_t ctr_read_sctrctl(const struct ctr *ctr)
{
    return ctr->mctrctl & ~(CTL_M | CTL_MTE);
}

void ctr_write_vsctrctl(struct ctr *ctr, uint64_t value)
{
    ctr->vsctrctl = value & VSCTRCTL_FIELDS;
}

/* [2.5] "Bits above those needed to represent depth-1 are read-only 0." */
void ctr_write_status(struct ctr *ctr, uint64_t value)
{
    ctr->wrptr = value & (ctr->depth - 1);
    ctr->frozen = value & STATUS_FROZEN;
}

uint64_t ctr_read_status(const struct ctr *ctr)
{
    return ctr->wrptr | (ctr->frozen ? STATUS_FROZEN : 0);
}

/* [4.1] */
void ctr_clear(struct ctr *ctr)
{
    for (unsigned i = 0; i < 256; i++) {
        ctr->entry[i] = (struct ctr_entry) { 0, 0, 0 };
    }
    if (RULE(24, false, true)) {
        ctr->wrptr = 0;
    }
}
