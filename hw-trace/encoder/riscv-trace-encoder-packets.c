/*
 * RISC-V trace encoder: from packets to the sink
 *
 * In the hart's own thread, or in another while the VM is stopped.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "target/riscv/trace/reader.h"
#include "riscv-trace-encoder-private.h"
#include "hw/trace/trace.h"

void riscv_trace_encoder_data_lost(RISCVTraceEncoder *s)
{
    if (s->enc.denable) {
        s->enc.dloss = true;
        riscv_trace_encoder_units[RISCV_TRACE_UNIT_DATA]->lost(s);
    }
}

static void put_batch(RISCVTraceEncoder *s)
{
    if (s->sink_class->put(s->sink, s->hart_index, s->batch.bytes, s->batch.len,
                           s->batch.packets)) {
        s->packets += s->batch.packets;
    } else {
        s->lost = true;
        riscv_trace_encoder_data_lost(s);
        qatomic_set(&s->stall_or_overflow, true);
        trace_riscv_trace_encoder_lost(s->hart_index, s->batch.packets);
    }
    s->batch.len = 0;
    s->batch.packets = 0;
    s->asked = false;
}

void riscv_trace_encoder_flush(RISCVTraceEncoder *s)
{
    if (s->batch.len) {
        put_batch(s);
    }
    /* Data trace has ended only when the sink has its last packet. */
    qatomic_set(&s->tracing_data, s->enc.denable);
}

void riscv_trace_encoder_report_loss(RISCVTraceEncoder *s)
{
    if (s->lost) {
        s->lost = false;
        s->enc.lost = true;
    }
    if ((s->enc.lost || s->enc.dloss) &&
        s->sink_class->room(s->sink, s->hart_index)) {
        etrace_encoder_support(&s->enc);
        riscv_trace_encoder_flush(s);
    }
}

/*
 * Is there room for @size bytes in the batch? If not, it is handed over; false
 * if one has been lost, whose packets had been accepted. The next instruction
 * packet says so.
 */
static bool riscv_trace_encoder_room(RISCVTraceEncoder *s, bool data,
                                     size_t size)
{
    if (s->batch.len + size > RISCV_TRACE_ENCODER_BATCH) {
        riscv_trace_encoder_flush(s);
    }
    if (s->lost) {
        s->lost = data;
        return false;
    }
    return true;
}

bool riscv_trace_encoder_put(RISCVTraceEncoder *s, bool data,
                             const uint8_t *payload, size_t len)
{
    ETraceEncapPacket encap = {
        .src_id = s->enc.params.src_id,
        .extend = s->timestamps,
        .data = data,
        .payload = payload,
        .len = len,
    };

    if (!riscv_trace_encoder_room(s, data, ETRACE_ENCAP_MAX)) {
        return false;
    }
    if (s->timestamps) {
        uint64_t ticks = riscv_trace_timestamp_ticks(&s->ts);

        encap.timestamp = riscv_trace_timestamp_bits(&s->ts, ticks);
        if (!s->any_ticks) {
            s->any_ticks = true;
            qatomic_set_u64(&s->first_ticks, ticks);
        }
        qatomic_set_u64(&s->last_ticks, ticks);
    }
    s->batch.len += etrace_encap_pack(&s->enc.params, &encap,
                                      s->batch.bytes + s->batch.len);
    s->batch.packets++;
    return true;
}

static bool riscv_trace_encoder_emit(void *opaque, const ETracePacket *pkt,
                                     const uint8_t *payload, size_t len)
{
    RISCVTraceEncoder *s = opaque;

    if (s->enc.denable && pkt->format == ETRACE_FORMAT_SYNC &&
        (pkt->subformat == ETRACE_SYNC_START ||
         pkt->subformat == ETRACE_SYNC_TRAP)) {
        riscv_trace_encoder_units[RISCV_TRACE_UNIT_DATA]->resync(s);
    }
    return riscv_trace_encoder_put(s, false, payload, len);
}

static bool riscv_trace_encoder_emit_many(void *opaque, const uint8_t *packets,
                                          size_t size, unsigned n)
{
    RISCVTraceEncoder *s = opaque;

    if (!s->timestamps) {
        if (!riscv_trace_encoder_room(s, false, size)) {
            return false;
        }
        memcpy(s->batch.bytes + s->batch.len, packets, size);
        s->batch.len += size;
        s->batch.packets += n;
        return true;
    }
    while (size) {
        ETraceEncapPacket encap;

        etrace_encap_parse(&s->enc.params, packets, size, &encap);
        if (!riscv_trace_encoder_put(s, false, encap.payload, encap.len)) {
            return false;
        }
        packets += encap.size;
        size -= encap.size;
    }
    return true;
}

static bool riscv_trace_encoder_ready(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    return s->sink_class->room(s->sink, s->hart_index);
}

static void riscv_trace_encoder_broken(void *opaque)
{
    RISCVTraceEncoder *s = opaque;

    riscv_trace_encoder_flush(s);
    if (!s->lost) {
        riscv_trace_reader_fence(s->cpu, s->packets);
    }
}

const ETraceEncoderOps riscv_trace_encoder_ops = {
    .emit = riscv_trace_encoder_emit,
    .ready = riscv_trace_encoder_ready,
    .emit_many = riscv_trace_encoder_emit_many,
    .broken = riscv_trace_encoder_broken,
};
