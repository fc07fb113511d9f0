/*
 * Counts: how often each piece of code ran, and each jump was taken
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "counts.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

/* What distinguishes elements of an array, and where the element is */
typedef struct Key {
    uint64_t a, b;
    unsigned c, d, e;
    unsigned index;
} Key;

static guint key_hash(gconstpointer key)
{
    const Key *k = key;

    return mix(mix(mix(k->a, k->b), k->c), (uint64_t)k->d << 32 | k->e) >> 32;
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
    const Key *x = a, *y = b;

    return x->a == y->a && x->b == y->b && x->c == y->c && x->d == y->d &&
           x->e == y->e;
}

static GHashTable *new_index(void)
{
    return g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
}

Counts *counts_new(const ObjectTable *objects, const TaskTable *tasks)
{
    Counts *c = g_new0(Counts, 1);

    c->objects = objects;
    c->tasks = tasks;
    c->places = g_array_new(false, false, sizeof(CountPlace));
    c->ranges = g_array_new(false, false, sizeof(CountRange));
    c->edges = g_array_new(false, false, sizeof(CountEdge));
    c->place_index = new_index();
    c->range_index = new_index();
    c->edge_index = new_index();
    return c;
}

void counts_free(Counts *c)
{
    g_hash_table_unref(c->place_index);
    g_hash_table_unref(c->range_index);
    g_hash_table_unref(c->edge_index);
    g_array_unref(c->places);
    g_array_unref(c->ranges);
    g_array_unref(c->edges);
    g_free(c);
}

/* The index of @element, like which there is one, or which is added */
static unsigned intern(GHashTable *index, GArray *array, Key *key,
                       const void *element)
{
    Key *found = g_hash_table_lookup(index, key);

    if (!found) {
        found = g_memdup2(key, sizeof(*key));
        found->index = array->len;
        g_array_append_vals(array, element, 1);
        g_hash_table_add(index, found);
    }
    return found->index;
}

unsigned counts_place(Counts *c, const CountPlace *place)
{
    Key key = {
        .a = place->bias,
        .b = place->hart,
        .c = place->task,
        .d = place->object,
        .e = place->priv,
    };

    return intern(c->place_index, c->places, &key, place);
}

unsigned counts_range(Counts *c, const CountRange *range)
{
    Key key = {
        .a = range->start,
        .b = range->end,
        .c = range->place,
        .d = range->insns,
        .e = range->itype,
    };
    CountRange fresh = *range;

    fresh.count = fresh.ns = 0;
    return intern(c->range_index, c->ranges, &key, &fresh);
}

unsigned counts_edge(Counts *c, const CountEdge *edge)
{
    Key key = {
        .a = edge->from,
        .b = edge->to,
        .c = edge->from_place,
        .d = edge->to_place,
        .e = edge->itype,
    };
    CountEdge fresh = *edge;

    fresh.count = 0;
    return intern(c->edge_index, c->edges, &key, &fresh);
}

void counts_add_range(Counts *c, const CountRange *range, uint64_t n)
{
    unsigned i = counts_range(c, range);

    g_array_index(c->ranges, CountRange, i).count += n;
}

void counts_add_edge(Counts *c, const CountEdge *edge, uint64_t n)
{
    unsigned i = counts_edge(c, edge);

    g_array_index(c->edges, CountEdge, i).count += n;
}

void counts_merge(Counts *c, const Counts *from)
{
    g_autofree unsigned *places = g_new(unsigned, from->places->len);

    for (guint i = 0; i < from->places->len; i++) {
        places[i] = counts_place(c, count_place(from, i));
    }
    for (guint i = 0; i < from->ranges->len; i++) {
        CountRange r = g_array_index(from->ranges, CountRange, i), *into;
        unsigned index;

        r.place = places[r.place];
        index = counts_range(c, &r);
        into = &g_array_index(c->ranges, CountRange, index);
        into->count += r.count;
        into->ns += r.ns;
    }
    for (guint i = 0; i < from->edges->len; i++) {
        CountEdge e = g_array_index(from->edges, CountEdge, i);

        e.from_place = places[e.from_place];
        e.to_place = places[e.to_place];
        counts_add_edge(c, &e, e.count);
    }
}

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_ranges(gconstpointer a, gconstpointer b, gpointer opaque)
{
    const Counts *c = opaque;
    const CountRange *x = a, *y = b;
    int d = order(count_place(c, x->place)->object,
                  count_place(c, y->place)->object);

    d = d ? d : order(x->start, y->start);
    d = d ? d : order(x->end, y->end);
    d = d ? d : order(x->place, y->place);
    return d ? d : order(x->itype, y->itype);
}

static int compare_edges(gconstpointer a, gconstpointer b, gpointer opaque)
{
    const Counts *c = opaque;
    const CountEdge *x = a, *y = b;
    int d = order(count_place(c, x->from_place)->object,
                  count_place(c, y->from_place)->object);

    d = d ? d : order(x->from, y->from);
    d = d ? d : order(count_place(c, x->to_place)->object,
                      count_place(c, y->to_place)->object);
    d = d ? d : order(x->to, y->to);
    d = d ? d : order(x->from_place, y->from_place);
    return d ? d : order(x->to_place, y->to_place);
}

void counts_sort(Counts *c)
{
    /* What is found by its index there is not there any more. */
    g_hash_table_remove_all(c->range_index);
    g_hash_table_remove_all(c->edge_index);
    g_array_sort_with_data(c->ranges, compare_ranges, c);
    g_array_sort_with_data(c->edges, compare_edges, c);
}

uint64_t counts_insns(const Counts *c)
{
    uint64_t sum = 0;

    for (guint i = 0; i < c->ranges->len; i++) {
        const CountRange *r = &g_array_index(c->ranges, CountRange, i);

        sum += r->insns * r->count;
    }
    return sum;
}
