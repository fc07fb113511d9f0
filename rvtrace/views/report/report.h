/*
 * Reports: where the instructions went, as text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_REPORT_H
#define ETRACE_REPORT_H

#include <stdio.h>
#include "profile/counts.h"
#include "profile/profile.h"
#include "views/report/source-place.h"
#include "views/report/table.h"

/* What distinguishes rows, as perf calls it */
typedef enum ReportKey {
    REPORT_COMM,            /* the task's name */
    REPORT_PID,             /* its process's number and name */
    REPORT_TID,             /* its own number and name */
    REPORT_DSO,             /* the object */
    REPORT_SYM,             /* the function */
    REPORT_PRIV,            /* the privilege level */
    REPORT_HART,
    REPORT_SRCLINE,         /* file and line, of the innermost inlined call */
    REPORT_SRCFILE,
    REPORT_NR_KEYS,
} ReportKey;

typedef struct ReportOptions {
    ReportKey keys[REPORT_NR_KEYS];     /* in the order of the columns */
    unsigned nr_keys;
    /* Only what these have, as globs; NULL: everything */
    const char *comm, *dso, *sym;
    double min_percent;     /* of own, or of total where that is shown */
    unsigned max_rows;      /* 0: all */
    bool by_time;           /* weights are ns: of ranges, and of the profile */
    bool by_total;          /* sort by what a function and its callees ran */
    TableFormat format;
    uint64_t ran;           /* instructions, counted or not; 0: all are */
    SourcePlaces *places;   /* for REPORT_SRCLINE and REPORT_SRCFILE; or NULL */
} ReportOptions;

/*
 * Parse a list like "comm,dso,sym". Returns false if a word is none of comm,
 * pid, tid, dso, sym, priv, hart, srcline, srcfile, or is there twice.
 */
bool report_parse_keys(const char *text, ReportOptions *o);

/* Is the source one of the keys? */
bool report_needs_source(const ReportOptions *o);

/* Do the rows depend on who ran what, so that counts have to say it? */
bool report_needs_tasks(const ReportOptions *o);

/*
 * Write a row for each combination of the keys: the share and number of
 * instructions that it ran itself, and, if the function is one of the keys and
 * @profile (may be NULL) is there, that ran while it was on the stack, and how
 * often it was called. @counts has been sorted, and tells tasks apart if
 * report_needs_tasks(); @profile has been summed.
 *
 * For scripts there is all of this but the shares, and nothing else: columns
 * own, total, calls, the keys, and if the function is one of them, addr, where
 * it begins in its object, as "0x1234", or "" for what has no symbol; what has
 * run nothing itself has a row, too, if it was on the stack. JSON has
 * "instructions", how many there are of all, "selected", of what has such
 * names, "ran", if @o says so, and "rows". With time as weight, the columns are
 * own_ns and total_ns, and JSON has "ns" for "instructions".
 *
 * Returns what all rows ran themselves, 0 if nothing has such names.
 */
uint64_t report_write(const Counts *counts, const Profile *profile,
                      const ReportOptions *o, FILE *f);

/*
 * Write who called the functions that match @sym, a glob, and what they called,
 * with the instructions that ran below each, or with how many ns those took:
 * @by_time says what @profile has. It has been summed. Of either, at most
 * @max_rows rows are written, 0: all. Returns false if there is no such
 * function.
 */
bool report_write_callers(const Profile *profile, const char *sym,
                          bool by_time, unsigned max_rows, FILE *f);

#endif /* ETRACE_REPORT_H */
