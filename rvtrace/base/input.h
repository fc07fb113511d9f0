/*
 * Input files: mapped into memory, whatever they are
 *
 * A file is mapped. What can be read only once - a pipe, a socket, a file of
 * /proc, whose size is not known - is copied to a temporary file without a
 * name first, so that no more of it is in memory than is looked at.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_INPUT_H
#define ETRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <glib.h>

/*
 * What @path holds. A pipe gives the same again to who opens its name again.
 * Returns NULL and sets @errp, with the path in its message, if it cannot be
 * read.
 */
GBytes *input_open(const char *path, GError **errp);

/* Never NULL, even if there is nothing. Lives as long as @bytes. */
const uint8_t *input_data(GBytes *bytes, size_t *size);

/*
 * A file that becomes shorter while it is mapped has pages that cannot be read.
 * From now on that ends the program with an error in place of a signal:
 * @status is its exit status.
 */
void input_guard(int status);

/* The @size bytes at @data are those of @path, which has to stay; for that. */
void input_is_mapped(const void *data, size_t size, const char *path);

/* Write what stands for @path to the file @fd. Returns false and sets @errp. */
typedef bool InputFillFn(int fd, const char *path, void *opaque,
                         GError **errp);

/*
 * What @fill, which gets @opaque, writes for @path: mapped from a temporary
 * file that has no name and is gone with the result. Returns NULL and sets
 * @errp if there can be no such file, or @fill fails.
 */
GBytes *input_fill(const char *path, InputFillFn *fill, void *opaque,
                   GError **errp);

/*
 * For an InputFillFn: write @size bytes to @fd. Returns false and sets @errp,
 * with @path in its message, if there is no room.
 */
bool input_put(int fd, const void *data, size_t size, const char *path,
               GError **errp);

/*
 * Bytes @from to @to of @bytes, which input_open() returned, need not be in
 * memory for now. Who reads them gets them from the file again.
 */
void input_let_go(GBytes *bytes, size_t from, size_t to);

#endif /* ETRACE_INPUT_H */
