/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs of equal bytes as a byte and a count, and back */
#include "program.h"

#define N 4000

static uint8_t text[N], packed[2 * N], unpacked[N];

static int pack(void)
{
    int n = 0;

    for (int i = 0; i < N;) {
        int run = 1;

        while (i + run < N && run < 255 && text[i + run] == text[i]) {
            run++;
        }
        packed[n++] = run;
        packed[n++] = text[i];
        i += run;
    }
    return n;
}

static int unpack(int n)
{
    int at = 0;

    for (int i = 0; i < n; i += 2) {
        for (int run = packed[i]; run > 0 && at < N; run--) {
            unpacked[at++] = packed[i + 1];
        }
    }
    return at;
}

const uint32_t program_sum = 0x5f9993b9;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int round = 0; round < 12; round++) {
        int at = 0, n;

        while (at < N) {
            uint32_t r = next_random();
            uint8_t byte = r >> 24;

            for (int run = (r & 15) + 1; run > 0 && at < N; run--) {
                text[at++] = byte;
            }
        }
        n = pack();
        sum = mix(mix(sum, n), unpack(n));
        sum = mix(sum, memcmp(text, unpacked, N) == 0);
    }
    return sum;
}
