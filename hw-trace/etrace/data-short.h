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
    uint8_t unused;             /* bits of an address above daddress_width_p */
    uint8_t start;              /* of the payload: bytes */
    uint8_t diff_at;            /* behind odd bits, format and size */
    uint32_t head[16];          /* what is in front of diff, or 0 */
    uint64_t src_id;            /* in front of the payload, at its place */
    uint64_t no_xor, no_diff;   /* 0, or a bit if data may not be said so */
} ETraceDataShort;

/* Bytes behind @out that a packet of etrace_data_short() may write to */
#define ETRACE_DATA_SHORT_MAX   (1 + 2 + 16)

/*
 * @compress and @params (with doptions, which may differ from one packet to the
 * next) are what etrace_data_short() is to go by from here on.
 */
void etrace_data_short_init(ETraceDataShort *how, const ETraceParams *params,
                            ETraceDataCompress compress);

/*
 * Encapsulate the packets that say the accesses among the *@n @slots at @out,
 * without timestamp, flow 0, and bring @state up to date. It ends in front of
 * the first access that takes the long way, and where less than
 * ETRACE_DATA_SHORT_MAX of the @room bytes are left. Sets *@n to the number of
 * slots done, adds the packets to *@packets and returns how many bytes they
 * take; @out behind them may be written to, too.
 *
 * The long way takes an access that is no load or store, or is not aligned, the
 * first of its size, or at the first or last address, and packets of more than
 * 128 bits. It takes all of them if parts are left out, or if the wire format
 * is that of the draft 2.1.
 */
size_t etrace_data_short(const ETraceDataShort *how, ETraceDataState *state,
                         const ETraceSlot *slots, size_t *n, uint8_t *out,
                         size_t room, unsigned *packets);

#endif /* HW_TRACE_ETRACE_DATA_SHORT_H */
