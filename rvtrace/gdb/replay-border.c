/*
 * Replay: what may have been executed between two instructions
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/replay-state-private.h"

/* May instruction @b be the next one behind @a? Both are known. */
static bool may_follow(const StatePass *p, const Pending *a, const Pending *b)
{
    uint64_t mask = p->d.flow.mask, target;
    unsigned rd;
    Insn insn;

    insn_classify(&p->cpu.isa, a->raw, &insn);
    target = (a->pc + insn.offset) & mask;
    switch (insn.kind) {
    case INSN_SEQUENTIAL:
        return b->pc == ((a->pc + insn.size) & mask);
    case INSN_BRANCH:
        return b->pc == ((a->pc + insn.size) & mask) || b->pc == target;
    case INSN_JUMP:
        return b->pc == target;
    case INSN_XRET:
        return b->priv < a->priv;
    default:
        /* It may have changed rs1. */
        rd = insn.size == 4 ? a->raw >> 7 & 31 : a->raw >> 12 & 1;
        return insn.rs1 && insn.rs1 != rd &&
               (p->cpu.known_x >> insn.rs1 & 1) &&
               b->pc == ((p->cpu.x[insn.rs1] + insn.offset) & mask & ~1ull);
    }
}

bool replay_is_behind_call(const StatePass *p, const Pending *b)
{
    Pending ecall = *b;

    ecall.pc = (b->pc - ECALL_SIZE) & p->d.flow.mask;
    return b->called && p->has_last && p->last.readable &&
           may_follow(p, &p->last, &ecall);
}

bool replay_is_seamless(const StatePass *p, const Pending *b)
{
    if (b->border >= BORDER_GAP || (b->trapped && p->is_process)) {
        return false;
    }
    if (b->border == BORDER_NONE ||
        (b->border == BORDER_SEAM && !p->is_process)) {
        return true;
    }
    return p->has_last && p->last.readable &&
           (b->trapped ? b->priv >= p->last.priv && !priv_is_user(b->priv) :
                         may_follow(p, &p->last, b));
}

bool replay_has_registers(const StatePass *p, const Pending *insn)
{
    return p->has_regs && insn->index == p->regs_at &&
           insn->pc == (p->regs.pc & p->d.flow.mask) &&
           insn->priv == p->regs.priv;
}
