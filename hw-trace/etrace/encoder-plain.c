/*
 * E-Trace instruction trace encoder: the short way for most blocks
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "encoder-private.h"

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
            !b->iretire ||
            (b->flags & (ETRACE_BLOCK_EVENT | ETRACE_BLOCK_STRETCH))) {
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
            etrace_encoder_hold(enc, b, false);
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
