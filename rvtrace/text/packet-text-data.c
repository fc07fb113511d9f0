/*
 * Packets as text: the fields of te_data
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace/data-layout.h"
#include "etrace/packet-bits.h"
#include "text/packet-text-private.h"

static bool is_2_1(const ETraceParams *params)
{
    return params->wire_format == ETRACE_WIRE_2_1_DRAFT;
}

void packet_text_data_fields(GString *out, const ETraceParams *params,
                             const ETraceDataPacket *pkt)
{
    for (const ETraceDataField *f = etrace_data_layout(params, pkt); f->name;
         f++) {
        unsigned width = etrace_data_field_width(f, params, pkt);
        uint64_t value = etrace_data_field_get(f, params, pkt);
        bool is_signed = false;

        if (width == 0) {
            continue;
        }
        switch (f->coding) {
        case ETRACE_DCODING_VALUE:
        case ETRACE_DCODING_CSR_MSBS:
        case ETRACE_DCODING_CSR_LSBS:
            width = 64;
            break;
        case ETRACE_DCODING_ADDRESS:
            width = 64;
            is_signed = pkt->diff;
            break;
        default:
            break;
        }
        packet_text_field(out, f->name, value, width, is_signed);
    }
}

const char *packet_text_data_kind(const ETraceDataPacket *pkt)
{
    static const char *const kinds[] = {
        [ETRACE_DATA_LOAD] = "load",
        [ETRACE_DATA_LOAD_UNALIGNED] = "load, unaligned",
        [ETRACE_DATA_STORE] = "store",
        [ETRACE_DATA_STORE_UNALIGNED] = "store, unaligned",
        [ETRACE_DATA_SPLIT_LOAD_DATA] = "response",
        [ETRACE_DATA_SPLIT_ATOMIC_DATA] = "response of an atomic",
    };
    static const char *const csrs[] = { "csr rw", "csr rs", "csr rc" };
    static const char *const atomics[] = {
        "atomic swap", "atomic add", "atomic and", "atomic or", "atomic xor",
        "atomic max", "atomic min", "failed sc", "failed cas",
    };

    switch (pkt->format) {
    case ETRACE_DATA_CSR:
        return csrs[pkt->subtype];
    case ETRACE_DATA_ATOMIC:
        return atomics[pkt->subtype];
    default:
        return kinds[pkt->format];
    }
}

static bool parse_format(PacketLine *l, const ETraceParams *params,
                         ETraceDataPacket *pkt, GError **errp)
{
    unsigned width = etrace_data_format_width(params);
    uint64_t format, value;

    if (!packet_line_number(l, "format", width, false, &format, errp)) {
        return false;
    }
    if (is_2_1(params)) {
        width = etrace_data_subformat_width(format);
        if (!packet_line_number(l, "subformat", width, false, &value, errp)) {
            return false;
        }
        if (!etrace_data_from_wire(params, format, value, pkt)) {
            packet_text_error(errp, "there is no format %" PRIu64
                              " subformat %" PRIu64, format, value);
            return false;
        }
        return true;
    }
    pkt->format = format;
    width = format == ETRACE_DATA_CSR ? 2 : format == ETRACE_DATA_ATOMIC ?
            3 : 0;
    if (!packet_line_number(l, "subtype", width, false, &value, errp)) {
        return false;
    }
    pkt->subtype = value;
    return true;
}

static bool parse_value(PacketLine *l, const ETraceDataField *f,
                        unsigned width, ETraceDataPacket *pkt, GError **errp)
{
    unsigned size = 8u << pkt->size;
    uint64_t value;

    if (!packet_line_number(l, f->name, width ? size : 0, false, &value,
                            errp)) {
        return false;
    }
    if (width && width < size &&
        etrace_sign_extend(value, width) != etrace_sign_extend(value, size)) {
        packet_text_error(errp, "%s takes more than %u bytes", f->name,
                          width / 8);
        return false;
    }
    etrace_member_set(pkt, f->offset, f->size, value);
    return true;
}

static bool parse_address(PacketLine *l, const ETraceDataField *f,
                          unsigned width, ETraceDataPacket *pkt,
                          GError **errp)
{
    unsigned shift = etrace_data_address_shift(pkt);

    if (!packet_line_number(l, f->name, MIN(64, width + shift), pkt->diff,
                            &pkt->address, errp)) {
        return false;
    }
    if (pkt->address & etrace_ones(shift)) {
        packet_text_error(errp, "%s is not a multiple of %u", f->name,
                          1u << shift);
        return false;
    }
    return true;
}

static bool parse_field(PacketLine *l, const ETraceDataField *f,
                        const ETraceParams *params, ETraceDataPacket *pkt,
                        GError **errp)
{
    unsigned width = etrace_data_field_width(f, params, pkt);
    uint64_t value;

    switch (f->coding) {
    case ETRACE_DCODING_FORMAT:
    case ETRACE_DCODING_SUBFORMAT:
        return true;
    case ETRACE_DCODING_VALUE:
        return parse_value(l, f, width, pkt, errp);
    case ETRACE_DCODING_ADDRESS:
        return parse_address(l, f, width, pkt, errp);
    default:
        break;
    }
    if (!packet_line_number(l, f->name, width, false, &value, errp)) {
        return false;
    }
    if (width && !etrace_data_field_set(f, params, pkt, value)) {
        packet_text_error(errp, "accesses of more than 8 bytes are not "
                          "supported");
        return false;
    }
    return true;
}

bool packet_text_parse_data(PacketLine *l, const ETraceParams *params,
                            const ETraceDataSizes *sizes,
                            ETraceDataPacket *pkt, GError **errp)
{
    const ETraceDataField *f;
    uint64_t lrid;

    memset(pkt, 0, sizeof(*pkt));
    if (!params->data_width) {
        packet_text_error(errp, "the parameters have no data trace: "
                          "data_width=0");
        return false;
    }
    if (!parse_format(l, params, pkt, errp)) {
        return false;
    }
    if (pkt->format == ETRACE_DATA_SPLIT_ATOMIC_DATA) {
        if (!packet_line_number(l, "lrid", params->lrid_width, false, &lrid,
                                errp)) {
            return false;
        }
        pkt->size = sizes->size[lrid];
    } else if (pkt->format == ETRACE_DATA_CSR) {
        etrace_data_packet_shorten(params, pkt);
    }
    f = etrace_data_layout(params, pkt);
    if (!f) {
        packet_text_error(errp, "with these parameters, there is no such "
                          "packet");
        return false;
    }
    for (; f->name; f++) {
        if (!parse_field(l, f, params, pkt, errp)) {
            return false;
        }
    }
    if (!packet_line_done(l, errp)) {
        return false;
    }
    if (!etrace_data_packet_exists(params, pkt)) {
        packet_text_error(errp, "one of these values is reserved");
        return false;
    }
    return true;
}
