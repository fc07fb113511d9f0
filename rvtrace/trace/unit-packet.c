/*
 * Other encoders: the fields of a packet
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace/layout.h"
#include "trace/unit.h"

typedef struct Reader {
    const Unit *u;
    const ETraceParams *modes;
    ETraceBits bits;
    unsigned len;               /* bits that were sent */
    bool sign;
    ETracePacket *pkt;
} Reader;

/* Modes that the bits of rv_tracer's ioptions stand for; delta: none */
static const uint8_t rv_tracer_modes[] = {
    ETRACE_IOPT_JUMP_TARGET_CACHE, ETRACE_IOPT_BRANCH_PREDICTION,
    ETRACE_IOPT_IMPLICIT_RETURN, ETRACE_IOPT_SIJUMP,
    ETRACE_IOPT_IMPLICIT_EXCEPT, ETRACE_IOPT_FULL_ADDRESS, 0,
};

#define REFERENCE_MODES 0x3f

/* Branches of a map that is full */
#define FULL_MAP        31

/* The member of UnitField that @f is, or UNIT_NR_FIELDS */
static UnitField support_field(const ETraceField *f)
{
    static const char *const names[UNIT_NR_FIELDS] = {
        [UNIT_ENCODER_MODE] = "encoder_mode",
        [UNIT_IOPTIONS] = "ioptions",
        [UNIT_DENABLE] = "denable",
        [UNIT_DLOSS] = "dloss",
        [UNIT_DOPTIONS] = "doptions",
    };
    int i;

    for (i = 0; i < UNIT_NR_FIELDS && strcmp(f->name, names[i]); i++) {
        continue;
    }
    /* The draft 1.1.1 has this name for them. */
    return strcmp(f->name, "options") ? i : UNIT_IOPTIONS;
}

static bool is_trimmed(const Reader *r, const ETraceField *f)
{
    return r->u->trimmed && (f->width == ETRACE_WIDTH_ADDRESS ||
                             f->width == ETRACE_WIDTH_TRAP_ADDRESS);
}

static unsigned plain_width(const Reader *r, const ETraceField *f)
{
    UnitField support = support_field(f);

    if (r->pkt->format == ETRACE_FORMAT_SYNC &&
        r->pkt->subformat == ETRACE_SYNC_SUPPORT &&
        support != UNIT_NR_FIELDS && r->u->width[support] != UNIT_WIDTH_USUAL) {
        return r->u->width[support];
    }
    return etrace_field_width(f, r->modes, r->pkt);
}

/*
 * An address that takes what the other fields leave of the packet: whole bytes
 * and a bit of sign. Returns 0 if they leave nothing.
 */
static unsigned trimmed_width(const Reader *r, const ETraceField *table)
{
    unsigned others = 1, bytes;

    for (const ETraceField *f = table; f->name; f++) {
        others += is_trimmed(r, f) ? 0 : plain_width(r, f);
    }
    if (others > r->len) {
        return 0;
    }
    bytes = (r->len - others) / 8;
    return bytes <= 8 ? 8 * bytes + 1 : 0;
}

static bool get_ioptions(const Unit *u, uint64_t value, ETracePacket *pkt)
{
    if (u->order == UNIT_ORDER_REFERENCE) {
        pkt->ioptions = value;
        return !(value & ~(uint64_t)REFERENCE_MODES);
    }
    pkt->ioptions = 0;
    for (unsigned i = 0; i < ARRAY_SIZE(rv_tracer_modes); i++) {
        pkt->ioptions |= (value >> i) & 1 ? rv_tracer_modes[i] : 0;
    }
    return !(value >> ARRAY_SIZE(rv_tracer_modes));
}

/* Read @width bits for @f, which are not trimmed. Returns false if none fits */
static bool get_field(Reader *r, const ETraceField *f, unsigned width)
{
    bool before = r->bits.pos && etrace_bit_at(&r->bits, r->bits.pos - 1);
    uint64_t value = etrace_bits_get(&r->bits, width);

    switch (f->coding) {
    case ETRACE_CODING_XOR:
        value ^= before;
        if (!r->u->notify && f->offset == offsetof(ETracePacket, notify)) {
            value = 0;
        }
        break;
    case ETRACE_CODING_IRDEPTH:
        if (!r->pkt->irreport && width) {
            if (r->u->padding == UNIT_PADDING_SIGN &&
                value != (before ? etrace_ones(width) : 0)) {
                return false;
            }
            value = 0;
        }
        break;
    default:
        break;
    }
    if (f->width == ETRACE_WIDTH_PRIVILEGE && width == 1) {
        value = value ? ETRACE_PRIV_M : ETRACE_PRIV_U;
    }
    if (support_field(f) == UNIT_IOPTIONS &&
        r->modes->wire_format != ETRACE_WIRE_2_1_DRAFT) {
        return width ? get_ioptions(r->u, value, r->pkt) : true;
    }
    if (width && value > etrace_ones(8 * f->size)) {
        return false;
    }
    if (width || f->width == ETRACE_WIDTH_PRIVILEGE) {
        etrace_field_set(f, r->pkt, value);
    }
    return true;
}

/* An address of @width bits, as the members of ETracePacket have it */
static void get_address(Reader *r, const ETraceField *f, unsigned width,
                        bool trimmed)
{
    const ETraceParams *p = r->modes;
    bool full = f->coding == ETRACE_CODING_ADDRESS ||
                (p->ioptions & ETRACE_IOPT_FULL_ADDRESS);
    uint64_t value = etrace_bits_get(&r->bits, width);

    /* The address bus of others is narrower than pc, which has a sign. */
    if (width && (trimmed || !full ||
                  (p->iaddress_width != 32 && p->iaddress_width != 64))) {
        value = etrace_sign_extend(value, width);
    }
    value <<= p->iaddress_lsb;
    if (full && p->iaddress_width <= 32) {
        value &= UINT32_MAX;
    }
    etrace_field_set(f, r->pkt, value);
}

static bool is_address(const ETraceField *f)
{
    return f->coding == ETRACE_CODING_ADDRESS ||
           f->coding == ETRACE_CODING_DIFF;
}

/* Is nothing of its own behind the fields? */
static bool ends_well(const Reader *r)
{
    ETraceBits rest = r->bits;

    if (r->u->padding == UNIT_PADDING_SIGN) {
        return etrace_bits_at_end(&r->bits, r->len / 8, r->sign);
    }
    if (rest.pos >= r->len) {
        /* Bytes of sign may have gone, but a bit of it has to be there. */
        return etrace_bits_at_end(&r->bits, r->len / 8, r->sign);
    }
    while (rest.pos < r->len) {
        if (etrace_bits_get(&rest, 1)) {
            return etrace_bits_at_end(&r->bits, r->len / 8, r->sign);
        }
    }
    return true;
}

/* What chooses the table of fields; reading begins anew behind it. */
static bool get_kind(Reader *r)
{
    ETraceBits b = r->bits;
    ETracePacket *pkt = r->pkt;

    pkt->format = etrace_bits_get(&b, 2);
    switch (pkt->format) {
    case ETRACE_FORMAT_OPT_EXT:
        pkt->subformat = r->modes->f0s_width ?
                         etrace_bits_get(&b, r->modes->f0s_width) :
                         etrace_f0_subformat(r->modes);
        if (pkt->subformat == ETRACE_OPT_BRANCH_COUNT) {
            pkt->branch_count = etrace_bits_get(&b, 32);
            pkt->branch_fmt = etrace_bits_get(&b, 2);
        }
        return pkt->branch_fmt != 1;
    case ETRACE_FORMAT_DIFF_DELTA:
        pkt->branches = etrace_bits_get(&b, 5);
        return true;
    case ETRACE_FORMAT_SYNC:
        pkt->subformat = etrace_bits_get(&b, 2);
        return true;
    default:
        return true;
    }
}

/*
 * Where addresses are trimmed, a full branch map has nothing behind it. An
 * encoder that sends more has an address there, but does not say of how many
 * branches the map is.
 */
static bool has_unknown_count(const Reader *r, ETraceKind kind)
{
    return r->u->trimmed && kind == ETRACE_KIND_FORMAT1_MAP &&
           r->len > ROUND_UP(2 + 5 + FULL_MAP, 8);
}

bool unit_unpack(const Unit *u, const ETraceParams *modes, const uint8_t *buf,
                 size_t len, ETracePacket *pkt)
{
    Reader r = { .u = u, .modes = modes, .len = 8 * len, .pkt = pkt };
    const ETraceField *table;
    ETraceKind kind;

    memset(pkt, 0, sizeof(*pkt));
    if (len == 0 || len > ETRACE_PACKET_MAX) {
        return false;
    }
    r.sign = etrace_bits_load(&r.bits, buf, len);
    if (!get_kind(&r)) {
        return false;
    }
    kind = etrace_packet_kind(modes, pkt);
    if (kind == ETRACE_KIND_MAX || has_unknown_count(&r, kind)) {
        return false;
    }
    table = etrace_layout(modes->wire_format, kind);
    if (kind == ETRACE_KIND_FORMAT33) {
        pkt->ioptions = u->params.ioptions;
    }
    for (const ETraceField *f = table; f->name; f++) {
        bool trimmed = is_trimmed(&r, f) && plain_width(&r, f);
        unsigned width = trimmed ? trimmed_width(&r, table) :
                                   plain_width(&r, f);

        if (width > 65 || r.bits.pos + width > ETRACE_PACKET_MAX * 8 ||
            (trimmed && !width)) {
            return false;
        }
        if (width == 65) {
            /* Nothing but the sign again is beyond the address. */
            get_address(&r, f, 64, false);
            r.bits.pos++;
        } else if (is_address(f)) {
            get_address(&r, f, width, trimmed);
        } else if (!get_field(&r, f, width)) {
            return false;
        }
    }
    if (!ends_well(&r)) {
        return false;
    }
    if (!etrace_irdepth_width(modes) &&
        modes->wire_format != ETRACE_WIRE_2_1_DRAFT) {
        /* There is nothing to report, and some do not send this bit. */
        pkt->irreport = false;
    }
    if (pkt->format <= ETRACE_FORMAT_DIFF_DELTA && pkt->branches) {
        pkt->branch_map &= etrace_ones(pkt->branches);
    }
    pkt->thaddr |= modes->wire_format == ETRACE_WIRE_1_1_1 &&
                   kind == ETRACE_KIND_FORMAT31;
    return true;
}
