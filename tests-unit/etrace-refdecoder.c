/*
 * The decoder of chapter 11 of the E-Trace specification, word for word
 *
 * Functions, variables and the order of the conditions are the text's; without
 * implicit return mode and sequentially inferable jumps, whose conditions are
 * constant here. It deviates where the text cannot be meant:
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
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-refdecoder.h"

static void error(RefDecoder *d, const char *what)
{
    if (!d->error) {
        d->error = what;
    }
}

static const RefInstr *get_instr(RefDecoder *d, uint64_t pc)
{
    static const RefInstr nowhere = { .op = REF_NORMAL, .size = 2 };
    const RefInstr *instr = d->ops->get_instr(d->opaque, pc);

    if (!instr) {
        error(d, "no instruction at this address");
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

static bool is_branch(const RefInstr *instr)
{
    return instr->op == REF_BRANCH;
}

static bool is_return_from_trap(const RefInstr *instr)
{
    return instr->op == REF_XRET;
}

static bool is_uninferable_discon(const RefInstr *instr)
{
    return instr->op == REF_JALR || is_return_from_trap(instr);
}

static uint64_t mask_address(const RefDecoder *d, uint64_t address)
{
    return d->discovery_response.iaddress_width == 32 ? (uint32_t)address
                                                      : address;
}

/* Determine if instruction is a branch, adjust branch count/map, ... */
static bool is_taken_branch(RefDecoder *d, const RefInstr *instr)
{
    bool taken = false;

    if (!is_branch(instr)) {
        return false;
    }
    if (d->branches == 0) {
        error(d, "cannot resolve branch");
    } else {
        taken = !(d->branch_map & 1);
        d->branches--;
        d->branch_map >>= 1;                                        /* D4 */
    }
    return taken;
}

/* Check all branches processed (except 1 if this instruction is a branch) */
static bool unprocessed_branches(RefDecoder *d, uint64_t address)
{
    return d->branches != (is_branch(get_instr(d, address)) ? 1 : 0);
}

/* Compute next PC */
static bool next_pc(RefDecoder *d, uint64_t address)
{
    const RefInstr *instr = get_instr(d, d->pc);
    uint64_t this_pc = d->pc;
    bool stop_here = false;

    if (instr->op == REF_JAL) {                                     /* D5 */
        d->pc = instr->target;
    } else if (is_uninferable_discon(instr)) {
        if (d->stop_at_last_branch) {
            error(d, "unexpected uninferable discontinuity");
        } else {
            d->pc = address;
            stop_here = true;
        }
    } else if (is_taken_branch(d, instr)) {
        d->pc = instr->target;
    } else {
        d->pc = mask_address(d, d->pc + instr->size);
    }

    d->last_pc = this_pc;
    return stop_here;
}

/* Follow execution path to reported address */
static void follow_execution_path(RefDecoder *d, uint64_t address,
                                  const ETracePacket *te_inst)
{
    uint64_t previous_address = d->pc;
    bool stop_here;

    while (!d->error) {
        if (d->inferred_address) {
            stop_here = next_pc(d, previous_address);
            report_pc(d, d->pc);
            if (stop_here) {
                d->inferred_address = false;
            }
            continue;
        }
        stop_here = next_pc(d, address);
        report_pc(d, d->pc);
        if (d->branches == 1 && is_branch(get_instr(d, d->pc)) &&
            d->stop_at_last_branch) {
            d->stop_at_last_branch = false;
            return;
        }
        if (stop_here) {
            if (unprocessed_branches(d, d->pc)) {
                error(d, "unprocessed branches");
            }
            return;
        }
        if (te_inst->format != 3 && d->pc == address &&
            !d->stop_at_last_branch && te_inst->notify &&
            !unprocessed_branches(d, d->pc)) {
            return;
        }
        if (te_inst->format != 3 && d->pc == address &&
            !d->stop_at_last_branch &&
            !is_uninferable_discon(get_instr(d, d->last_pc)) &&
            !te_inst->updiscon && !unprocessed_branches(d, d->pc)) {
            d->inferred_address = true;
            return;
        }
        if (te_inst->format == 3 && d->pc == address &&
            !unprocessed_branches(d, d->pc) &&
            (te_inst->privilege == d->privilege ||
             is_return_from_trap(get_instr(d, d->last_pc)))) {
            return;
        }
    }
}

/* Process support packet */
static void process_support(RefDecoder *d, const ETracePacket *te_inst)
{
    d->options = te_inst->ioptions;
    if (te_inst->qual_status != ETRACE_QUAL_NO_CHANGE) {
        d->start_of_trace = true;
    }
    if (te_inst->qual_status == ETRACE_QUAL_ENDED_NTR &&
        d->inferred_address) {
        uint64_t previous_address = d->pc;

        d->inferred_address = false;
        while (!d->error) {
            bool stop_here = next_pc(d, previous_address);

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
    instr = get_instr(d, d->pc);
    if (is_uninferable_discon(instr) && !te_inst->thaddr) {
        return te_inst->address;
    }
    if (instr->op == REF_ECALL) {
        return d->pc;
    }
    copy = *d;                                                      /* D2 */
    next_pc(&copy, d->pc);
    return copy.pc;
}

/* Process te_inst packet. */
static void process_te_inst(RefDecoder *d, const ETracePacket *te_inst)
{
    if (te_inst->format == 3) {
        if (te_inst->subformat == 3) {
            process_support(d, te_inst);
            return;
        }
        if (te_inst->subformat == 2) {
            return;
        }
        if (te_inst->subformat == 1) {
            d->ops->report_trap(d->opaque, te_inst);
            if (!te_inst->interrupt) {
                d->ops->report_epc(d->opaque, exception_address(d, te_inst));
            }
            if (!te_inst->thaddr) {
                d->trap_alone = true;
                return;
            }
        }

        d->inferred_address = false;
        d->address = te_inst->address;
        if (te_inst->subformat == 1 || d->start_of_trace || d->trap_alone) {
            d->branches = 0;
            d->branch_map = 0;
        }
        if (is_branch(get_instr(d, d->address))) {
            d->branch_map |= (uint64_t)te_inst->branch << d->branches;
            d->branches++;
        }
        if (te_inst->subformat == 0 && !d->start_of_trace &&
            !d->trap_alone) {                                       /* D1 */
            follow_execution_path(d, d->address, te_inst);
        } else {
            d->pc = d->address;
            report_pc(d, d->pc);
            d->last_pc = d->pc;
        }
        d->privilege = te_inst->privilege;
        d->start_of_trace = false;
        d->trap_alone = false;
        return;
    }

    if (d->start_of_trace) {
        error(d, "expecting trace to start with format 3");
        return;
    }
    if (te_inst->format == 2 || te_inst->branches != 0) {
        d->stop_at_last_branch = false;
        if (d->options & ETRACE_IOPT_FULL_ADDRESS) {
            d->address = te_inst->address;
        } else {
            d->address += te_inst->address;
        }
        d->address = mask_address(d, d->address);
    }
    if (te_inst->format == 1) {
        d->stop_at_last_branch = te_inst->branches == 0;
        d->branch_map |= (uint64_t)te_inst->branch_map << d->branches;
        d->branches += te_inst->branches ? te_inst->branches : 31;
    }
    follow_execution_path(d, d->address, te_inst);
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
    process_te_inst(d, te_inst);
    return d->error == NULL;
}
