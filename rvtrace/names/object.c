/*
 * Objects: what code belongs to
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/input.h"
#include "base/text-plain.h"
#include "names/object.h"

static void object_free(gpointer opaque)
{
    Object *o = opaque;

    g_free(o->path);
    g_free(o->file);
    g_free(o->build_id);
    g_array_unref(o->code);
    symbols_free(o->symbols);
    g_clear_pointer(&o->bytes, g_bytes_unref);
    g_clear_pointer(&o->made, g_ptr_array_unref);
    g_free(o);
}

ObjectTable *object_table_new(void)
{
    ObjectTable *table = g_new0(ObjectTable, 1);

    table->objects = g_ptr_array_new_with_free_func(object_free);
    object_new(table, OBJECT_NONE, "[unknown]", NULL);
    return table;
}

void object_table_free(ObjectTable *table)
{
    g_ptr_array_unref(table->objects);
    g_free(table);
}

Object *object_new(ObjectTable *table, ObjectKind kind, const char *path,
                   const char *file)
{
    Object *o = g_new0(Object, 1);
    const char *slash;

    path = text_plain(path);
    slash = strrchr(path, '/');
    o->id = table->objects->len;
    o->kind = kind;
    o->path = g_strdup(path);
    o->name = slash && slash[1] ? o->path + (slash + 1 - path) : o->path;
    o->file = g_strdup(file);
    o->xlen = 64;
    o->code = g_array_new(false, false, sizeof(ObjectCode));
    o->symbols = symbols_new();
    g_ptr_array_add(table->objects, o);
    return o;
}

bool object_is_unfiled(const Object *object)
{
    return object->kind == OBJECT_NONE ||
           ((object->kind == OBJECT_PROGRAM ||
             object->kind == OBJECT_LIBRARY) && !object->file &&
            object->path[0] == '/' && !symbols_count(object->symbols));
}

void object_rename(Object *object, const char *name)
{
    char *copy = g_strdup(text_plain(name));

    if (!object->made) {
        object->made = g_ptr_array_new_with_free_func(g_free);
    }
    g_ptr_array_add(object->made, copy);
    object->name = copy;
}

void object_drop(ObjectTable *table, Object *object)
{
    assert(object->id && object->id == table->objects->len - 1);
    g_ptr_array_set_size(table->objects, object->id);
}

void object_let_go(const Object *object)
{
    if (object->mapped) {
        input_let_go(object->bytes, 0, SIZE_MAX);
    }
}

/* The piece of code that @addr is in, or NULL */
static const ObjectCode *code_at(const Object *object, uint64_t addr)
{
    for (guint i = 0; i < object->code->len; i++) {
        const ObjectCode *c = &g_array_index(object->code, ObjectCode, i);

        if (addr >= c->addr && addr - c->addr < c->size) {
            return c;
        }
    }
    return NULL;
}

size_t object_bytes(const Object *object, uint64_t addr, size_t most,
                    const uint8_t **bytes)
{
    const ObjectCode *c = code_at(object, addr);

    if (!c) {
        return 0;
    }
    *bytes = c->bytes + (addr - c->addr);
    return MIN(most, c->size - (addr - c->addr));
}

static bool is_relocated(const ObjectCode *c, size_t off)
{
    return c->relocated && (c->relocated[off >> 4] >> (off >> 1 & 7) & 1);
}

bool object_matches(const Object *object, uint64_t addr, const uint8_t *bytes,
                    size_t len, size_t *compared)
{
    const ObjectCode *c = code_at(object, addr);
    size_t off = c ? addr - c->addr : 0;

    *compared = 0;
    if (!c || c->size - off < len) {
        return false;
    }
    if (!c->relocated) {
        *compared = len;
        return !memcmp(c->bytes + off, bytes, len);
    }
    for (size_t i = 0; i + 1 < len; i += 2) {
        if (!is_relocated(c, off + i)) {
            if (memcmp(c->bytes + off + i, bytes + i, 2)) {
                return false;
            }
            *compared += 2;
        }
    }
    return true;
}
