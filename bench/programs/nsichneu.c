/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A Petri net as code: a long row of conditions on few variables */
#include "program.h"

static int16_t place[32];

#define TRANSITION(i, from, to, with, limit)                            \
    if (place[from] >= 1 && place[to] < (limit) &&                      \
        place[with] != place[to]) {                                     \
        int16_t t = place[from] - 1;                                    \
                                                                        \
        if (t > (i) % 5 || place[with] > 0) {                           \
            place[to] += 1;                                             \
            place[from] = t;                                            \
            fired++;                                                    \
        }                                                               \
    }
#define FOUR(i)                                                         \
    TRANSITION(i, (i) % 32, ((i) * 7 + 3) % 32, ((i) * 5 + 1) % 32, 4)  \
    TRANSITION(i + 1, ((i) * 3 + 1) % 32, ((i) + 9) % 32,               \
               ((i) * 11 + 2) % 32, 5)                                  \
    TRANSITION(i + 2, ((i) * 13 + 5) % 32, ((i) * 3 + 8) % 32,          \
               ((i) + 17) % 32, 3)                                      \
    TRANSITION(i + 3, ((i) * 9 + 4) % 32, ((i) * 15 + 6) % 32,          \
               ((i) * 7 + 4) % 32, 6)
#define SIXTEEN(i) FOUR(i) FOUR(i + 4) FOUR(i + 8) FOUR(i + 12)

static int step(void)
{
    int fired = 0;

    SIXTEEN(0)
    SIXTEEN(16)
    SIXTEEN(32)
    SIXTEEN(48)
    return fired;
}

const uint32_t program_sum = 0x9b19d556;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int i = 0; i < 1200; i++) {
        place[i % 32] += 1 + (i & 1);
        sum = mix(sum, step());
    }
    for (int i = 0; i < 32; i++) {
        sum = mix(sum, place[i]);
    }
    return sum;
}
