/*
 * Which trace is it? What an index remembers of the files it was made of
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/input.h"
#include "code/sideband-private.h"
#include "index/trace-id.h"

/* Bytes of each end of a file that are compared */
#define END_SIZE    65536

/* Bytes that a PartId takes at least */
#define PART_SIZE   21

/* A trace with more sidebands than this has none of them. */
#define MAX_PARTS   65536

static void file_id_clear(FileId *id)
{
    g_clear_pointer(&id->head, g_free);
    g_clear_pointer(&id->tail, g_free);
}

static void part_clear(gpointer opaque)
{
    PartId *p = opaque;

    file_id_clear(&p->trace);
    file_id_clear(&p->sideband);
}

static GArray *new_ids(void)
{
    GArray *ids = g_array_new(false, true, sizeof(PartId));

    g_array_set_clear_func(ids, part_clear);
    return ids;
}

/* Of the first @size bytes of @data */
static FileId file_id(const uint8_t *data, uint64_t size)
{
    uint64_t n = MIN(size, END_SIZE);

    return (FileId) {
        .size = size,
        .head = g_compute_checksum_for_data(G_CHECKSUM_SHA256, data, n),
        .tail = g_compute_checksum_for_data(G_CHECKSUM_SHA256,
                                            data + size - n, n),
    };
}

GArray *trace_ids_new(const Trace *t)
{
    GArray *ids = new_ids();

    for (; t; t = t->next) {
        PartId p = { .begin = t->begin, .end = t->end };
        size_t size;
        const uint8_t *data = input_data(t->file, &size);

        p.trace = file_id(data, size);
        if (t->sideband) {
            data = input_data(t->sideband->file, &size);
            p.has_sideband = true;
            p.session = sideband_session(t->sideband);
            p.sideband = file_id(data, size);
        }
        g_array_append_val(ids, p);
    }
    return ids;
}

static void put_file(const FileId *id, GByteArray *out)
{
    bytes_put_u64(out, id->size);
    bytes_put_text(out, id->head);
    bytes_put_text(out, id->tail);
}

void trace_ids_put(const GArray *ids, GByteArray *out)
{
    bytes_put_u32(out, ids->len);
    for (guint i = 0; i < ids->len; i++) {
        const PartId *p = &g_array_index(ids, PartId, i);

        bytes_put_u64(out, p->begin);
        bytes_put_u64(out, p->end);
        put_file(&p->trace, out);
        bytes_put_u8(out, p->has_sideband);
        bytes_put_u32(out, p->session);
        put_file(&p->sideband, out);
    }
}

static FileId get_file(ByteReader *in)
{
    FileId id;

    id.size = bytes_get_u64(in);
    id.head = bytes_get_text(in);
    id.tail = bytes_get_text(in);
    return id;
}

GArray *trace_ids_get(ByteReader *in)
{
    uint32_t n = bytes_get_count(in, PART_SIZE);
    g_autoptr(GArray) ids = new_ids();

    for (uint32_t i = 0; i < n && !in->failed; i++) {
        PartId p = { 0 };

        p.begin = bytes_get_u64(in);
        p.end = bytes_get_u64(in);
        p.trace = get_file(in);
        p.has_sideband = bytes_get_u8(in);
        p.session = bytes_get_u32(in);
        p.sideband = get_file(in);
        g_array_append_val(ids, p);
    }
    return in->failed || !n || n > MAX_PARTS ? NULL : g_steal_pointer(&ids);
}

static TraceMatch match_file(const FileId *id, GBytes *file)
{
    TraceMatch match;
    FileId now;
    size_t size;
    const uint8_t *data = input_data(file, &size);

    if (size < id->size) {
        return TRACE_OTHER;
    }
    now = file_id(data, id->size);
    match = strcmp(now.head, id->head) || strcmp(now.tail, id->tail) ?
            TRACE_OTHER : size > id->size ? TRACE_GROWN : TRACE_SAME;
    file_id_clear(&now);
    return match;
}

static TraceMatch match_part(const PartId *p, const Trace *t)
{
    TraceMatch match, other;

    if (p->begin != t->begin || p->has_sideband != (t->sideband != NULL) ||
        (t->sideband && p->session != sideband_session(t->sideband))) {
        return TRACE_OTHER;
    }
    match = match_file(&p->trace, t->file);
    if (t->sideband && match != TRACE_OTHER) {
        other = match_file(&p->sideband, t->sideband->file);
        match = MAX(match, other);
    }
    return match;
}

TraceMatch trace_ids_match(const GArray *ids, const Trace *t)
{
    TraceMatch match = TRACE_SAME;
    guint i;

    for (i = 0; i < ids->len && t; i++, t = t->next) {
        TraceMatch one = match_part(&g_array_index(ids, PartId, i), t);

        /* Only the last part can go on. */
        if (one == TRACE_GROWN && i + 1 < ids->len) {
            return TRACE_OTHER;
        }
        match = MAX(match, one);
    }
    if (i < ids->len) {
        return TRACE_OTHER;
    }
    return t ? MAX(match, TRACE_GROWN) : match;
}

static void digest_u64(GChecksum *sum, uint64_t value)
{
    value = GUINT64_TO_LE(value);
    g_checksum_update(sum, (const guchar *)&value, sizeof(value));
}

static void digest_text(GChecksum *sum, const char *text)
{
    /* With its NUL: two texts are not another one. */
    g_checksum_update(sum, (const guchar *)(text ?: ""),
                      strlen(text ?: "") + 1);
}

char *names_digest(const ObjectTable *objects, char **places)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);

    for (unsigned i = 0; i < object_table_size(objects); i++) {
        const Object *o = object_get(objects, i);
        unsigned n;
        const Symbol *symbols = symbols_all(o->symbols, &n);

        digest_u64(sum, o->kind);
        digest_text(sum, o->path);
        digest_text(sum, o->build_id);
        digest_u64(sum, n);
        for (unsigned k = 0; k < n; k++) {
            digest_u64(sum, symbols[k].start);
            digest_u64(sum, symbols[k].end);
            digest_text(sum, symbols[k].name);
        }
    }
    for (; places && *places; places++) {
        digest_text(sum, *places);
    }
    return g_strdup(g_checksum_get_string(sum));
}
