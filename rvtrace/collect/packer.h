/*
 * Packing a stream with zstd, while it comes
 *
 * It becomes frames that are whole by themselves: what ends the collector
 * takes the last one with it, and nothing before. `zstdcat` reads them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PACKER_H
#define ETRACE_PACKER_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#define PACKER_LEVEL_DEFAULT    3
#define PACKER_LEVEL_MAX        19

/* Bytes of the stream in a frame, and how long they wait to become one */
#define PACKER_FRAME            (4u << 20)
#define PACKER_WAIT_US          G_USEC_PER_SEC

typedef struct Packer Packer;

/* @level: of zstd, 1 to PACKER_LEVEL_MAX */
Packer *packer_new(int level);
void packer_free(Packer *p);

/*
 * Take @size bytes of the stream, and write the frames that are full by then
 * to @fd. Returns false and sets errno if that fails.
 */
bool packer_put(Packer *p, int fd, const void *data, size_t size);

/* The same for what waits, though its frame is not full */
bool packer_flush(Packer *p, int fd);

/* Since when something waits, by the monotonic clock; 0: nothing does. */
gint64 packer_waits_since(const Packer *p);

/* Write all of @data to @fd. Returns false and sets errno if that fails. */
bool write_whole(int fd, const void *data, size_t size);

#endif /* ETRACE_PACKER_H */
