/*
 * Coverage: which lines, functions and branches of the sources ran
 *
 * From code that was built as usual, optimised or not. A line counts as often
 * as the most executed instruction of it, in each function and each inlined
 * copy, all of which are added up; so a line ran if any of its instructions
 * did. Lines that never ran are those of which the line table says that a
 * statement begins there.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_COVERAGE_H
#define ETRACE_COVERAGE_H

#include "views/pgo/object-text.h"

typedef struct CoverageOptions {
    char **include;         /* globs of source files; NULL: all */
    char **exclude;         /* ... that are left out; or NULL */
    char **prefixes;        /* OLD=NEW, replaced in file names; or NULL */
    char **sysroots;        /* for debug info; or NULL */
} CoverageOptions;

typedef struct CoverageTotals {
    uint64_t files;
    uint64_t lines, lines_hit;
    uint64_t functions, functions_hit;
    uint64_t branches, branches_hit;    /* two of each instruction */
} CoverageTotals;

typedef struct Coverage Coverage;

/*
 * @options must live as long. Returns NULL and sets @errp if one of them makes
 * no sense.
 */
Coverage *coverage_new(const CoverageOptions *options, GError **errp);
void coverage_free(Coverage *cv);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Coverage, coverage_free)

/*
 * Add what @c has of @object, which has a file; nothing ran of it if @c has
 * nothing. Returns false and sets @errp if that file is not what ran.
 * *@note, to be freed with g_free(), says why there is no, or not all, debug
 * info; NULL if nothing is missing.
 */
bool coverage_add(Coverage *cv, const Counts *c, const Object *object,
                  char **note, GError **errp);

/*
 * Write it for lcov and genhtml: a tracefile. Files are sorted, and each
 * source file is there once, whatever objects it is part of.
 */
void coverage_write_lcov(Coverage *cv, FILE *f);

/* Of all files that are not left out */
void coverage_totals(Coverage *cv, CoverageTotals *totals);

/* Percent of the lines that ran; 100 if there are none */
double coverage_percent(const CoverageTotals *totals);

/*
 * coverage-drcov.c: the basic blocks that ran of each object, as DynamoRIO's
 * drcov writes them (version 2), with a table of the blocks that is binary, or
 * text. Needs no debug info. Offsets are from the lowest address that the
 * object's file loads; code of no known object, or more than 4 GiB behind, is
 * not in it: returns how many instructions that is.
 */
uint64_t coverage_write_drcov(const Counts *c, bool text, FILE *f);

#endif /* ETRACE_COVERAGE_H */
