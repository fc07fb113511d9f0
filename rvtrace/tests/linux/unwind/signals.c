/*
 * Signals: at any instruction, in handlers of others, on the stack of what they
 * interrupt or on one of their own, left by a return or by siglongjmp()
 *
 * signals ROUNDS
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include "walk.h"

#define NOWHERE     0x40        /* where walk.c jumps to */
#define MAX_NESTED  3
#define TICK        900         /* microseconds */

#define noinline    __attribute__((noinline, noclone))

static struct walk own = { .random = 0x1234567 };
static sigjmp_buf out;
static bool can_jump;
static int nested;
static char stack[1 << 16];

static noinline void send(struct walk *w)
{
    static const int signals[] = { SIGUSR1, SIGUSR2, SIGHUP };

    if (nested < MAX_NESTED && !walk_pick(&own, 3)) {
        raise(signals[walk_pick(&own, 3)]);
    }
}

/* A walk in a handler, which ends before the next signal comes */
static noinline void walk_in_handler(void)
{
    struct walk w = {
        .random = walk_pick(&own, 9999) + 1,
        .depth = 10,
        .pause = send,
        .faults = true,
    };

    nested++;
    walk_any(&w);
    nested--;
}

static noinline void on_signal(int number)
{
    walk_in_handler();
}

static noinline void on_own_stack(int number)
{
    walk_in_handler();
}

static noinline void on_tick(int number)
{
    if (nested < MAX_NESTED) {
        walk_in_handler();
    }
}

static noinline void on_jump(int number)
{
    walk_in_handler();
    if (can_jump && nested == 0) {
        can_jump = false;
        siglongjmp(out, 1);
    }
}

/* The instruction that is wrong is left out. */
static noinline void on_fault(int number, siginfo_t *info, void *opaque)
{
    unsigned long *regs = ((ucontext_t *)opaque)->uc_mcontext.__gregs;

    if (regs[REG_PC] == NOWHERE) {
        regs[REG_PC] = regs[REG_RA];
    } else {
        regs[REG_PC] += 4;
    }
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction a = { .sa_handler = handler, .sa_flags = flags };

    sigaction(number, &a, NULL);
}

static noinline void walk_jumping(struct walk *w)
{
    struct walk kept = *w;

    if (!sigsetjmp(out, 1)) {
        can_jump = true;
        walk_any(w);
        raise(SIGHUP);
        can_jump = false;
    } else {
        w->depth = kept.depth;
        w->outer = kept.outer;
    }
}

int main(int argc, char **argv)
{
    struct itimerval often = { { 0, TICK }, { 0, TICK } };
    struct sigaction fault = {
        .sa_sigaction = on_fault,
        .sa_flags = SA_SIGINFO | SA_NODEFER,
    };
    stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
    struct walk w = { .random = 77, .pause = send, .faults = true };

    sigaltstack(&other, NULL);
    handle(SIGUSR1, on_signal, 0);
    handle(SIGUSR2, on_own_stack, SA_ONSTACK);
    handle(SIGHUP, on_jump, SA_ONSTACK);
    handle(SIGALRM, on_tick, 0);
    sigaction(SIGILL, &fault, NULL);
    sigaction(SIGTRAP, &fault, NULL);
    sigaction(SIGSEGV, &fault, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = atoi(argv[1]); i > 0; i--) {
        if (walk_pick(&own, 3)) {
            walk_any(&w);
        } else {
            walk_jumping(&w);
        }
    }
    return 0;
}
