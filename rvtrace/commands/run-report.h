/*
 * rvtrace run: report.html, in a process of its own
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_RUN_REPORT_H
#define ETRACE_RUN_REPORT_H

#include <sys/types.h>
#include "commands/cli/cli.h"

/* The process that writes it */
typedef struct RunReport {
    pid_t pid;              /* 0: there is none */
    FILE *said;             /* what it had to say */
} RunReport;

/*
 * If a processor is free for it, write the view @view (KIND=FILE) of @ct in
 * another process, from here on. No other thread may run. Returns false, and
 * has done nothing, if none is free.
 */
bool run_report_begin(RunReport *report, CliTrace *ct, char *view);

/*
 * Wait for it. Returns its exit status, and prints what it had to say if that
 * is CLI_ERROR.
 */
int run_report_end(RunReport *report);

#endif /* ETRACE_RUN_REPORT_H */
