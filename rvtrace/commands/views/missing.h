/*
 * rvtrace: what has to be said of files whose lines are not known
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_MISSING_H
#define ETRACE_MISSING_H

#include "profile/counts.h"

typedef struct MissingLines MissingLines;

/* No files yet. @counts, which must live as long, says what ran. */
MissingLines *missing_lines_new(const Counts *counts);
void missing_lines_free(MissingLines *missing);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MissingLines, missing_lines_free)

/*
 * Lines of @object are not known, or not all of them, because of @note: a
 * sentence without a full stop, or NULL if nothing is missing. It is taken. An
 * object that did not run is of no interest.
 */
void missing_lines_add(MissingLines *missing, const Object *object,
                       char *note);

/*
 * Print one warning about all of them, the one that ran most first; none if
 * nothing is missing.
 */
void missing_lines_say(const MissingLines *missing);

#endif /* ETRACE_MISSING_H */
