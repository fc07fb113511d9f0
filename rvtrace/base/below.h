/*
 * Files below a folder, by paths that others have chosen
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_BELOW_H
#define ETRACE_BELOW_H

#include <glib.h>

/*
 * Where the regular file is that is called @path in a system whose root is
 * @root: its "..", absolute links and links that lead up stay below @root.
 * NULL if there is none; the caller frees it.
 */
char *below_find(const char *root, const char *path);

/* The same without openat2(), which kernels have since 5.6 */
char *below_find_by_steps(const char *root, const char *path);

#endif /* ETRACE_BELOW_H */
