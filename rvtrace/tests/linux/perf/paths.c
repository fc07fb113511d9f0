/*
 * paths ROUNDS [SEED]: takes ways that are different every time: calls that
 * nest, calls and jumps through tables, loops, returns, a system call now and
 * then. Prints what it computed.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef unsigned (*Way)(unsigned x, unsigned depth);

static unsigned state;
static Way ways[];

static unsigned any(void)
{
    state = state * 1664525 + 1013904223;
    return state >> 8;
}

__attribute__((noinline))
static unsigned nest(unsigned x, unsigned depth)
{
    return depth ? ways[any() & 3](x + depth, depth - 1) + 1 : x;
}

__attribute__((noinline))
static unsigned loop(unsigned x, unsigned depth)
{
    for (unsigned n = any() & 15; n; n--) {
        x = x & 1 ? 3 * x + 1 : x >> 1;
    }
    return nest(x, depth) ^ depth;
}

__attribute__((noinline))
static unsigned jump(unsigned x, unsigned depth)
{
    switch (any() & 7) {
    case 0:
        x += 7;
        break;
    case 1:
        x ^= 0x55;
        break;
    case 2:
        x = x << 3 | x >> 29;
        break;
    case 3:
        x *= 5;
        break;
    case 4:
        x -= any();
        break;
    case 5:
        x = ~x;
        break;
    case 6:
        x ^= x >> 7;
        break;
    default:
        x = nest(x, depth / 2);
        break;
    }
    return depth ? loop(x, depth - 1) : x;
}

__attribute__((noinline))
static unsigned ask(unsigned x, unsigned depth)
{
    return (any() & 63) == 0 ? x + getppid() : nest(x, depth);
}

static Way ways[] = { nest, loop, jump, ask };

int main(int argc, char **argv)
{
    unsigned sum = 0;

    state = argc > 2 ? atoi(argv[2]) : 1;
    for (int n = argc > 1 ? atoi(argv[1]) : 1000; n > 0; n--) {
        sum += ways[any() & 3](n, 12);
    }
    printf("paths: %u\n", sum);
    return 0;
}
