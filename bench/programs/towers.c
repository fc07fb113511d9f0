/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The towers of Hanoi, with the discs in lists */
#include "program.h"

#define DISCS 10

typedef struct Disc {
    struct Disc *below;
    int size;
} Disc;

static Disc discs[DISCS], *tower[3];
static uint32_t moves, sum, wrong;

static void push(int t, Disc *disc)
{
    if (tower[t] && tower[t]->size < disc->size) {
        wrong++;
    }
    disc->below = tower[t];
    tower[t] = disc;
}

static Disc *pop(int t)
{
    Disc *disc = tower[t];

    tower[t] = disc->below;
    return disc;
}

static void move(int n, int from, int to, int over)
{
    if (n > 1) {
        move(n - 1, from, over, to);
    }
    push(to, pop(from));
    moves++;
    sum = mix(sum, from * 3 + to);
    if (n > 1) {
        move(n - 1, over, to, from);
    }
}

const uint32_t program_sum = 0x2d515ff0;

uint32_t program(void)
{
    for (int i = DISCS - 1; i >= 0; i--) {
        discs[i].size = i;
        push(0, &discs[i]);
    }
    for (int round = 0; round < 15; round++) {
        move(DISCS, round % 3, (round + 1) % 3, (round + 2) % 3);
    }
    return mix(mix(sum, moves), wrong);
}
