/*
 * A program of which all is known: how often its functions are called
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>

#define FUNCTION static __attribute__((noinline, noclone, noipa))

FUNCTION unsigned mix(unsigned x)
{
    for (int i = 0; i < 50; i++) {
        x = (x << 5) ^ (x >> 3) ^ i;
    }
    return x;
}

FUNCTION int compare(const void *a, const void *b)
{
    const unsigned *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

FUNCTION unsigned fill(unsigned *table, unsigned n)
{
    unsigned x = n;

    for (unsigned i = 0; i < n; i++) {
        table[i] = x = mix(x);
    }
    return x;
}

int main(void)
{
    enum { N = 1000 };
    unsigned *table = malloc(N * sizeof(*table)), sum = 0;

    for (int i = 0; i < 4; i++) {
        sum += fill(table, N);
        qsort(table, N, sizeof(*table), compare);
    }
    printf("%u %u\n", sum, table[7]);
    free(table);
    return 0;
}
