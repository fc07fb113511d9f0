/*
 * Reports: the code of the hottest functions
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_HTML_CODE_H
#define ETRACE_HTML_CODE_H

#include "views/report/annotate.h"
#include "views/html/html-report.h"

/* Functions that are shown, at most, and each one's rows */
#define HTML_MAX_CODE       40
#define HTML_MAX_CODE_ROWS  3000

typedef struct HtmlCodes {
    GArray *list;               /* HtmlCode: the hottest first */
    GStringChunk *text;         /* all strings of it */
} HtmlCodes;

/*
 * Those that @o selects, HTML_MAX_CODE at most, of which the objects have the
 * code. Where many instructions in a row did not run, a row says how many. What
 * it returns does not need @counts any more.
 */
HtmlCodes *html_codes_new(const Counts *counts, const AnnotateOptions *o);
void html_codes_free(HtmlCodes *codes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HtmlCodes, html_codes_free)

#endif /* ETRACE_HTML_CODE_H */
