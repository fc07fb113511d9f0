/*
 * Stamps on bytes of memory: a number for each, that of its last access
 *
 * Most accesses are of words. So a word has a stamp that counts for its four
 * bytes, and each of them has one of its own for accesses of parts: the larger
 * one is that of the last access.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "replay/stamps.h"

#define STAMP_SHIFT 2           /* a stamp has 4 bytes, as a word has */
#define STAMP_SIZE  (1u << STAMP_SHIFT)

/* Address spaces that those of @space take: words, and quarters of bytes */
#define SPACES      8
#define SPACE_WORDS 4

static unsigned byte_space(unsigned space, uint64_t addr)
{
    return space * SPACES + (addr >> (64 - STAMP_SHIFT));
}

bool stamps_put(Memory *stamps, unsigned space, uint64_t addr, uint32_t stamp,
                unsigned len)
{
    uint64_t two = (uint64_t)stamp << 32 | stamp;

    while (len) {
        unsigned n = 1;

        if (addr % STAMP_SIZE || len < STAMP_SIZE) {
            memory_put(stamps, byte_space(space, addr), addr << STAMP_SHIFT,
                       stamp, STAMP_SIZE);
        } else {
            n = len < 2 * STAMP_SIZE ? STAMP_SIZE : 2 * STAMP_SIZE;
            memory_put(stamps, space * SPACES + SPACE_WORDS, addr, two, n);
        }
        addr += n;
        len -= n;
    }
    return !memory_take_overflow(stamps);
}

static uint32_t get(const Memory *stamps, unsigned space, uint64_t addr)
{
    uint8_t bytes[STAMP_SIZE];

    if (memory_read(stamps, space, addr, bytes, sizeof(bytes)) !=
        sizeof(bytes)) {
        return 0;
    }
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

uint32_t stamps_get(const Memory *stamps, unsigned space, uint64_t addr)
{
    uint32_t word = get(stamps, space * SPACES + SPACE_WORDS,
                        addr & ~(uint64_t)(STAMP_SIZE - 1));
    uint32_t byte = get(stamps, byte_space(space, addr), addr << STAMP_SHIFT);

    return MAX(word, byte);
}
