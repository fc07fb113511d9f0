/*
 * RISC-V trace of programs: from a thread's port through its encoder into the
 * file
 *
 * In the thread, or in another one while it does not run code of the guest.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "private.h"

void riscv_trace_user_flush(RISCVTraceUserThread *t)
{
    if (t->len) {
        riscv_trace_process_put(t->batch, t->len);
        t->len = 0;
    }
}

/* Where @size bytes of packets can be put, of which the batch gets as many. */
static uint8_t *room_for(RISCVTraceUserThread *t, size_t size)
{
    if (t->len + size > sizeof(t->batch)) {
        riscv_trace_user_flush(t);
    }
    return t->batch + t->len;
}

static bool user_emit(void *opaque, const ETracePacket *pkt,
                      const uint8_t *payload, size_t len)
{
    RISCVTraceUserThread *t = opaque;
    uint8_t *out = room_for(t, ETRACE_ENCAP_MAX);

    t->len += etrace_encap_wrap(&t->enc.params, payload, len, out);
    t->packets++;
    return true;
}

static bool user_emit_many(void *opaque, const uint8_t *packets, size_t size,
                           unsigned n)
{
    RISCVTraceUserThread *t = opaque;

    memcpy(room_for(t, size), packets, size);
    t->len += size;
    t->packets += n;
    return true;
}

static bool user_ready(void *opaque)
{
    return true;
}

static const ETraceEncoderOps user_encoder_ops = {
    .emit = user_emit,
    .ready = user_ready,
    .emit_many = user_emit_many,
};

static void user_start(void *opaque)
{
    RISCVTraceUserThread *t = opaque;
    ETraceParams params = t->enc.params;

    etrace_encoder_init(&t->enc, &params, &user_encoder_ops, t);
    t->enc.itype_width = 4;
    t->enc.ioptions = riscv_trace_process.ioptions;
    t->upper.rd = 0;
    etrace_encoder_start(&t->enc);
}

static void user_stop(void *opaque)
{
    RISCVTraceUserThread *t = opaque;

    etrace_encoder_stop(&t->enc);
    riscv_trace_user_flush(t);
}

static uint64_t user_fence(void *opaque)
{
    RISCVTraceUserThread *t = opaque;

    etrace_encoder_end_window(&t->enc);
    return t->packets;
}

static ETraceDetail user_detail(void *opaque, ETracePriv priv, uint64_t pc,
                                ETraceHistoryModes *modes,
                                ETraceRanges *ranges)
{
    RISCVTraceUserThread *t = opaque;
    ETraceDetail detail = etrace_encoder_detail(&t->enc, modes);

    if (detail == ETRACE_DETAIL_HISTORY && modes->sijump && t->upper.rd) {
        /* The next instruction may be a sequentially inferable jump. */
        return ETRACE_DETAIL_BLOCK;
    }
    return detail;
}

static void user_block(RISCVTraceUserThread *t, const ETraceBlock *b,
                       uint64_t tval)
{
    ETraceBlock sijump;

    etrace_encoder_block(&t->enc, etrace_upper_next(&t->upper, b, &sijump),
                         tval);
}

static void user_retire(void *opaque, const ETraceSlot *slots, size_t n)
{
    RISCVTraceUserThread *t = opaque;

    for (size_t i = 0; i < n; i++) {
        const ETraceSlot *slot = &slots[i];
        size_t run = etrace_encoder_plain_blocks(&t->enc, slot, n - i);

        if (run) {
            i += run - 1;
            etrace_upper_keep(&t->upper, &slots[i].block);
        } else if (etrace_slot_type(slot) == ETRACE_SLOT_HISTORY) {
            i += etrace_encoder_history(&t->enc, slot, n - i, &t->next) - 1;
            etrace_upper_keep_history(&t->upper, &slots[i].history);
        } else if (etrace_slot_is_block(slot)) {
            user_block(t, &slot->block,
                       slot->block.itype == ETRACE_ITYPE_EXCEPTION
                       ? slot->tval : 0);
        } else if (slot->event.type == ETRACE_EVENT_NEXT) {
            t->next = slot->event.value;
        }
    }
}

const RISCVTraceHartOps riscv_trace_user_hart_ops = {
    .retire = user_retire,
    .start = user_start,
    .stop = user_stop,
    .fence = user_fence,
    .detail = user_detail,
};
