/*
 * Reports: what harts did when, as JSON
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_HTML_ACTIVITY_H
#define ETRACE_HTML_ACTIVITY_H

#include "views/html/html-pack.h"

/*
 * Appends "axis": HtmlAxis, and unit ("ns" or "instructions"); "tasks":
 * [[name, process, thread, known]...], the busiest one first; "traps": their
 * names; and "harts": {hart, insns, tasks, times, traps, marks, moreMarks}.
 * There, tasks has the instructions, packed: of nobody, of the tasks that are
 * not in "tasks", and of each one that is. times has ns likewise, or is null;
 * traps has numbers in the order of "traps". marks: [[place, kind, text]...],
 * where kind is an ETraceSbNoteKind, 0 for a loss, or 4 for a reset.
 */
void html_put_activity(GString *s, const HtmlReport *r, const HtmlAxis *axis);

#endif /* ETRACE_HTML_ACTIVITY_H */
