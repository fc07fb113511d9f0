/*
 * Call stacks: frames, stacks, and which of them is in use
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/callstack-private.h"

#define FIRST_ROOM 32

static void context_free(gpointer opaque)
{
    Context *c = opaque;

    g_free(c->stack->frames);
    g_free(c->stack);
    g_free(c);
}

static guint context_hash(gconstpointer key)
{
    const Context *c = key;

    return (c->tid * 0x9e3779b1u + c->space) * 8 + c->priv;
}

static gboolean context_equal(gconstpointer a, gconstpointer b)
{
    return callstack_same_context(a, b);
}

GHashTable *callstack_contexts(CallStack *cs)
{
    return g_hash_table_new_full(context_hash, context_equal,
                                 context_free, NULL);
}

bool callstack_has_room(const CallStack *cs, unsigned depth)
{
    return cs->nr_frames + MAX(depth, FIRST_ROOM) <= MAX_FRAMES;
}

Stack *callstack_stack_new(CallStack *cs, unsigned depth)
{
    Stack *st = g_new0(Stack, 1);

    st->room = MAX(depth, FIRST_ROOM);
    st->frames = g_new(Frame, st->room);
    cs->nr_frames += st->room;
    return st;
}

void callstack_stack_free(CallStack *cs, Stack *st)
{
    if (st) {
        cs->nr_frames -= st->room;
        g_free(st->frames);
        g_free(st);
    }
}

static Stack *new_stack(CallStack *cs, const Context *c)
{
    Stack *st = callstack_stack_new(cs, 0);

    st->priv = c->priv;
    st->space = c->space;
    st->tid = c->tid;
    st->base = callstack_group(cs, c->priv);
    st->task = cs->site.task;
    return st;
}

bool callstack_introduce(CallStack *cs, unsigned priv)
{
    Context key = callstack_key(cs, priv), nobody = { .priv = priv };
    Context *c = g_hash_table_lookup(cs->contexts, &nobody);

    if (!c || key.tid != callstack_task_key(0) || priv_is_user(priv) ||
        !g_str_has_prefix(cs->site.task->name, "swapper") ||
        g_hash_table_contains(cs->contexts, &key)) {
        return false;
    }
    g_hash_table_steal(cs->contexts, c);
    c->tid = c->stack->tid = key.tid;
    g_hash_table_add(cs->contexts, c);
    return c == cs->now;
}

Context *callstack_context(CallStack *cs, unsigned priv)
{
    Context key = callstack_key(cs, priv);
    Context *c = g_hash_table_lookup(cs->contexts, &key);

    if (!c) {
        callstack_introduce(cs, priv);
        c = g_hash_table_lookup(cs->contexts, &key);
    }
    if (!c) {
        c = g_new(Context, 1);
        *c = key;
        c->stack = new_stack(cs, &key);
        g_hash_table_add(cs->contexts, c);
    }
    return c;
}

static uint16_t *awaited_slot(const CallStack *cs, unsigned priv,
                              unsigned space, uint32_t tid, uint64_t pc)
{
    uint64_t hash = (pc ^ (uint64_t)tid << 40 ^ (uint64_t)space << 48 ^
                     priv) * 0x9e3779b97f4a7c15ull;

    return (uint16_t *)&cs->awaited[hash >> (64 - AWAITED_BITS)];
}

/* @st waits, or no longer does, for what its innermost functions return to. */
static void count_awaited(CallStack *cs, const Stack *st, int change)
{
    unsigned top = st->depth;

    /* As callstack-transfer.c looks for them: behind a trap, if there is one */
    if (top && is_trap(&st->frames[top - 1])) {
        top--;
    }
    for (unsigned i = 1; i <= MIN(top, MAX_SWITCH_DEPTH); i++) {
        const Frame *f = &st->frames[top - i];

        if (f->entry != ENTRY_CALL) {
            break;
        }
        *awaited_slot(cs, st->priv, st->space, st->tid, f->ret) += change;
    }
}

bool callstack_awaits(const CallStack *cs, uint64_t pc)
{
    const Context *c = cs->now;

    return *awaited_slot(cs, c->priv, c->space, c->tid, pc);
}

static void suspend(CallStack *cs, Stack *st)
{
    g_queue_push_head(&cs->suspended, st);
    count_awaited(cs, st, 1);
}

void callstack_suspend_behind(CallStack *cs, Stack *st)
{
    g_queue_push_tail(&cs->suspended, st);
    count_awaited(cs, st, 1);
}

/* It is the caller's from then on. */
static Stack *take_suspended(CallStack *cs, GList *link)
{
    Stack *st = link->data;

    g_queue_delete_link(&cs->suspended, link);
    count_awaited(cs, st, -1);
    return st;
}

void callstack_drop_task(CallStack *cs, uint32_t tid)
{
    uint32_t key = callstack_task_key(tid);
    GHashTableIter iter;
    gpointer context;
    GList *next;

    cs->marked = false;
    g_hash_table_iter_init(&iter, cs->contexts);
    while (g_hash_table_iter_next(&iter, &context, NULL)) {
        Context *c = context;

        if (c->tid == key) {
            cs->now = c == cs->now ? NULL : cs->now;
            cs->nr_frames -= c->stack->room;
            g_hash_table_iter_remove(&iter);
        }
    }
    for (GList *l = cs->suspended.head; l; l = next) {
        Stack *st = l->data;

        next = l->next;
        if (st->tid == key) {
            callstack_stack_free(cs, take_suspended(cs, l));
        }
    }
}

static void drop_oldest(CallStack *cs)
{
    callstack_stack_free(cs, take_suspended(cs, cs->suspended.tail));
}

void callstack_bound_suspended(CallStack *cs)
{
    while (cs->suspended.length > MAX_SUSPENDED) {
        drop_oldest(cs);
    }
}

void callstack_forget(CallStack *cs)
{
    g_hash_table_remove_all(cs->contexts);
    while (cs->suspended.length) {
        drop_oldest(cs);
    }
    cs->nr_frames = 0;
    cs->now = NULL;
}

/* What callstack_merge_rare() does with each number of a node */
typedef void NodeFunc(unsigned *node, void *opaque);

static void mark_node(unsigned *node, void *used)
{
    ((uint8_t *)used)[*node] = true;
}

static void renumber_node(unsigned *node, void *numbers)
{
    *node = ((const unsigned *)numbers)[*node];
}

static void nodes_of_stack(Stack *st, NodeFunc *f, void *opaque)
{
    f(&st->base, opaque);
    for (unsigned i = 0; i < st->depth; i++) {
        f(&st->frames[i].node, opaque);
    }
}

static void each_node(CallStack *cs, NodeFunc *f, void *opaque)
{
    GHashTableIter iter;
    gpointer key;

    f(&cs->top, opaque);
    f(&cs->reported_node, opaque);
    g_hash_table_iter_init(&iter, cs->contexts);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        nodes_of_stack(((Context *)key)->stack, f, opaque);
    }
    for (GList *l = cs->suspended.head; l; l = l->next) {
        nodes_of_stack(l->data, f, opaque);
    }
}

void callstack_merge_rare(CallStack *cs)
{
    g_autofree uint8_t *used = g_malloc0(cs->profile->nodes->len);
    g_autofree unsigned *numbers = NULL;

    each_node(cs, mark_node, used);
    numbers = profile_merge_rare(cs->profile, used);
    if (numbers) {
        each_node(cs, renumber_node, numbers);
        cs->marked = false;     /* the round has numbers, too */
    }
}

/*
 * Room for another frame. A stack that is full loses the frames in its middle:
 * the outermost ones say what all this is part of, and the innermost ones are
 * returned to next.
 */
static void make_room(CallStack *cs, Stack *st)
{
    unsigned more = st->room;

    while (cs->suspended.length && cs->nr_frames + more > MAX_FRAMES) {
        drop_oldest(cs);
    }
    if (st->room >= MAX_DEPTH || cs->nr_frames + more > MAX_FRAMES) {
        unsigned outer = st->depth / 4, inner = st->depth / 2;

        memmove(st->frames + outer, st->frames + st->depth - inner,
                inner * sizeof(Frame));
        st->depth = outer + inner;
        cs->marked = false;
        cs->profile->folded = true;
        return;
    }
    st->room += more;
    st->frames = g_renew(Frame, st->frames, st->room);
    cs->nr_frames += more;
}

/*
 * The node of @frame, called by @node. The stack of a deep recursion is folded:
 * its functions are shown where they are already.
 */
static unsigned child_node(CallStack *cs, unsigned node, unsigned frame)
{
    Profile *p = cs->profile;

    if (profile_node(p, node)->depth >= PROFILE_FOLD_DEPTH) {
        unsigned above = node;

        for (unsigned i = 0; i < FOLD_CYCLE; i++) {
            const ProfileNode *n = profile_node(p, above);

            if (n->frame == frame) {
                p->folded = true;
                return above;
            }
            if (profile_frame(p, n->frame)->label) {
                break;      /* a trap, or the groups that all is below */
            }
            above = n->parent;
        }
    }
    return profile_child(p, node, frame);
}

Frame *callstack_push(CallStack *cs, unsigned frame, uint64_t ret,
                      FrameEntry entry)
{
    Stack *st = cs->now->stack;
    unsigned node = child_node(cs, innermost_node(st), frame);
    Frame *f;

    if (st->depth == st->room) {
        make_room(cs, st);
    }
    f = &st->frames[st->depth++];
    /* Padding, too: frames are compared as they are. */
    memset(f, 0, sizeof(*f));
    f->ret = ret;
    f->node = node;
    f->entry = entry;
    return f;
}

void callstack_push_function(CallStack *cs, uint64_t pc, bool called,
                             uint64_t ret)
{
    const KnownFunction *k = callstack_function(cs, pc, called);
    Frame *f = callstack_push(cs, k->frame, ret, ENTRY_CALL);

    if (k->symbol) {
        f->lo = k->lo;
        f->hi = k->hi;
    }
}

void callstack_replace(CallStack *cs, uint64_t pc, bool called)
{
    const Frame *f = innermost_frame(cs->now->stack);
    uint64_t ret = 0;

    if (f && f->entry == ENTRY_CALL) {
        ret = f->ret;
        callstack_cut(cs, cs->now->stack->depth - 1);
    }
    callstack_push_function(cs, pc, called, ret);
}

void callstack_resume(CallStack *cs, Stack *st)
{
    Context *c = cs->now;

    cs->marked = false;
    if (c->stack->depth) {
        suspend(cs, c->stack);
        callstack_bound_suspended(cs);
    } else {
        callstack_stack_free(cs, c->stack);
    }
    c->stack = st ? st : new_stack(cs, c);
}

/* Can @st be in use in this context? */
static bool fits(const Context *c, const Stack *st)
{
    return st->priv == c->priv && st->space == c->space &&
           st->tid == c->tid;
}

bool callstack_resume_found(CallStack *cs, StackFound *found, unsigned rounds,
                            uint64_t pc)
{
    for (unsigned round = 0; round < rounds; round++) {
        for (GList *l = cs->suspended.head; l; l = l->next) {
            Stack *st = l->data;
            unsigned depth = fits(cs->now, st) ? found(st, round, pc) : 0;

            if (depth) {
                callstack_resume(cs, take_suspended(cs, l));
                callstack_cut(cs, depth - 1);
                return true;
            }
        }
    }
    return false;
}
