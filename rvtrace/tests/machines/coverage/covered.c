/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program of which much, but not all, runs: on the bare machine, and on this
 * one, where gcov says what did.
 */
#ifdef HOST
#include <stdio.h>
#else
#include "guest.h"
#endif

typedef int Operation(int a, int b);

static int table[32];
/* volatile: so that compilers do not know it */
static volatile int limit = 20;

static inline int clamp(int v, int most)
{
    if (v > most) {
        v = most;
    } else if (v < -most) {
        v = -most;
    }
    return v;
}

static int add(int a, int b)
{
    return clamp(a + b, 1000);
}

static int subtract(int a, int b)
{
    return clamp(a - b, 1000);
}

static int divide(int a, int b)
{
    if (b == 0) {
        return 0;
    }
    return a / b;
}

static Operation *const operations[] = { add, subtract, divide };

static int apply(int which, int a, int b)
{
    if (which < 2) {
        return operations[which](a, b);
    } else if (which == 2) {
        table[31]++;
        return operations[2](a, b);
    } else if (which > 3) {
        table[30]++;
        return 0;
    }
    return a == b ? 1 :
           -1;
}

static __attribute__((noinline)) int never(int a)
{
    for (int i = 0; i < a; i++) {
        table[i] = 0;
    }
    return a;
}

static int search(int value)
{
    for (int i = 0; i < limit; i++) {
        if (table[i] == value) {
            return i;
        }
        if (table[i] < 0 &&
            limit > 100000) {
            return never(i);
        }
    }
    return -1;
}

static int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < limit; i++) {
        table[i] = apply(i % 4, i * 7, i - 5);
    }
    for (int i = 0; i < 50; i++) {
        sum = add(sum, search(i));
    }
    do {
        sum = subtract(sum, fibonacci(10));
    } while (sum > 0);
#ifdef HOST
    printf("%d\n", sum);
    return 0;
#else
    pass_asleep();
#endif
}
