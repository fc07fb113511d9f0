/*
 * Packing a stream with zstd, while it comes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <unistd.h>
#include <zstd.h>
#include "collect/packer.h"

struct Packer {
    ZSTD_CCtx *zstd;
    GByteArray *waiting;        /* less than a frame */
    gint64 since;
    uint8_t *out;               /* room for a frame */
    size_t room;
};

Packer *packer_new(int level)
{
    Packer *p = g_new0(Packer, 1);

    p->zstd = ZSTD_createCCtx();
    if (!p->zstd) {
        g_error("no memory to pack with");
    }
    ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1);
    p->waiting = g_byte_array_sized_new(PACKER_FRAME);
    p->room = ZSTD_compressBound(PACKER_FRAME);
    p->out = g_malloc(p->room);
    return p;
}

void packer_free(Packer *p)
{
    ZSTD_freeCCtx(p->zstd);
    g_byte_array_unref(p->waiting);
    g_free(p->out);
    g_free(p);
}

bool write_whole(int fd, const void *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return false;
        }
        data = (const char *)data + n;
        size -= n;
    }
    return true;
}

bool packer_flush(Packer *p, int fd)
{
    size_t n;

    if (!p->waiting->len) {
        return true;
    }
    n = ZSTD_compress2(p->zstd, p->out, p->room, p->waiting->data,
                       p->waiting->len);
    if (ZSTD_isError(n)) {
        /* There is always room: only memory can be short. */
        errno = ENOMEM;
        return false;
    }
    g_byte_array_set_size(p->waiting, 0);
    p->since = 0;
    return write_whole(fd, p->out, n);
}

bool packer_put(Packer *p, int fd, const void *data, size_t size)
{
    while (size) {
        size_t n = MIN(size, PACKER_FRAME - p->waiting->len);

        if (!p->waiting->len) {
            p->since = g_get_monotonic_time();
        }
        g_byte_array_append(p->waiting, data, n);
        data = (const char *)data + n;
        size -= n;
        if (p->waiting->len == PACKER_FRAME &&
            !packer_flush(p, fd)) {
            return false;
        }
    }
    return true;
}

gint64 packer_waits_since(const Packer *p)
{
    return p->since;
}
