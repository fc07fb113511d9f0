/*
 * Random numbers for tests of packets
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_UNIT_ETRACE_RANDOM_H
#define TESTS_UNIT_ETRACE_RANDOM_H

#include <glib.h>

/*
 * A number of @width bits (0..64; more are 64). Half of them have long runs
 * of equal bits at the top, which are what compression is about.
 */
static inline uint64_t etrace_random_bits(unsigned width)
{
    uint64_t v = (uint64_t)(uint32_t)g_test_rand_int() << 32 |
                 (uint32_t)g_test_rand_int();

    if (g_test_rand_bit()) {
        v = (int64_t)v >> g_test_rand_int_range(0, 64);
    }
    return width >= 64 ? v : v & ((1ull << width) - 1);
}

#endif /* TESTS_UNIT_ETRACE_RANDOM_H */
