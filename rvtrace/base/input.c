/*
 * Input files: mapped into memory, whatever they are
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include "base/file-role.h"
#include "base/input.h"

/* What pipes held, by path: it cannot be read again. */
static GHashTable *streams;

/* What is mapped where; it is only added to, so that a handler can read it. */
typedef struct Mapping {
    struct Mapping *next;
    const char *data;
    size_t size;
    char *path;
} Mapping;

static Mapping *mappings;
static int guard_status;

void input_is_mapped(const void *data, size_t size, const char *path)
{
    Mapping *m = g_new(Mapping, 1);

    m->data = data;
    m->size = size;
    m->path = g_strdup(path);
    m->next = __atomic_load_n(&mappings, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&mappings, &m->next, m, true,
                                        __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
        /* There is another one in front now. */
    }
}

static void put_text(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0) {
        /* Nothing more can be said. */
    }
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    const char *at = info->si_addr, *path = "a file that is read";

    for (Mapping *m = __atomic_load_n(&mappings, __ATOMIC_ACQUIRE); m;
         m = m->next) {
        if (at >= m->data && at < m->data + m->size) {
            path = m->path;
            break;
        }
    }
    put_text("rvtrace: error: ");
    put_text(path);
    put_text(": cannot be read any more: it has become shorter meanwhile, or "
             "its disk has a fault; try again when nothing writes to it\n");
    _exit(guard_status);
}

void input_guard(int status)
{
    struct sigaction action = {
        .sa_sigaction = on_bus_error,
        .sa_flags = SA_SIGINFO,
    };

    guard_status = status;
    sigaction(SIGBUS, &action, NULL);
}

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
    input_is_mapped(g_mapped_file_get_contents(file),
                    g_mapped_file_get_length(file), path);
    return g_mapped_file_get_bytes(file);
}

bool input_put(int fd, const void *data, size_t size, const char *path,
               GError **errp)
{
    while (size) {
        ssize_t n = write(fd, data, size);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            set_error(errp, g_get_tmp_dir());
            g_prefix_error(errp, "%s: cannot be copied to a temporary file; "
                           "set TMPDIR to where there is room: ", path);
            return false;
        }
        data = (const char *)data + n;
        size -= n;
    }
    return true;
}

/* Take what @opaque, the open file @path, still has to say. */
static bool copy(int to, const char *path, void *opaque, GError **errp)
{
    g_autofree char *buffer = g_malloc(1 << 16);
    int from = *(int *)opaque;
    ssize_t n;

    do {
        n = read(from, buffer, 1 << 16);
        if (n < 0 && errno != EINTR) {
            set_error(errp, path);
            return false;
        }
        if (n > 0 && !input_put(to, buffer, n, path, errp)) {
            return false;
        }
    } while (n);
    return true;
}

GBytes *input_fill(const char *path, InputFillFn *fill, void *opaque,
                   GError **errp)
{
    g_autofree char *name = NULL;
    int fd = g_file_open_tmp("rvtrace-XXXXXX", &name, errp);
    GBytes *bytes = NULL;

    if (fd < 0) {
        g_prefix_error(errp, "%s: cannot be mapped as it is, and cannot be "
                       "copied to a temporary file: ", path);
        return NULL;
    }
    g_unlink(name);
    if (fill(fd, path, opaque, errp)) {
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
    bytes = input_fill(path, copy, &fd, errp);
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

void input_let_go(GBytes *bytes, size_t from, size_t to)
{
    size_t page = sysconf(_SC_PAGESIZE), size;
    const uint8_t *data = input_data(bytes, &size);

    from = ROUND_UP(from, page);
    /* The last page of a file is mapped as a whole. */
    to = to >= size ? ROUND_UP(size, page) : to / page * page;
    if (from < to) {
        /* If that fails there is no harm done. */
        madvise((void *)(data + from), to - from, MADV_DONTNEED);
    }
}
