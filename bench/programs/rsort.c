/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorting by digits of four bits */
#include "program.h"

#define N 2048
#define BITS 4

static uint32_t values[N], spare[N];

static void pass(const uint32_t *from, uint32_t *to, int shift)
{
    uint32_t place[1 << BITS] = { 0 }, sum = 0;

    for (int i = 0; i < N; i++) {
        place[from[i] >> shift & ((1 << BITS) - 1)]++;
    }
    for (int i = 0; i < 1 << BITS; i++) {
        uint32_t n = place[i];

        place[i] = sum;
        sum += n;
    }
    for (int i = 0; i < N; i++) {
        to[place[from[i] >> shift & ((1 << BITS) - 1)]++] = from[i];
    }
}

const uint32_t program_sum = 0x0e4b948f;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            values[i] = next_random();
        }
        for (int shift = 0; shift < 32; shift += 2 * BITS) {
            pass(values, spare, shift);
            pass(spare, values, shift + BITS);
        }
        for (int i = 1; i < N; i++) {
            sum += values[i - 1] > values[i];
        }
        sum = mix(sum, values[N / 3]);
    }
    return sum;
}
