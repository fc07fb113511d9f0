/*
 * E-Trace instruction trace encoder: blocks in, packets out; windows
 *
 * Figure 8.1 looks at three instructions: previous, current and next. Here the
 * last block is held until its successor arrives; then the held block's last
 * instruction goes through the figure (its next is known now), then the first
 * one of the new block (its previous is known). Instructions in between are of
 * no interest. An instruction that is a block of its own is both: what it has
 * to say as a first instruction waits until its next is known, too.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "encoder-private.h"

/* The green diamond: what follows the current instruction */
typedef enum ETraceNext {
    NEXT_PLAIN,             /* another one that retires */
    NEXT_TRAP,              /* exc_only */
    NEXT_PRIVILEGE,         /* ppccd: one that retires, privilege changed */
    NEXT_UNQUALIFIED,       /* the end of the window */
} ETraceNext;

/* Is this instruction the only one of its block? */
static bool is_single(const ETraceBlock *b)
{
    return b->iretire == 1u << b->ilastsize;
}

/* "Update branch map": a branch ends the held block. */
static void note_branch(ETraceEncoder *enc)
{
    bool taken = enc->last.itype == ETRACE_ITYPE_TAKEN_BRANCH;
    bool predicted =
        (enc->params.ioptions & ETRACE_IOPT_BRANCH_PREDICTION) &&
        !(enc->last.flags & ETRACE_HISTORY_MISSED);

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
static bool must_report(const ETraceEncoder *enc, ETraceNext next)
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
        return etrace_encoder_has_branches(enc) || enc->maybe_inferred ||
               enc->run_count || etrace_itype_is_inferable_jump(itype) ||
               etrace_itype_is_updiscon(itype);
    }
}

/*
 * Report the target of an updiscon: the held block's only instruction, or
 * the first one of the next block. @updiscon: as in section 6.6.2
 *
 * maybe_inferred: it is in the run that leads to the updiscon, too. The
 * decoder stops there early, and needs another address (or ended_ntr) to see
 * that it has to go on (section 6.6.2, case 1); a format 3 would not report it.
 * No branch can come first: the way from there leads to the updiscon again,
 * and there was none on it the first time.
 */
static void report_target(ETraceEncoder *enc, uint64_t pc, bool updiscon)
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

/* Decided by the hart: an implicit return, or a sequentially inferable jump */
static void leave_inferred(ETraceEncoder *enc, uint64_t pc, uint64_t next_pc,
                           bool reported)
{
    if (!reported) {
        etrace_encoder_run_jump(enc, pc, next_pc);
    }
    if (enc->last.itype == ETRACE_ITYPE_RETURN) {
        enc->irets++;
        etrace_encoder_any_iret(enc);
    }
    enc->after_jump = true;
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
 * happens to the entry is up to the decoders: it stays in 2.0, and goes
 * in 2.0.5.
 */
static void leave_failed_return(ETraceEncoder *enc, uint64_t pc,
                                uint64_t next_pc, uint8_t depth,
                                bool reported)
{
    bool is_2_1 = etrace_encoder_is_2_1(enc);

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
    if (enc->last.flags & ETRACE_HISTORY_INFERRED) {
        leave_inferred(enc, pc, next_pc, reported);
    } else if (enc->last.flags & ETRACE_HISTORY_IRREPORT) {
        leave_failed_return(enc, pc, next_pc, enc->last.cause, reported);
    } else if (etrace_encoder_is_return(enc)) {
        if (etrace_return_stack_top(&enc->stack) == next_pc) {
            leave_implicit_return(enc, pc, next_pc, reported);
        } else {
            leave_failed_return(enc, pc, next_pc, enc->stack.depth, reported);
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

/*
 * The current instruction is the last one of the held block; @next_pc is the
 * address of the next one, if there is one. @sync: that gets a packet of
 * format 3 subformat 0. (If for a resynchronisation, the FSM of section 8.2 is
 * in state 2 for this instruction and will be in state 3 for the next one.)
 */
static void finish_last(ETraceEncoder *enc, ETraceNext next, uint64_t next_pc,
                        bool sync)
{
    const ETraceBlock *b = &enc->last;
    uint64_t pc = etrace_block_last(b);
    bool is_branch = etrace_itype_is_branch(b->itype);
    bool reported = enc->last_reported;
    bool end = next != NEXT_PLAIN || sync;

    if (is_branch) {
        note_branch(enc);
    }

    enc->after_jump = false;
    if (enc->last_is_target) {
        report_target(enc, pc, end);
        reported = true;
    } else if (!reported && (enc->notify_due ||
                             (end && must_report(enc, next)))) {
        if (is_branch) {
            /* It is not there twice: the run would have ended with it. */
            enc->run_count = 0;
        }
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
        if (!reported && (enc->branches == ETRACE_BRANCHES_MAX || enc->pbc)) {
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
}

void etrace_encoder_forget_window(ETraceEncoder *enc)
{
    enc->started = false;
    enc->have_last = false;
    enc->last_reported = false;
    enc->last_is_target = false;
    enc->after_jump = false;
    enc->last_after_jump = false;
    enc->notify_due = false;
    enc->have_trap = false;
    enc->branches = 0;
    enc->branch_map = 0;
    enc->map_failed = false;
    enc->branch_failed = false;
    enc->pbc = 0;
    enc->resync_count = 0;
    enc->resync_due = false;
    enc->target_revisited = false;
    enc->target_irreport = false;
    enc->maybe_inferred = false;
    etrace_encoder_run_restart(enc, 0);
    etrace_return_stack_reset(&enc->stack);
    etrace_predictor_reset(&enc->predictor);
    etrace_jump_cache_reset(&enc->cache);
}

bool etrace_encoder_recover(ETraceEncoder *enc)
{
    if (!enc->lost) {
        return true;
    }
    etrace_encoder_forget_window(enc);
    if (enc->ops->ready(enc->opaque)) {
        enc->lost = false;
        etrace_encoder_send_support(enc, ETRACE_QUAL_TRACE_LOST);
    }
    return !enc->lost;
}

void etrace_encoder_close_window(ETraceEncoder *enc)
{
    ETraceQualStatus qual_status = ETRACE_QUAL_ENDED_REP;

    if (enc->have_last) {
        /* Its packet is due in any case. */
        if (enc->last_is_target) {
            qual_status = ETRACE_QUAL_ENDED_NTR;
        }
        finish_last(enc, NEXT_UNQUALIFIED, 0, false);
    } else if (enc->have_trap && !enc->trap_reported) {
        etrace_encoder_send_trap_alone(enc, 0, 0);
    }
    etrace_encoder_send_support(enc, qual_status);
    etrace_encoder_forget_window(enc);
}

/*
 * The current instruction is the first one of @b; the previous one is known.
 * @sync: ppccd, or a resynchronisation
 */
static void process_first(ETraceEncoder *enc, const ETraceBlock *b, bool sync)
{
    bool single = is_single(b);
    bool branch = !(single && b->itype == ETRACE_ITYPE_TAKEN_BRANCH);
    bool updiscon = enc->have_last && !enc->after_jump &&
                    etrace_itype_is_updiscon(enc->last.itype);

    enc->last_reported = false;
    enc->last_is_target = false;
    enc->last_after_jump = enc->after_jump && single;
    if (enc->started && !enc->have_trap && !sync && !updiscon) {
        return;
    }
    if (enc->have_trap && !enc->trap_reported) {
        etrace_encoder_send_trap_handler(enc, b, branch);
        enc->last_reported = single;
    } else if (!enc->started || enc->have_trap || sync) {
        etrace_encoder_send_start(enc, b, branch);
        enc->last_reported = single;
    } else if (single) {
        enc->last_is_target = true;
        return;
    } else {
        report_target(enc, b->iaddr, false);
    }
    /* The size of the first instruction is unknown, but 2 at least. */
    etrace_encoder_run_restart(enc, b->iaddr + 2);
    enc->target_revisited = false;
    enc->target_irreport = false;
    enc->have_trap = false;
    enc->started = true;
}

void etrace_encoder_go_on(ETraceEncoder *enc, uint64_t first)
{
    const ETraceBlock b = { .iaddr = first, .iretire = 2 };

    finish_last(enc, NEXT_PLAIN, first, false);
    process_first(enc, &b, false);
}

static void process_trap(ETraceEncoder *enc, const ETraceBlock *b,
                         uint64_t tval)
{
    /*
     * Previous instruction is an updiscon, unknown, or ppccd. Implicit returns
     * and sequentially inferable jumps are updiscons here: decoders that are
     * see thaddr 0 understand it, others need not. The same if the
     * address that is left out would not be the handler's.
     */
    bool alone = !etrace_encoder_is_1_1_1(enc) &&
                 (!enc->started ||
                  (enc->have_last &&
                   (etrace_itype_is_updiscon(enc->last.itype) ||
                    enc->last.priv != b->priv)) ||
                  ((enc->params.ioptions & ETRACE_IOPT_IMPLICIT_EXCEPT) &&
                   !(b->flags & ETRACE_BLOCK_TVEC)));

    if (enc->have_last) {
        finish_last(enc, NEXT_TRAP, 0, false);
        enc->have_last = false;
    } else if (enc->have_trap && !enc->trap_reported) {
        etrace_encoder_send_trap_alone(enc, b->iaddr, b->priv);
    }
    if (enc->lost) {
        if (!etrace_encoder_recover(enc)) {
            return;
        }
        /* The first thing in a new window */
        alone = !etrace_encoder_is_1_1_1(enc);
    }

    enc->trap = *b;
    enc->trap_tval = tval;
    enc->have_trap = true;
    enc->trap_reported = alone;
    enc->started = true;
    if (alone) {
        etrace_encoder_send_trap_alone(enc, 0, 0);
    }
}

/*
 * Can no packet report how the path goes on to @b? Then the
 * window ends here, and another one begins. @sync: @b gets a packet of format
 * 3 subformat 0.
 *  - Another privilege: the decoder expects it behind an xRET only.
 *  - Context as an asynchronous discontinuity: "report the last instruction
 *    on the previous context, as well as the 1st on the new context".
 *  - A format 3 packet for a jump that is sequentially inferable only for who
 *    saw the instruction before it, too.
 *  - A format 3 packet behind a return that goes elsewhere: it has no
 *    irreport. Neither can the depth of a full call counter be reported: it
 *    takes one bit more than irdepth has.
 */
static bool path_breaks(const ETraceEncoder *enc, const ETraceBlock *b,
                        bool sync)
{
    if (sync || enc->context_due) {
        if ((enc->last.priv != b->priv &&
             enc->last.itype != ETRACE_ITYPE_TRAP_RETURN) ||
            enc->context_due == ETRACE_CTYPE_DISCON) {
            return true;
        }
        if (sync && is_single(b) && etrace_encoder_is_sijump(enc, b)) {
            return true;
        }
    }
    if (sync && (enc->last.flags & ETRACE_HISTORY_IRREPORT)) {
        return true;
    }
    return etrace_encoder_is_return(enc) &&
           etrace_return_stack_top(&enc->stack) != b->iaddr &&
           (sync || (!enc->params.return_stack_size &&
                     enc->stack.depth == enc->stack.max));
}

/* itype_width_p 3: a jump is uninferable or not, and that is all. */
static void fold_itype(ETraceBlock *b)
{
    if (b->itype >= ETRACE_ITYPE_UNINFERABLE_CALL) {
        b->itype = etrace_itype_is_inferable_jump(b->itype)
                   ? ETRACE_ITYPE_OTHER_INFERABLE_JUMP
                   : ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP;
    }
}

static bool is_call(unsigned itype)
{
    return itype == ETRACE_ITYPE_INFERABLE_CALL ||
           itype == ETRACE_ITYPE_UNINFERABLE_CALL;
}

static void push_call(ETraceEncoder *enc, uint64_t pc)
{
    uint64_t link = pc + (2u << enc->last.ilastsize);

    if (enc->params.iaddress_width == 32) {
        link = (uint32_t)link;
    }
    etrace_return_stack_push(&enc->stack, link);
}

/*
 * "Update predictor", and the return stack with a call: as soon as the last
 * instruction is known, so that a hart that goes on with branch history finds
 * both up to date. A return has to wait for its target.
 */
static void settle(ETraceEncoder *enc)
{
    ETraceBlock *b = &enc->last;
    uint64_t pc = etrace_block_last(b);

    if (etrace_itype_is_branch(b->itype) &&
        (enc->params.ioptions & ETRACE_IOPT_BRANCH_PREDICTION) &&
        !etrace_predictor_learn(&enc->predictor, pc,
                                b->itype == ETRACE_ITYPE_TAKEN_BRANCH)) {
        b->flags |= ETRACE_HISTORY_MISSED;
    }
    if (enc->params.ioptions & ETRACE_IOPT_IMPLICIT_RETURN) {
        if (is_call(b->itype)) {
            push_call(enc, pc);
        } else if (b->itype == ETRACE_ITYPE_RETURN && enc->stack.depth &&
                   !etrace_encoder_is_sijump(enc, b)) {
            b->flags |= ETRACE_HELD_RETURN;
        }
    }
}

void etrace_encoder_hold(ETraceEncoder *enc, const ETraceBlock *block,
                         bool sync)
{
    if (enc->lost && ((block->flags & ETRACE_HISTORY_SETTLED) ||
                      !etrace_encoder_recover(enc))) {
        /* In the middle of branch history, no window begins either. */
        return;
    }
    process_first(enc, block, sync);
    if (enc->context_due) {
        /* "cci"; a format 3 packet would have reported it, too. */
        etrace_encoder_send_context(enc, block->priv);
    }
    enc->last = *block;
    enc->have_last = true;
    if (enc->itype_width == 3) {
        fold_itype(&enc->last);
    }
    if (enc->last_reported) {
        /* Nobody has to know the instruction before it. */
        enc->last.flags &= ~ETRACE_BLOCK_SIJUMP;
    }
    if (!(block->flags & ETRACE_HISTORY_SETTLED)) {
        settle(enc);
    }
    etrace_encoder_count_resync(enc, ETRACE_SYNC_HALFWORDS, block->iretire);
}

void etrace_encoder_block(ETraceEncoder *enc, const ETraceBlock *block,
                          uint64_t tval)
{
    /*
     * Packets count as they are sent below, but an instruction has to keep
     * the state that it started in. No synchronisation in the middle of branch
     * history: the hart has gone on with stack and predictor.
     */
    bool sync = enc->resync_due && !(block->flags & ETRACE_HISTORY_SETTLED);

    if (!enc->enabled) {
        return;
    }
    if (etrace_itype_is_trap(block->itype)) {
        assert(block->iretire == 0);
        process_trap(enc, block, tval);
        return;
    }
    if (block->iretire == 0) {
        return;
    }

    if (enc->have_last) {
        ETraceNext next = NEXT_PLAIN;

        sync |= enc->context_due == ETRACE_CTYPE_PRECISE;
        if (enc->last.priv != block->priv) {
            next = NEXT_PRIVILEGE;
            sync = true;
        }
        if (path_breaks(enc, block, sync)) {
            etrace_encoder_close_window(enc);
            if (enc->ops->broken) {
                enc->ops->broken(enc->opaque);
            }
        } else {
            finish_last(enc, next, block->iaddr, sync);
        }
    }
    etrace_encoder_hold(enc, block, sync);
}
