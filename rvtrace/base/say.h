/*
 * What rvtrace says to its user, on stderr
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SAY_H
#define ETRACE_SAY_H

#include <stdbool.h>
#include <stdio.h>
#include <glib.h>

void G_GNUC_PRINTF(1, 2) say_error(const char *fmt, ...);
void G_GNUC_PRINTF(1, 2) say_warn(const char *fmt, ...);
void G_GNUC_PRINTF(1, 2) say_note(const char *fmt, ...);

/* Flush @f, checking that everything was written; says what is wrong. */
bool flush_output(FILE *f, const char *what);

#endif /* ETRACE_SAY_H */
