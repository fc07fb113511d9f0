/*
 * E-Trace data packets (te_data): fields and their place on the wire
 *
 * Chapter 7, "Data Trace Encoder Output Packets". The tables of the draft 2.1
 * are those of its extension "Multi-Memory Access and Compare and Swap v0.8".
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_DATA_PACKET_H
#define HW_TRACE_ETRACE_DATA_PACKET_H

#include "packet.h"

/*
 * Transaction types: format of section 7.1.1. In the draft 2.1, format and
 * subformat together say the same, and both responses are
 * ETRACE_DATA_SPLIT_LOAD_DATA.
 */
typedef enum ETraceDataFormat {
    ETRACE_DATA_LOAD = 0,               /* aligned; unified, or request */
    ETRACE_DATA_LOAD_UNALIGNED = 1,
    ETRACE_DATA_STORE = 2,
    ETRACE_DATA_STORE_UNALIGNED = 3,
    ETRACE_DATA_SPLIT_LOAD_DATA = 4,    /* response of a split load */
    ETRACE_DATA_CSR = 5,
    ETRACE_DATA_ATOMIC = 6,             /* unified, or request */
    ETRACE_DATA_SPLIT_ATOMIC_DATA = 7,  /* response of a split atomic */
} ETraceDataFormat;

/* subtype of atomics: dtype - ETRACE_DTYPE_SWAP */
typedef enum ETraceAtomic {
    ETRACE_ATOMIC_SWAP = 0,
    ETRACE_ATOMIC_ADD = 1,
    ETRACE_ATOMIC_AND = 2,
    ETRACE_ATOMIC_OR = 3,
    ETRACE_ATOMIC_XOR = 4,
    ETRACE_ATOMIC_MAX = 5,
    ETRACE_ATOMIC_MIN = 6,
    /* Only in packets with address only: chapter 7 has no other code. */
    ETRACE_ATOMIC_SC_FAILURE = 7,
    ETRACE_ATOMIC_CAS_FAILURE = 8,      /* the draft 2.1 */
} ETraceAtomic;

/* subtype of CSR accesses: dtype - ETRACE_DTYPE_CSR_RW */
typedef enum ETraceCsrAccess {
    ETRACE_CSR_RW = 0,
    ETRACE_CSR_RS = 1,
    ETRACE_CSR_RC = 2,
} ETraceCsrAccess;

/*
 * diff with address and data. Alone, an address has 0 or 1 (differential),
 * data have 0, 1 (XOR) or 3 (differential).
 */
typedef enum ETraceDiff {
    ETRACE_DIFF_FULL = 0,
    ETRACE_DIFF_XOR_DATA = 1,
    ETRACE_DIFF_FULL_DATA = 2,
    ETRACE_DIFF_DIFF_DATA = 3,
} ETraceDiff;

/* resp of a split access */
typedef enum ETraceResp {
    ETRACE_RESP_ERROR = 0,
    ETRACE_RESP_XOR_DATA = 1,
    ETRACE_RESP_FULL_DATA = 2,
    ETRACE_RESP_DIFF_DATA = 3,
} ETraceResp;

/*
 * One te_data. Which members mean something follows from format and from the
 * modes in doptions; the others are 0.
 *
 * data and operand are what the fields say (value, XOR or difference), modulo
 * the size of the access. address is in bytes: absolute and zero-extended
 * from daddress_width_p if diff is 0 (aligned formats: a multiple of the
 * size), else a signed difference. data_len and op_len are the fields: bytes
 * minus 1; fewer than the size if the rest is sign extension.
 */
typedef struct ETraceDataPacket {
    uint8_t format;             /* ETraceDataFormat */
    bool multi;                 /* the draft 2.1: multi-memory access */
    uint8_t subtype;            /* ETraceAtomic or ETraceCsrAccess */
    uint8_t size;               /* 2^size bytes; CSR: of a CSR */
    uint8_t diff;
    uint8_t resp;               /* ETraceResp */
    uint8_t data_len;
    uint8_t op_len;
    uint16_t lrid;
    uint64_t data;
    uint64_t operand;
    uint64_t address;           /* CSR: its number */
} ETraceDataPacket;

/*
 * Sizes of the split atomics that were requested, by lrid: the packet with
 * the response does not have (section 7.2). Zeroed at the start of a trace;
 * pack and unpack keep it up to date. NULL where loads are unified.
 */
typedef struct ETraceDataSizes {
    uint8_t size[1 << ETRACE_LRID_WIDTH_MAX];
} ETraceDataSizes;

/*
 * True if @params and their doptions have a packet for @pkt, looking at all
 * members but data, operand and address. A failed SC has none if data is
 * traced, too.
 */
bool etrace_data_packet_exists(const ETraceParams *params,
                               const ETraceDataPacket *pkt);

/*
 * Set data_len and op_len to the fewest bytes that @pkt's data and operand
 * can be sign-extended from, and the size of CSR accesses.
 */
void etrace_data_packet_shorten(const ETraceParams *params,
                                ETraceDataPacket *pkt);

/*
 * Pack @pkt, for which etrace_data_packet_exists(), into @buf. data_len and
 * op_len must suffice. Returns the length in bytes, 1..ETRACE_PACKET_MAX.
 */
size_t etrace_data_packet_pack(const ETraceParams *params,
                               ETraceDataSizes *sizes,
                               const ETraceDataPacket *pkt,
                               uint8_t buf[ETRACE_PACKET_MAX]);

/*
 * Unpack a payload of @len bytes. Returns true and fills @pkt, or false if no
 * packet of these parameters looks like this; @pkt is then undefined.
 */
bool etrace_data_packet_unpack(const ETraceParams *params,
                               ETraceDataSizes *sizes, const uint8_t *buf,
                               size_t len, ETraceDataPacket *pkt);

#endif /* HW_TRACE_ETRACE_DATA_PACKET_H */
