/*
 * What the processes of suite.c have in common: gcov knows how often each line
 * ran.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "counted.h"

static int collatz(int n)
{
    int steps = 0;

    while (n != 1) {
        if (n & 1) {
            n = 3 * n + 1;
        } else {
            n /= 2;
        }
        steps++;
    }
    return steps;
}

static int sign(int n)
{
    if (n < 0) {
        return -1;
    }
    return n > 0;
}

int counted(int kind, int n)
{
    switch (kind) {
    case COUNTED_STEPS:
        return collatz(n);
    case COUNTED_SIGN:
        return sign(n);
    case COUNTED_NEVER:
        n = 0;
        break;
    }
    for (int i = 0; i < 3; i++) {
        n += i;
    }
    return n;
}
