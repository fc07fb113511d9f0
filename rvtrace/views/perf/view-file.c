/*
 * Files that views are made of: little-endian bytes, and temporary ones
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <unistd.h>
#include "views/perf/view-file.h"

FILE *view_temporary(GError **errp)
{
    g_autofree char *name = NULL;
    int fd = g_file_open_tmp("rvtrace-XXXXXX", &name, errp);
    FILE *f;

    if (fd < 0) {
        return NULL;
    }
    g_unlink(name);
    f = fdopen(fd, "w+");
    if (!f) {
        g_set_error(errp, G_IO_ERROR, g_io_error_from_errno(errno), "%s: %s",
                    name, g_strerror(errno));
        close(fd);
    }
    return f;
}

bool view_copy(FILE *from, FILE *to)
{
    char buffer[65536];
    size_t n;

    if (ferror(from) || fflush(from) != 0) {
        return false;
    }
    rewind(from);
    while ((n = fread(buffer, 1, sizeof(buffer), from))) {
        if (fwrite(buffer, 1, n, to) != n) {
            return false;
        }
    }
    return !ferror(from);
}
