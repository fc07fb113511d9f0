/*
 * Trace streams: from bytes to the packets of one hart
 *
 * Unformatted Trace & Diagnostic Data Packet Encapsulation 1.0. Framing that
 * cannot be right is reported, and reading goes on behind the next
 * synchronisation sequence.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_STREAM_H
#define ETRACE_STREAM_H

#include <glib.h>
#include "etrace/encap.h"
#include "flow/packet-quick.h"

/* Which of the stream's sources exist, and which one is wanted */
typedef struct StreamSources {
    ETraceParams params;        /* of the encapsulation, src_id wanted */
    const bool *known;          /* by srcID; NULL: any may appear */
} StreamSources;

typedef struct Stream {
    const uint8_t *data;
    size_t begin, end;          /* part of @data to read */
    size_t pos;
    StreamSources sources;
} Stream;

typedef enum StreamEvent {
    STREAM_PACKET,              /* a packet of the wanted source */
    STREAM_ALIGN,               /* a null.alignment; size: bytes up to here */
    STREAM_LOST,                /* framing lost: bytes offset..offset + size */
    STREAM_END,
} StreamEvent;

typedef struct StreamItem {
    size_t offset;              /* in @data */
    size_t size;                /* bytes on the wire */
    const uint8_t *payload;     /* in the stream's data or in @pkt */
    size_t len;
    bool quick;                 /* word is the payload; see packet_quick() */
    int64_t word;
    ETraceEncapPacket pkt;      /* of it, payload and len are above */
} StreamItem;

/*
 * Read @data from @begin to @end. Nothing is copied: @data and
 * @sources->known must stay.
 */
void stream_init(Stream *s, const uint8_t *data, size_t begin, size_t end,
                 const StreamSources *sources);

StreamEvent stream_next(Stream *s, StreamItem *item);

#endif /* ETRACE_STREAM_H */
