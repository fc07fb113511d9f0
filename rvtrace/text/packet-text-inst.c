/*
 * Packets as text: the fields of te_inst
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace/layout.h"
#include "etrace/packet-bits.h"
#include "text/packet-text-private.h"

static bool full_address(const ETraceParams *params)
{
    return params->ioptions & ETRACE_IOPT_FULL_ADDRESS;
}

/* Written in hexadecimal digits, however wide it is in this packet */
static bool is_pattern(const ETraceField *f)
{
    return f->width == ETRACE_WIDTH_BRANCH_MAP ||
           f->width == ETRACE_WIDTH_TIME || f->width == ETRACE_WIDTH_CONTEXT ||
           g_str_has_suffix(f->name, "options");
}

void packet_text_inst_fields(GString *out, const ETraceParams *params,
                             const ETracePacket *pkt)
{
    ETraceKind kind = etrace_packet_kind(params, pkt);

    for (const ETraceField *f = etrace_layout(params->wire_format, kind);
         f->name; f++) {
        unsigned width = etrace_field_width(f, params, pkt);
        uint64_t value = etrace_field_get(f, pkt);
        bool is_signed = false;

        if (width == 0) {
            continue;
        }
        switch (f->coding) {
        case ETRACE_CODING_ADDRESS:
            width = 64;
            break;
        case ETRACE_CODING_DIFF:
            width = 64;
            is_signed = !full_address(params);
            break;
        case ETRACE_CODING_IRDEPTH:
            if (!pkt->irreport) {
                continue;
            }
            break;
        default:
            break;
        }
        packet_text_field(out, f->name, value, is_pattern(f) ? 64 : width,
                          is_signed);
    }
}

const char *packet_text_inst_kind(const ETraceParams *params,
                                  const ETracePacket *pkt)
{
    static const char *const kinds[ETRACE_KIND_MAX] = {
        [ETRACE_KIND_FORMAT00] = "branch count",
        [ETRACE_KIND_FORMAT00_ADDR] = "branch count, address",
        [ETRACE_KIND_FORMAT01] = "jump target index",
        [ETRACE_KIND_FORMAT1_MAP] = "full branch map",
        [ETRACE_KIND_FORMAT1] = "branch map, address",
        [ETRACE_KIND_FORMAT2] = "address",
        [ETRACE_KIND_FORMAT30] = "start",
        [ETRACE_KIND_FORMAT31] = "trap",
        [ETRACE_KIND_FORMAT32] = "context",
        [ETRACE_KIND_FORMAT33] = "support",
    };

    return kinds[etrace_packet_kind(params, pkt)];
}

/* What distinguishes the kinds of packets */
static bool parse_kind(PacketLine *l, const ETraceParams *params,
                       ETracePacket *pkt, GError **errp)
{
    uint64_t format, subformat, branches, branch_fmt;

    if (!packet_line_find(l, "format")) {
        packet_text_error(errp, "there is no format=");
        return false;
    }
    if (!packet_line_number(l, "format", 2, false, &format, errp) ||
        !packet_line_number(l, "subformat", 3, false, &subformat, errp) ||
        !packet_line_number(l, "branches", 5, false, &branches, errp) ||
        !packet_line_number(l, "branch_fmt", 2, false, &branch_fmt, errp)) {
        return false;
    }
    pkt->format = format;
    pkt->subformat = subformat;
    pkt->branches = branches;
    pkt->branch_fmt = branch_fmt;
    if (format == ETRACE_FORMAT_OPT_EXT && !params->f0s_width) {
        pkt->subformat = etrace_f0_subformat(params);
    }
    if (etrace_packet_kind(params, pkt) == ETRACE_KIND_MAX) {
        packet_text_error(errp, "with these parameters, there is no format "
                          "%u subformat %u", pkt->format, pkt->subformat);
        return false;
    }
    return true;
}

static bool parse_field(PacketLine *l, const ETraceField *f,
                        const ETraceParams *params, ETracePacket *pkt,
                        GError **errp)
{
    unsigned width = etrace_field_width(f, params, pkt);
    bool is_address = f->coding == ETRACE_CODING_ADDRESS ||
                      f->coding == ETRACE_CODING_DIFF;
    bool is_signed = f->coding == ETRACE_CODING_DIFF && !full_address(params);
    uint64_t value;

    if (width && is_address) {
        width += params->iaddress_lsb;
    }
    if (!packet_line_number(l, f->name, width, is_signed, &value, errp)) {
        return false;
    }
    if (is_address && (value & etrace_ones(params->iaddress_lsb))) {
        packet_text_error(errp, "%s is not a multiple of %u", f->name,
                          1u << params->iaddress_lsb);
        return false;
    }
    if (f->coding == ETRACE_CODING_IRDEPTH && value && !pkt->irreport) {
        packet_text_error(errp, "%s needs irreport=1", f->name);
        return false;
    }
    if (width) {
        etrace_field_set(f, pkt, value);
    }
    return true;
}

bool packet_text_parse_inst(PacketLine *l, const ETraceParams *params,
                            ETracePacket *pkt, GError **errp)
{
    uint8_t buf[ETRACE_PACKET_MAX];
    ETracePacket again;
    ETraceKind kind;

    memset(pkt, 0, sizeof(*pkt));
    if (!parse_kind(l, params, pkt, errp)) {
        return false;
    }
    kind = etrace_packet_kind(params, pkt);
    for (unsigned i = 0; i < l->count; i++) {
        l->pairs[i].used = l->pairs[i].used &&
                           strcmp(l->pairs[i].name, "subformat") &&
                           strcmp(l->pairs[i].name, "branches") &&
                           strcmp(l->pairs[i].name, "branch_fmt");
    }
    for (const ETraceField *f = etrace_layout(params->wire_format, kind);
         f->name; f++) {
        if (!parse_field(l, f, params, pkt, errp)) {
            return false;
        }
    }
    if (!packet_line_done(l, errp)) {
        return false;
    }
    if (!etrace_packet_unpack(params, buf,
                              etrace_packet_pack(params, pkt, buf), &again)) {
        packet_text_error(errp, "one of these values is reserved");
        return false;
    }
    *pkt = again;
    return true;
}
