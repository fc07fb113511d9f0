/*
 * Handlers of signals, each of which begins as often as the program says
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

static sigjmp_buf out;
static volatile sig_atomic_t nested;
static volatile sig_atomic_t returned, left, inner, ticked;
static volatile long asked;

NOINLINE static void on_return(int sig)
{
    returned++;
}

/* It is left by a jump. */
NOINLINE static void on_fault(int sig)
{
    left++;
    siglongjmp(out, 1);
}

NOINLINE static void on_inner(int sig)
{
    inner++;
}

NOINLINE static void on_outer(int sig)
{
    nested++;
    raise(SIGUSR2);
}

/* It comes at any place. */
NOINLINE static void on_tick(int sig)
{
    ticked++;
}

NOINLINE static void crash(volatile int *p)
{
    *p = 1;
}

static void handle(int sig, void (*handler)(int))
{
    struct sigaction action = { .sa_handler = handler };

    sigaction(sig, &action, NULL);
}

int main(void)
{
    struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { { 0 } };
    struct timespec now;

    handle(SIGUSR1, on_return);
    for (int i = 0; i < 300; i++) {
        raise(SIGUSR1);
    }
    handle(SIGSEGV, on_fault);
    for (volatile int i = 0; i < 70; i++) {
        if (!sigsetjmp(out, 1)) {
            crash(NULL);
        }
    }
    handle(SIGUSR1, on_outer);
    handle(SIGUSR2, on_inner);
    for (int i = 0; i < 40; i++) {
        raise(SIGUSR1);
    }
    handle(SIGALRM, on_tick);
    setitimer(ITIMER_REAL, &often, NULL);
    while (ticked < 50) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        asked += now.tv_nsec;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("loaded: calls on_return %d\nloaded: calls on_fault %d\n"
           "loaded: calls on_outer %d\nloaded: calls on_inner %d\n"
           "loaded: calls on_tick %d\n", (int)returned, (int)left,
           (int)nested, (int)inner, (int)ticked);
    return 0;
}
