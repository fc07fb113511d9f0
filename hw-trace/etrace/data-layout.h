/*
 * E-Trace data packets (te_data): tables of fields
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_DATA_LAYOUT_H
#define HW_TRACE_ETRACE_DATA_LAYOUT_H

#include "data-packet.h"
#include "packet-bits.h"

/* Width of a field in bits, or one of these where it depends on something. */
enum {
    ETRACE_DWIDTH_FORMAT = 0x80,    /* 2 or 3; the draft 2.1: 0 to 2 */
    ETRACE_DWIDTH_SUBFORMAT,        /* the draft 2.1: 0, 2 or 4 */
    ETRACE_DWIDTH_SUBTYPE,          /* 2 or 3; not in the draft 2.1 */
    ETRACE_DWIDTH_SIZE,             /* of data_width_p */
    ETRACE_DWIDTH_ATOMIC_SIZE,      /* the same; 1.1.1: 1 */
    ETRACE_DWIDTH_LRID,             /* lrid_width_p */
    ETRACE_DWIDTH_LEN,              /* as many bits as size says */
    ETRACE_DWIDTH_OP_LEN,           /* the same; none for read-only CSRs */
    ETRACE_DWIDTH_DATA_BY_LEN,      /* data_len + 1 bytes */
    ETRACE_DWIDTH_OPERAND_BY_LEN,   /* op_len + 1 bytes */
    ETRACE_DWIDTH_DATA,             /* data_width_p */
    ETRACE_DWIDTH_ADDRESS,          /* daddress_width_p */
};

/* How the value of a member becomes bits. */
typedef enum ETraceDataCoding {
    ETRACE_DCODING_PLAIN,
    ETRACE_DCODING_FORMAT,      /* the draft 2.1: format and subformat for */
    ETRACE_DCODING_SUBFORMAT,   /* format, multi, subtype */
    ETRACE_DCODING_SIZE,        /* 1.1.1's atomics: size - 2 */
    ETRACE_DCODING_VALUE,       /* sign-extended, modulo the access' size */
    ETRACE_DCODING_ADDRESS,     /* shifted by size if aligned; may be signed */
    ETRACE_DCODING_CSR_MSBS,    /* address[11:6] */
    ETRACE_DCODING_CSR_LSBS,    /* address[5:0] */
} ETraceDataCoding;

typedef struct ETraceDataField {
    const char *name;           /* in the specification; NULL: end of table */
    uint8_t offset;             /* of the member of ETraceDataPacket */
    uint8_t size;               /* of the member in bytes */
    uint8_t width;
    uint8_t coding;
} ETraceDataField;

/*
 * The table for @pkt, looking at format, multi, subtype, and the modes in
 * doptions; NULL if there is none.
 */
const ETraceDataField *etrace_data_layout(const ETraceParams *params,
                                          const ETraceDataPacket *pkt);

/*
 * Bits of the field size: max(1, clog2(clog2(data_width_p / 8 + 1))); in 1.1.1
 * 2 or 3
 */
unsigned etrace_data_size_width(const ETraceParams *params);

/* Bits that @f takes in @pkt, 0 if it is absent. */
unsigned etrace_data_field_width(const ETraceDataField *f,
                                 const ETraceParams *params,
                                 const ETraceDataPacket *pkt);

/*
 * The draft 2.1: what @format and @subformat say, as format, multi and
 * subtype of @pkt. Returns false for codes that are reserved. A @format that
 * is not on the wire is 0; so is the @subformat of a response.
 */
bool etrace_data_from_wire(const ETraceParams *params, unsigned format,
                           unsigned subformat, ETraceDataPacket *pkt);

/* The reverse */
unsigned etrace_data_wire_format(const ETraceDataPacket *pkt);
unsigned etrace_data_wire_subformat(const ETraceDataPacket *pkt);

/* Bits of format and, in the draft 2.1, of the subformat behind @format */
unsigned etrace_data_format_width(const ETraceParams *params);
unsigned etrace_data_subformat_width(unsigned format);

/* How far the address field is shifted (section 7.1, address) */
static inline unsigned etrace_data_address_shift(const ETraceDataPacket *pkt)
{
    return pkt->format == ETRACE_DATA_LOAD_UNALIGNED ||
           pkt->format == ETRACE_DATA_STORE_UNALIGNED ? 0 : pkt->size;
}

/* What ETRACE_DCODING_SIZE takes off */
static inline unsigned etrace_data_size_base(const ETraceParams *params)
{
    return params->wire_format == ETRACE_WIRE_1_1_1 ? 2 : 0;
}

/*
 * The member of @pkt that @f is about as the field has it; addresses and
 * values, whose bits depend on more, are as in @pkt.
 */
static inline uint64_t etrace_data_field_get(const ETraceDataField *f,
                                             const ETraceParams *params,
                                             const ETraceDataPacket *pkt)
{
    uint64_t value = etrace_member_get(pkt, f->offset, f->size);

    switch (f->coding) {
    case ETRACE_DCODING_FORMAT:
        return params->wire_format == ETRACE_WIRE_2_1_DRAFT ?
               etrace_data_wire_format(pkt) : value;
    case ETRACE_DCODING_SUBFORMAT:
        return etrace_data_wire_subformat(pkt);
    case ETRACE_DCODING_SIZE:
        return value - etrace_data_size_base(params);
    case ETRACE_DCODING_CSR_MSBS:
        return value >> 6;
    case ETRACE_DCODING_CSR_LSBS:
        return value & 0x3f;
    default:
        return value;
    }
}

/*
 * The reverse. Format and subformat must have been looked at before and are
 * passed over. Returns false if @pkt would be an access of more than 8 bytes.
 */
static inline bool etrace_data_field_set(const ETraceDataField *f,
                                         const ETraceParams *params,
                                         ETraceDataPacket *pkt,
                                         uint64_t value)
{
    switch (f->coding) {
    case ETRACE_DCODING_FORMAT:
    case ETRACE_DCODING_SUBFORMAT:
        return true;
    case ETRACE_DCODING_SIZE:
        value += etrace_data_size_base(params);
        break;
    case ETRACE_DCODING_CSR_MSBS:
        value <<= 6;
        break;
    case ETRACE_DCODING_CSR_LSBS:
        value |= pkt->address;
        break;
    default:
        break;
    }
    etrace_member_set(pkt, f->offset, f->size, value);
    return pkt->size <= 3;
}

#endif /* HW_TRACE_ETRACE_DATA_LAYOUT_H */
