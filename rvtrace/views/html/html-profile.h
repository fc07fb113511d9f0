/*
 * Reports: the profile as JSON
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_HTML_PROFILE_H
#define ETRACE_HTML_PROFILE_H

#include "views/html/html-pack.h"

/*
 * Appends "functions", "allFunctions", "smallest", "tree", "frames" and
 * "objects". "frames": [[name, kind, object, own, total, calls]...], where
 * object is an index of "objects" or -1, and calls -1 if not known. The first
 * "functions" of them are the hottest ones of "allFunctions".
 *
 * "tree" is packed, node by node from the root on in depth-first order: how
 * many levels it is nearer to the root than a child of the node before would
 * be (the root: 0), what it is, and its own instructions by bin. What it is: 0
 * for the root, and for those that have less than "smallest" together; else
 * 1 + 8 * frame + Layer.
 */
void html_put_profile(GString *s, const HtmlReport *r, const HtmlAxis *axis);

#endif /* ETRACE_HTML_PROFILE_H */
