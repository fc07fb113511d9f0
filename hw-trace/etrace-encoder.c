/*
 * E-Trace instruction trace encoder: blocks in, packets out
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
#include "etrace-encoder-private.h"

/* Is this instruction the only one of its block? */
static bool is_single(const ETraceBlock *b)
{
    return b->iretire == 1u << b->ilastsize;
}

/* Forget the window: what comes next starts from a synchronisation packet. */
static void forget_window(ETraceEncoder *enc)
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

/* True if packets can be sent: after a loss, as soon as the sink is ready. */
static bool recover(ETraceEncoder *enc)
{
    if (!enc->lost) {
        return true;
    }
    forget_window(enc);
    if (enc->ops->ready(enc->opaque)) {
        enc->lost = false;
        etrace_encoder_send_support(enc, ETRACE_QUAL_TRACE_LOST);
    }
    return !enc->lost;
}

/* The current instruction is the first one of @b; the previous one is known. */
static void process_first(ETraceEncoder *enc, const ETraceBlock *b, bool sync)
{
    bool single = is_single(b);
    bool branch = !(single && b->itype == ETRACE_ITYPE_TAKEN_BRANCH);
    bool updiscon = enc->have_last && !enc->after_jump &&
                    etrace_itype_is_updiscon(enc->last.itype);
    bool ppccd = enc->have_last && enc->last.priv != b->priv;

    enc->last_reported = false;
    enc->last_is_target = false;
    enc->last_after_jump = enc->after_jump && single;
    if (enc->have_trap && !enc->trap_reported) {
        etrace_encoder_send_trap_handler(enc, b, branch);
        enc->last_reported = single;
    } else if (!enc->started || enc->have_trap || ppccd || sync) {
        etrace_encoder_send_start(enc, b, branch);
        enc->last_reported = single;
    } else if (updiscon && single) {
        enc->last_is_target = true;
        return;
    } else if (updiscon) {
        etrace_encoder_report_target(enc, b->iaddr, false);
    } else {
        return;
    }
    /* The size of the first instruction is unknown, but 2 at least. */
    etrace_encoder_run_restart(enc, b->iaddr + 2);
    enc->target_revisited = false;
    enc->target_irreport = false;
    enc->have_trap = false;
    enc->started = true;
}

static void process_trap(ETraceEncoder *enc, const ETraceBlock *b,
                         uint64_t tval)
{
    /*
     * Previous instruction is an updiscon, unknown, or ppccd. Implicit returns
     * and sequentially inferable jumps are updiscons here: decoders that are
     * told so (thaddr 0) understand it, others need not. The same if the
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
        etrace_encoder_finish_last(enc, NEXT_TRAP, 0, false);
        enc->have_last = false;
    } else if (enc->have_trap && !enc->trap_reported) {
        etrace_encoder_send_trap_alone(enc, b->iaddr, b->priv);
    }
    if (enc->lost) {
        if (!recover(enc)) {
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

static void close_window(ETraceEncoder *enc)
{
    ETraceQualStatus qual_status = ETRACE_QUAL_ENDED_REP;

    if (enc->have_last) {
        /* Its packet is due in any case. */
        if (enc->last_is_target) {
            qual_status = ETRACE_QUAL_ENDED_NTR;
        }
        etrace_encoder_finish_last(enc, NEXT_UNQUALIFIED, 0, false);
    } else if (enc->have_trap && !enc->trap_reported) {
        etrace_encoder_send_trap_alone(enc, 0, 0);
    }
    etrace_encoder_send_support(enc, qual_status);
    forget_window(enc);
}

/* Put the modes in force that the caller wishes for. */
static void set_modes(ETraceEncoder *enc)
{
    const ETraceParams *p = &enc->params;
    uint8_t missing = 0;

    if (enc->stack.max == 0 || enc->itype_width == 3) {
        missing |= ETRACE_IOPT_IMPLICIT_RETURN;
    }
    if (p->bpred_size == 0) {
        missing |= ETRACE_IOPT_BRANCH_PREDICTION;
    }
    if (p->cache_size == 0) {
        missing |= ETRACE_IOPT_JUMP_TARGET_CACHE;
    }
    if (!p->sijump) {
        missing |= ETRACE_IOPT_SIJUMP;
    }
    enc->params.ioptions = enc->ioptions & ~missing;
    enc->keep_history = etrace_encoder_is_2_1(enc) &&
                        enc->sync_mode == ETRACE_SYNC_OFF;
}

void etrace_encoder_init(ETraceEncoder *enc, const ETraceParams *params,
                         const ETraceEncoderOps *ops, void *opaque)
{
    *enc = (ETraceEncoder) {
        .params = *params,
        .itype_width = 4,
        .ops = ops,
        .opaque = opaque,
    };
    etrace_return_stack_init(&enc->stack, params);
    etrace_predictor_init(&enc->predictor, params);
    etrace_jump_cache_init(&enc->cache, params);
}

void etrace_encoder_start(ETraceEncoder *enc)
{
    if (enc->started) {
        close_window(enc);
    }
    enc->enabled = true;
    set_modes(enc);
    if (enc->lost) {
        recover(enc);
    } else {
        etrace_encoder_send_support(enc, ETRACE_QUAL_NO_CHANGE);
    }
}

void etrace_encoder_reconfigure(ETraceEncoder *enc)
{
    uint8_t ioptions = enc->params.ioptions;
    bool keep_history = enc->keep_history;

    if (!enc->enabled) {
        return;
    }
    set_modes(enc);
    if (enc->started && (enc->params.ioptions != ioptions ||
                         enc->keep_history != keep_history ||
                         etrace_encoder_is_1_1_1(enc))) {
        /*
         * What is to be reported happened in the old modes. (1.1.1: behind a
         * trap, a support packet has a meaning of its own.)
         */
        enc->params.ioptions = ioptions;
        close_window(enc);
        set_modes(enc);
    }
    if (!enc->lost) {
        etrace_encoder_send_support(enc, ETRACE_QUAL_NO_CHANGE);
    }
}

void etrace_encoder_context(ETraceEncoder *enc, uint64_t context,
                            ETraceCtype ctype)
{
    if (!enc->params.context_width) {
        return;
    }
    enc->context = context;
    /* Of two changes before the next block, the graver one decides. */
    enc->context_due = MAX(enc->context_due, (uint8_t)ctype);
}

void etrace_encoder_notify(ETraceEncoder *enc)
{
    enc->notify_due = enc->have_last;
}

void etrace_encoder_cycles(ETraceEncoder *enc, uint64_t n)
{
    if (enc->started) {
        etrace_encoder_count_resync(enc, ETRACE_SYNC_CYCLES, n);
    }
}

/*
 * Is there no way to tell the decoder how the path goes on to @b? Then the
 * window ends here, and another one begins.
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
    bool privilege = enc->last.priv != b->priv;

    if ((privilege && enc->last.itype != ETRACE_ITYPE_TRAP_RETURN) ||
        enc->context_due == ETRACE_CTYPE_DISCON) {
        return true;
    }
    sync |= privilege;
    if (sync && is_single(b) && etrace_encoder_is_sijump(enc, b)) {
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

/* @block is the held one now; the one before is done with. */
static void hold_block(ETraceEncoder *enc, const ETraceBlock *block, bool sync)
{
    if (!recover(enc)) {
        return;
    }
    process_first(enc, block, sync);
    if (enc->context_due) {
        /* "cci"; a format 3 packet would have told it, too. */
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
    etrace_encoder_count_resync(enc, ETRACE_SYNC_HALFWORDS, block->iretire);
}

void etrace_encoder_block(ETraceEncoder *enc, const ETraceBlock *block,
                          uint64_t tval)
{
    /*
     * Packets count as they are sent below, but an instruction has to keep
     * the state that it started in.
     */
    bool sync = enc->resync_due;

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
        sync |= enc->context_due == ETRACE_CTYPE_PRECISE;
        if (path_breaks(enc, block, sync)) {
            close_window(enc);
        } else {
            etrace_encoder_finish_last(enc, enc->last.priv != block->priv
                                            ? NEXT_PRIVILEGE : NEXT_PLAIN,
                                       block->iaddr, sync);
        }
    }
    hold_block(enc, block, sync);
}

/*
 * Nothing is pending but the held block. The modes that have to know more of
 * a block than whether it ends in a branch or in a direct jump are left to
 * etrace_encoder_block().
 */
static bool is_plain(const ETraceEncoder *enc)
{
    return enc->enabled && enc->have_last && enc->itype_width == 4 &&
           !(enc->lost | enc->have_trap | enc->resync_due | enc->context_due |
             enc->notify_due | enc->last_reported | enc->last_is_target |
             enc->after_jump | enc->last_after_jump | enc->target_revisited |
             enc->target_irreport) &&
           !(enc->params.ioptions & (ETRACE_IOPT_BRANCH_PREDICTION |
                                     ETRACE_IOPT_IMPLICIT_RETURN));
}

size_t etrace_encoder_plain_blocks(ETraceEncoder *enc,
                                   const ETraceBlock *blocks, size_t n)
{
    /* Itypes, of the held block and of the one behind it */
    const unsigned plain_last = 1u << ETRACE_ITYPE_NONE |
                                1u << ETRACE_ITYPE_NONTAKEN_BRANCH |
                                1u << ETRACE_ITYPE_TAKEN_BRANCH |
                                1u << ETRACE_ITYPE_INFERABLE_CALL |
                                1u << ETRACE_ITYPE_INFERABLE_JUMP |
                                1u << ETRACE_ITYPE_OTHER_INFERABLE_JUMP;
    const ETraceBlock *last = &enc->last;
    bool by_halfwords = enc->sync_mode == ETRACE_SYNC_HALFWORDS;
    size_t i;

    if (!is_plain(enc)) {
        return 0;
    }
    for (i = 0; i < n && !enc->resync_due; i++) {
        const ETraceBlock *b = &blocks[i];

        if (!(plain_last & (1u << last->itype)) || b->priv != last->priv ||
            !b->iretire || (b->flags & ETRACE_BLOCK_EVENT)) {
            break;
        }
        if (etrace_itype_is_branch(last->itype)) {
            enc->branch_map |=
                (uint32_t)(last->itype == ETRACE_ITYPE_NONTAKEN_BRANCH)
                << enc->branches;
            enc->map_failed = true;
            if (++enc->branches == ETRACE_BRANCHES_MAX) {
                etrace_encoder_flush_branches(enc, etrace_block_last(last));
            }
            etrace_encoder_run_restart(enc, b->iaddr);
        } else if (last->itype != ETRACE_ITYPE_NONE) {
            etrace_encoder_run_jump(enc, etrace_block_last(last), b->iaddr);
        }
        if (enc->lost) {
            hold_block(enc, b, false);
            return i + 1;
        }
        last = b;
        if (by_halfwords) {
            enc->resync_count += b->iretire;
            enc->resync_due |= enc->resync_count >= enc->sync_max;
        }
    }
    enc->last = *last;
    return i;
}

void etrace_encoder_end_window(ETraceEncoder *enc)
{
    if (enc->started) {
        close_window(enc);
    }
}

void etrace_encoder_stop(ETraceEncoder *enc)
{
    if (!enc->enabled) {
        return;
    }
    enc->enabled = false;
    if (enc->lost) {
        recover(enc);
    } else if (enc->started) {
        close_window(enc);
    } else {
        etrace_encoder_send_support(enc, ETRACE_QUAL_NO_CHANGE);
    }
}
