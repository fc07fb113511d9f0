/*
 * Contexts of the C library: coroutine.c's coroutines, which swapcontext()
 * switches
 *
 * contexts ROUNDS
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdbool.h>
#include <stdlib.h>
#include <ucontext.h>
#include "walk.h"

#define STACK   (64 * 1024)

static uint8_t stacks[MEMBERS][STACK] __attribute__((aligned(16)));
static Member *const members[] = { EACH_MEMBER };
static struct walk walks[MEMBERS];
static ucontext_t waiting[MEMBERS];
/* Only their places count. */
struct context contexts[MEMBERS];
unsigned now, left;

void pass(void)
{
    exit(0);
}

void switch_ucontext(struct context *from, struct context *to)
{
    swapcontext(&waiting[from - contexts], &waiting[to - contexts]);
}

void prepare(unsigned i)
{
    ucontext_t *u = &waiting[i];

    walks[i] = (struct walk) {
        .random = (walks[i].random + 1) * 0x9e3779b9u + i,
    };
    getcontext(u);
    u->uc_stack.ss_sp = stacks[i];
    u->uc_stack.ss_size = STACK;
    makecontext(u, (void (*)(void))members[i], 1, &walks[i]);
}

int main(int argc, char **argv)
{
    left = atoi(argv[1]);
    for (unsigned i = 0; i < MEMBERS; i++) {
        prepare(i);
    }
    setcontext(&waiting[0]);
    return 1;
}
