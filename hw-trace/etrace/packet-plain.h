/*
 * E-Trace packets as they are most of the time
 *
 * Formats 0, 1 and 2 whose notify, updiscon and irreport are not asserted, so
 * that everything behind the address repeats its sign. Formats 1 and 2 are the
 * same in every wire format. The tables of layout.c would give the same.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_TRACE_ETRACE_PACKET_PLAIN_H
#define HW_TRACE_ETRACE_PACKET_PLAIN_H

#include "packet-bits.h"

/* Bytes that may be written */
#define ETRACE_PACKET_PLAIN_MAX 16

/* Width of the branch map in bits: that of @branches 0 has no address. */
static inline unsigned etrace_map_width(unsigned branches)
{
    static const uint8_t width[32] = {
        31, 1, 3, 3, 7, 7, 7, 7, 15, 15, 15, 15, 15, 15, 15, 15,
        31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31,
    };

    return width[branches & 31];
}

/*
 * The sign compressed number that begins with the @pos bits of @low, 1 to 63,
 * where @rest, signed, follows. Returns its length in bytes.
 */
static inline size_t etrace_plain_store(uint8_t *buf, uint64_t low,
                                        unsigned pos, int64_t rest)
{
    int64_t high = rest >> (64 - pos);
    size_t len;

    low |= (uint64_t)rest << pos;
    etrace_word_store(buf, low);
    /* One sign bit has to stay: clz of what differs from it tells how many. */
    if (high == (int64_t)low >> 63) {
        return (64 - __builtin_clzll((low ^ high) | 1)) / 8 + 1;
    }
    len = 8 + (64 - __builtin_clzll((high ^ (high >> 63)) | 1)) / 8 + 1;
    etrace_word_store(buf + 8, high);
    return len;
}

/*
 * Format 1, or 2 if @branches is 0. @address: the field, that is without
 * iaddress_lsb_p bits, sign-extended
 */
static inline size_t etrace_plain_address(uint8_t *buf, unsigned branches,
                                          uint32_t branch_map,
                                          int64_t address)
{
    static const uint8_t pos[32] = {
        2, 8, 10, 10, 14, 14, 14, 14, 22, 22, 22, 22, 22, 22, 22, 22,
        38, 38, 38, 38, 38, 38, 38, 38, 38, 38, 38, 38, 38, 38, 38, 38,
    };

    /* No branches, no map: which of the two it is costs no jump. */
    QEMU_BUILD_BUG_ON(ETRACE_FORMAT_ADDR_ONLY != ETRACE_FORMAT_DIFF_DELTA + 1);
    return etrace_plain_store(buf, (ETRACE_FORMAT_ADDR_ONLY - !!branches) |
                                   branches << 2 | (uint64_t)branch_map << 7,
                              pos[branches & 31], address);
}

/* Format 1 without an address: 31 branches */
static inline size_t etrace_plain_full_map(uint8_t *buf, uint32_t branch_map)
{
    return etrace_plain_store(buf, ETRACE_FORMAT_DIFF_DELTA |
                                   (uint64_t)branch_map << 7, 38,
                              -(int64_t)(branch_map >> 30));
}

/*
 * Format 0 subformat 0 of 2.0, without an address: @count branches beyond 31,
 * and one that was not predicted. @f0s: f0s_width_p
 */
static inline size_t etrace_plain_count(uint8_t *buf, unsigned f0s,
                                        uint32_t count)
{
    return etrace_plain_store(buf, (uint64_t)count << (2 + f0s), 36 + f0s, 0);
}

/* ... all of them predicted, with an address as above */
static inline size_t etrace_plain_count_address(uint8_t *buf, unsigned f0s,
                                                uint32_t count,
                                                int64_t address)
{
    return etrace_plain_store(buf, (uint64_t)count << (2 + f0s) |
                                   (uint64_t)ETRACE_BRANCH_FMT_ADDR
                                   << (34 + f0s),
                              36 + f0s, address);
}

/* Format 0 subformat 1 of 2.0: @index of the jump target cache */
static inline size_t etrace_plain_jump(uint8_t *buf, unsigned f0s,
                                       unsigned cache_size, unsigned index,
                                       unsigned branches, uint32_t branch_map)
{
    unsigned pos = 2 + f0s + cache_size;
    uint64_t low = (uint64_t)(f0s ? ETRACE_OPT_JUMP_TARGET : 0) << 2 |
                   (uint64_t)index << (2 + f0s) | (uint64_t)branches << pos;

    pos += 5;
    if (branches) {
        low |= (uint64_t)branch_map << pos;
        pos += etrace_map_width(branches);
    }
    return etrace_plain_store(buf, low, pos, -(int64_t)(low >> (pos - 1)));
}

#endif /* HW_TRACE_ETRACE_PACKET_PLAIN_H */
