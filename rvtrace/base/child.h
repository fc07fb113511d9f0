/*
 * A program that runs until it ends, and signals meanwhile
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_CHILD_H
#define ETRACE_CHILD_H

#include <glib.h>

/* Of child_catch_signals(); no more paths */
#define CHILD_MAX_PATHS 3

/*
 * From now on SIGINT, SIGTERM and SIGHUP go to the program that child_run()
 * runs, and not to this one; the third one kills it. While none runs, they end
 * this program, which removes @paths first: at most CHILD_MAX_PATHS files or
 * empty folders, in their order, a NULL behind them. They have to stay valid.
 */
void child_catch_signals(char **paths);

/*
 * Run @argv with our standard input, output and error, and wait until it has
 * ended. Returns false and sets @errp if it cannot be started; else @status is
 * that of waitpid().
 */
bool child_run(char **argv, int *status, GError **errp);

#endif /* ETRACE_CHILD_H */
