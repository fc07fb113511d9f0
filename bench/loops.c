/*
 * Bare-metal programs to measure what recording and tracing cost
 *
 * LOOP     0 calls and branches (recursion, insertion sort), 1 a tight loop,
 *          2 indirect calls, 3 an interpreter
 * PERCENT  of the usual amount of work, divided among the harts
 * HARTS    that many of them start here
 * MCTRCTL  is written to mctrctl before; undefined: the hart has no CTR
 * FILTERED the harts' trace encoders filter
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdint.h>
#include "work.h"

#define STRING_(x) #x
#define STRING(x) STRING_(x)

#define TEST_DEVICE ((volatile uint32_t *)0x100000)
#define TEST_PASS 0x5555
#define TEST_FAIL 0x13333       /* QEMU's exit status: 1 */

static volatile uint64_t result;
static unsigned finished;

static uint64_t work(void)
{
    uint64_t x = 0;

    for (unsigned i = 0; i < PERCENT; i++) {
        unsigned share = HARTS;

        __asm__ volatile("" : "+r"(share));     /* compute it again */
        x += LOOP == 0 ? calls(120 / share) :
             LOOP == 1 ? tight(20000000 / share) :
             LOOP == 2 ? indirect(1000000 / share) : interpret(8 / share);
    }
    return x;
}

/* A benchmark of recording that records nothing must not look fast. */
static void power_off_unless_recorded(void)
{
#ifdef MCTRCTL
    if (MCTRCTL & 7) {
        uint64_t source;

        __asm__ volatile("csrw 0x34e, zero\n"   /* mctrctl */
                         "csrw 0x150, %1\n"     /* siselect */
                         "csrr %0, 0x151"       /* sireg: ctrsource 0 */
                         : "=r"(source) : "r"(0x200ul));
        if (!(source & 1)) {
            *TEST_DEVICE = TEST_FAIL;
        }
    }
#endif
}

/* A filter that lets all through: privilege U, S or M, instruction trace */
static void filter(void)
{
#ifdef FILTERED
    volatile uint32_t *encoder = (volatile uint32_t *)0x3020000;
    uint64_t hart;

    __asm__ volatile("csrr %0, mhartid" : "=r"(hart));
    encoder += hart * 0x1000 / 4;
    encoder[0x404 / 4] = 1 << 0 | 1 << 1 | 1 << 3;  /* trTeFilter0MatchInst */
    encoder[0x400 / 4] = 1 << 0 | 1 << 1;           /* trTeFilter0Control */
    encoder[0x00c / 4] = 1 << 0;                    /* trTeInstFilters */
    if (encoder[0x00c / 4] != 1) {
        *TEST_DEVICE = TEST_FAIL;
    }
#endif
}

void run(void)
{
    filter();
#ifdef MCTRCTL
    __asm__ volatile("csrw 0x15f, %0" : : "r"(4ul));    /* depth 256 */
    __asm__ volatile("csrw 0x34e, %0" : : "r"((uint64_t)MCTRCTL));
#endif
    result = work();
    power_off_unless_recorded();
    if (__atomic_add_fetch(&finished, 1, __ATOMIC_SEQ_CST) == HARTS) {
        *TEST_DEVICE = TEST_PASS;
    }
    for (;;) {
        __asm__ volatile("wfi");
    }
}

__asm__(".section .text.start, \"ax\"\n"
        ".globl _start\n"
        "_start: csrr t0, mhartid\n"
        "    slli t0, t0, 14\n"
        "    la sp, stacks + 16384\n"
        "    add sp, sp, t0\n"
        "    call run\n"
        ".bss\n"
        ".balign 16\n"
        "stacks: .space 16384 * " STRING(HARTS) "\n"
        ".text\n");
