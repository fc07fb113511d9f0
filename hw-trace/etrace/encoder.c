/*
 * E-Trace instruction trace encoder: windows, modes, and what is no block
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "encoder-private.h"

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
        etrace_encoder_finish_window(enc);
    } else if (enc->have_trap && !enc->trap_reported) {
        etrace_encoder_send_trap_alone(enc, 0, 0);
    }
    etrace_encoder_send_support(enc, qual_status);
    etrace_encoder_forget_window(enc);
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
        etrace_encoder_close_window(enc);
    }
    enc->enabled = true;
    set_modes(enc);
    if (enc->lost) {
        etrace_encoder_recover(enc);
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
        etrace_encoder_close_window(enc);
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

void etrace_encoder_support(ETraceEncoder *enc)
{
    if (enc->lost) {
        etrace_encoder_recover(enc);
    } else {
        etrace_encoder_send_support(enc, ETRACE_QUAL_NO_CHANGE);
    }
}

void etrace_encoder_end_window(ETraceEncoder *enc)
{
    if (enc->started) {
        etrace_encoder_close_window(enc);
    }
}

void etrace_encoder_stop(ETraceEncoder *enc)
{
    if (!enc->enabled) {
        return;
    }
    enc->enabled = false;
    if (enc->lost) {
        etrace_encoder_recover(enc);
    } else if (enc->started) {
        etrace_encoder_close_window(enc);
    } else {
        etrace_encoder_send_support(enc, ETRACE_QUAL_NO_CHANGE);
    }
}
