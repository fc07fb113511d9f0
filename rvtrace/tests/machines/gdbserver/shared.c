/*
 * Two harts that share variables, with a lock and without: each does something
 * with one of them, works for a while, most often a short one, and goes on.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "guest.h"

#define ROUNDS      150

/* mtime of the CLINT */
#define TIME        (*(volatile uint64_t *)0x200bff8)

typedef struct Shared {
    int raced;                  /* without a lock */
    int locked;
    int lock;
    int counter;                /* by atomics */
    char flags[8];              /* one of each hart, with nothing in between */
    long posted[2];             /* one hart writes, the other one reads */
    short halves[4];
} Shared;

volatile Shared shared;
volatile int own[2][16];
static volatile int done;

static unsigned random(unsigned *seed)
{
    return (*seed = *seed * 1103515245 + 12345) >> 16 & 0x7fff;
}

static void work(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        asm volatile("");
    }
}

static void count_locked(void)
{
    while (__atomic_exchange_n(&shared.lock, 1, __ATOMIC_ACQUIRE)) {
    }
    shared.locked++;
    __atomic_store_n(&shared.lock, 0, __ATOMIC_RELEASE);
}

static void count_raced(unsigned n)
{
    int old = shared.raced;

    work(n);
    shared.raced = old + 1;
}

static void run(unsigned hart)
{
    unsigned seed = hart + 7, what;

    for (unsigned i = 0; i < ROUNDS; i++) {
#ifdef TIME_GOES_BACK
        if (!hart && i == ROUNDS / 2) {
            TIME = 0;
        }
#endif
        what = random(&seed);
        switch (what % 7) {
        case 0:
            count_raced(what & 63);
            break;
        case 1:
            count_locked();
            break;
        case 2:
            __atomic_fetch_add(&shared.counter, 1, __ATOMIC_SEQ_CST);
            break;
        case 3:
            shared.flags[hart]++;
            break;
        case 4:
            shared.posted[hart] = i;
            break;
        case 5:
            own[hart][i % 16] = shared.posted[!hart];
            break;
        default:
            shared.halves[what & 3] += 3;
            break;
        }
        own[hart][what & 15]++;
        work(what % 8 ? what & 255 : 4 * (what & 4095));
    }
    __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
    while (done != 2) {
    }
}

void secondary(void)
{
    run(1);
    for (;;) {
        asm volatile("wfi");
    }
}

int main(void)
{
    run(0);
    pass();
}
