/*
 * Where a trace that is collected can be cut, so that each piece can be decoded
 * by itself
 *
 * Packets are followed for that: the modes of each hart are reported once, and
 * a piece has to say them again. How they are wrapped, the sideband tells,
 * which another thread collects.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_CUTTER_H
#define ETRACE_CUTTER_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

typedef struct Cutter Cutter;

Cutter *cutter_new(void);
void cutter_free(Cutter *c);

/* Any thread: what came of the sideband. */
void cutter_sideband(Cutter *c, const uint8_t *data, size_t size);

/* What the first piece begins with */
void cutter_begin(GByteArray *head);

/*
 * @size bytes of the trace came. Returns where in @data the next piece can
 * begin, and sets @head to what it begins with; SIZE_MAX if it is not @due, or
 * there is no such place. Sets *@lost if the sideband does not say in time
 * what is needed; nothing can be cut then.
 */
size_t cutter_feed(Cutter *c, const uint8_t *data, size_t size, bool due,
                   GByteArray *head, bool *lost);

#endif /* ETRACE_CUTTER_H */
