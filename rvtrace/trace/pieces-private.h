/*
 * Pieces of a RAM sink's trace: what its files share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PIECES_PRIVATE_H
#define ETRACE_PIECES_PRIVATE_H

#include <gio/gio.h>
#include "trace/pieces.h"

#define invalid(errp, ...) \
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, __VA_ARGS__)

/*
 * The stops whose whole tail is known, by it: a list for each of them. Tails
 * are looked up at each byte of a piece, by their last word first.
 */
typedef struct Tails {
    GHashTable *words;      /* last 8 bytes: a set */
    GHashTable *stops;      /* tail (GBytes): GArray of indices */
} Tails;

/* A sink that has stored something in the session */
typedef struct Sink {
    int hart;
    GArray *stops;
    Tails tails;
} Sink;

/* Those of the session: Sink; pieces_free_sinks() frees them. */
GArray *pieces_find_sinks(const Sideband *sb);
void pieces_free_sinks(GArray *sinks);

/* The stops (SidebandRam) of @hart's sink, which has to be one of @sinks */
const GArray *pieces_stops_in(const GArray *sinks, int hart);

/*
 * The stops of a sink are in the session's order: the index of the first one at
 * byte @at or behind; or @n
 */
unsigned pieces_first_stop(const SidebandRam *stops, unsigned n, uint64_t at);

/*
 * Find out where each piece is: its at and sink. Returns false and sets @errp
 * if that cannot be known.
 */
bool pieces_locate(Piece *pieces, unsigned n, const Sideband *sb,
                   const GArray *sinks, GError **errp);

#endif /* ETRACE_PIECES_PRIVATE_H */
