/*
 * Files of streams: as they are, or packed by zstd
 *
 * Traces, sidebands and dumps of RAM sinks can have any size. What is packed
 * is unpacked to a temporary file without a name, which is mapped, so memory
 * does not grow with it, and places in the stream are the same as without.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_STREAM_FILE_H
#define ETRACE_STREAM_FILE_H

#include <stdint.h>
#include <glib.h>

/* What a collector makes of the name of a stream that it packs */
#define STREAM_FILE_SUFFIX  ".zst"

/*
 * What unpacking may write at most, bytes. It also ends before a disk is full.
 * Tests set less.
 */
extern uint64_t stream_file_max;

/*
 * The stream in @path, as input_open() returns it. One that is cut off in its
 * last frame, as by a collector that was killed, is read up to there, with a
 * warning; one that is damaged, up to the frame before. Returns NULL and sets
 * @errp, with the path in its message, if it cannot be read, is packed in
 * another way, is damaged in its first frame, or has more in it than there is
 * room for.
 */
GBytes *stream_file_open(const char *path, GError **errp);

#endif /* ETRACE_STREAM_FILE_H */
