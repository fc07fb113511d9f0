/*
 * Functions that return values of all kinds: what the interpreter of a trace
 * with data knows, and what it does not, because of how that is rounded
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "guest.h"

#define MSTATUS_FS  0x2000

typedef struct Pair {
    double x, y;
} Pair;

typedef struct Mixed {
    float x;
    int n;
} Mixed;

typedef struct Words {
    long x, y;
} Words;

typedef struct Large {
    long x[4];
} Large;

static volatile double half = 0.5;
static volatile float quarter = 0.25;
static volatile long seven = 7;

#define FUNCTION(type) __attribute__((noinline)) type

/* Known: loaded, or computed from what was loaded */
FUNCTION(double) known_double(void)
{
    return half;
}

FUNCTION(float) known_float(void)
{
    return quarter;
}

FUNCTION(long) known_long(void)
{
    return seven * 3;
}

FUNCTION(char) known_char(void)
{
    return 'a' + seven;
}

FUNCTION(Words) known_words(void)
{
    return (Words) { seven, seven * 2 };
}

FUNCTION(Large) known_large(void)
{
    return (Large) { { seven, seven * 2, 3, 4 } };
}

FUNCTION(long long) known_long_long(void)
{
    return (long long)seven << 32 | seven;
}

FUNCTION(double) computed_double(void)
{
    return half * 3;
}

FUNCTION(float) computed_float(void)
{
    return quarter * 3;
}

FUNCTION(long) computed_long(void)
{
    return (long)(half * 30);
}

FUNCTION(Pair) computed_pair(void)
{
    return (Pair) { half, half * 3 };
}

FUNCTION(Mixed) computed_mixed(void)
{
    return (Mixed) { quarter * 3, 7 };
}

/* Not known: to the nearest, ties away from 0 */
static inline double times(double a, double b)
{
    double product;

    asm("fmul.d %0, %1, %2, rmm" : "=f" (product) : "f" (a), "f" (b));
    return product;
}

static inline float times_float(float a, float b)
{
    float product;

    asm("fmul.s %0, %1, %2, rmm" : "=f" (product) : "f" (a), "f" (b));
    return product;
}

FUNCTION(double) unknown_double(void)
{
    return times(half, 3);
}

FUNCTION(float) unknown_float(void)
{
    return times_float(quarter, 3);
}

FUNCTION(long) unknown_long(void)
{
    return (long)(times(half, 30));
}

FUNCTION(Pair) unknown_pair(void)
{
    return (Pair) { half, times(half, 3) };
}

FUNCTION(Mixed) unknown_mixed(void)
{
    return (Mixed) { times_float(quarter, 3), 7 };
}

FUNCTION(Words) unknown_words(void)
{
    return (Words) { seven, (long)(times(half, 30)) };
}

int main(void)
{
    asm volatile("csrs mstatus, %0" : : "r" (MSTATUS_FS));
    known_double();
    known_float();
    known_long();
    known_char();
    known_words();
    known_large();
    known_long_long();
    computed_double();
    computed_float();
    computed_long();
    computed_pair();
    computed_mixed();
    unknown_double();
    unknown_float();
    unknown_long();
    unknown_pair();
    unknown_mixed();
    unknown_words();
    pass();
}
