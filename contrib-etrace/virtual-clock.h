/*
 * Virtual time, as the packets of a hart report it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIRTUAL_CLOCK_H
#define ETRACE_VIRTUAL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

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

#endif /* ETRACE_VIRTUAL_CLOCK_H */
