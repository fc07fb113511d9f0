/*
 * Where a stream that is collected goes: a file, or one piece after another,
 * packed or as it is
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SINK_H
#define ETRACE_SINK_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>
#include "collect/cutter.h"

typedef struct SinkOptions {
    int level;          /* of zstd; 0: not packed, unless the name says so */
    Cutter *cutter;     /* of a trace in pieces, which stays; or else NULL */
    uint64_t most;      /* bytes of the stream in a piece; 0: any number */
    gint64 longest;     /* us that it takes; 0: any time */
    unsigned keep;      /* pieces; 0: all */
} SinkOptions;

typedef struct Sink Sink;

/*
 * The file takes the place of an older one with the first byte that comes. With
 * pieces, FILE becomes FILE.000001 and so on, of which there must be none yet,
 * with .zst behind it if they are packed. Returns NULL and sets @errp, with the path in its message, if it cannot be
 * written.
 */
Sink *sink_open(const char *path, const SinkOptions *o, GError **errp);

/* Returns false and sets @errp. */
bool sink_put(Sink *s, const uint8_t *data, size_t size, GError **errp);

/*
 * How long bytes may still wait to be written, us; 0: sink_flush() is due; -1:
 * none wait.
 */
gint64 sink_may_wait(const Sink *s);
bool sink_flush(Sink *s, GError **errp);

/* All has come. Returns false and sets @errp; frees @s. */
bool sink_commit(Sink *s, GError **errp);

/* Nothing more comes, because of an error: what has come is kept; frees @s. */
void sink_discard(Sink *s);

#endif /* ETRACE_SINK_H */
