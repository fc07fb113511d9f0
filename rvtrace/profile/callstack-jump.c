/*
 * Call stacks: what the code in front of a jump tells of it
 *
 * Addresses alone do not tell a tail call from a switch to a new coroutine, or
 * a return that was diverted from the first run of a task. But whatever
 * switches stacks takes another stack pointer from somewhere.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "code/insn.h"
#include "profile/callstack-private.h"

/* What of a function is looked at, in front of the jump */
#define MAX_LOOK 2048

#define REG_SP  2

/* Has the calling convention @reg free for a function to use? */
static bool is_temporary(unsigned reg)
{
    return (reg >= 5 && reg <= 7) || (reg >= 10 && reg <= 17) || reg >= 28;
}

/*
 * Does @raw load sp, or copy it from a temporary register? Functions that make
 * room on the stack compute it, or copy it from a register that they save.
 */
static bool takes_sp(uint32_t raw)
{
    unsigned rd = raw >> 7 & 31, rs1 = raw >> 15 & 31;

    if (insn_length(raw) == 2) {
        return (raw & 0xf003) == 0x8002 && rd == REG_SP &&      /* c.mv */
               is_temporary(raw >> 2 & 31);
    }
    if (rd != REG_SP) {
        return false;
    }
    switch (raw & 0x707f) {
    case 0x2003:    /* lw */
    case 0x3003:    /* ld */
        return rs1 != REG_SP;
    case 0x0013:    /* addi */
        return !(raw >> 20) && is_temporary(rs1);
    default:
        return false;
    }
}

static SpOrigin look_for_sp(const CallStack *cs, uint64_t lo, uint64_t end)
{
    while (lo < end) {
        uint32_t raw;

        if (!image_raw(cs->site.image, cs->now->priv, lo, UINT64_MAX, &raw)) {
            lo += 2;        /* a part that has not run */
            continue;
        }
        if (takes_sp(raw)) {
            return SP_TAKEN;
        }
        lo += insn_length(raw);
    }
    return SP_KEPT;
}

/* Was the jump that ends at @end made through t0, rather than through ra? */
static bool is_through_t0(const CallStack *cs, uint64_t end)
{
    Insn insn;

    for (unsigned size = 2; size <= 4; size += 2) {
        if (image_insn(cs->site.image, cs->now->priv, end - size, UINT64_MAX,
                       &insn) &&
            insn.size == size && insn.itype == ETRACE_ITYPE_RETURN) {
            return insn.rs1 == 5;
        }
    }
    return false;
}

const KnownJump *callstack_jump(CallStack *cs, uint64_t end)
{
    unsigned priv = cs->now->priv, space = cs->site.space;
    unsigned generation = cs->site.image ? cs->site.image->generation : 1;
    uint64_t hash = end * 0x9e3779b97f4a7c15ull;
    KnownJump *j = &cs->jumps[hash >> 56];
    const KnownFunction *k;

    if (j->end == end && j->generation == generation && j->space == space &&
        j->priv == priv) {
        return j;
    }
    *j = (KnownJump) {
        .end = end,
        .generation = generation,
        .space = space,
        .priv = priv,
    };
    k = callstack_function(cs, end - 2, false);
    if (cs->site.image && k->symbol && end - k->lo <= MAX_LOOK) {
        j->sp = look_for_sp(cs, k->lo, end);
    }
    j->through_t0 = cs->site.image && is_through_t0(cs, end);
    return j;
}
