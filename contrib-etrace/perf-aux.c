/*
 * The AUX data of a perf.data file
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "perf-aux.h"

#define MAGIC                   "PERFILE2"
#define HEADER_SIZE_PIPE        16
#define HEADER_SIZE_FILE        104

/* perf_event_header: u32 type, u16 misc, u16 size */
#define RECORD_HEADER           8
#define RECORD_AUX              11
#define RECORD_HEADER_ATTR      64
#define RECORD_AUXTRACE_INFO    70
#define RECORD_AUXTRACE         71
#define AUX_SIZE                24      /* offset, size, flags */
#define AUXTRACE_INFO_SIZE      8       /* u32 type, u32 0 */
#define AUXTRACE_SIZE           40      /* size, offset, ref, idx, tid, cpu */

/* perf_event_attr: sample_type at byte 24, flags at byte 40 */
#define ATTR_SIZE_MIN           48
#define SAMPLE_CPU              (1u << 7)
#define SAMPLE_IDENTIFIER       (1u << 16)
#define ATTR_SAMPLE_ID_ALL      (1u << 18)

/* Below are other architectures' (enum auxtrace_type). */
#define AUXTRACE_TYPE_OTHERS    6

#define CPU_UNKNOWN             UINT32_MAX

#define invalid(errp, ...) \
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, __VA_ARGS__)

/* Where a recording begins or ends: an offset in the CPU's AUX stream */
typedef struct Border {
    uint32_t cpu;
    uint64_t offset;
} Border;

typedef struct PerfFile {
    const char *path;
    const uint8_t *data;
    size_t begin, end;          /* of the records */
    unsigned cpu_from_end;      /* of sample_id's CPU; 0: there is none */
    GArray *borders;            /* sorted when all are known */
    GArray *pieces;
} PerfFile;

static uint64_t get(const uint8_t *p, unsigned bytes)
{
    return etrace_sb_get(p, bytes);
}

bool perf_aux_is_file(const uint8_t *data, size_t size)
{
    return size >= PERF_AUX_MAGIC_SIZE && !memcmp(data, MAGIC, 8);
}

static void take_attr(PerfFile *f, const uint8_t *attr, size_t size)
{
    uint64_t sample_type;

    if (size < ATTR_SIZE_MIN || f->cpu_from_end) {
        return;
    }
    sample_type = get(attr + 24, 8);
    if ((get(attr + 40, 8) & ATTR_SAMPLE_ID_ALL) &&
        (sample_type & SAMPLE_CPU)) {
        f->cpu_from_end = sample_type & SAMPLE_IDENTIFIER ? 16 : 8;
    }
}

static bool read_header(PerfFile *f, size_t size, GError **errp)
{
    uint64_t header = get(f->data + 8, 8), attrs, attrs_size, begin, bytes;

    f->begin = HEADER_SIZE_PIPE;
    f->end = size;
    if (header == HEADER_SIZE_PIPE) {
        return true;
    }
    if (header < HEADER_SIZE_FILE || size < HEADER_SIZE_FILE) {
        invalid(errp, "%s: the header of this perf.data file is damaged, or of "
                "a machine of another byte order", f->path);
        return false;
    }
    attrs = get(f->data + 24, 8);
    attrs_size = get(f->data + 32, 8);
    begin = get(f->data + 40, 8);
    bytes = get(f->data + 48, 8);
    if (attrs > size || attrs_size > size - attrs || begin > size ||
        bytes > size - begin) {
        invalid(errp, "%s: the perf.data file is cut off; did perf record "
                "end?", f->path);
        return false;
    }
    take_attr(f, f->data + attrs, attrs_size);
    f->begin = begin;
    f->end = begin + bytes;
    return true;
}

/* The next record; *@pos is behind it. NULL at the end. */
static const uint8_t *next_record(PerfFile *f, size_t *pos, GError **errp)
{
    const uint8_t *rec = f->data + *pos;
    size_t left = f->end - *pos, size, behind = 0;

    if (!left) {
        return NULL;
    }
    size = left < RECORD_HEADER ? 0 : get(rec + 6, 2);
    if (size >= RECORD_HEADER + AUXTRACE_SIZE && size <= left &&
        get(rec, 4) == RECORD_AUXTRACE) {
        behind = get(rec + RECORD_HEADER, 8);
    }
    if (size < RECORD_HEADER || size > left || behind > left - size) {
        invalid(errp, "%s: the record at byte %zu is damaged or cut off",
                f->path, *pos);
        return NULL;
    }
    *pos += size + behind;
    return rec;
}

static void take_aux(PerfFile *f, const uint8_t *rec, size_t size)
{
    Border border = { .cpu = CPU_UNKNOWN };

    if (size < RECORD_HEADER + AUX_SIZE) {
        return;
    }
    if (f->cpu_from_end &&
        size >= RECORD_HEADER + AUX_SIZE + f->cpu_from_end) {
        border.cpu = get(rec + size - f->cpu_from_end, 4);
    }
    border.offset = get(rec + RECORD_HEADER, 8);
    g_array_append_val(f->borders, border);
    border.offset += get(rec + RECORD_HEADER + 8, 8);
    g_array_append_val(f->borders, border);
}

static gint compare_borders(gconstpointer pa, gconstpointer pb)
{
    const Border *a = pa, *b = pb;

    if (a->cpu != b->cpu) {
        return a->cpu < b->cpu ? -1 : 1;
    }
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Bytes up to the CPU's first border behind @offset; UINT64_MAX: no border */
static uint64_t to_border(const PerfFile *f, uint32_t cpu, uint64_t offset)
{
    Border at = { f->cpu_from_end ? cpu : CPU_UNKNOWN, offset };
    guint low = 0, high = f->borders->len;
    const Border *next;

    while (low < high) {
        guint mid = low + (high - low) / 2;

        if (compare_borders(&g_array_index(f->borders, Border, mid),
                            &at) <= 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    next = low < f->borders->len ?
           &g_array_index(f->borders, Border, low) : NULL;
    return next && next->cpu == at.cpu ? next->offset - offset : UINT64_MAX;
}

/* The bytes behind an AUXTRACE record, a piece for each recording */
static void take_auxtrace(PerfFile *f, const uint8_t *rec, size_t header)
{
    const uint8_t *p = rec + RECORD_HEADER, *data = rec + header;
    uint64_t size = get(p, 8), offset = get(p + 8, 8);
    uint32_t cpu = get(p + 32, 4);

    while (size) {
        uint64_t n = MIN(size, to_border(f, cpu, offset));
        Piece piece = {
            .path = f->path,
            .data = data,
            .size = n,
            .at = PIECE_AT_UNKNOWN,
        };

        g_array_append_val(f->pieces, piece);
        data += n;
        offset += n;
        size -= n;
    }
}

static bool check_type(const PerfFile *f, const uint8_t *rec, size_t size,
                       GError **errp)
{
    uint32_t type = size < RECORD_HEADER + AUXTRACE_INFO_SIZE ? 0 :
                    get(rec + RECORD_HEADER, 4);

    if (!type || type > AUXTRACE_TYPE_OTHERS) {
        return true;
    }
    invalid(errp, "%s: its AUX data are of type %u, which is another "
            "architecture's, not RISC-V trace", f->path, type);
    return false;
}

/* All records of the types that say something, or the AUX data themselves */
static bool walk(PerfFile *f, bool data, GError **errp)
{
    GError *err = NULL;
    const uint8_t *rec;
    size_t pos = f->begin;

    while ((rec = next_record(f, &pos, &err))) {
        size_t size = get(rec + 6, 2);
        uint32_t type = get(rec, 4);

        if (data && type == RECORD_AUXTRACE &&
            size >= RECORD_HEADER + AUXTRACE_SIZE) {
            take_auxtrace(f, rec, size);
        } else if (!data && type == RECORD_AUX) {
            take_aux(f, rec, size);
        } else if (!data && type == RECORD_HEADER_ATTR) {
            take_attr(f, rec + RECORD_HEADER, size - RECORD_HEADER);
        } else if (!data && type == RECORD_AUXTRACE_INFO &&
                   !check_type(f, rec, size, errp)) {
            return false;
        }
    }
    if (err) {
        g_propagate_error(errp, err);
        return false;
    }
    return true;
}

GArray *perf_aux_read(const char *path, const uint8_t *data, size_t size,
                      GError **errp)
{
    PerfFile f = { .path = path, .data = data };
    bool ok;

    f.borders = g_array_new(FALSE, FALSE, sizeof(Border));
    f.pieces = g_array_new(FALSE, FALSE, sizeof(Piece));
    ok = read_header(&f, size, errp) && walk(&f, false, errp);
    g_array_sort(f.borders, compare_borders);
    ok = ok && walk(&f, true, errp);
    g_array_unref(f.borders);
    if (ok && !f.pieces->len) {
        invalid(errp, "%s: this perf.data file has no AUX data; was the trace "
                "PMU's event among those recorded?", path);
        ok = false;
    }
    if (!ok) {
        g_clear_pointer(&f.pieces, g_array_unref);
    }
    return f.pieces;
}
