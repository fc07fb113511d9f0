/*
 * Encoders that report where a block ends instead of where it begins
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "flow/flow-ends.h"
#include "flow/flow-private.h"

/* Blocks of encoders are not longer. */
#define BLOCK_MAX   1024

/* Does nothing but instructions in sequence lead from @pc to @to? */
static bool is_straight(Flow *f, uint64_t pc, uint64_t to)
{
    Insn insn;

    for (unsigned i = 0; pc != to; i++) {
        if (i == BLOCK_MAX || pc > to ||
            !image_insn(f->image, f->priv, pc, f->mask, &insn) ||
            insn.kind != INSN_SEQUENTIAL) {
            return false;
        }
        pc += insn.size;
    }
    return true;
}

void flow_ends_arrive(Flow *f, uint64_t to)
{
    FlowEnds *e = f->ends;
    uint64_t pc;
    Insn insn;

    if (!image_insn(f->image, f->priv, f->pc, f->mask, &insn)) {
        return;
    }
    if (insn.itype != ETRACE_ITYPE_RETURN || !e->calls) {
        e->open++;
        return;
    }
    pc = e->link[--e->calls % FLOW_ENDS_DEPTH];
    if (pc == to) {
        return;
    }
    if (!is_straight(f, pc, to)) {
        e->open++;
        return;
    }
    e->filled++;
    for (; pc != to; pc += insn.size) {
        if (!image_insn(f->image, f->priv, pc, f->mask, &insn)) {
            return;
        }
        flow_emit_one(f, pc);
    }
}
