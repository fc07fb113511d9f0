/*
 * Random programs for tests of the trace core
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_UNIT_ETRACE_RANDOM_PROGRAM_H
#define TESTS_UNIT_ETRACE_RANDOM_PROGRAM_H

#include "etrace-refdecoder.h"

/* Jumps without a REF_UPPER in front use registers below this one. */
#define RANDOM_PAIR_REG     10

#define RANDOM_PROGRAM_MAX 96

/* What it is made of, out of 1000 */
typedef struct RandomMix {
    unsigned branch, jal, jalr, xret, ecall;    /* the rest: plain ones */
    unsigned ret;                               /* returns, beside jalr */
    unsigned sijump;                            /* pairs: lui, jalr */
    unsigned near;                              /* direct jumps stay close */
    unsigned biased;                            /* of the branches */
} RandomMix;

/* An instruction as the hart sees it: the decoder's view, and its itype */
typedef struct RandomInstr {
    RefInstr ref;
    uint64_t pc;
    ETraceItype itype;          /* for a branch: decided at run time */
    uint64_t pair_target;       /* of a jump behind REF_UPPER */
    unsigned taken;             /* how often a branch is, out of 1000 */
} RandomInstr;

typedef struct RandomProgram {
    uint64_t seed;
    unsigned count;
    RandomInstr instr[RANDOM_PROGRAM_MAX];
    uint64_t base;
    int8_t at[RANDOM_PROGRAM_MAX * 2];  /* by half-word offset; -1: none */
    unsigned hot[4];                    /* favourite indirect targets */
} RandomProgram;

/* The same numbers for the same seed, everywhere */
void random_seed(RandomProgram *p, uint64_t seed);
uint64_t random_number(RandomProgram *p);
unsigned random_below(RandomProgram *p, unsigned n);
bool random_chance(RandomProgram *p, unsigned per_mille);

/* A program that never runs off its end, at addresses of @xlen bits. */
void random_program(RandomProgram *p, const RandomMix *mix, unsigned xlen);

/* Index of the instruction at @pc, or -1 */
int random_program_find(const RandomProgram *p, uint64_t pc);

/* An index for an indirect jump from @from: mostly one that makes a loop. */
unsigned random_program_indirect(RandomProgram *p, unsigned from);

#endif /* TESTS_UNIT_ETRACE_RANDOM_PROGRAM_H */
