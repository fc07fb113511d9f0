/*
 * Code of the kernel's modules, in a file beside the folder that has them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/bytes.h"
#include "base/input.h"
#include "base/output.h"
#include "names/module-cache.h"

/* What a file begins with. The last digit is the format's version. */
#define MAGIC       "rvtrace modules1"
#define MAGIC_SIZE  16

/* Bytes that the least piece of code takes */
#define CODE_SIZE   17

/* Where the file has what of a module */
typedef struct Entry {
    uint64_t size, mtime;       /* of the module's file */
    size_t pos, end;            /* what load_object() reads */
} Entry;

/* What has been looked at is let go in such pieces, bytes */
#define LET_GO      (8u << 20)

struct ModuleCache {
    GBytes *bytes;
    size_t looked;              /* up to here, all has been let go */
    GHashTable *entries;        /* path -> Entry */
};

struct ModuleCacheWriter {
    Output *out;
};

char *module_cache_path(const char *root)
{
    g_autofree char *real = realpath(root, NULL);

    return real ? g_strconcat(real, ".rvmodules", NULL) : NULL;
}

static uint64_t mtime_of(const struct stat *st)
{
    return st->st_mtim.tv_sec * 1000000000ull + st->st_mtim.tv_nsec;
}

/* @size bytes at the reader's place, or NULL; it goes on behind them. */
static const uint8_t *get_bytes(ByteReader *in, uint64_t size)
{
    const uint8_t *bytes = in->data + in->pos;

    if (in->failed || size > in->size - in->pos) {
        in->failed = true;
        return NULL;
    }
    in->pos += size;
    return bytes;
}

static ByteReader reader(const ModuleCache *cache, size_t pos)
{
    ByteReader in = { .pos = pos };

    in.data = input_data(cache->bytes, &in.size);
    return in;
}

ModuleCache *module_cache_open(const char *path)
{
    g_autoptr(ModuleCache) cache = g_new0(ModuleCache, 1);
    ByteReader in;

    cache->entries = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                           g_free);
    cache->bytes = input_open(path, NULL);
    if (!cache->bytes) {
        return NULL;
    }
    in = reader(cache, 0);
    if (in.size < MAGIC_SIZE || memcmp(in.data, MAGIC, MAGIC_SIZE)) {
        return NULL;
    }
    in.pos = MAGIC_SIZE;
    while (in.pos < in.size) {
        Entry *e = g_new0(Entry, 1);
        char *module = bytes_get_text(&in);
        uint64_t size;

        g_hash_table_insert(cache->entries, module, e);
        e->size = bytes_get_u64(&in);
        e->mtime = bytes_get_u64(&in);
        size = bytes_get_u64(&in);
        e->pos = in.pos;
        if (!get_bytes(&in, size)) {
            return NULL;
        }
        e->end = in.pos;
    }
    return g_steal_pointer(&cache);
}

void module_cache_free(ModuleCache *cache)
{
    g_clear_pointer(&cache->bytes, g_bytes_unref);
    g_hash_table_unref(cache->entries);
    g_free(cache);
}

bool module_cache_has(const ModuleCache *cache, const char *path,
                      const struct stat *st)
{
    const Entry *e = g_hash_table_lookup(cache->entries, path);

    return e && e->size == (uint64_t)st->st_size && e->mtime == mtime_of(st);
}

static bool get_code(ByteReader *in, Object *o)
{
    ObjectCode c = {
        .addr = bytes_get_u64(in),
        .size = bytes_get_u64(in),
    };
    bool relocated = bytes_get_u8(in);

    c.bytes = get_bytes(in, c.size);
    c.relocated = relocated ? get_bytes(in, c.size / 16 + 1) : NULL;
    if (!in->failed) {
        g_array_append_val(o->code, c);
    }
    return !in->failed;
}

static bool load_object(ByteReader *in, Object *o)
{
    g_autofree char *name = bytes_get_text(in);
    uint32_t n;

    o->xlen = bytes_get_u8(in);
    object_rename(o, name);
    n = bytes_get_count(in, CODE_SIZE);
    while (n-- > 0) {
        if (!get_code(in, o)) {
            return false;
        }
    }
    return !in->failed && o->code->len;
}

Object *module_cache_load(const ModuleCache *cache, ObjectTable *table,
                          const char *path, const char *file)
{
    const Entry *e = g_hash_table_lookup(cache->entries, path);
    ByteReader in = reader(cache, e ? e->pos : 0);
    Object *o;

    if (!e || e->pos == e->end) {
        return NULL;
    }
    in.size = e->end;
    o = object_new(table, OBJECT_MODULE, path, file);
    o->movable = true;
    o->brief = true;
    o->bytes = g_bytes_ref(cache->bytes);
    o->mapped = true;
    if (!load_object(&in, o)) {
        object_drop(table, o);
        return NULL;
    }
    return o;
}

void module_cache_let_go(ModuleCache *cache, const char *path)
{
    const Entry *e = g_hash_table_lookup(cache->entries, path);

    /* Files are in the order in which they are looked at. */
    if (e && e->end > cache->looked + LET_GO) {
        input_let_go(cache->bytes, cache->looked, e->end);
        cache->looked = e->end;
    }
}

ModuleCacheWriter *module_cache_writer_new(const char *path, GError **errp)
{
    Output *out = output_open(path, errp);
    ModuleCacheWriter *w;

    if (!out) {
        return NULL;
    }
    w = g_new0(ModuleCacheWriter, 1);
    w->out = out;
    fwrite(MAGIC, MAGIC_SIZE, 1, output_stream(out));
    return w;
}

static void put_object(GByteArray *out, const Object *o)
{
    bytes_put_text(out, o->name);
    bytes_put_u8(out, o->xlen);
    bytes_put_u32(out, o->code->len);
    for (guint i = 0; i < o->code->len; i++) {
        const ObjectCode *c = &g_array_index(o->code, ObjectCode, i);

        bytes_put_u64(out, c->addr);
        bytes_put_u64(out, c->size);
        bytes_put_u8(out, c->relocated != NULL);
        g_byte_array_append(out, c->bytes, c->size);
        if (c->relocated) {
            g_byte_array_append(out, c->relocated, c->size / 16 + 1);
        }
    }
}

void module_cache_add(ModuleCacheWriter *w, const char *path,
                      const struct stat *st, const Object *o)
{
    g_autoptr(GByteArray) head = g_byte_array_new();
    g_autoptr(GByteArray) body = g_byte_array_new();

    if (o && o->kind == OBJECT_MODULE && o->code->len) {
        put_object(body, o);
    }
    bytes_put_text(head, path);
    bytes_put_u64(head, st->st_size);
    bytes_put_u64(head, mtime_of(st));
    bytes_put_u64(head, body->len);
    /* What goes wrong is seen at the end. */
    fwrite(head->data, head->len, 1, output_stream(w->out));
    if (body->len) {
        fwrite(body->data, body->len, 1, output_stream(w->out));
    }
}

bool module_cache_commit(ModuleCacheWriter *w, GError **errp)
{
    Output *out = w->out;

    g_free(w);
    return output_commit(out, errp);
}
