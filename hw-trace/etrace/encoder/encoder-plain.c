/*
 * E-Trace instruction trace encoder: blocks that no packet follows from
 *
 * Most blocks follow a branch, an inferable jump or nothing that changes the
 * path, and nothing is pending: a bit in the branch map or a range of the run
 * is all that comes of them. Does what etrace_encoder_block() would.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "encoder-private.h"

static bool is_plain(const ETraceEncoder *enc)
{
    return etrace_encoder_only_holds(enc) && enc->started &&
           enc->itype_width == 4 &&
           !(enc->params.ioptions & (ETRACE_IOPT_BRANCH_PREDICTION |
                                     ETRACE_IOPT_IMPLICIT_RETURN));
}

/* Go on from @last to @next; false if that is not plain. */
static inline bool go_on(ETraceEncoder *enc, const ETraceBlock *last,
                         const ETraceBlock *next)
{
    if (etrace_itype_is_trap(next->itype) || next->iretire == 0 ||
        next->priv != last->priv) {
        return false;
    }
    if (etrace_itype_is_branch(last->itype)) {
        if (enc->branches == ETRACE_BRANCHES_MAX - 1) {
            return false;
        }
        enc->branch_map |=
            (uint32_t)(last->itype == ETRACE_ITYPE_NONTAKEN_BRANCH)
            << enc->branches;
        enc->branches++;
        etrace_encoder_run_restart(enc, next->iaddr);
    } else if (etrace_itype_is_inferable_jump(last->itype)) {
        if (enc->run_count == ETRACE_RUN_MAX) {
            return false;
        }
        etrace_encoder_run_jump(enc, etrace_block_last(last), next->iaddr);
    } else if (last->itype != ETRACE_ITYPE_NONE) {
        return false;
    }
    etrace_encoder_count_resync(enc, ETRACE_SYNC_HALFWORDS, next->iretire);
    return true;
}

size_t etrace_encoder_plain_blocks(ETraceEncoder *enc, const ETraceSlot *slots,
                                   size_t n)
{
    const ETraceBlock *last = &enc->last;
    size_t done = 0;

    if (!is_plain(enc)) {
        return 0;
    }
    for (size_t i = 0; i < n && !enc->resync_due; i++) {
        const ETraceBlock *b = &slots[i].block;

        if (etrace_slot_type(&slots[i]) == ETRACE_SLOT_ACCESS) {
            continue;
        }
        /*
         * An access that the block ends before is of an instruction that did
         * not get to its end. A jump through a register that was just loaded
         * may be sequentially inferable, which the caller knows.
         */
        if (!etrace_slot_is_block(&slots[i]) ||
            (i > done && slots[i - 1].access.offset >= b->iretire) ||
            (b->cause && b->itype != ETRACE_ITYPE_NONE) ||
            !go_on(enc, last, b)) {
            break;
        }
        last = b;
        done = i + 1;
    }
    if (done) {
        enc->map_failed |= enc->branches != 0;
        enc->after_jump = false;
        enc->last_after_jump = false;
        enc->last = *last;
    }
    return done;
}
