/*
 * Reports: the profile and the strips as JSON
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_HTML_DATA_H
#define ETRACE_HTML_DATA_H

#include "views/html/html-report.h"

/*
 * "frames": [[name, kind, object, own, total, calls]...], where object is an
 * index of "objects" or -1, and calls -1 if not known. The first "functions" of
 * them are the hottest ones of "allFunctions". "tree": three numbers for each
 * node, from the root on in depth-first order: its level, 8 * frame + Layer (or
 * -1: the root, and what is left out) and its total.
 */
void html_data_profile(GString *s, const HtmlReport *r);

/*
 * "tasks": [[name, process, thread, known]...], "strips": {hart, width, insns,
 * buckets: [[task, insns, ...]...], totals: [task, insns, ...]}; task -1 is
 * nobody and -2 the others.
 */
void html_data_strips(GString *s, const HtmlReport *r);

#endif /* ETRACE_HTML_DATA_H */
