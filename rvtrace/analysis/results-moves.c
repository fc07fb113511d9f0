/*
 * rvtrace: tasks that move from one hart to another, and their call stacks
 *
 * Harts are decoded side by side, each as fast as it goes. A task that another
 * hart ran before has its call stacks there: where it arrives, its hart waits
 * until the other one has come to the place where the task left it. Whoever
 * waits is behind that place in the sideband stream, so there is always a hart
 * that can go on. With an index, what a task brings is in that.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"
#include "profile/callstack-save.h"

/* Harts that wait have a thread each; of more, no call stacks move. */
#define MAX_HARTS   256

/* What a move brings to those who follow stacks */
typedef struct Luggage {
    GBytes *stacks[MOVES_NR_USERS];     /* NULL: nothing, or not yet */
} Luggage;

struct Moves {
    GMutex lock;            /* of all below but @all, @leave and @arrive */
    GCond changed;
    GArray *all;            /* SidebandMove, by came */
    GArray **leave;         /* by hart: numbers of those from it, by left */
    GArray **arrive;        /* ... and of those to it, by came */
    Luggage *luggage;       /* by number */
    /* by hart: sideband_in_part() of what it has not come to yet */
    uint64_t *passed[MOVES_NR_USERS];
    unsigned turns;         /* harts that may run besides those that do */
    bool alone;             /* nobody waits for anybody */
};

/* One hart's part in it, for one of those who follow stacks */
typedef struct Courier {
    Moves *moves;
    const HartResult *h;
    MovesUser user;
    CallStack *stack;
    Profile *profile;
    IndexHart *made;        /* gets what arrives; or NULL */
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
    for (unsigned i = 0; i < MOVES_NR_USERS; i++) {
        m->passed[i] = g_new0(uint64_t, t->nr_harts);
    }
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
    for (unsigned i = 0; i < MOVES_NR_USERS; i++) {
        g_free(m->passed[i]);
    }
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
    for (unsigned i = 0; i < MOVES_NR_USERS; i++) {
        m->passed[i][hart] = UINT64_MAX;
    }
    g_cond_broadcast(&m->changed);
    g_mutex_unlock(&m->lock);
}

/* The spaces that are in a task's stacks, so that another hart knows them */
static void put_spaces(GByteArray *out, const SidebandView *view,
                       const GArray *spaces)
{
    bytes_put_u32(out, spaces->len);
    for (guint i = 0; i < spaces->len; i++) {
        unsigned number = g_array_index(spaces, unsigned, i);
        SidebandSpace space = { 0 };

        bytes_put_u32(out, number);
        bytes_put_u8(out, sideband_view_space_of(view, number, &space));
        bytes_put_u8(out, space.virt);
        bytes_put_u64(out, space.atp);
        bytes_put_u64(out, space.gatp);
    }
}

/* Their numbers here, by those there */
static GHashTable *get_spaces(ByteReader *in, const SidebandView *view)
{
    GHashTable *spaces = g_hash_table_new(NULL, NULL);

    for (uint32_t n = bytes_get_u32(in); n > 0 && !in->failed; n--) {
        uint32_t number = bytes_get_u32(in);
        bool known = bytes_get_u8(in);
        SidebandSpace space = { .virt = bytes_get_u8(in) };

        space.atp = bytes_get_u64(in);
        space.gatp = bytes_get_u64(in);
        if (known) {
            g_hash_table_insert(spaces, GUINT_TO_POINTER(number),
                                GUINT_TO_POINTER(sideband_view_space_number(
                                    view, &space)));
        }
    }
    return spaces;
}

/* All that the task has here; NULL if that is nothing */
static GBytes *pack(const Courier *c, uint32_t tid)
{
    g_autoptr(TreeWriter) tree = tree_writer_new(c->profile);
    g_autoptr(StackPool) pool = stack_pool_new();
    g_autoptr(GArray) spaces = g_array_new(false, false, sizeof(unsigned));
    g_autoptr(GByteArray) stacks = g_byte_array_new();
    GByteArray *out;

    if (!callstack_save_task(c->stack, tid, tree, pool, stacks, spaces)) {
        return NULL;
    }
    out = g_byte_array_new();
    tree_writer_put(tree, out);
    stack_pool_put(pool, out);
    put_spaces(out, c->h->d.image->view, spaces);
    g_byte_array_append(out, stacks->data, stacks->len);
    return g_byte_array_free_to_bytes(out);
}

static void unpack(const Courier *c, uint32_t tid, GBytes *bytes)
{
    ByteReader in = { .data = g_bytes_get_data(bytes, &in.size) };
    const Results *r = c->h->all;
    g_autoptr(TreeReader) tree = tree_reader_new(&in, names_objects(r->names),
                                                 r->tasks);
    g_autoptr(GArray) pieces = stack_pool_get(&in);
    g_autoptr(GHashTable) spaces = get_spaces(&in, c->h->d.image->view);

    tree_reader_bind(tree, c->profile, NULL);
    callstack_load_task(c->stack, tid, tree, pieces, spaces, &in);
}

/* The hart has come to its place: what left it before can be had. */
static void hand_over(Courier *c)
{
    Moves *m = c->moves;
    const GArray *leave = m->leave[c->h->hart];
    guint first = c->next_leave, n;
    g_autoptr(GPtrArray) packed = g_ptr_array_new();

    for (n = first; n < leave->len; n++) {
        const SidebandMove *move = get_move(m, g_array_index(leave, unsigned,
                                                             n));

        if (move->left >= c->place) {
            break;
        }
        g_ptr_array_add(packed, pack(c, move->tid));
    }
    c->next_leave = n;
    g_mutex_lock(&m->lock);
    for (guint i = 0; i < packed->len; i++) {
        unsigned number = g_array_index(leave, unsigned, first + i);

        m->luggage[number].stacks[c->user] = packed->pdata[i];
    }
    m->passed[c->user][c->h->hart] = c->place;
    if (packed->len) {
        g_cond_broadcast(&m->changed);
    }
    g_mutex_unlock(&m->lock);
}

/* What @number brings, when that is known; NULL: nothing. The caller's */
static GBytes *wait_for(Courier *c, unsigned number)
{
    Moves *m = c->moves;
    const SidebandMove *move = get_move(m, number);
    const uint64_t *passed = &m->passed[c->user][move->from];
    GBytes *bytes;

    if (!move->left || m->alone) {
        return NULL;
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
    bytes = g_steal_pointer(&m->luggage[number].stacks[c->user]);
    g_mutex_unlock(&m->lock);
    return bytes;
}

/* So that a piece of the trace can be decoded by itself */
static void keep(const Courier *c, const SidebandMove *move)
{
    IndexArrival a = { .came = move->came, .bytes = g_byte_array_new() };

    callstack_save_task(c->stack, move->tid, c->made->tree_writer,
                        c->made->pool, a.bytes, NULL);
    g_array_append_val(c->made->arrivals, a);
}

static void arrive(Courier *c, unsigned number)
{
    const SidebandMove *move = get_move(c->moves, number);
    const HartPiece *piece = &c->h->piece;

    callstack_drop_task(c->stack, move->tid);
    if (piece->indexed) {
        const IndexArrival *a = index_hart_arrival(piece->indexed,
                                                   move->came);
        ByteReader in = a ? a->stacks : (ByteReader) { 0 };

        if (in.size) {
            callstack_load_task(c->stack, move->tid, piece->tree,
                                piece->indexed->pieces, NULL, &in);
        }
    } else {
        g_autoptr(GBytes) bytes = wait_for(c, number);

        if (bytes) {
            unpack(c, move->tid, bytes);
        }
    }
    if (c->made) {
        keep(c, move);
    }
}

/* Who arrived before @from is in what was loaded. */
static void skip_arrivals(Courier *c, const TracePoint *from)
{
    const GArray *arrivals = c->moves->arrive[c->h->hart];
    uint64_t place = trace_point_place(from);

    while (c->next_arrive < arrivals->len &&
           get_move(c->moves, g_array_index(arrivals, unsigned,
                                            c->next_arrive))->came < place) {
        c->next_arrive++;
    }
}

/* The decoder's view of the sideband has come to another place. */
static void come_to(Courier *c, uint64_t place)
{
    const Moves *m = c->moves;
    const HartPiece *piece = &c->h->piece;
    const GArray *arrivals = m->arrive[c->h->hart];

    if (!c->place && piece->from) {
        skip_arrivals(c, &piece->from->at);
    }
    c->place = place;
    if (!piece->indexed && !m->alone) {
        hand_over(c);
    }
    while (c->next_arrive < arrivals->len) {
        unsigned number = g_array_index(arrivals, unsigned, c->next_arrive);

        if (get_move(m, number)->came >= place) {
            break;
        }
        c->next_arrive++;
        arrive(c, number);
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

/* What an index keeps here is as far as the decoder is in the sideband. */
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
    Courier *c = g_new0(Courier, 1);

    c->moves = h->all->moves;
    c->h = h;
    c->user = user;
    c->stack = stack;
    c->profile = profile;
    c->made = made;
    hart_observe(h, &courier_ops, c, 0);
}
