/*
 * The terminal as a screen that is drawn anew, and its keys
 *
 * Whatever ends the program, but for SIGKILL, the terminal is left as it was
 * found. There is one screen.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_LIVE_SCREEN_H
#define ETRACE_LIVE_SCREEN_H

#include <glib.h>
#include <stdbool.h>

/* Are standard input and output a terminal that can be one? */
bool screen_possible(void);

/* Keys come one by one from now on. Returns false, with errno, if not. */
bool screen_open(void);

/* What stood on the terminal before is there again. */
void screen_close(void);

void screen_size(unsigned *rows, unsigned *columns);

/*
 * Draw the lines of @text, the first @header of them emphasised, and @status
 * in the last row. What does not fit is left out.
 */
void screen_draw(const char *text, unsigned header, const char *status);

#endif /* ETRACE_LIVE_SCREEN_H */
