/*
 * Names that others have chosen, as text that any program reads
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TEXT_PLAIN_H
#define ETRACE_TEXT_PLAIN_H

/*
 * @text, if it has no control characters, and none that separates lines; else
 * the same with '?' for each of them, which stays. Names of functions, files
 * and tasks come in through here, so that terminals, and writers of line-based
 * formats, need not care. Invalid UTF-8 is left to the writers.
 */
const char *text_plain(const char *text);

/* The same, but always a copy, which the caller frees */
char *text_plain_copy(const char *text);

#endif /* ETRACE_TEXT_PLAIN_H */
