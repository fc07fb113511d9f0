/*
 * E-Trace data packets (te_data): packing and unpacking
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "data-layout.h"
#include "packet-bits.h"

/* Bits of the access, and so of data and operand */
static unsigned value_width(const ETraceDataPacket *pkt)
{
    return 8u << pkt->size;
}

static unsigned csr_size(const ETraceParams *params)
{
    return params->iaddress_width == 64 ? 3 : 2;
}

/* Codes that the tables reserve, and sizes that the members cannot hold */
static bool is_reserved(const ETraceParams *params,
                        const ETraceDataPacket *pkt)
{
    bool with_address = !(params->doptions & ETRACE_DOPT_NO_ADDRESS);
    bool with_data = !(params->doptions & ETRACE_DOPT_NO_DATA);
    unsigned dtype_width = params->dtype_width ?: 4;
    unsigned atomics = ETRACE_ATOMIC_SC_FAILURE;

    if (pkt->size > 3) {
        return true;
    }
    if (pkt->multi && (params->wire_format != ETRACE_WIRE_2_1_DRAFT ||
                       dtype_width < 2)) {
        return true;
    }
    switch (pkt->format) {
    case ETRACE_DATA_CSR:
        return dtype_width < 3 || pkt->subtype > ETRACE_CSR_RC ||
               pkt->size != csr_size(params) ||
               pkt->diff > (with_data ? 3 : 1) ||
               (with_data && pkt->diff == 2);
    case ETRACE_DATA_ATOMIC:
        if (params->wire_format == ETRACE_WIRE_1_1_1) {
            atomics = ETRACE_ATOMIC_MIN;
            if (pkt->size < 2) {
                return true;
            }
        } else if (params->wire_format == ETRACE_WIRE_2_1_DRAFT) {
            atomics = ETRACE_ATOMIC_CAS_FAILURE;
        }
        if (dtype_width < 4 || pkt->subtype > atomics) {
            return true;
        }
        break;
    case ETRACE_DATA_SPLIT_LOAD_DATA:
    case ETRACE_DATA_SPLIT_ATOMIC_DATA:
        break;
    default:
        if (params->lrid_width && with_address && with_data &&
            pkt->format <= ETRACE_DATA_LOAD_UNALIGNED && pkt->diff > 1) {
            return true;
        }
        break;
    }
    if (params->data_width < value_width(pkt)) {
        return true;
    }
    return pkt->diff > (with_data ? 3 : 1) ||
           (!with_address && pkt->diff == 2);
}

bool etrace_data_packet_exists(const ETraceParams *params,
                               const ETraceDataPacket *pkt)
{
    return params->data_width && !is_reserved(params, pkt) &&
           pkt->data_len < 1 << pkt->size && pkt->op_len < 1 << pkt->size &&
           pkt->resp <= ETRACE_RESP_DIFF_DATA &&
           pkt->lrid < 1 << params->lrid_width &&
           etrace_data_layout(params, pkt);
}

/* Bytes minus 1 that @value of @width bits can be sign-extended from */
static unsigned shortest_len(uint64_t value, unsigned width)
{
    value = etrace_sign_extend(value, width);
    return etrace_magnitude_bits(etrace_magnitude(value)) / 8;
}

void etrace_data_packet_shorten(const ETraceParams *params,
                                ETraceDataPacket *pkt)
{
    if (pkt->format == ETRACE_DATA_CSR) {
        pkt->size = csr_size(params);
    }
    pkt->data_len = shortest_len(pkt->data, value_width(pkt));
    pkt->op_len = shortest_len(pkt->operand, value_width(pkt));
}

static void put_value(ETraceBits *b, const ETraceDataPacket *pkt,
                      uint64_t value, unsigned width)
{
    value = etrace_sign_extend(value, value_width(pkt));
    if (width == 0) {
        return;
    }
    if (width > 64) {
        etrace_bits_put(b, value, 64);
        etrace_bits_put(b, (int64_t)value >> 63, width - 64);
        return;
    }
    assert(etrace_sign_extend(value, width) == value);
    etrace_bits_put(b, value, width);
}

static uint64_t get_value(ETraceBits *b, const ETraceDataPacket *pkt,
                          unsigned width)
{
    uint64_t value;

    if (width > 64) {
        value = etrace_bits_get(b, 64);
        etrace_bits_get(b, width - 64);
    } else {
        value = etrace_sign_extend(etrace_bits_get(b, width), width);
    }
    return value & etrace_ones(value_width(pkt));
}

/* Remember what only the request has. */
static void note_size(const ETraceParams *params, ETraceDataSizes *sizes,
                      const ETraceDataPacket *pkt)
{
    if (sizes && params->lrid_width && pkt->format == ETRACE_DATA_ATOMIC) {
        sizes->size[pkt->lrid] = pkt->size;
    }
}

size_t etrace_data_packet_pack(const ETraceParams *params,
                               ETraceDataSizes *sizes,
                               const ETraceDataPacket *pkt,
                               uint8_t buf[ETRACE_PACKET_MAX])
{
    ETraceBits b = { };

    assert(etrace_data_packet_exists(params, pkt));
    for (const ETraceDataField *f = etrace_data_layout(params, pkt); f->name;
         f++) {
        unsigned width = etrace_data_field_width(f, params, pkt);
        uint64_t value = etrace_data_field_get(f, params, pkt);

        if (f->coding == ETRACE_DCODING_VALUE) {
            put_value(&b, pkt, value, width);
            continue;
        }
        if (f->coding == ETRACE_DCODING_ADDRESS) {
            unsigned shift = etrace_data_address_shift(pkt);

            assert(!(value & etrace_ones(shift)));
            value = (int64_t)value >> shift;
            if (!pkt->diff) {
                value &= etrace_ones(64 - shift);
            }
        }
        etrace_bits_put(&b, value, width);
    }
    note_size(params, sizes, pkt);
    return etrace_bits_store(&b, buf);
}

/* Read what distinguishes the tables; @b is a copy. */
static bool peek_format(ETraceBits b, const ETraceParams *params,
                        ETraceDataPacket *pkt)
{
    unsigned format = etrace_bits_get(&b, etrace_data_format_width(params));

    if (params->wire_format == ETRACE_WIRE_2_1_DRAFT) {
        unsigned width = etrace_data_subformat_width(format);

        return etrace_data_from_wire(params, format,
                                     etrace_bits_get(&b, width), pkt);
    }
    pkt->format = format;
    if (format == ETRACE_DATA_ATOMIC) {
        pkt->subtype = etrace_bits_get(&b, 3);
    } else if (format == ETRACE_DATA_CSR) {
        pkt->subtype = etrace_bits_get(&b, 2);
    }
    return true;
}

static bool unpack_fields(const ETraceDataField *f, ETraceBits *b,
                          const ETraceParams *params, ETraceDataSizes *sizes,
                          ETraceDataPacket *pkt)
{
    for (; f->name; f++) {
        unsigned width = etrace_data_field_width(f, params, pkt);
        uint64_t value;

        if (b->pos + width > ETRACE_PACKET_MAX * 8) {
            return false;
        }
        if (width == 0) {
            continue;
        }
        if (f->coding == ETRACE_DCODING_VALUE) {
            value = get_value(b, pkt, width);
            etrace_member_set(pkt, f->offset, f->size, value);
            continue;
        }
        value = etrace_bits_get(b, width);
        if (f->coding == ETRACE_DCODING_ADDRESS) {
            if (pkt->diff) {
                value = etrace_sign_extend(value, width);
            }
            value <<= etrace_data_address_shift(pkt);
        }
        if (!etrace_data_field_set(f, params, pkt, value)) {
            return false;
        }
        if (f->width == ETRACE_DWIDTH_LRID &&
            pkt->format == ETRACE_DATA_SPLIT_ATOMIC_DATA) {
            if (!sizes) {
                return false;
            }
            pkt->size = sizes->size[pkt->lrid];
        }
    }
    return true;
}

bool etrace_data_packet_unpack(const ETraceParams *params,
                               ETraceDataSizes *sizes, const uint8_t *buf,
                               size_t len, ETraceDataPacket *pkt)
{
    const ETraceDataField *f;
    ETraceBits b;
    bool sign;

    if (len == 0 || len > ETRACE_PACKET_MAX || !params->data_width) {
        return false;
    }
    sign = etrace_bits_load(&b, buf, len);
    memset(pkt, 0, sizeof(*pkt));
    if (!peek_format(b, params, pkt)) {
        return false;
    }
    if (pkt->format == ETRACE_DATA_CSR) {
        pkt->size = csr_size(params);
    }
    f = etrace_data_layout(params, pkt);
    if (!f || !unpack_fields(f, &b, params, sizes, pkt) ||
        is_reserved(params, pkt) || !etrace_bits_at_end(&b, len, sign)) {
        return false;
    }
    note_size(params, sizes, pkt);
    return true;
}
