/*
 * Random walks through functions of all kinds, and what entry.S has
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef WALK_H
#define WALK_H

#include "guest.h"

/* What a trap saves */
struct frame {
    xlen_t epc;
    xlen_t x[31];           /* x1 first */
    xlen_t status;
    xlen_t next;            /* where it goes on; at first, epc */
    xlen_t unused[2];
};
#define FRAME_RA    0
#define FRAME_SP    1
#define FRAME_A0    9

/* Handlers of traps say what goes on: that, or another one. */
typedef struct frame *Handler(struct frame *f, xlen_t cause);
Handler m_handler, s_handler;
#define INTERRUPT   ((xlen_t)1 << (sizeof(xlen_t) * 8 - 1))

/* handlers.S: what calls them, on the stack of what was interrupted or not */
void m_here(void);
void m_own(void);
void s_here(void);
void s_own(void);
void begin_at_switching(struct frame *f) __attribute__((noreturn));

#ifdef CLINT_MTIMECMP
/* Interrupt M-mode so many ticks from now on. */
static inline void arm_timer(unsigned ticks)
{
    /* volatile: registers */
    volatile uint32_t *compare = (volatile uint32_t *)CLINT_MTIMECMP;
    /* volatile: a register */
    uint32_t now = *(volatile uint32_t *)CLINT_MTIME;

    /* No guest runs for so long that the upper half is needed. */
    compare[1] = 0;
    compare[0] = now + ticks;
}
#endif

/* random.S: a program of generate.py */
void run_program(xlen_t seed);

/* What a function has to keep */
struct context {
    xlen_t ra, sp, s[12];
};

/* Where a guest begins, on a stack of its own */
void begin(void);

int walk_setjmp(struct context *c) __attribute__((returns_twice));
void longjmp_switching(struct context *c, int value)
    __attribute__((noreturn));

struct walk {
    uint32_t random;        /* never 0 */
    unsigned depth;         /* of calls, roughly */
    unsigned sum;           /* so that nothing is left out as useless */
    struct context *outer;  /* of walk_setjmp(); NULL: there is none */
    void (*pause)(struct walk *w);  /* called now and then; may be NULL */
    bool faults;            /* some functions trap */
};

/*
 * Tasks and coroutines: with -DSHARED, all run the same code; else each has a
 * copy of its own, so that no two wait at the same address. unwind.py makes
 * the files of the copies: they define COPY, as 0 and so on.
 */
#define MEMBERS 5
#define PASTE_(a, b)    a##b
#define PASTE(a, b)     PASTE_(a, b)
#ifdef COPY
#define walk_any    PASTE(walk_any_, COPY)
#define walk_pick   PASTE(walk_pick_, COPY)
#define walk_down   PASTE(walk_down_, COPY)
#define member      PASTE(member_, COPY)
#endif

typedef void Member(struct walk *w);
Member member_0, member_1, member_2, member_3, member_4;
#ifdef SHARED
#define EACH_MEMBER member_0, member_0, member_0, member_0, member_0
#else
#define EACH_MEMBER member_0, member_1, member_2, member_3, member_4
#endif

/* An instruction of 4 bytes */
#define WIDE(insn)  ".option push\n.option norvc\n" insn "\n.option pop"

/* coroutines.c: those that wait, the one that runs, and what is left to do */
typedef void Switch(struct context *from, struct context *to);
Switch switch_ret_switching, switch_t1_switching, switch_a5_switching,
       switch_t0_switching, switch_ucontext;
void co_begin(void);
extern struct context contexts[];
extern unsigned now, left;
/* The coroutine begins anew. */
void prepare(unsigned i);

/* A number below @n */
unsigned walk_pick(struct walk *w, unsigned n);
void walk_any(struct walk *w);
/* Calls itself so often */
unsigned walk_down(struct walk *w, unsigned depth);

#endif
