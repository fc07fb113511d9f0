/*
 * Files below a folder, by paths that others have chosen
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <fcntl.h>
#include <gio/gio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef SYS_openat2
#include <linux/openat2.h>
#endif
#include "base/below.h"

#define MAX_LINKS   40

/* What @fd, opened with O_PATH, is called on this machine */
static char *path_of(int fd)
{
    g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", fd);
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ?
           g_file_read_link(link, NULL) : NULL;
}

/* The folders from the root to where we are, opened */
static void leave(GArray *folders)
{
    close(g_array_index(folders, int, folders->len - 1));
    g_array_set_size(folders, folders->len - 1);
}

/* Put the target of the link @name in front of the rest of a path. */
static bool put_link(int folder, const char *name, GArray *folders,
                     GString *rest)
{
    char to[PATH_MAX];
    ssize_t len = readlinkat(folder, name, to, sizeof(to));

    if (len <= 0 || len == sizeof(to)) {
        return false;
    }
    g_string_prepend_c(rest, '/');
    g_string_prepend_len(rest, to, len);
    while (to[0] == '/' && folders->len > 1) {
        leave(folders);
    }
    return true;
}

/* Walk to the end of @rest; the last one of @folders is what is there then. */
static bool walk(GArray *folders, GString *rest)
{
    unsigned links = 0;

    while (rest->len) {
        size_t len = strcspn(rest->str, "/");
        g_autofree char *name = g_strndup(rest->str, len);
        int here = g_array_index(folders, int, folders->len - 1);
        struct stat st;

        g_string_erase(rest, 0, MIN(len + 1, rest->len));
        if (!len || g_str_equal(name, ".")) {
            continue;
        }
        if (g_str_equal(name, "..")) {
            if (folders->len > 1) {
                leave(folders);
            }
            continue;
        }
        if (fstatat(here, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            return false;
        }
        if (S_ISLNK(st.st_mode)) {
            if (++links > MAX_LINKS || !put_link(here, name, folders, rest)) {
                return false;
            }
        } else {
            int fd = openat(here, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

            if (fd < 0) {
                return false;
            }
            g_array_append_val(folders, fd);
        }
    }
    return true;
}

char *below_find_by_steps(const char *root, const char *path)
{
    g_autoptr(GArray) folders = g_array_new(FALSE, FALSE, sizeof(int));
    g_autoptr(GString) rest = g_string_new(path);
    int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    char *found = NULL;

    if (fd < 0) {
        return NULL;
    }
    g_array_append_val(folders, fd);
    if (walk(folders, rest)) {
        found = path_of(g_array_index(folders, int, folders->len - 1));
    }
    while (folders->len) {
        leave(folders);
    }
    return found;
}

char *below_find(const char *root, const char *path)
{
#ifdef SYS_openat2
    struct open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
    g_autofree char *found = NULL;

    if (folder < 0) {
        return NULL;
    }
    fd = syscall(SYS_openat2, folder, path, &how, sizeof(how));
    close(folder);
    if (fd >= 0) {
        found = path_of(fd);
        close(fd);
        return g_steal_pointer(&found);
    }
    /* Some containers say EPERM of what they do not know. */
    if (errno != ENOSYS && errno != EPERM && errno != EAGAIN) {
        return NULL;
    }
#endif
    return below_find_by_steps(root, path);
}
