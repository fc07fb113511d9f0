/*
 * Call stacks in files: nodes of a profile, and tasks, by number
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/stack-tree.h"

/* Bytes that the least of each kind takes */
#define FRAME_SIZE  7
#define NODE_SIZE   8
#define TASK_SIZE   13

/* How a frame is written */
typedef enum FrameForm {
    FORM_LABEL,             /* a name */
    FORM_OTHER,
    FORM_SYMBOL,            /* object and address of the function */
    FORM_NO_SYMBOL,
    FORM_NR,
} FrameForm;

struct TreeWriter {
    const Profile *profile;
    GHashTable *nodes;      /* of the profile -> number */
    GArray *order;          /* unsigned: nodes of the profile, by number */
    GHashTable *frames;     /* of the profile -> number */
    GArray *frame_order;
    GHashTable *tasks;      /* Task -> number */
    GPtrArray *task_order;
};

void stack_tree_layers(CallStackOptions *options)
{
    options->nr_layers = 0;
    while (options->nr_layers < CALLSTACK_NR_LAYERS) {
        options->layers[options->nr_layers] = options->nr_layers;
        options->nr_layers++;
    }
    options->moment = NULL;
}

TreeWriter *tree_writer_new(const Profile *profile)
{
    TreeWriter *w = g_new0(TreeWriter, 1);
    unsigned root = PROFILE_ROOT;

    w->profile = profile;
    w->nodes = g_hash_table_new(NULL, NULL);
    w->order = g_array_new(false, false, sizeof(unsigned));
    w->frames = g_hash_table_new(NULL, NULL);
    w->frame_order = g_array_new(false, false, sizeof(unsigned));
    w->tasks = g_hash_table_new(NULL, NULL);
    w->task_order = g_ptr_array_new();
    g_hash_table_insert(w->nodes, GUINT_TO_POINTER(root), NULL);
    g_array_append_val(w->order, root);
    return w;
}

void tree_writer_free(TreeWriter *w)
{
    g_hash_table_unref(w->nodes);
    g_hash_table_unref(w->frames);
    g_hash_table_unref(w->tasks);
    g_array_unref(w->order);
    g_array_unref(w->frame_order);
    g_ptr_array_unref(w->task_order);
    g_free(w);
}

static bool is_numbered(const TreeWriter *w, unsigned node)
{
    return g_hash_table_contains(w->nodes, GUINT_TO_POINTER(node));
}

static unsigned number_of(GHashTable *table, unsigned what)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(table,
                                                GUINT_TO_POINTER(what)));
}

static void number_node(TreeWriter *w, unsigned node)
{
    unsigned frame = profile_node(w->profile, node)->frame;

    g_hash_table_insert(w->nodes, GUINT_TO_POINTER(node),
                        GUINT_TO_POINTER(w->order->len));
    g_array_append_val(w->order, node);
    if (!g_hash_table_contains(w->frames, GUINT_TO_POINTER(frame))) {
        g_hash_table_insert(w->frames, GUINT_TO_POINTER(frame),
                            GUINT_TO_POINTER(w->frame_order->len));
        g_array_append_val(w->frame_order, frame);
    }
}

unsigned tree_writer_node(TreeWriter *w, unsigned node)
{
    unsigned path[PROFILE_MAX_DEPTH + 1], n = 0;

    for (unsigned at = node; !is_numbered(w, at);
         at = profile_node(w->profile, at)->parent) {
        path[n++] = at;
    }
    while (n > 0) {
        number_node(w, path[--n]);
    }
    return number_of(w->nodes, node);
}

unsigned tree_writer_task(TreeWriter *w, const Task *task)
{
    if (!task) {
        return 0;
    }
    if (!g_hash_table_contains(w->tasks, task)) {
        g_ptr_array_add(w->task_order, (gpointer)task);
        g_hash_table_insert(w->tasks, (gpointer)task,
                            GUINT_TO_POINTER(w->task_order->len));
    }
    return GPOINTER_TO_UINT(g_hash_table_lookup(w->tasks, task));
}

/* Several symbols may begin at one address: which of them is it? */
static uint32_t symbol_number(const ProfileFrame *f)
{
    unsigned n;

    return f->symbol ? f->symbol - symbols_all(f->object->symbols, &n) : 0;
}

static void put_frame(GByteArray *out, const ProfileFrame *f)
{
    FrameForm form = f->label ? FORM_LABEL : f->other ? FORM_OTHER :
                     f->symbol ? FORM_SYMBOL : FORM_NO_SYMBOL;

    bytes_put_u8(out, form);
    bytes_put_u8(out, f->kind);
    bytes_put_u8(out, 0);
    if (form == FORM_LABEL) {
        bytes_put_text(out, f->name);
    } else {
        bytes_put_u32(out, f->object ? f->object->id : 0);
        bytes_put_u64(out, f->entry);
        bytes_put_u32(out, symbol_number(f));
    }
}

void tree_writer_put(const TreeWriter *w, GByteArray *out)
{
    const Profile *p = w->profile;

    bytes_put_u32(out, w->frame_order->len);
    for (guint i = 0; i < w->frame_order->len; i++) {
        put_frame(out, profile_frame(p, g_array_index(w->frame_order,
                                                      unsigned, i)));
    }
    bytes_put_u32(out, w->order->len - 1);
    for (guint i = 1; i < w->order->len; i++) {
        unsigned node = g_array_index(w->order, unsigned, i);

        bytes_put_u32(out, number_of(w->nodes, profile_node(p, node)->parent));
        bytes_put_u32(out, number_of(w->frames, profile_node(p, node)->frame));
    }
    bytes_put_u32(out, w->task_order->len);
    for (guint i = 0; i < w->task_order->len; i++) {
        const Task *task = w->task_order->pdata[i];

        bytes_put_u8(out, task->kind);
        bytes_put_u32(out, task->tid);
        bytes_put_u32(out, task->tgid);
        bytes_put_text(out, task->name);
    }
}

typedef struct TreeFrame {
    FrameForm form;
    FrameKind kind;
    char *name;
    const Object *object;
    uint64_t entry;
    uint32_t symbol;
    unsigned made;          /* in the profile, + 1; 0: not yet */
} TreeFrame;

typedef struct TreeNode {
    unsigned parent, frame;
    unsigned depth;
    bool group;             /* one of the layers */
    unsigned made;          /* in the profile, + 1; 0: not yet */
} TreeNode;

struct TreeReader {
    GArray *frames;         /* TreeFrame */
    GArray *nodes;          /* TreeNode; 0 is the root */
    GPtrArray *tasks;       /* Task */
    Profile *profile;
    const CallStackOptions *options;
};

static void frame_clear(gpointer opaque)
{
    TreeFrame *f = opaque;

    g_free(f->name);
}

void tree_reader_free(TreeReader *t)
{
    g_array_unref(t->frames);
    g_array_unref(t->nodes);
    g_ptr_array_unref(t->tasks);
    g_free(t);
}

static bool get_frame(ByteReader *in, const ObjectTable *objects,
                      TreeFrame *f)
{
    uint32_t object;

    f->form = bytes_get_u8(in);
    f->kind = bytes_get_u8(in);
    bytes_get_u8(in);
    if (f->form == FORM_LABEL) {
        f->name = bytes_get_text(in);
    } else {
        object = bytes_get_u32(in);
        f->entry = bytes_get_u64(in);
        f->symbol = bytes_get_u32(in);
        if (objects && object >= object_table_size(objects)) {
            return false;
        }
        f->object = objects ? object_get(objects, object) : NULL;
    }
    return !in->failed && f->form < FORM_NR && f->kind < FRAME_NR_KINDS;
}

static bool get_node(TreeReader *t, ByteReader *in)
{
    TreeNode n = { 0 };
    const TreeNode *parent;
    const TreeFrame *f;

    n.parent = bytes_get_u32(in);
    n.frame = bytes_get_u32(in);
    if (in->failed || n.parent >= t->nodes->len ||
        n.frame >= t->frames->len) {
        return false;
    }
    parent = &g_array_index(t->nodes, TreeNode, n.parent);
    f = &g_array_index(t->frames, TreeFrame, n.frame);
    n.depth = parent->depth + 1;
    n.group = parent->group && f->form == FORM_LABEL &&
              f->kind == FRAME_GROUP;
    g_array_append_val(t->nodes, n);
    return n.depth <= PROFILE_MAX_DEPTH;
}

static bool get_task(TreeReader *t, ByteReader *in, TaskTable *tasks)
{
    uint8_t kind = bytes_get_u8(in);
    uint32_t tid = bytes_get_u32(in), tgid = bytes_get_u32(in);
    g_autofree char *name = bytes_get_text(in);

    if (in->failed || kind > TASK_KNOWN_IN_M_MODE) {
        return false;
    }
    g_ptr_array_add(t->tasks,
                    (gpointer)task_intern(tasks, kind, tid, tgid, name));
    return true;
}

TreeReader *tree_reader_new(ByteReader *in, const ObjectTable *objects,
                            TaskTable *tasks)
{
    g_autoptr(TreeReader) t = g_new0(TreeReader, 1);
    TreeNode root = { .group = true };
    uint32_t n;

    t->frames = g_array_new(false, true, sizeof(TreeFrame));
    g_array_set_clear_func(t->frames, frame_clear);
    t->nodes = g_array_new(false, false, sizeof(TreeNode));
    t->tasks = g_ptr_array_new();
    g_array_append_val(t->nodes, root);
    n = bytes_get_count(in, FRAME_SIZE);
    g_array_set_size(t->frames, n);
    for (uint32_t i = 0; i < n; i++) {
        if (!get_frame(in, objects, &g_array_index(t->frames, TreeFrame, i))) {
            return NULL;
        }
    }
    n = bytes_get_count(in, NODE_SIZE);
    while (n-- > 0) {
        if (!get_node(t, in)) {
            return NULL;
        }
    }
    n = bytes_get_count(in, TASK_SIZE);
    while (n-- > 0) {
        if (!get_task(t, in, tasks)) {
            return NULL;
        }
    }
    return in->failed ? NULL : g_steal_pointer(&t);
}

unsigned tree_reader_size(const TreeReader *t)
{
    return t->nodes->len;
}

void tree_reader_bind(TreeReader *t, Profile *profile,
                      const CallStackOptions *options)
{
    t->profile = profile;
    t->options = options;
    for (guint i = 0; i < t->frames->len; i++) {
        g_array_index(t->frames, TreeFrame, i).made = 0;
    }
    for (guint i = 0; i < t->nodes->len; i++) {
        g_array_index(t->nodes, TreeNode, i).made = 0;
    }
}

static unsigned make_frame(TreeReader *t, TreeFrame *f)
{
    ProfileFrame frame = {
        .name = f->name,
        .label = f->form == FORM_LABEL,
        .other = f->form == FORM_OTHER,
        .kind = f->kind,
        .object = f->object,
        .entry = f->entry,
    };
    unsigned n;

    if (!f->made) {
        if (f->form == FORM_SYMBOL) {
            const Symbol *all = symbols_all(f->object->symbols, &n);

            frame.symbol = f->symbol < n ? all + f->symbol : NULL;
        }
        f->made = profile_take_frame(t->profile, &frame) + 1;
    }
    return f->made - 1;
}

/*
 * The layers that are wanted, of the @n that @frames (innermost first) are.
 * Firmware, and whoever has no task, has but its privilege level.
 */
static unsigned make_groups(TreeReader *t, const unsigned *frames, unsigned n)
{
    unsigned node = PROFILE_ROOT;

    for (unsigned i = 0; t->options && i < t->options->nr_layers; i++) {
        CallStackLayer layer = t->options->layers[i];
        bool has = n == CALLSTACK_NR_LAYERS || layer == CALLSTACK_LAYER_PRIV;

        if (has && n) {
            unsigned at = layer == CALLSTACK_LAYER_PRIV ? 0 : n - 1 - layer;

            node = profile_child(t->profile, node, make_frame(t,
                &g_array_index(t->frames, TreeFrame, frames[at])));
        }
    }
    return node;
}

bool tree_reader_node(TreeReader *t, unsigned number, unsigned *node)
{
    unsigned path[PROFILE_MAX_DEPTH + 1], n = 0;
    unsigned groups[CALLSTACK_NR_LAYERS], nr_groups = 0;
    unsigned at = number;
    TreeNode *x;

    if (number >= t->nodes->len) {
        return false;
    }
    for (;;) {
        x = &g_array_index(t->nodes, TreeNode, at);
        if (x->made || (t->options ? x->group : !at)) {
            break;
        }
        path[n++] = at;
        at = x->parent;
    }
    if (!x->made) {
        for (unsigned g = at; g; g = g_array_index(t->nodes, TreeNode,
                                                   g).parent) {
            if (nr_groups == CALLSTACK_NR_LAYERS) {
                return false;
            }
            groups[nr_groups++] = g_array_index(t->nodes, TreeNode, g).frame;
        }
        x->made = make_groups(t, groups, nr_groups) + 1;
    }
    *node = x->made - 1;
    while (n > 0) {
        x = &g_array_index(t->nodes, TreeNode, path[--n]);
        *node = profile_child(t->profile, *node, make_frame(t,
            &g_array_index(t->frames, TreeFrame, x->frame)));
        x->made = *node + 1;
    }
    return true;
}

bool tree_reader_task(const TreeReader *t, unsigned number,
                      const Task **task)
{
    if (number > t->tasks->len) {
        return false;
    }
    *task = number ? t->tasks->pdata[number - 1] : NULL;
    return true;
}
