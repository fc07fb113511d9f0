/*
 * E-Trace packets as numbers: bits, LSB first, and their sign
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_PACKET_BITS_H
#define HW_TRACE_ETRACE_PACKET_BITS_H

#include "packet.h"

/*
 * A packet as a little-endian number. ETRACE_PACKET_MAX bytes fit with at
 * least 8 bits to spare, so that there is always a sign bit above the last
 * field.
 */
typedef struct ETraceBits {
    uint64_t word[4];
    unsigned pos;               /* first bit that is not written or read */
} ETraceBits;

static inline uint64_t etrace_ones(unsigned width)
{
    return width >= 64 ? UINT64_MAX : (1ull << width) - 1;
}

/* @width: 1..64 */
static inline uint64_t etrace_sign_extend(uint64_t value, unsigned width)
{
    unsigned shift = 64 - width;

    return (int64_t)(value << shift) >> shift;
}

/* A number whose highest 1 is the highest bit of @value unlike its sign */
static inline uint64_t etrace_magnitude(int64_t value)
{
    return value ^ (value >> 63);
}

/* Bits of a value without those that are its sign */
static inline unsigned etrace_magnitude_bits(uint64_t magnitude)
{
    return 63 ^ __builtin_clzll(magnitude << 1 | 1);
}

static inline bool etrace_bit_at(const ETraceBits *b, unsigned pos)
{
    return (b->word[pos / 64] >> (pos % 64)) & 1;
}

/* @width: 0..64; no more than ETRACE_PACKET_MAX bytes in all */
static inline void etrace_bits_put(ETraceBits *b, uint64_t value,
                                   unsigned width)
{
    unsigned shift = b->pos % 64;
    uint64_t *word = &b->word[b->pos / 64];

    if (width == 0) {
        return;
    }
    assert(b->pos + width <= ETRACE_PACKET_MAX * 8);
    value &= etrace_ones(width);
    word[0] |= value << shift;
    if (shift + width > 64) {
        word[1] |= value >> (64 - shift);
    }
    b->pos += width;
}

/* @width: 0..64; the caller has checked that the bits are there. */
static inline uint64_t etrace_bits_get(ETraceBits *b, unsigned width)
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
    return value & etrace_ones(width);
}

/* Eight bytes, the least significant one first */
static inline void etrace_word_store(uint8_t *buf, uint64_t word)
{
    const bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

    word = big ? __builtin_bswap64(word) : word;
    memcpy(buf, &word, sizeof(word));
}

/*
 * The @len bytes (1..ETRACE_PACKET_MAX) of a payload, sign-extended; reading
 * starts at bit 0. Returns the sign.
 */
bool etrace_bits_load(ETraceBits *b, const uint8_t *buf, size_t len);

/*
 * What has been put, as bytes: identical bits at the most significant end
 * go, down to whole bytes (chapter 6, "sign based compression"). Returns the
 * number of bytes, at least 1.
 */
size_t etrace_bits_store(ETraceBits *b, uint8_t buf[ETRACE_PACKET_MAX]);

/*
 * True if nothing but repetitions of bit pos - 1 follows in the @len bytes
 * that were loaded, and no byte that holds none of the pos bits.
 */
bool etrace_bits_at_end(const ETraceBits *b, size_t len, bool sign);

/* Members of packet structures, 1, 2, 4 or 8 bytes wide, by their offset */
static inline uint64_t etrace_member_get(const void *pkt, unsigned offset,
                                         unsigned size)
{
    const void *p = (const char *)pkt + offset;

    switch (size) {
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

static inline void etrace_member_set(void *pkt, unsigned offset,
                                     unsigned size, uint64_t value)
{
    void *p = (char *)pkt + offset;

    switch (size) {
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

#endif /* HW_TRACE_ETRACE_PACKET_BITS_H */
