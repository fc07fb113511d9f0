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

/*
 * The ways to say an access, in the order in which data.c prefers them where
 * they cost the same. All but the first have the address as a difference.
 */
static const uint8_t ways[] = {
    ETRACE_DIFF_FULL, ETRACE_DIFF_FULL_DATA, ETRACE_DIFF_XOR_DATA,
    ETRACE_DIFF_DIFF_DATA,
};

/* More than any packet costs */
#define NEVER   (1u << 20)

void etrace_data_short_init(ETraceDataShort *how, const ETraceParams *params,
                            ETraceDataCompress compress)
{
    static const uint8_t allowed[] = {      /* bit per ETraceDiff */
        [ETRACE_DATA_COMPRESS_NONE] = 0x1,
        [ETRACE_DATA_COMPRESS_XOR] = 0x7,
        [ETRACE_DATA_COMPRESS_DIFF] = 0xd,
        [ETRACE_DATA_COMPRESS_BEST] = 0xf,
    };
    unsigned src_bytes = params->src_bits / 8;
    unsigned odd_src = params->src_bits % 8;
    unsigned odd_value, size_at;

    *how = (ETraceDataShort) {
        .usable = params->data_width &&
                  params->wire_format != ETRACE_WIRE_2_1_DRAFT &&
                  !params->lrid_width &&
                  !(params->doptions & (ETRACE_DOPT_NO_ADDRESS |
                                        ETRACE_DOPT_NO_DATA)),
        .unused = 64 - params->daddress_width,
        .max_size = params->data_width >= 64 ? 3 :
                    params->data_width >= 32 ? 2 :
                    params->data_width >= 16 ? 1 : 0,
        .src_bytes = src_bytes,
        .odd = etrace_encap_odd_bits(params),
        .src_id = params->src_id,
    };
    odd_value = params->src_id >> 8 * src_bytes & ((1u << odd_src) - 1);
    size_at = how->odd + etrace_data_format_width(params);
    how->diff_at = size_at + etrace_data_size_width(params);
    for (unsigned size = 0; size <= how->max_size; size++) {
        /* type: te_data */
        how->head[size] = odd_value | 1u << odd_src | size << size_at;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(ways); i++) {
        how->extra[i] = allowed[compress] >> ways[i] & 1 ? 0 : NEVER;
    }
}

/* Bits from which @value can be sign-extended, without the sign */
static inline unsigned magnitude_bits(int64_t value)
{
    uint64_t bits = value ^ (value >> 63);

    return 63 - __builtin_clzll(bits << 1 | 1);
}

static inline unsigned significant_bytes(int64_t value)
{
    return (magnitude_bits(value) + 8) / 8;
}

/*
 * Programs' data decide what the packet looks like, and the host's processor
 * cannot predict that: hence no branches but those for what takes the long
 * way. Always inline, so that @size and @unused (bits of an address above
 * daddress_width_p) are constants.
 */
static inline __attribute__((always_inline))
unsigned put_access(const ETraceDataShort *how, ETraceDataState *state,
                    const ETraceAccess *access, uint8_t *out, unsigned size,
                    unsigned unused)
{
    unsigned rest = 64 - (8u << size);      /* bits above the access' data */
    unsigned shift, bytes, bits, at, end, way;
    unsigned cost, near_bits;
    uint64_t daddr, head, value, low, lo, hi;
    int64_t data, full, near, field, high;
    int64_t said[ARRAY_SIZE(ways)];
    bool aligned, in_lo, long_one;

    /* The shortest way; see cost() and choose_diff() in data.c. */
    daddr = access->daddr << unused >> unused;
    aligned = !(daddr & ((1u << size) - 1));
    shift = aligned ? size : 0;
    full = etrace_sign_extend(daddr >> shift, 64 - unused);
    near = etrace_sign_extend(daddr - state->address[size], 64 - unused);
    /* An odd difference cannot be said in an aligned format. */
    near_bits = near & ((1u << shift) - 1) ? NEVER : 0;
    near >>= shift;
    near_bits += magnitude_bits(near);
    data = etrace_sign_extend(access->data, 8u << size);
    said[0] = said[1] = data;
    said[2] = etrace_sign_extend(data ^ state->data[size], 8u << size);
    said[3] = etrace_sign_extend(data - state->data[size], 8u << size);
    bytes = significant_bytes(data);
    /* the cost and, in the two lowest bits, the way */
    cost = (magnitude_bits(full) + 8 * bytes) << 2;
    cost = MIN(cost, (how->extra[1] + near_bits + 8 * bytes) << 2 | 1);
    bytes = significant_bytes(said[2]);
    cost = MIN(cost, (how->extra[2] + near_bits + 8 * bytes) << 2 | 2);
    bytes = significant_bytes(said[3]);
    cost = MIN(cost, (how->extra[3] + near_bits + 8 * bytes) << 2 | 3);
    way = cost & 3;
    cost >>= 2;
    field = way ? near : full;
    value = said[way];
    bytes = significant_bytes(value);

    /* odd bits, format, size, diff, data_len; data from @at; address */
    head = how->head[size] | (2 * access->dtype + !aligned) << how->odd |
           (ways[way] | (bytes - 1) << 2) << how->diff_at;
    at = how->diff_at + 2 + size;
    if (cost + at >= 127) {
        return 0;
    }
    value = value << (64 - 8 * bytes) >> (64 - 8 * bytes);
    /* The address is at @end: in both words, or in the upper one. */
    end = at + 8 * bytes;
    in_lo = end < 64;
    low = (uint64_t)field << (end & 63);
    high = field >> (63 - (end & 63)) >> 1;
    lo = head | value << at | (in_lo ? low : 0);
    hi = in_lo ? (uint64_t)high : value >> (64 - at) | low;

    /* Identical bits at the end go; those in front of the payload stay. */
    long_one = hi != (uint64_t)((int64_t)lo >> 63);
    bits = magnitude_bits(long_one ? hi : lo) + (long_one ? 64 : 0);
    bytes = MAX(bits, how->odd) / 8 + 1;
    out[0] = bytes;
    out[1] = how->src_id;
    out[2] = how->src_id >> 8;
    bytes += 1 + how->src_bytes;
    out += 1 + how->src_bytes;
    etrace_word_store(out, lo);
    etrace_word_store(out + 8, hi);
    state->address[size] = daddr;
    state->data[size] = (uint64_t)data << rest >> rest;
    return bytes;
}

unsigned etrace_data_short(const ETraceDataShort *how, ETraceDataState *state,
                           const ETraceAccess *access, uint8_t *out)
{
    unsigned size = access->dsize;

    if (!how->usable || access->dtype > ETRACE_DTYPE_STORE ||
        size > how->max_size || !state->known[size]) {
        return 0;
    }
    if (!how->unused) {
        switch (size) {
        case 0:
            return put_access(how, state, access, out, 0, 0);
        case 2:
            return put_access(how, state, access, out, 2, 0);
        case 3:
            return put_access(how, state, access, out, 3, 0);
        }
    }
    return put_access(how, state, access, out, size, how->unused);
}
