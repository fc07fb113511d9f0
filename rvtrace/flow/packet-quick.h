/*
 * Packets that fit in a word
 *
 * Nearly all te_inst of a program are branch maps and differential addresses
 * of at most 8 bytes, and nearly all te_data are loads and stores of as many.
 * These are read with a few shifts, where the core goes through a table of
 * fields (etrace/layout.h, etrace/data-layout.h).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PACKET_QUICK_H
#define ETRACE_PACKET_QUICK_H

#include <glib.h>
#include "etrace/data-packet.h"
#include "etrace/packet.h"

/* Longest payload that packet_quick() reads, bytes */
#define PACKET_QUICK_MAX    8

/* The @len bytes (1..8) at @buf as a number; 8 bytes must be readable there. */
static inline int64_t packet_word(const uint8_t *buf, unsigned len)
{
    unsigned unused = 64 - 8 * len;
    uint64_t word;

    memcpy(&word, buf, sizeof(word));
    return (int64_t)(GUINT64_FROM_LE(word) << unused) >> unused;
}

/*
 * The bytes of @word at @buf, which has room for 8. Returns their number,
 * without repetitions of the sign, at least 1.
 */
static inline unsigned packet_word_store(int64_t word, uint8_t *buf)
{
    uint64_t bytes = GUINT64_TO_LE((uint64_t)word);
    uint64_t differ = word ^ (word >> 63);

    memcpy(buf, &bytes, sizeof(bytes));
    return differ ? (64 - __builtin_clzll(differ)) / 8 + 1 : 1;
}

/*
 * As etrace_packet_unpack() for the payload of @len bytes (1..8) that is the
 * number @word. Returns false, with @pkt undefined, if it is not one of the
 * usual packets, or none at all: then the core has to say.
 */
bool packet_quick(const ETraceParams *params, int64_t word, size_t len,
                  ETracePacket *pkt);

/* The same, as etrace_data_packet_unpack() */
bool packet_quick_data(const ETraceParams *params, int64_t word,
                       ETraceDataPacket *pkt);

#endif /* ETRACE_PACKET_QUICK_H */
