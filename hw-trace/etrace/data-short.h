/*
 * E-Trace data trace: most accesses straight to encapsulated packets
 *
 * A load or store whose packet is short, put together in two words of 64 bits.
 * data.h, data-packet.h and encap.h do the same for each access, step by step
 * and driven by tables. The bytes are the same.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_DATA_SHORT_H
#define HW_TRACE_ETRACE_DATA_SHORT_H

#include "data.h"

/* What follows from the parameters; see etrace_data_short_init() */
typedef struct ETraceDataShort {
    bool usable;
    uint8_t max_size;           /* log2 of bytes */
    uint8_t unused;             /* bits of an address above daddress_width_p */
    uint8_t src_bytes;
    uint8_t odd;                /* bits in front of the payload */
    uint8_t diff_at;            /* behind odd bits, format and size */
    uint16_t src_id;
    uint16_t head[4];           /* odd bits and size, by size */
    uint64_t no_xor, no_diff;   /* 0, or a bit if data may not be said so */
} ETraceDataShort;

/* Bytes behind @out that etrace_data_short() may write to */
#define ETRACE_DATA_SHORT_MAX   (1 + 2 + 16)

/*
 * @compress and @params (with doptions, which may differ from one packet to the
 * next) are what etrace_data_short() is to go by from here on.
 */
void etrace_data_short_init(ETraceDataShort *how, const ETraceParams *params,
                            ETraceDataCompress compress);

/*
 * Encapsulate the packet that says @access at @out, without timestamp, flow 0,
 * and bring @state up to date. Returns the number of bytes, or 0 with @state
 * unchanged if it takes the long way: an access that is no load or store, the
 * first of its size or far from the last one, parts that are left out, or the
 * wire format of the draft 2.1.
 */
unsigned etrace_data_short(const ETraceDataShort *how, ETraceDataState *state,
                           const ETraceAccess *access, uint8_t *out);

#endif /* HW_TRACE_ETRACE_DATA_SHORT_H */
