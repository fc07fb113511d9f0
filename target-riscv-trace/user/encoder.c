/*
 * RISC-V trace of programs: from a thread's port through its encoder into the
 * file
 *
 * In the thread, or in another one while it does not run code of the guest.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "hw/trace/etrace/filter-ranges.h"
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

/* The time now, from when the trace began */
static uint64_t next_ticks(RISCVTraceUserThread *t)
{
    t->last_ticks = get_clock() - riscv_trace_process.began;
    if (!t->stamped) {
        t->stamped = true;
        t->first_ticks = t->last_ticks;
    }
    return t->last_ticks;
}

void riscv_trace_user_put(RISCVTraceUserThread *t, bool data,
                          const uint8_t *payload, size_t len)
{
    ETraceEncapPacket encap = {
        .src_id = t->enc.params.src_id,
        .data = data,
        .payload = payload,
        .len = len,
    };

    if (t->enc.params.ts_bytes) {
        encap.extend = true;
        encap.timestamp = next_ticks(t) &
                          MAKE_64BIT_MASK(0, 8 * t->enc.params.ts_bytes);
    }
    t->len += etrace_encap_pack(&t->enc.params, &encap,
                                room_for(t, ETRACE_ENCAP_MAX));
    t->packets++;
}

static bool user_emit(void *opaque, const ETracePacket *pkt,
                      const uint8_t *payload, size_t len)
{
    RISCVTraceUserThread *t = opaque;

    if (t->enc.denable && pkt->format == ETRACE_FORMAT_SYNC &&
        (pkt->subformat == ETRACE_SYNC_START ||
         pkt->subformat == ETRACE_SYNC_TRAP)) {
        etrace_data_reset(&t->data.state);
    }
    riscv_trace_user_put(t, false, payload, len);
    return true;
}

static bool user_emit_many(void *opaque, const uint8_t *packets, size_t size,
                           unsigned n)
{
    RISCVTraceUserThread *t = opaque;

    if (!t->enc.params.ts_bytes) {
        memcpy(room_for(t, size), packets, size);
        t->len += size;
        t->packets += n;
        return true;
    }
    while (size) {
        ETraceEncapPacket encap;

        etrace_encap_parse(&t->enc.params, packets, size, &encap);
        riscv_trace_user_put(t, false, encap.payload, encap.len);
        packets += encap.size;
        size -= encap.size;
    }
    return true;
}

static bool user_ready(void *opaque)
{
    return true;
}

static void user_broken(void *opaque)
{
    RISCVTraceUserThread *t = opaque;

    riscv_trace_reader_fence(t->cs, t->packets);
}

static const ETraceEncoderOps user_encoder_ops = {
    .emit = user_emit,
    .ready = user_ready,
    .emit_many = user_emit_many,
    .broken = user_broken,
};

static void user_start(void *opaque)
{
    RISCVTraceUserThread *t = opaque;
    const RISCVTraceUserOptions *options = &riscv_trace_process.options;
    ETraceParams params = t->enc.params;

    etrace_encoder_init(&t->enc, &params, &user_encoder_ops, t);
    t->enc.itype_width = 4;
    t->enc.ioptions = options->ioptions;
    t->enc.denable = options->data;
    if (options->data) {
        /* Whose an access is, is known from one of these to the next only. */
        t->enc.sync_mode = ETRACE_SYNC_HALFWORDS;
        t->enc.sync_max = 1 << 18;
    }
    t->upper.rd = 0;
    etrace_filter_init(&t->filter);
    t->filter.iaddress_width = params.iaddress_width;
    t->filter.daddress_width = params.daddress_width;
    etrace_filter_expr_apply(&options->filter, &t->filter);
    t->filtered = etrace_filter_active(&t->filter);
    riscv_trace_user_data_start(t);
    riscv_trace_hart_configure(t->cs, &(RISCVTraceHartConfig) {
        .data = options->data,
    });
    t->passed = false;
    etrace_encoder_start(&t->enc);
}

static void user_stop(void *opaque)
{
    RISCVTraceUserThread *t = opaque;

    t->enc.denable = false;
    etrace_encoder_stop(&t->enc);
    riscv_trace_user_flush(t);
}

static uint64_t user_fence(void *opaque)
{
    RISCVTraceUserThread *t = opaque;

    etrace_encoder_end_window(&t->enc);
    return t->packets;
}

/* What runs now is traced. */
static void user_resume(RISCVTraceUserThread *t)
{
    if (t->passed) {
        t->passed = false;
        riscv_trace_reader_resume(t->cs, t->packets);
    }
}

static ETraceDetail user_detail(void *opaque, ETracePriv priv, uint64_t pc,
                                ETraceHistoryModes *modes,
                                ETraceRanges *ranges)
{
    RISCVTraceUserThread *t = opaque;
    ETraceDetail detail;

    if (t->filtered) {
        ETraceFilter *filter = &t->filter;

        etrace_filter_ranges(&filter, 1, priv, ranges);
    }
    if (t->enc.denable) {
        return ETRACE_DETAIL_BLOCKS;
    }
    if (t->filtered && !etrace_ranges_qualify(ranges, pc)) {
        if (t->enc.started) {
            return ETRACE_DETAIL_BLOCKS;
        }
        t->passed = true;
        return ETRACE_DETAIL_NOTHING;
    }
    detail = etrace_encoder_detail(&t->enc, modes);
    if (detail == ETRACE_DETAIL_HISTORY && modes->sijump && t->upper.rd) {
        /* The next instruction may be a sequentially inferable jump. */
        return ETRACE_DETAIL_BLOCK;
    }
    return detail;
}

/* @slot is a block, and the thread's accesses that have been kept are its. */
static void user_block(RISCVTraceUserThread *t, const ETraceSlot *slot)
{
    const ETraceBlock *b = &slot->block;
    uint64_t tval = b->itype == ETRACE_ITYPE_EXCEPTION ? slot->tval : 0;
    bool trap = etrace_itype_is_trap(b->itype), qualified = true;
    size_t n = riscv_trace_user_data_count(t, b);
    g_autofree bool *traced = t->filtered && n ? g_new(bool, n) : NULL;
    ETraceBlock sijump;

    b = etrace_upper_next(&t->upper, b, &sijump);
    if (t->filtered) {
        qualified = etrace_filter_block(&t->filter, b, tval,
                                        (ETraceAccess *)t->data.kept->data, n,
                                        traced).qualified;
    }
    if (trap) {
        riscv_trace_user_data_send_kept(t, n, traced);
    }
    if (qualified) {
        user_resume(t);
        etrace_encoder_block(&t->enc, b, tval);
    } else {
        etrace_encoder_end_window(&t->enc);
        t->passed = true;
    }
    if (!trap) {
        riscv_trace_user_data_send_kept(t, n, traced);
    }
    riscv_trace_user_data_done(t, n);
}

/*
 * The blocks that the @n slots begin with, as long as no packet follows from
 * them, and their accesses. Returns how many of the slots these are.
 */
static size_t user_plain(RISCVTraceUserThread *t, const ETraceSlot *slots,
                         size_t n)
{
    size_t done = t->filtered || t->data.kept->len ? 0 :
                  etrace_encoder_plain_blocks(&t->enc, slots, n);

    if (done) {
        etrace_upper_keep(&t->upper, &slots[done - 1].block);
        if (t->enc.denable) {
            riscv_trace_user_data_send(t, slots, done);
        }
    }
    return done;
}

static void user_retire(void *opaque, const ETraceSlot *slots, size_t n)
{
    RISCVTraceUserThread *t = opaque;

    while (n) {
        size_t done = user_plain(t, slots, n);

        if (!done) {
            done = 1;
            switch (etrace_slot_type(slots)) {
            case ETRACE_SLOT_HISTORY:
                user_resume(t);
                done = etrace_encoder_history(&t->enc, slots, n, &t->next);
                etrace_upper_keep_history(&t->upper, &slots[done - 1].history);
                break;
            case ETRACE_SLOT_ACCESS:
                done = riscv_trace_user_data_keep(t, slots, n);
                break;
            case ETRACE_EVENT_NEXT:
                t->next = slots->event.value;
                break;
            default:
                if (etrace_slot_is_block(slots)) {
                    user_block(t, slots);
                }
                break;
            }
        }
        slots += done;
        n -= done;
    }
}

const RISCVTraceHartOps riscv_trace_user_hart_ops = {
    .retire = user_retire,
    .start = user_start,
    .stop = user_stop,
    .fence = user_fence,
    .detail = user_detail,
};
