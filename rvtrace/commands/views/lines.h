/*
 * rvtrace: where the code of a trace is in the source, for views that write it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_LINES_H
#define ETRACE_LINES_H

#include "commands/views/view.h"
#include "views/report/source-place.h"

typedef struct Lines Lines;

/*
 * By the debug info of objects; files are where --source-prefix says, or what
 * the debug info calls them. @job must live as long.
 */
Lines *lines_new(const Job *job);
void lines_free(Lines *lines);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lines, lines_free)

/* For writers; valid as long as @lines */
LineFinder lines_finder(Lines *lines);

#endif /* ETRACE_LINES_H */
