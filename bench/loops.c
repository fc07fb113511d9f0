/*
 * Bare-metal loops to measure what recording and tracing cost
 *
 * LOOP: 0 calls and branches (recursion, insertion sort), 1 a tight loop,
 * 2 indirect calls. MCTRCTL: written to mctrctl before, unless negative.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdint.h>

static volatile uint64_t result;

static __attribute__((noinline)) uint64_t fibonacci(uint64_t n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __attribute__((noinline)) uint64_t sort(unsigned rounds)
{
    static uint64_t a[256];
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

void run(void)
{
#if MCTRCTL >= 0
    __asm__ volatile("csrw 0x15f, %0" : : "r"(4ul));     /* depth 256 */
    __asm__ volatile("csrw 0x34e, %0" : : "r"((uint64_t)MCTRCTL));
#endif
    result = LOOP == 0 ? fibonacci(36) + sort(1500) :
             LOOP == 1 ? tight(1000000000) : indirect(50000000);
    *(volatile uint32_t *)0x100000 = 0x5555;    /* power off */
    for (;;) {
        __asm__ volatile("wfi");
    }
}

__asm__(".section .text.start, \"ax\"\n"
        ".globl _start\n"
        "_start: la sp, stack_top\n"
        "    call run\n"
        ".bss\n"
        ".balign 16\n"
        ".space 65536\n"
        "stack_top:\n"
        ".text\n");
