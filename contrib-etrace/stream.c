/*
 * Trace streams: from bytes to the packets of one hart
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "stream.h"

#define HEADER_LENGTH   0x1f
#define HEADER_EXTEND   0x80

void stream_init(Stream *s, const uint8_t *data, size_t begin, size_t end,
                 const StreamSources *sources)
{
    *s = (Stream) {
        .data = data,
        .begin = begin,
        .end = end,
        .pos = begin,
        .sources = *sources,
    };
}

static bool known_source(const Stream *s, uint16_t src_id)
{
    return !s->sources.known || !s->sources.params.src_bits ||
           s->sources.known[src_id];
}

/* extend announces a timestamp: it must stay 0 where there are none. */
static bool header_possible(const Stream *s, uint8_t header)
{
    return !(header & HEADER_EXTEND) || !(header & HEADER_LENGTH) ||
           s->sources.params.ts_bytes;
}

/* Skip to behind the next synchronisation sequence, or to the end. */
static StreamEvent lose(Stream *s, StreamItem *item)
{
    size_t skip;

    item->offset = s->pos;
    if (!etrace_encap_find_align(&s->sources.params, s->data + s->pos,
                                 s->end - s->pos, &skip)) {
        skip = s->end - s->pos;
    }
    item->size = skip;
    s->pos += skip;
    return STREAM_LOST;
}

StreamEvent stream_next(Stream *s, StreamItem *item)
{
    while (s->pos < s->end) {
        const uint8_t *buf = s->data + s->pos;
        const ETraceEncapPacket *pkt = &item->pkt;

        switch (etrace_encap_parse(&s->sources.params, buf, s->end - s->pos,
                                   &item->pkt)) {
        case ETRACE_ENCAP_MORE:
            return lose(s, item);
        case ETRACE_ENCAP_NULL:
            item->offset = s->pos;
            item->size = pkt->size;
            s->pos += pkt->size;
            if (pkt->align) {
                return STREAM_ALIGN;
            }
            break;
        case ETRACE_ENCAP_PACKET:
            if (!header_possible(s, *buf) || !known_source(s, pkt->src_id)) {
                return lose(s, item);
            }
            item->offset = s->pos;
            item->size = pkt->size;
            item->payload = pkt->payload;
            item->len = pkt->len;
            s->pos += pkt->size;
            if (!s->sources.params.src_bits ||
                pkt->src_id == s->sources.params.src_id) {
                return STREAM_PACKET;
            }
            break;
        }
    }
    item->offset = s->pos;
    item->size = 0;
    return STREAM_END;
}
