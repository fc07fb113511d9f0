/*
 * Two threads: what one has read, the other one changes, and no system call
 * tells the first one so
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <pthread.h>

volatile long shared, done, own, seen;

static void *other(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        shared++;
    }
    done = 1;
    return 0;
}

__attribute__((noinline)) static void look(void)
{
    __asm__ volatile("nop");
}

int main(void)
{
    volatile long local = 7;
    pthread_t thread;

    shared = 5;
    pthread_create(&thread, 0, other, 0);
    seen = shared;
    for (own = 0; !done; own++) {
    }
    look();
    return shared == 1005 && local == 7 ? 0 : 1;
}
