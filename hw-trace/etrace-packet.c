/*
 * E-Trace instruction packets (te_inst): packing and unpacking
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-packet.h"

/* Width of a field in bits, or one of these where it depends on something. */
enum {
    WIDTH_PRIVILEGE = 0x80,     /* privilege_width_p */
    WIDTH_TIME,                 /* time_width_p */
    WIDTH_CONTEXT,              /* context_width_p */
    WIDTH_ECAUSE,               /* ecause_width_p */
    WIDTH_ADDRESS,              /* iaddress_width_p - iaddress_lsb_p */
    WIDTH_TVAL,                 /* iaddress_width_p, none for interrupts */
    WIDTH_BRANCH_MAP,           /* the tapered sizes of section 6.7 */
    WIDTH_IRDEPTH,              /* sizes of return stack and call counter */
    WIDTH_F0S,                  /* f0s_width_p */
    WIDTH_INDEX,                /* cache_size_p */
    WIDTH_IOPTIONS,             /* one bit more if sijump_p */
};

/* How the value of a member becomes bits. */
typedef enum ETraceCoding {
    CODING_PLAIN,
    CODING_ADDRESS,             /* without the iaddress_lsb_p low bits */
    CODING_DIFF,                /* as CODING_ADDRESS, signed */
    CODING_XOR,                 /* 1: differs from the preceding bit */
    CODING_IRDEPTH,             /* repeats the preceding bit if !irreport */
} ETraceCoding;

typedef struct ETraceField {
    uint8_t offset;             /* of the member of ETracePacket */
    uint8_t size;               /* of the member in bytes; 0: end of table */
    uint8_t width;
    uint8_t coding;
} ETraceField;

#define FIELD(member, width, coding)                                    \
    { offsetof(ETracePacket, member),                                   \
      sizeof(((ETracePacket *)NULL)->member), width, coding }

/* Section 6.8, first table: a branch failed the prediction */
static const ETraceField format00_2_0[] = {
    FIELD(format, 2, CODING_PLAIN),
    FIELD(subformat, WIDTH_F0S, CODING_PLAIN),
    FIELD(branch_count, 32, CODING_PLAIN),
    FIELD(branch_fmt, 2, CODING_PLAIN),
    { }
};

/* Section 6.8, second table */
static const ETraceField format00_addr_2_0[] = {
    FIELD(format, 2, CODING_PLAIN),
    FIELD(subformat, WIDTH_F0S, CODING_PLAIN),
    FIELD(branch_count, 32, CODING_PLAIN),
    FIELD(branch_fmt, 2, CODING_PLAIN),
    FIELD(address, WIDTH_ADDRESS, CODING_DIFF),
    FIELD(notify, 1, CODING_XOR),
    FIELD(updiscon, 1, CODING_XOR),
    FIELD(irreport, 1, CODING_XOR),
    FIELD(irdepth, WIDTH_IRDEPTH, CODING_IRDEPTH),
    { }
};

/* Section 6.8, third and fourth table: without branches, there is no map */
static const ETraceField format01_2_0[] = {
    FIELD(format, 2, CODING_PLAIN),
    FIELD(subformat, WIDTH_F0S, CODING_PLAIN),
    FIELD(index, WIDTH_INDEX, CODING_PLAIN),
    FIELD(branches, 5, CODING_PLAIN),
    FIELD(branch_map, WIDTH_BRANCH_MAP, CODING_PLAIN),
    FIELD(irreport, 1, CODING_XOR),
    FIELD(irdepth, WIDTH_IRDEPTH, CODING_IRDEPTH),
    { }
};

/* Section 6.7, second table: branch map is full, no address is due */
static const ETraceField format1_map_2_0[] = {
    FIELD(format, 2, CODING_PLAIN),
    FIELD(branches, 5, CODING_PLAIN),
    FIELD(branch_map, WIDTH_BRANCH_MAP, CODING_PLAIN),
    { }
};

/* Section 6.7, first table */
static const ETraceField format1_2_0[] = {
    FIELD(format, 2, CODING_PLAIN),
    FIELD(branches, 5, CODING_PLAIN),
    FIELD(branch_map, WIDTH_BRANCH_MAP, CODING_PLAIN),
    FIELD(address, WIDTH_ADDRESS, CODING_DIFF),
    FIELD(notify, 1, CODING_XOR),
    FIELD(updiscon, 1, CODING_XOR),
    FIELD(irreport, 1, CODING_XOR),
    FIELD(irdepth, WIDTH_IRDEPTH, CODING_IRDEPTH),
    { }
};

/* Section 6.6 */
static const ETraceField format2_2_0[] = {
    FIELD(format, 2, CODING_PLAIN),
    FIELD(address, WIDTH_ADDRESS, CODING_DIFF),
    FIELD(notify, 1, CODING_XOR),
    FIELD(updiscon, 1, CODING_XOR),
    FIELD(irreport, 1, CODING_XOR),
    FIELD(irdepth, WIDTH_IRDEPTH, CODING_IRDEPTH),
    { }
};

/* Section 6.2 */
static const ETraceField format30_2_0[] = {
    FIELD(format, 2, CODING_PLAIN),
    FIELD(subformat, 2, CODING_PLAIN),
    FIELD(branch, 1, CODING_PLAIN),
    FIELD(privilege, WIDTH_PRIVILEGE, CODING_PLAIN),
    FIELD(time, WIDTH_TIME, CODING_PLAIN),
    FIELD(context, WIDTH_CONTEXT, CODING_PLAIN),
    FIELD(address, WIDTH_ADDRESS, CODING_ADDRESS),
    { }
};

/* Section 6.3 */
static const ETraceField format31_2_0[] = {
    FIELD(format, 2, CODING_PLAIN),
    FIELD(subformat, 2, CODING_PLAIN),
    FIELD(branch, 1, CODING_PLAIN),
    FIELD(privilege, WIDTH_PRIVILEGE, CODING_PLAIN),
    FIELD(time, WIDTH_TIME, CODING_PLAIN),
    FIELD(context, WIDTH_CONTEXT, CODING_PLAIN),
    FIELD(ecause, WIDTH_ECAUSE, CODING_PLAIN),
    FIELD(interrupt, 1, CODING_PLAIN),
    FIELD(thaddr, 1, CODING_PLAIN),
    FIELD(address, WIDTH_ADDRESS, CODING_ADDRESS),
    FIELD(tval, WIDTH_TVAL, CODING_PLAIN),
    { }
};

/* Section 6.4 */
static const ETraceField format32_2_0[] = {
    FIELD(format, 2, CODING_PLAIN),
    FIELD(subformat, 2, CODING_PLAIN),
    FIELD(privilege, WIDTH_PRIVILEGE, CODING_PLAIN),
    FIELD(time, WIDTH_TIME, CODING_PLAIN),
    FIELD(context, WIDTH_CONTEXT, CODING_PLAIN),
    { }
};

/*
 * Section 6.5. The text leaves the widths of encoder_mode, ioptions and
 * doptions open; these are the published reference model's, with one more
 * bit of ioptions where there are sequentially inferable jumps.
 */
static const ETraceField format33_2_0[] = {
    FIELD(format, 2, CODING_PLAIN),
    FIELD(subformat, 2, CODING_PLAIN),
    FIELD(ienable, 1, CODING_PLAIN),
    FIELD(encoder_mode, 1, CODING_PLAIN),
    FIELD(qual_status, 2, CODING_PLAIN),
    FIELD(ioptions, WIDTH_IOPTIONS, CODING_PLAIN),
    FIELD(denable, 1, CODING_PLAIN),
    FIELD(dloss, 1, CODING_PLAIN),
    FIELD(doptions, 4, CODING_PLAIN),
    { }
};

typedef enum ETraceKind {
    KIND_FORMAT00,
    KIND_FORMAT00_ADDR,
    KIND_FORMAT01,
    KIND_FORMAT1_MAP,
    KIND_FORMAT1,
    KIND_FORMAT2,
    KIND_FORMAT30,              /* .. + 3: in the order of the subformats */
    KIND_FORMAT31,
    KIND_FORMAT32,
    KIND_FORMAT33,
    KIND_MAX
} ETraceKind;

static const ETraceField *const layouts[][KIND_MAX] = {
    [ETRACE_WIRE_2_0] = {
        [KIND_FORMAT00] = format00_2_0,
        [KIND_FORMAT00_ADDR] = format00_addr_2_0,
        [KIND_FORMAT01] = format01_2_0,
        [KIND_FORMAT1_MAP] = format1_map_2_0,
        [KIND_FORMAT1] = format1_2_0,
        [KIND_FORMAT2] = format2_2_0,
        [KIND_FORMAT30] = format30_2_0,
        [KIND_FORMAT31] = format31_2_0,
        [KIND_FORMAT32] = format32_2_0,
        [KIND_FORMAT33] = format33_2_0,
    },
};

/* @pkt: format, subformat, branches and branch_fmt, as far as they apply */
static ETraceKind packet_kind(const ETraceParams *params,
                              const ETracePacket *pkt)
{
    switch (pkt->format) {
    case ETRACE_FORMAT_OPT_EXT:
        if (pkt->subformat == ETRACE_OPT_BRANCH_COUNT && params->bpred_size) {
            return pkt->branch_fmt ? KIND_FORMAT00_ADDR : KIND_FORMAT00;
        }
        if (pkt->subformat == ETRACE_OPT_JUMP_TARGET && params->cache_size) {
            return KIND_FORMAT01;
        }
        return KIND_MAX;
    case ETRACE_FORMAT_DIFF_DELTA:
        return pkt->branches ? KIND_FORMAT1 : KIND_FORMAT1_MAP;
    case ETRACE_FORMAT_ADDR_ONLY:
        return KIND_FORMAT2;
    case ETRACE_FORMAT_SYNC:
        return KIND_FORMAT30 + pkt->subformat;
    default:
        return KIND_MAX;
    }
}

static unsigned branch_map_width(const ETracePacket *pkt)
{
    static const uint8_t width[32] = {
        0, 1, 3, 3, 7, 7, 7, 7, 15, 15, 15, 15, 15, 15, 15, 15,
        31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31,
    };

    if (pkt->format == ETRACE_FORMAT_DIFF_DELTA && pkt->branches == 0) {
        return 31;
    }
    return width[pkt->branches];
}

static unsigned irdepth_width(const ETraceParams *params)
{
    return params->return_stack_size + (params->return_stack_size > 0) +
           params->call_counter_size;
}

static unsigned field_width(const ETraceField *f, const ETraceParams *params,
                            const ETracePacket *pkt)
{
    switch (f->width) {
    case WIDTH_PRIVILEGE:
        return params->privilege_width;
    case WIDTH_TIME:
        return params->time_width;
    case WIDTH_CONTEXT:
        return params->context_width;
    case WIDTH_ECAUSE:
        return params->ecause_width;
    case WIDTH_ADDRESS:
        return params->iaddress_width - params->iaddress_lsb;
    case WIDTH_TVAL:
        return pkt->interrupt ? 0 : params->iaddress_width;
    case WIDTH_BRANCH_MAP:
        return branch_map_width(pkt);
    case WIDTH_IRDEPTH:
        return irdepth_width(params);
    case WIDTH_F0S:
        return params->f0s_width;
    case WIDTH_INDEX:
        return params->cache_size;
    case WIDTH_IOPTIONS:
        return 5 + params->sijump;
    default:
        return f->width;
    }
}

static uint64_t ones(unsigned width)
{
    return width >= 64 ? UINT64_MAX : (1ull << width) - 1;
}

static uint64_t sign_extend(uint64_t value, unsigned width)
{
    unsigned shift = 64 - width;

    return (int64_t)(value << shift) >> shift;
}

static uint64_t member_get(const ETraceField *f, const ETracePacket *pkt)
{
    const void *p = (const char *)pkt + f->offset;

    switch (f->size) {
    case 1:
        return *(const uint8_t *)p;
    case 2:
        return *(const uint16_t *)p;
    case 4:
        return *(const uint32_t *)p;
    default:
        return *(const uint64_t *)p;
    }
}

static void member_set(const ETraceField *f, ETracePacket *pkt, uint64_t value)
{
    void *p = (char *)pkt + f->offset;

    switch (f->size) {
    case 1:
        *(uint8_t *)p = value;
        break;
    case 2:
        *(uint16_t *)p = value;
        break;
    case 4:
        *(uint32_t *)p = value;
        break;
    default:
        *(uint64_t *)p = value;
        break;
    }
}

/*
 * A packet as a little-endian number. 31 bytes fit with at least 8 bits to
 * spare, so that there is always a sign bit above the last field.
 */
#define PACKET_BITS (4 * 64)

typedef struct PacketBits {
    uint64_t word[4];
    unsigned pos;               /* first bit that is not written or read */
} PacketBits;

static bool bit_at(const PacketBits *b, unsigned pos)
{
    return (b->word[pos / 64] >> (pos % 64)) & 1;
}

static void put_bits(PacketBits *b, uint64_t value, unsigned width)
{
    unsigned shift = b->pos % 64;
    uint64_t *word = &b->word[b->pos / 64];

    if (width == 0) {
        return;
    }
    assert(b->pos + width <= ETRACE_PACKET_MAX * 8);
    value &= ones(width);
    word[0] |= value << shift;
    if (shift + width > 64) {
        word[1] |= value >> (64 - shift);
    }
    b->pos += width;
}

/* The caller has checked that the bits are there. */
static uint64_t get_bits(PacketBits *b, unsigned width)
{
    unsigned shift = b->pos % 64;
    const uint64_t *word = &b->word[b->pos / 64];
    uint64_t value;

    if (width == 0) {
        return 0;
    }
    value = word[0] >> shift;
    if (shift + width > 64) {
        value |= word[1] << (64 - shift);
    }
    b->pos += width;
    return value & ones(width);
}

/* Repeat the bit below @pos in every bit from there on; returns that bit. */
static bool fill_sign(PacketBits *b, unsigned pos)
{
    bool sign = bit_at(b, pos - 1);

    if (sign) {
        for (unsigned i = pos / 64; i < 4; i++) {
            unsigned low = i == pos / 64 ? pos % 64 : 0;

            b->word[i] |= UINT64_MAX << low;
        }
    }
    return sign;
}

/* Number of low bits that are left when all equal ones at the top go. */
static unsigned significant_bits(const PacketBits *b, bool sign)
{
    for (int i = 3; i >= 0; i--) {
        uint64_t differ = sign ? ~b->word[i] : b->word[i];

        if (differ) {
            return 64 * i + 64 - __builtin_clzll(differ);
        }
    }
    return 0;
}

/* Section 6.8.1: no field if there is nothing to choose */
static bool f0s_width_valid(const ETraceParams *p)
{
    return p->f0s_width <= 3 &&
           (p->f0s_width || !p->bpred_size || !p->cache_size);
}

bool etrace_params_valid(const ETraceParams *p)
{
    /* Section 6.3's table, the longest, for an exception */
    unsigned trap_bits = 2 + 2 + 1 + p->privilege_width + p->time_width +
                         p->context_width + p->ecause_width + 1 + 1 +
                         p->iaddress_width - p->iaddress_lsb +
                         p->iaddress_width;

    return p->wire_format < ARRAY_SIZE(layouts) &&
           (p->iaddress_width == 32 || p->iaddress_width == 64) &&
           p->iaddress_lsb <= 2 &&
           p->privilege_width >= 2 && p->privilege_width <= 3 &&
           p->ecause_width >= 1 && p->ecause_width <= 8 &&
           p->time_width <= 64 && p->context_width <= 64 &&
           trap_bits <= ETRACE_PACKET_MAX * 8 &&
           irdepth_width(p) <= 32 &&
           p->bpred_size <= 15 && p->cache_size <= 15 &&
           f0s_width_valid(p) && p->sijump <= 1 &&
           (p->src_bits == 0 || p->src_bits == 8 || p->src_bits == 16) &&
           p->ts_bytes <= 8;
}

size_t etrace_packet_pack(const ETraceParams *params, const ETracePacket *pkt,
                          uint8_t buf[ETRACE_PACKET_MAX])
{
    ETraceKind kind = packet_kind(params, pkt);
    PacketBits b = { };
    size_t len;
    bool sign;

    assert(kind < KIND_MAX);
    for (const ETraceField *f = layouts[params->wire_format][kind]; f->size;
         f++) {
        unsigned width = field_width(f, params, pkt);
        uint64_t value = member_get(f, pkt);

        switch (f->coding) {
        case CODING_ADDRESS:
        case CODING_DIFF:
            value >>= params->iaddress_lsb;
            break;
        case CODING_XOR:
            value ^= bit_at(&b, b.pos - 1);
            break;
        case CODING_IRDEPTH:
            if (!pkt->irreport) {
                value = bit_at(&b, b.pos - 1) ? UINT64_MAX : 0;
            }
            break;
        default:
            break;
        }
        put_bits(&b, value, width);
    }

    /* One sign bit has to stay. */
    sign = fill_sign(&b, b.pos);
    len = significant_bits(&b, sign) / 8 + 1;
    for (size_t i = 0; i < len; i++) {
        buf[i] = b.word[i / 8] >> (8 * (i % 8));
    }
    return len;
}

/* Codes that section 6 and Table 4.6 (priv) leave for later */
static bool uses_reserved_code(const ETracePacket *pkt)
{
    if (pkt->format == ETRACE_FORMAT_OPT_EXT) {
        return pkt->branch_fmt == 1;
    }
    if (pkt->format != ETRACE_FORMAT_SYNC) {
        return false;
    }
    if (pkt->subformat == ETRACE_SYNC_SUPPORT) {
        return pkt->encoder_mode != 0;
    }
    return pkt->privilege == 2 || pkt->privilege >= 7;
}

/*
 * Read what tells one table from another; the fields of the table start at
 * bit 0 again. Without a subformat field, the parameters tell the only one.
 */
static void peek_kind(PacketBits b, const ETraceParams *params,
                      ETracePacket *pkt)
{
    pkt->format = get_bits(&b, 2);
    switch (pkt->format) {
    case ETRACE_FORMAT_OPT_EXT:
        if (params->f0s_width) {
            pkt->subformat = get_bits(&b, params->f0s_width);
        } else if (params->cache_size) {
            pkt->subformat = ETRACE_OPT_JUMP_TARGET;
        }
        if (pkt->subformat == ETRACE_OPT_BRANCH_COUNT) {
            pkt->branch_count = get_bits(&b, 32);
            pkt->branch_fmt = get_bits(&b, 2);
        }
        break;
    case ETRACE_FORMAT_DIFF_DELTA:
        pkt->branches = get_bits(&b, 5);
        break;
    case ETRACE_FORMAT_SYNC:
        pkt->subformat = get_bits(&b, 2);
        break;
    }
}

bool etrace_packet_unpack(const ETraceParams *params, const uint8_t *buf,
                          size_t len, ETracePacket *pkt)
{
    PacketBits b = { };
    ETraceKind kind;
    bool sign;

    if (len == 0 || len > ETRACE_PACKET_MAX ||
        params->wire_format >= ARRAY_SIZE(layouts)) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        b.word[i / 8] |= (uint64_t)buf[i] << (8 * (i % 8));
    }
    sign = fill_sign(&b, 8 * len);

    memset(pkt, 0, sizeof(*pkt));
    peek_kind(b, params, pkt);
    kind = packet_kind(params, pkt);
    if (kind == KIND_MAX) {
        return false;
    }
    for (const ETraceField *f = layouts[params->wire_format][kind]; f->size;
         f++) {
        unsigned width = field_width(f, params, pkt);
        bool before = b.pos && bit_at(&b, b.pos - 1);
        uint64_t value;

        if (width > 64 || b.pos + width > ETRACE_PACKET_MAX * 8) {
            return false;
        }
        if (width == 0) {
            continue;
        }
        value = get_bits(&b, width);
        switch (f->coding) {
        case CODING_DIFF:
            value = sign_extend(value, width) << params->iaddress_lsb;
            break;
        case CODING_ADDRESS:
            value <<= params->iaddress_lsb;
            break;
        case CODING_XOR:
            value ^= before;
            break;
        case CODING_IRDEPTH:
            if (!pkt->irreport) {
                if (value != (before ? ones(width) : 0)) {
                    return false;
                }
                value = 0;
            }
            break;
        default:
            break;
        }
        member_set(f, pkt, value);
    }

    /* Bytes beyond the last field, bits that are not its sign extension */
    if (len > (b.pos + 7) / 8 || significant_bits(&b, sign) >= b.pos) {
        return false;
    }
    if (kind == KIND_FORMAT1 || kind == KIND_FORMAT01) {
        pkt->branch_map &= ones(pkt->branches);
    }
    return !uses_reserved_code(pkt);
}
