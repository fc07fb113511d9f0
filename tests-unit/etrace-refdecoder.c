/*
 * The decoder of chapter 11 of the E-Trace specification, word for word
 *
 * Functions, variables and the order of the conditions are the text's. Branch
 * predictor and jump target cache, which the text of 2.0 leaves out, are those
 * of its draft 2.0.5, and so is the return stack of the wire format 2.1. It
 * deviates where the text cannot be meant:
 *
 * D1. A trap with thaddr 0 leaves pc at the last instruction before the trap.
 *     The format 3 subformat 0 packet of the handler, which section 6.3.1
 *     demands next, would then go to follow_execution_path(), which looks for
 *     the handler on a path that does not lead there. It is taken as the
 *     packet at the start of a trace is: pc = address.
 * D2. exception_address() calls next_pc(), which moves pc and uses up branches
 *     although nothing retires. After two traps in a row it would look for the
 *     outcome of a branch that faulted. It works on a copy here.
 * D3. exception_address() looks at the instruction at pc, which does not exist
 *     before the first sync packet. thaddr is 0 then, and section 6.3.1 says
 *     that the address is the EPC.
 * D4. "branch_map >> 1" has to store its result.
 * D5. next_pc() takes JALR with rs1 == x0 for a sequential instruction, since
 *     it is not an uninferable jump; it is an inferable one.
 * D6. Calls and returns are those of section 4.1.1, as in 2.0.5; is_call() and
 *     is_implicit_return() of 2.0 leave x5 out, and take a swap for a call.
 * D7. 2.0.5 stops at a branch that a branch count leads to without saying how
 *     it was left, except after a failed prediction, and bpred_taken() inverts
 *     for one of the two kinds of those only. Here the outcome is put where
 *     that of a branch in a branch map would be.
 * D8. 2.0.5 takes implicit returns into the jump target cache; section 3.2.7
 *     says "must not".
 * D9. 2.0.5 counts a return when it comes to it, even if it was reported; the
 *     text (irets) counts "return targets that have not been reported". Here
 *     it is counted when it leads somewhere. The same for the stack: what was
 *     on it when the return was reached is there until it is left.
 * D10. Section 3.2.7 invalidates the cache at sync packets, 2.0.5 does not.
 * D11. A trap packet of 1.1.1 names the first instruction of the handler, even
 *     if that never retires because of another trap. Then a support packet
 *     comes between the two that changes nothing.
 * D12. If 2.0.5 does not resynchronise, predictor and stack go on behind a
 *     trap. It learns the branch before an exception, by way of
 *     exception_address(), but not the one before an interrupt.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-refdecoder-private.h"

void ref_error(RefDecoder *d, const char *what)
{
    if (!d->error) {
        d->error = what;
    }
}

const RefInstr *ref_get_instr(RefDecoder *d, uint64_t pc)
{
    static const RefInstr nowhere = { .op = REF_NORMAL, .size = 2 };
    const RefInstr *instr = d->ops->get_instr(d->opaque, pc);

    if (!instr) {
        ref_error(d, "no instruction at this address");
        return &nowhere;
    }
    return instr;
}

static void report_pc(RefDecoder *d, uint64_t pc)
{
    if (!d->error) {
        d->ops->report_pc(d->opaque, pc);
    }
}

static bool is_1_1_1(const RefDecoder *d)
{
    return d->discovery_response.wire_format == ETRACE_WIRE_1_1_1;
}

static bool is_branch(const RefInstr *instr)
{
    return instr->op == REF_BRANCH;
}

static bool is_return_from_trap(const RefInstr *instr)
{
    return instr->op == REF_XRET;
}

static bool is_uninferable_jump(const RefInstr *instr)
{
    return instr->op == REF_JALR;
}

static bool is_uninferable_discon(const RefInstr *instr)
{
    return is_uninferable_jump(instr) || is_return_from_trap(instr);
}

/* Packet includes an address (formats 0, 1, 2) */
static bool includes_cache_index(const ETracePacket *te_inst)
{
    return te_inst->format == 0 && te_inst->subformat == 1;
}

static bool includes_address(const ETracePacket *te_inst)
{
    return te_inst->format == 2 ||
           (te_inst->format == 1 && te_inst->branches != 0) ||
           (ref_includes_bpred_count(te_inst) && te_inst->branch_fmt != 0);
}

static bool flag_irreport(const ETracePacket *te_inst)
{
    return te_inst->format != 3 && te_inst->irreport;
}

/* Determine if instruction is a branch, adjust branch count/map, ... */
static bool is_taken_branch(RefDecoder *d, const RefInstr *instr,
                            const ETracePacket *te_inst)
{
    bool taken = false;

    if (!is_branch(instr)) {
        return false;
    }
    if (d->branches == 0) {
        ref_error(d, "cannot resolve branch");
        return false;
    }
    if (d->use_bpred) {
        taken = ref_bpred_taken(d, d->pc, te_inst);
    } else {
        taken = !(d->branch_map & 1);
        d->branch_map >>= 1;                                        /* D4 */
        d->use_bpred = ref_includes_bpred_count(te_inst);
    }
    ref_bpred_update(d, d->pc, taken);
    d->branches--;
    d->irets = 0;
    return taken;
}

/* Check all branches processed (except 1 if this instruction is a branch) */
static bool unprocessed_branches(RefDecoder *d, uint64_t address)
{
    return d->branches != (is_branch(ref_get_instr(d, address)) ? 1 : 0);
}

/* Determine if instruction is a sequentially inferable jump */
static bool is_sequential_jump(RefDecoder *d, const RefInstr *instr)
{
    const RefInstr *prev_instr;

    if (!(is_uninferable_jump(instr) && (d->options & ETRACE_IOPT_SIJUMP))) {
        return false;
    }
    prev_instr = ref_get_instr(d, d->last_pc);
    return prev_instr->op == REF_UPPER && instr->reg == prev_instr->reg;
}

/* Determine if instruction return address can be implicitly inferred */
static bool is_implicit_return(RefDecoder *d, uint64_t address,
                               const RefInstr *instr,
                               const ETracePacket *te_inst)
{
    if (!(d->options & ETRACE_IOPT_IMPLICIT_RETURN) || !instr->ret) {
        return false;
    }
    if (flag_irreport(te_inst)) {
        if (ref_is_2_1(d)
            ? !te_inst->notify && !unprocessed_branches(d, address) &&
              te_inst->irets == d->irets
            : te_inst->irdepth == d->irstack_depth) {
            return false;
        }
    }
    return d->irstack_depth > 0;
}

/* Compute next PC */
static bool next_pc(RefDecoder *d, uint64_t address,
                    const ETracePacket *te_inst)
{
    const RefInstr *instr = ref_get_instr(d, d->pc);
    uint64_t this_pc = d->pc;
    bool stop_here = false;

    if (instr->op == REF_JAL) {                                     /* D5 */
        d->pc = instr->target;
    } else if (is_sequential_jump(d, instr)) {
        d->pc = ref_mask_address(d, ref_get_instr(d, d->last_pc)->value +
                                instr->value);
    } else if (is_implicit_return(d, address, instr, te_inst)) {
        d->pc = ref_pop_return_stack(d);
        d->irets++;
    } else if (is_uninferable_discon(instr)) {
        if (d->stop_at_last_branch) {
            ref_error(d, "unexpected uninferable discontinuity");
        } else {
            d->pc = address;
            stop_here = true;
            ref_cache_update(d, d->pc);
            if (ref_is_2_1(d) && instr->ret && d->irstack_depth > 0 &&
                (d->options & ETRACE_IOPT_IMPLICIT_RETURN)) {
                ref_pop_return_stack(d);
            }
        }
    } else if (is_taken_branch(d, instr, te_inst)) {
        d->pc = instr->target;
    } else {
        d->pc = ref_mask_address(d, d->pc + instr->size);
    }

    if (instr->call) {
        ref_push_return_stack(d, this_pc);
    }
    d->last_pc = this_pc;
    return stop_here;
}

/* D7: a branch at pc that is counted, but not left yet */
static void keep_outcome(RefDecoder *d, const ETracePacket *te_inst)
{
    if (d->branches == 1 && d->use_bpred) {
        d->branch_map = !ref_bpred_taken(d, d->pc, te_inst);
    }
}

/*
 * Stopped at an address that is no target of an updiscon: the number of
 * implicit returns has to be in the packet if it is not 0 (section irets).
 */
static void check_irets(RefDecoder *d, const ETracePacket *te_inst)
{
    if (ref_is_2_1(d) && d->irets != (flag_irreport(te_inst) ? te_inst->irets
                                                         : 0)) {
        ref_error(d, "implicit returns since the last branch or te_inst");
    }
}

/* Follow execution path to reported address */
static void follow_execution_path(RefDecoder *d, uint64_t address,
                                  const ETracePacket *te_inst)
{
    uint64_t previous_address = d->pc;
    /* "The decoder is reliant on the maximum value", section 6.8 */
    bool max = ref_includes_bpred_count(te_inst) &&
               te_inst->branch_count == UINT32_MAX;
    bool stop_here;

    while (!d->error) {
        if (d->inferred_address) {
            stop_here = next_pc(d, previous_address, te_inst);
            report_pc(d, d->pc);
            if (stop_here) {
                d->inferred_address = false;
            }
            continue;
        }
        stop_here = next_pc(d, address, te_inst);
        report_pc(d, d->pc);
        if (d->branches == 1 && is_branch(ref_get_instr(d, d->pc)) &&
            d->stop_at_last_branch) {
            d->stop_at_last_branch = false;
            return;
        }
        if (stop_here) {
            if (unprocessed_branches(d, d->pc)) {
                ref_error(d, "unprocessed branches");
            }
            return;
        }
        if (ref_is_2_1(d) && flag_irreport(te_inst) &&
            te_inst->irets > d->irets) {
            continue;               /* unprocessed_implicit_returns() */
        }
        if (te_inst->format != 3 && d->pc == address &&
            !d->stop_at_last_branch && te_inst->notify &&
            !unprocessed_branches(d, d->pc)) {
            check_irets(d, te_inst);
            return;
        }
        if (te_inst->format != 3 && d->pc == address &&
            !d->stop_at_last_branch &&
            !is_uninferable_discon(ref_get_instr(d, d->last_pc)) &&
            !te_inst->updiscon && !unprocessed_branches(d, d->pc) &&
            (ref_is_2_1(d) || !te_inst->irreport ||
             te_inst->irdepth == d->irstack_depth)) {
            d->inferred_address = !max;
            check_irets(d, te_inst);
            return;
        }
        if (te_inst->format == 3 && d->pc == address &&
            !unprocessed_branches(d, d->pc) &&
            (is_1_1_1(d) || te_inst->privilege == d->privilege ||
             is_return_from_trap(ref_get_instr(d, d->last_pc)))) {
            return;
        }
    }
}

/* Process support packet */
static void process_support(RefDecoder *d, const ETracePacket *te_inst)
{
    bool stop_here;

    d->options = te_inst->ioptions;
    d->resync_disabled = te_inst->resync_disabled;
    etrace_params_follow(&d->discovery_response, te_inst);
    if (te_inst->qual_status != ETRACE_QUAL_NO_CHANGE) {
        d->start_of_trace = true;
    }
    if (te_inst->qual_status == ETRACE_QUAL_ENDED_NTR &&
        d->inferred_address) {
        uint64_t previous_address = d->pc;

        d->inferred_address = false;
        while (!d->error) {
            stop_here = next_pc(d, previous_address, te_inst);
            report_pc(d, d->pc);
            if (stop_here) {
                return;
            }
        }
    }
}

/* Return the address of an exception */
static uint64_t exception_address(RefDecoder *d, const ETracePacket *te_inst)
{
    RefDecoder copy;
    const RefInstr *instr;

    if (d->start_of_trace) {                                        /* D3 */
        return te_inst->address;
    }
    instr = ref_get_instr(d, d->pc);
    if (is_uninferable_discon(instr) && !te_inst->thaddr) {
        return te_inst->address;
    }
    if (instr->op == REF_ECALL) {
        return d->pc;
    }
    copy = *d;                                                      /* D2 */
    next_pc(&copy, d->pc, te_inst);
    return copy.pc;
}

static void start_history(RefDecoder *d)
{
    d->irstack_depth = 0;
    ref_bpred_init(d);
    ref_cache_init(d);                                              /* D10 */
}

/*
 * A trap came instead of the next instruction: what the last one was is
 * remembered (D12).
 */
static void leave_by_trap(RefDecoder *d)
{
    const RefInstr *instr;

    if (!d->resync_disabled || d->start_of_trace || d->trap_alone) {
        return;
    }
    instr = ref_get_instr(d, d->pc);
    if (is_branch(instr) && d->branches) {
        ref_bpred_update(d, d->pc, !(d->branch_map & 1));
    }
    if (instr->ret && d->irstack_depth > 0 &&
        (d->options & ETRACE_IOPT_IMPLICIT_RETURN) &&
        !is_sequential_jump(d, instr)) {
        ref_pop_return_stack(d);
    }
    if (instr->call) {
        ref_push_return_stack(d, d->pc);
    }
}

static void process_sync(RefDecoder *d, const ETracePacket *te_inst)
{
    bool on_path = te_inst->subformat == 0 && !d->start_of_trace &&
                   !d->trap_alone;                                  /* D1 */

    if (te_inst->subformat == 1) {
        d->ops->report_trap(d->opaque, te_inst);
        if (!te_inst->interrupt && !is_1_1_1(d)) {
            d->ops->report_epc(d->opaque, exception_address(d, te_inst));
        }
        leave_by_trap(d);
        if (!te_inst->thaddr) {
            d->trap_alone = true;
            return;
        }
    }

    d->inferred_address = false;
    d->address = te_inst->address;
    if (te_inst->subformat == 1 && !etrace_packet_trap_has_address(
            &d->discovery_response, te_inst)) {
        d->address = d->ops->trap_handler(d->opaque, te_inst);
    }
    if (!on_path) {
        d->branches = 0;
        d->branch_map = 0;
    }
    if (is_branch(ref_get_instr(d, d->address))) {
        d->branch_map |= (uint64_t)te_inst->branch << d->branches;
        d->branches++;
    }
    if (on_path) {
        follow_execution_path(d, d->address, te_inst);
    } else {
        d->pc = d->address;
        d->handler_pending = te_inst->subformat == 1 && is_1_1_1(d);
        if (!d->handler_pending) {
            report_pc(d, d->pc);
        }
        d->last_pc = d->pc;
    }
    if (d->start_of_trace || !d->resync_disabled) {
        start_history(d);
    }
    d->privilege = te_inst->privilege;
    d->start_of_trace = false;
    d->trap_alone = false;
}

/* Process te_inst packet. */
static void process_te_inst(RefDecoder *d, const ETracePacket *te_inst)
{
    d->use_bpred = false;
    d->irets = 0;
    if (te_inst->format == 3) {
        if (te_inst->subformat == 3) {
            process_support(d, te_inst);
        } else if (te_inst->subformat < 2) {
            process_sync(d, te_inst);
        }
        return;
    }

    if (d->start_of_trace) {
        ref_error(d, "expecting trace to start with format 3");
        return;
    }
    d->stop_at_last_branch = false;
    if (includes_address(te_inst)) {
        if (d->options & ETRACE_IOPT_FULL_ADDRESS) {
            d->address = te_inst->address;
        } else {
            d->address += te_inst->address;
        }
        d->address = ref_mask_address(d, d->address);
    } else if (includes_cache_index(te_inst)) {
        d->address = ref_cache_lookup(d, te_inst->index);
    }
    if (ref_includes_bpred_count(te_inst)) {
        d->use_bpred = d->branches == 0;
        d->stop_at_last_branch = te_inst->branch_fmt == 0;
        d->branches += te_inst->branch_count + UINT64_C(31) +
                       ref_is_failed_bpred(te_inst);
    } else if (te_inst->format != 2) {
        d->stop_at_last_branch = te_inst->format == 1 &&
                                 te_inst->branches == 0;
        d->branch_map |= (uint64_t)te_inst->branch_map << d->branches;
        d->branches += etrace_packet_branches(te_inst);
    }
    follow_execution_path(d, d->address, te_inst);
    keep_outcome(d, te_inst);
}

void ref_decoder_init(RefDecoder *d, const ETraceParams *params,
                      const RefDecoderOps *ops, void *opaque)
{
    *d = (RefDecoder) {
        .discovery_response = *params,
        .ops = ops,
        .opaque = opaque,
        .start_of_trace = true,
    };
}

bool ref_decoder_process(RefDecoder *d, const ETracePacket *te_inst)
{
    if (d->handler_pending) {                                       /* D11 */
        if (te_inst->format == 3 && te_inst->subformat == 3 &&
            te_inst->qual_status == ETRACE_QUAL_NO_CHANGE) {
            d->handler_faulted |= te_inst->ioptions == d->options;
        } else {
            if (!d->handler_faulted && !(te_inst->format == 3 &&
                te_inst->qual_status == ETRACE_QUAL_TRACE_LOST)) {
                report_pc(d, d->pc);
            }
            d->handler_pending = false;
            d->handler_faulted = false;
        }
    }
    process_te_inst(d, te_inst);
    return d->error == NULL;
}
