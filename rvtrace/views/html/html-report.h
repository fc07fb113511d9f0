/*
 * Reports: all that is known of a run as one HTML file
 *
 * It needs neither a network nor another file: what was counted is in it as
 * JSON, and a script shows it. Nothing of the data is ever taken as HTML, and
 * the file forbids itself to load anything.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_HTML_REPORT_H
#define ETRACE_HTML_REPORT_H

#include "views/report/layers.h"
#include "profile/counts.h"
#include "views/time/activity.h"

/* What is less than this part of all instructions is shown as "others". */
#define HTML_SMALLEST_PART  20000
/* At most; beyond, the smallest part is larger */
#define HTML_MAX_NODES      100000
#define HTML_MAX_FUNCTIONS  2000
/* Bytes of the call stacks, packed; beyond, the smallest part is larger, too */
#define HTML_MAX_TREE       700000
#define HTML_MAX_NAME       1000    /* characters */
#define HTML_MAX_MARK       200
#define HTML_MAX_TASKS      500

typedef enum HtmlMood {
    HTML_NEUTRAL,
    HTML_GOOD,
    HTML_BAD,
} HtmlMood;

/* One of the figures at the top */
typedef struct HtmlFact {
    const char *label, *value;
    const char *note;           /* or NULL */
    HtmlMood mood;
} HtmlFact;

/* A table as it is; columns but the first one are numbers */
typedef struct HtmlTable {
    const char *title;
    const char *const *columns; /* NULL terminated */
    GPtrArray *rows;            /* GStrv, as long as columns */
} HtmlTable;

/* A line of source, or an instruction */
typedef struct HtmlCodeLine {
    uint64_t address;           /* of an instruction */
    uint64_t count;             /* how often it ran */
    const char *text;
    unsigned line;              /* of source; 0: an instruction */
    bool branch;                /* then: how often it was taken, and not */
    uint64_t taken, not_taken;
    const char *note;           /* where control went; or NULL */
} HtmlCodeLine;

/* A function's code */
typedef struct HtmlCode {
    const char *function, *object;
    const char *file;           /* of the source; or NULL */
    uint64_t insns;             /* that were executed in it */
    const HtmlCodeLine *lines;
    unsigned nr_lines;
} HtmlCode;

/* Pointers and arrays are the caller's; arrays may be empty. */
typedef struct HtmlReport {
    const char *title;
    const char *unit;           /* what is counted: "instructions" */
    const HtmlFact *facts;
    unsigned nr_facts;
    Profile *profile;
    Layers layers;              /* that it was made with */
    Activity *const *harts;     /* in their order */
    unsigned nr_harts;
    const TaskTable *tasks;     /* of theirs; NULL if there are no harts */
    bool selected;              /* not all of the trace is here */
    bool times;                 /* how long tasks ran is of all that ran */
    const Counts *counts;       /* for calls; or NULL: not known */
    const HtmlCode *code;       /* the hottest first */
    unsigned nr_code;
    const HtmlTable *tables;
    unsigned nr_tables;
} HtmlReport;

/* Errors of @f are the caller's to check. */
void html_report_write(const HtmlReport *report, FILE *f);

#endif /* ETRACE_HTML_REPORT_H */
