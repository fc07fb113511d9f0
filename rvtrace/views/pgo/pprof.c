/*
 * pprof: a call tree as profile.proto
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "views/pgo/pprof.h"
#include "base/protobuf.h"

/* Fields of the messages Profile, ValueType, Sample, and so on */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    VALUE_TYPE_TYPE = 1,
    VALUE_TYPE_UNIT = 2,
    SAMPLE_LOCATION_ID = 1,
    SAMPLE_VALUE = 2,
    MAPPING_ID = 1,
    MAPPING_MEMORY_START = 2,
    MAPPING_MEMORY_LIMIT = 3,
    MAPPING_FILENAME = 5,
    MAPPING_BUILD_ID = 6,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILENAMES = 8,
    MAPPING_HAS_LINE_NUMBERS = 9,
    LOCATION_ID = 1,
    LOCATION_MAPPING_ID = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4,
    LINE_FUNCTION_ID = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILENAME = 4,
    FUNCTION_START_LINE = 5,
};

#define CHUNK 65536

typedef struct Writer {
    const Profile *p;
    const PprofOptions *o;
    FILE *f;
    GConverter *gzip;
    GByteArray *out;        /* not compressed yet */
    GByteArray *message, *part;
    GHashTable *strings;    /* text -> index */
    GHashTable *functions;  /* name, file -> address of the first one */
    GStringChunk *names;    /* made for others */
    uint64_t nr_strings;
    GError **errp;
    bool failed;
} Writer;

/* Compress what has been collected, up to the end if @last. */
static void flush(Writer *w, bool last)
{
    GConverterFlags flags = last ? G_CONVERTER_INPUT_AT_END :
                                   G_CONVERTER_NO_FLAGS;
    GConverterResult result = G_CONVERTER_CONVERTED;
    size_t done = 0;

    while (!w->failed && (last ? result != G_CONVERTER_FINISHED :
                                 done < w->out->len)) {
        uint8_t buffer[CHUNK];
        gsize in, out;

        result = g_converter_convert(w->gzip, w->out->data + done,
                                     w->out->len - done, buffer,
                                     sizeof(buffer), flags, &in, &out,
                                     w->errp);
        if (result == G_CONVERTER_ERROR) {
            w->failed = true;
            return;
        }
        done += in;
        fwrite(buffer, 1, out, w->f);
    }
    g_byte_array_set_size(w->out, 0);
}

/* w->message is a field of the profile. */
static void end_message(Writer *w, unsigned field)
{
    protobuf_message(w->out, field, w->message);
    g_byte_array_set_size(w->message, 0);
    if (w->out->len >= CHUNK) {
        flush(w, false);
    }
}

/* Strings are in the order of their first use, which is written at once. */
static uint64_t string_id(Writer *w, const char *text)
{
    gpointer id = g_hash_table_lookup(w->strings, text);

    if (!id) {
        id = GSIZE_TO_POINTER(++w->nr_strings);
        g_hash_table_insert(w->strings, (gpointer)text, id);
        protobuf_string(w->out, PROFILE_STRING_TABLE, text);
    }
    return GPOINTER_TO_SIZE(id) - 1;
}

static void put_value_type(Writer *w, unsigned field)
{
    protobuf_uint(w->message, VALUE_TYPE_TYPE,
                  string_id(w, w->o->by_time ? "time" : "instructions"));
    protobuf_uint(w->message, VALUE_TYPE_UNIT,
                  string_id(w, w->o->by_time ? "nanoseconds" : "count"));
    end_message(w, field);
}

/* An object is mapped where its own addresses are. */
static void put_mapping(Writer *w, const Object *o)
{
    unsigned n;
    const Symbol *s = symbols_all(o->symbols, &n);

    protobuf_uint(w->message, MAPPING_ID, o->id);
    protobuf_uint(w->message, MAPPING_MEMORY_START, n ? s[0].start : 0);
    protobuf_uint(w->message, MAPPING_MEMORY_LIMIT, n ? s[n - 1].end : 0);
    protobuf_uint(w->message, MAPPING_FILENAME, string_id(w, o->path));
    if (o->build_id) {
        protobuf_uint(w->message, MAPPING_BUILD_ID, string_id(w, o->build_id));
    }
    /* pprof would look for what is missing, at addresses that never ran. */
    protobuf_uint(w->message, MAPPING_HAS_FUNCTIONS, 1);
    protobuf_uint(w->message, MAPPING_HAS_FILENAMES, 1);
    protobuf_uint(w->message, MAPPING_HAS_LINE_NUMBERS, 1);
    end_message(w, PROFILE_MAPPING);
}

/* The name of @f, or one that no other function in @file has */
static const char *own_name(Writer *w, const ProfileFrame *f,
                            const char *file)
{
    g_autofree char *key = g_strconcat(f->name, "\n", file, NULL);
    g_autofree char *name = NULL;
    uint64_t start = profile_frame_start(f), *first;

    if (!f->object) {
        return f->name;
    }
    first = g_hash_table_lookup(w->functions, key);
    if (!first) {
        g_hash_table_insert(w->functions, g_steal_pointer(&key),
                            g_memdup2(&start, sizeof(start)));
        return f->name;
    }
    if (*first == start) {
        return f->name;
    }
    name = g_strdup_printf("%s [0x%" PRIx64 "]", f->name, start);
    return g_string_chunk_insert_const(w->names, name);
}

/* A frame is both a function and the one location in it. */
static void put_frame(Writer *w, unsigned frame)
{
    const ProfileFrame *f = profile_frame(w->p, frame);
    const LineFinder *lines = &w->o->lines;
    const char *file = f->object ? f->object->path : "";
    unsigned line = 0;
    uint64_t name, linkage;

    if (lines->find && profile_frame_start(f) &&
        !lines->find(lines->opaque, f->object, profile_frame_start(f), &file,
                     &line)) {
        line = 0;
    }
    name = string_id(w, own_name(w, f, file));
    linkage = f->symbol ? string_id(w, f->symbol->linkage) : name;

    protobuf_uint(w->message, FUNCTION_ID, frame + 1);
    protobuf_uint(w->message, FUNCTION_NAME, name);
    protobuf_uint(w->message, FUNCTION_SYSTEM_NAME, linkage);
    protobuf_uint(w->message, FUNCTION_FILENAME, string_id(w, file));
    protobuf_uint(w->message, FUNCTION_START_LINE, line);
    end_message(w, PROFILE_FUNCTION);

    protobuf_uint(w->message, LOCATION_ID, frame + 1);
    if (f->object && f->object->kind != OBJECT_NONE) {
        protobuf_uint(w->message, LOCATION_MAPPING_ID, f->object->id);
    }
    if (f->object) {
        protobuf_uint(w->message, LOCATION_ADDRESS, profile_frame_start(f));
    }
    g_byte_array_set_size(w->part, 0);
    protobuf_uint(w->part, LINE_FUNCTION_ID, frame + 1);
    protobuf_uint(w->part, LINE_LINE, line);
    protobuf_message(w->message, LOCATION_LINE, w->part);
    end_message(w, PROFILE_LOCATION);
}

static void put_sample(Writer *w, unsigned node)
{
    uint64_t self = profile_node(w->p, node)->self;
    unsigned depth = 0;

    if (!self) {
        return;
    }
    g_byte_array_set_size(w->part, 0);
    for (unsigned i = node; i != PROFILE_ROOT && depth < PPROF_MAX_DEPTH;
         i = profile_node(w->p, i)->parent) {
        protobuf_varint(w->part, profile_node(w->p, i)->frame + 1);
        depth++;
    }
    protobuf_message(w->message, SAMPLE_LOCATION_ID, w->part);
    g_byte_array_set_size(w->part, 0);
    protobuf_varint(w->part, self);
    protobuf_message(w->message, SAMPLE_VALUE, w->part);
    end_message(w, PROFILE_SAMPLE);
}

bool pprof_write(const Profile *p, const ObjectTable *objects,
                 const PprofOptions *o, FILE *f, GError **errp)
{
    Writer w = { .p = p, .o = o, .f = f, .errp = errp };

    w.gzip = G_CONVERTER(g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP,
                                               -1));
    w.out = g_byte_array_new();
    w.message = g_byte_array_new();
    w.part = g_byte_array_new();
    w.strings = g_hash_table_new(g_str_hash, g_str_equal);
    w.functions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                        g_free);
    w.names = g_string_chunk_new(4096);
    string_id(&w, "");                  /* must be the first one */
    put_value_type(&w, PROFILE_SAMPLE_TYPE);
    put_value_type(&w, PROFILE_PERIOD_TYPE);
    protobuf_uint(w.out, PROFILE_PERIOD, 1);
    for (unsigned i = 1; i < object_table_size(objects); i++) {
        if (object_get(objects, i)->kind != OBJECT_NONE) {
            put_mapping(&w, object_get(objects, i));
        }
    }
    for (guint i = 0; i < p->frames->len; i++) {
        put_frame(&w, i);
    }
    for (guint i = 1; i < p->nodes->len && !w.failed; i++) {
        put_sample(&w, i);
    }
    flush(&w, true);
    g_hash_table_unref(w.strings);
    g_hash_table_unref(w.functions);
    g_string_chunk_free(w.names);
    g_byte_array_unref(w.out);
    g_byte_array_unref(w.message);
    g_byte_array_unref(w.part);
    g_object_unref(w.gzip);
    return !w.failed;
}
