/*
 * Instruction flow: the path from one reported instruction to the next
 *
 * The pseudo code of chapter 11 goes instruction by instruction. Here a walk
 * goes line by line (code-page.h): a line's inner instructions cannot take
 * part in a decision, except that the address looked for may be among them.
 *
 * jalr with rs1 = x0 is an uninferable jump here, not a sequential
 * instruction as in the text of 2.0.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "flow-private.h"

/* Straight through more code than this without a branch: cannot be. */
#define WALK_MAX_INSNS  (64u << 20)

static WalkResult walk_error(Flow *f, FlowLossKind kind, uint64_t address)
{
    flow_lose(f, kind, address);
    return WALK_ERROR;
}

/* How is the next branch, at @pc, left? */
static bool peek_branch(const Flow *f, uint64_t pc)
{
    bool taken;

    if (f->map_bits) {
        return !(f->branch_map & 1);
    }
    taken = etrace_predictor_taken(&f->predictor, pc);
    return taken ^ (f->last_failed && f->branches == 1);
}

static bool pop_branch(Flow *f, uint64_t pc)
{
    bool taken = peek_branch(f, pc);

    if (f->map_bits) {
        f->branch_map >>= 1;
        f->map_bits--;
    }
    f->branches--;
    f->irets = 0;
    if (flow_mode(f, ETRACE_IOPT_BRANCH_PREDICTION)) {
        f->learnt += etrace_predictor_changes(&f->predictor, pc, taken);
        etrace_predictor_learn(&f->predictor, pc, taken);
    }
    return taken;
}

void flow_settle_branch(Flow *f)
{
    if (f->branches == 1 && !f->map_bits) {
        f->branch_map = !peek_branch(f, f->pc);
        f->map_bits = 1;
    }
    f->last_failed = false;
}

/*
 * Number of instructions before @address in the @count ones at @code, whose
 * first one is at @pc; @count if it is not the address of one of them. *@prev
 * is the one before it, if it is not the first.
 */
static unsigned find_in_line(const uint8_t *code, unsigned count,
                             uint64_t pc, uint64_t address, uint64_t *prev)
{
    unsigned i;

    for (i = 0; i < count && pc != address; i++) {
        unsigned len = flow_insn_length(code);

        *prev = pc;
        pc += len;
        code += len;
    }
    return i;
}

bool flow_sijump(Flow *f, uint64_t prev, uint64_t pc, uint64_t *target)
{
    Insn upper, jump;

    if (!flow_mode(f, ETRACE_IOPT_SIJUMP) ||
        !image_insn(f->image, f->priv, prev, f->mask, &upper) ||
        !(upper.flags & (INSN_LUI | INSN_AUIPC)) ||
        !image_insn(f->image, f->priv, pc, f->mask, &jump) ||
        jump.kind != INSN_UPDISCON || !jump.rs1 || jump.rs1 != upper.rd) {
        return false;
    }
    *target = (int64_t)upper.offset + jump.offset;
    if (upper.flags & INSN_AUIPC) {
        *target += prev;
    }
    *target &= f->mask;
    return true;
}

/* A line of instructions, and what retired before it */
typedef struct Line {
    uint64_t pc;
    const uint8_t *code;
    unsigned count;
    bool prev_known;
    uint64_t prev;
} Line;

/* Where does the uninferable jump at @pc, which ends @line, lead? */
static bool infer_sijump(Flow *f, const Line *line, uint64_t pc,
                         uint64_t *target)
{
    uint64_t prev = line->prev;

    if (line->count > 1) {
        find_in_line(line->code, line->count - 1, line->pc, pc, &prev);
    } else if (!line->prev_known) {
        return false;
    }
    return flow_sijump(f, prev, pc, target);
}

/*
 * A return: does it go where the newest call said? Returns true and where. A
 * return that does not is counted by the packet that reports its target.
 */
static bool infer_return(Flow *f, const Goal *g, uint64_t *target)
{
    bool implicit;

    if (!flow_mode(f, ETRACE_IOPT_IMPLICIT_RETURN) || !f->stack.depth) {
        return false;
    }
    implicit = !(g->irreport && g->by_updiscon && f->branches == g->remain &&
                 g->ircount == (flow_is_2_1(f) ? f->irets : f->stack.depth));
    *target = etrace_return_stack_top(&f->stack);
    if (implicit || flow_is_2_1(f)) {
        etrace_return_stack_pop(&f->stack);
        f->pops++;
    }
    f->irets += implicit;
    return implicit;
}

/*
 * Can the address be reached now? A packet that counts returns tells after
 * how many; chapter 11 of 2.0 compares the stack's depth.
 */
static inline bool may_stop(const Flow *f, const Goal *g)
{
    if (!g->on_path || f->branches != g->remain) {
        return false;
    }
    if (G_LIKELY(!g->irreport)) {
        return true;
    }
    return flow_is_2_1(f) ? f->irets >= g->ircount
                          : f->stack.depth == g->ircount;
}

/* Complete the end of a line whose last instruction crosses the page. */
static bool resolve_cross(Flow *f, uint64_t pc, CodeEnd *end)
{
    static const uint8_t kinds[] = {
        [INSN_SEQUENTIAL] = CODE_END_PAGE,
        [INSN_BRANCH] = CODE_END_BRANCH,
        [INSN_JUMP] = CODE_END_JUMP,
        [INSN_UPDISCON] = CODE_END_UPDISCON,
        [INSN_XRET] = CODE_END_XRET,
    };
    Insn insn;

    if (!image_insn(f->image, f->priv, pc, f->mask, &insn)) {
        return false;
    }
    end->kind = kinds[insn.kind];
    end->size = insn.size;
    end->itype = insn.itype;
    end->offset = insn.offset;
    return true;
}

WalkResult flow_walk(Flow *f, const Goal *g)
{
    FlowMark jumps, branches;
    uint64_t pc = f->pc, insns = 0;
    bool first = true;      /* pc itself was reported before */
    Line path = { .prev_known = f->prev_known, .prev = f->prev };

    f->prev_known = false;
    f->repeats_until = UINT64_MAX;
    flow_mark_init(&jumps);
    flow_mark_init(&branches);

    for (;;) {
        CodePage *page;
        const CodeSlot *slot;
        const CodeEnd *end;
        CodeEnd crossing;
        const uint8_t *code;
        uint64_t end_pc, behind, next;
        unsigned count, off = pc & CODE_PAGE_MASK;
        bool updiscon = false, jumped = false;

        image_trim(f->image);
        page = image_page(f->image, f->priv, pc);
        if (G_UNLIKELY(!page || off & 1)) {
            return walk_error(f, FLOW_LOST_CODE, pc);
        }
        slot = code_page_line(page, &f->image->isa, off);
        count = slot->count;
        if (G_UNLIKELY(!count)) {
            return walk_error(f, FLOW_LOST_CODE, pc);
        }
        end = &page->ends[slot->end];
        end_pc = (pc & ~(uint64_t)CODE_PAGE_MASK) | end->off;
        code = &page->bytes[off];
        path.pc = pc;
        path.code = code;
        path.count = count;

        if (may_stop(f, g) && g->address - pc <= end_pc - pc) {
            unsigned before = find_in_line(code, count, pc, g->address,
                                           &path.prev);

            if (before < count && !(first && !before)) {
                f->prev = path.prev;
                f->prev_known = before || path.prev_known;
                if (first) {
                    pc += flow_insn_length(code);
                    code += flow_insn_length(code);
                } else {
                    before++;
                }
                flow_emit(f, pc, code, before, ETRACE_ITYPE_NONE, 0);
                f->pc = g->address;
                return WALK_ON_PATH;
            }
        }

        if (first) {
            pc = (pc + flow_insn_length(code)) & f->mask;
            code += flow_insn_length(code);
            count--;
            first = false;
        }

        if (G_UNLIKELY(end->kind == CODE_END_CROSS)) {
            crossing = *end;
            if (!resolve_cross(f, end_pc, &crossing)) {
                flow_emit(f, pc, code, count ? count - 1 : 0,
                          ETRACE_ITYPE_NONE, 0);
                return walk_error(f, FLOW_LOST_CODE, end_pc);
            }
            end = &crossing;
        }

        behind = (end_pc + end->size) & f->mask;
        next = behind;
        switch (end->kind) {
        case CODE_END_BRANCH:
            if (G_UNLIKELY(g->last_branch && f->branches == 1)) {
                flow_emit(f, pc, code, count, ETRACE_ITYPE_NONE, 0);
                f->pc = end_pc;
                return WALK_LAST_BRANCH;
            }
            if (G_UNLIKELY(!f->branches || g->no_branches)) {
                flow_emit(f, pc, code, count, ETRACE_ITYPE_NONE, 0);
                f->pc = end_pc;
                return walk_error(f, FLOW_LOST_BRANCHES, 0);
            }
            if (pop_branch(f, end_pc)) {
                next = end_pc + end->offset;
                flow_emit(f, pc, code, count, ETRACE_ITYPE_TAKEN_BRANCH,
                     behind);
            } else {
                flow_emit(f, pc, code, count, ETRACE_ITYPE_NONTAKEN_BRANCH,
                     behind);
            }
            insns = 0;
            flow_mark_init(&jumps);
            if (G_UNLIKELY(!f->map_bits && f->branches > FLOW_REPEAT_MIN)) {
                flow_repeat(f, &branches, next & f->mask);
            }
            break;
        case CODE_END_JUMP:
            next = end_pc + end->offset;
            flow_emit(f, pc, code, count, end->itype, behind);
            jumped = true;
            break;
        case CODE_END_UPDISCON:
            if (infer_sijump(f, &path, end_pc, &next) ||
                (end->itype == ETRACE_ITYPE_RETURN &&
                 infer_return(f, g, &next))) {
                flow_emit(f, pc, code, count, end->itype, behind);
                jumped = true;
                break;
            }
            /* fall through */
        case CODE_END_XRET:
            f->pc = end_pc;
            if (G_UNLIKELY(!g->by_updiscon ||
                           (g->by_xret && end->kind != CODE_END_XRET))) {
                flow_emit(f, pc, code, count, ETRACE_ITYPE_NONE, 0);
                return walk_error(f, FLOW_LOST_UPDISCON, 0);
            }
            flow_emit(f, pc, code, count, end->itype, behind);
            next = g->address;
            updiscon = true;
            if (flow_mode(f, ETRACE_IOPT_JUMP_TARGET_CACHE)) {
                etrace_jump_cache_put(&f->cache, next & f->mask);
            }
            break;
        case CODE_END_PAGE:
            flow_emit(f, pc, code, count, ETRACE_ITYPE_NONE, 0);
            break;
        default:        /* CODE_END_MISSING */
            flow_emit(f, pc, code, count, ETRACE_ITYPE_NONE, 0);
            f->pc = end_pc;
            return walk_error(f, FLOW_LOST_CODE, end_pc);
        }

        if ((end->itype == ETRACE_ITYPE_INFERABLE_CALL ||
             end->itype == ETRACE_ITYPE_UNINFERABLE_CALL) &&
            flow_mode(f, ETRACE_IOPT_IMPLICIT_RETURN) && f->stack.max) {
            etrace_return_stack_push(&f->stack, behind);
            f->pushes++;
        }
        path.prev = end_pc;
        path.prev_known = end->kind == CODE_END_PAGE;

        pc = next & f->mask;
        if (updiscon) {
            f->pc = pc;
            f->priv = g->target_priv;
            flow_emit_one(f, pc);
            return WALK_UPDISCON;
        }
        f->pc = end_pc;
        insns += count;
        if (f->branches <= f->repeats_until) {
            f->steps += count;
        }
        if (G_UNLIKELY(f->stop && *f->stop)) {
            return WALK_ERROR;
        }
        if (G_UNLIKELY(f->steps > f->steps_max)) {
            return walk_error(f, FLOW_LOST_WORK, 0);
        }
        if (G_UNLIKELY(jumped && flow_endless(f, g, &jumps, pc)) ||
            G_UNLIKELY(insns > WALK_MAX_INSNS)) {
            return walk_error(f, FLOW_LOST_LOOP, 0);
        }
    }
}
