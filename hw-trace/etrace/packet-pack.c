/*
 * E-Trace instruction packets (te_inst): packing and unpacking
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "layout.h"
#include "packet-plain.h"

static const ETraceField *layout_of(const ETraceParams *params,
                                    const ETracePacket *pkt)
{
    ETraceKind kind = etrace_packet_kind(params, pkt);

    return kind < ETRACE_KIND_MAX ? etrace_layout(params->wire_format, kind) :
                                    NULL;
}

/*
 * Most packets take no table: see packet-plain.h. Returns 0 for any other.
 * Formats 1 and 2 are the same in every wire format.
 */
static size_t pack_plain(const ETraceParams *params, const ETracePacket *pkt,
                         uint8_t buf[ETRACE_PACKET_MAX])
{
    unsigned unused = 64 - params->iaddress_width;
    int64_t address = (int64_t)(pkt->address << unused) >>
                      (unused + params->iaddress_lsb);

    if (pkt->notify || pkt->updiscon || pkt->irreport) {
        return 0;
    }
    switch (pkt->format) {
    case ETRACE_FORMAT_ADDR_ONLY:
        return etrace_plain_store(buf, etrace_plain_address(0, 0, address));
    case ETRACE_FORMAT_DIFF_DELTA:
        return etrace_plain_store(
            buf, pkt->branches ? etrace_plain_address(pkt->branches,
                                                      pkt->branch_map, address)
                               : etrace_plain_full_map(pkt->branch_map));
    case ETRACE_FORMAT_OPT_EXT:
        if (params->wire_format == ETRACE_WIRE_2_1_DRAFT ||
            pkt->subformat != ETRACE_OPT_JUMP_TARGET || !params->cache_size) {
            return 0;
        }
        return etrace_plain_store(
            buf, etrace_plain_jump(params->f0s_width, params->cache_size,
                                   pkt->index, pkt->branches,
                                   pkt->branch_map));
    default:
        return 0;
    }
}

size_t etrace_packet_pack(const ETraceParams *params, const ETracePacket *pkt,
                          uint8_t buf[ETRACE_PACKET_MAX])
{
    const ETraceField *f;
    ETraceBits b = { };

    size_t len = pack_plain(params, pkt, buf);

    if (len) {
        return len;
    }
    f = layout_of(params, pkt);
    assert(f);
    for (; f->name; f++) {
        unsigned width = etrace_field_width(f, params, pkt);
        uint64_t value = etrace_field_get(f, pkt);

        switch (f->coding) {
        case ETRACE_CODING_ADDRESS:
        case ETRACE_CODING_DIFF:
            value >>= params->iaddress_lsb;
            break;
        case ETRACE_CODING_XOR:
            value ^= etrace_bit_at(&b, b.pos - 1);
            break;
        case ETRACE_CODING_IRDEPTH:
            if (!pkt->irreport) {
                value = etrace_bit_at(&b, b.pos - 1) ? UINT64_MAX : 0;
            }
            break;
        default:
            break;
        }
        etrace_bits_put(&b, value, width);
    }
    return etrace_bits_store(&b, buf);
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
 * Read what distinguishes the tables; the fields of the table start at
 * bit 0 again. Without a subformat field, the parameters name the only one.
 */
static void peek_kind(ETraceBits b, const ETraceParams *params,
                      ETracePacket *pkt)
{
    pkt->format = etrace_bits_get(&b, 2);
    switch (pkt->format) {
    case ETRACE_FORMAT_OPT_EXT:
        if (params->f0s_width) {
            pkt->subformat = etrace_bits_get(&b, params->f0s_width);
        } else {
            pkt->subformat = etrace_f0_subformat(params);
        }
        if (pkt->subformat == ETRACE_OPT_BRANCH_COUNT) {
            pkt->branch_count = etrace_bits_get(&b, 32);
            pkt->branch_fmt = etrace_bits_get(&b, 2);
        }
        break;
    case ETRACE_FORMAT_DIFF_DELTA:
        pkt->branches = etrace_bits_get(&b, 5);
        break;
    case ETRACE_FORMAT_SYNC:
        pkt->subformat = etrace_bits_get(&b, 2);
        break;
    }
}

bool etrace_packet_unpack(const ETraceParams *params, const uint8_t *buf,
                          size_t len, ETracePacket *pkt)
{
    const ETraceField *f;
    ETraceBits b;
    bool sign;

    if (len == 0 || len > ETRACE_PACKET_MAX) {
        return false;
    }
    sign = etrace_bits_load(&b, buf, len);
    memset(pkt, 0, sizeof(*pkt));
    peek_kind(b, params, pkt);
    f = layout_of(params, pkt);
    if (!f) {
        return false;
    }
    for (; f->name; f++) {
        unsigned width = etrace_field_width(f, params, pkt);
        bool before = b.pos && etrace_bit_at(&b, b.pos - 1);
        uint64_t value;

        if (width > 64 || b.pos + width > ETRACE_PACKET_MAX * 8) {
            return false;
        }
        if (width == 0) {
            continue;
        }
        value = etrace_bits_get(&b, width);
        switch (f->coding) {
        case ETRACE_CODING_DIFF:
            if (!(params->ioptions & ETRACE_IOPT_FULL_ADDRESS)) {
                value = etrace_sign_extend(value, width);
            }
            value <<= params->iaddress_lsb;
            break;
        case ETRACE_CODING_ADDRESS:
            value <<= params->iaddress_lsb;
            break;
        case ETRACE_CODING_XOR:
            value ^= before;
            break;
        case ETRACE_CODING_IRDEPTH:
            if (!pkt->irreport) {
                if (value != (before ? etrace_ones(width) : 0)) {
                    return false;
                }
                value = 0;
            }
            break;
        default:
            break;
        }
        etrace_field_set(f, pkt, value);
    }

    if (!etrace_bits_at_end(&b, len, sign)) {
        return false;
    }
    if (pkt->format <= ETRACE_FORMAT_DIFF_DELTA && pkt->branches) {
        pkt->branch_map &= etrace_ones(pkt->branches);
    }
    if (params->wire_format == ETRACE_WIRE_1_1_1 &&
        pkt->format == ETRACE_FORMAT_SYNC &&
        pkt->subformat == ETRACE_SYNC_TRAP) {
        pkt->thaddr = true;
    }
    return !uses_reserved_code(pkt);
}
