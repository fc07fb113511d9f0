/*
 * Other encoders: a file of theirs, as a trace in bytes of the specification
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/input.h"
#include "etrace/encap.h"
#include "trace/unit.h"

/* The reference flow's byte: length 4:0, type 6:5 */
#define RAW_LENGTH      0x1f
#define RAW_TYPE_SHIFT  5
#define RAW_TYPE_INST   2
#define RAW_TYPE_DATA   3

/* A byte, whose length counts the header, and an index */
#define ESP32_LENGTH    0x1f
#define ESP32_HEADER    3

/*
 * A record has, from its last byte to its first, the header of the
 * encapsulation, its timestamp, the payload, and zeros.
 */
#define RECORD_SIZE     40
#define RECORD_TIME     8
#define RECORD_LENGTH   0x1f
#define RECORD_EXTEND   0x80

#define FLUSH_SIZE      (1u << 16)

/* So many packets have their place; behind them, one in so many bytes */
#define EXACT_PLACES    (1u << 20)
#define PLACE_SPACING   4096

typedef enum FrameEvent {
    FRAME_PACKET,
    FRAME_NULL,         /* no packet */
    FRAME_ALIGN,        /* an alignment code */
    FRAME_MISSING,      /* the packet in the frame, and before it some others */
    FRAME_LOST,         /* what follows is none; size: up to where it may be */
} FrameEvent;

typedef struct Frame {
    ETraceEncapPacket pkt;
    size_t size;
    uint8_t payload[ETRACE_PACKET_MAX];
} Frame;

typedef struct Rewrite {
    const Unit *u;
    const uint8_t *data;
    size_t size, pos;
    bool counted;               /* UNIT_ESP32: next_index is known */
    uint16_t next_index;
    ETraceParams in, out;       /* of support packets, as they were */
    GArray *places;
    GByteArray *buf;            /* not written yet */
    uint64_t written;
} Rewrite;

static FrameEvent lose_all(const Rewrite *w, Frame *f)
{
    f->size = w->size - w->pos;
    return FRAME_LOST;
}

static FrameEvent next_encap(Rewrite *w, Frame *f)
{
    const uint8_t *buf = w->data + w->pos;
    size_t left = w->size - w->pos;

    switch (etrace_encap_parse(&w->in, buf, left, &f->pkt)) {
    case ETRACE_ENCAP_MORE:
        break;
    case ETRACE_ENCAP_NULL:
        f->size = f->pkt.size;
        return f->pkt.align ? FRAME_ALIGN : FRAME_NULL;
    case ETRACE_ENCAP_PACKET:
        f->size = f->pkt.size;
        if (!(*buf & RECORD_EXTEND) || w->in.ts_bytes) {
            return FRAME_PACKET;
        }
        break;
    }
    if (!etrace_encap_find_align(&w->in, buf, left, &f->size)) {
        f->size = left;
    }
    return FRAME_LOST;
}

static FrameEvent next_raw(Rewrite *w, Frame *f)
{
    const uint8_t *buf = w->data + w->pos;
    unsigned type = (*buf & ~0x80) >> RAW_TYPE_SHIFT;

    f->pkt = (ETraceEncapPacket) {
        .payload = buf + 1,
        .len = *buf & RAW_LENGTH,
        .data = type == RAW_TYPE_DATA,
    };
    f->size = 1 + f->pkt.len;
    if (!f->pkt.len && !*buf) {
        return FRAME_NULL;
    }
    if (!f->pkt.len || !type || *buf & 0x80 || f->size > w->size - w->pos) {
        return lose_all(w, f);
    }
    return type == RAW_TYPE_INST || (f->pkt.data && w->in.data_width) ?
           FRAME_PACKET : FRAME_NULL;
}

static FrameEvent next_esp32(Rewrite *w, Frame *f)
{
    const uint8_t *buf = w->data + w->pos;
    size_t left = w->size - w->pos;
    unsigned length = *buf & ESP32_LENGTH;
    bool missing;
    uint16_t index;

    if (!*buf) {
        f->size = 1;
        return FRAME_NULL;
    }
    if (*buf != length || length <= ESP32_HEADER || length > left) {
        return lose_all(w, f);
    }
    index = buf[1] | buf[2] << 8;
    missing = w->counted && index != w->next_index;
    w->counted = true;
    w->next_index = index + 1;
    f->pkt = (ETraceEncapPacket) {
        .payload = buf + ESP32_HEADER,
        .len = length - ESP32_HEADER,
    };
    f->size = length;
    return missing ? FRAME_MISSING : FRAME_PACKET;
}

static FrameEvent next_record(Rewrite *w, Frame *f)
{
    const uint8_t *end = w->data + w->pos + RECORD_SIZE - 1;
    unsigned len;

    if (w->size - w->pos < RECORD_SIZE ||
        *end & ~(RECORD_LENGTH | RECORD_EXTEND)) {
        return lose_all(w, f);
    }
    len = *end & RECORD_LENGTH;
    f->size = RECORD_SIZE;
    f->pkt = (ETraceEncapPacket) {
        .payload = f->payload,
        .len = len,
        .extend = w->out.ts_bytes && *end & RECORD_EXTEND,
    };
    for (unsigned i = 0; i < RECORD_TIME; i++) {
        f->pkt.timestamp |= (uint64_t)*--end << (8 * i);
    }
    for (unsigned i = 0; i < len; i++) {
        f->payload[i] = *--end;
    }
    return len ? FRAME_PACKET : FRAME_NULL;
}

static FrameEvent next_frame(Rewrite *w, Frame *f)
{
    static FrameEvent (*const next[UNIT_NR_FRAMINGS])(Rewrite *, Frame *) = {
        [UNIT_ENCAP] = next_encap,
        [UNIT_RAW] = next_raw,
        [UNIT_ESP32] = next_esp32,
        [UNIT_RV_TRACER] = next_record,
    };

    return next[w->u->framing](w, f);
}

/* Do any records have a time? The bit that announces one is always set. */
static bool has_times(const uint8_t *data, size_t size)
{
    for (size_t pos = 0; pos + RECORD_SIZE <= size; pos += RECORD_SIZE) {
        for (unsigned i = 1; i <= RECORD_TIME; i++) {
            if (data[pos + RECORD_SIZE - 1 - i]) {
                return true;
            }
        }
    }
    return false;
}

/* Where the next byte is from; of a long trace, not for each packet. */
static void put_place(Rewrite *w, bool always)
{
    UnitPlace place = { .to = w->written + w->buf->len, .from = w->pos };
    GArray *a = w->places;

    if (always || a->len < EXACT_PLACES || place.to -
        g_array_index(a, UnitPlace, a->len - 1).to >= PLACE_SPACING) {
        g_array_append_val(a, place);
    }
}

static void put(Rewrite *w, const uint8_t *bytes, size_t n)
{
    put_place(w, false);
    g_byte_array_append(w->buf, bytes, n);
}

static void put_packet(Rewrite *w, const ETraceEncapPacket *frame,
                       const uint8_t *payload, size_t len)
{
    uint8_t out[ETRACE_ENCAP_MAX];
    ETraceEncapPacket pkt = *frame;

    pkt.payload = payload;
    pkt.len = len;
    put(w, out, etrace_encap_pack(&w->out, &pkt, out));
}

/* Longer than a packet of format 2 can be, whatever its parameters */
#define MALFORMED_SIZE  28
#define MALFORMED_FIRST 0x02

static void put_malformed(Rewrite *w, const ETraceEncapPacket *frame)
{
    uint8_t bytes[MALFORMED_SIZE] = { MALFORMED_FIRST };

    /* Not all that it was, but something to look at */
    memcpy(bytes + 1, frame->payload, MIN(frame->len, MALFORMED_SIZE - 2));
    bytes[MALFORMED_SIZE - 1] = 0x55;
    put_packet(w, frame, bytes, sizeof(bytes));
}

/* Packets are missing: as an encoder that lost them would say. */
static void put_missing(Rewrite *w)
{
    uint8_t payload[ETRACE_PACKET_MAX];
    ETraceEncapPacket frame = { .src_id = w->out.src_id };
    ETracePacket pkt = {
        .format = ETRACE_FORMAT_SYNC,
        .subformat = ETRACE_SYNC_SUPPORT,
        .ienable = true,
        .qual_status = ETRACE_QUAL_TRACE_LOST,
    };

    etrace_packet_set_support(&pkt, &w->out);
    put_packet(w, &frame, payload, etrace_packet_pack(&w->out, &pkt, payload));
}

/* The next @size bytes are no packets; reading goes on behind them. */
static void put_lost(Rewrite *w, size_t size)
{
    uint8_t out[1 + ETRACE_ALIGN_MAX];

    put_place(w, true);
    if (size == w->size - w->pos) {
        out[0] = RAW_LENGTH;    /* longer than what there is */
        put(w, out, 1);
    } else if (!w->out.ts_bytes) {
        out[0] = RECORD_EXTEND | 1;     /* with a timestamp: impossible */
        put(w, out, 1 + etrace_encap_align(&w->out, out + 1));
    } else {
        put_malformed(w, &(ETraceEncapPacket) {
            .src_id = w->out.src_id,
            .payload = w->data + w->pos,
            .len = MIN(size, 1),
        });
        put(w, out, etrace_encap_align(&w->out, out));
    }
}

static void one_packet(Rewrite *w, const ETraceEncapPacket *frame)
{
    uint8_t payload[ETRACE_PACKET_MAX];
    ETracePacket pkt;

    if (frame->data) {
        put_packet(w, frame, frame->payload, frame->len);
        return;
    }
    if (!frame->len ||
        !unit_unpack(w->u, &w->in, frame->payload, frame->len, &pkt)) {
        put_malformed(w, frame);
        return;
    }
    put_packet(w, frame, payload, etrace_packet_pack(&w->out, &pkt, payload));
    if (pkt.format == ETRACE_FORMAT_SYNC &&
        pkt.subformat == ETRACE_SYNC_SUPPORT) {
        w->in.ioptions = pkt.ioptions;
        w->in.doptions = pkt.doptions;
        etrace_params_follow(&w->out, &pkt);
    }
}

static void one_frame(Rewrite *w)
{
    Frame f;

    switch (next_frame(w, &f)) {
    case FRAME_NULL:
        break;
    case FRAME_ALIGN: {
        uint8_t out[ETRACE_ALIGN_MAX];

        put(w, out, etrace_encap_align(&w->out, out));
        break;
    }
    case FRAME_MISSING:
        put_missing(w);
        one_packet(w, &f.pkt);
        break;
    case FRAME_PACKET:
        one_packet(w, &f.pkt);
        break;
    case FRAME_LOST:
        put_lost(w, f.size);
        break;
    }
    w->pos += f.size;
}

/* InputFillFn */
static bool rewrite(int fd, const char *path, void *opaque, GError **errp)
{
    Rewrite *w = opaque;

    while (w->pos < w->size) {
        one_frame(w);
        if (w->buf->len >= FLUSH_SIZE || w->pos >= w->size) {
            if (!input_put(fd, w->buf->data, w->buf->len, path, errp)) {
                return false;
            }
            w->written += w->buf->len;
            g_byte_array_set_size(w->buf, 0);
        }
    }
    return true;
}

GBytes *unit_rewrite(const Unit *u, GBytes *file, const char *path,
                     ETraceParams *params, GArray **places, GError **errp)
{
    Rewrite w = { .u = u, .in = u->params };
    UnitPlace end;
    GBytes *result;

    w.data = input_data(file, &w.size);
    unit_plain_params(u, &w.out);
    if (u->framing == UNIT_RV_TRACER) {
        w.out.ts_bytes = has_times(w.data, w.size) ? RECORD_TIME : 0;
    }
    *params = w.out;
    w.places = g_array_new(false, false, sizeof(UnitPlace));
    w.buf = g_byte_array_new();
    result = input_fill(path, rewrite, &w, errp);
    end = (UnitPlace) { .to = w.written, .from = w.size };
    g_array_append_val(w.places, end);
    g_byte_array_unref(w.buf);
    if (!result) {
        g_clear_pointer(&w.places, g_array_unref);
    }
    *places = w.places;
    return result;
}

uint64_t unit_place(const GArray *places, uint64_t to)
{
    guint low = 0, high = places->len;

    while (high - low > 1) {
        guint middle = (low + high) / 2;

        if (g_array_index(places, UnitPlace, middle).to <= to) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return g_array_index(places, UnitPlace, low).from;
}
