/*
 * Coroutines, which are switched by jumps of several kinds, in the middle of
 * whatever they do; now and then one is left and begun anew.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdbool.h>
#include "walk.h"

#define STACK       (32 * 1024)

static uint8_t stacks[MEMBERS][STACK] __attribute__((aligned(16)));
static Member *const members[] = { EACH_MEMBER };
static struct walk walks[MEMBERS];
struct context contexts[MEMBERS];
unsigned now, left = ROUNDS;

void prepare(unsigned i)
{
    walks[i] = (struct walk) {
        .random = (walks[i].random + 1) * 0x9e3779b9u + i,
    };
    contexts[i] = (struct context) {
        .ra = (xlen_t)co_begin,
        .sp = (xlen_t)stacks[i + 1],
        .s = { (xlen_t)&walks[i], (xlen_t)members[i] },
    };
}

void begin(void)
{
    struct context none;

    for (unsigned i = 0; i < MEMBERS; i++) {
        prepare(i);
    }
    switch_ret_switching(&none, &contexts[0]);
}
