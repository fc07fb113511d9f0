/*
 * Profiles for compilers: what ran of one object, in formats that they read
 *
 * Their formats were made for samples of branch records. What is written here
 * is exact: each count is how often it happened.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PGO_H
#define ETRACE_PGO_H

#include "views/pgo/object-text.h"

typedef enum PgoFormat {
    /*
     * llvm-profgen --unsymbolized-profile=FILE --use-offset=0: a number of
     * ranges, then "first-last:count", a number of jumps, then
     * "from->to:count". Ranges that overlap are added up by the reader, so
     * that blocks say the same as the sequences of them between jumps.
     */
    PGO_LLVM,
    /*
     * perf2bolt --pa -p FILE: "B from to count mispredictions" and "F first
     * last count"
     */
    PGO_BOLT,
    /* gcc -fauto-profile=FILE: GCC's own binary format, version 2 */
    PGO_GCOV,
    PGO_NR_FORMATS,
} PgoFormat;

typedef struct PgoOptions {
    PgoFormat format;
    /*
     * Of the object: path, file, last part of either, or build-id; NULL: the
     * only one that ran
     */
    const char *object;
    const char *elf;        /* file to use; NULL: the one that was found */
    char **sysroots;        /* for debug info; or NULL */
} PgoOptions;

/* "llvm", "bolt", "gcov"; false if it is none of them. */
bool pgo_parse_format(const char *text, PgoFormat *format);

/*
 * The object that @name is, as in PgoOptions. Returns NULL and sets @errp if
 * there is none or more than one, or if it did not run.
 */
const Object *pgo_find_object(const Counts *c, const char *name,
                              GError **errp);

/*
 * Write to @f what @c, which is sorted, has of the object. Returns false and
 * sets @errp where nothing right can be written, before anything is written.
 * *@dropped, unless NULL, is how many instructions were left out because the
 * kernel had patched them.
 */
bool pgo_write(const Counts *c, const PgoOptions *o, FILE *f,
               uint64_t *dropped, GError **errp);

/* pgo-text.c */
void pgo_write_llvm(const ObjectCounts *oc, FILE *f);
void pgo_write_bolt(const ObjectCounts *oc, FILE *f);

/*
 * pgo-gcov.c: needs object_counts_spread(). Returns false and sets @errp if
 * there is no debug info; nothing has been written then.
 */
bool pgo_write_gcov(const ObjectCounts *oc, const ObjectText *text,
                    char **sysroots, FILE *f, GError **errp);

#endif /* ETRACE_PGO_H */
