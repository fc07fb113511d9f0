/*
 * Threads that come and go, while one of them replaces code again and again,
 * and the program ends without waiting for any
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define SPAWNERS    4
#define LI_A0(n)    ((uint32_t)(n) << 20 | 0x513)
#define RET         0x8067

static int spawners;

static void *nothing(void *opaque)
{
    return opaque;
}

static void *spawn(void *opaque)
{
    pthread_attr_t detached;
    pthread_t thread;

    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&detached, 1 << 16);
    __atomic_add_fetch(&spawners, 1, __ATOMIC_RELAXED);
    for (;;) {
        pthread_create(&thread, &detached, nothing, NULL);
    }
    return opaque;
}

int main(void)
{
    volatile uint32_t *code = mmap(NULL, 4096,
                                   PROT_READ | PROT_WRITE | PROT_EXEC,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;

    code[1] = RET;
    for (int i = 0; i < SPAWNERS; i++) {
        pthread_create(&thread, NULL, spawn, NULL);
    }
    while (__atomic_load_n(&spawners, __ATOMIC_RELAXED) < SPAWNERS) {
        sched_yield();
    }
    for (int i = 0; i < 200; i++) {
        code[0] = LI_A0(i);
        asm volatile("fence.i" ::: "memory");
        if (((int (*)(void))code)() != i) {
            return 1;
        }
    }
    _exit(0);
}
