/*
 * What programs to measure do; each function returns what keeps it from being
 * left out
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>
#include "interpreter.h"

static __attribute__((noinline)) uint64_t fibonacci(uint64_t n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __attribute__((noinline)) uint64_t sort(unsigned rounds)
{
    uint64_t a[256];
    uint64_t seed = 12345;

    while (rounds--) {
        for (int i = 0; i < 256; i++) {
            seed = seed * 6364136223846793005ul + 1;
            a[i] = seed >> 40;
        }
        for (int i = 1; i < 256; i++) {
            uint64_t v = a[i];
            int j = i;

            for (; j > 0 && a[j - 1] > v; j--) {
                a[j] = a[j - 1];
            }
            a[j] = v;
        }
    }
    return a[128];
}

static uint64_t calls(unsigned rounds)
{
    uint64_t x = sort(rounds);

    while (rounds--) {
        uint64_t n = 20;

        __asm__ volatile("" : "+r"(n));     /* compute it again */
        x += fibonacci(n);
    }
    return x;
}

static __attribute__((noinline)) uint64_t tight(uint64_t n)
{
    uint64_t x = 0;

    for (uint64_t i = 0; i < n; i++) {
        x += i;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

static __attribute__((noinline)) uint64_t f0(uint64_t x)
{
    return x * 3 + 1;
}

static __attribute__((noinline)) uint64_t f1(uint64_t x)
{
    return x ^ (x >> 3);
}

static __attribute__((noinline)) uint64_t f2(uint64_t x)
{
    return x + 7;
}

static __attribute__((noinline)) uint64_t indirect(uint64_t n)
{
    static uint64_t (*const functions[4])(uint64_t) = { f0, f1, f2, f0 };
    uint64_t x = 1;

    for (uint64_t i = 0; i < n; i++) {
        x = functions[x & 3](x) + i;
    }
    return x;
}

#endif
