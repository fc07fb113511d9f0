/*
 * JSON: strings
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_JSON_TEXT_H
#define ETRACE_VIEWS_JSON_TEXT_H

#include <glib.h>

/* Add @text, in quotation marks; what is no UTF-8 becomes U+FFFD. */
void json_append_string(GString *json, const char *text);

#endif /* ETRACE_VIEWS_JSON_TEXT_H */
