/*
 * Reports: the profile and the strips as JSON
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/html/html-data.h"
#include "base/json.h"

#define LEFT_OUT    UINT_MAX

/* What a frame is of the whole profile */
typedef struct FrameSum {
    uint64_t own, total;        /* total: once for recursive calls */
    unsigned active;            /* nodes above that show it, in a walk */
    unsigned index;             /* in the JSON; LEFT_OUT: not there */
} FrameSum;

typedef struct Tree {
    const HtmlReport *report;
    const Profile *profile;
    GPtrArray *children;
    uint8_t *is;                /* Layer of each node */
    FrameSum *sums;             /* by frame */
    unsigned *listed;           /* frames, as they are in the JSON */
    unsigned nr_listed;
    uint64_t smallest;          /* total of a node that is shown */
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
    g_string_append_printf(t->s, "\"functions\":%u,\"allFunctions\":%u,",
                           t->nr_listed, all->len);
}

static void put_node(Tree *t, unsigned level, int what, uint64_t total)
{
    json_comma(t->s);
    g_string_append_printf(t->s, "%u,%d,%" PRIu64, level, what, total);
}

static void put_tree(Tree *t, unsigned node)
{
    const ProfileNode *n = profile_node(t->profile, node);
    const GArray *below = t->children->pdata[node];
    uint64_t left_out = 0;

    put_node(t, n->depth, node == PROFILE_ROOT ? -1 :
             (int)list_frame(t, n->frame) * 8 + t->is[node], n->total);
    for (guint i = 0; below && i < below->len; i++) {
        unsigned child = g_array_index(below, unsigned, i);
        uint64_t total = profile_node(t->profile, child)->total;

        if (total >= t->smallest) {
            put_tree(t, child);
        } else {
            left_out += total;
        }
    }
    if (left_out) {
        put_node(t, n->depth + 1, -1, left_out);
    }
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

void html_data_profile(GString *s, const HtmlReport *r)
{
    Tree t = { .report = r, .profile = r->profile, .s = s };

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
    g_string_append(s, "\"tree\":[");
    put_tree(&t, PROFILE_ROOT);
    g_string_append(s, "],");
    put_frames(&t);
    g_ptr_array_unref(t.children);
    g_free(t.is);
    g_free(t.sums);
    g_free(t.listed);
}

/* A task's share of all harts */
typedef struct TaskSum {
    const Task *task;
    uint64_t insns;
    int index;                  /* in the JSON */
} TaskSum;

static int by_insns(gconstpointer a, gconstpointer b)
{
    const TaskSum *x = *(TaskSum *const *)a, *y = *(TaskSum *const *)b;

    if (x->insns != y->insns) {
        return x->insns > y->insns ? -1 : 1;
    }
    if (x->task->tid != y->task->tid) {
        return x->task->tid < y->task->tid ? -1 : 1;
    }
    return strcmp(x->task->name, y->task->name);
}

/* Those that ran most; NULL is nobody and not among them */
static GPtrArray *sum_tasks(const HtmlReport *r, GHashTable *sums)
{
    GPtrArray *list = g_ptr_array_new();

    for (unsigned i = 0; i < r->nr_strips; i++) {
        GHashTableIter iter;
        gpointer task, insns;

        g_hash_table_iter_init(&iter, r->strips[i]->totals);
        while (g_hash_table_iter_next(&iter, &task, &insns)) {
            TaskSum *sum = g_hash_table_lookup(sums, task);

            if (task && !sum) {
                sum = g_new0(TaskSum, 1);
                sum->task = task;
                g_hash_table_insert(sums, task, sum);
                g_ptr_array_add(list, sum);
            }
            if (sum) {
                sum->insns += *(uint64_t *)insns;
            }
        }
    }
    g_ptr_array_sort(list, by_insns);
    for (guint i = 0; i < list->len; i++) {
        ((TaskSum *)list->pdata[i])->index = i < HTML_MAX_TASKS ? (int)i : -2;
    }
    return list;
}

static int task_index(GHashTable *sums, const Task *task)
{
    const TaskSum *sum = task ? g_hash_table_lookup(sums, task) : NULL;

    return sum ? sum->index : -1;
}

static void put_share(GString *s, int task, uint64_t insns)
{
    if (insns) {
        json_comma(s);
        g_string_append_printf(s, "%d,%" PRIu64, task, insns);
    }
}

/* How much of each task there is, in the order of @list */
static void put_totals(GString *s, const Strip *strip, const GPtrArray *list)
{
    const uint64_t *n = g_hash_table_lookup(strip->totals, NULL);
    uint64_t others = 0;

    put_share(s, -1, n ? *n : 0);
    for (guint i = 0; i < list->len; i++) {
        const TaskSum *sum = list->pdata[i];

        n = g_hash_table_lookup(strip->totals, sum->task);
        if (n && sum->index == -2) {
            others += *n;
        } else if (n) {
            put_share(s, sum->index, *n);
        }
    }
    put_share(s, -2, others);
}

static void put_strip(GString *s, const Strip *strip, GHashTable *sums,
                      const GPtrArray *list)
{
    json_comma(s);
    g_string_append_printf(s, "{\"hart\":%u,\"width\":%" PRIu64
                           ",\"insns\":%" PRIu64 ",\"buckets\":[",
                           strip->hart, strip->width, strip->insns);
    for (unsigned i = 0; i < STRIP_BUCKETS; i++) {
        const StripBucket *b = &strip->buckets[i];

        if (i * strip->width >= strip->insns) {
            break;
        }
        json_comma(s);
        g_string_append_c(s, '[');
        for (unsigned j = 0; j < STRIP_TASKS; j++) {
            put_share(s, task_index(sums, b->shares[j].task),
                      b->shares[j].insns);
        }
        put_share(s, -2, b->others);
        g_string_append_c(s, ']');
    }
    g_string_append(s, "],\"totals\":[");
    put_totals(s, strip, list);
    g_string_append(s, "]}");
}

void html_data_strips(GString *s, const HtmlReport *r)
{
    g_autoptr(GHashTable) sums = g_hash_table_new_full(NULL, NULL, NULL,
                                                       g_free);
    g_autoptr(GPtrArray) list = sum_tasks(r, sums);

    g_string_append(s, "\"tasks\":[");
    for (guint i = 0; i < MIN(list->len, HTML_MAX_TASKS); i++) {
        const Task *task = ((TaskSum *)list->pdata[i])->task;

        json_comma(s);
        g_string_append_c(s, '[');
        json_string(s, task->name, HTML_MAX_NAME);
        g_string_append_printf(s, ",%u,%u,%d]", task->tgid, task->tid,
                               task->known);
    }
    g_string_append(s, "],\"strips\":[");
    for (unsigned i = 0; i < r->nr_strips; i++) {
        put_strip(s, r->strips[i], sums, list);
    }
    g_string_append_c(s, ']');
}
