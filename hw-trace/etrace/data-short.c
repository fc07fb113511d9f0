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
#define NEVER       (1ULL << 63)

/*
 * data_len is one less than the number of bytes, and diff is in front of it:
 * what is above diff is DATA_LEN() of the bits, less the NO_BYTES in the head.
 */
#define DATA_LEN(bits)  ((bits) / 2)
#define NO_BYTES        4u

/* Place of loads and stores in ETraceDataShort.head */
#define DATA_KIND(dtype, size)  ((dtype) << 3 | (size))

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
        .start = 1 + head.src_bytes,
        .src_id = (uint64_t)head.src_id << 8,
    };
    size_at = head.odd + etrace_data_format_width(params);
    how->diff_at = size_at + etrace_data_size_width(params);
    for (unsigned size = 0; size < 4 && 8u << size <= params->data_width;
         size++) {
        /* type: te_data; format: 0 for aligned loads, 2 for aligned stores */
        uint32_t load = (head.odd_value | 1u << params->src_bits % 8 |
                         size << size_at) - (NO_BYTES << how->diff_at);

        how->head[DATA_KIND(ETRACE_DTYPE_LOAD, size)] = load;
        how->head[DATA_KIND(ETRACE_DTYPE_STORE, size)] =
            load + (2u << head.odd);
    }
    how->usable &= etrace_data_allows(compress, ETRACE_DIFF_FULL_DATA);
    how->no_xor = etrace_data_allows(compress, ETRACE_DIFF_XOR_DATA)
                  ? 0 : NEVER;
    how->no_diff = etrace_data_allows(compress, ETRACE_DIFF_DIFF_DATA)
                   ? 0 : NEVER;
}

/* Bits of the field for data of this magnitude */
static inline unsigned data_bits(uint64_t magnitude)
{
    return (etrace_magnitude_bits(magnitude) + 8) & ~7;
}

/*
 * A packet of more than 64 bits: @lo, which has the low bits of @value from bit
 * @at on, and from bit @end on the @field. Returns the bytes of its payload.
 */
static unsigned put_wide(uint8_t *payload, uint64_t lo, unsigned at,
                         uint64_t value, unsigned end, int64_t field)
{
    uint64_t low = (uint64_t)field << (end & 63), hi;

    if (end < 64) {
        lo += low;
        hi = field >> (63 - end) >> 1;
    } else {
        hi = value >> (64 - at) | low;
    }
    etrace_word_store(payload, lo);
    etrace_word_store(payload + 8, hi);
    /* Identical bits at the end go. */
    if (hi == (uint64_t)((int64_t)lo >> 63)) {
        return etrace_magnitude_bits(etrace_magnitude(lo)) / 8 + 1;
    }
    return etrace_magnitude_bits(etrace_magnitude(hi)) / 8 + 9;
}

/*
 * Always inline, so that @size and @unused (bits of an address above
 * daddress_width_p) are constants.
 */
static inline __attribute__((always_inline))
unsigned put_access(const ETraceDataShort *how, ETraceDataState *state,
                    const ETraceAccess *access, uint8_t *out, unsigned kind,
                    unsigned size, unsigned unused)
{
    static const uint64_t low_bytes[9] = {
        0, 0xff, 0xffff, 0xffffff, UINT32_MAX, 0xffffffffff, 0xffffffffffff,
        0xffffffffffffff, UINT64_MAX,
    };
    unsigned rest = 64 - (8u << size);      /* bits above the access' data */
    unsigned bits, at, end, bytes, diff;
    uint64_t daddr, field_m, full_m, data_m, other_m, lo;
    int64_t data, last, near, full, field, value, other;

    daddr = access->daddr << unused >> unused;
    full = etrace_sign_extend(daddr >> size, 64 - unused);
    full_m = etrace_magnitude(full);
    if (daddr & ((1u << size) - 1) || !full_m) {
        return 0;
    }
    near = etrace_sign_extend(daddr - state->address[size], 64 - unused);
    field = near >> size;
    field_m = etrace_magnitude(field);
    data = etrace_sign_extend(access->data, 8u << size);
    last = state->data[size];

    /*
     * The data that have the least magnitude; see choose_diff() in data.c.
     * Programs' data decide, and the host's processor cannot predict that:
     * hence conditional moves, and no branches.
     */
    value = data;
    data_m = etrace_magnitude(data);
    diff = ETRACE_DIFF_FULL_DATA;
    other = etrace_sign_extend(data ^ last, 8u << size);
    other_m = etrace_magnitude(other) | how->no_xor;
    diff = other_m < data_m ? ETRACE_DIFF_XOR_DATA : diff;
    value = other_m < data_m ? other : value;
    data_m = MIN(data_m, other_m);
    other = etrace_sign_extend((uint64_t)data - last, 8u << size);
    other_m = etrace_magnitude(other) | how->no_diff;
    diff = other_m < data_m ? ETRACE_DIFF_DIFF_DATA : diff;
    value = other_m < data_m ? other : value;
    data_m = MIN(data_m, other_m);
    bits = data_bits(data_m);

    /*
     * The address as a difference, most often: it has less bits than the
     * address. Else both are compared with their data. A difference to an
     * unaligned address cannot be said in an aligned format.
     */
    if (field_m >= (full_m & ~field_m) || near & ((1u << size) - 1)) {
        unsigned full_bits = data_bits(etrace_magnitude(data));

        if (near & ((1u << size) - 1) ||
            etrace_magnitude_bits(field_m) + bits >=
            etrace_magnitude_bits(full_m) + full_bits) {
            diff = ETRACE_DIFF_FULL;
            value = data;
            bits = full_bits;
            field = full;
            field_m = full_m;
        }
    }

    /* odd bits, format, size, diff, data_len; data from @at to @end; address */
    at = how->diff_at + 2 + size;
    end = at + bits;
    lo = how->head[kind] + ((diff + DATA_LEN(bits)) << how->diff_at);
    value &= low_bytes[bits / 8];
    lo += (uint64_t)value << at;
    if (end < 64 && field_m >> (63 - end) == 0) {
        lo += (uint64_t)field << end;
        /* diff or the address is not 0: what is in front of them stays. */
        bytes = etrace_magnitude_bits(etrace_magnitude(lo)) / 8 + 1;
        etrace_word_store(out, bytes | how->src_id);
        etrace_word_store(out + how->start, lo);
    } else if (end < 64 || field_m >> (127 - end) == 0) {
        etrace_word_store(out, how->src_id);
        bytes = put_wide(out + how->start, lo, at, value, end, field);
        out[0] = bytes;
    } else {
        return 0;
    }
    state->address[size] = daddr;
    state->data[size] = (uint64_t)data << rest >> rest;
    return how->start + bytes;
}

static inline __attribute__((always_inline))
size_t put_accesses(const ETraceDataShort *how, ETraceDataState *state,
                    const ETraceSlot *slots, size_t *n, uint8_t *out,
                    size_t room, unsigned *packets, unsigned unused)
{
    unsigned made = 0;
    size_t pos = 0, i;

    for (i = 0; i < *n && pos + ETRACE_DATA_SHORT_MAX <= room; i++) {
        const ETraceAccess *access = &slots[i].access;
        unsigned kind, len = 0;

        if (access->type != ETRACE_SLOT_ACCESS) {
            continue;
        }
        kind = DATA_KIND(access->dtype, access->dsize);
        if (kind >= ARRAY_SIZE(how->head) || !how->head[kind] ||
            !state->known[access->dsize]) {
            break;
        }
        switch (access->dsize) {
        case 0:
            len = put_access(how, state, access, out + pos, kind, 0, unused);
            break;
        case 1:
            len = put_access(how, state, access, out + pos, kind, 1, unused);
            break;
        case 2:
            len = put_access(how, state, access, out + pos, kind, 2, unused);
            break;
        case 3:
            len = put_access(how, state, access, out + pos, kind, 3, unused);
            break;
        }
        if (!len) {
            break;
        }
        pos += len;
        made++;
    }
    *n = i;
    *packets += made;
    return pos;
}

size_t etrace_data_short(const ETraceDataShort *how, ETraceDataState *state,
                         const ETraceSlot *slots, size_t *n, uint8_t *out,
                         size_t room, unsigned *packets)
{
    if (!how->usable) {
        *n = 0;
        return 0;
    }
    return how->unused
           ? put_accesses(how, state, slots, n, out, room, packets,
                          how->unused)
           : put_accesses(how, state, slots, n, out, room, packets, 0);
}
