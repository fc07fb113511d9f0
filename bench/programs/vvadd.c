/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of vectors */
#include "program.h"

#define N 500

static uint32_t a[N], b[N], c[N];

static void add(int n)
{
    for (int i = 0; i < n; i++) {
        c[i] = a[i] + b[i];
    }
}

const uint32_t program_sum = 0x6d348e3e;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int i = 0; i < N; i++) {
        a[i] = next_random();
        b[i] = next_random();
    }
    for (int round = 0; round < 200; round++) {
        add(N);
        a[round] = c[N - 1 - round];
        sum = mix(sum, c[round]);
    }
    return sum;
}
