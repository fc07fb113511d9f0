/*
 * Trace streams: from bytes to the packets of one hart
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "trace/stream.h"

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

/*
 * Take a packet of one word, without copying anything. Returns false, and has
 * done nothing, if it needs a closer look.
 */
static inline bool take_quick(Stream *s, StreamItem *item, unsigned *src_id)
{
    const ETraceParams *params = &s->sources.params;
    const uint8_t *buf = s->data + s->pos;
    unsigned len, bits, src_bytes = params->src_bits / 8;

    if (s->end - s->pos < 1 + 2 + PACKET_QUICK_MAX) {
        return false;
    }
    len = buf[0] & HEADER_LENGTH;
    if (!len || buf[0] & HEADER_EXTEND) {
        return false;
    }
    item->size = 1 + src_bytes + len;
    bits = etrace_encap_odd_bits(params);
    if (!bits) {
        *src_id = src_bytes ? buf[1] | (src_bytes > 1 ? buf[2] << 8 : 0) : 0;
        if (len > PACKET_QUICK_MAX) {
            return false;
        }
        item->payload = buf + 1 + src_bytes;
        item->len = len;
        item->word = packet_word(item->payload, len);
        item->pkt.data = false;
        return true;
    }
    if (item->size > 1 + PACKET_QUICK_MAX || bits >= 8 * len) {
        return false;
    }
    item->word = packet_word(buf + 1, item->size - 1);
    *src_id = item->word & ((1u << params->src_bits) - 1);
    item->word >>= params->src_bits;
    item->pkt.data = etrace_encap_type_bits(params) && (item->word & 1);
    item->word >>= etrace_encap_type_bits(params);
    item->len = packet_word_store(item->word, item->pkt.shifted);
    item->payload = item->pkt.shifted;
    return true;
}

StreamEvent stream_next(Stream *s, StreamItem *item)
{
    unsigned src_id;

    while (take_quick(s, item, &src_id)) {
        if (!known_source(s, src_id)) {
            return lose(s, item);
        }
        item->offset = s->pos;
        s->pos += item->size;
        if (!s->sources.params.src_bits ||
            src_id == s->sources.params.src_id) {
            item->quick = true;
            return STREAM_PACKET;
        }
    }
    item->quick = false;
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
