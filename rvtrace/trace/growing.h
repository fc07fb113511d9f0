/*
 * Growing: a trace in one part whose files are still being written
 *
 * The files are mapped with room behind what they hold, so nothing moves when
 * there is more. What is there is decoded up to where the sideband, too, is
 * known to be there.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_GROWING_H
#define ETRACE_GROWING_H

#include "trace/trace.h"

/* What one look at the files showed; bytes of the trace */
typedef struct GrowingLook {
    size_t size;            /* that are there */
    size_t known;           /* that can be decoded */
    bool sideband_grew;     /* see trace_decoder_grown() */
    bool other_session;     /* what comes is another one's: growing_open() */
} GrowingLook;

typedef struct Growing Growing;

/* The files need not be there yet. */
Growing *growing_new(const char *trace, const char *sideband);
void growing_free(Growing *g);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Growing, growing_free)

/*
 * The trace, when enough of it is there to begin, with its end at what can be
 * decoded; NULL before, and NULL with @errp set if it is none. @ended: no more
 * will come. It belongs to @g, until it is asked for again: then it is the
 * last session, from where that begins.
 */
Trace *growing_open(Growing *g, bool ended, GError **errp);

/*
 * See what has come. Nobody may decode meanwhile. @ended: no more will come,
 * so everything that is there can be decoded.
 */
void growing_look(Growing *g, bool ended, GrowingLook *look);

/*
 * The first place at byte @from of the trace or behind it where a piece for
 * trace_decoder_go_on() can end; or what can be decoded in all, if there is
 * none.
 */
size_t growing_place(const Growing *g, size_t from);

/*
 * The first place at byte @from or behind it that trace_decoder_skip() can go
 * to and that has something behind it, or else the last one before; 0: none
 */
size_t growing_skip_to(const Growing *g, size_t from);

/* Bytes of the sideband that are read */
size_t growing_sideband_size(const Growing *g);

#endif /* ETRACE_GROWING_H */
