/*
 * What ran of one object: its counts, whoever ran it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/pgo/object-counts.h"

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_blocks(gconstpointer a, gconstpointer b)
{
    const ObjectBlock *x = a, *y = b;
    int d = order(x->start, y->start);

    d = d ? d : order(x->end, y->end);
    d = d ? d : order(x->last, y->last);
    return d ? d : order(x->itype, y->itype);
}

static int compare_jumps(gconstpointer a, gconstpointer b)
{
    const ObjectJump *x = a, *y = b;
    int d = order(x->from, y->from);

    d = d ? d : order(x->to, y->to);
    d = d ? d : order(x->from_here, y->from_here);
    d = d ? d : order(x->to_here, y->to_here);
    return d ? d : order(x->itype, y->itype);
}

static void add_blocks(ObjectCounts *oc, const Counts *c)
{
    guint n = 0;

    for (guint i = 0; i < c->ranges->len; i++) {
        const CountRange *r = &g_array_index(c->ranges, CountRange, i);

        if (count_place(c, r->place)->object == oc->object->id && r->count) {
            ObjectBlock b = {
                .start = r->start,
                .last = r->last,
                .end = r->end,
                .count = r->count,
                .insns = r->insns,
                .itype = r->itype,
            };

            g_array_append_val(oc->blocks, b);
            oc->insns += r->insns * r->count;
        }
    }
    g_array_sort(oc->blocks, compare_blocks);
    for (guint i = 0; i < oc->blocks->len; i++) {
        ObjectBlock *b = &g_array_index(oc->blocks, ObjectBlock, i);
        ObjectBlock *prev = &g_array_index(oc->blocks, ObjectBlock,
                                           n ? n - 1 : 0);

        if (n && !compare_blocks(prev, b)) {
            prev->count += b->count;
        } else {
            g_array_index(oc->blocks, ObjectBlock, n++) = *b;
        }
    }
    g_array_set_size(oc->blocks, n);
}

static void add_jumps(ObjectCounts *oc, const Counts *c)
{
    guint n = 0;

    for (guint i = 0; i < c->edges->len; i++) {
        const CountEdge *e = &g_array_index(c->edges, CountEdge, i);
        bool from = count_place(c, e->from_place)->object == oc->object->id;
        bool to = count_place(c, e->to_place)->object == oc->object->id;

        if ((from || to) && e->count && e->itype > ETRACE_ITYPE_TRAP_RETURN) {
            ObjectJump j = {
                .from = from ? e->from : 0,
                .to = to ? e->to : 0,
                .count = e->count,
                .from_here = from,
                .to_here = to,
                .itype = e->itype,
            };

            g_array_append_val(oc->jumps, j);
        }
    }
    g_array_sort(oc->jumps, compare_jumps);
    for (guint i = 0; i < oc->jumps->len; i++) {
        ObjectJump *j = &g_array_index(oc->jumps, ObjectJump, i);
        ObjectJump *prev = &g_array_index(oc->jumps, ObjectJump,
                                          n ? n - 1 : 0);

        if (n && !compare_jumps(prev, j)) {
            prev->count += j->count;
        } else {
            g_array_index(oc->jumps, ObjectJump, n++) = *j;
        }
    }
    g_array_set_size(oc->jumps, n);
}

ObjectCounts *object_counts_new(const Counts *c, const Object *object)
{
    ObjectCounts *oc = g_new0(ObjectCounts, 1);

    oc->object = object;
    oc->blocks = g_array_new(false, false, sizeof(ObjectBlock));
    oc->jumps = g_array_new(false, false, sizeof(ObjectJump));
    oc->spans = g_array_new(false, false, sizeof(ObjectSpan));
    add_blocks(oc, c);
    add_jumps(oc, c);
    return oc;
}

void object_counts_free(ObjectCounts *oc)
{
    g_array_unref(oc->blocks);
    g_array_unref(oc->jumps);
    g_array_unref(oc->spans);
    g_free(oc);
}

/* So many more, or fewer, from here on */
typedef struct Step {
    uint64_t addr;
    uint64_t more;          /* modulo 2^64 */
} Step;

static int compare_steps(gconstpointer a, gconstpointer b)
{
    const Step *x = a, *y = b;

    return order(x->addr, y->addr);
}

void object_counts_spread(ObjectCounts *oc)
{
    g_autoptr(GArray) steps = g_array_sized_new(false, false, sizeof(Step),
                                                2 * oc->blocks->len);
    uint64_t count = 0;

    g_array_set_size(oc->spans, 0);
    for (guint i = 0; i < oc->blocks->len; i++) {
        const ObjectBlock *b = object_block(oc, i);
        Step up = { b->start, b->count }, down = { b->end, -b->count };

        g_array_append_val(steps, up);
        g_array_append_val(steps, down);
    }
    g_array_sort(steps, compare_steps);
    for (guint i = 0; i < steps->len; i++) {
        const Step *s = &g_array_index(steps, Step, i);

        count += s->more;
        if (count && i + 1 < steps->len && s[1].addr != s->addr) {
            ObjectSpan span = { s->addr, s[1].addr, count };

            g_array_append_val(oc->spans, span);
        }
    }
}

/* The first span that ends behind @addr; the number of spans if none does */
static guint find_span(const ObjectCounts *oc, uint64_t addr)
{
    guint first = 0, last = oc->spans->len;

    while (first < last) {
        guint mid = first + (last - first) / 2;

        if (g_array_index(oc->spans, ObjectSpan, mid).hi <= addr) {
            first = mid + 1;
        } else {
            last = mid;
        }
    }
    return first;
}

uint64_t object_counts_at(const ObjectCounts *oc, uint64_t addr)
{
    return object_counts_most(oc, addr, addr + 1);
}

uint64_t object_counts_most(const ObjectCounts *oc, uint64_t lo, uint64_t hi)
{
    uint64_t most = 0;

    for (guint i = find_span(oc, lo); i < oc->spans->len; i++) {
        const ObjectSpan *s = &g_array_index(oc->spans, ObjectSpan, i);

        if (s->lo >= hi) {
            break;
        }
        most = MAX(most, s->count);
    }
    return most;
}
