/*
 * Folders that views are: whole, or not there
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include "views/perf/view-folder.h"

struct ViewFolder {
    char *path;
    bool made;              /* it was not there before */
    GHashTable *files;      /* paths of what was written to it */
    bool finished;
    int error;              /* errno of the first failure; 0: none */
};

static bool is_empty(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);

    return dir && !g_dir_read_name(dir);
}

ViewFolder *view_folder_new(const char *path, GError **errp)
{
    int error = g_mkdir(path, 0777) == 0 ? 0 : errno;
    ViewFolder *f;

    if (error && (error != EEXIST || !is_empty(path))) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_FAILED,
                    "%s: %s; give the name of a new folder", path,
                    error == EEXIST ? "is there already, and not empty" :
                                      g_strerror(error));
        return NULL;
    }
    f = g_new0(ViewFolder, 1);
    f->path = g_strdup(path);
    f->made = !error;
    f->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return f;
}

/* Half of it is of no use, and in the way of another try. */
static void remove_all(ViewFolder *f)
{
    GHashTableIter iter;
    gpointer path;

    g_hash_table_iter_init(&iter, f->files);
    while (g_hash_table_iter_next(&iter, &path, NULL)) {
        g_unlink(path);
    }
    if (f->made) {
        g_rmdir(f->path);
    }
}

void view_folder_free(ViewFolder *folder)
{
    if (!folder->finished) {
        remove_all(folder);
    }
    g_hash_table_unref(folder->files);
    g_free(folder->path);
    g_free(folder);
}

FILE *view_folder_open(ViewFolder *folder, const char *name, const char *mode)
{
    g_autofree char *path = g_build_filename(folder->path, name, NULL);
    FILE *f = folder->error ? NULL : fopen(path, mode);

    if (f) {
        g_hash_table_add(folder->files, g_steal_pointer(&path));
    } else if (!folder->error) {
        folder->error = errno;
    }
    return f;
}

void view_folder_close(ViewFolder *folder, FILE *f)
{
    bool failed = ferror(f);

    if ((fclose(f) != 0 || failed) && !folder->error) {
        folder->error = errno ?: EIO;
    }
}

bool view_folder_check(const ViewFolder *folder, GError **errp)
{
    if (folder->error) {
        g_set_error(errp, G_IO_ERROR, g_io_error_from_errno(folder->error),
                    "cannot write to %s: %s", folder->path,
                    g_strerror(folder->error));
    }
    return !folder->error;
}

bool view_folder_finish(ViewFolder *folder, GError **errp)
{
    folder->finished = view_folder_check(folder, errp);
    return folder->finished;
}
