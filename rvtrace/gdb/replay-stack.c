/*
 * Replay: call stacks
 *
 * What callstack.c believes depends on all that was executed before. A pass
 * that comes by a point of the replay for the first time keeps that there, as
 * an index does, and later ones begin at such a point. The stacks of some ten
 * thousand instructions around the one that was asked for are kept: the window.
 * They have their outer functions in common, so they are a tree.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/replay-private.h"
#include "gdb/replay-stack.h"
#include "profile/callstack-save.h"
#include "profile/who.h"

/* Instructions, and how many of them are behind the one that was asked for */
#define WINDOW          (1u << 16)
#define WINDOW_AHEAD    (WINDOW / 4)

/* Instructions from one call of the poll function to the next */
#define POLL_INSNS      (1u << 22)

/* A caller, and those that called it */
typedef struct StackNode {
    CallStackCaller caller;
    unsigned outer;             /* its own caller: node; 0: there is none */
    NamePlace place;
    const char *trap;
} StackNode;

/* From an instruction on, the innermost function was called by... */
typedef struct StackChange {
    uint64_t index;
    unsigned node;              /* 0: nobody, as far as is known */
    unsigned callers;           /* how many there are, left out ones, too */
} StackChange;

struct ReplayStacks {
    Replay *r;
    const Names *names;
    TaskTable *tasks;
    CallStackOptions options;
    Profile *profile;
    /* By point: what callstack_load() needs; data NULL: not known yet */
    ByteReader *saved;
    guint nr_saved;
    GPtrArray *bytes;           /* GByteArray: what saved refers to */
    /* What they refer to; NULL: it is the index's */
    TreeWriter *writer;
    StackPool *pool;
    /* ... and the same to read: NULL, or as long as nothing is added */
    GByteArray *tree_bytes, *pool_bytes;
    TreeReader *reader;
    GArray *pieces;             /* ByteReader */
    GArray *moves;              /* SidebandMove: tasks that come to the hart */
    const ReplayWait *wait;     /* or NULL */
    const IndexHart *index;     /* what they bring; or NULL */

    /* The window: stacks of [base, end) */
    uint64_t base, end;
    GArray *nodes;              /* StackNode; 0: none */
    GHashTable *numbers;        /* StackNode -> number */
    GArray *changes;            /* StackChange */

    GArray *answer;             /* ReplayFrame, of replay_stack() */
};

typedef struct StackPass {
    ReplayStacks *s;
    TraceDecoder d;
    Who who;
    CallStack *cs;
    uint64_t pos, marked;
    uint64_t began, polled;     /* pos: at first; when wait was told last */
    uint64_t lo, hi;
    guint next_move;            /* of s->moves */
    uint64_t place;             /* trace_decoder_place() */
    bool failed;                /* the index makes no sense */
    CallStackCaller *callers;   /* of the stack that was noted last, ... */
    unsigned nr_callers, all_callers;
    unsigned *path;             /* ... outermost first: their nodes */
    CallStackCaller *next;      /* room for those of the next one */
} StackPass;

static guint node_hash(gconstpointer key)
{
    const StackNode *n = key;
    uint64_t hash = (n->caller.pc ^ n->outer) * 0x9e3779b97f4a7c15ull;

    return hash >> 32;
}

static gboolean node_equal(gconstpointer pa, gconstpointer pb)
{
    const StackNode *a = pa, *b = pb;

    return a->outer == b->outer && a->caller.pc == b->caller.pc &&
           a->caller.priv == b->caller.priv &&
           a->caller.interrupted == b->caller.interrupted &&
           a->caller.trap == b->caller.trap;
}

/* Those to the hart that is replayed */
static GArray *find_moves(const Replay *r)
{
    GArray *moves = trace_moves(r->t);
    guint n = 0;

    for (guint i = 0; i < moves->len; i++) {
        const SidebandMove *move = &g_array_index(moves, SidebandMove, i);

        if (move->to == r->hart) {
            g_array_index(moves, SidebandMove, n++) = *move;
        }
    }
    g_array_set_size(moves, n);
    return moves;
}

ReplayStacks *replay_stacks_new(Replay *r, const Names *names,
                                TaskTable *tasks, const IndexHart *index)
{
    ReplayStacks *s = g_new0(ReplayStacks, 1);

    s->r = r;
    s->names = names;
    s->tasks = tasks;
    s->options.names = names;
    stack_tree_layers(&s->options);
    s->profile = profile_new();
    s->profile->fixed = true;   /* what is saved has numbers of its nodes */
    s->nr_saved = r->points->len;
    s->saved = g_new0(ByteReader, MAX(s->nr_saved, 1));
    s->bytes = g_ptr_array_new_with_free_func(
        (GDestroyNotify)g_byte_array_unref);
    s->nodes = g_array_new(false, true, sizeof(StackNode));
    s->numbers = g_hash_table_new_full(node_hash, node_equal, g_free, NULL);
    s->changes = g_array_new(false, false, sizeof(StackChange));
    s->answer = g_array_new(false, false, sizeof(ReplayFrame));
    s->moves = find_moves(r);
    s->index = index;
    if (index) {
        ByteReader tree = index->tree;

        s->reader = tree_reader_new(&tree, names_objects(names), tasks);
    }
    if (s->reader) {
        s->pieces = index->pieces;
        tree_reader_bind(s->reader, s->profile, &s->options);
        for (guint i = 0; i < s->nr_saved; i++) {
            s->saved[i] = g_array_index(index->points, IndexPoint, i).stacks;
        }
    } else {
        s->writer = tree_writer_new(s->profile);
        s->pool = stack_pool_new();
    }
    return s;
}

/* What was read has been added to. */
static void forget_reader(ReplayStacks *s)
{
    g_clear_pointer(&s->reader, tree_reader_free);
    if (s->writer) {
        g_clear_pointer(&s->pieces, g_array_unref);
    }
    g_clear_pointer(&s->tree_bytes, g_byte_array_unref);
    g_clear_pointer(&s->pool_bytes, g_byte_array_unref);
}

void replay_stacks_free(ReplayStacks *s)
{
    forget_reader(s);
    g_clear_pointer(&s->writer, tree_writer_free);
    g_clear_pointer(&s->pool, stack_pool_free);
    g_ptr_array_unref(s->bytes);
    g_free(s->saved);
    profile_free(s->profile);
    g_hash_table_unref(s->numbers);
    g_array_unref(s->nodes);
    g_array_unref(s->changes);
    g_array_unref(s->answer);
    g_array_unref(s->moves);
    g_free(s);
}

void replay_stacks_set_wait(ReplayStacks *s, const ReplayWait *wait)
{
    s->wait = wait;
}

static ByteReader reader_of(const GByteArray *bytes)
{
    return (ByteReader) { .data = bytes->data, .size = bytes->len };
}

static bool make_reader(ReplayStacks *s)
{
    ByteReader tree, pool;

    if (s->reader) {
        return true;
    }
    s->tree_bytes = g_byte_array_new();
    s->pool_bytes = g_byte_array_new();
    tree_writer_put(s->writer, s->tree_bytes);
    stack_pool_put(s->pool, s->pool_bytes);
    tree = reader_of(s->tree_bytes);
    pool = reader_of(s->pool_bytes);
    s->reader = tree_reader_new(&tree, names_objects(s->names), s->tasks);
    s->pieces = stack_pool_get(&pool);
    if (!s->reader || !s->pieces) {
        forget_reader(s);
        return false;
    }
    tree_reader_bind(s->reader, s->profile, &s->options);
    return true;
}

/* The last point up to @insns with stacks; NULL: there is none before. */
static const ReplayPoint *find_point(const ReplayStacks *s, uint64_t insns)
{
    const ReplayPoint *first = (const ReplayPoint *)s->r->points->data;
    const ReplayPoint *p = replay_last_point(s->r, insns);

    while (p && !s->saved[p - first].data) {
        p = p == first ? NULL : p - 1;
    }
    return p;
}

static bool load(StackPass *p, const ReplayPoint *from)
{
    ReplayStacks *s = p->s;
    ByteReader saved = s->saved[from - (const ReplayPoint *)
                                s->r->points->data];

    return make_reader(s) && callstack_load(p->cs, s->reader, s->pieces,
                                            &saved);
}

/* The node of @caller, called by node @outer; made if there is none */
static unsigned stack_node(StackPass *p, const CallStackCaller *caller,
                           unsigned outer)
{
    ReplayStacks *s = p->s;
    StackNode node = { .caller = *caller, .outer = outer };
    const Profile *profile = s->profile;
    gpointer known;
    unsigned number = s->nodes->len;

    if (g_hash_table_lookup_extended(s->numbers, &node, NULL, &known)) {
        return GPOINTER_TO_UINT(known);
    }
    /* What a call returns to may be behind its function. */
    names_find(s->names, p->d.image, caller->priv,
               caller->pc - !caller->interrupted, &node.place);
    if (caller->trap) {
        const ProfileFrame *f = profile_frame(
            profile, profile_node(profile, caller->trap)->frame);

        node.trap = f->kind == FRAME_TRAP ? f->name : NULL;
    }
    g_array_append_val(s->nodes, node);
    g_hash_table_insert(s->numbers, g_memdup2(&node, sizeof(node)),
                        GUINT_TO_POINTER(number));
    return number;
}

static bool same_caller(const CallStackCaller *a, const CallStackCaller *b)
{
    return a->pc == b->pc && a->priv == b->priv &&
           a->interrupted == b->interrupted && a->trap == b->trap;
}

/* Who has called the innermost function, from instruction @i on */
static void note_stack(StackPass *p, uint64_t i)
{
    ReplayStacks *s = p->s;
    const Task *task = NULL;
    unsigned all = callstack_callers(p->cs, p->next, REPLAY_MAX_FRAMES - 1,
                                     &task), same = 0;
    unsigned n = MIN(all, REPLAY_MAX_FRAMES - 1);
    StackChange change = { .index = i, .callers = all };
    CallStackCaller *swap;

    while (same < MIN(n, p->nr_callers) &&
           same_caller(&p->next[n - 1 - same],
                       &p->callers[p->nr_callers - 1 - same])) {
        same++;
    }
    if (s->changes->len && same == n && all == p->all_callers) {
        return;
    }
    for (unsigned k = same; k < n; k++) {
        p->path[k] = stack_node(p, &p->next[n - 1 - k],
                                k ? p->path[k - 1] : 0);
    }
    change.node = n ? p->path[n - 1] : 0;
    g_array_append_val(s->changes, change);
    p->nr_callers = n;
    p->all_callers = all;
    swap = p->callers;
    p->callers = p->next;
    p->next = swap;
}

/*
 * A task that another hart ran in between has other stacks than those that it
 * has left here. The other hart is not decoded: only an index knows them.
 */
static void arrive(StackPass *p, const SidebandMove *move)
{
    ReplayStacks *s = p->s;
    const IndexArrival *a = s->index ? index_hart_arrival(s->index,
                                                          move->came) : NULL;

    callstack_drop_task(p->cs, move->tid);
    if (a && a->stacks.size && s->reader && !s->writer) {
        ByteReader in = a->stacks;

        if (!callstack_load_task(p->cs, move->tid, s->reader, s->pieces,
                                 &in)) {
            p->failed = p->d.stop = true;
        }
    }
}

/* The decoder's view of the sideband may have come to another place. */
static void look_for_moves(StackPass *p)
{
    const GArray *moves = p->s->moves;
    uint64_t place = trace_decoder_place(&p->d);

    while (place != p->place && p->next_move < moves->len) {
        const SidebandMove *move = &g_array_index(moves, SidebandMove,
                                                  p->next_move);

        if (move->came >= place) {
            break;
        }
        p->next_move++;
        arrive(p, move);
    }
    p->place = place;
}

/* Is there a point here, whose stacks are not known yet? */
static void on_synced(void *opaque)
{
    StackPass *p = opaque;
    ReplayStacks *s = p->s;
    const ReplayPoint *first = (const ReplayPoint *)s->r->points->data;
    const ReplayPoint *point = replay_last_point(s->r, p->pos);
    g_autoptr(GByteArray) bytes = NULL;

    look_for_moves(p);
    if (!s->writer || !point || point->insns != p->pos ||
        s->saved[point - first].data || point->at.pos != p->d.stream.pos ||
        point->at.part != p->d.part) {
        return;
    }
    bytes = g_byte_array_new();
    if (callstack_save(p->cs, s->writer, s->pool, bytes)) {
        s->saved[point - first] = reader_of(bytes);
        g_ptr_array_add(s->bytes, g_steal_pointer(&bytes));
        forget_reader(s);
    }
}

/* Does nobody wait any more? */
static bool is_tired(StackPass *p)
{
    const ReplayWait *wait = p->s->wait;

    if (!wait || p->pos - p->polled < POLL_INSNS) {
        return false;
    }
    p->polled = p->pos;
    wait->progress(wait->opaque, p->s->r->hart, p->pos - p->began,
                   p->hi - p->began);
    return wait->poll && wait->poll(wait->opaque);
}

static void on_runs(void *opaque, const FlowRun *runs, unsigned n,
                    uint64_t insns)
{
    StackPass *p = opaque;
    bool near = p->pos + insns > p->lo;
    CallStackSite site;

    look_for_moves(p);
    for (unsigned from = 0, i = 1; !near && i <= n; i++) {
        if (i == n || runs[i].priv != runs[from].priv) {
            site = who_site(&p->who, &p->d, runs[from].priv);
            callstack_runs(p->cs, runs + from, i - from, &site);
            from = i;
        }
    }
    for (unsigned i = 0; near && i < n; i++) {
        site = who_site(&p->who, &p->d, runs[i].priv);
        callstack_run(p->cs, &runs[i], &site);
        if (runs[i].count && p->pos + runs[i].count > p->lo &&
            p->pos < p->hi) {
            note_stack(p, MAX(p->pos, p->lo));
        }
        p->pos += runs[i].count;
    }
    p->pos += near ? 0 : insns;
    p->d.stop = p->failed || p->pos >= p->hi || is_tired(p);
}

static void on_trap(void *opaque, const FlowTrap *trap)
{
    StackPass *p = opaque;
    CallStackSite site = who_site(&p->who, &p->d, trap->priv);

    look_for_moves(p);
    callstack_trap(p->cs, trap, &site);
}

static void on_window_end(void *opaque, FlowWindowEnd why)
{
    StackPass *p = opaque;

    if (why == FLOW_WINDOW_QUAL) {
        callstack_gap(p->cs, trace_decoder_fenced(&p->d));
    }
}

static void on_loss(void *opaque, const TraceLoss *loss)
{
    StackPass *p = opaque;

    callstack_lost(p->cs);
}

static void on_mark(void *opaque)
{
    StackPass *p = opaque;

    p->marked = p->pos;
    callstack_mark(p->cs);
}

static bool on_repeat(void *opaque, uint64_t times)
{
    StackPass *p = opaque;
    uint64_t insns, end;

    if (!g_uint64_checked_mul(&insns, p->pos - p->marked, times) ||
        !g_uint64_checked_add(&end, p->pos, insns) || end > p->lo ||
        !callstack_can_repeat(p->cs)) {
        return false;
    }
    callstack_repeat(p->cs, times);
    p->pos = end;
    return true;
}

static const TraceConsumer stack_consumer = {
    .flow = {
        .runs = on_runs,
        .trap = on_trap,
        .window_end = on_window_end,
        .mark = on_mark,
        .repeat = on_repeat,
    },
    .loss = on_loss,
    .synced = on_synced,
};

/* Decode [lo, hi) of @p from @from on, a point with stacks or NULL. */
static bool run_pass(StackPass *p, const ReplayPoint *from)
{
    ReplayStacks *s = p->s;
    TraceStart start = {
        .point = from ? &from->at : NULL,
        .advanced = (const uint64_t *)s->r->advanced->data,
    };
    bool ok;

    p->who = (Who) { .names = s->names, .tasks = s->tasks };
    p->cs = callstack_new(s->profile, PROFILE_ROOT, &s->options);
    p->callers = g_new(CallStackCaller, REPLAY_MAX_FRAMES);
    p->next = g_new(CallStackCaller, REPLAY_MAX_FRAMES);
    p->path = g_new(unsigned, REPLAY_MAX_FRAMES);
    p->pos = p->marked = from ? from->insns : 0;
    p->began = p->polled = p->pos;
    /* Who came before is in what is loaded. */
    while (from && p->next_move < s->moves->len &&
           g_array_index(s->moves, SidebandMove, p->next_move).came <
           trace_point_place(&from->at)) {
        p->next_move++;
    }
    ok = (!from || load(p, from)) &&
         trace_decode_from(&p->d, s->r->t, s->r->hart, from ? &start : NULL,
                           &stack_consumer, p);
    g_free(p->callers);
    g_free(p->next);
    g_free(p->path);
    callstack_free(p->cs);
    return ok && !p->failed && p->pos >= p->hi;
}

static bool fill_window(ReplayStacks *s, uint64_t base)
{
    uint64_t end = MIN(base + WINDOW, s->r->length);
    g_autofree StackPass *p = g_new0(StackPass, 1);

    p->s = s;
    p->lo = base;
    p->hi = end;
    s->base = s->end = base;
    g_hash_table_remove_all(s->numbers);
    g_array_set_size(s->nodes, 1);
    g_array_set_size(s->changes, 0);
    if (!run_pass(p, find_point(s, base)) || !s->changes->len) {
        return false;
    }
    s->end = end;
    return true;
}

/* What is known of the innermost function's callers at instruction @i */
static StackChange find_change(const ReplayStacks *s, uint64_t i)
{
    guint lo = 0, hi = s->changes->len;

    while (lo < hi) {
        guint mid = lo + (hi - lo) / 2;

        if (g_array_index(s->changes, StackChange, mid).index <= i) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo ? g_array_index(s->changes, StackChange, lo - 1) :
                (StackChange) { 0 };
}

const GArray *replay_stack(ReplayStacks *s, uint64_t i, unsigned *depth)
{
    const ReplayInsn *insn = replay_insn(s->r, i);
    uint64_t behind = WINDOW - WINDOW_AHEAD;
    ReplayFrame frame = { 0 };
    StackChange change;
    NamePlace place;

    if (!insn || ((i < s->base || i >= s->end) &&
                  !fill_window(s, i > behind ? i - behind : 0))) {
        return NULL;
    }
    g_array_set_size(s->answer, 0);
    names_find(s->names, replay_image(s->r, i), insn->priv, insn->pc, &place);
    frame.pc = insn->pc;
    frame.priv = insn->priv;
    frame.object = place.object;
    frame.symbol = place.symbol;
    frame.bias = place.bias;
    g_array_append_val(s->answer, frame);
    change = find_change(s, i);
    *depth = change.callers + 1;
    for (unsigned node = change.node; node;) {
        const StackNode *n = &g_array_index(s->nodes, StackNode, node);

        frame = (ReplayFrame) {
            .pc = n->caller.pc,
            .priv = n->caller.priv,
            .interrupted = n->caller.interrupted,
            .trap = n->trap,
            .object = n->place.object,
            .symbol = n->place.symbol,
            .bias = n->place.bias,
        };
        g_array_append_val(s->answer, frame);
        node = n->outer;
    }
    return s->answer;
}
