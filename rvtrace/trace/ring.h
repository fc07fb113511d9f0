/*
 * Dumps of RAM sinks: where in the ring the trace is, and which packets
 *
 * A ring that has wrapped begins in the middle of a packet, and the packets
 * before are gone. The sideband's last RAM record says how many packets each
 * hart had put out when the dump was made, so those that are left can be
 * numbered from the end.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_RING_H
#define ETRACE_RING_H

#include <glib.h>
#include "etrace/encap.h"
#include "code/sideband.h"

#define RING_NOT_WRAPPED    (-1)

typedef struct Ring {
    int sink;           /* the hart whose sink it is, or SIDEBAND_SHARED_RAM */
    uint8_t *data;      /* oldest byte first; owned */
    size_t size;
    bool wrapped;
    size_t session;     /* where the session's bytes begin that are left */
    size_t begin;       /* of the trace to decode */
    bool cut;           /* the trace does not begin with its beginning */
} Ring;

/*
 * Take the @size bytes of a dump: a ring whose oldest byte is at @wrapped_at,
 * or with RING_NOT_WRAPPED one that has not wrapped, whose last byte is the
 * last one of the trace. With a sideband (may be NULL), a dump of the whole
 * ring explains itself; where each hart has a sink, its packets say which one
 * it is of. Returns false and sets @errp if it makes no sense.
 */
bool ring_init(Ring *ring, const uint8_t *dump, size_t size,
               int64_t wrapped_at, const Sideband *sb, GError **errp);
void ring_clear(Ring *ring);

/*
 * The sink had stored the trace of session @sb, and then that of @later, when
 * the dump was made: take what is left of the former. Returns false and sets
 * @errp if it makes no sense.
 */
bool ring_init_before(Ring *ring, const Ring *later, const Sideband *sb,
                      GError **errp);

/*
 * Find the first whole packet, of which framing by @params is known; sets
 * @ring->begin. Returns false and sets @errp if there is none.
 */
bool ring_find_begin(Ring *ring, const ETraceParams *params, GError **errp);

/*
 * The first packet of the source @params is which one of @hart's packets in
 * the session? 0 if nothing is known of that.
 */
uint64_t ring_first_packet(const Ring *ring, const ETraceParams *params,
                           const Sideband *sb, unsigned hart);

/*
 * Modes (ETRACE_IOPT_*) of the packets of the source @params in @size bytes,
 * of which the first one begins a packet, that stand before their first
 * support packet: the ones that this packet reports, because a change would
 * have been reported, too.
 */
uint8_t ring_first_ioptions(const ETraceParams *params, const uint8_t *data,
                            size_t size);

/* How many packets of the source @params are in these bytes? */
uint64_t ring_count_packets(const ETraceParams *params, const uint8_t *data,
                            size_t size);

/*
 * The srcID of the first packet behind the first alignment sequence of a dump,
 * or of the first one if there is none. Returns false without any packet.
 */
bool ring_first_source(const ETraceParams *params, const uint8_t *dump,
                       size_t size, uint16_t *src_id);

#endif /* ETRACE_RING_H */
