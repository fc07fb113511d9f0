/*
 * E-Trace packets as numbers: sign based compression
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "packet-bits.h"

/* Repeat the bit below @pos in every bit from there on; returns that bit. */
static bool fill_sign(ETraceBits *b, unsigned pos)
{
    bool sign = etrace_bit_at(b, pos - 1);

    if (sign) {
        for (unsigned i = pos / 64; i < ARRAY_SIZE(b->word); i++) {
            unsigned low = i == pos / 64 ? pos % 64 : 0;

            b->word[i] |= UINT64_MAX << low;
        }
    }
    return sign;
}

/* Number of low bits that are left when all equal ones at the top go. */
static unsigned significant_bits(const ETraceBits *b, bool sign)
{
    for (int i = ARRAY_SIZE(b->word) - 1; i >= 0; i--) {
        uint64_t differ = sign ? ~b->word[i] : b->word[i];

        if (differ) {
            return 64 * i + 64 - __builtin_clzll(differ);
        }
    }
    return 0;
}

bool etrace_bits_load(ETraceBits *b, const uint8_t *buf, size_t len)
{
    *b = (ETraceBits) { };
    for (size_t i = 0; i < len; i++) {
        b->word[i / 8] |= (uint64_t)buf[i] << (8 * (i % 8));
    }
    return fill_sign(b, 8 * len);
}

size_t etrace_bits_store(ETraceBits *b, uint8_t buf[ETRACE_PACKET_MAX])
{
    /* One sign bit has to stay. */
    bool sign = fill_sign(b, b->pos);
    size_t len = significant_bits(b, sign) / 8 + 1;

    for (size_t i = 0; i < len; i++) {
        buf[i] = b->word[i / 8] >> (8 * (i % 8));
    }
    return len;
}

bool etrace_bits_at_end(const ETraceBits *b, size_t len, bool sign)
{
    return len <= (b->pos + 7) / 8 && significant_bits(b, sign) < b->pos;
}
