/*
 * Records of a perf.data file
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "base/little-endian.h"
#include "base/perf-file.h"

#define MAGIC                   "PERFILE2"
#define HEADER_SIZE_PIPE        16
#define HEADER_SIZE_FILE        104
#define AUXTRACE_SIZE           40      /* size, offset, ref, idx, tid, cpu */

#define invalid(errp, ...) \
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, __VA_ARGS__)

bool perf_file_is(const uint8_t *data, size_t size)
{
    return size >= PERF_FILE_MAGIC_SIZE && !memcmp(data, MAGIC, 8);
}

bool perf_file_open(PerfFile *f, const char *path, const uint8_t *data,
                    size_t size, GError **errp)
{
    uint64_t header = get_le(data + 8, 8), attrs, attrs_size, begin, bytes;

    *f = (PerfFile) { .path = path, .data = data };
    f->begin = HEADER_SIZE_PIPE;
    f->end = size;
    if (header == HEADER_SIZE_PIPE) {
        return true;
    }
    if (header < HEADER_SIZE_FILE || size < HEADER_SIZE_FILE) {
        invalid(errp, "%s: the header of this perf.data file is damaged, or of "
                "a machine of another byte order", path);
        return false;
    }
    attrs = get_le(data + 24, 8);
    attrs_size = get_le(data + 32, 8);
    begin = get_le(data + 40, 8);
    bytes = get_le(data + 48, 8);
    if (attrs > size || attrs_size > size - attrs || begin > size ||
        bytes > size - begin) {
        invalid(errp, "%s: the perf.data file is cut off; did perf record "
                "end?", path);
        return false;
    }
    f->attrs = attrs;
    f->attrs_size = attrs_size;
    f->attr_size = MIN(get_le(data + 16, 8), attrs_size);
    f->begin = begin;
    f->end = begin + bytes;
    return true;
}

const uint8_t *perf_file_next(const PerfFile *f, size_t *pos, GError **errp)
{
    const uint8_t *rec = f->data + *pos;
    size_t left = f->end - *pos, size, behind = 0;

    if (!left) {
        return NULL;
    }
    size = left < PERF_FILE_RECORD_HEADER ? 0 : get_le(rec + 6, 2);
    if (size >= PERF_FILE_RECORD_HEADER + AUXTRACE_SIZE && size <= left &&
        get_le(rec, 4) == PERF_FILE_AUXTRACE) {
        behind = get_le(rec + PERF_FILE_RECORD_HEADER, 8);
    }
    if (size < PERF_FILE_RECORD_HEADER || size > left ||
        behind > left - size) {
        invalid(errp, "%s: the record at byte %zu is damaged or cut off",
                f->path, *pos);
        return NULL;
    }
    *pos += size + behind;
    return rec;
}
