/*
 * Annotated code: what is known of a function, and how it is written
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_ANNOTATE_PRIVATE_H
#define ETRACE_ANNOTATE_PRIVATE_H

#include "annotate.h"

/* An instruction that ran */
typedef struct AnnotatedInsn {
    uint64_t addr;          /* in the object; the key in a hash table */
    uint64_t count;
    uint64_t taken, not_taken;          /* of a branch */
    uint64_t exceptions, interrupts;    /* that were next */
} AnnotatedInsn;

typedef struct AnnotatedFunction {
    const Object *object;
    const Symbol *symbol;   /* the key in a hash table */
    uint64_t own;           /* instructions that ran */
    /* ... of these, what ran where the object has other bytes, or none */
    uint64_t elsewhere;
    GHashTable *insns;      /* AnnotatedInsn */
    GPtrArray *edges;       /* const CountEdge, from here */
} AnnotatedFunction;

/* annotate-write.c: one function; returns whether its code is known. */
bool annotate_write_function(const Counts *counts, const AnnotatedFunction *fn,
                             const AnnotateOptions *o, uint64_t all, FILE *f);

/*
 * annotate-notes.c: what is to be said of an instruction of @fn that ran,
 * separated by semicolons; "" if there is nothing. @insn is what the object
 * has there.
 */
char *annotate_notes(const Counts *counts, const AnnotatedFunction *fn,
                     const AnnotatedInsn *at, const Insn *insn);

#endif /* ETRACE_ANNOTATE_PRIVATE_H */
