/*
 * Counts: how often each piece of code ran, and each jump was taken
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/counts.h"

/*
 * It begins with mix(0, ...): what is mixed first must not be taken as it is,
 * or ranges of one length would have one hash.
 */
static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

/* Hashes of what distinguishes elements, which are equal if all of that is */

static uint32_t place_hash(const CountPlace *p)
{
    return mix(mix(mix(mix(0, p->bias), (uint64_t)p->hart << 32 | p->task),
                   p->object), p->priv) >> 32;
}

static bool place_equal(const void *a, const void *b)
{
    const CountPlace *x = a, *y = b;

    return x->bias == y->bias && x->hart == y->hart && x->task == y->task &&
           x->object == y->object && x->priv == y->priv;
}

static uint32_t range_hash(const CountRange *r)
{
    return mix(mix(mix(mix(0, r->start), r->end), r->place),
               (uint64_t)r->insns << 32 | r->itype) >> 32;
}

static bool range_equal(const void *a, const void *b)
{
    const CountRange *x = a, *y = b;

    return x->start == y->start && x->end == y->end && x->place == y->place &&
           x->insns == y->insns && x->itype == y->itype;
}

static uint32_t edge_hash(const CountEdge *e)
{
    return mix(mix(mix(mix(0, e->from), e->to), e->from_place),
               (uint64_t)e->to_place << 32 | e->itype) >> 32;
}

static bool edge_equal(const void *a, const void *b)
{
    const CountEdge *x = a, *y = b;

    return x->from == y->from && x->to == y->to &&
           x->from_place == y->from_place && x->to_place == y->to_place &&
           x->itype == y->itype;
}

Counts *counts_new(const ObjectTable *objects, const TaskTable *tasks)
{
    Counts *c = g_new0(Counts, 1);

    c->objects = objects;
    c->tasks = tasks;
    c->places = g_array_new(false, false, sizeof(CountPlace));
    c->ranges = g_array_new(false, false, sizeof(CountRange));
    c->edges = g_array_new(false, false, sizeof(CountEdge));
    return c;
}

void counts_free(Counts *c)
{
    element_index_clear(&c->place_index);
    element_index_clear(&c->range_index);
    element_index_clear(&c->edge_index);
    g_array_unref(c->places);
    g_array_unref(c->ranges);
    g_array_unref(c->edges);
    g_free(c);
}

unsigned counts_place(Counts *c, const CountPlace *place)
{
    return element_index_intern(&c->place_index, c->places, place_hash(place),
                                place_equal, place);
}

/* What counts_merge() has appended comes into the index when it is used. */

static void index_ranges(Counts *c)
{
    for (guint i = c->range_index.used; i < c->ranges->len; i++) {
        element_index_add(&c->range_index,
                          range_hash(&g_array_index(c->ranges, CountRange, i)),
                          i);
    }
}

static void index_edges(Counts *c)
{
    for (guint i = c->edge_index.used; i < c->edges->len; i++) {
        element_index_add(&c->edge_index,
                          edge_hash(&g_array_index(c->edges, CountEdge, i)),
                          i);
    }
}

unsigned counts_range(Counts *c, const CountRange *range)
{
    CountRange fresh = *range;

    index_ranges(c);
    fresh.count = fresh.ns = 0;
    return element_index_intern(&c->range_index, c->ranges, range_hash(&fresh),
                                range_equal, &fresh);
}

unsigned counts_edge(Counts *c, const CountEdge *edge)
{
    CountEdge fresh = *edge;

    index_edges(c);
    fresh.count = 0;
    return element_index_intern(&c->edge_index, c->edges, edge_hash(&fresh),
                                edge_equal, &fresh);
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

static void append(Counts *c, const Counts *from, const unsigned *places)
{
    guint ranges = c->ranges->len, edges = c->edges->len;

    g_array_append_vals(c->ranges, from->ranges->data, from->ranges->len);
    for (guint i = ranges; i < c->ranges->len; i++) {
        CountRange *r = &g_array_index(c->ranges, CountRange, i);

        r->place = places[r->place];
    }
    g_array_append_vals(c->edges, from->edges->data, from->edges->len);
    for (guint i = edges; i < c->edges->len; i++) {
        CountEdge *e = &g_array_index(c->edges, CountEdge, i);

        e->from_place = places[e->from_place];
        e->to_place = places[e->to_place];
    }
}

void counts_merge(Counts *c, const Counts *from)
{
    g_autofree unsigned *places = g_new(unsigned, from->places->len);
    unsigned before = c->places->len;

    for (guint i = 0; i < from->places->len; i++) {
        places[i] = counts_place(c, count_place(from, i));
    }
    /* Of places that are all new, as those of another hart, so is the rest. */
    if (c->places->len - before == from->places->len) {
        append(c, from, places);
        return;
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
    element_index_clear(&c->range_index);
    element_index_clear(&c->edge_index);
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

uint64_t *counts_insns_by_object(const Counts *c)
{
    uint64_t *insns = g_new0(uint64_t, object_table_size(c->objects));

    for (guint i = 0; i < c->ranges->len; i++) {
        const CountRange *r = &g_array_index(c->ranges, CountRange, i);

        insns[count_place(c, r->place)->object] += r->insns * r->count;
    }
    return insns;
}
