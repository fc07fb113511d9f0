/*
 * Instruction flow: from te_inst packets to executed instructions
 *
 * The pseudo code of chapter 11 goes instruction by instruction. Here a walk
 * goes line by line (code-page.h): a line's inner instructions cannot take
 * part in a decision, except that the address looked for may be among them.
 *
 * Where this differs from the text of 2.0:
 *  - A start packet after a trap with thaddr 0 is the handler's first
 *    instruction; no path leads there.
 *  - jalr with rs1 = x0 is an uninferable jump, not sequential.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "flow.h"

#define IOPT_UNSUPPORTED (ETRACE_IOPT_IMPLICIT_RETURN | \
                          ETRACE_IOPT_IMPLICIT_EXCEPT | \
                          ETRACE_IOPT_JUMP_TARGET_CACHE | \
                          ETRACE_IOPT_BRANCH_PREDICTION)

/* Straight through more code than this without a branch: cannot be. */
#define WALK_MAX_INSNS  (64u << 20)

/* What a walk from one reported instruction to the next looks for. */
typedef struct Goal {
    uint64_t address;
    /* stop where the path comes to address with all branches processed */
    bool on_path;
    /* an uninferable jump leads to address, and ends the walk */
    bool by_updiscon;
    /* ... but it must be a return from a trap */
    bool by_xret;
    /* stop at the last branch; whether it is left is not known yet */
    bool last_branch;
    /* no branches can be on the way */
    bool no_branches;
    uint8_t target_priv;    /* privilege at the target of the jump */
    /* branches that remain when address is reached: 1 if it is a branch */
    unsigned remain;
} Goal;

typedef enum WalkResult {
    WALK_ERROR,
    WALK_ON_PATH,
    WALK_UPDISCON,
    WALK_LAST_BRANCH,
} WalkResult;

static const uint8_t no_code[2];

void flow_init(Flow *f, const ETraceParams *params, Image *image,
               const FlowOps *ops, void *opaque,
               FlowLossFn *loss, void *loss_opaque)
{
    *f = (Flow) {
        .params = params,
        .image = image,
        .ops = ops,
        .opaque = opaque,
        .loss = loss,
        .loss_opaque = loss_opaque,
        .mask = params->iaddress_width == 32 ? UINT32_MAX : UINT64_MAX,
    };
}

const char *flow_loss_text(FlowLossKind kind)
{
    static const char *const texts[] = {
        [FLOW_LOST_MALFORMED] = "malformed packet",
        [FLOW_LOST_IN_BAND] = "the encoder lost packets (trace_lost)",
        [FLOW_LOST_FRAMING] = "bytes that are no packets",
        [FLOW_LOST_CODE] = "no code known at",
        [FLOW_LOST_BRANCHES] = "reported branches do not fit the code",
        [FLOW_LOST_UPDISCON] = "uninferable jump where none can be",
        [FLOW_LOST_LOOP] = "the code never leads to the reported address",
        [FLOW_LOST_ORDER] = "packet cannot stand here",
        [FLOW_LOST_UNSUPPORTED] = "unsupported encoder mode",
    };

    return texts[kind];
}

static void lose(Flow *f, FlowLossKind kind, uint64_t address)
{
    FlowLoss loss = {
        .kind = kind,
        .pc_known = f->started,
        .pc = f->pc,
        .address = address,
    };

    if (f->started && f->ops->window_end) {
        f->ops->window_end(f->opaque, FLOW_WINDOW_LOSS);
    }
    f->started = false;
    f->inferred = false;
    f->trap_pending = false;
    f->waiting = true;
    f->loss(f->loss_opaque, &loss);
}

void flow_gap(Flow *f, FlowLossKind kind)
{
    lose(f, kind, 0);
}

static WalkResult walk_error(Flow *f, FlowLossKind kind, uint64_t address)
{
    lose(f, kind, address);
    return WALK_ERROR;
}

/* Control leaves the last reported instruction, and with it this run. */
static inline void emit(Flow *f, uint64_t pc, const uint8_t *code,
                        unsigned count, uint8_t itype, uint64_t end)
{
    FlowRun run = {
        .pc = pc,
        .code = code,
        .end = end,
        .count = count,
        .priv = f->priv,
        .itype = itype,
    };

    f->ops->run(f->opaque, &run);
}

/* One instruction; what follows it is not known yet. */
static void emit_one(Flow *f, uint64_t pc)
{
    CodePage *page = image_page(f->image, f->priv, pc);

    emit(f, pc, page ? &page->bytes[pc & CODE_PAGE_MASK & ~1u] : no_code, 1,
         ETRACE_ITYPE_NONE, 0);
}

static bool is_branch_at(Flow *f, unsigned priv, uint64_t pc)
{
    Insn insn;

    return image_insn(f->image, priv, pc, f->mask, &insn) &&
           insn.kind == INSN_BRANCH;
}

static bool pop_branch(Flow *f)
{
    bool taken = !(f->branch_map & 1);

    f->branch_map >>= 1;
    f->branches--;
    return taken;
}

/*
 * Number of instructions before @address in the @count ones at @code, whose
 * first one is at @pc; @count if it is not the address of one of them.
 */
static unsigned find_in_line(const uint8_t *code, unsigned count,
                             uint64_t pc, uint64_t address)
{
    unsigned i;

    for (i = 0; i < count && pc != address; i++) {
        unsigned len = flow_insn_length(code);

        pc += len;
        code += len;
    }
    return i;
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

/*
 * Follow the path from f->pc, which was reported already, to @g. On return,
 * f->pc is the last instruction that was reported.
 */
static WalkResult walk(Flow *f, const Goal *g)
{
    /* Brent's algorithm: a pc seen again without a branch is a loop. */
    uint64_t mark = 0, insns = 0;
    unsigned jumps = 0, next_mark = 1;
    uint64_t pc = f->pc;
    bool first = true;      /* pc itself was reported before */

    for (;;) {
        CodePage *page = image_page(f->image, f->priv, pc);
        const CodeSlot *line;
        const CodeEnd *end;
        CodeEnd crossing;
        const uint8_t *code;
        uint64_t end_pc, behind, next;
        unsigned count, off = pc & CODE_PAGE_MASK;
        bool updiscon = false;

        if (G_UNLIKELY(!page || off & 1)) {
            return walk_error(f, FLOW_LOST_CODE, pc);
        }
        line = code_page_line(page, &f->image->isa, off);
        count = line->count;
        if (G_UNLIKELY(!count)) {
            return walk_error(f, FLOW_LOST_CODE, pc);
        }
        end = &page->ends[line->end];
        end_pc = (pc & ~(uint64_t)CODE_PAGE_MASK) | end->off;
        code = &page->bytes[off];

        if (g->on_path && f->branches == g->remain &&
            g->address - pc <= end_pc - pc) {
            unsigned before = find_in_line(code, count, pc, g->address);

            if (before < count && !(first && !before)) {
                if (first) {
                    pc += flow_insn_length(code);
                    code += flow_insn_length(code);
                } else {
                    before++;
                }
                emit(f, pc, code, before, ETRACE_ITYPE_NONE, 0);
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
                emit(f, pc, code, count ? count - 1 : 0, ETRACE_ITYPE_NONE, 0);
                return walk_error(f, FLOW_LOST_CODE, end_pc);
            }
            end = &crossing;
        }

        behind = (end_pc + end->size) & f->mask;
        next = behind;
        switch (end->kind) {
        case CODE_END_BRANCH:
            if (G_UNLIKELY(g->last_branch && f->branches == 1)) {
                emit(f, pc, code, count, ETRACE_ITYPE_NONE, 0);
                f->pc = end_pc;
                return WALK_LAST_BRANCH;
            }
            if (G_UNLIKELY(!f->branches || g->no_branches)) {
                emit(f, pc, code, count, ETRACE_ITYPE_NONE, 0);
                f->pc = end_pc;
                return walk_error(f, FLOW_LOST_BRANCHES, 0);
            }
            if (pop_branch(f)) {
                next = end_pc + end->offset;
                emit(f, pc, code, count, ETRACE_ITYPE_TAKEN_BRANCH,
                     behind);
            } else {
                emit(f, pc, code, count, ETRACE_ITYPE_NONTAKEN_BRANCH,
                     behind);
            }
            insns = 0;
            jumps = 0;
            next_mark = 1;
            break;
        case CODE_END_JUMP:
            next = end_pc + end->offset;
            emit(f, pc, code, count, end->itype, behind);
            if (jumps && next == mark) {
                f->pc = end_pc;
                return walk_error(f, FLOW_LOST_LOOP, 0);
            }
            if (++jumps == next_mark) {
                mark = next;
                next_mark *= 2;
            }
            break;
        case CODE_END_UPDISCON:
        case CODE_END_XRET:
            f->pc = end_pc;
            if (G_UNLIKELY(!g->by_updiscon ||
                           (g->by_xret && end->kind != CODE_END_XRET))) {
                emit(f, pc, code, count, ETRACE_ITYPE_NONE, 0);
                return walk_error(f, FLOW_LOST_UPDISCON, 0);
            }
            emit(f, pc, code, count, end->itype, behind);
            next = g->address;
            updiscon = true;
            break;
        case CODE_END_PAGE:
            emit(f, pc, code, count, ETRACE_ITYPE_NONE, 0);
            break;
        default:        /* CODE_END_MISSING */
            emit(f, pc, code, count, ETRACE_ITYPE_NONE, 0);
            f->pc = end_pc;
            return walk_error(f, FLOW_LOST_CODE, end_pc);
        }

        pc = next & f->mask;
        f->pc = pc;
        if (updiscon) {
            f->priv = g->target_priv;
            emit_one(f, pc);
            return WALK_UPDISCON;
        }
        insns += count;
        if (G_UNLIKELY(insns > WALK_MAX_INSNS)) {
            return walk_error(f, FLOW_LOST_LOOP, 0);
        }
    }
}

/* All branches must be processed, except that of the instruction at pc. */
static bool check_branches(Flow *f, unsigned remain)
{
    if (f->branches != remain) {
        lose(f, FLOW_LOST_BRANCHES, 0);
        return false;
    }
    return true;
}

/*
 * The address reported last was found on the path, but the instruction meant
 * is the second visit, after the next uninferable jump (section 6.6.2).
 */
static bool walk_inferred(Flow *f)
{
    Goal goal = {
        .address = f->pc,
        .by_updiscon = true,
        .no_branches = true,
        .target_priv = f->priv,
    };

    f->inferred = false;
    return walk(f, &goal) == WALK_UPDISCON;
}

static void start_window(Flow *f, uint64_t pc)
{
    if (!f->started && f->ops->window_start) {
        f->ops->window_start(f->opaque, pc);
    }
    f->started = true;
    f->waiting = false;
}

/*
 * The path from the last instruction is not followed any further. If it is a
 * jump, then it was left as one nevertheless: what comes next is its target,
 * or a trap there.
 */
static void leave(Flow *f)
{
    Insn insn;

    if (f->started && !f->trap_pending &&
        image_insn(f->image, f->priv, f->pc, f->mask, &insn) &&
        insn.kind != INSN_SEQUENTIAL && insn.kind != INSN_BRANCH) {
        emit(f, f->pc, no_code, 0, insn.itype, f->pc + insn.size);
    }
}

/* An instruction whose address a packet reports in full, out of the blue */
static void jump_to(Flow *f, const ETracePacket *pkt)
{
    f->inferred = false;
    f->trap_pending = false;
    f->address = pkt->address;
    f->priv = pkt->privilege;
    f->pc = pkt->address;
    f->branches = is_branch_at(f, f->priv, f->pc);
    f->branch_map = f->branches && pkt->branch;
    start_window(f, f->pc);
    emit_one(f, f->pc);
}

static bool process_start(Flow *f, const ETracePacket *pkt)
{
    Goal goal = {
        .address = pkt->address,
        /* before a change of privilege, the same address is another place */
        .on_path = pkt->privilege == f->priv,
        .by_updiscon = true,
        .by_xret = pkt->privilege != f->priv,
        .target_priv = pkt->privilege,
    };

    if (!f->started || f->trap_pending) {
        jump_to(f, pkt);
        return true;
    }
    f->inferred = false;
    f->address = pkt->address;
    goal.remain = is_branch_at(f, pkt->privilege, pkt->address);
    f->branch_map |= (uint64_t)(goal.remain && pkt->branch) << f->branches;
    f->branches += goal.remain;
    if (walk(f, &goal) == WALK_ERROR || !check_branches(f, goal.remain)) {
        /* what is between is lost, but this packet has all to go on */
        jump_to(f, pkt);
        return false;
    }
    return true;
}

/*
 * Where a trap hit: behind the last instruction that retired. A branch bit
 * that is left belongs to that instruction.
 */
static bool infer_epc(Flow *f, uint64_t *epc)
{
    Insn insn;

    if (!f->started || f->trap_pending ||
        !image_insn(f->image, f->priv, f->pc, f->mask, &insn)) {
        return false;
    }
    switch (insn.kind) {
    case INSN_BRANCH:
        if (!f->branches) {
            return false;
        }
        *epc = f->pc + (f->branch_map & 1 ? insn.size : insn.offset);
        break;
    case INSN_JUMP:
        *epc = f->pc + insn.offset;
        break;
    case INSN_SEQUENTIAL:
        *epc = f->pc + insn.size;
        break;
    default:
        return false;
    }
    *epc &= f->mask;
    return true;
}

static bool process_trap(Flow *f, const ETracePacket *pkt)
{
    FlowTrap trap = {
        .interrupt = pkt->interrupt,
        .cause = pkt->ecause,
        .priv = f->started && pkt->thaddr ? f->priv : pkt->privilege,
        .tval = pkt->tval,
    };

    if (pkt->thaddr) {
        trap.epc_known = infer_epc(f, &trap.epc);
    } else {
        trap.epc_known = true;
        trap.epc = pkt->address;
    }
    leave(f);
    if (f->ops->trap) {
        f->ops->trap(f->opaque, &trap);
    }
    if (pkt->thaddr) {
        jump_to(f, pkt);
        return true;
    }
    /* Nothing retired; the handler, or the next trap, comes next. */
    f->inferred = false;
    f->trap_pending = true;
    f->waiting = false;
    f->branches = 0;
    f->branch_map = 0;
    return true;
}

static bool process_support(Flow *f, const ETracePacket *pkt)
{
    bool ok = true;

    f->ioptions = pkt->ioptions;
    f->unsupported = (pkt->ioptions & IOPT_UNSUPPORTED) || pkt->encoder_mode;
    if (pkt->qual_status == ETRACE_QUAL_ENDED_NTR && f->inferred) {
        ok = walk_inferred(f);
    }
    if (pkt->qual_status == ETRACE_QUAL_TRACE_LOST) {
        lose(f, FLOW_LOST_IN_BAND, 0);
        ok = false;
    } else if (pkt->qual_status != ETRACE_QUAL_NO_CHANGE) {
        leave(f);
        if (f->started && f->ops->window_end) {
            f->ops->window_end(f->opaque, FLOW_WINDOW_QUAL);
        }
        f->started = false;
        f->inferred = false;
        f->trap_pending = false;
    }
    if (f->unsupported) {
        lose(f, FLOW_LOST_UNSUPPORTED, 0);
        ok = false;
    }
    return ok;
}

/* Formats 1 and 2 */
static bool process_delta(Flow *f, const ETracePacket *pkt)
{
    Goal goal = { .target_priv = f->priv };

    if (etrace_packet_has_address(pkt)) {
        if (f->ioptions & ETRACE_IOPT_FULL_ADDRESS) {
            f->address = pkt->address;
        } else {
            f->address += pkt->address;
        }
        f->address &= f->mask;
        goal.address = f->address;
        goal.on_path = !pkt->updiscon;
        goal.by_updiscon = !pkt->notify;
    } else {
        goal.last_branch = true;
    }
    if (f->inferred && !walk_inferred(f)) {
        return false;
    }
    f->branch_map |= (uint64_t)pkt->branch_map << f->branches;
    f->branches += etrace_packet_branches(pkt);
    f->branch_map &= (1ull << f->branches) - 1;

    if (!goal.last_branch) {
        goal.remain = is_branch_at(f, f->priv, goal.address);
    }
    switch (walk(f, &goal)) {
    case WALK_ON_PATH:
        /*
         * Not an uninferable jump's target, unless that is what a second
         * visit turns out to be: the next packet tells.
         */
        f->inferred = !pkt->notify;
        return true;
    case WALK_UPDISCON:
        return check_branches(f, goal.remain);
    case WALK_LAST_BRANCH:
        return true;
    default:
        return false;
    }
}

bool flow_packet(Flow *f, const ETracePacket *pkt)
{
    if (pkt->format == ETRACE_FORMAT_SYNC &&
        pkt->subformat == ETRACE_SYNC_SUPPORT) {
        return process_support(f, pkt);
    }
    if (f->unsupported) {
        f->skipped++;
        return true;
    }
    if (pkt->format == ETRACE_FORMAT_SYNC) {
        switch (pkt->subformat) {
        case ETRACE_SYNC_START:
            return process_start(f, pkt);
        case ETRACE_SYNC_TRAP:
            return process_trap(f, pkt);
        default:                    /* context: nothing to follow */
            return true;
        }
    }
    if (!f->started && f->waiting) {
        f->skipped++;
        return true;
    }
    if (!f->started || f->trap_pending) {
        lose(f, FLOW_LOST_ORDER, 0);
        return false;
    }
    if (pkt->format == ETRACE_FORMAT_OPT_EXT) {
        lose(f, FLOW_LOST_UNSUPPORTED, 0);
        return false;
    }
    return process_delta(f, pkt);
}
