/*
 * E-Trace instruction trace encoder: start and end, modes, and what is no block
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "encoder/encoder-private.h"

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

void etrace_encoder_time(ETraceEncoder *enc, uint64_t time, ETraceCtype ctype)
{
    if (enc->params.time_width) {
        enc->time = time;
        enc->context_due = MAX(enc->context_due, (uint8_t)ctype);
    }
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
