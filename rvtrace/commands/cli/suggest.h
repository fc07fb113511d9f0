/*
 * "Did you mean ...?"
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SUGGEST_H
#define ETRACE_SUGGEST_H

#include <glib.h>

/*
 * " (did you mean 'NAME'?)" for the one of @names (const char *) that @word is
 * most like, with @prefix in front of it, or "" if it is like none. The caller
 * frees it.
 */
char *suggest(const char *word, const GPtrArray *names, const char *prefix);

#endif /* ETRACE_SUGGEST_H */
