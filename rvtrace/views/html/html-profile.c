/*
 * Reports: the profile as JSON
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/html/html-profile.h"
#include "base/json.h"

#define LEFT_OUT    UINT_MAX

/* What a frame is of the whole profile */
typedef struct FrameSum {
    uint64_t own, total;        /* total: once for recursive calls */
    unsigned active;            /* nodes above that show it, in a walk */
    unsigned index;             /* in the JSON; LEFT_OUT: not there */
} FrameSum;

/* Instructions of a node in a bin */
typedef struct NodeCount {
    uint32_t node, bin;
    uint64_t count;
} NodeCount;

typedef struct Tree {
    const HtmlReport *report;
    const HtmlAxis *axis;
    const Profile *profile;
    GPtrArray *children;
    uint8_t *is;                /* Layer of each node */
    FrameSum *sums;             /* by frame */
    unsigned *listed;           /* frames, as they are in the JSON */
    unsigned nr_listed;
    unsigned nr_functions;      /* the first ones of them, in any case */
    uint64_t smallest;          /* total of a node that is shown */
    GArray *counts;             /* NodeCount, by node */
    guint *first;               /* by node: its first one in counts */
    GByteArray *packed;
    unsigned level;             /* of the node that was packed last */
    uint64_t *bins;             /* of a node that is being packed */
    GString *s;
} Tree;

static FrameSum *sum_of(const Tree *t, unsigned node)
{
    return &t->sums[profile_node(t->profile, node)->frame];
}

static void add_up(Tree *t, unsigned node)
{
    const ProfileNode *n = profile_node(t->profile, node);
    const GArray *below = t->children->pdata[node];
    FrameSum *sum = sum_of(t, node);

    if (node != PROFILE_ROOT) {
        sum->own += n->self;
        sum->total += sum->active ? 0 : n->total;
        sum->active++;
    }
    for (guint i = 0; below && i < below->len; i++) {
        add_up(t, g_array_index(below, unsigned, i));
    }
    if (node != PROFILE_ROOT) {
        sum->active--;
    }
}

/* Few enough nodes must be shown that a browser can hold them. */
static void choose_smallest(Tree *t)
{
    uint64_t total = profile_node(t->profile, PROFILE_ROOT)->total;

    t->smallest = MAX(total / HTML_SMALLEST_PART, 1);
    for (;;) {
        unsigned n = 0;

        for (guint i = 0; i < t->profile->nodes->len; i++) {
            n += profile_node(t->profile, i)->total >= t->smallest;
        }
        if (n <= HTML_MAX_NODES) {
            return;
        }
        t->smallest *= 2;
    }
}

static unsigned list_frame(Tree *t, unsigned frame)
{
    FrameSum *sum = &t->sums[frame];

    if (sum->index == LEFT_OUT) {
        sum->index = t->nr_listed;
        t->listed[t->nr_listed++] = frame;
    }
    return sum->index;
}

static int by_total(gconstpointer a, gconstpointer b, gpointer opaque)
{
    const Tree *t = opaque;
    const FrameSum *x = &t->sums[*(const unsigned *)a];
    const FrameSum *y = &t->sums[*(const unsigned *)b];

    if (x->own != y->own) {
        return x->own > y->own ? -1 : 1;
    }
    return x->total > y->total ? -1 : x->total < y->total;
}

/* The hottest functions first, then what else the tree needs */
static void list_functions(Tree *t)
{
    g_autoptr(GArray) all = g_array_new(false, false, sizeof(unsigned));

    for (unsigned i = 0; i < t->profile->frames->len; i++) {
        if (t->sums[i].total &&
            profile_frame(t->profile, i)->kind != FRAME_GROUP) {
            g_array_append_val(all, i);
        }
    }
    g_array_sort_with_data(all, by_total, t);
    for (guint i = 0; i < MIN(all->len, HTML_MAX_FUNCTIONS); i++) {
        list_frame(t, g_array_index(all, unsigned, i));
    }
    t->nr_functions = t->nr_listed;
    g_string_append_printf(t->s, "\"functions\":%u,\"allFunctions\":%u,",
                           t->nr_listed, all->len);
}

static int by_node(gconstpointer a, gconstpointer b)
{
    const NodeCount *x = a, *y = b;

    return x->node != y->node ? (x->node < y->node ? -1 : 1) :
           x->bin < y->bin ? -1 : x->bin > y->bin;
}

/*
 * The node of the whole profile that each one of the hart's is, made if there
 * is none. The caller frees it.
 */
static unsigned *find_nodes(const Tree *t, const Activity *a)
{
    Profile *all = t->report->profile;
    const Profile *from = a->profile;
    unsigned *nodes = g_new(unsigned, from->nodes->len);
    g_autofree unsigned *frames = g_new(unsigned, from->frames->len);
    unsigned top = PROFILE_ROOT;

    for (guint i = 0; i < from->frames->len; i++) {
        frames[i] = profile_take_frame(all, profile_frame(from, i));
    }
    if (t->report->layers.hart) {
        g_autofree char *name = g_strdup_printf("hart %u", a->hart);
        unsigned frame = profile_label(all, FRAME_GROUP, name);

        top = profile_child(all, PROFILE_ROOT, frame);
    }
    nodes[PROFILE_ROOT] = top;
    for (guint i = PROFILE_ROOT + 1; i < from->nodes->len; i++) {
        const ProfileNode *n = profile_node(from, i);

        nodes[i] = profile_child(all, nodes[n->parent], frames[n->frame]);
    }
    return nodes;
}

static void collect_hart(Tree *t, const Activity *a)
{
    const Bins *b = a->nodes;
    const HtmlAxis *axis = t->axis;
    g_autofree unsigned *nodes = find_nodes(t, a);

    for (guint i = 0; i < b->counts->len; i++) {
        const BinCount *c = &g_array_index(b->counts, BinCount, i);
        uint32_t bin = bins_place(b, c, axis->width * axis->per, axis->start);
        NodeCount n = {
            .node = nodes[c->id],
            .bin = MIN(bin, axis->node_bins - 1),
            .count = c->count,
        };

        g_array_append_val(t->counts, n);
    }
}

/* What nodes have, by bin; what nobody has seen running is in the first one. */
static void collect_counts(Tree *t)
{
    g_autofree uint64_t *seen = NULL;
    guint n, at = 0;

    t->counts = g_array_new(false, false, sizeof(NodeCount));
    for (unsigned i = 0; i < t->report->nr_harts; i++) {
        collect_hart(t, t->report->harts[i]);
    }
    n = t->profile->nodes->len;
    seen = g_new0(uint64_t, n);
    for (guint i = 0; i < t->counts->len; i++) {
        const NodeCount *c = &g_array_index(t->counts, NodeCount, i);

        seen[c->node] += c->count;
    }
    for (guint i = 0; i < n; i++) {
        NodeCount rest = { .node = i };

        if (seen[i] < profile_node(t->profile, i)->self) {
            rest.count = profile_node(t->profile, i)->self - seen[i];
            g_array_append_val(t->counts, rest);
        }
    }
    g_array_sort(t->counts, by_node);
    t->first = g_new(guint, n + 1);
    for (guint i = 0; i <= n; i++) {
        while (at < t->counts->len &&
               g_array_index(t->counts, NodeCount, at).node < i) {
            at++;
        }
        t->first[i] = at;
    }
}

static void add_bins(Tree *t, unsigned node)
{
    for (guint i = t->first[node]; i < t->first[node + 1]; i++) {
        const NodeCount *c = &g_array_index(t->counts, NodeCount, i);

        t->bins[c->bin] += c->count;
    }
}

static void add_bins_below(Tree *t, unsigned node)
{
    const GArray *below = t->children->pdata[node];

    add_bins(t, node);
    for (guint i = 0; below && i < below->len; i++) {
        add_bins_below(t, g_array_index(below, unsigned, i));
    }
}

/* A node with what is in t->bins, which is empty then */
static void pack_node(Tree *t, unsigned level, unsigned what)
{
    size_t size = t->axis->node_bins * sizeof(*t->bins);

    html_pack_number(t->packed, t->packed->len ? t->level + 1 - level : 0);
    html_pack_number(t->packed, what);
    html_pack_counts(t->packed, t->bins, t->axis->node_bins);
    memset(t->bins, 0, size);
    t->level = level;
}

static void pack_tree(Tree *t, unsigned node)
{
    const ProfileNode *n = profile_node(t->profile, node);
    const GArray *below = t->children->pdata[node];
    bool left_out = false;

    add_bins(t, node);
    pack_node(t, n->depth, node == PROFILE_ROOT ? 0 :
              1 + list_frame(t, n->frame) * 8 + t->is[node]);
    for (guint i = 0; below && i < below->len; i++) {
        unsigned child = g_array_index(below, unsigned, i);

        if (profile_node(t->profile, child)->total >= t->smallest) {
            pack_tree(t, child);
        } else {
            left_out = true;
        }
    }
    for (guint i = 0; left_out && i < below->len; i++) {
        unsigned child = g_array_index(below, unsigned, i);

        if (profile_node(t->profile, child)->total < t->smallest) {
            add_bins_below(t, child);
        }
    }
    if (left_out) {
        pack_node(t, n->depth + 1, 0);
    }
}

/* ... in no more bytes than a browser should have to read */
static void put_tree(Tree *t)
{
    t->packed = g_byte_array_new();
    t->bins = g_new0(uint64_t, t->axis->node_bins);
    pack_tree(t, PROFILE_ROOT);
    while (t->packed->len > HTML_MAX_TREE) {
        g_byte_array_set_size(t->packed, 0);
        while (t->nr_listed > t->nr_functions) {
            t->sums[t->listed[--t->nr_listed]].index = LEFT_OUT;
        }
        t->smallest += t->smallest / 4 + 1;
        pack_tree(t, PROFILE_ROOT);
    }
    g_string_append_printf(t->s, "\"smallest\":%" PRIu64 ",\"tree\":",
                           t->smallest);
    html_put_packed(t->s, t->packed);
    g_string_append_c(t->s, ',');
    g_byte_array_unref(t->packed);
    g_free(t->bins);
}

/* Calls of each function, by its object and address; NULL: not known */
static GHashTable *count_calls(const Counts *c)
{
    GHashTable *calls;

    if (!c) {
        return NULL;
    }
    calls = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                  g_free);
    for (guint i = 0; i < c->edges->len; i++) {
        const CountEdge *e = &g_array_index(c->edges, CountEdge, i);
        unsigned object = count_place(c, e->to_place)->object;
        uint64_t key = e->to ^ (uint64_t)object << 48, *n;

        if ((e->itype != ETRACE_ITYPE_INFERABLE_CALL &&
             e->itype != ETRACE_ITYPE_UNINFERABLE_CALL &&
             e->itype != ETRACE_ITYPE_INTERRUPT) ||
            object_get(c->objects, object)->kind == OBJECT_NONE) {
            continue;
        }
        n = g_hash_table_lookup(calls, &key);
        if (!n) {
            n = g_new0(uint64_t, 1);
            g_hash_table_insert(calls, g_memdup2(&key, sizeof(key)), n);
        }
        *n += e->count;
    }
    return calls;
}

static void put_calls(GString *s, GHashTable *calls, const ProfileFrame *f)
{
    if (calls && f->object && f->symbol) {
        uint64_t key = f->entry ^ (uint64_t)f->object->id << 48;
        const uint64_t *n = g_hash_table_lookup(calls, &key);

        g_string_append_printf(s, ",%" PRIu64, n ? *n : 0);
    } else {
        g_string_append(s, ",-1");
    }
}

static void put_frames(Tree *t)
{
    g_autoptr(GHashTable) objects = g_hash_table_new(NULL, NULL);
    g_autoptr(GString) names = g_string_new("\"objects\":[");
    g_autoptr(GHashTable) calls = count_calls(t->report->counts);

    g_string_append(t->s, "\"frames\":[");
    for (unsigned i = 0; i < t->nr_listed; i++) {
        const ProfileFrame *f = profile_frame(t->profile, t->listed[i]);
        const FrameSum *sum = &t->sums[t->listed[i]];
        int object = -1;

        /* One more than the index: there is no 0 in the table. */
        if (f->object && !g_hash_table_lookup(objects, f->object)) {
            unsigned n = g_hash_table_size(objects) + 1;

            g_hash_table_insert(objects, (gpointer)f->object,
                                GUINT_TO_POINTER(n));
            json_comma(names);
            json_string(names, f->object->id == OBJECT_UNKNOWN ? "" :
                        f->object->name, HTML_MAX_NAME);
        }
        if (f->object) {
            object = GPOINTER_TO_INT(g_hash_table_lookup(objects,
                                                         f->object)) - 1;
        }
        json_comma(t->s);
        g_string_append_c(t->s, '[');
        json_string(t->s, f->name, HTML_MAX_NAME);
        g_string_append_printf(t->s, ",%d,%d,%" PRIu64 ",%" PRIu64, f->kind,
                               object, sum->own, sum->total);
        put_calls(t->s, calls, f);
        g_string_append_c(t->s, ']');
    }
    g_string_append_printf(t->s, "],%s]", names->str);
}

void html_put_profile(GString *s, const HtmlReport *r, const HtmlAxis *axis)
{
    Tree t = { .report = r, .axis = axis, .profile = r->profile, .s = s };

    collect_counts(&t);
    profile_sum(r->profile);
    t.children = profile_children(r->profile);
    t.is = layers_find(r->profile, &r->layers);
    t.sums = g_new0(FrameSum, MAX(r->profile->frames->len, 1));
    t.listed = g_new(unsigned, r->profile->frames->len);
    for (guint i = 0; i < r->profile->frames->len; i++) {
        t.sums[i].index = LEFT_OUT;
    }
    choose_smallest(&t);
    add_up(&t, PROFILE_ROOT);
    list_functions(&t);
    put_tree(&t);
    put_frames(&t);
    g_ptr_array_unref(t.children);
    g_array_unref(t.counts);
    g_free(t.first);
    g_free(t.is);
    g_free(t.sums);
    g_free(t.listed);
}
