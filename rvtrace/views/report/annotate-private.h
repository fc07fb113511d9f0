/*
 * Annotated code: what is known of a function, and how it is written
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_ANNOTATE_PRIVATE_H
#define ETRACE_ANNOTATE_PRIVATE_H

#include "views/report/annotate.h"

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

/* One instruction of a function: what the object has, and where it is from */
typedef struct AnnotatedLine {
    uint64_t addr;
    unsigned size;          /* up to the next line */
    unsigned length;        /* of what is shown */
    const uint8_t *code;
    const AnnotatedInsn *ran;   /* NULL: it did not */
    SourcePlace source;
} AnnotatedLine;

/* Called for each function that was selected, the hottest first */
typedef void AnnotateFn(void *opaque, const AnnotatedFunction *fn);

/* Returns how many functions were selected by name. */
unsigned annotate_functions(const Counts *counts, const AnnotateOptions *o,
                            AnnotateFn *fn, void *opaque);

/*
 * annotate-lines.c: the code of @fn, AnnotatedLine by address; none if its
 * object has no code there. The caller frees the array.
 */
GArray *annotate_lines(const AnnotatedFunction *fn, const AnnotateOptions *o);

/* What the object has there */
void annotate_line_insn(const AnnotatedLine *line, const InsnIsa *isa,
                        Insn *insn);

/* annotate_notes() for a line; "" if it did not run. */
char *annotate_line_notes(const Counts *counts, const AnnotatedFunction *fn,
                          const AnnotatedLine *line, const InsnIsa *isa);

bool annotate_same_source(const SourcePlace *a, const SourcePlace *b);

/*
 * How much ran from line number @from on that is of the same line of source;
 * *@end, if that is not NULL, is the first one that is of another.
 */
uint64_t annotate_stretch(const GArray *lines, guint from, guint *end);

/* The text of a line of source, as table_clean() returns it; NULL: none */
char *annotate_source_text(SourceTree *sources, const SourcePlace *source);

/* annotate-write.c: one function; returns whether its code is known. */
bool annotate_write_function(const Counts *counts, const AnnotatedFunction *fn,
                             const AnnotateOptions *o, uint64_t all, FILE *f);

/*
 * annotate-table.c: the same as a table: begin one of @o, add functions, each
 * of which returns whether its code is known, and write and free it. @left_out:
 * instructions that are in no row.
 */
typedef struct AnnotateTable AnnotateTable;

AnnotateTable *annotate_table_new(const Counts *counts,
                                  const AnnotateOptions *o);
bool annotate_table_add(AnnotateTable *t, const AnnotatedFunction *fn);
void annotate_table_end(AnnotateTable *t, uint64_t left_out, FILE *f);

/*
 * annotate-notes.c: what is to be said of an instruction of @fn that ran,
 * separated by semicolons; "" if there is nothing. @insn is what the object
 * has there.
 */
char *annotate_notes(const Counts *counts, const AnnotatedFunction *fn,
                     const AnnotatedInsn *at, const Insn *insn);

#endif /* ETRACE_ANNOTATE_PRIVATE_H */
