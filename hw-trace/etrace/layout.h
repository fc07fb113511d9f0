/*
 * E-Trace instruction packets (te_inst): tables of fields
 *
 * A layout is a table of fields in transmission order, the same table for
 * packing, unpacking and for writing a packet as text. There is a set of
 * tables for each wire format.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_LAYOUT_H
#define HW_TRACE_ETRACE_LAYOUT_H

#include "packet.h"
#include "packet-bits.h"

/* Width of a field in bits, or one of these where it depends on something. */
enum {
    ETRACE_WIDTH_PRIVILEGE = 0x80,  /* privilege_width_p */
    ETRACE_WIDTH_TIME,              /* time_width_p */
    ETRACE_WIDTH_CONTEXT,           /* context_width_p */
    ETRACE_WIDTH_ECAUSE,            /* ecause_width_p */
    ETRACE_WIDTH_ADDRESS,           /* iaddress_width_p - iaddress_lsb_p */
    ETRACE_WIDTH_TRAP_ADDRESS,      /* the same; may be implicit */
    ETRACE_WIDTH_TVAL,              /* iaddress_width_p, not for interrupts */
    ETRACE_WIDTH_TVALEPC,           /* iaddress_width_p */
    ETRACE_WIDTH_BRANCH_MAP,        /* the tapered sizes of section 6.7 */
    ETRACE_WIDTH_IRDEPTH,           /* of return stack and call counter */
    ETRACE_WIDTH_F0S,               /* f0s_width_p */
    ETRACE_WIDTH_INDEX,             /* cache_size_p */
    ETRACE_WIDTH_IOPTIONS,          /* one bit more if sijump_p */
};

/* How the value of a member becomes bits. */
typedef enum ETraceCoding {
    ETRACE_CODING_PLAIN,
    ETRACE_CODING_ADDRESS,      /* without the iaddress_lsb_p low bits */
    ETRACE_CODING_DIFF,         /* as ADDRESS; signed, or full addresses */
    ETRACE_CODING_XOR,          /* 1: differs from the preceding bit */
    ETRACE_CODING_IRDEPTH,      /* repeats the preceding bit if !irreport */
    ETRACE_CODING_FLAG,         /* one bit of a member: @flag */
    ETRACE_CODING_BY_16,        /* in units of 16 */
} ETraceCoding;

typedef struct ETraceField {
    const char *name;           /* in the specification; NULL: end of table */
    uint8_t offset;             /* of the member of ETracePacket */
    uint8_t size;               /* of the member in bytes */
    uint8_t width;
    uint8_t coding;
    uint8_t flag;
} ETraceField;

typedef enum ETraceKind {
    ETRACE_KIND_FORMAT00,
    ETRACE_KIND_FORMAT00_ADDR,
    ETRACE_KIND_FORMAT01,
    ETRACE_KIND_FORMAT1_MAP,
    ETRACE_KIND_FORMAT1,
    ETRACE_KIND_FORMAT2,
    ETRACE_KIND_FORMAT30,       /* .. + 3: in the order of the subformats */
    ETRACE_KIND_FORMAT31,
    ETRACE_KIND_FORMAT32,
    ETRACE_KIND_FORMAT33,
    ETRACE_KIND_MAX
} ETraceKind;

/* The fields of a kind of packet in a wire format, up to one without a name */
const ETraceField *etrace_layout(ETraceWireFormat wire, ETraceKind kind);

/*
 * The kind of packet that @pkt is, looking at format, subformat, branches and
 * branch_fmt; ETRACE_KIND_MAX if @params have no such packet.
 */
ETraceKind etrace_packet_kind(const ETraceParams *params,
                              const ETracePacket *pkt);

/* Bits that @f takes in @pkt, 0 if it is absent. */
unsigned etrace_field_width(const ETraceField *f, const ETraceParams *params,
                            const ETracePacket *pkt);

/*
 * The member of @pkt that @f is about as the field has it, and the reverse.
 * Codings that need what is around the field are up to the caller: an address
 * is as in @pkt, a bit or a count is not compared with the bit before it.
 */
static inline uint64_t etrace_field_get(const ETraceField *f,
                                        const ETracePacket *pkt)
{
    uint64_t value = etrace_member_get(pkt, f->offset, f->size);

    switch (f->coding) {
    case ETRACE_CODING_FLAG:
        return (value & f->flag) != 0;
    case ETRACE_CODING_BY_16:
        return value / 16;
    default:
        return value;
    }
}

static inline void etrace_field_set(const ETraceField *f, ETracePacket *pkt,
                                    uint64_t value)
{
    switch (f->coding) {
    case ETRACE_CODING_FLAG:
        value = etrace_member_get(pkt, f->offset, f->size) |
                (value ? f->flag : 0);
        break;
    case ETRACE_CODING_BY_16:
        value *= 16;
        break;
    default:
        break;
    }
    etrace_member_set(pkt, f->offset, f->size, value);
}

/* The subformat of format 0 that goes without saying if f0s_width_p is 0 */
static inline unsigned etrace_f0_subformat(const ETraceParams *params)
{
    return params->cache_size ? ETRACE_OPT_JUMP_TARGET :
                                ETRACE_OPT_BRANCH_COUNT;
}

/* Bits of the branch map of @pkt (the tapered sizes of section 6.7) */
unsigned etrace_branch_map_width(const ETracePacket *pkt);

#endif /* HW_TRACE_ETRACE_LAYOUT_H */
