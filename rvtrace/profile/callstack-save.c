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

/* Its task was on another hart since. */
static bool is_stale(const CallStack *cs, const Context *c)
{
    return c->tid && c->visit != callstack_visit(cs, c->tid);
}

static bool is_deep(const CallStack *cs)
{
    GHashTableIter iter;
    gpointer key;

    g_hash_table_iter_init(&iter, cs->contexts);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        if (((const Context *)key)->stack->depth > MAX_SAVED) {
            return true;
        }
    }
    for (const GList *l = cs->suspended.head; l; l = l->next) {
        if (((const Stack *)l->data)->depth > MAX_SAVED) {
            return true;
        }
    }
    return false;
}

bool callstack_save(const CallStack *cs, TreeWriter *tree, StackPool *pool,
                    GByteArray *out)
{
    g_autoptr(GPtrArray) contexts = g_ptr_array_new();
    unsigned now = 0;
    GHashTableIter iter;
    gpointer key;

    if (!cs->now || cs->trapped || cs->gap || cs->fenced || is_deep(cs)) {
        return false;
    }
    g_hash_table_iter_init(&iter, cs->contexts);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        if (key == cs->now || !is_stale(cs, key)) {
            g_ptr_array_add(contexts, key);
        }
    }
    g_ptr_array_sort(contexts, compare_contexts);
    bytes_put_u32(out, contexts->len);
    for (guint i = 0; i < contexts->len; i++) {
        const Context *c = contexts->pdata[i];

        now = c == cs->now ? i : now;
        bytes_put_u8(out, c->priv);
        bytes_put_u32(out, c->space);
        bytes_put_u32(out, c->tid);
        put_stack(out, c->stack, tree, pool);
    }
    bytes_put_u32(out, now);
    bytes_put_u32(out, cs->suspended.length);
    for (const GList *l = cs->suspended.head; l; l = l->next) {
        put_stack(out, l->data, tree, pool);
    }
    bytes_put_u64(out, cs->lo);
    bytes_put_u64(out, cs->hi);
    bytes_put_u8(out, cs->itype);
    bytes_put_u64(out, cs->left);
    bytes_put_u64(out, cs->moved);
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

/* callstack_stack_free() frees it; NULL if there is none. */
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

static bool get_contexts(CallStack *cs, TreeReader *tree,
                         const GArray *pieces, ByteReader *in)
{
    uint32_t n = bytes_get_count(in, CONTEXT_SIZE), now;
    g_autoptr(GPtrArray) contexts = g_ptr_array_new();

    for (uint32_t i = 0; i < MIN(n, MAX_CONTEXTS); i++) {
        Context *c = g_new0(Context, 1);

        c->priv = bytes_get_u8(in);
        c->space = bytes_get_u32(in);
        c->tid = bytes_get_u32(in);
        c->stack = get_stack(cs, tree, pieces, in);
        /* Each key but once: what is replaced would be freed. */
        if (!c->stack || c->priv >= SIDEBAND_NR_PRIVS ||
            g_hash_table_contains(cs->contexts, c)) {
            callstack_stack_free(cs, c->stack);
            g_free(c);
            return false;
        }
        g_hash_table_add(cs->contexts, c);
        g_ptr_array_add(contexts, c);
    }
    now = bytes_get_u32(in);
    if (in->failed || now >= contexts->len) {
        return false;
    }
    cs->now = contexts->pdata[now];
    return true;
}

bool callstack_load(CallStack *cs, TreeReader *tree, const GArray *pieces,
                    ByteReader *in)
{
    uint32_t n;

    if (!get_contexts(cs, tree, pieces, in)) {
        return false;
    }
    n = bytes_get_count(in, SUSPENDED_SIZE);
    if (n > MAX_SUSPENDED) {
        return false;
    }
    while (n-- > 0) {
        Stack *st = get_stack(cs, tree, pieces, in);

        if (!st) {
            return false;
        }
        g_queue_push_tail(&cs->suspended, st);
    }
    cs->lo = bytes_get_u64(in);
    cs->hi = bytes_get_u64(in);
    cs->itype = bytes_get_u8(in);
    cs->left = bytes_get_u64(in);
    cs->moved = bytes_get_u64(in);
    return !in->failed && cs->itype <= ETRACE_ITYPE_OTHER_INFERABLE_JUMP;
}
