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
#include "packet.h"

/* header, up to 2 bytes of srcID, up to 8 of timestamp, payload */
#define ETRACE_ENCAP_MAX (1 + 2 + 8 + ETRACE_PACKET_MAX)
/* null.idle run plus null.alignment: at most 31 + T + S + 1 bytes */
#define ETRACE_ALIGN_MAX (31 + 8 + 2 + 1)

/* Width of the type field: there is one if there is data trace, too. */
static inline unsigned etrace_encap_type_bits(const ETraceParams *params)
{
    return params->data_width != 0;
}

/*
 * Bits in front of the payload that count as its: those of the srcID beyond
 * whole bytes, and the type field. The payload itself has as many less.
 */
static inline unsigned etrace_encap_odd_bits(const ETraceParams *params)
{
    return params->src_bits % 8 + etrace_encap_type_bits(params);
}

typedef struct ETraceEncapPacket {
    uint16_t src_id;
    uint8_t flow;
    bool extend;                /* has a timestamp */
    bool data;                  /* type: te_data, not te_inst */
    bool align;                 /* null packet: null.alignment */
    uint64_t timestamp;
    size_t size;                /* bytes that the whole packet takes */
    const uint8_t *payload;     /* in the caller's buffer, or in @shifted */
    size_t len;
    uint8_t shifted[ETRACE_PACKET_MAX];
} ETraceEncapPacket;

/*
 * True if @payload (@len bytes, 1..31) has room behind the odd bits of
 * @params. What is packed with valid parameters has.
 */
bool etrace_encap_fits(const ETraceParams *params, const uint8_t *payload,
                       size_t len);

/*
 * Encapsulate @pkt: src_id, flow, extend and timestamp (if ts_bytes), data
 * (if there is a type field), payload, len (1..31), which must fit. Returns
 * the number of bytes written.
 */
size_t etrace_encap_pack(const ETraceParams *params,
                         const ETraceEncapPacket *pkt,
                         uint8_t out[ETRACE_ENCAP_MAX]);

/*
 * Wrap the te_inst @payload (@len bytes, 1..31) of the source that @params
 * describe, flow 0, no timestamp.
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

/*
 * The id of a session, behind the synchronisation sequence that its part of a
 * stream begins with: null packets, which any reader skips, idle for a 0 and
 * alignment for a 1. 8 bits of version, 64 of the id, both LSB first, and a
 * null.alignment.
 */
#define ETRACE_SESSION_MARK_VERSION     1
#define ETRACE_SESSION_MARK_SIZE        (8 + 64 + 1)

/* Write the mark of session @id, ETRACE_SESSION_MARK_SIZE bytes, to @out. */
void etrace_encap_mark_session(uint64_t id,
                               uint8_t out[ETRACE_SESSION_MARK_SIZE]);

typedef enum ETraceMarkStatus {
    ETRACE_MARK_FOUND,
    ETRACE_MARK_NONE,           /* something else is there */
    ETRACE_MARK_MORE,           /* @avail ends inside of what may be one */
} ETraceMarkStatus;

/*
 * Look for the mark of a session whose synchronisation sequence begins at @buf,
 * and set *@id if it is found. Only src_bits and ts_bytes of @params are used.
 */
ETraceMarkStatus etrace_encap_find_mark(const ETraceParams *params,
                                        const uint8_t *buf, size_t avail,
                                        uint64_t *id);

typedef enum ETraceEncapStatus {
    ETRACE_ENCAP_PACKET,        /* a normal packet */
    ETRACE_ENCAP_NULL,          /* a null packet; align says which */
    ETRACE_ENCAP_MORE,          /* @avail ends inside a packet */
} ETraceEncapStatus;

/*
 * Look at the packet that starts at @buf. Only src_bits, ts_bytes and
 * data_width of @params are used. ETRACE_ENCAP_MORE says that more bytes are
 * needed (at the end of a file: that the last packet is cut off). A payload
 * that starts within a byte is moved to @out->shifted, sign-extended, without
 * superfluous bytes; @out must stay where it is as long as it is used. Its
 * len is 0 if there are only odd bits.
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
