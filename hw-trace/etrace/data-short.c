/*
 * E-Trace data trace: most accesses straight to encapsulated packets
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "data-layout.h"
#include "data-short.h"
#include "packet-plain.h"

/* More than any magnitude of an access' data */
#define NEVER   (1ULL << 63)

void etrace_data_short_init(ETraceDataShort *how, const ETraceParams *params,
                            ETraceDataCompress compress)
{
    const ETracePlainHead head = etrace_plain_head(params);
    unsigned size_at;

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
        .src_bytes = head.src_bytes,
        .odd = head.odd,
        .src_id = head.src_id,
    };
    size_at = how->odd + etrace_data_format_width(params);
    how->diff_at = size_at + etrace_data_size_width(params);
    for (unsigned size = 0; size <= how->max_size; size++) {
        /* type: te_data */
        how->head[size] = head.odd_value | 1u << params->src_bits % 8 |
                          size << size_at;
    }
    how->usable &= etrace_data_allows(compress, ETRACE_DIFF_FULL_DATA);
    how->no_xor = etrace_data_allows(compress, ETRACE_DIFF_XOR_DATA)
                  ? 0 : NEVER;
    how->no_diff = etrace_data_allows(compress, ETRACE_DIFF_DIFF_DATA)
                   ? 0 : NEVER;
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
    unsigned shift, bytes, bits, at, end, diff;
    uint64_t daddr, head, value, low, lo, hi;
    uint64_t near_m, full_m, data_m, other_m;
    int64_t data, near, field, other;
    bool aligned, in_lo, long_one;

    daddr = access->daddr << unused >> unused;
    aligned = !(daddr & ((1u << size) - 1));
    shift = aligned ? size : 0;
    near = etrace_sign_extend(daddr - state->address[size], 64 - unused);
    field = near >> shift;
    near_m = etrace_magnitude(field);
    full_m = etrace_magnitude(etrace_sign_extend(daddr >> shift, 64 - unused));
    /*
     * The address as a difference: it has less bits than the address has, and
     * not too many. An odd one cannot be said in an aligned format.
     */
    if (near_m >> 40 || near_m >= full_m || near_m >= (near_m ^ full_m) ||
        near & ((1u << shift) - 1)) {
        return 0;
    }

    /* The data that have the least magnitude; see choose_diff() in data.c. */
    data = etrace_sign_extend(access->data, 8u << size);
    value = data;
    data_m = etrace_magnitude(data);
    diff = ETRACE_DIFF_FULL_DATA;
    other = etrace_sign_extend(data ^ state->data[size], 8u << size);
    other_m = etrace_magnitude(other) | how->no_xor;
    diff = other_m < data_m ? ETRACE_DIFF_XOR_DATA : diff;
    value = other_m < data_m ? (uint64_t)other : value;
    data_m = MIN(data_m, other_m);
    other = etrace_sign_extend(data - state->data[size], 8u << size);
    other_m = etrace_magnitude(other) | how->no_diff;
    diff = other_m < data_m ? ETRACE_DIFF_DIFF_DATA : diff;
    value = other_m < data_m ? (uint64_t)other : value;
    data_m = MIN(data_m, other_m);
    bytes = (etrace_magnitude_bits(data_m) + 8) / 8;

    /* odd bits, format, size, diff, data_len; data from @at; address */
    head = how->head[size] | (2 * access->dtype + !aligned) << how->odd |
           (diff | (bytes - 1) << 2) << how->diff_at;
    at = how->diff_at + 2 + size;
    value = value << (64 - 8 * bytes) >> (64 - 8 * bytes);
    /* The address is at @end: in both words, or in the upper one. */
    end = at + 8 * bytes;
    in_lo = end < 64;
    low = (uint64_t)field << (end & 63);
    hi = field >> (63 - (end & 63)) >> 1;
    lo = head | value << at | (in_lo ? low : 0);
    hi = in_lo ? hi : value >> (64 - at) | low;

    /* Identical bits at the end go; those in front of the payload stay. */
    long_one = hi != (uint64_t)((int64_t)lo >> 63);
    bits = etrace_magnitude_bits(etrace_magnitude(long_one ? hi : lo)) +
           (long_one ? 64 : 0);
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
