/*
 * Tasks that a timer switches at any instruction, in M-mode, S-mode or U-mode
 * (LEVEL 3, 1 or 0), with handlers that are interrupted, too; some of their
 * functions trap, and some yield. With -DSHARED, tasks are also switched while
 * handlers are interrupted, which have the same code for all tasks.
 *
 * M-mode and S-mode handle traps on the stack of the task. With U-mode there is
 * a kernel in S-mode, which has a stack for each task. Below S-mode, M-mode has
 * a stack of its own and only passes the timer on.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdbool.h>
#include "walk.h"
#include "rtos.h"

#define STACK   (32 * 1024)
#define KERNEL  (32 * 1024)

static uint8_t stacks[MEMBERS][STACK] __attribute__((aligned(16)));
static uint8_t kernel[MEMBERS][KERNEL] __attribute__((aligned(16)));
#if LEVEL != 3
static uint8_t monitor[KERNEL] __attribute__((aligned(16)));
#endif
static struct frame *waits[MEMBERS];
static struct walk walks[MEMBERS];
static Member *const members[] = { EACH_MEMBER };
static struct walk own = { .random = 0x1234567 };   /* the handlers' */
unsigned now, left = ROUNDS;
static unsigned nested;

static void allow_interrupts(bool allow)
{
#if LEVEL == 3
    if (allow) {
        csr_set(mstatus, MSTATUS_MIE);
    } else {
        csr_clear(mstatus, MSTATUS_MIE);
    }
#else
    if (allow) {
        csr_set(sstatus, MSTATUS_SIE);
    } else {
        csr_clear(sstatus, MSTATUS_SIE);
    }
#endif
}

static void set_timer(void)
{
    arm_timer(1 + walk_pick(&own, PERIOD));
}

#if LEVEL != 3
/* Passes the timer on to S-mode, which asks for the next by an ecall. */
struct frame *m_handler(struct frame *f, xlen_t cause)
{
    if (cause & INTERRUPT) {
        csr_clear(mie, MIP_MTIP);
        csr_set(mip, MIP_STIP);
    } else {
        csr_clear(mip, MIP_STIP);
        csr_set(mie, MIP_MTIP);
        set_timer();
        f->next += 4;
    }
    return f;
}
#endif

static void next_timer(void)
{
#if LEVEL == 3
    set_timer();
#else
    asm volatile("ecall" : : : "memory");
#endif
}

static struct frame *schedule(struct frame *f)
{
    waits[now] = f;
    now = (now + 1 + walk_pick(&own, MEMBERS - 1)) % MEMBERS;
    RTOS_CURRENT = &rtos_tasks[now];
    return waits[now];
}

static __attribute__((noinline)) struct frame *timer(struct frame *f)
{
    if (!--left) {
        pass();
    }
    next_timer();
    if (nested < 3 && !walk_pick(&own, 4)) {
        struct walk w = { .random = walk_pick(&own, 9999) + 1, .depth = 11 };

        /* The handler can be interrupted, and its task be switched. */
        nested++;
        allow_interrupts(true);
        walk_any(&w);
        allow_interrupts(false);
        nested--;
    }
#ifndef SHARED
    if (nested) {
        return f;
    }
#endif
    return walk_pick(&own, 2) ? schedule(f) : f;
}

static __attribute__((noinline)) struct frame *fault(struct frame *f,
                                                     xlen_t cause)
{
    switch (cause) {
    case CAUSE_FETCH_ACCESS:
        f->next = f->x[FRAME_RA];
        return f;
    case CAUSE_ILLEGAL:
        if (!walk_pick(&own, 3)) {
            /* in a handler, too */
            asm volatile(WIDE("unimp"));
        }
        /* fall through */
    case CAUSE_LOAD_ACCESS:
        f->next += 4;
        return f;
    case CAUSE_BREAKPOINT: case CAUSE_ECALL_U: case CAUSE_ECALL_M:
        f->next += 4;
        return schedule(f);
    default:
        fail(__LINE__);
    }
}

#if LEVEL == 3
struct frame *m_handler(struct frame *f, xlen_t cause)
#else
struct frame *s_handler(struct frame *f, xlen_t cause)
#endif
{
    return cause & INTERRUPT ? timer(f) : fault(f, cause);
}

void prepare(unsigned i)
{
    xlen_t top = (xlen_t)(LEVEL ? stacks[i + 1] : kernel[i + 1]);
    struct frame *f = (struct frame *)top - 1;

    walks[i] = (struct walk) {
        .random = (i + 1) * 0x9e3779b9u,
        .faults = true,
    };
    *f = (struct frame) {
        .next = (xlen_t)members[i],
        .status = LEVEL == 3 ? MSTATUS_MPP | MSTATUS_MPIE :
                  LEVEL == 1 ? MSTATUS_SPP | MSTATUS_SPIE : MSTATUS_SPIE,
    };
    f->x[FRAME_SP] = (xlen_t)stacks[i + 1];
    f->x[FRAME_A0] = (xlen_t)&walks[i];
    waits[i] = f;
    rtos_name(i);
}

void begin(void)
{
    struct frame *first;

    for (unsigned i = 0; i < MEMBERS; i++) {
        prepare(i);
    }
    RTOS_CURRENT = &rtos_tasks[0];
    first = waits[0];
#if LEVEL == 3
    csr_write(mtvec, m_here);
#else
    csr_write(mtvec, m_own);
    csr_write(mscratch, monitor + sizeof(monitor));
    csr_write(stvec, LEVEL ? s_here : s_own);
    csr_write(sscratch, LEVEL ? 0 : (xlen_t)(first + 1));
    csr_write(pmpaddr0, -1);
    csr_write(pmpcfg0, 0x1f);
    csr_write(medeleg, 1 << CAUSE_FETCH_ACCESS | 1 << CAUSE_ILLEGAL |
              1 << CAUSE_BREAKPOINT | 1 << CAUSE_LOAD_ACCESS |
              1 << CAUSE_ECALL_U);
    csr_write(mideleg, MIP_STIP);
    /* The first return is M-mode's: to S-mode or U-mode */
    first->status = MSTATUS_MPIE | MSTATUS_SPIE | MSTATUS_SIE |
                    (LEVEL ? MPP_S : 0);
#endif
    csr_write(mie, MIP_MTIP | (LEVEL == 3 ? 0 : MIP_STIP));
    set_timer();
    begin_at_switching(first);
}
