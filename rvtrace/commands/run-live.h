/*
 * rvtrace run --view live: what runs, as text, while QEMU runs
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_RUN_LIVE_H
#define ETRACE_RUN_LIVE_H

#include "live/live.h"

typedef struct RunLive RunLive;

/*
 * Take "live" and "live=FILE" out of @views, where they may stand once. *@path
 * is set to FILE, which the caller frees, "-" if there is none, NULL without
 * such a view. Prints what is wrong and returns false.
 */
bool run_live_take(char **views, char **path);

/*
 * Begin to write what comes into the files @trace and @sideband, which are new:
 * to @path, "-" being standard error, since standard output is the guest's.
 * @keys: what distinguishes rows, or NULL. Prints what is wrong and returns
 * NULL.
 */
RunLive *run_live_begin(const char *path, const char *trace,
                        const char *sideband, const Job *job,
                        const char *keys, double interval);

/* The files are complete. Prints what went wrong and returns false. */
bool run_live_end(RunLive *r);

/* Each prints what is wrong and returns false; @max_lag may be NAN. */
bool live_parse_sort(const char *keys, ReportOptions *report);
bool live_check_options(double interval, double max_lag, int load);

#endif /* ETRACE_RUN_LIVE_H */
