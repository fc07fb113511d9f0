/*
 * Instruction flow: the lines in the middle of a walk
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "flow/flow-hurry.h"

/* Jumps in a row behind which loops without a branch are looked for */
#define HURRY_JUMPS     8

/* Where a jump leads that no packet reports: the code or the stack says it */
static inline bool pass_jump(Flow *f, const CodeEnd *end, uint64_t end_pc,
                             uint64_t *next)
{
    bool stack = flow_mode(f, ETRACE_IOPT_IMPLICIT_RETURN) && f->stack.max;

    if (end->kind == CODE_END_JUMP) {
        *next = end_pc + end->offset;
        if (stack && end->itype == ETRACE_ITYPE_INFERABLE_CALL) {
            etrace_return_stack_push(&f->stack,
                                     (end_pc + end->size) & f->mask);
            f->pushes++;
        }
        return true;
    }
    if (!stack || end->kind != CODE_END_UPDISCON || !f->stack.depth ||
        end->itype != ETRACE_ITYPE_RETURN ||
        (end->upper && flow_mode(f, ETRACE_IOPT_SIJUMP))) {
        return false;
    }
    *next = etrace_return_stack_top(&f->stack);
    etrace_return_stack_pop(&f->stack);
    f->pops++;
    f->irets++;
    return true;
}

void flow_walk_hurry(Walk *w)
{
    Flow *f = w->f;
    const uint64_t least = w->g->remain + 1, mask = f->mask;
    const uint64_t work = f->steps_max - f->steps;
    const bool learns = flow_mode(f, ETRACE_IOPT_BRANCH_PREDICTION);
    uint64_t pc = w->pc, end_pc = f->pc, insns = 0;
    uint64_t map = f->branch_map, branches = f->branches, learnt = 0;
    unsigned map_bits = f->map_bits, jumps = 0;
    const FlowRun *full = f->runs + FLOW_RUNS;
    FlowRun *run = f->runs + f->nr_runs;
    CodePage *page = w->page;
    bool straight = w->prev_known;

    while (branches > least && run < full && !(pc & 1) && insns <= work) {
        unsigned off = pc & CODE_PAGE_MASK;
        uint64_t next, behind, here;
        const CodeEnd *end;
        CodeSlot slot;

        if (pc >> CODE_PAGE_BITS != w->vpage) {
            w->pc = pc;
            if (f->image->crowded || !flow_line_turn_page(w)) {
                break;
            }
            page = w->page;
        }
        slot = page->slots[off >> 1];
        if (G_UNLIKELY(!slot.count)) {
            break;
        }
        end = &page->ends[slot.end];
        here = (pc & ~(uint64_t)CODE_PAGE_MASK) | end->off;
        behind = here + end->size;
        run->itype = end->itype;
        if (G_LIKELY(end->kind == CODE_END_BRANCH)) {
            bool taken;

            if (map_bits) {
                taken = !(map & 1);
                map >>= 1;
                map_bits--;
            } else if (branches > FLOW_REPEAT_MIN) {
                break;
            } else {
                taken = etrace_predictor_taken(&f->predictor, here);
            }
            if (learns) {
                learnt += etrace_predictor_changes(&f->predictor, here,
                                                   taken);
                etrace_predictor_learn(&f->predictor, here, taken);
            }
            if (w->keep) {
                flow_line_keep_branch(w, here);
            }
            branches--;
            f->irets = 0;
            jumps = 0;
            next = taken ? here + end->offset : behind;
            run->itype = ETRACE_ITYPE_NONTAKEN_BRANCH + taken;
        } else if (end->kind == CODE_END_PAGE) {
            next = behind;
        } else if (jumps++ == HURRY_JUMPS ||
                   !pass_jump(f, end, here, &next)) {
            break;
        }
        run->pc = pc;
        run->code = &page->bytes[off];
        run->wide = code_page_wide(page, off);
        run->end = behind & mask;
        run->count = slot.count;
        run->priv = f->priv;
        run++;
        insns += slot.count;
        straight = end->kind == CODE_END_PAGE;
        end_pc = here;
        pc = next & mask;
    }
    if (branches != f->branches) {
        flow_mark_init(&w->jumps);
        w->insns = 0;
    }
    w->pc = pc;
    w->insns += insns;
    w->prev = insns ? end_pc : w->prev;
    w->prev_known = straight;
    if (branches <= f->repeats_until) {
        f->steps += insns;
    }
    f->pc = end_pc;
    f->branches = branches;
    f->branch_map = map;
    f->map_bits = map_bits;
    f->learnt += learnt;
    f->nr_runs = run - f->runs;
    f->run_insns += insns;
}
