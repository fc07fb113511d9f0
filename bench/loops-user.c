/*
 * The programs of loops.c, for user mode
 *
 * LOOP     0 calls and branches (recursion, insertion sort), 1 a tight loop,
 *          2 indirect calls, 3 an interpreter
 *
 * The argument says how much of the usual work is done, in percent.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include "work.h"

int main(int argc, char **argv)
{
    unsigned percent = argc > 1 ? atoi(argv[1]) : 100;
    uint64_t x = 0;

    for (unsigned i = 0; i < percent; i++) {
        unsigned share = 1;

        __asm__ volatile("" : "+r"(share));     /* compute it again */
        x += LOOP == 0 ? calls(120 / share) :
             LOOP == 1 ? tight(20000000 / share) :
             LOOP == 2 ? indirect(1000000 / share) : interpret(8 / share);
    }
    printf("%llu\n", (unsigned long long)x);
    return 0;
}
