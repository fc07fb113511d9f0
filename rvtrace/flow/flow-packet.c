/*
 * Instruction flow: from te_inst packets to executed instructions
 *
 * Branch predictor, jump target cache and implicit returns are those of
 * chapter 3 and of the pseudo code in the draft 2.0.5, which 2.0 leaves out.
 *
 * Where this differs from the text of 2.0: a start packet after a trap with
 * thaddr 0 is the handler's first instruction; no path leads there.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "flow/flow-paths.h"
#include "flow/flow-private.h"

#define CAUSE_ILLEGAL_INSTRUCTION   2

void flow_init_history(Flow *f)
{
    etrace_return_stack_init(&f->stack, &f->params);
    etrace_predictor_init(&f->predictor, &f->params);
    etrace_jump_cache_init(&f->cache, &f->params);
}

/*
 * A synchronisation packet, at the start of a window or within one. There, a
 * draft 2.1 encoder that does not resynchronise goes on with what it had.
 */
static void sync_history(Flow *f, bool within)
{
    if (within && f->keep_history) {
        return;
    }
    etrace_return_stack_reset(&f->stack);
    etrace_predictor_reset(&f->predictor);
    etrace_jump_cache_reset(&f->cache);
}

void flow_init(Flow *f, const ETraceParams *params, Image *image,
               const FlowOps *ops, void *opaque,
               FlowLossFn *loss, void *loss_opaque)
{
    *f = (Flow) {
        .params = *params,
        .image = image,
        .ops = ops,
        .opaque = opaque,
        .loss = loss,
        .loss_opaque = loss_opaque,
        .mask = params->iaddress_width == 32 ? UINT32_MAX : UINT64_MAX,
        .steps_max = UINT64_MAX,
    };
    /* A support packet reports them. */
    f->params.ioptions = 0;
    f->params.doptions = 0;
    flow_init_history(f);
}

static bool is_branch_at(Flow *f, unsigned priv, uint64_t pc)
{
    CodePage *page = image_page(f->image, priv, pc);
    unsigned off = pc & CODE_PAGE_MASK;
    const CodeSlot *slot;
    Insn insn;

    if (!page || off & 1) {
        return false;
    }
    /* A branch ends its line, so it is the only one of the line there. */
    slot = code_page_line(page, &f->image->isa, off);
    if (slot->count != 1) {
        return false;
    }
    if (page->ends[slot->end].kind != CODE_END_CROSS) {
        return page->ends[slot->end].kind == CODE_END_BRANCH;
    }
    return image_insn(f->image, priv, pc, f->mask, &insn) &&
           insn.kind == INSN_BRANCH;
}

/* All branches must be processed, except that of the instruction at pc. */
static bool check_branches(Flow *f, unsigned remain)
{
    if (f->branches != remain) {
        flow_lose(f, FLOW_LOST_BRANCHES, 0);
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
    return flow_walk(f, &goal) == WALK_UPDISCON;
}

static void start_window(Flow *f, uint64_t pc)
{
    if (!f->started && f->ops->window_start) {
        flow_flush(f);
        f->ops->window_start(f->opaque, pc);
    }
    if (!f->started && f->ends) {
        f->ends->calls = 0;
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
    uint64_t target;
    Insn insn;

    if (!f->started || f->trap_pending ||
        !image_insn(f->image, f->priv, f->pc, f->mask, &insn) ||
        insn.kind == INSN_SEQUENTIAL) {
        return;
    }
    if (insn.kind == INSN_BRANCH) {
        if (f->map_bits && flow_mode(f, ETRACE_IOPT_BRANCH_PREDICTION)) {
            etrace_predictor_learn(&f->predictor, f->pc,
                                   !(f->branch_map & 1));
        }
        return;
    }
    flow_emit_end(f, insn.itype, f->pc + insn.size);
    if (!f->keep_history || !flow_mode(f, ETRACE_IOPT_IMPLICIT_RETURN)) {
        return;
    }
    if (insn.itype == ETRACE_ITYPE_RETURN && f->stack.depth &&
        !(f->prev_known && flow_sijump(f, f->prev, f->pc, &target))) {
        etrace_return_stack_pop(&f->stack);
    } else if (insn.itype == ETRACE_ITYPE_INFERABLE_CALL ||
               insn.itype == ETRACE_ITYPE_UNINFERABLE_CALL) {
        etrace_return_stack_push(&f->stack, (f->pc + insn.size) & f->mask);
    }
}

/* An instruction whose address a packet reports in full, out of the blue */
static void jump_to(Flow *f, const ETracePacket *pkt, uint64_t address)
{
    sync_history(f, f->started);
    f->inferred = false;
    f->trap_pending = false;
    f->address = address;
    f->priv = pkt->privilege;
    f->pc = address;
    f->prev_known = false;
    f->branches = is_branch_at(f, f->priv, f->pc);
    f->map_bits = f->branches;
    f->branch_map = f->branches && pkt->branch;
    start_window(f, f->pc);
    f->handler_pending = f->params.wire_format == ETRACE_WIRE_1_1_1 &&
                         pkt->subformat == ETRACE_SYNC_TRAP;
    if (!f->handler_pending) {
        flow_emit_one(f, f->pc);
    }
}

/*
 * Draft 1.1.1: "trap handler address" is all that a trap packet reports. If
 * the handler's first instruction did not retire, because of another trap, a
 * support packet that changes nothing stands between the two and signals it.
 */
static void find_fault(Flow *f, const ETracePacket *pkt)
{
    if (pkt->format == ETRACE_FORMAT_SYNC &&
        pkt->subformat == ETRACE_SYNC_SUPPORT &&
        pkt->qual_status == ETRACE_QUAL_NO_CHANGE) {
        f->handler_faulted |= pkt->ioptions == f->params.ioptions;
        return;
    }
    f->handler_pending = false;
    if (pkt->format == ETRACE_FORMAT_SYNC &&
        pkt->subformat == ETRACE_SYNC_SUPPORT &&
        pkt->qual_status == ETRACE_QUAL_TRACE_LOST) {
        return;             /* who knows? */
    }
    if (!f->handler_faulted) {
        flow_emit_one(f, f->pc);
    }
    f->handler_faulted &= pkt->format == ETRACE_FORMAT_SYNC &&
                          pkt->subformat == ETRACE_SYNC_TRAP;
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
    bool repeated;

    if (!f->started || f->trap_pending) {
        jump_to(f, pkt, pkt->address);
        return true;
    }
    repeated = f->resync_repeats && f->inferred && goal.on_path &&
               pkt->address == f->pc;
    f->inferred = false;
    f->address = pkt->address;
    goal.remain = is_branch_at(f, pkt->privilege, pkt->address);
    if (repeated && f->branches == goal.remain) {
        /* Its branch, if it is one, has been reported. */
        sync_history(f, true);
        return true;
    }
    f->branch_map |= (uint64_t)(goal.remain && pkt->branch) << f->map_bits;
    f->map_bits += goal.remain;
    f->branches += goal.remain;
    if (flow_walk(f, &goal) == WALK_ERROR || !check_branches(f, goal.remain)) {
        /* what is between is lost, but this packet has all to go on */
        jump_to(f, pkt, pkt->address);
        return false;
    }
    sync_history(f, true);
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
        if (f->prev_known && flow_sijump(f, f->prev, f->pc, epc)) {
            return true;
        }
        if (insn.itype != ETRACE_ITYPE_RETURN || !f->stack.depth ||
            !flow_mode(f, ETRACE_IOPT_IMPLICIT_RETURN) ||
            f->params.wire_format == ETRACE_WIRE_1_1_1) {
            /* 1.1.1: thaddr 1 does not mean that it can be inferred. */
            return false;
        }
        *epc = etrace_return_stack_top(&f->stack);
        break;
    }
    *epc &= f->mask;
    return true;
}

/*
 * Where the trap handler is, if the packet does not say: at xtvec, or in the
 * vector there for interrupts.
 */
static bool find_handler(Flow *f, const ETracePacket *pkt, uint64_t *address)
{
    uint64_t xtvec;

    if (etrace_packet_trap_has_address(&f->params, pkt)) {
        *address = pkt->address;
        return true;
    }
    if (!f->tvec || !f->tvec(f->tvec_opaque, pkt->privilege, &xtvec)) {
        return false;
    }
    *address = xtvec & ~(uint64_t)3;
    if (pkt->interrupt && (xtvec & 3) == 1) {
        *address += 4 * (uint64_t)pkt->ecause;
    }
    *address &= f->mask;
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
    uint64_t handler = 0;

    if (f->handler_faulted) {
        trap.epc_known = true;
        trap.epc = f->pc;
    } else if (pkt->thaddr) {
        trap.epc_known = infer_epc(f, &trap.epc);
    } else {
        trap.epc_known = true;
        trap.epc = pkt->address;
    }
    if (f->params.wire_format == ETRACE_WIRE_1_1_1 && !pkt->interrupt &&
        pkt->ecause == CAUSE_ILLEGAL_INSTRUCTION) {
        /* tvalepc */
        trap.epc_known = true;
        trap.epc = pkt->tval;
        trap.tval = 0;
    }
    if (!f->handler_faulted) {
        leave(f);
    }
    f->handler_faulted = false;
    if (f->ops->trap) {
        flow_flush(f);
        f->ops->trap(f->opaque, &trap);
    }
    if (pkt->thaddr) {
        if (!find_handler(f, pkt, &handler)) {
            flow_lose(f, FLOW_LOST_TVEC, 0);
            return false;
        }
        jump_to(f, pkt, handler);
        return true;
    }
    /* Nothing retired; the handler, or the next trap, comes next. */
    f->inferred = false;
    f->trap_pending = true;
    f->waiting = false;
    f->branches = 0;
    f->map_bits = 0;
    f->branch_map = 0;
    return true;
}

/* Does a mode need something that there is not, by the parameters? */
static bool modes_supported(const Flow *f)
{
    return (f->stack.max || !flow_mode(f, ETRACE_IOPT_IMPLICIT_RETURN)) &&
           (f->params.bpred_size ||
            !flow_mode(f, ETRACE_IOPT_BRANCH_PREDICTION)) &&
           (f->params.cache_size ||
            !flow_mode(f, ETRACE_IOPT_JUMP_TARGET_CACHE));
}

static bool process_support(Flow *f, const ETracePacket *pkt)
{
    ETraceParams before = f->params;
    bool ok = true;

    if (pkt->qual_status == ETRACE_QUAL_ENDED_NTR && f->inferred) {
        ok = walk_inferred(f);
    }
    if (pkt->qual_status == ETRACE_QUAL_TRACE_LOST) {
        flow_lose(f, FLOW_LOST_IN_BAND, 0);
        ok = false;
    } else if (pkt->qual_status != ETRACE_QUAL_NO_CHANGE) {
        leave(f);
        /* In the window, there may have been nothing but a trap. */
        if ((f->started || f->trap_pending) && f->ops->window_end) {
            flow_flush(f);
            f->ops->window_end(f->opaque, FLOW_WINDOW_QUAL);
        }
        f->started = false;
        f->inferred = false;
        f->trap_pending = false;
    }
    f->disabled = !pkt->ienable;
    f->unsupported = pkt->encoder_mode ||
                     !etrace_params_follow(&f->params, pkt);
    if (before.return_stack_size != f->params.return_stack_size ||
        before.call_counter_size != f->params.call_counter_size ||
        before.bpred_size != f->params.bpred_size ||
        before.cache_size != f->params.cache_size) {
        flow_init_history(f);
    }
    if (f->paths && before.ioptions != f->params.ioptions) {
        flow_paths_forget(f->paths);
    }
    f->keep_history = flow_is_2_1(f) && pkt->resync_disabled;
    f->unsupported |= !modes_supported(f);
    if (f->unsupported) {
        flow_lose(f, FLOW_LOST_UNSUPPORTED, 0);
        ok = false;
    }
    return ok;
}

/* Branches that a packet of format 0, 1 or 2 reports */
static bool take_branches(Flow *f, const ETracePacket *pkt)
{
    unsigned n = etrace_packet_branches(pkt);

    if (pkt->format == ETRACE_FORMAT_OPT_EXT &&
        pkt->subformat == ETRACE_OPT_BRANCH_COUNT) {
        if (!flow_mode(f, ETRACE_IOPT_BRANCH_PREDICTION)) {
            return false;
        }
        f->last_failed = pkt->branch_fmt != ETRACE_BRANCH_FMT_ADDR;
        f->branches += UINT64_C(31) + pkt->branch_count + f->last_failed;
        return true;
    }
    f->branch_map |= (uint64_t)pkt->branch_map << f->map_bits;
    f->map_bits += n;
    f->branches += n;
    f->branch_map &= (1ull << f->map_bits) - 1;
    return true;
}

/* The address that a packet of format 0, 1 or 2 reports in one way or other */
static bool take_address(Flow *f, const ETracePacket *pkt)
{
    if (etrace_packet_has_address(pkt)) {
        if (flow_mode(f, ETRACE_IOPT_FULL_ADDRESS)) {
            f->address = pkt->address;
        } else {
            f->address += pkt->address;
        }
        f->address &= f->mask;
        return true;
    }
    f->address = ETRACE_JUMP_CACHE_NONE;
    if (flow_mode(f, ETRACE_IOPT_JUMP_TARGET_CACHE)) {
        f->address = etrace_jump_cache_get(&f->cache, pkt->index);
    }
    return f->address != ETRACE_JUMP_CACHE_NONE;
}

/* Formats 0, 1 and 2 */
static bool process_delta(Flow *f, const ETracePacket *pkt)
{
    Goal goal = {
        .target_priv = f->priv,
        .irreport = pkt->irreport,
        .ircount = flow_is_2_1(f) ? pkt->irets : pkt->irdepth,
        .last_branch = !etrace_packet_has_address(pkt) &&
                       !(pkt->format == ETRACE_FORMAT_OPT_EXT &&
                         pkt->subformat == ETRACE_OPT_JUMP_TARGET),
    };

    /* Before the cache is asked: the jump on the way goes there, too. */
    if (f->inferred && !walk_inferred(f)) {
        return false;
    }
    f->irets = 0;
    if (!take_branches(f, pkt)) {
        flow_lose(f, FLOW_LOST_UNSUPPORTED, 0);
        return false;
    }
    if (!goal.last_branch) {
        if (!take_address(f, pkt)) {
            flow_lose(f, FLOW_LOST_CACHE, 0);
            return false;
        }
        goal.address = f->address;
        goal.on_path = !pkt->updiscon;
        goal.by_updiscon = !pkt->notify;
        goal.remain = is_branch_at(f, f->priv, goal.address);
    }
    switch (flow_walk(f, &goal)) {
    case WALK_ON_PATH:
        /*
         * Not an uninferable jump's target, unless that is what a second
         * visit turns out to be: the next packet says. At its maximum, a
         * branch count comes with the branch's address in any case (section
         * 6.8).
         */
        f->inferred = !pkt->notify && pkt->branch_count != UINT32_MAX;
        break;
    case WALK_UPDISCON:
        if (!check_branches(f, goal.remain)) {
            return false;
        }
        break;
    case WALK_LAST_BRANCH:
        break;
    default:
        return false;
    }
    flow_settle_branch(f);
    return true;
}

static bool process_packet(Flow *f, const ETracePacket *pkt)
{
    if (f->handler_pending) {
        find_fault(f, pkt);
    }
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
        flow_lose(f, FLOW_LOST_ORDER, 0);
        return false;
    }
    return process_delta(f, pkt);
}

bool flow_packet(Flow *f, const ETracePacket *pkt)
{
    bool ok;

    image_trim(f->image);
    ok = process_packet(f, pkt);
    flow_flush(f);
    return ok;
}
