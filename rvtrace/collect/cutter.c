/*
 * Where a trace that is collected can be cut
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "code/sideband.h"
#include "collect/cutter.h"
#include "etrace/encap.h"
#include "etrace/packet.h"
#include "trace/cut-mark.h"

/* Null.idle in front of the null.alignment of an alignment sequence */
#define IDLE_MIN        31

/* Of the sideband, until its parameters are there, and of the trace meanwhile */
#define SIDEBAND_MAX    (1u << 20)
#define BACKLOG_MAX     (64u << 20)

/* Format 3, subformat 3 in the first bits, whatever the parameters */
#define SUPPORT_BITS    0xf

typedef struct CutterHart {
    bool present;
    ETraceParams params;
    uint8_t support[ETRACE_PACKET_MAX];
    size_t len;                 /* 0: there was none */
} CutterHart;

struct Cutter {
    /* lock: until @known, which both threads look at */
    GMutex lock;
    GByteArray *sideband;       /* its beginning */
    size_t tried;               /* bytes of it that were looked at */
    bool known;
    CutterHart *harts;
    unsigned nr_harts;
    /* the trace's thread: */
    GByteArray *backlog;        /* bytes that are not followed yet */
    uint64_t offset;            /* of the backlog, in the stream */
    unsigned idle;              /* null.idle in front of it */
    int mark_bits;              /* of a session's mark, so far; -1: in none */
    uint64_t mark_version, mark_id, id;
};

Cutter *cutter_new(void)
{
    Cutter *c = g_new0(Cutter, 1);

    g_mutex_init(&c->lock);
    c->sideband = g_byte_array_new();
    c->backlog = g_byte_array_new();
    c->mark_bits = -1;
    return c;
}

void cutter_free(Cutter *c)
{
    g_mutex_clear(&c->lock);
    g_byte_array_unref(c->sideband);
    g_byte_array_unref(c->backlog);
    g_free(c->harts);
    g_free(c);
}

/* With the lock held: are the parameters of all harts there? */
static bool take_params(Cutter *c)
{
    g_autoptr(GError) err = NULL;
    Sideband *sb = sideband_parse(c->sideband->data, c->sideband->len, 0, &err);
    unsigned n = sb ? sideband_nr_harts(sb) : 0;
    bool all = n;

    c->harts = g_renew(CutterHart, c->harts, n);
    c->nr_harts = n;
    for (unsigned i = 0; i < n; i++) {
        const SidebandHart *h = sideband_hart(sb, i);

        c->harts[i] = (CutterHart) {
            .present = h->present,
            .params = h->params,
        };
        all &= h->present;
    }
    g_clear_pointer(&sb, sideband_free);
    return all;
}

void cutter_sideband(Cutter *c, const uint8_t *data, size_t size)
{
    g_mutex_lock(&c->lock);
    if (!c->known && c->sideband->len < SIDEBAND_MAX) {
        g_byte_array_append(c->sideband, data, MIN(size, SIDEBAND_MAX));
        /* Not for every byte of one that comes in bytes */
        if (c->sideband->len > c->tried + c->tried / 4) {
            c->tried = c->sideband->len;
            c->known = take_params(c);
        }
    }
    g_mutex_unlock(&c->lock);
}

static CutterHart *find_hart(Cutter *c, uint16_t src_id)
{
    for (unsigned i = 0; i < c->nr_harts; i++) {
        if (!c->harts[i].params.src_bits ||
            c->harts[i].params.src_id == src_id) {
            return &c->harts[i];
        }
    }
    return NULL;
}

static void take_packet(Cutter *c, const ETraceEncapPacket *pkt)
{
    CutterHart *hart;
    ETracePacket te;

    if (pkt->data || !pkt->len || (pkt->payload[0] & SUPPORT_BITS) !=
                                  SUPPORT_BITS) {
        return;
    }
    hart = find_hart(c, pkt->src_id);
    if (hart && pkt->len <= sizeof(hart->support) &&
        etrace_packet_unpack(&hart->params, pkt->payload, pkt->len, &te) &&
        te.format == ETRACE_FORMAT_SYNC &&
        te.subformat == ETRACE_SYNC_SUPPORT) {
        memcpy(hart->support, pkt->payload, pkt->len);
        hart->len = pkt->len;
    }
}

/* Null packets behind an alignment sequence may be the id of a session. */
static void take_mark_bit(Cutter *c, bool bit)
{
    if (c->mark_bits < 8) {
        c->mark_version |= (uint64_t)bit << c->mark_bits;
    } else if (c->mark_bits < 8 + 64) {
        c->mark_id |= (uint64_t)bit << (c->mark_bits - 8);
    } else if (bit && c->mark_version == ETRACE_SESSION_MARK_VERSION) {
        c->id = c->mark_id;
    }
    c->mark_bits++;
    if (c->mark_bits == ETRACE_SESSION_MARK_SIZE) {
        c->mark_bits = -1;
    }
}

/* Is it the last packet of an alignment sequence? */
static bool take_null(Cutter *c, bool align)
{
    bool is_sequence = align && c->idle >= IDLE_MIN;

    c->idle = align ? 0 : c->idle + 1;
    if (is_sequence) {
        c->mark_bits = 0;
        c->mark_version = c->mark_id = 0;
    } else if (c->mark_bits >= 0) {
        take_mark_bit(c, align);
    }
    return is_sequence;
}

static void write_head(const Cutter *c, uint64_t offset, GByteArray *head)
{
    g_autoptr(GByteArray) support = g_byte_array_new();
    CutMark mark = { .id = c->id, .offset = offset };

    for (unsigned i = 0; i < c->nr_harts; i++) {
        const CutterHart *h = &c->harts[i];
        uint8_t out[ETRACE_ENCAP_MAX];

        if (h->len) {
            g_byte_array_append(support, out,
                                etrace_encap_wrap(&h->params, h->support,
                                                  h->len, out));
        }
    }
    mark.head = support->len;
    g_byte_array_set_size(head, 0);
    cut_mark_put(&mark, head);
    g_byte_array_append(head, support->data, support->len);
}

void cutter_begin(GByteArray *head)
{
    const CutMark mark = { 0 };

    cut_mark_put(&mark, head);
}

/*
 * Follow the backlog as far as its packets are whole. The last @size bytes of
 * it are new.
 */
static size_t follow(Cutter *c, size_t size, bool due, GByteArray *head)
{
    const ETraceParams *framing = &c->harts[0].params;
    const uint8_t *data = c->backlog->data;
    size_t len = c->backlog->len, old = len - size, pos = 0, cut = SIZE_MAX;
    ETraceEncapPacket pkt;

    while (pos < len) {
        ETraceEncapStatus status = etrace_encap_parse(framing, data + pos,
                                                      len - pos, &pkt);

        if (status == ETRACE_ENCAP_MORE) {
            break;
        }
        pos += pkt.size;
        if (status == ETRACE_ENCAP_PACKET) {
            c->idle = 0;
            c->mark_bits = -1;
            take_packet(c, &pkt);
        } else if (take_null(c, pkt.align) && due && cut == SIZE_MAX &&
                   pos >= old && pos < len && data[pos] != data[pos - 1]) {
            /* Behind it is another null.alignment if a session begins. */
            cut = pos - old;
            write_head(c, c->offset + pos, head);
        }
    }
    g_byte_array_remove_range(c->backlog, 0, pos);
    c->offset += pos;
    return cut;
}

size_t cutter_feed(Cutter *c, const uint8_t *data, size_t size, bool due,
                   GByteArray *head, bool *lost)
{
    bool known;

    g_mutex_lock(&c->lock);
    known = c->known;
    g_mutex_unlock(&c->lock);
    g_byte_array_append(c->backlog, data, size);
    *lost = !known && c->backlog->len > BACKLOG_MAX;
    return known ? follow(c, size, due, head) : SIZE_MAX;
}
