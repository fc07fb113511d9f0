/*
 * pprof: a call tree as profile.proto
 *
 * For 'go tool pprof', and whatever else reads it. Each sample is a call stack
 * with the number of instructions that were executed in its innermost frame.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_PPROF_H
#define ETRACE_VIEWS_PPROF_H

#include "profile/profile.h"
#include "views/report/source-place.h"

/* Of a stack that has more, the outermost frames are left out. */
#define PPROF_MAX_DEPTH 1024

typedef struct PprofOptions {
    bool by_time;           /* weights are ns and not instructions */
    LineFinder lines;       /* where functions begin; or { NULL } */
} PprofOptions;

/*
 * Compressed, as pprof writes it. Addresses are those of the objects. A
 * function has the file and line where it begins; without debug info, its
 * object is the file. pprof takes functions of one name and file for the same
 * one: if they are not, their addresses are added to the names of all but the
 * first. Returns false and sets @errp if it cannot be written.
 */
bool pprof_write(const Profile *p, const ObjectTable *objects,
                 const PprofOptions *o, FILE *f, GError **errp);

#endif /* ETRACE_VIEWS_PPROF_H */
