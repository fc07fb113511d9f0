/*
 * Why a hart hangs: what hung.c and hung-write.c share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_HUNG_PRIVATE_H
#define ETRACE_HUNG_PRIVATE_H

#include "views/questions/hung.h"
#include "views/questions/locks.h"
#include "views/questions/rounds.h"

#define HUNG_NR_CALLS       4   /* the last ones */

/* A taken transfer leads to @pc, and @count instructions follow. */
typedef struct Step {
    uint64_t pc;
    const Object *object;
    const Symbol *symbol;       /* NULL: it has none there */
    uint64_t count;
} Step;

typedef struct KnownStep {
    Step step;
    unsigned generation, space; /* generation 0: the entry is empty */
    uint8_t priv;
} KnownStep;

typedef struct LastCall {
    unsigned frame;
    uint64_t place;
} LastCall;

struct HungHart {
    unsigned hart;
    const Profile *profile;
    const Names *names;
    Follower *follower;
    KnownStep *known;
    Step *steps;                /* HUNG_STEPS, a ring ... */
    uint64_t nr_steps;          /* ... of all that there were */
    bool goes_on;               /* what runs next is of the last step */
    bool interrupted;           /* ... but not until it is at: */
    uint64_t back, skipped;
    uint64_t next;              /* behind the last instruction of the runs */
    bool sleeps;                /* ... which is wfi */
    uint8_t back_priv, priv;
    uint64_t interrupts, last_interrupt;
    FlowTrap interrupt, exception;  /* the last ones */
    Step place;                 /* ... where the exception was */
    unsigned number;            /* ... of which system call, if it is one */
    uint64_t in_row, row_since, row_last;
    LastCall calls[HUNG_NR_CALLS];
    uint64_t nr_calls;
    const Task *task;
    Locks *locks;
    GArray *open;               /* OpenCall: those at the end */
    Rounds loop;                /* the last one; .period 0: there is none */
    uint64_t end;
};

struct Hung {
    TableFormat format;
    GPtrArray *harts;           /* HungHart */
};

#endif /* ETRACE_HUNG_PRIVATE_H */
