/*
 * Output files: there when they are whole, and not before
 *
 * What is written goes to a file without a name, beside the one that it is to
 * become. Whatever ends a command before output_commit() - an error, a full
 * disk, a signal - leaves what was there before, and nothing else. Pipes,
 * devices and standard output are written as they are.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_OUTPUT_H
#define ETRACE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <glib.h>

typedef struct Output Output;

/*
 * Begin to write @path; NULL or "-": standard output. It must not be read (see
 * file-role.h). Returns NULL and sets @errp, with the path in its message.
 */
Output *output_open(const char *path, GError **errp);

/*
 * The same for what nobody reads on a terminal, which is refused, unless "-"
 * says so.
 */
Output *output_open_binary(const char *path, GError **errp);

/*
 * As output_open() for what grows for a long time, like streams of QEMU and
 * logs: from output_show() on, it is there under its name, and stays.
 */
Output *output_open_growing(const char *path, GError **errp);
bool output_show(Output *o, GError **errp);

FILE *output_stream(Output *o);
int output_fd(Output *o);       /* of the same, with nothing kept back */

/* It is whole. Returns false and sets @errp if it cannot be; frees @o. */
bool output_commit(Output *o, GError **errp);

/* It is not to be; frees @o. */
void output_discard(Output *o);

/* All at once */
bool output_write(const char *path, const void *data, size_t len,
                  GError **errp);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Output, output_discard)

#endif /* ETRACE_OUTPUT_H */
