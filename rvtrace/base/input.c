/*
 * Input files: mapped into memory, whatever they are
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include "base/file-role.h"
#include "base/input.h"

/* What pipes held, by path: it cannot be read again. */
static GHashTable *streams;

static void set_error(GError **errp, const char *path)
{
    int code = errno;

    g_set_error(errp, G_IO_ERROR, g_io_error_from_errno(code), "%s: %s", path,
                g_strerror(code));
}

static GBytes *map(int fd, const char *path, GError **errp)
{
    g_autoptr(GMappedFile) file = g_mapped_file_new_from_fd(fd, false, errp);

    if (!file) {
        g_prefix_error(errp, "%s: ", path);
        return NULL;
    }
    return g_mapped_file_get_bytes(file);
}

static bool write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return false;
        }
        data += n;
        size -= n;
    }
    return true;
}

static bool copy(int from, int to, const char *path, GError **errp)
{
    g_autofree char *buffer = g_malloc(1 << 16);
    ssize_t n;

    do {
        n = read(from, buffer, 1 << 16);
        if (n < 0 && errno != EINTR) {
            set_error(errp, path);
            return false;
        }
        if (n > 0 && !write_all(to, buffer, n)) {
            set_error(errp, g_get_tmp_dir());
            g_prefix_error(errp, "%s: cannot be copied to a temporary file; "
                           "set TMPDIR to where there is room: ", path);
            return false;
        }
    } while (n);
    return true;
}

/* Take what @from, which is @path, still has to say. */
static GBytes *drain(int from, const char *path, GError **errp)
{
    g_autofree char *name = NULL;
    int fd = g_file_open_tmp("rvtrace-XXXXXX", &name, errp);
    GBytes *bytes = NULL;

    if (fd < 0) {
        g_prefix_error(errp, "%s: is no file that can be mapped, and cannot "
                       "be copied to one: ", path);
        return NULL;
    }
    g_unlink(name);
    if (copy(from, fd, path, errp)) {
        bytes = map(fd, path, errp);
    }
    close(fd);
    return bytes;
}

static GBytes *open_fd(int fd, const char *path, GError **errp)
{
    GBytes *bytes;
    struct stat st;

    if (fstat(fd, &st) < 0) {
        set_error(errp, path);
        return NULL;
    }
    if (S_ISREG(st.st_mode) && st.st_size) {
        return map(fd, path, errp);
    }
    if (S_ISDIR(st.st_mode) || S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE,
                    "%s: is a %s; give a file or a pipe", path,
                    S_ISDIR(st.st_mode) ? "folder" : "device");
        return NULL;
    }
    bytes = drain(fd, path, errp);
    if (bytes) {
        g_hash_table_insert(streams, g_strdup(path), g_bytes_ref(bytes));
    }
    return bytes;
}

GBytes *input_open(const char *path, GError **errp)
{
    GBytes *bytes;
    int fd;

    if (!streams) {
        streams = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                        (GDestroyNotify)g_bytes_unref);
    }
    bytes = g_hash_table_lookup(streams, path);
    if (bytes) {
        return g_bytes_ref(bytes);
    }
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        set_error(errp, path);
        return NULL;
    }
    bytes = file_role_read(fd, path, errp) ? open_fd(fd, path, errp) : NULL;
    close(fd);
    return bytes;
}

const uint8_t *input_data(GBytes *bytes, size_t *size)
{
    gsize len;
    const uint8_t *data = g_bytes_get_data(bytes, &len);

    *size = len;
    return data ?: (const uint8_t *)"";
}

/* Whatever the host's pages are, these are some of them. */
#define UNIT    ((size_t)65536)

void input_let_go(GBytes *bytes, size_t from, size_t to)
{
    size_t size;
    const uint8_t *data = input_data(bytes, &size);

    from = (from + UNIT - 1) / UNIT * UNIT;
    to = MIN(to, size) / UNIT * UNIT;
    if (from < to) {
        /* If that fails there is no harm done. */
        madvise((void *)(data + from), to - from, MADV_DONTNEED);
    }
}
