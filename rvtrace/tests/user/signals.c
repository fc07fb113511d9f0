/*
 * A program with faults, signals of a timer, and code that it makes itself
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#define ROUNDS 20       /* user.py knows it, too */

static sigjmp_buf out;
static volatile int ticks;

static void on_tick(int sig)
{
    ticks++;
}

static void on_fault(int sig)
{
    siglongjmp(out, 1);
}

static void faults(void)
{
    for (volatile int i = 0; i < ROUNDS; i++) {
        if (!sigsetjmp(out, 1)) {
            *(volatile int *)(intptr_t)(8 * i) = 1;
        }
    }
    for (volatile int i = 0; i < ROUNDS; i++) {
        if (!sigsetjmp(out, 1)) {
            asm volatile(".word 0");
        }
    }
    for (volatile int i = 0; i < ROUNDS; i++) {
        if (!sigsetjmp(out, 1)) {
            asm volatile("ebreak");
        }
    }
}

/* The same address has other code each time. */
static int makes_code(void)
{
    uint32_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int sum = 0;

    for (int i = 0; i < 50; i++) {
        int (*made)(void) = (int (*)(void))code;

        code[0] = 0x00000513 | i << 20;     /* li a0, i */
        code[1] = 0x00008067;               /* ret */
        __builtin___clear_cache((char *)code, (char *)(code + 2));
        sum += made();
    }
    return sum;
}

static double computes(void)
{
    volatile double x = 0;

    for (int i = 0; i < 300000; i++) {
        x += i % 7;
    }
    return x;
}

/* With an argument, it crashes; with two, it has no faults. */
int main(int argc, char **argv)
{
    struct itimerval timer = { { 0, 2000 }, { 0, 2000 } };

    if (argc == 2) {
        *(volatile int *)(intptr_t)8 = 1;
    }
    signal(SIGALRM, on_tick);
    signal(SIGSEGV, on_fault);
    signal(SIGILL, on_fault);
    signal(SIGTRAP, on_fault);
    setitimer(ITIMER_REAL, &timer, NULL);
    if (argc < 3) {
        faults();
    }
    printf("%d %g\n", makes_code(), computes());
    memset(&timer, 0, sizeof(timer));
    setitimer(ITIMER_REAL, &timer, NULL);
    return !ticks;
}
