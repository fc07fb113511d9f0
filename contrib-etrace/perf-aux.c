/*
 * The AUX data of a perf.data file
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "little-endian.h"
#include "perf-aux.h"
#include "perf-file.h"
#include "views/perf-format.h"

#define RECORD_HEADER           PERF_FILE_RECORD_HEADER
#define RECORD_AUX              11
#define RECORD_AUXTRACE_INFO    70
#define AUX_SIZE                24      /* offset, size, flags */
#define AUXTRACE_INFO_SIZE      8       /* u32 type, u32 0 */
#define AUXTRACE_SIZE           40      /* size, offset, ref, idx, tid, cpu */

/* perf_event_attr: sample_type at byte 24, flags at byte 40 */
#define ATTR_SIZE_MIN           48

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

typedef struct PerfAux {
    PerfFile file;
    unsigned cpu_from_end;      /* of sample_id's CPU; 0: there is none */
    GArray *borders;            /* sorted when all are known */
    GArray *pieces;
} PerfAux;

static void take_attr(PerfAux *f, const uint8_t *attr, size_t size)
{
    uint64_t sample_type;

    if (size < ATTR_SIZE_MIN || f->cpu_from_end) {
        return;
    }
    sample_type = get_le(attr + 24, 8);
    if ((get_le(attr + 40, 8) & PERF_ATTR_SAMPLE_ID_ALL) &&
        (sample_type & PERF_SAMPLE_CPU)) {
        f->cpu_from_end = sample_type & PERF_SAMPLE_IDENTIFIER ? 16 : 8;
    }
}

static void take_aux(PerfAux *f, const uint8_t *rec, size_t size)
{
    Border border = { .cpu = CPU_UNKNOWN };

    if (size < RECORD_HEADER + AUX_SIZE) {
        return;
    }
    if (f->cpu_from_end &&
        size >= RECORD_HEADER + AUX_SIZE + f->cpu_from_end) {
        border.cpu = get_le(rec + size - f->cpu_from_end, 4);
    }
    border.offset = get_le(rec + RECORD_HEADER, 8);
    g_array_append_val(f->borders, border);
    border.offset += get_le(rec + RECORD_HEADER + 8, 8);
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
static uint64_t to_border(const PerfAux *f, uint32_t cpu, uint64_t offset)
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
static void take_auxtrace(PerfAux *f, const uint8_t *rec, size_t header)
{
    const uint8_t *p = rec + RECORD_HEADER, *data = rec + header;
    uint64_t size = get_le(p, 8), offset = get_le(p + 8, 8);
    uint32_t cpu = get_le(p + 32, 4);

    while (size) {
        uint64_t n = MIN(size, to_border(f, cpu, offset));
        Piece piece = {
            .path = f->file.path,
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

static bool check_type(const PerfAux *f, const uint8_t *rec, size_t size,
                       GError **errp)
{
    uint32_t type = size < RECORD_HEADER + AUXTRACE_INFO_SIZE ? 0 :
                    get_le(rec + RECORD_HEADER, 4);

    if (!type || type > AUXTRACE_TYPE_OTHERS) {
        return true;
    }
    invalid(errp, "%s: its AUX data are of type %u, which is another "
            "architecture's, not RISC-V trace", f->file.path, type);
    return false;
}

/* All records of the types that say something, or the AUX data themselves */
static bool walk(PerfAux *f, bool data, GError **errp)
{
    GError *err = NULL;
    const uint8_t *rec;
    size_t pos = f->file.begin;

    while ((rec = perf_file_next(&f->file, &pos, &err))) {
        size_t size = get_le(rec + 6, 2);
        uint32_t type = get_le(rec, 4);

        if (data && type == PERF_FILE_AUXTRACE &&
            size >= RECORD_HEADER + AUXTRACE_SIZE) {
            take_auxtrace(f, rec, size);
        } else if (!data && type == RECORD_AUX) {
            take_aux(f, rec, size);
        } else if (!data && type == PERF_FILE_HEADER_ATTR) {
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
    PerfAux f = { 0 };
    bool ok;

    if (!perf_file_open(&f.file, path, data, size, errp)) {
        return NULL;
    }
    take_attr(&f, data + f.file.attrs, f.file.attrs_size);

    f.borders = g_array_new(FALSE, FALSE, sizeof(Border));
    f.pieces = g_array_new(FALSE, FALSE, sizeof(Piece));
    ok = walk(&f, false, errp);
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
