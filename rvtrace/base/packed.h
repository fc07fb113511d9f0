/*
 * Packed files: what gzip, xz or zstd made smaller
 *
 * Distributions pack modules of the kernel, and kernels: virtio_blk.ko.xz,
 * Image.gz.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PACKED_H
#define ETRACE_PACKED_H

#include <glib.h>

/* Files with more in them are errors, bytes. */
#define PACKED_MAX      (512u << 20)

/*
 * What is unpacked and still in use, of all files, at most: a few small ones
 * can have any amount in them. Tests set less.
 */
extern size_t packed_total_max;

/* Is what begins with these bytes packed? */
bool packed_is(const uint8_t *head, size_t size);
bool packed_is_zstd(const uint8_t *head, size_t size);

/*
 * For files that are not unpacked, as they can have any size: returns false and
 * sets @errp, with what to do in its message, if @bytes, of @path, are packed.
 */
bool packed_refuse(GBytes *bytes, const char *path, GError **errp);

/*
 * The file @path, or what is packed in it. The caller takes it apart with
 * input_data(). Returns NULL and sets @errp, with the path in its message, if
 * it cannot be read, is damaged, or is too large; G_IO_ERROR_NO_SPACE if it
 * and the others together exceed packed_total_max.
 */
GBytes *packed_open(const char *path, GError **errp);

/*
 * What is packed in @bytes, or @bytes themselves if nothing is: a new
 * reference. @path is for messages. Fails as packed_open() does.
 */
GBytes *packed_unpack(GBytes *bytes, const char *path, GError **errp);

/*
 * What packed_open() returns, but of a file that is packed only the first @most
 * bytes, or as many as there are.
 */
GBytes *packed_open_head(const char *path, size_t most, GError **errp);

#endif /* ETRACE_PACKED_H */
