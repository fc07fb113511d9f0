/*
 * Threads that go from hart to hart, at any depth of calls
 *
 * wander ROUNDS
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include "walk.h"

#define THREADS 5

static unsigned rounds;

void pass(void)
{
    exit(0);
}

static void go_to(unsigned cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set)) {
        abort();
    }
}

/* Now and then, in the middle of a walk */
static void move(struct walk *w)
{
    if (!walk_pick(w, 8)) {
        go_to(walk_pick(w, 2));
    } else if (!walk_pick(w, 4)) {
        sched_yield();
    }
}

static void *thread(void *seed)
{
    struct walk w = {
        .random = (uintptr_t)seed * 0x9e3779b9u + 1,
        .depth = 12,
        .pause = move,
    };

    for (unsigned i = 0; i < rounds; i++) {
        walk_any(&w);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];

    rounds = atoi(argv[1]);
    for (uintptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, thread, (void *)i)) {
            abort();
        }
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
