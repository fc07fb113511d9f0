/*
 * E-Trace data trace: most accesses straight to encapsulated packets
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "data-layout.h"
#include "data-short.h"
#include "encap.h"
#include "packet-bits.h"

void etrace_data_short_init(ETraceDataShort *how, const ETraceParams *params,
                            ETraceDataCompress compress)
{
    static const uint8_t ways[] = {
        [ETRACE_DATA_COMPRESS_NONE] = 1 << ETRACE_DIFF_FULL,
        [ETRACE_DATA_COMPRESS_XOR] = 1 << ETRACE_DIFF_FULL |
                                     1 << ETRACE_DIFF_FULL_DATA |
                                     1 << ETRACE_DIFF_XOR_DATA,
        [ETRACE_DATA_COMPRESS_DIFF] = 1 << ETRACE_DIFF_FULL |
                                      1 << ETRACE_DIFF_FULL_DATA |
                                      1 << ETRACE_DIFF_DIFF_DATA,
        [ETRACE_DATA_COMPRESS_BEST] = 0xf,
    };
    unsigned src_bytes = params->src_bits / 8;
    unsigned odd_src = params->src_bits % 8;

    *how = (ETraceDataShort) {
        .usable = params->data_width &&
                  params->wire_format != ETRACE_WIRE_2_1_DRAFT &&
                  !params->lrid_width &&
                  !(params->doptions & (ETRACE_DOPT_NO_ADDRESS |
                                        ETRACE_DOPT_NO_DATA)),
        .format_width = etrace_data_format_width(params),
        .size_width = etrace_data_size_width(params),
        .daddress_width = params->daddress_width,
        .max_size = params->data_width >= 64 ? 3 :
                    params->data_width >= 32 ? 2 :
                    params->data_width >= 16 ? 1 : 0,
        .ways = ways[compress],
        .src_bytes = src_bytes,
        .odd = etrace_encap_odd_bits(params),
        .odd_value = (params->src_id >> 8 * src_bytes &
                      ((1u << odd_src) - 1)) | 1u << odd_src,
        .src_id = params->src_id,
    };
}

/* Bits from which @value can be sign-extended */
static inline unsigned significant_bits(int64_t value)
{
    uint64_t bits = value ^ (value >> 63);

    return 64 - __builtin_clzll(bits << 1 | 1);
}

static inline unsigned significant_bytes(int64_t value)
{
    return (significant_bits(value) + 7) / 8;
}

unsigned etrace_data_short(const ETraceDataShort *how, ETraceDataState *state,
                           const ETraceAccess *access, uint8_t *out)
{
    unsigned size = access->dsize;
    unsigned width = 8u << size;
    unsigned shift, diff, bytes, bits, head_bits, total;
    uint64_t daddr = access->daddr & etrace_ones(how->daddress_width);
    uint64_t data = access->data;
    uint64_t head, value, lo, hi;
    int64_t address, delta, field;
    bool aligned = !(daddr & etrace_ones(size));

    if (!how->usable || access->dtype > ETRACE_DTYPE_STORE ||
        size > how->max_size || !state->known[size]) {
        return 0;
    }
    data &= etrace_ones(width);

    /* The shortest way; see cost() and choose_diff() in data.c. */
    shift = aligned ? size : 0;
    address = etrace_sign_extend(daddr >> shift, how->daddress_width);
    value = etrace_sign_extend(data, width);
    bytes = significant_bytes(value);
    field = address;
    bits = significant_bits(field);
    diff = ETRACE_DIFF_FULL;
    delta = etrace_sign_extend(daddr - state->address[size],
                               how->daddress_width);
    if (how->ways != 1 << ETRACE_DIFF_FULL && !(delta & etrace_ones(shift))) {
        unsigned full = bits + 8 * bytes;

        delta >>= shift;
        bits = significant_bits(delta);
        if (bits + 8 * bytes < full) {
            diff = ETRACE_DIFF_FULL_DATA;
        }
        if (how->ways & 1 << ETRACE_DIFF_XOR_DATA) {
            uint64_t other = etrace_sign_extend(data ^ state->data[size],
                                                width);
            unsigned n = significant_bytes(other);

            if (diff ? n < bytes : bits + 8 * n < full) {
                diff = ETRACE_DIFF_XOR_DATA;
                value = other;
                bytes = n;
            }
        }
        if (how->ways & 1 << ETRACE_DIFF_DIFF_DATA) {
            uint64_t other = etrace_sign_extend(data - state->data[size],
                                                width);
            unsigned n = significant_bytes(other);

            if (diff ? n < bytes : bits + 8 * n < full) {
                diff = ETRACE_DIFF_DIFF_DATA;
                value = other;
                bytes = n;
            }
        }
        if (diff) {
            field = delta;
        } else {
            bits = significant_bits(field);
        }
    }

    /* odd bits, format, size, diff, data_len; data; address */
    head = 2 * access->dtype + !aligned;
    head |= size << how->format_width;
    head |= diff << (how->format_width + how->size_width);
    head |= (bytes - 1) << (how->format_width + how->size_width + 2);
    head = head << how->odd | how->odd_value;
    head_bits = how->odd + how->format_width + how->size_width + 2 + size;
    total = head_bits + 8 * bytes;
    if (total + bits > 127) {
        return 0;
    }
    value &= etrace_ones(8 * bytes);
    lo = head | value << head_bits;
    if (total < 64) {
        lo |= (uint64_t)field << total;
        hi = field >> (64 - total);
    } else {
        hi = value >> (64 - head_bits) | (uint64_t)field << (total - 64);
    }

    /* Identical bits at the end go; those in front of the payload stay. */
    bits = (int64_t)hi == (int64_t)lo >> 63 ? significant_bits(lo)
                                            : 64 + significant_bits(hi);
    bytes = (MAX(bits, how->odd + 1u) + 7) / 8;
    *out++ = bytes;
    out[0] = how->src_id;
    out[1] = how->src_id >> 8;
    out += how->src_bytes;
    etrace_word_store(out, lo);
    etrace_word_store(out + 8, hi);
    state->address[size] = daddr;
    state->data[size] = data;
    return 1 + how->src_bytes + bytes;
}
