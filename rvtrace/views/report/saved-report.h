/*
 * Reports that were saved
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SAVED_REPORT_H
#define ETRACE_SAVED_REPORT_H

#include "views/report/diff.h"

struct SavedReport {
    char *name;
    GStrv columns;          /* all of them */
    unsigned nr_columns;
    unsigned own_column;
    bool by_time;           /* it is own_ns: numbers are ns */
    uint64_t own;           /* of all rows */
    GPtrArray *rows;        /* GStrv of nr_columns cells */
    GArray *owns;           /* uint64_t, of each row */
};

/* Is the column one of the keys, and neither a number nor an address? */
bool saved_report_is_key(const char *column);

/* The number of the column with that name, or -1 */
int saved_report_column(const SavedReport *report, const char *name);

#endif /* ETRACE_SAVED_REPORT_H */
