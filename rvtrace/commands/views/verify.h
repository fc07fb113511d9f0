/*
 * rvtrace: compare with a record of what retired
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEW_VERIFY_H
#define ETRACE_VIEW_VERIFY_H

#include "analysis/results.h"

/* Load the files of --truth; prints what is wrong and returns NULL. */
Truth *verify_load(char **paths);

/*
 * Write how each hart compares, but for those that were not asked for. Returns
 * an exit status. @paths are those of verify_load().
 */
int verify_write(const Results *r, char **paths, FILE *f);

#endif /* ETRACE_VIEW_VERIFY_H */
