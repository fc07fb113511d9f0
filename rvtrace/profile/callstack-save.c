/*
 * Call stacks: all that is believed at a place of the trace, as bytes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/callstack-private.h"
#include "profile/callstack-save.h"

/* Bytes that a frame, a context and a suspended stack take */
#define FRAME_SIZE      29
#define CONTEXT_SIZE    13
#define SUSPENDED_SIZE  4

/* More tasks and address spaces than a machine has */
#define MAX_CONTEXTS    65536
/* Frames of a stack; where one is deeper, there is no point to go on from. */
#define MAX_SAVED       4096

static GByteArray *stack_bytes(const Stack *st, TreeWriter *tree)
{
    GByteArray *out = g_byte_array_new();

    bytes_put_u8(out, st->priv);
    bytes_put_u32(out, st->space);
    bytes_put_u32(out, st->tid);
    bytes_put_u32(out, tree_writer_node(tree, st->base));
    bytes_put_u8(out, st->trapped);
    bytes_put_u32(out, tree_writer_task(tree, st->task));
    bytes_put_u8(out, st->below.priv);
    bytes_put_u32(out, st->below.space);
    bytes_put_u32(out, st->below.tid);
    bytes_put_u64(out, st->below.pc);
    bytes_put_u32(out, tree_writer_task(tree, st->below.task));
    bytes_put_u64(out, st->epc);
    bytes_put_u8(out, st->called);
    bytes_put_u8(out, st->exact);
    bytes_put_u32(out, st->depth);
    for (unsigned i = 0; i < st->depth; i++) {
        const Frame *f = &st->frames[i];

        bytes_put_u64(out, f->ret);
        bytes_put_u64(out, f->lo);
        bytes_put_u64(out, f->hi);
        bytes_put_u32(out, tree_writer_node(tree, f->node));
        bytes_put_u8(out, f->entry);
    }
    return out;
}

static void put_stack(GByteArray *out, const Stack *st, TreeWriter *tree,
                      StackPool *pool)
{
    bytes_put_u32(out, stack_pool_add(pool, stack_bytes(st, tree)));
}

/* Contexts in an order that does not depend upon where they are in memory */
static int compare_contexts(gconstpointer pa, gconstpointer pb)
{
    const Context *a = *(Context *const *)pa, *b = *(Context *const *)pb;

    if (a->priv != b->priv) {
        return a->priv < b->priv ? -1 : 1;
    }
    if (a->space != b->space) {
        return a->space < b->space ? -1 : 1;
    }
    return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* What is saved: contexts of CallStack.contexts, and suspended stacks */
typedef struct Chosen {
    GPtrArray *contexts, *suspended;
    bool deep;              /* one of the stacks is */
} Chosen;

static void chosen_clear(Chosen *chosen)
{
    g_ptr_array_unref(chosen->contexts);
    g_ptr_array_unref(chosen->suspended);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Chosen, chosen_clear)

/* Those of the task with the key @tid; 0: all of them */
static void choose(const CallStack *cs, uint32_t tid, Chosen *chosen)
{
    GHashTableIter iter;
    gpointer key;

    chosen->contexts = g_ptr_array_new();
    chosen->suspended = g_ptr_array_new();
    chosen->deep = false;
    g_hash_table_iter_init(&iter, cs->contexts);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        Context *c = key;

        if (!tid || c->tid == tid) {
            g_ptr_array_add(chosen->contexts, c);
            chosen->deep |= c->stack->depth > MAX_SAVED;
        }
    }
    g_ptr_array_sort(chosen->contexts, compare_contexts);
    for (const GList *l = cs->suspended.head; l; l = l->next) {
        Stack *st = l->data;

        if (!tid || st->tid == tid) {
            g_ptr_array_add(chosen->suspended, st);
            chosen->deep |= st->depth > MAX_SAVED;
        }
    }
}

static void put_contexts(GByteArray *out, const Chosen *chosen,
                         TreeWriter *tree, StackPool *pool)
{
    bytes_put_u32(out, chosen->contexts->len);
    for (guint i = 0; i < chosen->contexts->len; i++) {
        const Context *c = chosen->contexts->pdata[i];

        bytes_put_u8(out, c->priv);
        bytes_put_u32(out, c->space);
        bytes_put_u32(out, c->tid);
        put_stack(out, c->stack, tree, pool);
    }
}

static void put_suspended(GByteArray *out, const Chosen *chosen,
                          TreeWriter *tree, StackPool *pool)
{
    bytes_put_u32(out, chosen->suspended->len);
    for (guint i = 0; i < chosen->suspended->len; i++) {
        put_stack(out, chosen->suspended->pdata[i], tree, pool);
    }
}

bool callstack_save(const CallStack *cs, TreeWriter *tree, StackPool *pool,
                    GByteArray *out)
{
    g_auto(Chosen) all = { 0 };
    guint now;

    if (!cs->now || cs->trapped || cs->gap || cs->fenced) {
        return false;
    }
    choose(cs, 0, &all);
    if (all.deep || !g_ptr_array_find(all.contexts, cs->now, &now)) {
        return false;
    }
    put_contexts(out, &all, tree, pool);
    bytes_put_u32(out, now);
    put_suspended(out, &all, tree, pool);
    bytes_put_u64(out, cs->lo);
    bytes_put_u64(out, cs->hi);
    bytes_put_u8(out, cs->itype);
    bytes_put_u64(out, cs->left);
    return true;
}

bool callstack_save_task(const CallStack *cs, uint32_t tid, TreeWriter *tree,
                         StackPool *pool, GByteArray *out)
{
    g_auto(Chosen) task = { 0 };

    choose(cs, callstack_task_key(tid), &task);
    if (task.deep || !task.contexts->len) {
        return false;
    }
    put_contexts(out, &task, tree, pool);
    put_suspended(out, &task, tree, pool);
    return true;
}

static bool get_frame(ByteReader *in, TreeReader *tree, Frame *f)
{
    memset(f, 0, sizeof(*f));
    f->ret = bytes_get_u64(in);
    f->lo = bytes_get_u64(in);
    f->hi = bytes_get_u64(in);
    if (!tree_reader_node(tree, bytes_get_u32(in), &f->node)) {
        return false;
    }
    f->entry = bytes_get_u8(in);
    return f->entry < FRAME_NR_ENTRIES;
}

/* All but the frames */
static bool get_stack_fields(ByteReader *in, TreeReader *tree, Stack *st)
{
    st->priv = bytes_get_u8(in);
    st->space = bytes_get_u32(in);
    st->tid = bytes_get_u32(in);
    if (!tree_reader_node(tree, bytes_get_u32(in), &st->base)) {
        return false;
    }
    st->trapped = bytes_get_u8(in);
    if (!tree_reader_task(tree, bytes_get_u32(in), &st->task)) {
        return false;
    }
    st->below.priv = bytes_get_u8(in);
    st->below.space = bytes_get_u32(in);
    st->below.tid = bytes_get_u32(in);
    st->below.pc = bytes_get_u64(in);
    if (!tree_reader_task(tree, bytes_get_u32(in), &st->below.task)) {
        return false;
    }
    st->epc = bytes_get_u64(in);
    st->called = bytes_get_u8(in);
    st->exact = bytes_get_u8(in);
    st->depth = bytes_get_count(in, FRAME_SIZE);
    return st->depth <= MAX_SAVED && !in->failed &&
           st->priv < SIDEBAND_NR_PRIVS && st->below.priv < SIDEBAND_NR_PRIVS;
}

/* callstack_stack_free() frees it; NULL if it makes no sense. */
static Stack *get_stack(CallStack *cs, TreeReader *tree, const GArray *pieces,
                        ByteReader *in)
{
    uint32_t number = bytes_get_u32(in);
    Stack fields = { 0 }, *st;
    ByteReader piece;

    if (number >= pieces->len) {
        return NULL;
    }
    piece = g_array_index(pieces, ByteReader, number);
    if (!get_stack_fields(&piece, tree, &fields)) {
        return NULL;
    }
    /* Many may refer to one piece. */
    if (!callstack_has_room(cs, fields.depth)) {
        return NULL;
    }
    st = callstack_stack_new(cs, fields.depth);
    fields.room = st->room;
    fields.frames = st->frames;
    *st = fields;
    for (unsigned i = 0; i < st->depth && !piece.failed; i++) {
        piece.failed |= !get_frame(&piece, tree, &st->frames[i]);
    }
    if (piece.failed) {
        callstack_stack_free(cs, st);
        return NULL;
    }
    return st;
}

/*
 * Those that were read are added to @contexts, too. @tid: see choose(); others
 * make no sense.
 */
static bool get_contexts(CallStack *cs, uint32_t tid, TreeReader *tree,
                         const GArray *pieces, ByteReader *in,
                         GPtrArray *contexts)
{
    uint32_t n = bytes_get_count(in, CONTEXT_SIZE);

    for (uint32_t i = 0; i < MIN(n, MAX_CONTEXTS); i++) {
        Context *c = g_new0(Context, 1);

        c->priv = bytes_get_u8(in);
        c->space = bytes_get_u32(in);
        c->tid = bytes_get_u32(in);
        c->stack = get_stack(cs, tree, pieces, in);
        /* Each key but once: what is replaced would be freed. */
        if (!c->stack || c->priv >= SIDEBAND_NR_PRIVS ||
            (tid && c->tid != tid) ||
            g_hash_table_contains(cs->contexts, c)) {
            callstack_stack_free(cs, c->stack);
            g_free(c);
            return false;
        }
        g_hash_table_add(cs->contexts, c);
        g_ptr_array_add(contexts, c);
    }
    return !in->failed;
}

/* Those that were read are added to @stacks, which owns them then; likewise. */
static bool get_suspended(CallStack *cs, uint32_t tid, TreeReader *tree,
                          const GArray *pieces, ByteReader *in,
                          GPtrArray *stacks)
{
    uint32_t n = bytes_get_count(in, SUSPENDED_SIZE);

    if (n > MAX_SUSPENDED) {
        return false;
    }
    while (n-- > 0) {
        Stack *st = get_stack(cs, tree, pieces, in);

        if (!st) {
            return false;
        }
        g_ptr_array_add(stacks, st);
        if (tid && st->tid != tid) {
            return false;
        }
    }
    return !in->failed;
}

static void suspend_all(CallStack *cs, const GPtrArray *stacks)
{
    for (guint i = 0; i < stacks->len; i++) {
        callstack_suspend_behind(cs, stacks->pdata[i]);
    }
}

bool callstack_load(CallStack *cs, TreeReader *tree, const GArray *pieces,
                    ByteReader *in)
{
    g_autoptr(GPtrArray) contexts = g_ptr_array_new();
    g_autoptr(GPtrArray) suspended = g_ptr_array_new();
    uint32_t now;
    bool ok;

    if (!get_contexts(cs, 0, tree, pieces, in, contexts)) {
        return false;
    }
    now = bytes_get_u32(in);
    if (in->failed || now >= contexts->len) {
        return false;
    }
    cs->now = contexts->pdata[now];
    ok = get_suspended(cs, 0, tree, pieces, in, suspended);
    suspend_all(cs, suspended);
    if (!ok) {
        return false;
    }
    cs->lo = bytes_get_u64(in);
    cs->hi = bytes_get_u64(in);
    cs->itype = bytes_get_u8(in);
    cs->left = bytes_get_u64(in);
    return !in->failed && cs->itype <= ETRACE_ITYPE_OTHER_INFERABLE_JUMP;
}

bool callstack_load_task(CallStack *cs, uint32_t tid, TreeReader *tree,
                         const GArray *pieces, ByteReader *in)
{
    g_autoptr(GPtrArray) contexts = g_ptr_array_new();
    g_autoptr(GPtrArray) suspended = g_ptr_array_new();
    uint32_t key = callstack_task_key(tid);
    bool ok;

    callstack_drop_task(cs, tid);
    ok = get_contexts(cs, key, tree, pieces, in, contexts) &&
         get_suspended(cs, key, tree, pieces, in, suspended);
    suspend_all(cs, suspended);
    callstack_bound_suspended(cs);
    return ok;
}
