/*
 * Virtual time, as the packets of a hart report it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIRTUAL_CLOCK_H
#define ETRACE_VIRTUAL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

/* All 0 at first, but for @hz */
typedef struct VirtualClock {
    uint64_t hz;        /* ticks a second; not 0 */
    bool known;         /* a packet has reported the time */
    uint64_t ticks;     /* of the last one, with the bits that wrapped */
} VirtualClock;

/*
 * A packet reports the low @bits of the time. Returns false, having ignored
 * it, if that is earlier than what was reported before.
 */
bool virtual_clock_put(VirtualClock *c, uint64_t ticks, unsigned bits);

/* Nanoseconds, rounded down */
uint64_t virtual_clock_ns(const VirtualClock *c);

/* The last tick that is not behind @ns */
uint64_t virtual_clock_ticks(const VirtualClock *c, uint64_t ns);

/*
 * @value * @part / @whole, rounded down, or UINT64_MAX if it is more; @whole is
 * not 0. Hosts of 32 bits have no integers of 128.
 */
static inline uint64_t share_of(uint64_t value, uint64_t part, uint64_t whole)
{
#if GLIB_SIZEOF_VOID_P == 8
    return MIN((unsigned __int128)value * part / whole, UINT64_MAX);
#else
    uint64_t low = (value & UINT32_MAX) * (part & UINT32_MAX);
    uint64_t mid = (value >> 32) * (part & UINT32_MAX) + (low >> 32);
    uint64_t mid2 = (value & UINT32_MAX) * (part >> 32) + (mid & UINT32_MAX);
    uint64_t high = (value >> 32) * (part >> 32) + (mid >> 32) + (mid2 >> 32);
    uint64_t quotient = 0;

    low = (low & UINT32_MAX) | mid2 << 32;
    if (high >= whole) {
        return UINT64_MAX;
    }
    /* bit by bit: the rest is in @high */
    for (unsigned i = 0; i < 64; i++) {
        bool carry = high >> 63;

        high = high << 1 | low >> 63;
        low <<= 1;
        quotient <<= 1;
        if (carry || high >= whole) {
            high -= whole;
            quotient |= 1;
        }
    }
    return quotient;
#endif
}

#endif /* ETRACE_VIRTUAL_CLOCK_H */
