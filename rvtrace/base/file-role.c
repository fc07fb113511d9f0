/*
 * Which files are read, and which are written: none may be both
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file-role.h"

typedef struct FileId {
    dev_t dev;
    ino_t ino;
} FileId;

typedef struct Written {
    char *path, *name;          /* as it was given; the last part of it */
    FileId folder, file;
    bool is_there;              /* @file is valid */
} Written;

static GMutex lock;
static GHashTable *inputs;      /* FileId to its path */
static GPtrArray *outputs;      /* Written */

static guint hash_id(gconstpointer opaque)
{
    const FileId *id = opaque;
    gint64 both = (gint64)id->ino ^ (gint64)id->dev << 32;

    return g_int64_hash(&both);
}

static gboolean same_id(gconstpointer a, gconstpointer b)
{
    const FileId *x = a, *y = b;

    return x->dev == y->dev && x->ino == y->ino;
}

static void free_written(gpointer opaque)
{
    Written *w = opaque;

    g_free(w->path);
    g_free(w->name);
    g_free(w);
}

static void begin(void)
{
    g_mutex_lock(&lock);
    if (!inputs) {
        inputs = g_hash_table_new_full(hash_id, same_id, g_free, g_free);
        outputs = g_ptr_array_new_with_free_func(free_written);
    }
}

static FileId id_of(const struct stat *st)
{
    return (FileId) { .dev = st->st_dev, .ino = st->st_ino };
}

static const Written *find_output(const FileId *id)
{
    for (guint i = 0; i < outputs->len; i++) {
        const Written *w = outputs->pdata[i];

        if (w->is_there && same_id(&w->file, id)) {
            return w;
        }
    }
    return NULL;
}

bool file_role_read(int fd, const char *path, GError **errp)
{
    struct stat st, out;
    const Written *w;
    FileId id;

    /* Pipes and devices are read and written at the same time. */
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return true;
    }
    id = id_of(&st);
    if (fstat(STDOUT_FILENO, &out) == 0 && S_ISREG(out.st_mode) &&
        out.st_dev == st.st_dev && out.st_ino == st.st_ino) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_WOULD_RECURSE,
                    "%s: is read, and standard output goes to it; choose "
                    "another file to write to", path);
        return false;
    }
    begin();
    w = find_output(&id);
    if (w) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_WOULD_RECURSE,
                    "%s: is read, and %s, which is to be written, is the same "
                    "file; choose another one", path, w->path);
    } else if (!g_hash_table_contains(inputs, &id)) {
        g_hash_table_insert(inputs, g_memdup2(&id, sizeof(id)),
                            g_strdup(path));
    }
    g_mutex_unlock(&lock);
    return !w;
}

static Written *new_written(const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path);
    Written *w = g_new0(Written, 1);
    struct stat st;

    w->path = g_strdup(path);
    w->name = g_path_get_basename(path);
    if (stat(folder, &st) == 0) {
        w->folder = id_of(&st);
    }
    if (stat(path, &st) == 0) {
        w->file = id_of(&st);
        w->is_there = true;
    }
    return w;
}

static bool same_output(const Written *a, const Written *b)
{
    return (same_id(&a->folder, &b->folder) &&
            g_str_equal(a->name, b->name)) ||
           (a->is_there && b->is_there && same_id(&a->file, &b->file));
}

bool file_role_write(const char *path, GError **errp)
{
    Written *w = new_written(path);
    const char *input = NULL;
    bool twice = false;

    begin();
    if (w->is_there) {
        input = g_hash_table_lookup(inputs, &w->file);
    }
    for (guint i = 0; i < outputs->len; i++) {
        twice |= same_output(w, outputs->pdata[i]);
    }
    if (input) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_WOULD_RECURSE,
                    "%s: is the same file as %s, which is read; choose "
                    "another one to write to", path, input);
    } else if (twice) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_EXISTS,
                    "%s: is to be written twice; choose another file for one "
                    "of them", path);
    }
    if (input || twice) {
        free_written(w);
    } else {
        g_ptr_array_add(outputs, w);
    }
    g_mutex_unlock(&lock);
    return !input && !twice;
}

void file_role_written(const char *path)
{
    begin();
    for (guint i = 0; i < outputs->len; i++) {
        if (g_str_equal(((const Written *)outputs->pdata[i])->path, path)) {
            g_ptr_array_remove_index(outputs, i);
            break;
        }
    }
    g_mutex_unlock(&lock);
}

int file_role_lock(const char *path, GError **errp)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK, 0666);
    struct stat st;

    if (fd < 0) {
        return -1;
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            return fd;
        }
        if (errno == EWOULDBLOCK) {
            g_set_error(errp, G_IO_ERROR, G_IO_ERROR_BUSY,
                        "%s: another program is writing it; choose another "
                        "file, or wait until that has ended", path);
        }
    }
    close(fd);
    return -1;
}
