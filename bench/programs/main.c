/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runs a program on the machine, and the few library functions. */
#include "guest.h"
#include "program.h"

/* The compiler would make calls of the functions themselves of the loops. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

void *memcpy(void *to, const void *from, size_t n)
{
    unsigned char *t = to;
    const unsigned char *f = from;

    while (n--) {
        *t++ = *f++;
    }
    return to;
}

void *memset(void *to, int value, size_t n)
{
    unsigned char *t = to;

    while (n--) {
        *t++ = value;
    }
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *p = a, *q = b;

    for (; n--; p++, q++) {
        if (*p != *q) {
            return *p - *q;
        }
    }
    return 0;
}

size_t strlen(const char *s)
{
    size_t n = 0;

    while (s[n]) {
        n++;
    }
    return n;
}

int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

uint32_t next_random(void)
{
    static uint32_t seed = 2463534242u;

    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

int main(void)
{
    uint32_t sum;

    csr_set(mstatus, 1 << 13);      /* FS: initial */
    sum = program();
    if (sum != program_sum) {
        print_hex(sum);
        fail(__LINE__);
    }
    pass_asleep();
}
