/*
 * Works until a byte comes from the UART: it can be moved at any time, and is
 * in the middle of something
 *
 * In S-mode, with code at two virtual addresses: calls, branches that nobody
 * can predict, accesses of every size, atomics, traps that S-mode handles and
 * such that M-mode does, code that is written anew.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "guest.h"

#define SATP_SV39       (8UL << 60)
#define GIGAPAGE        (1UL << 30)
/* V, R, W, X, A, D */
#define PTE_ALL         0xcf
#define MEMORY          0x80000000UL
#ifndef ALIAS
#define ALIAS           0x40000000UL    /* of MEMORY */
#endif

typedef struct Work {
    uint32_t state;
    uint8_t bytes[64];
    uint64_t words[64];
    uint64_t sum;
} Work;

static xlen_t root[512] __attribute__((aligned(4096)));
static uint32_t code[4096 / 4] __attribute__((aligned(4096)));
/* volatile: harts wait for each other */
static volatile uint32_t done, ready;

/* Both go on behind the instruction that trapped, which has 4 bytes. */

static __attribute__((naked, aligned(4))) void m_skip(void)
{
    asm volatile("csrw mscratch, t0\n"
                 "csrr t0, mepc\n"
                 "addi t0, t0, 4\n"
                 "csrw mepc, t0\n"
                 "csrr t0, mscratch\n"
                 "mret");
}

static __attribute__((naked, aligned(4))) void s_skip(void)
{
    asm volatile("csrw sscratch, t0\n"
                 "csrr t0, sepc\n"
                 "addi t0, t0, 4\n"
                 "csrw sepc, t0\n"
                 "csrr t0, sscratch\n"
                 "sret");
}

static uint32_t next_random(Work *w)
{
    w->state = w->state * 1664525 + 1013904223;
    return w->state >> 16;
}

static __attribute__((noinline)) uint64_t accesses(Work *w, uint64_t r)
{
    uint32_t old;

    w->bytes[r % 64] += r;
    w->words[r % 64] ^= w->words[(r >> 6) % 64] + r;
    asm volatile("sh %1, %0"
                 : "=m"(*(uint16_t *)&w->words[(r >> 3) % 64]) : "r"(r));
    asm volatile("amoadd.w %0, %2, %1"
                 : "=r"(old), "+A"(*(uint32_t *)&w->words[5]) : "r"(r));
    asm volatile("1: lr.d %0, %1\n"
                 "   addi %0, %0, 3\n"
                 "   sc.d %0, %0, %1\n"
                 "   bnez %0, 1b"
                 : "=&r"(r), "+A"(w->words[9]));
    return old;
}

static __attribute__((noinline)) uint64_t traps(Work *w, uint64_t r)
{
    if (r & 8) {
        asm volatile("ecall");
    } else {
        asm volatile(".option push\n.option norvc\nebreak\n.option pop");
    }
    return w->words[r % 64];
}

static __attribute__((noinline)) uint64_t recursion(Work *w, uint64_t r)
{
    return r & 7 ? recursion(w, r - 1) + w->bytes[r % 64] : r;
}

typedef uint64_t Function(Work *w, uint64_t r);

static void work(Work *w)
{
    /* volatile: calls through it stay indirect */
    static Function *volatile const functions[] = {
        accesses, traps, recursion, accesses
    };
    uint32_t r = next_random(w);
    xlen_t to = (xlen_t)functions[r & 3];

    for (unsigned int bits = r; bits & 1; bits >>= 1) {
        w->sum++;
    }
    /* The same code, sometimes at its other address */
    w->sum += ((Function *)(r & 4 ? to : to - MEMORY + ALIAS))(w, r >> 3);
}

/* A function that is another one each time */
static void written(Work *w, unsigned int n)
{
    code[0] = 0x00050513 | n % 1024 << 20;      /* addi a0, a0, n */
    code[1] = 0x00008067;                       /* ret */
    asm volatile("fence.i" : : : "memory");
    w->sum += ((xlen_t (*)(xlen_t))(xlen_t)code)(w->sum) - w->sum;
}

static void to_s_mode(void)
{
    csr_write(pmpaddr0, -1);
    csr_write(pmpcfg0, 0x1f);
    csr_write(mtvec, m_skip);
    csr_write(stvec, s_skip);
    csr_write(medeleg, 1 << CAUSE_BREAKPOINT);
    csr_write(satp, SATP_SV39 | (xlen_t)root >> 12);
    asm volatile("sfence.vma" : : : "memory");
    csr_clear(mstatus, MSTATUS_MPP);
    csr_set(mstatus, MPP_S);
    asm volatile("la t0, 1f\n"
                 "csrw mepc, t0\n"
                 "mret\n"
                 "1:" : : : "t0", "memory");
}

void secondary(void)
{
    static Work w = { .state = 2 };

    while (!ready) {
        ;
    }
    to_s_mode();
    while (!done) {
        work(&w);
    }
    done = 2;
    while (1) {
        asm volatile("wfi");
    }
}

int main(void)
{
    static Work w = { .state = 1 };
    static const xlen_t memory = MEMORY / 4 | PTE_ALL;

    root[0] = PTE_ALL;
    root[ALIAS / GIGAPAGE] = memory;
    root[MEMORY / GIGAPAGE] = memory;
    asm volatile("fence" : : : "memory");
    ready = 1;
    to_s_mode();
    print("ready\n");
    for (unsigned int n = 0; !uart_has_byte(); n++) {
        for (int i = 0; i < 100; i++) {
            work(&w);
        }
        written(&w, n);
    }
    done = 1;
    pass();
}
