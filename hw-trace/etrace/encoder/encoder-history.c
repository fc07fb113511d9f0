/*
 * E-Trace instruction trace encoder: branch history instead of blocks
 *
 * What is reported besides branches is the target of an updiscon, or the last
 * instruction ahead of a format 3 packet. Between these, only the outcome of
 * branches counts, and what was not as the decoder expects: a branch that was
 * not predicted, a return that went elsewhere. The run (encoder-run.c) begins
 * behind the newest branch, at a place that is not reported. If it leads to an
 * updiscon, the hart says whether its target may be in it. Else addresses only
 * increase from there, and from one jump back to the next, of which each ends
 * a history.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "history.h"

ETraceDetail etrace_encoder_detail(ETraceEncoder *enc, ETraceHistoryModes *m)
{
    const ETraceParams *p = &enc->params;
    bool returns = p->ioptions & ETRACE_IOPT_IMPLICIT_RETURN;
    bool predict = p->ioptions & ETRACE_IOPT_BRANCH_PREDICTION;

    /*
     * Half-words and cycles are not counted. Draft 2.1 wants to know how many
     * implicit returns there were; a call counter's depth cannot always be
     * reported. The predictor's index must be inside a page.
     */
    if (!enc->enabled || enc->lost || enc->itype_width != 4 ||
        (enc->sync_mode != ETRACE_SYNC_OFF &&
         enc->sync_mode != ETRACE_SYNC_PACKETS) ||
        (returns && (etrace_encoder_is_2_1(enc) || !p->return_stack_size)) ||
        (predict && p->iaddress_lsb + p->bpred_size > 12)) {
        return ETRACE_DETAIL_BLOCKS;
    }
    /*
     * A block, if the next instruction is to be synchronised, as it is after a
     * trap return to another privilege or with another context: that takes to
     * know whether it is a branch. If the held block is a return, whether it
     * is an implicit one is not known yet.
     */
    if (!enc->have_last || enc->have_trap || enc->resync_due ||
        enc->notify_due || enc->context_due ||
        enc->last.itype == ETRACE_ITYPE_TRAP_RETURN ||
        etrace_encoder_is_return(enc)) {
        return ETRACE_DETAIL_BLOCK;
    }
    *m = (ETraceHistoryModes) {
        .stack = returns ? &enc->stack : NULL,
        .predictor = predict ? &enc->predictor : NULL,
        .sijump = p->ioptions & ETRACE_IOPT_SIJUMP,
        .exact_run = p->ioptions & (ETRACE_IOPT_IMPLICIT_RETURN |
                                    ETRACE_IOPT_SIJUMP |
                                    ETRACE_IOPT_JUMP_TARGET_CACHE),
    };
    return ETRACE_DETAIL_HISTORY;
}

/*
 * @n branches, 63 at most, the oldest one in bit 0 of @outcomes (1: not taken)
 * and of @missed (1: not as predicted)
 */
static void note_branches(ETraceEncoder *enc, uint64_t outcomes,
                          uint64_t missed, unsigned n)
{
    while (n) {
        unsigned room = ETRACE_BRANCHES_MAX - enc->branches;
        unsigned take = MIN(room, n);

        if (enc->pbc) {
            take = missed ? __builtin_ctzll(missed) : 64;
            if (take >= n) {
                enc->pbc += n;
                return;
            }
            enc->pbc += take;
            enc->branch_failed = true;
            take++;
            etrace_encoder_flush_branches(enc, 0);
        } else {
            enc->branch_map |= (outcomes & etrace_ones(take)) << enc->branches;
            enc->branches += take;
            enc->map_failed |= (missed & etrace_ones(take)) != 0;
            if (enc->branches == ETRACE_BRANCHES_MAX) {
                if (enc->map_failed) {
                    etrace_encoder_flush_branches(enc, 0);
                } else {
                    enc->pbc = ETRACE_BRANCHES_MAX;
                    enc->branches = 0;
                    enc->branch_map = 0;
                }
            }
        }
        outcomes >>= take;
        missed >>= take;
        n -= take;
    }
}

/* It begins at @first. */
static void one_history(ETraceEncoder *enc, uint64_t first,
                        const ETraceHistory *h)
{
    const ETraceBlock last = last_block(h);
    Branches b;

    if (!enc->enabled || enc->lost) {
        return;
    }
    if (!enc->have_last) {
        enc->lost = true;
        return;
    }
    if (history_is_single(h, first)) {
        etrace_encoder_block(enc, &last, 0);
        return;
    }
    etrace_encoder_go_on(enc, first);
    b = history_branches(h, history_bits(enc));
    note_branches(enc, b.outcomes, b.missed, b.n);
    enc->resync_due |= enc->pbc >= PBC_MANY;
    history_run(enc, h, b.n);
    hold_last(enc, &last);
}

size_t etrace_encoder_history(ETraceEncoder *enc, const ETraceSlot *slots,
                              size_t n, uint64_t *next)
{
    size_t i = 0;

    while (i < n && etrace_slot_type(&slots[i]) == ETRACE_SLOT_HISTORY) {
        if (etrace_encoder_is_plain(enc)) {
            i += etrace_encoder_short(enc, slots + i, n - i, next);
            if (i == n ||
                etrace_slot_type(&slots[i]) != ETRACE_SLOT_HISTORY) {
                break;
            }
        }
        one_history(enc, *next, &slots[i].history);
        *next = slots[i].history.next;
        i++;
    }
    return i;
}
