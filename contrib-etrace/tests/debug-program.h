/*
 * A program of several files, with much inlining, to ask debug info about
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TESTS_DEBUG_PROGRAM_H
#define ETRACE_TESTS_DEBUG_PROGRAM_H

#include <glib.h>

/* A new folder with the sources, for guest_dir_remove() */
char *debug_program_dir(void);

/* Build them in @dir as @dir/@name. Returns its path, for g_free(). */
char *debug_program_build(const char *dir, const char *flags,
                          const char *name);

#endif /* ETRACE_TESTS_DEBUG_PROGRAM_H */
