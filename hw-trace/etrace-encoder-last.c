/*
 * E-Trace instruction trace encoder: the last instruction of a block
 *
 * What Figure 8.1 does with it, now that the next instruction is known, and
 * how control leaves it: by a branch, by a jump that the decoder infers, or by
 * one whose target has to be reported.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-encoder-private.h"

static bool is_call(unsigned itype)
{
    return itype == ETRACE_ITYPE_INFERABLE_CALL ||
           itype == ETRACE_ITYPE_UNINFERABLE_CALL;
}

/* "Update branch map/predictor": the branch at @pc ends the held block. */
static void note_branch(ETraceEncoder *enc, uint64_t pc)
{
    bool taken = enc->last.itype == ETRACE_ITYPE_TAKEN_BRANCH;
    bool predicted = false;

    if (enc->params.ioptions & ETRACE_IOPT_BRANCH_PREDICTION) {
        predicted = etrace_predictor_learn(&enc->predictor, pc, taken);
    }
    if (enc->last_reported) {
        return;
    }
    if (enc->pbc) {
        enc->pbc += predicted;
        enc->branch_failed = !predicted;
        return;
    }
    enc->branch_map |= (uint32_t)!taken << enc->branches;
    enc->branches++;
    enc->map_failed |= !predicted;
    if (enc->branches == ETRACE_BRANCHES_MAX && !enc->map_failed) {
        enc->pbc = ETRACE_BRANCHES_MAX;
        enc->branches = 0;
        enc->branch_map = 0;
    }
}

/*
 * Does @pc, which is not the target of an updiscon, have to be reported? The
 * decoder then takes it for the last one before a format 3 or support packet,
 * which must follow.
 */
static bool must_report(const ETraceEncoder *enc, ETraceNext next, bool sync)
{
    unsigned itype = enc->last.itype;

    switch (next) {
    case NEXT_TRAP:
    case NEXT_UNQUALIFIED:
        return true;
    case NEXT_PRIVILEGE:
        /*
         * ppccd_br. The decoder of 1.1.1 does not look at the privilege when
         * it comes by the address.
         */
        return etrace_encoder_has_branches(enc) || enc->maybe_inferred ||
               etrace_encoder_is_1_1_1(enc);
    default:
        /*
         * resync_br. Without branches the decoder goes to the next
         * instruction directly, unless it could come by there earlier.
         */
        return sync &&
               (etrace_encoder_has_branches(enc) || enc->maybe_inferred ||
                enc->run_count || etrace_itype_is_inferable_jump(itype) ||
                etrace_itype_is_updiscon(itype));
    }
}

/*
 * maybe_inferred: it is in the run that leads to the updiscon, too. The
 * decoder stops there early, and needs another address (or ended_ntr) to see
 * that it has to go on (section 6.6.2, case 1); a format 3 would not tell it.
 * No branch can come first: the way from there leads to the updiscon again,
 * and there was none on it the first time.
 */
void etrace_encoder_report_target(ETraceEncoder *enc, uint64_t pc,
                                  bool updiscon)
{
    ETraceReport r = {
        .pc = pc,
        .updiscon = updiscon,
        .target = true,
    };
    bool revisited = enc->target_revisited;

    if (enc->target_irreport) {
        r.irreport = true;
        r.irdepth = enc->target_irdepth;
        r.irets = enc->target_irets;
    }
    etrace_encoder_send_address(enc, &r);
    enc->maybe_inferred = revisited && !updiscon;
    enc->target_revisited = false;
    enc->target_irreport = false;
}

/* An uninferable jump at @pc; irreport is decided already. */
static void leave_updiscon(ETraceEncoder *enc, uint64_t pc, uint64_t next_pc,
                           bool reported, bool ambiguous)
{
    bool contained = !reported &&
                     etrace_encoder_run_contains(enc, pc, next_pc);

    /*
     * Report the jump itself where its target would be looked for in the run:
     * "go on until there is another visit" is understood without implicit
     * returns only, since a second visit can find another stack.
     */
    if (ambiguous ||
        (contained && (enc->irets || enc->target_irreport))) {
        etrace_encoder_report(enc, pc, true);
        etrace_encoder_run_restart(enc, next_pc);
        contained = false;
    }
    enc->target_revisited = contained;
    enc->target_irets = 0;
    if (enc->irets && etrace_encoder_is_2_1(enc) &&
        enc->last.itype == ETRACE_ITYPE_RETURN) {
        enc->target_irreport = true;
        enc->target_irets = enc->irets;
    }
}

/* A return goes where the newest call said. */
static void leave_implicit_return(ETraceEncoder *enc, uint64_t pc,
                                  uint64_t next_pc, bool reported)
{
    uint8_t depth = enc->stack.depth;

    if (!reported) {
        etrace_encoder_run_jump(enc, pc, next_pc);
    }
    etrace_return_stack_pop(&enc->stack);
    enc->irets++;
    enc->iret_min = MIN(enc->iret_min, depth);
    enc->iret_max = MAX(enc->iret_max, depth);
    enc->after_jump = true;
    if (etrace_encoder_is_2_1(enc) &&
        (enc->params.ioptions & ETRACE_IOPT_JUMP_TARGET_CACHE)) {
        /*
         * The target must not be stored, but the decoder of 2.0.5 (chapter
         * 11, next_pc) does it.
         */
        etrace_jump_cache_drop(&enc->cache, next_pc);
    }
}

/*
 * A return goes elsewhere than the newest call said. A decoder recognises it
 * by the depth of the stack (2.0), which therefore must not be that of an
 * implicit return before, or by the number of implicit returns (2.1). What
 * happens to the entry is told by the decoders only: it stays in 2.0, and goes
 * in 2.0.5.
 */
static void leave_failed_return(ETraceEncoder *enc, uint64_t pc,
                                uint64_t next_pc, bool reported)
{
    bool is_2_1 = etrace_encoder_is_2_1(enc);
    uint8_t depth = enc->stack.depth;

    enc->target_irreport = true;
    enc->target_irdepth = is_2_1 ? 0 : depth;
    enc->target_uncached = true;
    leave_updiscon(enc, pc, next_pc, reported,
                   !is_2_1 && depth >= enc->iret_min &&
                   depth <= enc->iret_max);
    if (is_2_1) {
        etrace_return_stack_pop(&enc->stack);
    }
}

/* @next_pc: where the jump at @pc, the end of the held block, leads */
static void leave_jump(ETraceEncoder *enc, uint64_t pc, uint64_t next_pc,
                       bool reported)
{
    unsigned itype = enc->last.itype;
    bool sijump = etrace_encoder_is_sijump(enc, &enc->last);

    enc->target_uncached = itype == ETRACE_ITYPE_TRAP_RETURN;
    if (etrace_encoder_is_return(enc)) {
        if (etrace_return_stack_top(&enc->stack) == next_pc) {
            leave_implicit_return(enc, pc, next_pc, reported);
        } else {
            leave_failed_return(enc, pc, next_pc, reported);
        }
    } else if (sijump || etrace_itype_is_inferable_jump(itype)) {
        enc->after_jump = sijump;
        if (!reported) {
            etrace_encoder_run_jump(enc, pc, next_pc);
        }
    } else {
        leave_updiscon(enc, pc, next_pc, reported, false);
    }
}

static void push_call(ETraceEncoder *enc, uint64_t pc)
{
    uint64_t link = pc + (2u << enc->last.ilastsize);

    if (enc->params.iaddress_width == 32) {
        link = (uint32_t)link;
    }
    etrace_return_stack_push(&enc->stack, link);
}

void etrace_encoder_finish_last(ETraceEncoder *enc, ETraceNext next,
                                uint64_t next_pc, bool sync)
{
    const ETraceBlock *b = &enc->last;
    uint64_t pc = etrace_block_last(b);
    bool is_branch = etrace_itype_is_branch(b->itype);
    bool reported = enc->last_reported;

    if (is_branch) {
        note_branch(enc, pc);
    }

    enc->after_jump = false;
    if (enc->last_is_target) {
        etrace_encoder_report_target(enc, pc, next != NEXT_PLAIN || sync);
        reported = true;
    } else if (!reported &&
               (enc->notify_due || must_report(enc, next, sync))) {
        /*
         * A decoder does not stop behind a jump that can be uninferable,
         * unless it is notified.
         */
        etrace_encoder_report(enc, pc,
                              enc->notify_due || enc->last_after_jump);
        reported = true;
    }
    enc->notify_due = false;
    enc->target_revisited = false;

    if (is_branch) {
        if (!reported) {
            etrace_encoder_flush_branches(enc, pc);
        }
        etrace_encoder_run_restart(enc, next_pc);
        return;
    }
    if (reported) {
        etrace_encoder_run_restart(enc, next_pc);
    }
    if (b->itype == ETRACE_ITYPE_NONE) {
        return;
    }
    if (next == NEXT_PLAIN || next == NEXT_PRIVILEGE) {
        leave_jump(enc, pc, next_pc, reported);
    } else if (etrace_encoder_is_return(enc) && etrace_encoder_is_2_1(enc)) {
        etrace_return_stack_pop(&enc->stack);
    }
    if (is_call(b->itype) && (enc->params.ioptions & ETRACE_IOPT_IMPLICIT_RETURN)) {
        push_call(enc, pc);
    }
}
