/*
 * Pieces of a RAM sink's trace: where in the session they were stored
 *
 * An AUX buffer of Linux' perf gets what a sink has stored each time that it
 * is stopped. Such a piece, or a part of it, begins anywhere in the session,
 * and in the middle of a packet if the ring had wrapped. The sideband reports
 * each stop of a sink: how many bytes and packets it had stored by then, and
 * the last of the bytes, by which a piece is found.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PIECES_H
#define ETRACE_PIECES_H

#include <glib.h>
#include "code/sideband.h"

#define PIECE_AT_UNKNOWN    (-1)

/* Bytes that follow each other in the trace of one sink */
typedef struct PieceRun {
    int sink;               /* the hart whose sink it is, SIDEBAND_SHARED_RAM */
    uint64_t at;            /* where in the session it begins, bytes */
    size_t begin, end;      /* in Pieces.data */
    bool cut;               /* begins in the middle of a packet */
    /* Of each hart: which of its packets comes first; NULL: not known */
    uint64_t *first;
    uint8_t *ioptions;      /* ... and its modes (ETRACE_IOPT_*) if it is cut */
} PieceRun;

typedef struct Pieces {
    GArray *data;           /* uint8_t */
    GArray *runs;           /* PieceRun, of each sink in the session's order */
    unsigned truncated;     /* recordings that were left out, see perf-aux.h */
} Pieces;

/* One file */
typedef struct Piece {
    const char *path;       /* for messages */
    const uint8_t *data;
    size_t size;
    int64_t at;             /* in the session; PIECE_AT_UNKNOWN: to be found */
    int sink;
    bool again;             /* other pieces may have all of it, too */
} Piece;

/*
 * Put @n pieces of one session, in any order, together: those that follow
 * each other become one run. Sets the pieces' sink and at. Returns false and
 * sets @errp if one is not of this session, if where it was stored cannot be
 * found out, or if others have all of one for which that is a mistake.
 */
bool pieces_init(Pieces *p, Piece *pieces, unsigned n, const Sideband *sb,
                 GError **errp);

/*
 * The same without a sideband, which must not be needed: each piece is a run,
 * in the order given, and begins with a whole packet.
 */
void pieces_init_as_given(Pieces *p, const Piece *pieces, unsigned n);
void pieces_clear(Pieces *p);

/*
 * Is @data, @size bytes at byte @at of the session (may be before its
 * beginning, which is negative), what @sink had stored there, as far as the
 * sideband can say?
 */
bool piece_is_at(const Sideband *sb, int sink, const uint8_t *data,
                 size_t size, int64_t at);

#endif /* ETRACE_PIECES_H */
