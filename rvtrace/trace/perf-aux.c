/*
 * The AUX data of a perf.data file
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "base/little-endian.h"
#include "trace/perf-aux.h"
#include "base/perf-file.h"
#include "base/perf-format.h"

#define RECORD_HEADER           PERF_FILE_RECORD_HEADER
#define RECORD_AUX              11
#define RECORD_ID_INDEX         69
#define RECORD_AUXTRACE_INFO    70
#define AUX_SIZE                24      /* offset, size, flags */
#define AUX_TRUNCATED           1       /* of flags */
#define AUX_FORMAT(flags)       ((flags) >> 8 & 0xff)
#define ID_ENTRY_SIZE           32      /* id, idx, cpu, tid */
#define AUXTRACE_INFO_SIZE      8       /* u32 type, u32 0 */
#define AUXTRACE_SIZE           40      /* size, offset, ref, idx, tid, cpu */
#define AUXTRACE_ALIGN          8       /* perf fills up with bytes 0 */

/* perf_event_attr: sample_type at byte 24, flags at byte 40 */
#define ATTR_SIZE_MIN           48

/*
 * AUX_FORMAT() of the PMU "gtrace": 0 is that of a driver that does not say,
 * 1 E-Trace; 2 is N-Trace.
 */
#define FORMAT_ETRACE           1

/* Below are other architectures' (enum auxtrace_type). */
#define AUXTRACE_TYPE_OTHERS    6

#define STREAM_UNKNOWN          UINT32_MAX

#define invalid(errp, ...) \
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, __VA_ARGS__)

/* Where a recording begins or ends: an offset in a buffer's AUX stream */
typedef struct Border {
    uint32_t stream;
    bool truncated;             /* ends here, and should not */
    uint64_t offset;
} Border;

typedef struct PerfAux {
    PerfFile file;
    unsigned cpu_from_end;      /* of sample_id's CPU; 0: there is none */
    bool identifier;            /* sample_id ends with the event's id */
    /*
     * Which buffer: uint64_t id -> its index; without ids it is known by its
     * CPU, or not at all.
     */
    GHashTable *ids;
    GArray *borders;            /* sorted when all are known */
    GArray *chunks;             /* where AUXTRACE records begin, likewise */
    GArray *pieces;
    unsigned truncated;
} PerfAux;

typedef enum Pass {
    PASS_IDS, PASS_BORDERS, PASS_DATA,
} Pass;

static void take_attr(PerfAux *f, const uint8_t *attr, size_t size)
{
    uint64_t sample_type;

    if (size < ATTR_SIZE_MIN || f->cpu_from_end || f->identifier) {
        return;
    }
    sample_type = get_le(attr + 24, 8);
    if (!(get_le(attr + 40, 8) & PERF_ATTR_SAMPLE_ID_ALL)) {
        return;
    }
    f->identifier = sample_type & PERF_SAMPLE_IDENTIFIER;
    if (sample_type & PERF_SAMPLE_CPU) {
        f->cpu_from_end = f->identifier ? 16 : 8;
    }
}

static void take_ids(PerfAux *f, const uint8_t *rec, size_t size)
{
    for (size_t at = RECORD_HEADER + 8; size - at >= ID_ENTRY_SIZE &&
                                        at < size; at += ID_ENTRY_SIZE) {
        uint64_t id = get_le(rec + at, 8);

        g_hash_table_insert(f->ids, g_memdup2(&id, sizeof(id)),
                            GUINT_TO_POINTER(get_le(rec + at + 8, 4)));
    }
}

static bool by_id(const PerfAux *f)
{
    return f->identifier && g_hash_table_size(f->ids);
}

/* The stream that a PERF_RECORD_AUX is about */
static uint32_t stream_of_aux(const PerfAux *f, const uint8_t *rec,
                              size_t size)
{
    size_t left = size - RECORD_HEADER - AUX_SIZE;
    gpointer index;

    if (by_id(f) && left >= 8) {
        uint64_t id = get_le(rec + size - 8, 8);

        return g_hash_table_lookup_extended(f->ids, &id, NULL, &index) ?
               GPOINTER_TO_UINT(index) : STREAM_UNKNOWN;
    }
    return f->cpu_from_end && left >= f->cpu_from_end ?
           get_le(rec + size - f->cpu_from_end, 4) : STREAM_UNKNOWN;
}

/* ... and a PERF_RECORD_AUXTRACE */
static uint32_t stream_of_auxtrace(const PerfAux *f, const uint8_t *rec)
{
    return by_id(f) ? get_le(rec + RECORD_HEADER + 24, 4) :
           f->cpu_from_end ? get_le(rec + RECORD_HEADER + 32, 4) :
           STREAM_UNKNOWN;
}

static bool take_aux(PerfAux *f, const uint8_t *rec, size_t size,
                     GError **errp)
{
    Border border = { 0 };
    uint64_t flags;

    if (size < RECORD_HEADER + AUX_SIZE) {
        return true;
    }
    flags = get_le(rec + RECORD_HEADER + 16, 8);
    if (AUX_FORMAT(flags) > FORMAT_ETRACE) {
        invalid(errp, "%s: its AUX data are of format %u of their PMU, which "
                "is not E-Trace", f->file.path, (unsigned)AUX_FORMAT(flags));
        return false;
    }
    border.stream = stream_of_aux(f, rec, size);
    border.offset = get_le(rec + RECORD_HEADER, 8);
    g_array_append_val(f->borders, border);
    border.offset += get_le(rec + RECORD_HEADER + 8, 8);
    border.truncated = flags & AUX_TRUNCATED;
    g_array_append_val(f->borders, border);
    return true;
}

static void take_chunk(PerfAux *f, const uint8_t *rec)
{
    Border chunk = {
        .stream = stream_of_auxtrace(f, rec),
        .offset = get_le(rec + RECORD_HEADER + 8, 8),
    };

    g_array_append_val(f->chunks, chunk);
}

static gint compare_borders(gconstpointer pa, gconstpointer pb)
{
    const Border *a = pa, *b = pb;

    if (a->stream != b->stream) {
        return a->stream < b->stream ? -1 : 1;
    }
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* The index of the first one of @borders that is not before @at */
static guint first_border(const GArray *borders, const Border *at)
{
    guint low = 0, high = borders->len;

    while (low < high) {
        guint mid = low + (high - low) / 2;

        if (compare_borders(&g_array_index(borders, Border, mid), at) < 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

static bool is_border(const GArray *borders, const Border *at)
{
    guint i = first_border(borders, at);

    return i < borders->len &&
           !compare_borders(&g_array_index(borders, Border, i), at);
}

/*
 * Bytes up to the stream's first border behind @at; UINT64_MAX: no border.
 * Is what is in between truncated?
 */
static uint64_t to_border(const PerfAux *f, const Border *at, bool *truncated)
{
    Border behind = { .stream = at->stream, .offset = at->offset + 1 };
    uint64_t n = UINT64_MAX;

    *truncated = false;
    for (guint i = first_border(f->borders, &behind); behind.offset &&
         i < f->borders->len; i++) {
        const Border *next = &g_array_index(f->borders, Border, i);

        if (next->stream != at->stream ||
            (n != UINT64_MAX && next->offset - at->offset != n)) {
            break;
        }
        n = next->offset - at->offset;
        *truncated |= next->truncated;
    }
    return n;
}

/* The bytes behind an AUXTRACE record, a piece for each recording */
static void take_auxtrace(PerfAux *f, const uint8_t *rec, size_t header)
{
    const uint8_t *p = rec + RECORD_HEADER, *data = rec + header;
    Border at = {
        .stream = stream_of_auxtrace(f, rec), .offset = get_le(p + 8, 8),
    };
    uint64_t size = get_le(p, 8);
    bool first = true;

    while (size) {
        bool truncated;
        uint64_t n = to_border(f, &at, &truncated);
        Piece piece = {
            .path = f->file.path,
            .data = data,
            .size = MIN(size, n),
            .at = PIECE_AT_UNKNOWN,
            /* Of a ring that has wrapped, all is copied each time. */
            .again = true,
        };

        if (!first && size < AUXTRACE_ALIGN &&
            (n > size || is_border(f->chunks, &at))) {
            return;
        }
        first = false;
        f->truncated += truncated;
        if (!truncated) {
            g_array_append_val(f->pieces, piece);
        }
        data += piece.size;
        at.offset += piece.size;
        size -= piece.size;
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

static bool take_record(PerfAux *f, const uint8_t *rec, size_t size,
                        Pass pass, GError **errp)
{
    uint32_t type = get_le(rec, 4);
    bool data = type == PERF_FILE_AUXTRACE &&
                size >= RECORD_HEADER + AUXTRACE_SIZE;

    switch (pass) {
    case PASS_IDS:
        if (type == PERF_FILE_HEADER_ATTR) {
            take_attr(f, rec + RECORD_HEADER, size - RECORD_HEADER);
        } else if (type == RECORD_ID_INDEX) {
            take_ids(f, rec, size);
        } else if (type == RECORD_AUXTRACE_INFO) {
            return check_type(f, rec, size, errp);
        }
        return true;
    case PASS_BORDERS:
        if (data) {
            take_chunk(f, rec);
        }
        return type != RECORD_AUX || take_aux(f, rec, size, errp);
    case PASS_DATA:
        if (data) {
            take_auxtrace(f, rec, size);
        }
        return true;
    }
    return true;
}

static bool walk(PerfAux *f, Pass pass, GError **errp)
{
    GError *err = NULL;
    const uint8_t *rec;
    size_t pos = f->file.begin;

    while ((rec = perf_file_next(&f->file, &pos, &err))) {
        if (!take_record(f, rec, get_le(rec + 6, 2), pass, errp)) {
            return false;
        }
    }
    if (err) {
        g_propagate_error(errp, err);
        return false;
    }
    return true;
}

static void say_none(PerfAux *f, GError **errp)
{
    if (f->truncated) {
        invalid(errp, "%s: the AUX buffer had no room for the ends of all %u "
                "recordings; give perf record a larger one (-m ,SIZE)",
                f->file.path, f->truncated);
    } else {
        invalid(errp, "%s: this perf.data file has no AUX data; was the trace "
                "PMU's event among those recorded?", f->file.path);
    }
}

GArray *perf_aux_read(const char *path, const uint8_t *data, size_t size,
                      unsigned *truncated, GError **errp)
{
    PerfAux f = { 0 };
    bool ok;

    if (!perf_file_open(&f.file, path, data, size, errp)) {
        return NULL;
    }
    take_attr(&f, data + f.file.attrs, f.file.attrs_size);

    f.ids = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    f.borders = g_array_new(FALSE, FALSE, sizeof(Border));
    f.chunks = g_array_new(FALSE, FALSE, sizeof(Border));
    f.pieces = g_array_new(FALSE, FALSE, sizeof(Piece));
    ok = walk(&f, PASS_IDS, errp) && walk(&f, PASS_BORDERS, errp);
    g_array_sort(f.borders, compare_borders);
    g_array_sort(f.chunks, compare_borders);
    ok = ok && walk(&f, PASS_DATA, errp);
    if (ok && !f.pieces->len) {
        say_none(&f, errp);
        ok = false;
    }
    g_hash_table_destroy(f.ids);
    g_array_unref(f.borders);
    g_array_unref(f.chunks);
    if (!ok) {
        g_clear_pointer(&f.pieces, g_array_unref);
    }
    *truncated = f.truncated;
    return f.pieces;
}
