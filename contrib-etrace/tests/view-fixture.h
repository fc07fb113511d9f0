/*
 * What the tests of views share: a small program, and who runs it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TESTS_VIEW_FIXTURE_H
#define ETRACE_TESTS_VIEW_FIXTURE_H

#include "views/sampler.h"

/* Functions of the program, of 0x100 bytes each, and of the kernel */
#define MAIN        0x1000
#define WORK        0x1100
#define LEAF        0x1200
#define KENTRY      0xffffffff80000000ull
#define KSYSCALL    0xffffffff80000100ull

/* Where the program lies in processes 10 and 20 */
#define PROGRAM_BIAS    0x40000

#define CALL    ETRACE_ITYPE_INFERABLE_CALL
#define RET     ETRACE_ITYPE_RETURN
#define BRANCH  ETRACE_ITYPE_TAKEN_BRANCH
#define XRET    ETRACE_ITYPE_TRAP_RETURN

typedef struct ViewFixture {
    ObjectTable *objects;
    Object *program, *kernel;
    TaskTable *tasks;
    const Task *sh, *ls;    /* 10 and 20; the latter has a thread 21 */
    const Task *thread;
    Names *names;
    Profile *profile;
    CallStack *stack;
    Sampler *sampler;       /* the test's; or NULL */
    unsigned priv;
    const Task *task;
} ViewFixture;

/* The stack reports to @moment, which may be NULL, with @opaque. */
void view_set_up(ViewFixture *f,
                 void (*moment)(void *opaque, const CallStackMoment *moment),
                 void *opaque);
void view_tear_down(ViewFixture *f);

/*
 * @count 4-byte instructions, at most 256, at @pc of the program or of the
 * kernel, the last one being an @itype
 */
void view_run(ViewFixture *f, uint64_t pc, unsigned count, unsigned itype);

/* An exception at @epc, of the program, into the kernel */
void view_trap(ViewFixture *f, unsigned cause, uint64_t epc);

/*
 * sh: main calls work, which calls leaf twice, and makes a system call; then
 * ls calls leaf from main. 10000 instructions of sh in all, 300 of ls.
 */
void view_run_all(ViewFixture *f);

#endif /* ETRACE_TESTS_VIEW_FIXTURE_H */
