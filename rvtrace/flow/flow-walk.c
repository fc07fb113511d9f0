/*
 * Instruction flow: the path from one reported instruction to the next
 *
 * The pseudo code of chapter 11 goes instruction by instruction. Here a walk
 * goes line by line (code-page.h): a line's inner instructions cannot take
 * part in a decision, except that the address looked for may be among them.
 * And a way that was gone before needs no walk at all (flow-paths.h).
 *
 * jalr with rs1 = x0 is an uninferable jump here, not a sequential
 * instruction as in the text of 2.0.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "flow/flow-along.h"
#include "flow/flow-hurry.h"
#include "flow/flow-line.h"

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

/* Where does the uninferable jump that ends the line lead? */
static bool infer_sijump(Walk *w)
{
    uint64_t prev = w->prev;

    if (!flow_mode(w->f, ETRACE_IOPT_SIJUMP) || !w->end->upper) {
        return false;
    }
    if (w->count > 1) {
        find_in_line(w->code, w->count - 1, w->pc, w->end_pc, &prev);
    } else if (!w->prev_known) {
        return false;
    }
    return flow_sijump(w->f, prev, w->end_pc, &w->next);
}

/*
 * A return: does it go where the newest call said? Returns true and where. A
 * return that does not is counted by the packet that reports its target.
 */
static bool infer_return(Walk *w)
{
    Flow *f = w->f;
    const Goal *g = w->g;
    bool implicit;

    if (!flow_mode(f, ETRACE_IOPT_IMPLICIT_RETURN) || !f->stack.depth) {
        return false;
    }
    implicit = !(g->irreport && g->by_updiscon && f->branches == g->remain &&
                 g->ircount == (flow_is_2_1(f) ? f->irets : f->stack.depth));
    w->next = etrace_return_stack_top(&f->stack);
    if (implicit || flow_is_2_1(f)) {
        etrace_return_stack_pop(&f->stack);
        f->pops++;
    }
    f->irets += implicit;
    return implicit;
}

/*
 * Can the address be reached now? A packet that counts returns says after
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

/* The line's instructions, but for one that was reported before */
static inline void emit(Walk *w, unsigned count, uint8_t itype)
{
    uint64_t pc = w->pc;
    unsigned off = pc & CODE_PAGE_MASK;

    if (G_UNLIKELY(w->first)) {
        unsigned len = flow_insn_length(w->code);

        /* Of an instruction that crosses the page there is nothing behind. */
        off = MIN(off + len, CODE_PAGE_SIZE - 2);
        pc = (pc + len) & w->f->mask;
        count -= count > 0;
    }
    flow_emit(w->f, pc, &w->page->bytes[off], code_page_wide(w->page, off),
              count, itype, w->behind);
}

/* Look up the line at pc. Returns false if there is no code. */
static inline bool find_line(Walk *w)
{
    unsigned off = w->pc & CODE_PAGE_MASK;
    const CodeSlot *slot;

    if (G_UNLIKELY(w->vpage != w->pc >> CODE_PAGE_BITS || !w->page) &&
        !flow_line_turn_page(w)) {
        return false;
    }
    if (G_UNLIKELY(off & 1)) {
        return false;
    }
    slot = code_page_line(w->page, &w->f->image->isa, off);
    w->count = slot->count;
    if (G_UNLIKELY(!w->count)) {
        return false;
    }
    w->code = &w->page->bytes[off];
    w->end = &w->page->ends[slot->end];
    w->end_pc = (w->pc & ~(uint64_t)CODE_PAGE_MASK) | w->end->off;
    w->behind = (w->end_pc + w->end->size) & w->f->mask;
    return true;
}

/* Complete the end of a line whose last instruction crosses the page. */
static bool resolve_cross(Walk *w)
{
    static const uint8_t kinds[] = {
        [INSN_SEQUENTIAL] = CODE_END_PAGE,
        [INSN_BRANCH] = CODE_END_BRANCH,
        [INSN_JUMP] = CODE_END_JUMP,
        [INSN_UPDISCON] = CODE_END_UPDISCON,
        [INSN_XRET] = CODE_END_XRET,
    };
    Flow *f = w->f;
    uint64_t behind = (w->end_pc + 2) & f->mask;
    Insn insn;

    if (!image_insn(f->image, f->priv, w->end_pc, f->mask, &insn)) {
        return false;
    }
    if (w->keep) {
        flow_line_keep_page(w, behind >> CODE_PAGE_BITS,
                  image_page(f->image, f->priv, behind));
    }
    w->crossing = (CodeEnd) {
        .off = w->end->off,
        .kind = kinds[insn.kind],
        .size = insn.size,
        .itype = insn.itype,
        .upper = true,
        .offset = insn.offset,
    };
    w->end = &w->crossing;
    return true;
}

/* Is the address that the packet reports in this line? Then stop there. */
static bool stop_in_line(Walk *w)
{
    Flow *f = w->f;
    unsigned before;

    if (w->g->address - w->pc > w->end_pc - w->pc) {
        return false;
    }
    before = find_in_line(w->code, w->count, w->pc, w->g->address, &w->prev);
    if (before == w->count || (w->first && !before)) {
        return false;
    }
    f->prev = w->prev;
    f->prev_known = before || w->prev_known;
    emit(w, before + 1, ETRACE_ITYPE_NONE);
    f->pc = w->g->address;
    return true;
}

/* Stop at the line's end: nobody knows how that is left. */
static WalkResult stop_at_end(Walk *w)
{
    emit(w, w->count, ETRACE_ITYPE_NONE);
    w->f->pc = w->end_pc;
    return WALK_LAST_BRANCH;
}

static bool pass_branch(Walk *w)
{
    Flow *f = w->f;
    bool taken;

    if (G_UNLIKELY(!f->branches || w->g->no_branches)) {
        stop_at_end(w);
        walk_error(f, FLOW_LOST_BRANCHES, 0);
        return false;
    }
    taken = pop_branch(f, w->end_pc);
    if (w->keep) {
        flow_line_keep_branch(w, w->end_pc);
    }
    w->next = taken ? w->end_pc + w->end->offset : w->behind;
    emit(w, w->count, taken ? ETRACE_ITYPE_TAKEN_BRANCH
                            : ETRACE_ITYPE_NONTAKEN_BRANCH);
    w->insns = 0;
    flow_mark_init(&w->jumps);
    if (G_UNLIKELY(!f->map_bits && f->branches > FLOW_REPEAT_MIN)) {
        flow_repeat(f, &w->branches, w->next & f->mask);
    }
    if (w->keep && f->branches == w->g->remain) {
        w->path.tail = f->nr_runs;
    }
    return true;
}

static inline void push_call(Walk *w)
{
    flow_push_call(w->f, w->end->itype, w->behind);
}

/*
 * Remember a path that ends behind the runs that are there now, unless calls
 * and returns on it move the stack, or its end might be inferred.
 */
static void keep_path(Walk *w)
{
    Flow *f = w->f;
    FlowPath *path = &w->path;

    if (w->keep && f->flushes == w->flushes &&
        f->pushes + f->pops == w->moves &&
        !(w->end->upper && flow_mode(f, ETRACE_IOPT_SIJUMP))) {
        path->nr_runs = f->nr_runs;
        path->insns = f->run_insns;
        path->end_pc = w->end_pc;
        path->end_kind = w->end->kind;
        path->end_itype = w->end->itype;
        path->behind = w->behind;
        flow_paths_add(f, path);
    }
}

/* An uninferable jump, which is the end of the walk, or must not be */
static WalkResult end_by_updiscon(Walk *w)
{
    Flow *f = w->f;
    const Goal *g = w->g;

    f->pc = w->end_pc;
    if (G_UNLIKELY(!g->by_updiscon ||
                   (g->by_xret && w->end->kind != CODE_END_XRET))) {
        emit(w, w->count, ETRACE_ITYPE_NONE);
        return walk_error(f, FLOW_LOST_UPDISCON, 0);
    }
    emit(w, w->count, w->end->itype);
    if (f->branches == g->remain) {
        keep_path(w);
    }
    push_call(w);
    return flow_arrive(f, g);
}

/* Has the walk gone on for too long, at the end of a line? */
static bool go_on(Walk *w)
{
    Flow *f = w->f;
    unsigned count = w->count - w->first;

    w->prev = w->end_pc;
    w->prev_known = w->end->kind == CODE_END_PAGE;
    w->pc = w->next & f->mask;
    w->first = false;
    f->pc = w->end_pc;
    w->insns += count;
    if (f->branches <= f->repeats_until) {
        f->steps += count;
    }
    if (G_UNLIKELY(f->stop && *f->stop)) {
        return false;
    }
    if (G_UNLIKELY(f->steps > f->steps_max)) {
        walk_error(f, FLOW_LOST_WORK, 0);
        return false;
    }
    if (G_UNLIKELY(w->jumped && flow_endless(f, w->g, &w->jumps, w->pc)) ||
        G_UNLIKELY(w->insns > WALK_MAX_INSNS)) {
        walk_error(f, FLOW_LOST_LOOP, 0);
        return false;
    }
    return true;
}

static WalkResult walk_lines(Walk *w)
{
    Flow *f = w->f;
    const Goal *g = w->g;

    do {
        if (f->branches > g->remain + 1 && !w->first) {
            flow_walk_hurry(w);
        }
        if (G_UNLIKELY(!find_line(w))) {
            return walk_error(f, FLOW_LOST_CODE, w->pc);
        }
        if (may_stop(f, g) && stop_in_line(w)) {
            return WALK_ON_PATH;
        }
        if (G_UNLIKELY(w->end->kind == CODE_END_CROSS) && !resolve_cross(w)) {
            emit(w, w->count - 1, ETRACE_ITYPE_NONE);
            return walk_error(f, FLOW_LOST_CODE, w->end_pc);
        }
        w->jumped = false;
        switch (w->end->kind) {
        case CODE_END_BRANCH:
            if (G_UNLIKELY(g->last_branch && f->branches == 1)) {
                WalkResult result = stop_at_end(w);

                keep_path(w);
                return result;
            }
            if (!pass_branch(w)) {
                return WALK_ERROR;
            }
            break;
        case CODE_END_JUMP:
            emit(w, w->count, w->end->itype);
            w->next = w->end_pc + w->end->offset;
            w->jumped = true;
            push_call(w);
            break;
        case CODE_END_UPDISCON:
            if (!infer_sijump(w) && !(w->end->itype == ETRACE_ITYPE_RETURN &&
                                      infer_return(w))) {
                return end_by_updiscon(w);
            }
            emit(w, w->count, w->end->itype);
            w->jumped = true;
            w->keep = false;
            push_call(w);
            break;
        case CODE_END_XRET:
            return end_by_updiscon(w);
        case CODE_END_PAGE:
            emit(w, w->count, ETRACE_ITYPE_NONE);
            w->next = w->behind;
            break;
        default:        /* CODE_END_MISSING */
            stop_at_end(w);
            return walk_error(f, FLOW_LOST_CODE, w->end_pc);
        }
    } while (go_on(w));
    return WALK_ERROR;
}

WalkResult flow_walk(Flow *f, const Goal *g)
{
    Walk w;

    w.keep = flow_may_keep(f, g);
    if (w.keep) {
        unsigned passed = f->branches - MAX(g->remain, g->last_branch);
        WalkResult result = flow_walk_path(f, g);

        if (result != WALK_ERROR) {
            return result;
        }
        flow_flush(f);
        w.flushes = f->flushes;
        w.moves = f->pushes + f->pops;
        w.passed = 0;
        w.path.pc = f->pc;
        w.path.map = f->branch_map & ((1ull << passed) - 1);
        w.path.branches = passed;
        w.path.priv = f->priv;
        w.path.tail = 0;
        w.path.nr_pages = 0;
    }
    w.f = f;
    w.g = g;
    w.page = NULL;
    w.vpage = 0;
    w.pc = f->pc;
    w.first = true;
    w.prev_known = f->prev_known;
    w.prev = f->prev;
    w.insns = 0;
    f->prev_known = false;
    f->repeats_until = UINT64_MAX;
    flow_mark_init(&w.jumps);
    flow_mark_init(&w.branches);
    return walk_lines(&w);
}
