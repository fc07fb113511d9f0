/*
 * What differs between two reports
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_DIFF_H
#define ETRACE_DIFF_H

#include "views/report/table.h"

/* A report that was saved: what "report --format=tsv" writes */
typedef struct SavedReport SavedReport;

/*
 * Read the @size bytes of @text, which @name is the name of in messages and
 * when it is shown. Returns NULL and sets @errp if that is no such report.
 */
SavedReport *saved_report_parse(const char *name, const char *text,
                                size_t size, GError **errp);
void saved_report_free(SavedReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SavedReport, saved_report_free)

typedef struct DiffOptions {
    /* Columns that distinguish rows, "dso,sym"; NULL: all keys */
    const char *sort;
    /* Rows whose difference is less of the larger report are left out. */
    double min_percent;
    unsigned max_rows;      /* 0: all */
    TableFormat format;
} DiffOptions;

/*
 * Write a row for each that is in @a or @b: its own instructions in both and
 * how many more there are in @b, the largest difference first, whatever its
 * sign; for scripts as columns own_a, own_b and difference. Rows that have the
 * same keys are one. Returns false and sets @errp if the reports do not have
 * the keys.
 */
bool diff_write(const SavedReport *a, const SavedReport *b,
                const DiffOptions *o, FILE *f, GError **errp);

#endif /* ETRACE_DIFF_H */
