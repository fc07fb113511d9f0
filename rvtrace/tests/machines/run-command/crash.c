/*
 * A program that reads where nothing is, in a function that others have called;
 * with ABORTS, it calls abort() instead, behind other system calls, and with
 * ABORTS=2, one of them is none that Linux has
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef ABORTS
#define ABORTS  0
#endif

static volatile int total;

static __attribute__((noinline)) int sum(const int *list, int n)
{
    total++;
    for (int i = 0; i < n; i++) {
        total += list[i];
    }
    return total;
}

static __attribute__((noinline)) int check(const int *list)
{
    return sum(list, 3) + 1;
}

int main(void)
{
    static const int list[3] = { 1, 2, 3 };

    if (ABORTS) {
        printf("%d\n", check(list));
        fflush(stdout);
        if (ABORTS > 1) {
            syscall(1000);
        }
        abort();
    }
    return check(list) + check(NULL) ? 0 : 1;
}
