/*
 * Stamps on bytes of memory: a number for each, that of its last access
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "replay/stamps.h"

#define STAMP_SHIFT 2           /* of 4 bytes */

/*
 * Where the stamp of the byte at @addr is: in which of the address spaces that
 * all those of @space take
 */
static unsigned stamp_space(unsigned space, uint64_t addr)
{
    return space << STAMP_SHIFT | addr >> (64 - STAMP_SHIFT);
}

bool stamps_put(Memory *stamps, unsigned space, uint64_t addr, uint32_t stamp,
                unsigned len)
{
    uint64_t two = (uint64_t)stamp << 32 | stamp;

    while (len) {
        /* Two at a time, but not beyond the end of a space */
        unsigned n = len > 1 && addr << STAMP_SHIFT <= UINT64_MAX - 7 ? 2 : 1;

        memory_put(stamps, stamp_space(space, addr), addr << STAMP_SHIFT, two,
                   n << STAMP_SHIFT);
        addr += n;
        len -= n;
    }
    return !memory_take_overflow(stamps);
}

uint32_t stamps_get(const Memory *stamps, unsigned space, uint64_t addr)
{
    uint8_t bytes[1 << STAMP_SHIFT];

    if (memory_read(stamps, stamp_space(space, addr), addr << STAMP_SHIFT,
                    bytes, sizeof(bytes)) != sizeof(bytes)) {
        return 0;
    }
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}
