/*
 * Coverage of source files: what coverage.c gathers
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_COVERAGE_PRIVATE_H
#define ETRACE_COVERAGE_PRIVATE_H

#include "views/pgo/coverage.h"

/* A branch instruction */
typedef struct CoverageBranch {
    unsigned line;
    uint64_t taken, not_taken;
} CoverageBranch;

typedef struct CoverageFunction {
    unsigned line;          /* of the declaration */
    char *name;
    uint64_t count;         /* calls, those that were inlined included */
} CoverageFunction;

typedef struct CoverageFile {
    char *name;
    GTree *lines;           /* line number -> uint64_t * */
    GTree *functions;       /* CoverageFunction -> itself, by line and name */
    GArray *branches;       /* CoverageBranch, in the order of addresses */
} CoverageFile;

struct Coverage {
    const CoverageOptions *options;
    GTree *files;           /* name -> CoverageFile */
    GHashTable *known;      /* name in debug info -> CoverageFile, or NULL */
};

/*
 * coverage-files.c: the file that debug info calls @name; NULL if it is left
 * out, or has no name
 */
CoverageFile *coverage_file(Coverage *cv, const char *name);

/* The count of @line of @file, made if there is none */
uint64_t *coverage_line(CoverageFile *file, unsigned line);

/* The function, made if there is none. */
CoverageFunction *coverage_function(CoverageFile *file, unsigned line,
                                    const char *name);

#endif /* ETRACE_COVERAGE_PRIVATE_H */
