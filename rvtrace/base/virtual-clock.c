/*
 * Virtual time, as the packets of a hart report it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/virtual-clock.h"

#define NS_PER_SEC  1000000000

bool virtual_clock_put(VirtualClock *c, uint64_t ticks, unsigned bits)
{
    uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    uint64_t more = (ticks - c->ticks) & mask;

    if (c->known && more > mask / 2) {
        return false;
    }
    c->ticks = c->known ? c->ticks + more : ticks & mask;
    c->known = true;
    return true;
}

uint64_t virtual_clock_ns(const VirtualClock *c)
{
    return share_of(c->ticks, NS_PER_SEC, c->hz);
}

uint64_t virtual_clock_ticks(const VirtualClock *c, uint64_t ns)
{
    return share_of(ns, c->hz, NS_PER_SEC);
}
