/*
 * What a process had mapped, as perf recorded it
 *
 * Samples refer to the maps of their time. What is added later to them where
 * nothing was is no contradiction; where something else was, they are others
 * from then on.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "names/object-elf.h"
#include "samples/process-maps.h"
#include "names/segments.h"

#define PAGE_MASK   0xfffull
#define MAX_MAPS    65530       /* of a process: vm.max_map_count */
#define MAX_COPIES  (1u << 22)  /* in all that one has after another */

struct ProcessTable {
    GPtrArray *all;             /* ProcessMaps */
    GHashTable *now;            /* pid -> ProcessMaps */
    GStringChunk *paths;
    uint64_t copies;            /* ProcessMap in memory */
};

static void maps_free(gpointer opaque)
{
    ProcessMaps *m = opaque;

    g_array_unref(m->maps);
    g_clear_pointer(&m->names, names_free);
    g_free(m);
}

ProcessTable *process_table_new(void)
{
    ProcessTable *table = g_new0(ProcessTable, 1);

    table->all = g_ptr_array_new_with_free_func(maps_free);
    table->now = g_hash_table_new(NULL, NULL);
    table->paths = g_string_chunk_new(4096);
    return table;
}

void process_table_free(ProcessTable *table)
{
    g_ptr_array_unref(table->all);
    g_hash_table_unref(table->now);
    g_string_chunk_free(table->paths);
    g_free(table);
}

/* New ones for @pid, which begin with those of @from; NULL: with none */
static ProcessMaps *begin_maps(ProcessTable *table, uint32_t pid,
                               ProcessMaps *from)
{
    ProcessMaps *m = g_new0(ProcessMaps, 1);

    m->id = table->all->len;
    if (from) {
        m->maps = g_array_ref(from->maps);
        m->shared = from->shared = true;
    } else {
        m->maps = g_array_new(false, false, sizeof(ProcessMap));
    }
    g_ptr_array_add(table->all, m);
    g_hash_table_insert(table->now, GUINT_TO_POINTER(pid), m);
    return m;
}

/* They are going to change. */
static void own_maps(ProcessTable *table, ProcessMaps *m)
{
    GArray *shared = m->maps;

    if (!m->shared) {
        return;
    }
    m->maps = g_array_sized_new(false, false, sizeof(ProcessMap),
                                shared->len + 1);
    g_array_append_vals(m->maps, shared->data, shared->len);
    m->shared = false;
    table->copies += shared->len;
    g_array_unref(shared);
}

bool process_table_is_full(const ProcessTable *table)
{
    return table->copies > MAX_COPIES;
}

static ProcessMaps *maps_of(ProcessTable *table, uint32_t pid)
{
    return g_hash_table_lookup(table->now, GUINT_TO_POINTER(pid)) ?:
           begin_maps(table, pid, NULL);
}

static bool overlaps(const ProcessMap *a, const ProcessMap *b)
{
    return a->lo < b->hi && b->lo < a->hi;
}

static bool same(const ProcessMap *a, const ProcessMap *b)
{
    return a->lo == b->lo && a->hi == b->hi && a->offset == b->offset &&
           a->path == b->path;
}

void process_table_map(ProcessTable *table, uint32_t pid,
                       const ProcessMap *map)
{
    ProcessMap added = *map;
    ProcessMaps *m = maps_of(table, pid);
    bool covers = false;

    if (map->lo >= map->hi || m->maps->len == MAX_MAPS) {
        return;
    }
    added.path = g_string_chunk_insert_const(table->paths, map->path);
    for (guint i = 0; i < m->maps->len; i++) {
        const ProcessMap *old = &g_array_index(m->maps, ProcessMap, i);

        if (same(old, &added)) {
            return;
        }
        covers |= overlaps(old, &added);
    }
    if (covers && m->used) {
        m = begin_maps(table, pid, m);
    }
    own_maps(table, m);
    for (guint i = m->maps->len; covers && i > 0; i--) {
        if (overlaps(&g_array_index(m->maps, ProcessMap, i - 1), &added)) {
            g_array_remove_index(m->maps, i - 1);
        }
    }
    g_array_append_val(m->maps, added);
    table->copies++;
}

void process_table_fork(ProcessTable *table, uint32_t pid, uint32_t parent)
{
    if (pid != parent) {
        begin_maps(table, pid, maps_of(table, parent));
    }
}

void process_table_exec(ProcessTable *table, uint32_t pid)
{
    begin_maps(table, pid, NULL);
}

const ProcessMaps *process_table_use(ProcessTable *table, uint32_t pid)
{
    ProcessMaps *m = maps_of(table, pid);

    m->used = true;
    return m;
}

/* How far above its own addresses the object lies, which has @map mapped */
static bool find_bias(const Object *o, const GArray *segments,
                      const ProcessMap *map, uint64_t *bias)
{
    for (guint i = 0; i < segments->len; i++) {
        const Segment *s = &g_array_index(segments, Segment, i);
        uint64_t offset = s->offset & ~PAGE_MASK;

        if (map->offset >= offset && map->offset < s->offset + s->size) {
            *bias = map->lo - (s->addr + map->offset - s->offset);
            return true;
        }
    }
    return false;
}

void process_table_names(ProcessTable *table, const Names *base, char **roots,
                         ObjectTable *objects, unsigned *missing)
{
    g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);

    *missing = 0;
    for (guint i = 0; i < table->all->len; i++) {
        ProcessMaps *m = table->all->pdata[i];

        m->names = names_derive(base);
        for (guint k = 0; m->used && k < m->maps->len; k++) {
            const ProcessMap *map = &g_array_index(m->maps, ProcessMap, k);
            g_autoptr(GArray) segments = NULL;
            uint64_t bias;
            Object *o;

            if (!g_hash_table_contains(known, map->path)) {
                o = object_elf_find(objects, roots, map->path, true);
                g_hash_table_insert(known, (gpointer)map->path, o);
                *missing += !o && map->path[0] == '/' && map->path[1] != '/';
            }
            o = g_hash_table_lookup(known, map->path);
            segments = o ? object_segments(o) : NULL;
            if (o && find_bias(o, segments, map, &bias)) {
                names_add_mapped(m->names, o, bias, map->lo, map->hi);
            }
        }
    }
}
