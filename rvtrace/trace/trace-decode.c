/*
 * The decoding of one hart: stream, sideband and flow put together
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "flow/flow-paths.h"
#include "flow/flow-report.h"
#include "base/input.h"
#include "trace/trace-private.h"

static TracePacketKind packet_kind(const ETracePacket *pkt)
{
    switch (pkt->format) {
    case ETRACE_FORMAT_DIFF_DELTA:
        return pkt->branches ? TRACE_PKT_F1 : TRACE_PKT_F1_NO_ADDR;
    case ETRACE_FORMAT_ADDR_ONLY:
        return TRACE_PKT_F2;
    case ETRACE_FORMAT_SYNC:
        return TRACE_PKT_F3_START + pkt->subformat;
    default:
        return TRACE_PKT_F0;
    }
}

static void report_loss(void *opaque, const FlowLoss *loss)
{
    TraceDecoder *d = opaque;
    TraceLoss report = {
        .hart = d->hart,
        .part = d->trace,
        .packet = d->packets,
        .offset = d->item.offset,
        .bytes = loss->kind == FLOW_LOST_FRAMING ? d->item.size : 0,
        .flow = *loss,
    };

    if (d->trace->places) {
        report.offset = unit_place(d->trace->places, d->item.offset);
        report.bytes = report.bytes ?
            unit_place(d->trace->places, d->item.offset + d->item.size) -
            report.offset : 0;
    }
    d->stats.losses[loss->kind]++;
    if (loss->kind == FLOW_LOST_WORK) {
        d->gave_up = true;
        d->stop = true;
    }
    if (trace_has_data(d)) {
        data_flow_gap(&d->data);
    }
    if (d->consumer->loss) {
        d->consumer->loss(d->opaque, &report);
    }
}

/* Where traps lead, by the sideband stream or else by the options */
static bool find_tvec(void *opaque, uint8_t priv, uint64_t *xtvec)
{
    TraceDecoder *d = opaque;

    if (image_tvec(d->image, priv, xtvec)) {
        return true;
    }
    if (priv >= SIDEBAND_NR_PRIVS || !d->trace->tvec.known[priv]) {
        return false;
    }
    *xtvec = d->trace->tvec.value[priv];
    return true;
}

static void report_data_loss(TraceDecoder *d, FlowLossKind kind)
{
    FlowLoss loss = {
        .kind = kind,
        .pc_known = d->flow.started,
        .pc = d->flow.pc,
    };

    report_loss(d, &loss);
}

/* As much as the bytes so far make likely */
static void allow_work(TraceDecoder *d)
{
    uint64_t bytes = d->bytes + d->item.offset + d->item.size -
                     d->trace->begin;
    uint64_t most = TRACE_WORK_MIN + bytes * TRACE_WORK_PER_BYTE;

    if (!d->patient) {
        d->flow.steps_max = most - d->work;
    }
}

/* Packets that are looked at for a timestamp */
#define PROBED_PACKETS  10000

bool trace_reports_time(const Trace *t, unsigned hart, bool *timestamp)
{
    const ETraceParams *params = &t->harts[hart].params;
    StreamSources sources = { .params = *params, .known = t->known_ids };
    bool any = false;
    Stream stream;
    StreamItem item;

    stream_init(&stream, t->data, t->begin, t->end, &sources);
    for (unsigned n = 0; params->ts_bytes && n < PROBED_PACKETS; n++) {
        StreamEvent event = stream_next(&stream, &item);

        if (event == STREAM_PACKET && !item.quick && item.pkt.extend) {
            *timestamp = true;
            return true;
        }
        any |= event == STREAM_PACKET;
        if (event == STREAM_END) {
            *timestamp = !any;
            return !any || params->time_width;
        }
    }
    *timestamp = false;
    return params->time_width;
}

/* What @pkt, which has been followed, says of the time */
static void report_time(TraceDecoder *d, const ETracePacket *pkt)
{
    const ETraceParams *params = &d->flow.params;

    if (params->ts_bytes && !d->item.quick && d->item.pkt.extend) {
        flow_flush(&d->flow);
        d->consumer->time(d->opaque, d->item.pkt.timestamp,
                          8 * params->ts_bytes, true);
    } else if (params->time_width && pkt->format == ETRACE_FORMAT_SYNC &&
               pkt->subformat != ETRACE_SYNC_SUPPORT) {
        flow_flush(&d->flow);
        d->consumer->time(d->opaque, pkt->time, params->time_width, false);
    }
}

static void inst_packet(TraceDecoder *d)
{
    ETracePacket pkt;

    d->stats.payload_bytes += d->item.len;
    d->stats.wire_bytes += d->item.size;
    if (!(d->item.quick && packet_quick(&d->flow.params, d->item.word,
                                        d->item.len, &pkt)) &&
        !etrace_packet_unpack(&d->flow.params, d->item.payload, d->item.len,
                              &pkt)) {
        d->stats.packets[TRACE_PKT_MALFORMED]++;
        flow_gap(&d->flow, FLOW_LOST_MALFORMED);
        return;
    }
    d->stats.packets[packet_kind(&pkt)]++;
    allow_work(d);
    if (packet_kind(&pkt) == TRACE_PKT_F3_SUPPORT) {
        d->support = d->item.offset;
    }
    flow_packet(&d->flow, &pkt);
    if (d->consumer->time) {
        report_time(d, &pkt);
    }
    if (trace_has_data(d)) {
        data_flow_inst_packet(&d->data, &pkt);
    }
    if (pkt.dloss) {
        report_data_loss(d, FLOW_LOST_DATA);
    }
    if (pkt.format == ETRACE_FORMAT_SYNC &&
        pkt.subformat != ETRACE_SYNC_SUPPORT) {
        d->synced = true;
    }
}

static DataFlowStatus decode_access(TraceDecoder *d)
{
    const int64_t *word = d->item.quick ? &d->item.word : NULL;
    ETraceDataAccess access;
    DataFlowStatus status;

    if (d->consumer->data) {
        return data_flow_packet(&d->data, d->item.payload, d->item.len, word);
    }
    status = data_flow_access(&d->data, d->item.payload, d->item.len, word,
                              &access);
    if (status == DATA_FLOW_OK) {
        d->consumer->access(d->opaque, &access);
    }
    return status;
}

static void data_packet(TraceDecoder *d)
{
    d->stats.data_packets++;
    d->stats.data_payload_bytes += d->item.len;
    d->stats.data_wire_bytes += d->item.size;
    if (!trace_has_data(d)) {
        return;
    }
    switch (decode_access(d)) {
    case DATA_FLOW_MALFORMED:
        report_data_loss(d, FLOW_LOST_DATA_MALFORMED);
        break;
    case DATA_FLOW_NO_BASE:
        report_data_loss(d, FLOW_LOST_DATA_BASE);
        break;
    default:
        break;
    }
}

static void reach_barrier(TraceDecoder *d)
{
    if (d->packets >= d->barrier) {
        image_advance(d->image, d->packets);
        d->advanced = d->packets;
        d->barrier = image_barrier(d->image);
        trace_take_notes(d);
    }
}

/* Both kinds count where the sideband speaks of packets. */
static void one_packet(TraceDecoder *d)
{
    reach_barrier(d);
    if (d->item.pkt.data) {
        data_packet(d);
    } else {
        inst_packet(d);
    }
    d->packets++;
    if (d->synced) {
        d->synced = false;
        if (d->consumer->synced && !d->stop) {
            d->consumer->synced(d->opaque);
        }
    }
}

/* Where the stream's next item begins, in the stream */
static uint64_t behind_item(const TraceDecoder *d)
{
    return d->trace->at + d->item.offset + d->item.size;
}

/*
 * Behind an alignment sequence the sideband stream may know how many packets
 * there should have been. If there were others, some are missing, and the
 * sideband's places would be wrong from here on.
 */
static void check_align(TraceDecoder *d)
{
    uint64_t packets;

    if (!d->trace->sideband || d->trace->ram ||
        !sideband_align_lookup(d->trace->sideband, behind_item(d), d->hart,
                               &packets) || packets == d->packets) {
        return;
    }
    d->item.size = 0;           /* of bytes that were skipped */
    flow_gap(&d->flow, FLOW_LOST_FRAMING);
    d->packets = packets;
}

static void skipped_framing(TraceDecoder *d)
{
    uint64_t packets;

    d->stats.skipped_bytes += d->item.size;
    flow_gap(&d->flow, FLOW_LOST_FRAMING);
    if (d->trace->sideband && !d->trace->ram &&
        sideband_align_lookup(d->trace->sideband, behind_item(d), d->hart,
                              &packets)) {
        d->packets = packets;
    }
}

/* What stands in front of a piece: which modes its packets are in */
static void read_head(TraceDecoder *d)
{
    StreamEvent event;
    ETracePacket pkt;

    d->stream.end = d->trace->begin;
    while ((event = stream_next(&d->stream, &d->item)) != STREAM_END) {
        if (event == STREAM_PACKET && !d->item.pkt.data &&
            etrace_packet_unpack(&d->flow.params, d->item.payload,
                                 d->item.len, &pkt) &&
            packet_kind(&pkt) == TRACE_PKT_F3_SUPPORT) {
            d->support = d->item.offset;
            flow_packet(&d->flow, &pkt);
            if (trace_has_data(d)) {
                data_flow_inst_packet(&d->data, &pkt);
            }
        }
    }
    d->stream.pos = d->trace->begin;
    d->stream.end = d->trace->end;
}

static void start_part(TraceDecoder *d)
{
    const Trace *t = d->trace;
    const TraceHart *h = &t->harts[d->hart];
    const TraceConsumer *consumer = d->consumer;
    StreamSources sources = { .params = h->params, .known = t->known_ids };

    if (trace_has_data(d)) {
        uint64_t associated = d->data.associated, others = d->data.others;

        data_flow_init(&d->data, &h->params, d->image, consumer->data,
                       d->opaque);
        d->data.associated = associated;
        d->data.others = others;
    }
    if (consumer->data || d->left != UINT64_MAX) {
        flow_init(&d->flow, &h->params, d->image, trace_between_ops(d), d,
                  report_loss, d);
    } else {
        flow_init(&d->flow, &h->params, d->image, &consumer->flow, d->opaque,
                  report_loss, d);
    }
    d->flow.stop = &d->stop;
    d->flow.paths = d->paths;
    d->flow.resync_repeats = t->resync_repeats;
    d->ends = (FlowEnds) { };
    d->flow.ends = t->block_ends ? &d->ends : NULL;
    d->flow.tvec = find_tvec;
    d->flow.tvec_opaque = d;
    stream_init(&d->stream, t->data, t->begin - t->head, t->end, &sources);
    d->packets = 0;
    d->advanced = 0;
    d->support = TRACE_NO_SUPPORT;
    d->barrier = image_barrier(d->image);
    if (t->pieces.runs) {
        d->run = 0;
        d->stream.end = t->begin;
        trace_next_run(d);
    } else if (t->head) {
        read_head(d);
        d->packets = h->first_packet;
        d->flow.waiting = true;
        d->data.waiting = true;
    } else if (t->ram && t->ring.cut) {
        /* It begins in the middle, with packets that need those before. */
        d->packets = h->first_packet;
        d->flow.params.ioptions = h->first_ioptions;
        d->flow.waiting = true;
        d->data.waiting = true;
    }
}

static void report_end(TraceDecoder *d, FlowLossKind kind, uint64_t packets)
{
    FlowLoss loss = {
        .kind = kind,
        .pc_known = d->flow.started,
        .pc = d->flow.pc,
        .packets = packets,
    };

    if (packets) {
        report_loss(d, &loss);
    }
}

/* Is this all that there was? */
static void check_end(TraceDecoder *d)
{
    const Trace *t = d->trace;
    SidebandEnd end;

    if (!t->sideband || t->goes_on) {
        return;
    }
    if (!sideband_end(t->sideband, d->hart, &end) ||
        d->packets > end.packets) {
        d->stats.unknown_ends++;
    } else if (t->ram) {
        /* Of those that it has stored, the ring keeps account itself. */
        d->stats.late_packets += end.lost_last;
    } else {
        report_end(d, FLOW_LOST_CUT, end.packets - d->packets);
        report_end(d, FLOW_LOST_END, end.lost_last);
    }
}

/* Bytes after which a decoder says how far it is */
#define REPORT_BYTES  (1u << 18)

/*
 * How far the decoder is. What is behind it is not needed any more, or, if
 * another hart's decoder does need it, comes from the file again.
 */
static void report_progress(TraceDecoder *d)
{
    size_t pos = d->stream.pos;

    if (!d->trace->ram) {
        input_let_go(d->trace->file, d->reported, pos);
    }
    __atomic_store_n(&d->progress, d->bytes + pos - d->trace->begin,
                     __ATOMIC_RELAXED);
    d->reported = pos;
}

uint64_t trace_decoder_progress(const TraceDecoder *d)
{
    return __atomic_load_n(&d->progress, __ATOMIC_RELAXED);
}

/* To the end of the stream; returns false if it was stopped before. */
static bool decode_stream(TraceDecoder *d)
{
    while (!d->stop) {
        if (G_UNLIKELY(d->stream.pos - d->reported >= REPORT_BYTES)) {
            report_progress(d);
        }
        switch (stream_next(&d->stream, &d->item)) {
        case STREAM_PACKET:
            one_packet(d);
            break;
        case STREAM_ALIGN:
            check_align(d);
            break;
        case STREAM_LOST:
            skipped_framing(d);
            break;
        case STREAM_END:
            if (!trace_next_run(d)) {
                return true;
            }
            break;
        }
    }
    return false;
}

/* Returns false if the part has no such place as @start, which may be NULL. */
static bool begin_part(TraceDecoder *d, const TraceStart *start)
{
    start_part(d);
    if (start) {
        if (!trace_resume_part(d, start->point)) {
            return false;
        }
        if (start->begun) {
            start->begun(d->opaque);
        }
    }
    trace_take_notes(d);
    d->reported = d->stream.pos;
    return true;
}

static void finish_part(TraceDecoder *d, bool end)
{
    if (end) {
        check_end(d);
        /* What stands behind the last packet */
        reach_barrier(d);
    }
    d->stats.skipped_packets += d->flow.skipped;
    d->stats.filled += d->ends.filled;
    d->stats.open += d->ends.open;
    d->work += d->flow.steps;
    report_progress(d);
    d->bytes += d->trace->end - d->trace->begin;
    g_array_append_val(d->ended, d->advanced);
    if (trace_has_data(d)) {
        data_flow_end(&d->data);
        data_flow_destroy(&d->data);
    }
}

/* Returns false if the trace has no such place as @start. */
static bool set_up(TraceDecoder *d, Trace *t, unsigned hart,
                   const TraceStart *start, const TraceConsumer *consumer,
                   void *opaque)
{
    assert(hart < t->nr_harts && t->harts[hart].present);
    *d = (TraceDecoder) {
        .trace = t,
        .hart = hart,
        .consumer = consumer,
        .opaque = opaque,
        .left = t->limit,
        .patient = t->patient,
        .stop = !t->limit,
        .paths = flow_paths_new(),
        .ended = g_array_new(false, false, sizeof(uint64_t)),
        .image = trace_image_new(t, hart),
    };
    return !start || trace_resume_image(d, start);
}

void trace_decoder_begin(TraceDecoder *d, Trace *t, unsigned hart,
                         const TraceConsumer *consumer, void *opaque)
{
    set_up(d, t, hart, NULL, consumer, opaque);
    begin_part(d, NULL);
}

static void free_decoder(TraceDecoder *d)
{
    g_clear_pointer(&d->image, image_free);
    g_clear_pointer(&d->paths, flow_paths_free);
    g_clear_pointer(&d->ended, g_array_unref);
}

void trace_decoder_grown(TraceDecoder *d)
{
    image_grown(d->image);
    d->barrier = image_barrier(d->image);
}

void trace_decoder_go_on(TraceDecoder *d, size_t end)
{
    d->stream.end = end;
    decode_stream(d);
}

/* Format 3, subformat 3 in the first bits, whatever the parameters */
#define SUPPORT_BITS    0xf

/*
 * Read on to @to for nothing but the modes that packets behind it are in: only
 * support packets report them.
 */
static void skim(TraceDecoder *d, size_t to)
{
    ETracePacket pkt;
    StreamEvent event;

    d->stream.end = to;
    while ((event = stream_next(&d->stream, &d->item)) != STREAM_END) {
        if (event == STREAM_PACKET && !d->item.pkt.data && d->item.len &&
            (d->item.payload[0] & SUPPORT_BITS) == SUPPORT_BITS &&
            etrace_packet_unpack(&d->flow.params, d->item.payload,
                                 d->item.len, &pkt)) {
            flow_packet(&d->flow, &pkt);
        }
    }
}

bool trace_decoder_skip(TraceDecoder *d, size_t to, uint64_t *packets)
{
    uint64_t before = d->packets;

    if (to <= d->stream.pos ||
        !sideband_align_lookup(d->trace->sideband, to, d->hart, packets) ||
        *packets < before) {
        return false;
    }
    d->item.offset = d->stream.pos;
    d->item.size = to - d->stream.pos;
    flow_gap(&d->flow, FLOW_LOST_FRAMING);
    skim(d, to);
    d->packets = *packets;
    *packets -= before;
    return true;
}

void trace_decoder_end(TraceDecoder *d)
{
    finish_part(d, !d->stop);
    free_decoder(d);
}

bool trace_decode_from(TraceDecoder *d, Trace *t, unsigned hart,
                       const TraceStart *start,
                       const TraceConsumer *consumer, void *opaque)
{
    bool ok = set_up(d, t, hart, start, consumer, opaque) &&
              begin_part(d, start);

    if (ok) {
        finish_part(d, decode_stream(d));
    }
    while (ok && !d->stop && d->trace->next) {
        d->trace = d->trace->next;
        d->part++;
        image_restart(d->image, d->trace->sideband);
        begin_part(d, NULL);
        finish_part(d, decode_stream(d));
    }
    d->sideband_end = trace_sideband_pos(d);
    free_decoder(d);
    return ok;
}

void trace_decode(TraceDecoder *d, Trace *t, unsigned hart,
                  const TraceConsumer *consumer, void *opaque)
{
    trace_decode_from(d, t, hart, NULL, consumer, opaque);
}

bool trace_decoder_fenced(const TraceDecoder *d)
{
    return image_fenced(d->image, d->packets + 1);
}

bool trace_decoder_knows_gaps(const TraceDecoder *d)
{
    return d->trace->sideband && sideband_has_gaps(d->trace->sideband);
}

const ETraceSbRegs *trace_decoder_registers(const TraceDecoder *d)
{
    return image_registers(d->image, d->packets);
}

unsigned trace_decoder_space(const TraceDecoder *d, unsigned priv)
{
    return image_space(d->image, priv);
}

bool trace_decoder_task(const TraceDecoder *d, SidebandTask *task)
{
    return image_task(d->image, task);
}

uint64_t trace_decoder_place(const TraceDecoder *d)
{
    return d->image->view ?
           sideband_in_part(d->part, sideband_view_pos(d->image->view)) : 0;
}
