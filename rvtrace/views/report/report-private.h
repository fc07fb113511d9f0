/*
 * Reports: rows, and how they are written
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_REPORT_PRIVATE_H
#define ETRACE_REPORT_PRIVATE_H

#include "views/report/report.h"

/* The keys, as the user writes them */
extern const char *const report_key_names[REPORT_NR_KEYS];

/* What distinguishes a row; only what is a key is filled in. */
typedef struct ReportRow {
    const char *comm;       /* interned strings: compared by pointer */
    uint32_t pid, tid;
    unsigned object;
    const Symbol *symbol;
    uint8_t priv;
    unsigned hart;
    SourcePlace source;     /* line: 0 if only the file is a key */
    /* sums */
    uint64_t own, total, calls;
} ReportRow;

typedef struct Report {
    const Counts *counts;
    const ReportOptions *o;
    unsigned mask;          /* a bit for each key */
    GHashTable *rows;       /* ReportRow */
    uint64_t own;           /* of all that is shown */
    uint64_t all;           /* of everything */
} Report;

static inline bool report_has_key(const Report *r, ReportKey key)
{
    return r->mask >> key & 1;
}

static inline double report_percent(uint64_t part, uint64_t all)
{
    return all ? 100.0 * part / all : 0;
}

static inline const char *report_symbol_name(const Symbol *symbol)
{
    return symbol ? symbol->name : "[no symbol]";
}

/*
 * report-write.c: what there is to say of all of @rows (ReportRow); @totals:
 * with what ran while a function was on the stack; @left_out: instructions of
 * rows that are not among them
 */
void report_write_rows(const Report *r, GPtrArray *rows, bool totals,
                       uint64_t left_out, FILE *f);

#endif /* ETRACE_REPORT_PRIVATE_H */
