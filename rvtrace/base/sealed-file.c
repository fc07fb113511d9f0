/*
 * Files of our own: a magic number, a version, a checksum, and what is inside
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "base/input.h"
#include "base/sealed-file.h"

#define MAGIC_SIZE      16
#define DIGEST_AT       (MAGIC_SIZE + 4)
#define DIGEST_SIZE     64
#define HEADER_SIZE     (DIGEST_AT + DIGEST_SIZE)

void sealed_file_begin(const SealedKind *kind, GByteArray *out)
{
    g_byte_array_append(out, (const guint8 *)kind->magic, MAGIC_SIZE);
    bytes_put_u32(out, kind->version);
    g_byte_array_set_size(out, HEADER_SIZE);
}

void sealed_file_end(GByteArray *out)
{
    g_autofree char *digest =
        g_compute_checksum_for_data(G_CHECKSUM_SHA256,
                                    out->data + HEADER_SIZE,
                                    out->len - HEADER_SIZE);

    memcpy(out->data + DIGEST_AT, digest, DIGEST_SIZE);
}

bool sealed_file_fail(const SealedKind *kind, const char *path,
                      const char *why, GError **errp)
{
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: %s; %s", path,
                why, kind->remedy);
    return false;
}

static bool check(const SealedKind *kind, const char *path, ByteReader *in,
                  char **digest, GError **errp)
{
    g_autofree char *found = NULL;
    g_autofree char *why = NULL;

    if (in->size < HEADER_SIZE || memcmp(in->data, kind->magic, MAGIC_SIZE)) {
        why = g_strdup_printf("this is no %s", kind->what);
        return sealed_file_fail(kind, path, why, errp);
    }
    in->pos = MAGIC_SIZE;
    if (bytes_get_u32(in) != kind->version) {
        return sealed_file_fail(kind, path, "it is of another version of "
                                "rvtrace", errp);
    }
    in->pos = HEADER_SIZE;
    found = g_compute_checksum_for_data(G_CHECKSUM_SHA256,
                                        in->data + HEADER_SIZE,
                                        in->size - HEADER_SIZE);
    if (memcmp(in->data + DIGEST_AT, found, DIGEST_SIZE)) {
        return sealed_file_fail(kind, path, "the file is damaged", errp);
    }
    if (digest) {
        *digest = g_steal_pointer(&found);
    }
    return true;
}

GBytes *sealed_file_open(const SealedKind *kind, const char *path,
                         ByteReader *in, char **digest, GError **errp)
{
    g_autoptr(GBytes) file = input_open(path, errp);

    if (!file) {
        return NULL;
    }
    *in = (ByteReader) { 0 };
    in->data = input_data(file, &in->size);
    return check(kind, path, in, digest, errp) ? g_steal_pointer(&file) :
                                                 NULL;
}
