/*
 * Flame graphs: a profile as a self-contained SVG
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_FLAMEGRAPH_H
#define ETRACE_FLAMEGRAPH_H

#include "profile/profile.h"

typedef struct FlameOptions {
    const char *title;
    const char *subtitle;   /* or NULL */
    unsigned width;         /* pixels */
    const char *unit;       /* of weights; NULL: instructions */
    double min_width;       /* pixels; narrower frames are left out */
    bool icicle;            /* the root is at the top */
} FlameOptions;

/*
 * Write @p to @f, the root at the bottom or at the top. Errors of @f are the
 * caller's to check.
 */
void flamegraph_write(Profile *p, const FlameOptions *opts, FILE *f);

/*
 * @text for XML: escaped, and without what XML cannot hold. At most
 * @max_chars characters of @text are used, the last two of them dots if that
 * cuts something off. Free the result.
 */
char *flamegraph_escape(const char *text, size_t max_chars);

/* 1234567 as 1,234,567, whatever the locale. Free the result. */
char *flamegraph_commas(uint64_t n);

#endif /* ETRACE_FLAMEGRAPH_H */
