/*
 * RISC-V trace of programs: files that are appended to
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "file.h"

/* Windows grow with the file: most programs are short. */
#define ROOM_MIN    (64 * KiB)
#define ROOM_MAX    (4 * MiB)

/* A number that the program is not going to miss */
static int move_up(int fd)
{
    struct rlimit limit;
    int up = -1;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 64) {
        up = fcntl(fd, F_DUPFD_CLOEXEC, (int)MIN(limit.rlim_cur, 65536) - 16);
    }
    if (up < 0) {
        return fd;
    }
    close(fd);
    return up;
}

bool riscv_trace_file_create(RISCVTraceFile *f, const char *path,
                             Error **errp)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

    if (fd < 0) {
        error_setg_errno(errp, errno, "etrace: %s cannot be created", path);
        return false;
    }
    fd = move_up(fd);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
        error_setg(errp, "etrace: another process writes %s: put %%p, its "
                   "number, into the name", path);
        close(fd);
        return false;
    }
    if (ftruncate(fd, 0) < 0) {
        error_setg_errno(errp, errno, "etrace: %s cannot be emptied", path);
        close(fd);
        return false;
    }
    *f = (RISCVTraceFile) {
        .path = g_canonicalize_filename(path, NULL),
        .lock = fd,
    };
    return true;
}

static void close_window(RISCVTraceFile *f)
{
    if (f->window) {
        munmap(f->window, f->room);
        f->window = NULL;
    }
    f->start += f->used;
    f->used = f->room = 0;
}

static bool open_window(RISCVTraceFile *f, Error **errp)
{
    /* where it begins in its page */
    size_t skip = f->start & (qemu_real_host_page_size() - 1);
    size_t room = MIN(MAX(f->start / 4, ROOM_MIN), ROOM_MAX);
    int fd = open(f->path, O_RDWR | O_CLOEXEC);
    int err;

    room = ROUND_UP(room, qemu_real_host_page_size());
    if (fd < 0) {
        error_setg_errno(errp, errno, "etrace: %s cannot be opened again",
                         f->path);
        return false;
    }
    err = posix_fallocate(fd, f->start - skip, room);
    if (!err) {
        f->window = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                         f->start - skip);
        if (f->window == MAP_FAILED) {
            err = errno;
            f->window = NULL;
        }
    }
    close(fd);
    if (err) {
        error_setg_errno(errp, err, "etrace: %s cannot grow", f->path);
        return false;
    }
    f->start -= skip;
    f->used = skip;
    f->room = room;
    return true;
}

bool riscv_trace_file_append(RISCVTraceFile *f, const void *data, size_t len,
                             Error **errp)
{
    while (len) {
        size_t n = MIN(len, f->room - f->used);

        if (!n) {
            close_window(f);
            if (!open_window(f, errp)) {
                return false;
            }
            continue;
        }
        memcpy(f->window + f->used, data, n);
        f->used += n;
        data = (const char *)data + n;
        len -= n;
    }
    return true;
}

void riscv_trace_file_settle(RISCVTraceFile *f)
{
    if (f->path) {
        close_window(f);
        if (truncate(f->path, f->start) < 0) {
            /* There are zeroes behind it, as of a process that was killed. */
        }
    }
}

void riscv_trace_file_forget(RISCVTraceFile *f)
{
    if (f->window) {
        munmap(f->window, f->room);
    }
    g_free(f->path);
    *f = (RISCVTraceFile) { };
}
