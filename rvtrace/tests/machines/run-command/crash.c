/*
 * A program that reads where nothing is, in a function that others have called
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stddef.h>

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

    return check(list) + check(NULL) ? 0 : 1;
}
