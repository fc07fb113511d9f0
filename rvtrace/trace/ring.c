/*
 * Dumps of RAM sinks: where in the ring the trace is, and which packets
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/option-error.h"
#include <gio/gio.h>
#include "etrace/packet.h"
#include "trace/ring.h"

#define RING_WORD   4

#define invalid(errp, ...) \
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, __VA_ARGS__)

/* Copy the dump so that the byte at @oldest comes first, @size of it. */
static void take(Ring *ring, const uint8_t *dump, size_t size, size_t oldest)
{
    ring->data = g_malloc(MAX(size, 1));
    ring->size = size;
    memcpy(ring->data, dump + oldest, size - oldest);
    memcpy(ring->data + size - oldest, dump, oldest);
}

static void no_ram_sink(const Sideband *sb, GError **errp)
{
    invalid(errp, "sideband: session %u reports no RAM sink; was it "
            "captured until the sink was disabled or the machine stopped?",
            sideband_session(sb));
}

/* The next packet from *@pos on, of whatever source and of either kind */
static bool any_packet(const uint8_t *data, size_t size,
                       const ETraceParams *params, size_t *pos,
                       ETraceEncapPacket *pkt)
{
    while (*pos < size) {
        ETraceEncapStatus status =
            etrace_encap_parse(params, data + *pos, size - *pos, pkt);

        if (status == ETRACE_ENCAP_MORE) {
            break;
        }
        *pos += pkt->size;
        if (status == ETRACE_ENCAP_PACKET) {
            return true;
        }
    }
    return false;
}

bool ring_first_source(const ETraceParams *params, const uint8_t *dump,
                       size_t size, uint16_t *src_id)
{
    ETraceEncapPacket pkt;
    size_t pos;

    if (!etrace_encap_find_align(params, dump, size, &pos)) {
        pos = 0;
    }
    if (!any_packet(dump, size, params, &pos, &pkt)) {
        return false;
    }
    *src_id = pkt.src_id;
    return true;
}

/* Which sink is the dump of? */
static bool find_sink(Ring *ring, const uint8_t *dump, size_t size,
                      const Sideband *sb, GError **errp)
{
    unsigned harts = sideband_nr_harts(sb);
    int only = SIDEBAND_SHARED_RAM;
    SidebandRam ram;

    if (sideband_ram(sb, SIDEBAND_SHARED_RAM, &ram)) {
        return true;
    }
    for (unsigned i = 0; i < harts; i++) {
        const SidebandHart *h = sideband_hart(sb, i);
        uint16_t src_id;

        if (!sideband_ram(sb, i, &ram)) {
            continue;
        }
        if (h->present && h->params.src_bits &&
            ring_first_source(&h->params, dump, size, &src_id) &&
            src_id == h->params.src_id) {
            ring->sink = i;
            return true;
        }
        only = only == SIDEBAND_SHARED_RAM ? (int)i : -2;
    }
    if (only < SIDEBAND_SHARED_RAM) {
        invalid(errp, "each hart has a RAM sink, and the packets do not say "
                "whose this is (trTeSrcBits is 0, or there are none): give "
                "traced harts a srcID");
        return false;
    }
    ring->sink = only;
    return true;
}

bool ring_init(Ring *ring, const uint8_t *dump, size_t size,
               int64_t wrapped_at, const Sideband *sb, GError **errp)
{
    SidebandRam ram;
    bool reported = false;

    *ring = (Ring) { .sink = SIDEBAND_SHARED_RAM };
    if (sb && !find_sink(ring, dump, size, sb, errp)) {
        return false;
    }
    reported = sb && sideband_ram(sb, ring->sink, &ram);
    if (sb && !reported) {
        no_ram_sink(sb, errp);
        return false;
    }
    /* The limit is the last word's address: a word more may be 0. */
    if (reported && wrapped_at == RING_NOT_WRAPPED && size >= RING_WORD &&
        size - RING_WORD == ram.limit - ram.start) {
        if (ram.wrapped) {
            wrapped_at = ram.wp - ram.start;
        } else {
            size = ram.wp - ram.start;
        }
    }
    if (wrapped_at != RING_NOT_WRAPPED && (uint64_t)wrapped_at >= size) {
        g_set_error(errp, OPTION_ERROR, OPTION_WRAPPED_AT,
                    "%" PRIi64 ": the dump has only %zu bytes", wrapped_at,
                    size);
        return false;
    }
    take(ring, dump, size, wrapped_at == RING_NOT_WRAPPED ? 0 : wrapped_at);
    ring->wrapped = wrapped_at != RING_NOT_WRAPPED;
    ring->cut = ring->wrapped;
    if (reported && ram.bytes <= size) {
        /* The session began inside the ring. */
        ring->session = size - ram.bytes;
        ring->begin = ring->session;
        ring->cut = false;
    } else if (reported && !ring->cut) {
        g_set_error(errp, OPTION_ERROR, OPTION_NEEDS_WRAPPED_AT,
                    "the sideband reports %" PRIu64 " bytes of trace, the dump "
                    "has %zu", ram.bytes, size);
        ring_clear(ring);
        return false;
    }
    return true;
}

bool ring_init_before(Ring *ring, const Ring *later, const Sideband *sb,
                      GError **errp)
{
    SidebandRam ram;
    size_t size = later->session;

    *ring = (Ring) { .sink = later->sink };
    if (!sideband_ram(sb, ring->sink, &ram)) {
        no_ram_sink(sb, errp);
        return false;
    }
    if (ram.bytes && !size) {
        g_set_error(errp, OPTION_ERROR, OPTION_NEEDS_NO_SIDEBAND,
                    "the ring has nothing left of session %u: what was traced "
                    "later has overwritten it", sideband_session(sb));
        return false;
    }
    if (ram.bytes > size && !later->wrapped) {
        invalid(errp, "the sideband reports %" PRIu64 " bytes of trace, but "
                "the dump has only %zu before the next part", ram.bytes, size);
        return false;
    }
    take(ring, later->data, size, 0);
    ring->wrapped = later->wrapped;
    ring->cut = ram.bytes > size;
    ring->session = ring->cut ? 0 : size - ram.bytes;
    ring->begin = ring->session;
    return true;
}

void ring_clear(Ring *ring)
{
    g_free(ring->data);
    *ring = (Ring) { .sink = SIDEBAND_SHARED_RAM };
}

bool ring_find_begin(Ring *ring, const ETraceParams *params, GError **errp)
{
    size_t skip;

    if (!ring->cut) {
        return true;
    }
    if (!etrace_encap_find_align(params, ring->data + ring->begin,
                                 ring->size - ring->begin, &skip)) {
        invalid(errp, "there is no alignment sequence in the ring, so that "
                "it cannot be known where a packet begins; was "
                "trRamAsyncFreq 0? Of several parts, leave out the first "
                "one, of which too little is left");
        return false;
    }
    ring->begin += skip;
    return true;
}

/* As any_packet(), of @params' source */
static bool next_packet(const uint8_t *data, size_t size,
                        const ETraceParams *params, size_t *pos,
                        ETraceEncapPacket *pkt)
{
    while (any_packet(data, size, params, pos, pkt)) {
        if (!params->src_bits || pkt->src_id == params->src_id) {
            return true;
        }
    }
    return false;
}

uint64_t ring_count_packets(const ETraceParams *params, const uint8_t *data,
                            size_t size)
{
    ETraceEncapPacket pkt;
    uint64_t n = 0;
    size_t pos = 0;

    while (next_packet(data, size, params, &pos, &pkt)) {
        n++;
    }
    return n;
}

uint64_t ring_first_packet(const Ring *ring, const ETraceParams *params,
                           const Sideband *sb, unsigned hart)
{
    uint64_t left, total;
    SidebandRam ram;

    if (!ring->cut || !sb || !sideband_ram(sb, ring->sink, &ram)) {
        return 0;
    }
    left = ring_count_packets(params, ring->data + ring->begin,
                              ring->size - ring->begin);
    total = sideband_ram_packets(&ram, hart);
    return total > left ? total - left : 0;
}

uint8_t ring_first_ioptions(const ETraceParams *params, const uint8_t *data,
                            size_t size)
{
    ETraceEncapPacket pkt;
    size_t pos = 0;

    while (next_packet(data, size, params, &pos, &pkt)) {
        ETracePacket te;

        if (!pkt.data &&
            etrace_packet_unpack(params, pkt.payload, pkt.len, &te) &&
            te.format == ETRACE_FORMAT_SYNC &&
            te.subformat == ETRACE_SYNC_SUPPORT) {
            return te.ioptions;
        }
    }
    return 0;
}
