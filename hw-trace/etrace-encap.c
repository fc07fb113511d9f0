/*
 * Unformatted Trace & Diagnostic Data Packet Encapsulation 1.0
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-encap.h"

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

size_t etrace_encap_wrap(const ETraceParams *params, const uint8_t *payload,
                         size_t len, uint8_t out[ETRACE_ENCAP_MAX])
{
    size_t n = 0;

    assert(len >= 1 && len <= ETRACE_PACKET_MAX);
    assert(params->src_bits <= 16 && params->src_bits % 8 == 0);

    out[n++] = len;
    for (unsigned i = 0; i < params->src_bits; i += 8) {
        out[n++] = params->src_id >> i;
    }
    memcpy(out + n, payload, len);
    return n + len;
}

size_t etrace_encap_align(const ETraceParams *params,
                          uint8_t out[ETRACE_ALIGN_MAX])
{
    size_t n = null_run_max(params);

    memset(out, NULL_IDLE, n);
    out[n] = NULL_ALIGNMENT;
    return n + 1;
}

ETraceEncapStatus etrace_encap_parse(const ETraceParams *params,
                                     const uint8_t *buf, size_t avail,
                                     ETraceEncapPacket *out)
{
    size_t n = 1;

    memset(out, 0, sizeof(*out));
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

    n += params->src_bits / 8;
    if (buf[0] & HEADER_EXTEND) {
        n += params->ts_bytes;
    }
    if (avail < n + out->len) {
        return ETRACE_ENCAP_MORE;
    }
    for (unsigned i = 0; i < params->src_bits / 8; i++) {
        out->src_id |= (uint16_t)buf[1 + i] << (8 * i);
    }
    out->payload = buf + n;
    out->size = n + out->len;
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
