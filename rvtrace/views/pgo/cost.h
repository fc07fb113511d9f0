/*
 * Costs: what each instruction, call and jump of each function cost
 *
 * Counts and a call tree, brought together by function.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_COST_H
#define ETRACE_VIEWS_COST_H

#include "profile/counts.h"
#include "profile/profile.h"

/* A function, or what of an object has no symbol and is in none of them */
typedef struct CostFunction {
    unsigned object;
    const Symbol *symbol;   /* NULL: it has none */
    uint64_t called;        /* ... but was called there; 0: nor that */
    uint64_t entry;         /* the lowest address that is known of it */
} CostFunction;

typedef struct CostInsn {
    unsigned function;
    uint64_t addr;
    uint64_t cost;          /* instructions */
} CostInsn;

/* Calls from an address to a function, or of the whole function */
typedef struct CostCall {
    unsigned from, to;      /* functions */
    uint64_t addr;          /* of the call */
    uint64_t target;
    uint64_t count;         /* 0: it got there in another way */
    uint64_t inclusive;     /* instructions, with all that they called */
} CostCall;

/* Within a function */
typedef struct CostJump {
    unsigned function;
    uint64_t addr, target;
    uint64_t count;
    uint64_t executed;      /* of a branch, how often it ran; else 0 */
} CostJump;

/* All sorted by function, which are by object and entry, then by address */
typedef struct Costs {
    GArray *functions;      /* CostFunction */
    GArray *insns;          /* CostInsn, one for each address */
    GArray *calls;          /* CostCall */
    GArray *jumps;          /* CostJump */
    uint64_t total;         /* instructions */
} Costs;

Costs *costs_new(const Counts *c, const Profile *p);
void costs_free(Costs *costs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Costs, costs_free)

#endif /* ETRACE_VIEWS_COST_H */
