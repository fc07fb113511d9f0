/*
 * Packed files: what gzip, xz or zstd made smaller
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include "base/input.h"
#include "base/packed.h"

/* What unpacking one file may take, but for what is in it, bytes */
#define MEMORY_MAX  (256u << 20)
#define CHUNK       65536

size_t packed_total_max = (size_t)1 << 30;

static size_t total;            /* bytes unpacked and in use; atomic */

typedef enum Status {
    UNPACK_DONE,
    UNPACK_FULL,            /* there is more than was asked for */
    UNPACK_DAMAGED,
} Status;

/* Add what is in @in to @out until that has @most bytes. */
typedef Status UnpackFn(const uint8_t *in, size_t size, size_t most,
                        GByteArray *out);

static Status unpack_gzip(const uint8_t *in, size_t size, size_t most,
                          GByteArray *out)
{
    g_autofree uint8_t *chunk = g_malloc(CHUNK);
    z_stream s = { .next_in = (uint8_t *)in };
    size_t left = size;
    int result;

    /* The largest window, and gzip's header only */
    if (inflateInit2(&s, MAX_WBITS + 16) != Z_OK) {
        return UNPACK_DAMAGED;
    }
    do {
        if (!s.avail_in) {
            s.avail_in = MIN(left, UINT_MAX);
            left -= s.avail_in;
        }
        s.next_out = chunk;
        s.avail_out = CHUNK;
        result = inflate(&s, Z_NO_FLUSH);
        g_byte_array_append(out, chunk, CHUNK - s.avail_out);
    } while (result == Z_OK && out->len < most);
    inflateEnd(&s);
    return out->len >= most ? UNPACK_FULL :
           result == Z_STREAM_END ? UNPACK_DONE : UNPACK_DAMAGED;
}

static Status unpack_xz(const uint8_t *in, size_t size, size_t most,
                        GByteArray *out)
{
    g_autofree uint8_t *chunk = g_malloc(CHUNK);
    lzma_stream s = LZMA_STREAM_INIT;
    lzma_ret result;

    if (lzma_stream_decoder(&s, MEMORY_MAX, LZMA_CONCATENATED) != LZMA_OK) {
        return UNPACK_DAMAGED;
    }
    s.next_in = in;
    s.avail_in = size;
    do {
        s.next_out = chunk;
        s.avail_out = CHUNK;
        result = lzma_code(&s, LZMA_FINISH);
        g_byte_array_append(out, chunk, CHUNK - s.avail_out);
    } while (result == LZMA_OK && out->len < most);
    lzma_end(&s);
    return out->len >= most ? UNPACK_FULL :
           result == LZMA_STREAM_END ? UNPACK_DONE : UNPACK_DAMAGED;
}

static Status unpack_zstd(const uint8_t *in, size_t size, size_t most,
                          GByteArray *out)
{
    g_autofree uint8_t *chunk = g_malloc(CHUNK);
    ZSTD_DStream *s = ZSTD_createDStream();
    ZSTD_inBuffer from = { .src = in, .size = size };
    ZSTD_outBuffer to;
    size_t result;

    do {
        to = (ZSTD_outBuffer) { .dst = chunk, .size = CHUNK };
        result = ZSTD_decompressStream(s, &to, &from);
        if (ZSTD_isError(result)) {
            break;
        }
        g_byte_array_append(out, chunk, to.pos);
        /* Inside of a frame, a full chunk may be followed by more. */
    } while ((from.pos < from.size || (result && to.pos == to.size)) &&
             out->len < most);
    ZSTD_freeDStream(s);
    return out->len >= most ? UNPACK_FULL :
           result == 0 ? UNPACK_DONE : UNPACK_DAMAGED;
}

static const struct {
    const char *magic;
    size_t len;
    UnpackFn *unpack;
    const char *tool;
} formats[] = {
    { "\x1f\x8b\x08", 3, unpack_gzip, "zcat" },
    { "\xfd" "7zXZ\0", 6, unpack_xz, "xzcat" },
    { "\x28\xb5\x2f\xfd", 4, unpack_zstd, "zstdcat" },
};

/* The number of its format, or that of all if it is none */
static unsigned find_format(const uint8_t *head, size_t size)
{
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(formats); i++) {
        if (size >= formats[i].len &&
            !memcmp(head, formats[i].magic, formats[i].len)) {
            break;
        }
    }
    return i;
}

static UnpackFn *format_of(const uint8_t *head, size_t size)
{
    unsigned i = find_format(head, size);

    return i < ARRAY_SIZE(formats) ? formats[i].unpack : NULL;
}

bool packed_refuse(GBytes *bytes, const char *path, GError **errp)
{
    size_t size;
    const uint8_t *data = input_data(bytes, &size);
    unsigned i = find_format(data, size);

    if (i < ARRAY_SIZE(formats)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: is compressed: unpack it, or in its place give "
                    "<(%s %s)", path, formats[i].tool, path);
        return false;
    }
    return true;
}

bool packed_is(const uint8_t *head, size_t size)
{
    return format_of(head, size);
}

bool packed_is_zstd(const uint8_t *head, size_t size)
{
    return format_of(head, size) == unpack_zstd;
}

/* Bytes that count until they are freed */
typedef struct Unpacked {
    uint8_t *data;
    size_t size;
} Unpacked;

static void free_unpacked(gpointer opaque)
{
    Unpacked *u = opaque;

    __atomic_fetch_sub(&total, u->size, __ATOMIC_RELAXED);
    g_free(u->data);
    g_free(u);
}

static GBytes *keep(GByteArray *out)
{
    Unpacked *u = g_new(Unpacked, 1);

    u->size = out->len;
    u->data = g_byte_array_free(out, FALSE);
    /* It was made for more than there is in the end. */
    u->data = g_realloc(u->data, MAX(u->size, 1));
    __atomic_fetch_add(&total, u->size, __ATOMIC_RELAXED);
    return g_bytes_new_with_free_func(u->data, u->size, free_unpacked, u);
}

static size_t room(void)
{
    size_t used = __atomic_load_n(&total, __ATOMIC_RELAXED);

    return packed_total_max - MIN(used, packed_total_max);
}

/* What is packed in @bytes, which are those of @path; or else @bytes */
static GBytes *unpack_most(GBytes *bytes, const char *path, size_t most,
                           bool whole, GError **errp)
{
    g_autoptr(GByteArray) out = NULL;
    size_t size, left = room();
    const uint8_t *data = input_data(bytes, &size);
    UnpackFn *unpack = format_of(data, size);
    Status status;
    bool crowded = whole && left < most;

    if (!unpack) {
        return g_bytes_ref(bytes);
    }
    out = g_byte_array_new();
    if (crowded) {
        most = MAX(left, 1);
    }
    status = unpack(data, size, most, out);
    if (crowded && status == UNPACK_FULL) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
                    "%s: with the other files that are packed there is too "
                    "much in it; unpack it first", path);
        return NULL;
    }
    if (status == UNPACK_DAMAGED || (whole && status == UNPACK_FULL)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    status == UNPACK_DAMAGED ?
                    "%s: what is packed in it is cut off or damaged; "
                    "copy it again" :
                    "%s: there is too much in it; unpack it first", path);
        return NULL;
    }
    if (out->len > most) {
        g_byte_array_set_size(out, most);
    }
    return keep(g_steal_pointer(&out));
}

GBytes *packed_open(const char *path, GError **errp)
{
    g_autoptr(GBytes) file = input_open(path, errp);

    return file ? packed_unpack(file, path, errp) : NULL;
}

GBytes *packed_unpack(GBytes *bytes, const char *path, GError **errp)
{
    return unpack_most(bytes, path, PACKED_MAX, true, errp);
}

GBytes *packed_open_head(const char *path, size_t most, GError **errp)
{
    g_autoptr(GBytes) file = input_open(path, errp);

    return file ? unpack_most(file, path, most, false, errp) : NULL;
}
