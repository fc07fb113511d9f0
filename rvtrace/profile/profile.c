/*
 * Profiles: instructions by call stack
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/profile.h"

typedef struct FrameKey {
    uint64_t entry;         /* 0: some function that has no symbol */
    const Object *object;
    unsigned kind;
    bool symbol;
    unsigned frame;
} FrameKey;

static uint32_t node_hash(unsigned parent, unsigned frame)
{
    uint64_t h = ((uint64_t)parent << 32 | frame) * 0x9e3779b97f4a7c15ull;

    return (h ^ h >> 29) * 0x9e3779b97f4a7c15ull >> 32;
}

static bool node_equal(const void *a, const void *b)
{
    const ProfileNode *x = a, *y = b;

    return x->parent == y->parent && x->frame == y->frame;
}

static guint frame_hash(gconstpointer key)
{
    const FrameKey *k = key;
    uint64_t h = (k->entry + k->kind + ((uint64_t)k->object->id << 40)) *
                 0x9e3779b97f4a7c15ull;

    return h >> 32;
}

static gboolean frame_equal(gconstpointer a, gconstpointer b)
{
    const FrameKey *x = a, *y = b;

    return x->entry == y->entry && x->kind == y->kind &&
           x->symbol == y->symbol && x->object == y->object;
}

Profile *profile_new(void)
{
    Profile *p = g_new0(Profile, 1);
    ProfileNode root = { 0 };

    p->nodes = g_array_new(FALSE, FALSE, sizeof(ProfileNode));
    p->frames = g_array_new(FALSE, FALSE, sizeof(ProfileFrame));
    p->frame_index = g_hash_table_new_full(frame_hash, frame_equal, g_free,
                                           NULL);
    p->name_index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                          NULL);
    p->limit = PROFILE_MAX_NODES;
    root.frame = profile_label(p, FRAME_GROUP, "all");
    g_array_append_val(p->nodes, root);
    return p;
}

void profile_free(Profile *p)
{
    for (guint i = 0; i < p->frames->len; i++) {
        g_free(profile_frame(p, i)->name);
    }
    g_array_unref(p->nodes);
    g_array_unref(p->frames);
    element_index_clear(&p->node_index);
    g_hash_table_unref(p->frame_index);
    g_hash_table_unref(p->name_index);
    g_free(p);
}

unsigned profile_child(Profile *p, unsigned node, unsigned frame)
{
    ProfileNode fresh = { .parent = node, .frame = frame };
    uint32_t hash = node_hash(node, frame);
    ProfileRecent *recent = &p->recent[hash >> (32 - PROFILE_RECENT_BITS)];
    int64_t found;

    if (recent->node && recent->parent == node && recent->frame == frame) {
        return recent->node;
    }
    found = element_index_find(&p->node_index, p->nodes, hash, node_equal,
                               &fresh);
    if (found < 0) {
        fresh.depth = profile_node(p, node)->depth + 1;
        if ((p->nodes->len >= PROFILE_SPARE_NODES &&
             p->nodes->len - PROFILE_SPARE_NODES >= p->limit) ||
            fresh.depth > PROFILE_MAX_DEPTH) {
            p->full = true;
            return node;
        }
        found = p->nodes->len;
        g_array_append_val(p->nodes, fresh);
        element_index_add(&p->node_index, hash, found);
    }
    *recent = (ProfileRecent) {
        .parent = node, .frame = frame, .node = found,
    };
    return found;
}

/* The functions of a kind that there is no room for, as one frame */
static unsigned other_functions(Profile *p, FrameKind kind)
{
    ProfileFrame frame = { .kind = kind, .other = true };

    p->full = true;
    if (!p->others[kind]) {
        frame.name = g_strdup("[other functions]");
        p->others[kind] = p->frames->len;
        g_array_append_val(p->frames, frame);
    }
    return p->others[kind];
}

static unsigned add_function(Profile *p, const FrameKey *key, char *name,
                             const Symbol *symbol)
{
    ProfileFrame frame = {
        .name = name,
        .kind = key->kind,
        .object = key->object,
        .symbol = symbol,
        .entry = key->entry,
    };
    FrameKey *k = g_memdup2(key, sizeof(*key));

    k->frame = p->frames->len;
    g_array_append_val(p->frames, frame);
    g_hash_table_add(p->frame_index, k);
    return k->frame;
}

char *profile_unnamed(const Object *object, uint64_t entry)
{
    if (object->kind == OBJECT_NONE) {
        return entry ? g_strdup_printf("0x%" PRIx64, entry) :
                       g_strdup(object->name);
    }
    return entry ? g_strdup_printf("%s+0x%" PRIx64, object->name, entry) :
                   g_strdup_printf("[%s]", object->name);
}

static unsigned find_function(Profile *p, FrameKind kind,
                              const Object *object, const Symbol *symbol,
                              uint64_t entry)
{
    FrameKey key = {
        .entry = entry,
        .object = object,
        .kind = kind,
        .symbol = symbol,
    };
    FrameKey *found = g_hash_table_lookup(p->frame_index, &key);

    if (found) {
        return found->frame;
    }
    if (p->frames->len >= PROFILE_MAX_FRAMES) {
        return other_functions(p, kind);
    }
    return add_function(p, &key, symbol ? g_strdup(symbol->name) :
                        profile_unnamed(object, entry), symbol);
}

unsigned profile_function(Profile *p, FrameKind kind, const NamePlace *place,
                          uint64_t pc, bool called)
{
    /* Every address in a function with a symbol means the same frame. */
    uint64_t entry = place->symbol ? place->symbol->start :
                     called ? pc - place->bias : 0;

    return find_function(p, kind, place->object, place->symbol, entry);
}

unsigned profile_label(Profile *p, FrameKind kind, const char *name)
{
    gpointer found;
    ProfileFrame frame = { .kind = kind, .label = true };

    if (g_hash_table_lookup_extended(p->name_index, name, NULL, &found)) {
        return GPOINTER_TO_UINT(found);
    }
    frame.name = g_strdup(name);
    g_hash_table_insert(p->name_index, g_strdup(name),
                        GUINT_TO_POINTER(p->frames->len));
    g_array_append_val(p->frames, frame);
    return p->frames->len - 1;
}

unsigned profile_take_frame(Profile *p, const ProfileFrame *frame)
{
    if (frame->label) {
        return profile_label(p, frame->kind, frame->name);
    }
    if (frame->other) {
        return other_functions(p, frame->kind);
    }
    return find_function(p, frame->kind, frame->object, frame->symbol,
                         frame->entry);
}

void profile_merge(Profile *p, unsigned top, const Profile *from,
                   const uint64_t *weights)
{
    g_autofree unsigned *frames = g_new(unsigned, from->frames->len);
    g_autofree unsigned *nodes = g_new(unsigned, from->nodes->len);

    for (guint i = 0; i < from->frames->len; i++) {
        frames[i] = profile_take_frame(p, profile_frame(from, i));
    }
    /* Parents were made before their children. */
    for (guint i = 0; i < from->nodes->len; i++) {
        const ProfileNode *n = profile_node(from, i);

        nodes[i] = i == PROFILE_ROOT ? top :
                   profile_child(p, nodes[n->parent], frames[n->frame]);
        profile_node(p, nodes[i])->self += weights ? weights[i] : n->self;
    }
    p->full |= from->full;
    p->folded |= from->folded;
    p->merged += from->merged;
}

uint64_t profile_sum(Profile *p)
{
    for (guint i = 0; i < p->nodes->len; i++) {
        profile_node(p, i)->total = profile_node(p, i)->self;
    }
    /* Parents were made before their children. */
    for (guint i = p->nodes->len - 1; i > 0; i--) {
        profile_node(p, profile_node(p, i)->parent)->total +=
            profile_node(p, i)->total;
    }
    return profile_node(p, PROFILE_ROOT)->total;
}

static int compare_children(gconstpointer a, gconstpointer b, gpointer opaque)
{
    const Profile *p = opaque;
    const ProfileFrame *x, *y;
    int c;

    x = profile_frame(p, profile_node(p, *(const unsigned *)a)->frame);
    y = profile_frame(p, profile_node(p, *(const unsigned *)b)->frame);
    c = strcmp(x->name, y->name);
    if (c) {
        return c;
    }
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    if (x->object && y->object && x->object != y->object) {
        return x->object->id < y->object->id ? -1 : 1;
    }
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static void free_array(gpointer array)
{
    if (array) {
        g_array_unref(array);
    }
}

GPtrArray *profile_children(const Profile *p)
{
    GPtrArray *all = g_ptr_array_new_full(p->nodes->len, free_array);

    g_ptr_array_set_size(all, p->nodes->len);
    for (guint i = 1; i < p->nodes->len; i++) {
        unsigned parent = profile_node(p, i)->parent;

        if (!profile_node(p, i)->total) {
            continue;
        }
        if (!all->pdata[parent]) {
            all->pdata[parent] = g_array_new(FALSE, FALSE, sizeof(unsigned));
        }
        g_array_append_val((GArray *)all->pdata[parent], i);
    }
    for (guint i = 0; i < all->len; i++) {
        if (all->pdata[i]) {
            g_array_sort_with_data(all->pdata[i], compare_children,
                                   (gpointer)p);
        }
    }
    return all;
}

static void tidy_node(Profile *to, unsigned top, const Profile *p,
                      const GPtrArray *children, unsigned node)
{
    const GArray *below = children->pdata[node];

    profile_node(to, top)->self = profile_node(p, node)->self;
    for (guint i = 0; below && i < below->len; i++) {
        unsigned child = g_array_index(below, unsigned, i);
        unsigned frame = profile_take_frame(to, profile_frame(p,
            profile_node(p, child)->frame));

        tidy_node(to, profile_child(to, top, frame), p, children, child);
    }
}

Profile *profile_tidy(Profile *p)
{
    Profile *tidy = profile_new();
    g_autoptr(GPtrArray) children = NULL;

    profile_sum(p);
    tidy->limit = p->limit;
    children = profile_children(p);
    tidy_node(tidy, PROFILE_ROOT, p, children, PROFILE_ROOT);
    tidy->full = p->full;
    tidy->folded = p->folded;
    tidy->merged = p->merged;
    return tidy;
}

/* Folded stacks have no way to quote what separates frames. */
static void append_folded_name(GString *s, const char *name)
{
    for (; *name; name++) {
        g_string_append_c(s, *name == ';' ? ':' :
                             (unsigned char)*name < ' ' ? '_' : *name);
    }
}

static void folded_node(const Profile *p, const GPtrArray *children,
                        unsigned node, GString *stack, FILE *f)
{
    const GArray *below = children->pdata[node];
    const ProfileNode *n = profile_node(p, node);
    gsize len = stack->len;

    if (node != PROFILE_ROOT) {
        if (len) {
            g_string_append_c(stack, ';');
        }
        append_folded_name(stack, profile_frame(p, n->frame)->name);
        if (n->self) {
            fprintf(f, "%s %" PRIu64 "\n", stack->str, n->self);
        }
    }
    for (guint i = 0; below && i < below->len; i++) {
        folded_node(p, children, g_array_index(below, unsigned, i), stack, f);
    }
    g_string_truncate(stack, len);
}

void profile_write_folded(const Profile *p, FILE *f)
{
    g_autoptr(GPtrArray) children = profile_children(p);
    g_autoptr(GString) stack = g_string_new(NULL);

    folded_node(p, children, PROFILE_ROOT, stack, f);
}
