/*
 * JSON, also for scripts within HTML
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_JSON_H
#define ETRACE_JSON_H

#include <glib.h>

/*
 * @text, quoted; at most @max_chars characters of it, the last one an ellipsis
 * if that cuts something off. What is not UTF-8 is replaced, and nothing in it
 * ends or begins an element of HTML. NULL is null.
 */
void json_string(GString *s, const char *text, size_t max_chars);

/*
 * How deep arrays and objects of @text, which is JSON, are in each other.
 * Parsers call themselves for each of them, and so run out of stack.
 */
size_t json_depth(const char *text);

/* A comma, if an element of this array or object stands before */
void json_comma(GString *s);

#endif /* ETRACE_JSON_H */
