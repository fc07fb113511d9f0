/*
 * E-Trace packets as they are most of the time
 *
 * Formats 1 and 2 whose notify, updiscon and irreport are not asserted, so
 * that everything behind the address repeats its sign; in every wire format.
 * The tables of layout.c would give the same.
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
    if (branches) {
        return etrace_plain_store(buf, ETRACE_FORMAT_DIFF_DELTA |
                                       branches << 2 |
                                       (uint64_t)branch_map << 7,
                                  7 + etrace_map_width(branches), address);
    }
    return etrace_plain_store(buf, ETRACE_FORMAT_ADDR_ONLY, 2, address);
}

/* Format 1 without an address: 31 branches */
static inline size_t etrace_plain_full_map(uint8_t *buf, uint32_t branch_map)
{
    return etrace_plain_store(buf, ETRACE_FORMAT_DIFF_DELTA |
                                   (uint64_t)branch_map << 7, 38,
                              -(int64_t)(branch_map >> 30));
}

#endif /* HW_TRACE_ETRACE_PACKET_PLAIN_H */
