/*
 * callgrind: exact costs of instructions, calls and jumps
 *
 * For callgrind_annotate and KCachegrind. The cost is instructions, and theirs
 * is that of Counts; what calls cost together with all that they called is
 * from the call tree.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_CALLGRIND_H
#define ETRACE_VIEWS_CALLGRIND_H

#include "profile/counts.h"
#include "profile/profile.h"
#include "views/report/source-place.h"

typedef struct CallgrindOptions {
    const char *command;            /* what was run; or NULL */
    LineFinder lines;               /* or { NULL } */
} CallgrindOptions;

/*
 * @c must be sorted and @p summed up; both of all harts, with the same
 * objects. What traps interrupted is not charged with what handles them. Where
 * an object has no code, the cost of a range is that of its first instruction.
 */
void callgrind_write(const Counts *c, const Profile *p,
                     const CallgrindOptions *o, FILE *f);

#endif /* ETRACE_VIEWS_CALLGRIND_H */
