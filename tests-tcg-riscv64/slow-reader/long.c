/*
 * Calls, branches that nobody can predict and stores, for a while
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "guest.h"

#ifndef ROUNDS
#define ROUNDS 500000
#endif

static uint32_t state = 1;
static uint32_t table[64];

static uint32_t next_random(void)
{
    state = state * 1664525 + 1013904223;
    return state >> 16;
}

static uint32_t twice(uint32_t x)
{
    return 2 * x;
}

static uint32_t half(uint32_t x)
{
    return x / 2;
}

int main(void)
{
    /* volatile: calls through it stay indirect */
    static uint32_t (*volatile const functions[])(uint32_t) = { twice, half };

    for (int i = 0; i < ROUNDS; i++) {
        uint32_t r = next_random();

        for (; r & 1; r >>= 1) {
            table[r % 64]++;
        }
        table[r % 64] += functions[r / 2 % 2](i);
    }
    pass_asleep();
}
