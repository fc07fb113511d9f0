/*
 * Functions of libraries, which are bound when they are called first, and which
 * call the program
 *
 * lazy ROUNDS
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdlib.h>

#define NUMBERS 40

#define noinline __attribute__((noinline, noclone))

static noinline int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* programs.py: calls all functions of the library */
unsigned each(unsigned value);

/* ... which call this */
noinline unsigned call_back(unsigned depth, unsigned value)
{
    int numbers[NUMBERS];

    for (unsigned i = 0; i < NUMBERS; i++) {
        value = value * 1103515245 + 12345;
        numbers[i] = value >> 16;
    }
    qsort(numbers, NUMBERS, sizeof(numbers[0]), compare);
    return numbers[depth % NUMBERS];
}

int main(int argc, char **argv)
{
    unsigned value = 1;

    for (int i = atoi(argv[1]); i > 0; i--) {
        value = each(value);
    }
    return value == 0;
}
