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

#include "encap.h"
#include "packet-bits.h"

/* Bytes that etrace_plain_store() may write */
#define ETRACE_PACKET_PLAIN_MAX 16

/* Width of the branch map in bits, where an address is behind it */
static inline unsigned etrace_map_width(unsigned branches)
{
    static const uint8_t width[32] = {
        0, 1, 3, 3, 7, 7, 7, 7, 15, 15, 15, 15, 15, 15, 15, 15,
        31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31,
    };

    return width[branches & 31];
}

/*
 * Such a payload: the @pos bits of @low, 1 to 55, and behind them @rest, which
 * is signed and repeats its sign
 */
typedef struct ETracePlain {
    uint64_t low;
    unsigned pos;
    int64_t rest;
} ETracePlain;

/* What stands in front of the payloads of one source; see encap.h */
typedef struct ETracePlainHead {
    uint16_t src_id;
    uint8_t src_bytes;          /* whole bytes of srcID */
    uint8_t odd;                /* further bits: srcID and type, te_inst */
    uint8_t odd_value;
} ETracePlainHead;

static inline ETracePlainHead etrace_plain_head(const ETraceParams *params)
{
    unsigned src_bytes = params->src_bits / 8;

    return (ETracePlainHead) {
        .src_id = params->src_id,
        .src_bytes = src_bytes,
        .odd = etrace_encap_odd_bits(params),
        .odd_value = params->src_id >> 8 * src_bytes &
                     ((1u << params->src_bits % 8) - 1),
    };
}

/*
 * The sign compressed number that @p stands for, at @buf, where
 * ETRACE_PACKET_PLAIN_MAX bytes may be written. Returns its length in bytes.
 */
static inline size_t etrace_plain_store(uint8_t *buf, ETracePlain p)
{
    int64_t high = p.rest >> (64 - p.pos);
    uint64_t low = p.low | (uint64_t)p.rest << p.pos;

    etrace_word_store(buf, low);
    /* One sign bit has to stay: clz of what differs from it counts them. */
    if (high == (int64_t)low >> 63) {
        return (64 - __builtin_clzll((low ^ high) | 1)) / 8 + 1;
    }
    etrace_word_store(buf + 8, high);
    return 8 + (64 - __builtin_clzll((high ^ (high >> 63)) | 1)) / 8 + 1;
}

/* The length that etrace_plain_store() would return */
static inline size_t etrace_plain_len(ETracePlain p)
{
    uint8_t unused[ETRACE_PACKET_PLAIN_MAX];

    return etrace_plain_store(unused, p);
}

/* Bytes that etrace_plain_wrap() may write */
#define ETRACE_PLAIN_WRAP_MAX   (1 + 2 + ETRACE_PACKET_PLAIN_MAX)

/*
 * Encapsulate @p at @out: flow 0, no timestamp. Returns how many bytes the
 * packet takes.
 */
static inline size_t etrace_plain_wrap(uint8_t *out,
                                       const ETracePlainHead *head,
                                       ETracePlain p)
{
    size_t len;

    if (head->src_bytes) {
        out[1] = head->src_id;
        out[2] = head->src_id >> 8;
    }
    p.low = p.low << head->odd | head->odd_value;
    p.pos += head->odd;
    len = etrace_plain_store(out + 1 + head->src_bytes, p);
    /* A payload of nothing but 0 has one bit left. */
    len = MAX(len, head->odd / 8u + 1);
    out[0] = len;
    return 1 + head->src_bytes + len;
}

/*
 * Most payloads are a number of less than 64 bits, those in front of it
 * included: what etrace_plain_wrap() does takes half as many instructions then.
 */
static inline bool etrace_plain_is_number(const ETracePlainHead *head,
                                          ETracePlain p)
{
    int64_t beyond = p.rest >> (63 - head->odd - p.pos);

    return (uint64_t)beyond + 1 <= 1;
}

static inline int64_t etrace_plain_number(ETracePlain p)
{
    return p.low | (uint64_t)p.rest << p.pos;
}

/*
 * The highest bit of such a number that differs from its sign. There must be
 * one, as there is in formats 1 and 2, and in format 0 with a subformat of 1.
 */
static inline unsigned etrace_plain_top(int64_t number)
{
    /* ^ 63, not 63 -: it is one instruction where hosts count from below. */
    return __builtin_clzll(number ^ number >> 63) ^ 63;
}

/* Bytes of a number with this top, without the repetition of its sign */
static inline unsigned etrace_plain_bytes(unsigned top)
{
    return (top + 9) / 8;
}

/*
 * As etrace_plain_wrap(), of a number with this @top. @src_bytes: those of
 * @head, which the compiler may know
 */
static inline size_t etrace_plain_number_wrap(uint8_t *out,
                                              const ETracePlainHead *head,
                                              unsigned src_bytes,
                                              int64_t number, unsigned top)
{
    unsigned len = etrace_plain_bytes(top + head->odd);

    if (src_bytes) {
        out[1] = head->src_id;
        out[2] = head->src_id >> 8;
    }
    etrace_word_store(out + 1 + src_bytes,
                      (uint64_t)number << head->odd | head->odd_value);
    out[0] = len;
    return 1 + src_bytes + len;
}

/*
 * Format 1, or 2 if @branches is 0. @address: the field, that is without
 * iaddress_lsb_p bits, sign-extended
 */
static inline ETracePlain etrace_plain_address(unsigned branches,
                                               uint64_t branch_map,
                                               int64_t address)
{
    /* Format and number of branches, and where the address is, by the latter */
    static const struct {
        uint8_t low;
        uint8_t pos;
    } head[32] = {
#define HEAD(n, pos) { ETRACE_FORMAT_DIFF_DELTA | (n) << 2, pos }
        { ETRACE_FORMAT_ADDR_ONLY, 2 }, HEAD(1, 8), HEAD(2, 10), HEAD(3, 10),
        HEAD(4, 14), HEAD(5, 14), HEAD(6, 14), HEAD(7, 14),
        HEAD(8, 22), HEAD(9, 22), HEAD(10, 22), HEAD(11, 22),
        HEAD(12, 22), HEAD(13, 22), HEAD(14, 22), HEAD(15, 22),
        HEAD(16, 38), HEAD(17, 38), HEAD(18, 38), HEAD(19, 38),
        HEAD(20, 38), HEAD(21, 38), HEAD(22, 38), HEAD(23, 38),
        HEAD(24, 38), HEAD(25, 38), HEAD(26, 38), HEAD(27, 38),
        HEAD(28, 38), HEAD(29, 38), HEAD(30, 38), HEAD(31, 38),
#undef HEAD
    };

    return (ETracePlain) {
        .low = head[branches & 31].low | branch_map << 7,
        .pos = head[branches & 31].pos,
        .rest = address,
    };
}

/* Format 1 without an address: 31 branches */
static inline ETracePlain etrace_plain_full_map(uint32_t branch_map)
{
    return (ETracePlain) {
        .low = ETRACE_FORMAT_DIFF_DELTA | (uint64_t)branch_map << 7,
        .pos = 38,
        .rest = -(int64_t)(branch_map >> 30),
    };
}

/*
 * Format 0 subformat 0 of 2.0, without an address: @count branches beyond 31,
 * and one that was not predicted. @f0s: f0s_width_p
 */
static inline ETracePlain etrace_plain_count(unsigned f0s, uint32_t count)
{
    return (ETracePlain) {
        .low = (uint64_t)count << (2 + f0s),
        .pos = 36 + f0s,
    };
}

/*
 * ... with an address as above. @missed: that of the branch that was not
 * predicted; else all of them were
 */
static inline ETracePlain etrace_plain_count_address(unsigned f0s,
                                                     uint32_t count,
                                                     bool missed,
                                                     int64_t address)
{
    unsigned fmt = missed ? ETRACE_BRANCH_FMT_ADDR_FAIL :
                            ETRACE_BRANCH_FMT_ADDR;

    return (ETracePlain) {
        .low = (uint64_t)count << (2 + f0s) |
               (uint64_t)fmt << (34 + f0s),
        .pos = 36 + f0s,
        .rest = address,
    };
}

/* Format 0 subformat 1 of 2.0: @index of the jump target cache */
static inline ETracePlain etrace_plain_jump(unsigned f0s, unsigned cache_size,
                                            unsigned index, unsigned branches,
                                            uint64_t branch_map)
{
    unsigned pos = 2 + f0s + cache_size;
    uint64_t low = (uint64_t)(f0s ? ETRACE_OPT_JUMP_TARGET : 0) << 2 |
                   (uint64_t)index << (2 + f0s) | (uint64_t)branches << pos;

    pos += 5;
    low |= branch_map << pos;       /* 0 if there are no branches */
    pos += etrace_map_width(branches);
    low = (int64_t)(low << (64 - pos)) >> (64 - pos);
    return (ETracePlain) {
        .low = low,
        .pos = pos,
        .rest = (int64_t)low >> 63,
    };
}

#endif /* HW_TRACE_ETRACE_PACKET_PLAIN_H */
