/*
 * Files of streams: as they are, or packed by zstd
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <sys/statvfs.h>
#include <unistd.h>
#include <gio/gio.h>
#include <zstd.h>
#include <zstd_errors.h>
#include "base/input.h"
#include "base/packed.h"
#include "base/say.h"
#include "base/stream-file.h"

#define CHUNK       (1u << 20)

/* So much of a disk stays free for others: a tenth, but not more than that */
#define FREE_SHARE  10
#define FREE_MAX    ((uint64_t)1 << 30)

/* Windows of more than that are refused by the library, bytes. */
#define WINDOW_TEXT "128 MiB"

uint64_t stream_file_max = UINT64_MAX;

/* What was unpacked, by path: it is not done twice. */
static GHashTable *unpacked;
static GMutex lock;

typedef struct Unpacking {
    ZSTD_DStream *s;
    ZSTD_inBuffer in;
    uint64_t done;          /* bytes written */
    uint64_t whole;         /* ... to the end of the last whole frame */
} Unpacking;

/* Can @fd have @size bytes more? */
static bool has_room(int fd, const Unpacking *u, size_t size)
{
    struct statvfs fs;
    uint64_t left;

    if (size > stream_file_max - MIN(u->done, stream_file_max)) {
        return false;
    }
    /* Some file systems do not say. */
    if (fstatvfs(fd, &fs) != 0 || !fs.f_blocks) {
        return true;
    }
    left = (uint64_t)fs.f_bavail * fs.f_frsize;
    return left > size + MIN((uint64_t)fs.f_blocks * fs.f_frsize / FREE_SHARE,
                             FREE_MAX);
}

static bool put(int fd, const char *path, Unpacking *u, const void *data,
                size_t size, GError **errp)
{
    if (!has_room(fd, u, size)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
                    "%s: is packed, and has more in it than there is room for "
                    "in %s, which after %" PRIu64 " MB has hardly any left; "
                    "set TMPDIR to where there is more", path,
                    g_get_tmp_dir(), u->done / 1000000);
        return false;
    }
    if (!input_put(fd, data, size, path, errp)) {
        return false;
    }
    u->done += size;
    return true;
}

/* @result is an error of the library. What can be read in spite of it? */
static bool take_damage(int fd, const char *path, const Unpacking *u,
                        size_t result, GError **errp)
{
    if (ZSTD_getErrorCode(result) ==
        ZSTD_error_frameParameter_windowTooLarge) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: takes more than " WINDOW_TEXT " of memory to unpack; "
                    "unpack it first, with zstd -d --long=31", path);
        return false;
    }
    if (!u->whole || ftruncate(fd, u->whole) != 0) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: is packed by zstd, and damaged at byte %zu (%s); "
                    "copy it again", path, u->in.pos,
                    ZSTD_getErrorName(result));
        return false;
    }
    say_warn("%s: is damaged at byte %zu (%s): only what is packed before "
             "that is read, %" PRIu64 " bytes", path, u->in.pos,
             ZSTD_getErrorName(result), u->whole);
    return true;
}

static bool unpack_all(int fd, const char *path, Unpacking *u, GError **errp)
{
    g_autofree uint8_t *chunk = g_malloc(CHUNK);
    ZSTD_outBuffer out;
    size_t result;

    do {
        out = (ZSTD_outBuffer) { .dst = chunk, .size = CHUNK };
        result = ZSTD_decompressStream(u->s, &out, &u->in);
        if (ZSTD_isError(result)) {
            return take_damage(fd, path, u, result, errp);
        }
        if (!put(fd, path, u, chunk, out.pos, errp)) {
            return false;
        }
        if (result == 0) {
            u->whole = u->done;
        }
        /* Inside of a frame, a full chunk may be followed by more. */
    } while (u->in.pos < u->in.size || (result && out.pos == out.size));
    if (result != 0 && !u->done) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: is packed by zstd, and cut off so early that nothing "
                    "can be read; copy it again", path);
        return false;
    }
    if (result != 0) {
        say_warn("%s: its last frame is cut off: what is there of it is "
                 "read, %" PRIu64 " bytes in all", path, u->done);
    }
    return true;
}

static bool unpack(int fd, const char *path, void *opaque, GError **errp)
{
    GBytes *packed = opaque;
    Unpacking u = { .s = ZSTD_createDStream() };
    bool ok;

    u.in.src = input_data(packed, &u.in.size);
    ok = unpack_all(fd, path, &u, errp);
    ZSTD_freeDStream(u.s);
    return ok;
}

/* The caller has the lock. */
static GBytes *find_unpacked(GBytes *packed, const char *path, GError **errp)
{
    GBytes *bytes;

    if (!unpacked) {
        unpacked = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                         (GDestroyNotify)g_bytes_unref);
    }
    bytes = g_hash_table_lookup(unpacked, path);
    if (bytes) {
        return g_bytes_ref(bytes);
    }
    bytes = input_fill(path, unpack, packed, errp);
    if (bytes) {
        g_hash_table_insert(unpacked, g_strdup(path), g_bytes_ref(bytes));
    }
    return bytes;
}

GBytes *stream_file_open(const char *path, GError **errp)
{
    g_autoptr(GBytes) file = input_open(path, errp);
    GBytes *bytes;
    size_t size;
    const uint8_t *data;

    if (!file) {
        return NULL;
    }
    data = input_data(file, &size);
    if (!packed_is_zstd(data, size)) {
        return packed_refuse(file, path, errp) ? g_steal_pointer(&file) : NULL;
    }
    g_mutex_lock(&lock);
    bytes = find_unpacked(file, path, errp);
    g_mutex_unlock(&lock);
    return bytes;
}
