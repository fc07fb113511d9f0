/*
 * Unformatted Trace & Diagnostic Data Packet Encapsulation 1.0
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "encap.h"

/* The header byte */
#define HEADER_LENGTH   0x1f
#define HEADER_FLOW     0x60
#define HEADER_EXTEND   0x80

#define NULL_IDLE       0x00
#define NULL_ALIGNMENT  HEADER_EXTEND

/* Longest run of null bytes that a normal packet can hold ("N") */
static size_t null_run_max(const ETraceParams *params)
{
    return 31 + params->ts_bytes + params->src_bits / 8;
}

/* Bits at @out, LSB first, from *@pos on; @out was 0 there. */
static void put_bits(uint8_t *out, unsigned *pos, uint64_t value,
                     unsigned width)
{
    while (width) {
        unsigned shift = *pos % 8, step = MIN(8 - shift, width);

        out[*pos / 8] |= (value & ((1u << step) - 1)) << shift;
        value >>= step;
        *pos += step;
        width -= step;
    }
}

/* @n bytes of @value at @out, LSB first; returns what is behind them. */
static uint8_t *put_bytes(uint8_t *out, uint64_t value, unsigned n)
{
    for (; n; n--) {
        *out++ = value;
        value >>= 8;
    }
    return out;
}

static uint64_t get_bits(const uint8_t *buf, unsigned *pos, unsigned width)
{
    uint64_t value = 0;

    for (unsigned done = 0; done < width;) {
        unsigned shift = *pos % 8, step = MIN(8 - shift, width - done);
        uint8_t bits = (buf[*pos / 8] >> shift) & ((1u << step) - 1);

        value |= (uint64_t)bits << done;
        *pos += step;
        done += step;
    }
    return value;
}

/* Bits of a payload that are left without repetitions of its sign */
static unsigned payload_bits(const uint8_t *payload, size_t len)
{
    uint8_t sign = payload[len - 1] & 0x80 ? 0xff : 0;
    unsigned top;

    while (len > 1 && payload[len - 1] == sign) {
        len--;
    }
    top = payload[len - 1] ^ sign;
    if (top & 0x80) {
        /* The sign itself is in the byte behind. */
        return 8 * len + 1;
    }
    return 8 * len - (top ? __builtin_clz(top) - 24 : 8) + 1;
}

/* Move the bits from @pos on, at least one, to @out->shifted. */
static void take_payload(ETraceEncapPacket *out, const uint8_t *buf,
                         unsigned pos)
{
    const uint8_t *p = buf + pos / 8;
    unsigned shift = pos % 8;
    size_t len = out->size - pos / 8;
    uint8_t sign = p[len - 1] & 0x80 ? 0xff : 0;

    for (size_t i = 0; i < len; i++) {
        unsigned next = i + 1 < len ? p[i + 1] : sign;

        out->shifted[i] = (p[i] | next << 8) >> shift;
    }
    /* Nothing but sign is more than a payload needs. */
    while (len > 1 && out->shifted[len - 1] == sign &&
           !((out->shifted[len - 2] ^ sign) & 0x80)) {
        len--;
    }
    out->payload = out->shifted;
    out->len = len;
}

bool etrace_encap_fits(const ETraceParams *params, const uint8_t *payload,
                       size_t len)
{
    unsigned odd = etrace_encap_odd_bits(params);

    return !odd || odd + payload_bits(payload, len) <= 8 * HEADER_LENGTH;
}

size_t etrace_encap_pack(const ETraceParams *params,
                         const ETraceEncapPacket *pkt,
                         uint8_t out[ETRACE_ENCAP_MAX])
{
    unsigned odd = etrace_encap_odd_bits(params);
    bool extend = pkt->extend && params->ts_bytes;
    unsigned bits = 8 * pkt->len;
    unsigned pos = 8;
    size_t len, size;

    assert(pkt->len >= 1 && pkt->len <= ETRACE_PACKET_MAX);
    if (odd) {
        bits = payload_bits(pkt->payload, pkt->len);
    }
    len = (odd + bits + 7) / 8;
    assert(len <= HEADER_LENGTH);
    size = 1 + params->src_bits / 8 + (extend ? params->ts_bytes : 0) + len;

    out[0] = len | pkt->flow << 5 | (extend ? HEADER_EXTEND : 0);
    if (!odd) {
        uint8_t *p = put_bytes(out + 1, pkt->src_id, params->src_bits / 8);

        if (extend) {
            p = put_bytes(p, pkt->timestamp, params->ts_bytes);
        }
        memcpy(p, pkt->payload, len);
        return size;
    }
    memset(out + 1, 0, size - 1);
    put_bits(out, &pos, pkt->src_id, params->src_bits);
    if (extend) {
        put_bits(out, &pos, pkt->timestamp, 8 * params->ts_bytes);
    }
    put_bits(out, &pos, pkt->data, etrace_encap_type_bits(params));
    for (unsigned i = 0; i < bits; i += 8) {
        put_bits(out, &pos, pkt->payload[i / 8], MIN(8, bits - i));
    }
    if (pkt->payload[pkt->len - 1] & 0x80) {
        put_bits(out, &pos, UINT64_MAX, 8 * size - pos);
    }
    return size;
}

size_t etrace_encap_wrap(const ETraceParams *params, const uint8_t *payload,
                         size_t len, uint8_t out[ETRACE_ENCAP_MAX])
{
    return etrace_encap_pack(params, &(ETraceEncapPacket) {
        .src_id = params->src_id,
        .payload = payload,
        .len = len,
    }, out);
}

size_t etrace_encap_align(const ETraceParams *params,
                          uint8_t out[ETRACE_ALIGN_MAX])
{
    size_t n = null_run_max(params);

    memset(out, NULL_IDLE, n);
    out[n] = NULL_ALIGNMENT;
    return n + 1;
}

static void put_nulls(uint8_t *out, uint64_t value, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++) {
        out[i] = (value >> i) & 1 ? NULL_ALIGNMENT : NULL_IDLE;
    }
}

void etrace_encap_mark_session(uint64_t id,
                               uint8_t out[ETRACE_SESSION_MARK_SIZE])
{
    put_nulls(out, ETRACE_SESSION_MARK_VERSION, 8);
    put_nulls(out + 8, id, 64);
    out[ETRACE_SESSION_MARK_SIZE - 1] = NULL_ALIGNMENT;
}

ETraceMarkStatus etrace_encap_find_mark(const ETraceParams *params,
                                        const uint8_t *buf, size_t avail,
                                        uint64_t *id)
{
    uint64_t words[2] = { 0, 0 };
    size_t start = 0;

    /* Other sources of the stream may have longer timestamps. */
    while (start < avail && buf[start] == NULL_IDLE) {
        start++;
    }
    if (start == avail) {
        return ETRACE_MARK_MORE;
    }
    if (start < null_run_max(params) || buf[start++] != NULL_ALIGNMENT) {
        return ETRACE_MARK_NONE;
    }
    for (unsigned i = 0; i < ETRACE_SESSION_MARK_SIZE; i++) {
        bool bit;

        if (start + i == avail) {
            return ETRACE_MARK_MORE;
        }
        bit = buf[start + i] == NULL_ALIGNMENT;
        if ((!bit && buf[start + i] != NULL_IDLE) ||
            (!bit && i == ETRACE_SESSION_MARK_SIZE - 1)) {
            return ETRACE_MARK_NONE;
        }
        if (i < 8 + 64) {
            words[i >= 8] |= (uint64_t)bit << (i < 8 ? i : i - 8);
        }
    }
    *id = words[1];
    return words[0] == ETRACE_SESSION_MARK_VERSION ? ETRACE_MARK_FOUND
                                                   : ETRACE_MARK_NONE;
}

ETraceEncapStatus etrace_encap_parse(const ETraceParams *params,
                                     const uint8_t *buf, size_t avail,
                                     ETraceEncapPacket *out)
{
    unsigned odd = etrace_encap_odd_bits(params);
    unsigned pos = 8;
    size_t n;

    memset(out, 0, offsetof(ETraceEncapPacket, shifted));
    if (avail == 0) {
        return ETRACE_ENCAP_MORE;
    }
    out->flow = (buf[0] & HEADER_FLOW) >> 5;
    out->len = buf[0] & HEADER_LENGTH;
    if (out->len == 0) {
        out->align = buf[0] & HEADER_EXTEND;
        out->size = 1;
        return ETRACE_ENCAP_NULL;
    }

    out->extend = (buf[0] & HEADER_EXTEND) && params->ts_bytes;
    n = 1 + params->src_bits / 8 + (out->extend ? params->ts_bytes : 0);
    out->size = n + out->len;
    if (avail < out->size) {
        return ETRACE_ENCAP_MORE;
    }
    out->src_id = get_bits(buf, &pos, params->src_bits);
    if (out->extend) {
        out->timestamp = get_bits(buf, &pos, 8 * params->ts_bytes);
    }
    if (!odd) {
        out->payload = buf + n;
        return ETRACE_ENCAP_PACKET;
    }
    out->data = get_bits(buf, &pos, etrace_encap_type_bits(params));
    out->payload = out->shifted;
    if (pos < 8 * out->size) {
        take_payload(out, buf, pos);
    } else {
        out->len = 0;
    }
    return ETRACE_ENCAP_PACKET;
}

bool etrace_encap_find_align(const ETraceParams *params, const uint8_t *buf,
                             size_t avail, size_t *offset)
{
    size_t max = null_run_max(params);
    size_t run = 0;

    /*
     * A run longer than a packet can hold ends in a null packet: only there
     * may an alignment code be believed.
     */
    for (size_t i = 0; i < avail; i++) {
        if (buf[i] & HEADER_LENGTH) {
            run = 0;
            continue;
        }
        if (run >= max && (buf[i] & HEADER_EXTEND)) {
            *offset = i + 1;
            return true;
        }
        run++;
    }
    return false;
}
