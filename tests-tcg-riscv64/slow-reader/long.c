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

#ifdef TIMED
/* volatile: registers of the ACLINT */
static volatile uint64_t *const mtimecmp = (uint64_t *)0x2004000;
/* volatile: likewise */
static volatile uint64_t *const mtime = (uint64_t *)0x200bff8;
#endif

int main(void)
{
#ifdef TIMED
    uint64_t start = *mtime;

    /* Never, as far as software is concerned: Linux does that, too. */
    *mtimecmp = UINT64_MAX;
#endif
    /* volatile: calls through it stay indirect */
    static uint32_t (*volatile const functions[])(uint32_t) = { twice, half };

    for (int i = 0; i < ROUNDS; i++) {
        uint32_t r = next_random();

        for (; r & 1; r >>= 1) {
            table[r % 64]++;
        }
        table[r % 64] += functions[r / 2 % 2](i);
    }
#ifdef TIMED
    print_hex(*mtime - start);
#endif
    pass_asleep();
}
