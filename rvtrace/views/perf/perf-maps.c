/*
 * Maps of perf.data: which file lies where, in which process, and since when
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/perf/perf-maps.h"

/* Objects of a process that are remembered; more are reported again. */
#define MAX_PLACED 1024

typedef struct Placed {
    unsigned object;
    uint64_t bias;
} Placed;

struct PerfMaps {
    const ObjectTable *objects;
    GHashTable *processes;  /* pid -> GArray of Placed, the last one last */
    GPtrArray *segments;    /* by object; NULL: not seen */
};

static void segments_free(gpointer segments)
{
    if (segments) {
        g_array_unref(segments);
    }
}

PerfMaps *perf_maps_new(const ObjectTable *objects)
{
    PerfMaps *maps = g_new0(PerfMaps, 1);

    maps->objects = objects;
    maps->processes = g_hash_table_new_full(
        NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
    maps->segments = g_ptr_array_new_with_free_func(segments_free);
    g_ptr_array_set_size(maps->segments, object_table_size(objects));
    return maps;
}

void perf_maps_free(PerfMaps *maps)
{
    g_hash_table_unref(maps->processes);
    g_ptr_array_unref(maps->segments);
    g_free(maps);
}

bool perf_maps_seen(const PerfMaps *maps, unsigned object)
{
    return maps->segments->pdata[object];
}

static const GArray *segments_of(PerfMaps *maps, unsigned object)
{
    if (!maps->segments->pdata[object]) {
        maps->segments->pdata[object] =
            object_segments(object_get(maps->objects, object));
    }
    return maps->segments->pdata[object];
}

/* Do the two have an address in common? */
static bool overlap(PerfMaps *maps, const Placed *a, const Placed *b)
{
    const GArray *x = segments_of(maps, a->object);
    const GArray *y = segments_of(maps, b->object);

    for (guint i = 0; i < x->len; i++) {
        const Segment *s = &g_array_index(x, Segment, i);

        for (guint k = 0; k < y->len; k++) {
            const Segment *t = &g_array_index(y, Segment, k);
            uint64_t s_at = s->addr + a->bias, t_at = t->addr + b->bias;

            if (s_at - t_at < t->size || t_at - s_at < s->size) {
                return true;
            }
        }
    }
    return false;
}

const GArray *perf_maps_see(PerfMaps *maps, uint32_t pid, unsigned object,
                            uint64_t bias)
{
    Placed placed = { .object = object, .bias = bias };
    gpointer key = GUINT_TO_POINTER(pid);
    GArray *all = g_hash_table_lookup(maps->processes, key);

    if (!all) {
        all = g_array_new(false, false, sizeof(Placed));
        g_hash_table_insert(maps->processes, key, all);
    }
    for (guint i = all->len; i > 0; i--) {
        const Placed *p = &g_array_index(all, Placed, i - 1);

        if (p->object == object && p->bias == bias) {
            return NULL;
        }
    }
    for (guint i = all->len; i > 0; i--) {
        if (overlap(maps, &g_array_index(all, Placed, i - 1), &placed)) {
            g_array_remove_index(all, i - 1);
        }
    }
    if (all->len == MAX_PLACED) {
        g_array_remove_index(all, 0);
    }
    g_array_append_val(all, placed);
    return segments_of(maps, object);
}

void perf_maps_forget(PerfMaps *maps, uint32_t pid)
{
    g_hash_table_remove(maps->processes, GUINT_TO_POINTER(pid));
}
