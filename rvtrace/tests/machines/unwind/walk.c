/*
 * Random walks through functions of all kinds
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include "walk.h"

#define MAX_DEPTH 12

#define noinline __attribute__((noinline, noclone))

typedef void Step(struct walk *w);
static Step *const steps[];

noinline unsigned walk_pick(struct walk *w, unsigned n)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 17;
    w->random ^= w->random << 5;
    return (w->random >> 8) % n;
}

static noinline void leaf(struct walk *w)
{
    w->sum = w->sum * 5 + 1;
}

static noinline void loop(struct walk *w)
{
    for (unsigned n = walk_pick(w, 20); n; n--) {
        leaf(w);
    }
}

static noinline void nest(struct walk *w)
{
    unsigned n = 1 + walk_pick(w, 3);

    w->depth++;
    while (n--) {
        walk_any(w);
    }
    w->depth--;
}

/* A tail call, where the compiler makes them */
static noinline void tail(struct walk *w)
{
    w->sum++;
    walk_any(w);
}

static noinline void tail_twice(struct walk *w)
{
    w->sum--;
    tail(w);
}

static noinline unsigned odd(struct walk *w, unsigned n);
static noinline unsigned even(struct walk *w, unsigned n)
{
    return n ? odd(w, n - 1) + 1 : w->sum;
}

static noinline unsigned odd(struct walk *w, unsigned n)
{
    leaf(w);
    return n ? even(w, n - 1) * 3 : w->sum;
}

static noinline void mutual(struct walk *w)
{
    w->sum += even(w, walk_pick(w, 15));
}

noinline unsigned walk_down(struct walk *w, unsigned depth)
{
    unsigned below = depth ? walk_down(w, depth - 1) : walk_pick(w, 9);

    return below * 7 + depth;
}

static noinline void recurse(struct walk *w)
{
    w->sum += walk_down(w, walk_pick(w, 30));
}

/* volatile: all of it is to be done */
static noinline void fill(volatile uint8_t *bytes, unsigned n)
{
    for (unsigned i = 0; i < n; i += 13) {
        bytes[i] = i;
    }
}

/* Stack pointers that are known to s0 alone */
static noinline void variable(struct walk *w)
{
    uint8_t bytes[1 + walk_pick(w, 200)];

    fill(bytes, sizeof(bytes));
    w->depth++;
    walk_any(w);
    w->depth--;
    w->sum += bytes[0];
}

/* More than an addi can add */
static noinline void large(struct walk *w)
{
    uint8_t bytes[2500];

    fill(bytes, sizeof(bytes));
    w->depth += 4;
    walk_any(w);
    w->depth -= 4;
    w->sum += bytes[0];
}

static noinline unsigned add(unsigned n, ...)
{
    unsigned sum = 0;
    va_list list;

    va_start(list, n);
    while (n--) {
        sum += va_arg(list, unsigned);
    }
    va_end(list);
    return sum;
}

static noinline void variadic(struct walk *w)
{
    w->sum += add(9, w->sum, 2, 3, 4, 5, 6, 7, 8, w->depth);
}

/* Many registers to save, but on one way only */
static noinline void wrapped(struct walk *w)
{
    unsigned a, b, c, d, e;

    if (walk_pick(w, 2)) {
        return;
    }
    a = walk_pick(w, 9);
    b = walk_pick(w, 9);
    c = walk_pick(w, 9);
    d = walk_pick(w, 9);
    e = walk_pick(w, 9);
    leaf(w);
    w->sum += a * b - c * d + e;
}

static noinline void choose(struct walk *w)
{
    switch (walk_pick(w, 8)) {
    case 0:
        leaf(w);
        break;
    case 1:
        loop(w);
        break;
    case 2:
        wrapped(w);
        break;
    case 3:
        w->sum += 8;
        break;
    case 4:
        variadic(w);
        break;
    case 5:
        w->sum ^= 3;
        leaf(w);
        break;
    case 6:
        mutual(w);
        break;
    default:
        w->sum *= 3;
    }
}

/* From somewhere below a walk_setjmp() back to it */
static noinline void throw(struct walk *w, unsigned depth)
{
    if (depth) {
        throw(w, depth - 1);
        w->sum++;
        return;
    }
    if (w->outer) {
        longjmp_switching(w->outer, 1);
    }
}

static noinline void catch(struct walk *w)
{
    struct context here, *outer = w->outer;
    unsigned depth = w->depth;

    if (!walk_setjmp(&here)) {
        w->outer = &here;
        w->depth++;
        walk_any(w);
        throw(w, walk_pick(w, 5));
    }
    w->depth = depth;
    w->outer = outer;
    leaf(w);
}

/* Functions whose first or last instruction traps; handlers go on behind it. */
#define FAULTY(name, first, last) \
    static noinline __attribute__((naked)) unsigned name( \
        unsigned v __attribute__((unused))) \
    { \
        asm volatile(WIDE(first "\naddi a0, a0, 1\n" last) "\nret"); \
    }
FAULTY(fault_first, "unimp", "")
FAULTY(fault_last, "", "unimp")
#ifdef __linux__
/* There, an ecall is for the kernel. */
FAULTY(fault_break, "ebreak", "ebreak")
#else
FAULTY(fault_break, "ebreak", "ecall")
#endif
FAULTY(fault_load, "lw t0, 0(zero)", "lw t0, 0(zero)")
/* The jump to nowhere traps there; the handler returns for it. */
FAULTY(fault_jump, "li t0, 0x40", "jr t0")

static noinline void fault(struct walk *w)
{
    static unsigned (*const functions[])(unsigned) = {
        fault_first, fault_last, fault_break, fault_load, fault_jump,
    };

    if (w->faults) {
        w->sum += functions[walk_pick(w, 5)](w->sum);
    }
}

static noinline void pause(struct walk *w)
{
    if (w->pause) {
        w->pause(w);
    }
}

static Step *const steps[] = {
    leaf, loop, mutual, recurse, variadic, wrapped, choose, fault, pause,
    /* from here on those that call more */
    nest, nest, nest, tail, tail_twice, variable, large, catch,
};
#define SIMPLE 9

noinline void walk_any(struct walk *w)
{
    unsigned n = w->depth < MAX_DEPTH ? sizeof(steps) / sizeof(steps[0]) :
                 SIMPLE;

    steps[walk_pick(w, n)](w);
}
