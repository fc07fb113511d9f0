/*
 * Profiles and counts of a hart as bytes, to be added up
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/saved-counts.h"

/* Bytes that one of each takes */
#define NODE_SIZE   12
#define PLACE_SIZE  17
#define RANGE_SIZE  41
#define EDGE_SIZE   33

static void put_profile(const Profile *profile, TreeWriter *tree,
                        GByteArray *out)
{
    uint32_t n = 0;

    for (guint i = 0; i < profile->nodes->len; i++) {
        n += profile_node(profile, i)->self != 0;
    }
    bytes_put_u8(out, profile->full);
    bytes_put_u64(out, profile->merged);
    bytes_put_u32(out, n);
    for (guint i = 0; i < profile->nodes->len; i++) {
        uint64_t self = profile_node(profile, i)->self;

        if (self) {
            bytes_put_u32(out, tree_writer_node(tree, i));
            bytes_put_u64(out, self);
        }
    }
}

static void put_counts(const Counts *counts, TreeWriter *tree,
                       GByteArray *out)
{
    bytes_put_u32(out, counts->places->len);
    for (guint i = 0; i < counts->places->len; i++) {
        const CountPlace *p = count_place(counts, i);

        bytes_put_u32(out, p->task == TASK_NONE ? 0 :
                      tree_writer_task(tree, task_get(counts->tasks,
                                                      p->task)));
        bytes_put_u32(out, p->object);
        bytes_put_u8(out, p->priv);
        bytes_put_u64(out, p->bias);
    }
    bytes_put_u32(out, counts->ranges->len);
    for (guint i = 0; i < counts->ranges->len; i++) {
        const CountRange *r = &g_array_index(counts->ranges, CountRange, i);

        bytes_put_u32(out, r->place);
        bytes_put_u8(out, r->itype);
        bytes_put_u32(out, r->insns);
        bytes_put_u64(out, r->start);
        bytes_put_u64(out, r->last);
        bytes_put_u64(out, r->end);
        bytes_put_u64(out, r->count);
    }
    bytes_put_u32(out, counts->edges->len);
    for (guint i = 0; i < counts->edges->len; i++) {
        const CountEdge *e = &g_array_index(counts->edges, CountEdge, i);

        bytes_put_u32(out, e->from_place);
        bytes_put_u32(out, e->to_place);
        bytes_put_u8(out, e->itype);
        bytes_put_u64(out, e->from);
        bytes_put_u64(out, e->to);
        bytes_put_u64(out, e->count);
    }
}

void saved_counts_put(const Profile *profile, const Counts *counts,
                      GByteArray *out)
{
    g_autoptr(TreeWriter) tree = tree_writer_new(profile);
    g_autoptr(GByteArray) body = g_byte_array_new();

    put_profile(profile, tree, body);
    put_counts(counts, tree, body);
    tree_writer_put(tree, out);
    g_byte_array_append(out, body->data, body->len);
}

static bool get_profile(ByteReader *in, TreeReader *tree, Profile *profile,
                        const CallStackOptions *options)
{
    bool full = bytes_get_u8(in);
    uint64_t merged = bytes_get_u64(in);
    uint32_t n = bytes_get_count(in, NODE_SIZE);

    if (profile) {
        tree_reader_bind(tree, profile, options);
        profile->full |= full;
        profile->merged += merged;
    }
    while (n-- > 0) {
        uint32_t number = bytes_get_u32(in);
        uint64_t self = bytes_get_u64(in);
        unsigned node;

        if (profile) {
            if (!tree_reader_node(tree, number, &node)) {
                return false;
            }
            profile_node(profile, node)->self += self;
        }
    }
    return !in->failed;
}

/* Numbers of places in @counts, by those of the file; NULL: no sense */
static GArray *get_places(ByteReader *in, unsigned hart, TreeReader *tree,
                          const ObjectTable *objects, Counts *counts)
{
    g_autoptr(GArray) places = g_array_new(false, false, sizeof(unsigned));
    uint32_t n = bytes_get_count(in, PLACE_SIZE);

    while (n-- > 0) {
        const Task *task;
        uint32_t number = bytes_get_u32(in);
        CountPlace p = { .hart = hart };
        unsigned place = 0;

        p.object = bytes_get_u32(in);
        p.priv = bytes_get_u8(in);
        p.bias = bytes_get_u64(in);
        if (!tree_reader_task(tree, number, &task) ||
            p.object >= object_table_size(objects) ||
            p.priv >= SIDEBAND_NR_PRIVS) {
            return NULL;
        }
        p.task = task && counts && counts->tasks ? task->id : TASK_NONE;
        place = counts ? counts_place(counts, &p) : 0;
        g_array_append_val(places, place);
    }
    return g_steal_pointer(&places);
}

static bool get_place(ByteReader *in, const GArray *places, unsigned *place)
{
    uint32_t number = bytes_get_u32(in);

    if (number >= places->len) {
        return false;
    }
    *place = g_array_index(places, unsigned, number);
    return true;
}

static bool get_range(ByteReader *in, const GArray *places, CountRange *r)
{
    if (!get_place(in, places, &r->place)) {
        return false;
    }
    r->itype = bytes_get_u8(in);
    r->insns = bytes_get_u32(in);
    r->start = bytes_get_u64(in);
    r->last = bytes_get_u64(in);
    r->end = bytes_get_u64(in);
    r->count = bytes_get_u64(in);
    /* Views walk from start to end, of so many instructions. */
    return r->itype <= ETRACE_ITYPE_OTHER_INFERABLE_JUMP && r->insns &&
           r->last - r->start <= 4ull * r->insns &&
           r->end - r->last <= 4 && r->end - r->start >= 2ull * r->insns;
}

static bool get_edge(ByteReader *in, const GArray *places, CountEdge *e)
{
    if (!get_place(in, places, &e->from_place) ||
        !get_place(in, places, &e->to_place)) {
        return false;
    }
    e->itype = bytes_get_u8(in);
    e->from = bytes_get_u64(in);
    e->to = bytes_get_u64(in);
    e->count = bytes_get_u64(in);
    return e->itype <= ETRACE_ITYPE_OTHER_INFERABLE_JUMP;
}

static bool get_counts(ByteReader *in, const GArray *places, Counts *counts)
{
    uint32_t n;

    for (n = bytes_get_count(in, RANGE_SIZE); n > 0; n--) {
        CountRange r;

        if (!get_range(in, places, &r)) {
            return false;
        }
        if (counts) {
            counts_add_range(counts, &r, r.count);
        }
    }
    for (n = bytes_get_count(in, EDGE_SIZE); n > 0; n--) {
        CountEdge e;

        if (!get_edge(in, places, &e)) {
            return false;
        }
        if (counts) {
            counts_add_edge(counts, &e, e.count);
        }
    }
    return !in->failed;
}

bool saved_counts_get(ByteReader *in, unsigned hart, TaskTable *tasks,
                      const ObjectTable *objects, Profile *profile,
                      const CallStackOptions *options, Counts *counts)
{
    g_autoptr(TreeReader) tree = tree_reader_new(in, objects, tasks);
    g_autoptr(GArray) places = NULL;

    if (!tree || !get_profile(in, tree, profile, options)) {
        return false;
    }
    places = get_places(in, hart, tree, objects, counts);
    return places && get_counts(in, places, counts);
}
