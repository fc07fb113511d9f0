/*
 * Annotated code: how often each instruction of a function ran
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_ANNOTATE_H
#define ETRACE_ANNOTATE_H

#include <stdio.h>
#include "code/insn.h"
#include "profile/counts.h"
#include "elf/source.h"
#include "views/report/source-place.h"
#include "views/report/table.h"

typedef struct AnnotateOptions {
    /* Only what these have, as globs; NULL: everything */
    const char *comm, *dso, *sym;
    double min_percent;     /* of all instructions that ran */
    unsigned max_functions; /* 0: all */
    TableFormat format;
    InsnIsa isa;            /* its xlen does not matter: that is the object's */
    SourcePlaces *places;   /* NULL: without the source */
    SourceTree *sources;    /* for its text; or NULL */
} AnnotateOptions;

typedef struct AnnotateResult {
    unsigned functions;     /* how many were selected and ran */
    unsigned written;       /* of which the code is known */
    /* instructions of those that were to be shown, without a line of code */
    uint64_t left_out;
} AnnotateResult;

/*
 * Write the functions that were selected, those with the most instructions
 * first: each instruction with its share of the function and how often it ran,
 * how often branches were taken and not, and where else control went from
 * there. What ran of a function is what report_write() counts for it. @counts
 * has been sorted, and tells tasks apart if @o has a comm. Functions whose code
 * is not known are only named; as tables, whose rows are instructions, they are
 * left out.
 */
AnnotateResult annotate_write(const Counts *counts, const AnnotateOptions *o,
                              FILE *f);

#endif /* ETRACE_ANNOTATE_H */
