/*
 * Unformatted Trace & Diagnostic Data Packet Encapsulation 1.0
 *
 * A normal packet is a header byte (length 4:0, flow 6:5, extend 7), srcID,
 * timestamp, payload; a header with length 0 is a null packet: 0x00 idle,
 * 0x80 alignment.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_ENCAP_H
#define HW_TRACE_ETRACE_ENCAP_H

#include "etrace.h"
#include "etrace-packet.h"

/* header, up to 2 bytes of srcID, up to 8 of timestamp, payload */
#define ETRACE_ENCAP_MAX (1 + 2 + 8 + ETRACE_PACKET_MAX)
/* null.idle run plus null.alignment: at most 31 + T + S + 1 bytes */
#define ETRACE_ALIGN_MAX (31 + 8 + 2 + 1)

/*
 * Wrap @payload (@len bytes, 1..31) of the source that @params describe, flow
 * 0, no timestamp. src_bits must be 0, 8 or 16 (whole bytes).
 * Returns the number of bytes written to @out.
 */
size_t etrace_encap_wrap(const ETraceParams *params, const uint8_t *payload,
                         size_t len, uint8_t out[ETRACE_ENCAP_MAX]);

/*
 * The synchronisation sequence of an unframed stream: N null.idle and one
 * null.alignment, N = 31 + T + S (section "Synchronization").
 * Returns the number of bytes written to @out.
 */
size_t etrace_encap_align(const ETraceParams *params,
                          uint8_t out[ETRACE_ALIGN_MAX]);

typedef enum ETraceEncapStatus {
    ETRACE_ENCAP_PACKET,        /* a normal packet: src_id, payload, len */
    ETRACE_ENCAP_NULL,          /* a null packet; align tells which */
    ETRACE_ENCAP_MORE,          /* @avail ends inside a packet */
} ETraceEncapStatus;

typedef struct ETraceEncapPacket {
    uint16_t src_id;
    uint8_t flow;
    bool align;                 /* null packet: null.alignment */
    size_t size;                /* bytes that the whole packet takes */
    const uint8_t *payload;     /* inside the caller's buffer */
    size_t len;
} ETraceEncapPacket;

/*
 * Look at the packet that starts at @buf. Only src_bits and ts_bytes of
 * @params are used. ETRACE_ENCAP_MORE says that more bytes are needed (at the
 * end of a file: that the last packet is cut off).
 */
ETraceEncapStatus etrace_encap_parse(const ETraceParams *params,
                                     const uint8_t *buf, size_t avail,
                                     ETraceEncapPacket *out);

/*
 * Find the next synchronisation sequence in @buf: the offset just behind its
 * null.alignment, where a packet starts. Returns false if there is none.
 */
bool etrace_encap_find_align(const ETraceParams *params, const uint8_t *buf,
                             size_t avail, size_t *offset);

#endif /* HW_TRACE_ETRACE_ENCAP_H */
