/*
 * rvtrace: tasks that move from one hart to another, and their call stacks
 *
 * Harts are decoded side by side, each as fast as it goes. A task that another
 * hart ran before has its call stacks there: where it arrives, its hart waits
 * until the other one has come to the place where the task left it. A hart that
 * waits has handed over all that left it earlier in the sideband stream, and
 * the place that it waits for is earlier, too: so the hart that waits for the
 * earliest one can go on. With an index, what a task brings is in that.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"
#include "profile/callstack-save.h"

/* Harts that wait have a thread each; of more, no call stacks move. */
#define MAX_HARTS   256

/* What a move brings to each of those who follow stacks */
typedef struct Luggage {
    GBytes *stacks[MOVES_NR_USERS];     /* NULL: nothing, or not yet */
} Luggage;

struct Moves {
    GMutex lock;            /* of @luggage, @passed and @turns */
    GCond changed;
    GArray *all;            /* SidebandMove, by came */
    GArray **leave;         /* by hart: numbers of those from it, by left */
    GArray **arrive;        /* ... and of those to it, by came */
    Luggage *luggage;       /* by number */
    /* by hart: all that left before this, by SidebandMove.left, is there */
    uint64_t *passed;
    unsigned turns;         /* harts that may run besides those that do */
    bool alone;             /* nobody waits for anybody */
};

/* One of those who follow stacks, at a hart */
typedef struct Follower {
    CallStack *stack;       /* NULL: there is none */
    Profile *profile;
    IndexHart *made;        /* gets what arrives; or NULL */
} Follower;

/* One hart's part in it */
typedef struct Courier {
    Moves *moves;
    HartResult *h;
    Follower followers[MOVES_NR_USERS];
    guint next_leave, next_arrive;
    uint64_t place;         /* sideband_in_part() of the decoder's view */
} Courier;

static const SidebandMove *get_move(const Moves *m, unsigned number)
{
    return &g_array_index(m->all, SidebandMove, number);
}

static int compare_left(gconstpointer pa, gconstpointer pb, gpointer moves)
{
    uint64_t a = get_move(moves, *(const unsigned *)pa)->left;
    uint64_t b = get_move(moves, *(const unsigned *)pb)->left;

    return a < b ? -1 : a > b;
}

Moves *moves_new(const Trace *t)
{
    g_autoptr(GArray) all = t->nr_harts > 1 && !t->elf ? trace_moves(t) : NULL;
    Moves *m;

    if (!all || !all->len) {
        return NULL;
    }
    m = g_new0(Moves, 1);
    g_mutex_init(&m->lock);
    g_cond_init(&m->changed);
    m->all = g_steal_pointer(&all);
    m->leave = g_new0(GArray *, t->nr_harts);
    m->arrive = g_new0(GArray *, t->nr_harts);
    m->luggage = g_new0(Luggage, m->all->len);
    m->passed = g_new0(uint64_t, t->nr_harts);
    for (unsigned i = 0; i < t->nr_harts; i++) {
        m->leave[i] = g_array_new(false, false, sizeof(unsigned));
        m->arrive[i] = g_array_new(false, false, sizeof(unsigned));
    }
    for (unsigned i = 0; i < m->all->len; i++) {
        const SidebandMove *move = get_move(m, i);

        g_array_append_val(m->arrive[move->to], i);
        if (move->left) {
            g_array_append_val(m->leave[move->from], i);
        }
    }
    for (unsigned i = 0; i < t->nr_harts; i++) {
        g_array_sort_with_data(m->leave[i], compare_left, m);
    }
    return m;
}

void moves_free(Moves *m, unsigned nr_harts)
{
    for (guint i = 0; i < m->all->len; i++) {
        for (unsigned k = 0; k < MOVES_NR_USERS; k++) {
            g_clear_pointer(&m->luggage[i].stacks[k], g_bytes_unref);
        }
    }
    for (unsigned i = 0; i < nr_harts; i++) {
        g_array_unref(m->leave[i]);
        g_array_unref(m->arrive[i]);
    }
    g_free(m->passed);
    g_free(m->leave);
    g_free(m->arrive);
    g_free(m->luggage);
    g_array_unref(m->all);
    g_mutex_clear(&m->lock);
    g_cond_clear(&m->changed);
    g_free(m);
}

unsigned moves_begin(Moves *m, const Results *r, unsigned turns)
{
    unsigned harts = 0;

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            harts++;
        } else {
            moves_end_hart(m, i);   /* There is nothing to wait for. */
        }
    }
    m->turns = turns;
    m->alone = harts > MAX_HARTS;
    return m->alone ? turns : harts;
}

void moves_begin_turn(Moves *m)
{
    g_mutex_lock(&m->lock);
    while (!m->turns) {
        g_cond_wait(&m->changed, &m->lock);
    }
    m->turns--;
    g_mutex_unlock(&m->lock);
}

void moves_end_turn(Moves *m)
{
    g_mutex_lock(&m->lock);
    m->turns++;
    g_cond_broadcast(&m->changed);
    g_mutex_unlock(&m->lock);
}

void moves_end_hart(Moves *m, unsigned hart)
{
    g_mutex_lock(&m->lock);
    m->passed[hart] = UINT64_MAX;
    g_cond_broadcast(&m->changed);
    g_mutex_unlock(&m->lock);
}

/* All that the task has here; NULL if that is nothing */
static GBytes *pack(const Follower *f, uint32_t tid)
{
    g_autoptr(TreeWriter) tree = tree_writer_new(f->profile);
    g_autoptr(StackPool) pool = stack_pool_new();
    g_autoptr(GByteArray) stacks = g_byte_array_new();
    GByteArray *out;

    if (!callstack_save_task(f->stack, tid, tree, pool, stacks)) {
        return NULL;
    }
    out = g_byte_array_new();
    tree_writer_put(tree, out);
    stack_pool_put(pool, out);
    g_byte_array_append(out, stacks->data, stacks->len);
    return g_byte_array_free_to_bytes(out);
}

static void unpack(const Courier *c, const Follower *f, uint32_t tid,
                   GBytes *bytes)
{
    ByteReader in = { .data = g_bytes_get_data(bytes, &in.size) };
    const Results *r = c->h->all;
    g_autoptr(TreeReader) tree = tree_reader_new(&in, names_objects(r->names),
                                                 r->tasks);
    g_autoptr(GArray) pieces = stack_pool_get(&in);

    tree_reader_bind(tree, f->profile, NULL);
    callstack_load_task(f->stack, tid, tree, pieces, &in);
}

/* Is @hart going to come to where it takes something? */
static bool goes_on(Moves *m, unsigned hart)
{
    bool is_there;

    g_mutex_lock(&m->lock);
    is_there = m->passed[hart] != UINT64_MAX;
    g_mutex_unlock(&m->lock);
    return is_there;
}

/* The task has left the hart: what it has can be had. */
static void hand_over(Courier *c, unsigned number)
{
    Moves *m = c->moves;
    const SidebandMove *move = get_move(m, number);
    Luggage luggage = { 0 };

    if (goes_on(m, move->to)) {
        for (unsigned i = 0; i < MOVES_NR_USERS; i++) {
            const Follower *f = &c->followers[i];

            luggage.stacks[i] = f->stack ? pack(f, move->tid) : NULL;
        }
    }
    g_mutex_lock(&m->lock);
    m->luggage[number] = luggage;
    m->passed[c->h->hart] = move->left + 1;
    g_cond_broadcast(&m->changed);
    g_mutex_unlock(&m->lock);
}

/* What @number brings, when that is known; the caller unrefs it. */
static Luggage wait_for(Courier *c, unsigned number)
{
    Moves *m = c->moves;
    const SidebandMove *move = get_move(m, number);
    const uint64_t *passed = &m->passed[move->from];
    Luggage luggage = { 0 };

    if (!move->left || m->alone) {
        return luggage;
    }
    g_mutex_lock(&m->lock);
    if (*passed <= move->left) {
        m->turns++;
        g_cond_broadcast(&m->changed);
        while (*passed <= move->left || !m->turns) {
            g_cond_wait(&m->changed, &m->lock);
        }
        m->turns--;
    }
    luggage = m->luggage[number];
    m->luggage[number] = (Luggage) { 0 };
    g_mutex_unlock(&m->lock);
    return luggage;
}

/* So that a piece of the trace can be decoded by itself */
static void keep(const Follower *f, const SidebandMove *move)
{
    IndexArrival a = { .came = move->came, .bytes = g_byte_array_new() };

    callstack_save_task(f->stack, move->tid, f->made->tree_writer,
                        f->made->pool, a.bytes);
    g_array_append_val(f->made->arrivals, a);
}

/* What the index says that the task brings; if that is nonsense, give up. */
static void load(const Courier *c, const Follower *f, const SidebandMove *move)
{
    HartPiece *piece = &c->h->piece;
    const IndexArrival *a = index_hart_arrival(piece->indexed, move->came);
    ByteReader in = a ? a->stacks : (ByteReader) { 0 };

    if (in.size && !callstack_load_task(f->stack, move->tid, piece->tree,
                                        piece->indexed->pieces, &in)) {
        piece->failed = true;
        c->h->d.stop = true;
    }
}

static void arrive(Courier *c, unsigned number)
{
    const SidebandMove *move = get_move(c->moves, number);
    bool indexed = c->h->piece.indexed;
    Luggage luggage = { 0 };

    if (!indexed) {
        luggage = wait_for(c, number);
    }
    for (unsigned i = 0; i < MOVES_NR_USERS; i++) {
        const Follower *f = &c->followers[i];
        g_autoptr(GBytes) bytes = luggage.stacks[i];

        if (!f->stack) {
            continue;
        }
        callstack_drop_task(f->stack, move->tid);
        if (indexed) {
            load(c, f, move);
        } else if (bytes) {
            unpack(c, f, move->tid, bytes);
        }
        if (f->made) {
            keep(f, move);
        }
    }
}

/* The number of the next move of @list; NULL: none of them is left */
static const unsigned *next_of(const GArray *list, guint next)
{
    return next < list->len ? &g_array_index(list, unsigned, next) : NULL;
}

/* Tasks that arrived before @from are in what was loaded. */
static void skip_arrivals(Courier *c, const TracePoint *from)
{
    const GArray *arrivals = c->moves->arrive[c->h->hart];
    uint64_t place = trace_point_place(from);
    const unsigned *next;

    while ((next = next_of(arrivals, c->next_arrive)) &&
           get_move(c->moves, *next)->came < place) {
        c->next_arrive++;
    }
}

/*
 * The decoder's view of the sideband has come to another place. Tasks may have
 * come and left since the last one, of which nothing was traced: one that was
 * here in between takes along what it has brought.
 */
static void come_to(Courier *c, uint64_t place)
{
    const Moves *m = c->moves;
    const HartPiece *piece = &c->h->piece;
    bool hands_over = !piece->indexed && !m->alone;

    if (!c->place && piece->from) {
        skip_arrivals(c, &piece->from->at);
    }
    c->place = place;
    for (;;) {
        const unsigned *leaves = hands_over ?
            next_of(m->leave[c->h->hart], c->next_leave) : NULL;
        const unsigned *arrives = next_of(m->arrive[c->h->hart],
                                          c->next_arrive);
        uint64_t left = leaves ? get_move(m, *leaves)->left : UINT64_MAX;
        uint64_t came = arrives ? get_move(m, *arrives)->came : UINT64_MAX;

        if (MIN(left, came) >= place) {
            break;
        }
        if (left <= came) {
            c->next_leave++;
            hand_over(c, *leaves);
        } else {
            c->next_arrive++;
            arrive(c, *arrives);
        }
    }
}

static inline void look(Courier *c)
{
    uint64_t place = trace_decoder_place(&c->h->d);

    if (G_UNLIKELY(place != c->place)) {
        come_to(c, place);
    }
}

static void on_runs(void *opaque, const FlowRun *runs, unsigned n,
                    const CallStackSite *site)
{
    look(opaque);
}

static void on_trap(void *opaque, const FlowTrap *trap,
                    const CallStackSite *site)
{
    look(opaque);
}

static void on_synced(void *opaque)
{
    look(opaque);
}

static const ObserverOps courier_ops = {
    .runs = on_runs,
    .trap = on_trap,
    .synced = on_synced,
    .free = g_free,
};

void hart_move_tasks(HartResult *h, MovesUser user, CallStack *stack,
                     Profile *profile, IndexHart *made)
{
    Courier *c = hart_observer(h, &courier_ops);

    if (!c) {
        c = g_new0(Courier, 1);
        c->moves = h->all->moves;
        c->h = h;
        hart_observe(h, &courier_ops, c, 0);
    }
    c->followers[user] = (Follower) {
        .stack = stack, .profile = profile, .made = made,
    };
}
