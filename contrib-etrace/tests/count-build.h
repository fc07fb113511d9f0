/*
 * Counts from a list of the instructions that ran, in their order
 *
 * For tests: what the decoder does with ranges of code, one instruction after
 * the other and from what the ELF files say, so that it shares nothing with
 * it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TESTS_COUNT_BUILD_H
#define ETRACE_TESTS_COUNT_BUILD_H

#include "names/counts.h"

typedef struct CountBuild {
    ObjectTable *objects;
    TaskTable *tasks;
    Counts *counts;
    unsigned place[16];     /* by object */
    /* The block that is running; insns 0: none is */
    CountRange block;
    unsigned object;
    unsigned kind;          /* InsnKind of its last instruction */
} CountBuild;

CountBuild *count_build_new(void);
void count_build_free(CountBuild *b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CountBuild, count_build_free)

/* Executable segments of the ELF file @path; must succeed. */
Object *count_build_elf(CountBuild *b, const char *path);

/* The next instruction that ran, of any object or of none */
void count_build_pc(CountBuild *b, uint64_t pc);

/* Nothing more ran: sorts the counts. */
Counts *count_build_end(CountBuild *b);

#endif /* ETRACE_TESTS_COUNT_BUILD_H */
