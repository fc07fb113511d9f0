/*
 * Programs of synthetic harts
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TESTS_SYNTH_PROGRAM_H
#define ETRACE_TESTS_SYNTH_PROGRAM_H

#include <glib.h>
#include "etrace/etrace.h"

typedef enum OpKind {
    OP_SEQ,
    OP_BRANCH,
    OP_JUMP,
    OP_UPDISCON,
    OP_XRET,
    OP_ECALL,
    OP_UPPER,                   /* lui, auipc: for the jump behind it */
    OP_PAIR,                    /* an uninferable jump behind OP_UPPER */
} OpKind;

typedef struct Op {
    uint64_t pc;
    uint32_t raw;
    uint8_t size;
    uint8_t kind;
    uint8_t itype;
    unsigned target;            /* index, of branches, jumps and pairs */
    unsigned taken;             /* how often a branch is, per mille */
} Op;

typedef struct Region {
    uint64_t vbase;
    unsigned nr_pages;
    uint64_t phys[64];          /* of each page */
    GArray *ops;                /* Op */
} Region;

/* True with a probability of @permille / 1000 */
bool synth_chance(GRand *r, unsigned permille);

/* 0 .. @n - 1 */
unsigned synth_pick(GRand *r, unsigned n);

/*
 * Make up a program of @bytes at @vbase. It lies across a page boundary, and
 * its pages get physical addresses from *@next_phys on; those of machine mode
 * keep their own.
 */
void synth_make_region(GRand *rand, Region *region, uint64_t vbase,
                       unsigned bytes, uint64_t *next_phys);

/* Give a jump or branch a target that one of its size can reach. */
void synth_choose_target(GRand *r, const Region *region, Op *op);

#endif /* ETRACE_TESTS_SYNTH_PROGRAM_H */
