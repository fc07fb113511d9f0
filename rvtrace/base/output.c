/*
 * Output files: there when they are whole, and not before
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <gio/gio.h>
#include "base/file-role.h"
#include "base/output.h"

#define MAX_LINKS   40
#define MAX_TRIES   100

struct Output {
    char *name;                 /* for messages */
    FILE *f;
    bool is_file;               /* the rest is of such */
    char *path;                 /* what it becomes; no link */
    char *temporary;            /* what it is called; NULL: nothing, yet */
    bool shown;                 /* it is called @path */
};

static void set_error(GError **errp, const char *name)
{
    int code = errno;

    g_set_error(errp, G_IO_ERROR, g_io_error_from_errno(code),
                "cannot write %s: %s", name, g_strerror(code));
}

/* The file that the links of @path lead to, which need not be there */
static char *follow_links(const char *path, GError **errp)
{
    g_autofree char *at = g_strdup(path);

    for (unsigned i = 0; i < MAX_LINKS; i++) {
        g_autofree char *to = g_file_read_link(at, NULL);
        g_autofree char *folder = NULL;

        if (!to) {
            return g_steal_pointer(&at);
        }
        folder = g_path_get_dirname(at);
        g_free(at);
        at = g_path_is_absolute(to) ? g_strdup(to) :
             g_build_filename(folder, to, NULL);
    }
    errno = ELOOP;
    set_error(errp, path);
    return NULL;
}

/* Our own standard output, or another open file: N of /dev/fd/N; else -1 */
static int open_file_number(const char *path)
{
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    guint64 number;

    if (g_str_equal(path, "/dev/stdout")) {
        return STDOUT_FILENO;
    }
    if (g_str_equal(path, "/dev/stderr")) {
        return STDERR_FILENO;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(folders); i++) {
        if (g_str_has_prefix(path, folders[i]) &&
            g_ascii_string_to_unsigned(path + strlen(folders[i]), 10, 0,
                                       INT_MAX, &number, NULL)) {
            return number;
        }
    }
    return -1;
}

static char *temporary_name(const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *name = g_strdup_printf(".rvtrace-%08x",
                                            g_random_int());

    return g_build_filename(folder, name, NULL);
}

/* A new file in the folder of o->path, if need be with a name; or -1 */
static int open_beside(Output *o, bool named)
{
    g_autofree char *folder = g_path_get_dirname(o->path);
    int fd = -1;

    if (!named && access("/proc/self/fd", X_OK) == 0) {
        fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
        if (fd >= 0) {
            return fd;
        }
    }
    for (unsigned i = 0; i < MAX_TRIES && fd < 0; i++) {
        g_free(o->temporary);
        o->temporary = temporary_name(o->path);
        fd = open(o->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) {
            break;
        }
    }
    if (fd < 0) {
        g_clear_pointer(&o->temporary, g_free);
    }
    return fd;
}

/* False, with @errp set, if another program is writing the file. */
static bool is_free(const char *path, GError **errp)
{
    g_autoptr(GError) err = NULL;
    int fd;

    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        return true;
    }
    fd = file_role_lock(path, &err);
    if (fd >= 0) {
        close(fd);
    }
    if (err) {
        g_propagate_error(errp, g_steal_pointer(&err));
        return false;
    }
    return true;
}

/* Open a file that is not a regular one, or that cannot be replaced. */
static int open_as_it_is(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

static int open_file(Output *o, bool named, GError **errp)
{
    struct stat st;
    bool there = stat(o->path, &st) == 0;
    int fd;

    /* Who took away the right to write to it does not want it replaced. */
    if (there && access(o->path, W_OK) != 0) {
        set_error(errp, o->name);
        return -1;
    }
    if (!file_role_write(o->path, errp)) {
        return -1;
    }
    o->is_file = true;
    if (!is_free(o->path, errp)) {
        return -1;
    }
    fd = open_beside(o, named);
    if (fd >= 0) {
        /* Nobody else is to replace it while it grows. */
        flock(fd, LOCK_EX | LOCK_NB);
        if (there) {
            /* If the group cannot be kept, it is nobody else's fault. */
            if (fchown(fd, -1, st.st_gid) == 0 || st.st_gid == getgid()) {
                fchmod(fd, st.st_mode & 0777);
            }
        }
        return fd;
    }
    if (there && (errno == EACCES || errno == EPERM || errno == EROFS)) {
        /* A file that one may write to in a folder that one may not */
        o->shown = true;
        fd = open_as_it_is(o->path);
    }
    if (fd < 0) {
        set_error(errp, o->name);
    }
    return fd;
}

static int open_target(Output *o, const char *path, bool named, GError **errp)
{
    int number = open_file_number(path), fd;
    struct stat st;

    if (number >= 0) {
        fd = fcntl(number, F_DUPFD_CLOEXEC, 0);
    } else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        fd = open_as_it_is(path);
    } else {
        o->path = follow_links(path, errp);
        return o->path ? open_file(o, named, errp) : -1;
    }
    if (fd < 0) {
        set_error(errp, path);
    }
    return fd;
}

static void free_output(Output *o)
{
    if (o->f && o->f != stdout) {
        fclose(o->f);
    }
    if (o->is_file) {
        if (!o->shown && o->temporary) {
            unlink(o->temporary);
        }
        file_role_written(o->path);
    }
    g_free(o->name);
    g_free(o->path);
    g_free(o->temporary);
    g_free(o);
}

static Output *open_output(const char *path, bool named, GError **errp)
{
    Output *o = g_new0(Output, 1);
    int fd;

    if (!path || g_str_equal(path, "-")) {
        o->name = g_strdup("standard output");
        o->f = stdout;
        return o;
    }
    o->name = g_strdup(path);
    fd = open_target(o, path, named, errp);
    if (fd < 0) {
        free_output(o);
        return NULL;
    }
    o->f = fdopen(fd, "w");
    return o;
}

Output *output_open(const char *path, GError **errp)
{
    return open_output(path, false, errp);
}

Output *output_open_binary(const char *path, GError **errp)
{
    if (!path && isatty(STDOUT_FILENO)) {
        g_set_error_literal(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                            "this is nothing to read on a terminal: give -o "
                            "FILE");
        return NULL;
    }
    return output_open(path, errp);
}

Output *output_open_growing(const char *path, GError **errp)
{
    return open_output(path, true, errp);
}

FILE *output_stream(Output *o)
{
    return o->f;
}

int output_fd(Output *o)
{
    return fileno(o->f);
}

/* A name for a file that has none */
static bool give_name(Output *o)
{
    g_autofree char *open_file = g_strdup_printf("/proc/self/fd/%d",
                                                 fileno(o->f));

    for (unsigned i = 0; i < MAX_TRIES; i++) {
        g_autofree char *name = temporary_name(o->path);

        if (linkat(AT_FDCWD, open_file, AT_FDCWD, name,
                   AT_SYMLINK_FOLLOW) == 0) {
            o->temporary = g_steal_pointer(&name);
            return true;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    return false;
}

bool output_show(Output *o, GError **errp)
{
    if (!o->is_file || o->shown) {
        return true;
    }
    /* It may be read by now, though it was not when this one was opened. */
    file_role_written(o->path);
    if (!file_role_write(o->path, errp) || !is_free(o->path, errp)) {
        return false;
    }
    if ((!o->temporary && !give_name(o)) ||
        rename(o->temporary, o->path) != 0) {
        set_error(errp, o->name);
        return false;
    }
    o->shown = true;
    return true;
}

bool output_commit(Output *o, GError **errp)
{
    bool ok = fflush(o->f) == 0 && !ferror(o->f);

    ok = ok && (!o->is_file || o->shown || o->temporary || give_name(o));
    if (!ok) {
        set_error(errp, o->name);
    }
    /* What is on its way to a server may be refused as late as now. */
    if (o->f != stdout && fclose(g_steal_pointer(&o->f)) != 0 && ok) {
        set_error(errp, o->name);
        ok = false;
    }
    ok = ok && output_show(o, errp);
    free_output(o);
    return ok;
}

void output_discard(Output *o)
{
    free_output(o);
}

bool output_write(const char *path, const void *data, size_t len,
                  GError **errp)
{
    Output *o = output_open(path, errp);

    if (!o) {
        return false;
    }
    fwrite(data, 1, len, o->f);
    return output_commit(o, errp);
}
