/*
 * The decoding of one hart: its code, and to begin in the middle
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "trace/trace-private.h"

Image *trace_image_new(const Trace *t, unsigned hart)
{
    const TraceHart *h = &t->harts[hart];
    InsnIsa isa = {
        .xlen = h->params.iaddress_width,
        .zcmp = t->isa.zcmp || (h->isa & ETRACE_SB_ISA_ZCMP),
        .zcmt = t->isa.zcmt || (h->isa & ETRACE_SB_ISA_ZCMT),
        .tags = h->isa & ETRACE_SB_ISA_TAGS,
    };

    return image_new(&isa, t->sideband, hart, t->elf);
}

void trace_take_notes(TraceDecoder *d)
{
    SidebandNote note;

    while (image_next_note(d->image, &note)) {
        if (d->consumer->note && !d->stop) {
            d->consumer->note(d->opaque, &note);
        }
    }
}

uint64_t trace_sideband_pos(const TraceDecoder *d)
{
    SidebandWhere where = { 0 };

    if (d->image->view) {
        sideband_view_where(d->image->view, 0, 0, &where);
    }
    return where.pos;
}

bool trace_decoder_point(const TraceDecoder *d, TracePoint *point)
{
    *point = (TracePoint) {
        .part = d->part,
        .pos = d->stream.pos,
        .support = d->support,
        .packets = d->packets,
        .advanced = d->advanced,
        .sideband_pos = trace_sideband_pos(d),
    };
    return !d->trace->pieces.runs && !d->consumer->data &&
           flow_point(&d->flow, &point->flow);
}

bool trace_resume_image(TraceDecoder *d, const TraceStart *start)
{
    const TracePoint *p = start->point;

    for (d->part = 0; d->part < p->part; d->part++) {
        image_advance(d->image, start->advanced[d->part]);
        trace_take_notes(d);
        d->bytes += d->trace->end - d->trace->begin;
        g_array_append_val(d->ended, start->advanced[d->part]);
        d->trace = d->trace->next;
        if (!d->trace) {
            return false;
        }
        image_restart(d->image, d->trace->sideband);
    }
    image_advance(d->image, p->advanced);
    trace_take_notes(d);
    return trace_sideband_pos(d) == p->sideband_pos;
}

/* Returns false if there is none. */
static bool read_support(TraceDecoder *d, uint64_t pos, ETracePacket *pkt)
{
    Stream stream = d->stream;
    StreamItem item;

    if (pos < stream.begin || pos >= stream.end) {
        return false;
    }
    stream.pos = pos;
    return stream_next(&stream, &item) == STREAM_PACKET && !item.pkt.data &&
           item.offset == pos &&
           etrace_packet_unpack(&d->flow.params, item.payload, item.len,
                                pkt) &&
           pkt->format == ETRACE_FORMAT_SYNC &&
           pkt->subformat == ETRACE_SYNC_SUPPORT;
}

bool trace_resume_part(TraceDecoder *d, const TracePoint *p)
{
    ETracePacket support;
    bool has = p->support != TRACE_NO_SUPPORT;

    if (d->trace->pieces.runs ||
        p->pos < d->stream.begin || p->pos > d->stream.end ||
        (has && !read_support(d, p->support, &support)) ||
        !flow_resume(&d->flow, has ? &support : NULL, &p->flow)) {
        return false;
    }
    if (has && trace_has_data(d)) {
        etrace_params_follow(&d->data.params, &support);
    }
    /* A ring that is cut begins with a wait, which is over at a point. */
    d->flow.waiting = false;
    d->stream.pos = p->pos;
    d->packets = p->packets;
    d->advanced = p->advanced;
    d->support = p->support;
    return true;
}

Image *trace_image_at(const Trace *t, unsigned hart, unsigned part,
                      const uint64_t *advanced, uint64_t packets)
{
    Image *image = trace_image_new(t, hart);

    for (unsigned i = 0; i < part && t->next; i++) {
        image_advance(image, advanced[i]);
        t = t->next;
        image_restart(image, t->sideband);
    }
    image_advance(image, packets);
    return image;
}
