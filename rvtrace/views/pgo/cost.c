/*
 * Costs: what each instruction, call and jump of each function cost
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/virtual-clock.h"
#include "views/pgo/cost.h"
#include "code/insn.h"

/* From one function to another one, or what is known of one */
typedef struct Pair {
    unsigned from, to;
    uint64_t inclusive;     /* by the call tree */
    uint64_t calls;         /* by the counts */
    uint64_t left, calls_left;
} Pair;

typedef struct Builder {
    const Counts *c;
    Costs *costs;
    GHashTable *functions;  /* FunctionKey -> index + 1 */
    GHashTable *called;     /* object -> GArray of uint64_t, sorted */
    GHashTable *pairs;      /* Pair */
    GHashTable *executed;   /* FunctionKey: the address of a branch -> count */
} Builder;

typedef struct FunctionKey {
    uint64_t addr;
    unsigned object;
    uint64_t value;
} FunctionKey;

static guint key_hash(gconstpointer key)
{
    const FunctionKey *k = key;

    return ((k->addr + ((uint64_t)k->object << 48)) *
            0x9e3779b97f4a7c15ull) >> 32;
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
    const FunctionKey *x = a, *y = b;

    return x->addr == y->addr && x->object == y->object;
}

/* The entry of @table for this address; made with value 0 if there is none */
static FunctionKey *entry_of(GHashTable *table, unsigned object,
                             uint64_t addr)
{
    FunctionKey key = { .addr = addr, .object = object };
    FunctionKey *k = g_hash_table_lookup(table, &key);

    if (!k) {
        k = g_memdup2(&key, sizeof(key));
        g_hash_table_add(table, k);
    }
    return k;
}

static guint pair_hash(gconstpointer key)
{
    const Pair *p = key;

    return p->from * 0x9e3779b1u ^ p->to;
}

static gboolean pair_equal(gconstpointer a, gconstpointer b)
{
    const Pair *x = a, *y = b;

    return x->from == y->from && x->to == y->to;
}

static Pair *pair_of(Builder *b, unsigned from, unsigned to)
{
    Pair key = { .from = from, .to = to };
    Pair *pair = g_hash_table_lookup(b->pairs, &key);

    if (!pair) {
        pair = g_memdup2(&key, sizeof(key));
        g_hash_table_add(b->pairs, pair);
    }
    return pair;
}

/*
 * A function by its symbol, or by the address @called. @addr is an address of
 * it.
 */
static unsigned function_of(Builder *b, unsigned object, const Symbol *symbol,
                            uint64_t called, uint64_t addr)
{
    /* No symbol starts there: it would have no room for an instruction. */
    FunctionKey *k = entry_of(b->functions, object,
                              symbol ? symbol->start : called ?: UINT64_MAX);
    CostFunction *f;

    if (!k->value) {
        CostFunction fresh = {
            .object = object,
            .symbol = symbol,
            .called = symbol ? 0 : called,
            .entry = symbol ? symbol->start : called ?: addr,
        };

        g_array_append_val(b->costs->functions, fresh);
        k->value = b->costs->functions->len;
    }
    f = &g_array_index(b->costs->functions, CostFunction, k->value - 1);
    f->entry = MIN(f->entry, addr);
    return k->value - 1;
}

/* Code without a symbol was called there. */
static void add_called(Builder *b, unsigned object, uint64_t addr)
{
    gpointer key = GUINT_TO_POINTER(object);
    GArray *list = g_hash_table_lookup(b->called, key);

    if (!list) {
        list = g_array_new(false, false, sizeof(addr));
        g_hash_table_insert(b->called, key, list);
    }
    g_array_append_val(list, addr);
}

static gint compare_addresses(gconstpointer a, gconstpointer b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* The last one from @lo to @addr, or 0 */
static uint64_t last_called(const GArray *list, uint64_t lo, uint64_t addr)
{
    guint first = 0, last = list->len;

    while (first < last) {
        guint mid = first + (last - first) / 2;

        if (g_array_index(list, uint64_t, mid) <= addr) {
            first = mid + 1;
        } else {
            last = mid;
        }
    }
    return first && g_array_index(list, uint64_t, first - 1) >= lo ?
           g_array_index(list, uint64_t, first - 1) : 0;
}

static unsigned function_at(Builder *b, unsigned object, uint64_t addr)
{
    const Object *o = object_get(b->c->objects, object);
    uint64_t lo = 0, hi, called = 0;
    const Symbol *symbol = symbols_find(o->symbols, addr, &lo, &hi);

    if (!symbol) {
        const GArray *list = g_hash_table_lookup(b->called,
                                                 GUINT_TO_POINTER(object));

        called = list ? last_called(list, lo, addr) : 0;
    }
    return function_of(b, object, symbol, called, addr);
}

/* How often code ran changes at an address. */
typedef struct Step {
    unsigned object;
    uint64_t addr;
    int64_t change;
} Step;

static int compare_steps(gconstpointer a, gconstpointer b)
{
    const Step *x = a, *y = b;

    return x->object != y->object ? (x->object < y->object ? -1 : 1) :
           x->addr != y->addr ? (x->addr < y->addr ? -1 : 1) : 0;
}

static void add_insn(Builder *b, unsigned object, uint64_t addr,
                     uint64_t cost)
{
    CostInsn insn = {
        .function = function_at(b, object, addr),
        .addr = addr,
        .cost = cost,
    };

    g_array_append_val(b->costs->insns, insn);
    b->costs->total += cost;
}

/* Each instruction from @from to @to ran @cost times. */
static void add_insns(Builder *b, unsigned object, uint64_t from, uint64_t to,
                      uint64_t cost)
{
    const Object *o = object_get(b->c->objects, object);
    const uint8_t *bytes;

    while (from < to && object_bytes(o, from, 1, &bytes)) {
        add_insn(b, object, from, cost);
        from += insn_length(bytes[0]);
    }
}

/*
 * Does the object have the instructions of @range? Where the guest has patched
 * its code, there may be others, of other lengths.
 */
static bool has_code(const Object *o, const CountRange *range)
{
    uint64_t addr = range->start, last = addr;
    uint64_t size = range->end - range->start;
    const uint8_t *bytes;
    unsigned n = 0;

    if (object_bytes(o, range->start, size, &bytes) != size) {
        return false;
    }
    for (; addr < range->end; n++) {
        last = addr;
        addr += insn_length(bytes[addr - range->start]);
    }
    return addr == range->end && last == range->last && n == range->insns;
}

static void add_ranges(Builder *b)
{
    g_autoptr(GArray) steps = g_array_new(false, false, sizeof(Step));
    uint64_t count = 0;

    for (guint i = 0; i < b->c->ranges->len; i++) {
        const CountRange *r = &g_array_index(b->c->ranges, CountRange, i);
        unsigned object = count_place(b->c, r->place)->object;
        Step first = { object, r->start, r->count };
        Step behind = { object, r->end, -r->count };

        if (r->itype == ETRACE_ITYPE_TAKEN_BRANCH ||
            r->itype == ETRACE_ITYPE_NONTAKEN_BRANCH) {
            entry_of(b->executed, object, r->last)->value += r->count;
        }
        if (has_code(object_get(b->c->objects, object), r)) {
            g_array_append_val(steps, first);
            g_array_append_val(steps, behind);
        } else {
            add_insn(b, object, r->start, r->count * r->insns);
        }
    }
    g_array_sort(steps, compare_steps);
    for (guint i = 0; i + 1 < steps->len; i++) {
        const Step *s = &g_array_index(steps, Step, i);

        count += s->change;
        if (count && s[1].addr != s->addr) {
            add_insns(b, s->object, s->addr, s[1].addr, count);
        }
    }
}

static bool is_call(unsigned itype)
{
    return itype == ETRACE_ITYPE_UNINFERABLE_CALL ||
           itype == ETRACE_ITYPE_INFERABLE_CALL;
}

static bool is_jump(unsigned itype)
{
    return itype == ETRACE_ITYPE_TAKEN_BRANCH ||
           itype == ETRACE_ITYPE_UNINFERABLE_JUMP ||
           itype == ETRACE_ITYPE_INFERABLE_JUMP ||
           itype == ETRACE_ITYPE_OTHER_UNINFERABLE_JUMP ||
           itype == ETRACE_ITYPE_OTHER_INFERABLE_JUMP;
}

static int compare_calls(gconstpointer a, gconstpointer b)
{
    const CostCall *x = a, *y = b;

    return x->from != y->from ? (x->from < y->from ? -1 : 1) :
           x->addr != y->addr ? (x->addr < y->addr ? -1 : 1) :
           x->to != y->to ? (x->to < y->to ? -1 : 1) :
           x->target != y->target ? (x->target < y->target ? -1 : 1) :
           0;
}

/* Edges of one place to one, of several harts and tasks, are in a row. */
static void add_call(Builder *b, const CostCall *call)
{
    GArray *calls = b->costs->calls;
    CostCall *last = calls->len ? &g_array_index(calls, CostCall,
                                                 calls->len - 1) : NULL;

    if (last && !compare_calls(last, call)) {
        last->count += call->count;
    } else {
        g_array_append_vals(calls, call, 1);
    }
    pair_of(b, call->from, call->to)->calls += call->count;
}

static void add_edge(Builder *b, const CountEdge *e)
{
    unsigned object = count_place(b->c, e->from_place)->object;
    unsigned from = function_at(b, object, e->from);
    unsigned to = function_at(b, count_place(b->c, e->to_place)->object,
                              e->to);

    if (is_call(e->itype)) {
        add_call(b, &(CostCall) { from, to, e->from, e->to, e->count, 0 });
    } else if (is_jump(e->itype) && from == to) {
        CostJump jump = { from, e->from, e->to, e->count, 0 };

        if (e->itype == ETRACE_ITYPE_TAKEN_BRANCH) {
            jump.executed = entry_of(b->executed, object, e->from)->value;
        }
        g_array_append_val(b->costs->jumps, jump);
    }
}

/* Where calls lead that no symbol is at, by the counts and by the tree */
static void find_called(Builder *b, const Profile *p)
{
    GHashTableIter iter;
    gpointer list;

    for (guint i = 0; i < b->c->edges->len; i++) {
        const CountEdge *e = &g_array_index(b->c->edges, CountEdge, i);
        unsigned object = count_place(b->c, e->to_place)->object;
        const Object *o = object_get(b->c->objects, object);

        if (is_call(e->itype) && !symbols_find(o->symbols, e->to, NULL, NULL)) {
            add_called(b, object, e->to);
        }
    }
    for (guint i = 0; i < p->frames->len; i++) {
        const ProfileFrame *f = profile_frame(p, i);

        if (f->object && !f->symbol && f->entry) {
            add_called(b, f->object->id, f->entry);
        }
    }
    g_hash_table_iter_init(&iter, b->called);
    while (g_hash_table_iter_next(&iter, NULL, &list)) {
        g_array_sort(list, compare_addresses);
    }
}

/* The function that a frame is, or -1 */
static int function_of_frame(Builder *b, const ProfileFrame *f)
{
    return f->object ? (int)function_of(b, f->object->id, f->symbol, f->entry,
                                        f->entry ?: UINT64_MAX) : -1;
}

/*
 * What each function spent in those that it called: of each node, without what
 * traps that hit there led to. A node's parent is in front of it.
 */
static void add_tree(Builder *b, const Profile *p)
{
    g_autofree uint64_t *inclusive = g_new(uint64_t, p->nodes->len);

    for (guint i = 0; i < p->nodes->len; i++) {
        inclusive[i] = profile_node(p, i)->self;
    }
    for (guint i = p->nodes->len; i-- > 1;) {
        const ProfileNode *n = profile_node(p, i);
        const ProfileFrame *f = profile_frame(p, n->frame);
        const ProfileNode *parent = profile_node(p, n->parent);
        int to, from;

        if (f->kind == FRAME_TRAP) {
            continue;
        }
        inclusive[n->parent] += inclusive[i];
        to = function_of_frame(b, f);
        from = function_of_frame(b, profile_frame(p, parent->frame));
        if (from >= 0 && to >= 0 && inclusive[i]) {
            pair_of(b, from, to)->inclusive += inclusive[i];
        }
    }
}

static uint64_t entry_address(const Builder *b, unsigned function)
{
    return g_array_index(b->costs->functions, CostFunction, function).entry;
}

/*
 * Calls share what their functions spent, by how many they are. What the tree
 * has without any call, as when the function called jumps to another one, gets
 * an entry for that.
 */
static void share_inclusive(Builder *b)
{
    GArray *calls = b->costs->calls;
    GHashTableIter iter;
    gpointer key;

    g_hash_table_iter_init(&iter, b->pairs);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        Pair *pair = key;

        pair->left = pair->inclusive;
        pair->calls_left = pair->calls;
        if (!pair->calls) {
            CostCall call = {
                pair->from, pair->to, entry_address(b, pair->from),
                entry_address(b, pair->to), 0, pair->inclusive,
            };

            g_array_append_val(calls, call);
        }
    }
    for (guint i = 0; i < calls->len; i++) {
        CostCall *call = &g_array_index(calls, CostCall, i);
        Pair *pair = pair_of(b, call->from, call->to);

        if (call->count) {
            call->inclusive = share_of(pair->left, call->count,
                                       pair->calls_left);
            pair->left -= call->inclusive;
            pair->calls_left -= call->count;
        }
    }
}

static int compare_insns(gconstpointer a, gconstpointer b)
{
    const CostInsn *x = a, *y = b;

    return x->function != y->function ?
           (x->function < y->function ? -1 : 1) :
           x->addr != y->addr ? (x->addr < y->addr ? -1 : 1) : 0;
}

static int compare_jumps(gconstpointer a, gconstpointer b)
{
    const CostJump *x = a, *y = b;

    return x->function != y->function ?
           (x->function < y->function ? -1 : 1) :
           x->addr != y->addr ? (x->addr < y->addr ? -1 : 1) :
           x->target != y->target ? (x->target < y->target ? -1 : 1) : 0;
}

/* The same address in several ranges, or of several harts and tasks */
static void merge_same(Costs *costs)
{
    GArray *insns = costs->insns, *jumps = costs->jumps;
    guint n = 0;

    for (guint i = 0; i < insns->len; i++) {
        CostInsn *insn = &g_array_index(insns, CostInsn, i);

        if (n && !compare_insns(insn, &g_array_index(insns, CostInsn,
                                                     n - 1))) {
            g_array_index(insns, CostInsn, n - 1).cost += insn->cost;
        } else {
            g_array_index(insns, CostInsn, n++) = *insn;
        }
    }
    g_array_set_size(insns, n);
    n = 0;
    for (guint i = 0; i < jumps->len; i++) {
        CostJump *jump = &g_array_index(jumps, CostJump, i);

        if (n && !compare_jumps(jump, &g_array_index(jumps, CostJump,
                                                     n - 1))) {
            g_array_index(jumps, CostJump, n - 1).count += jump->count;
        } else {
            g_array_index(jumps, CostJump, n++) = *jump;
        }
    }
    g_array_set_size(jumps, n);
}

/* Functions by object and address, so that the result is always the same */
static int compare_functions(gconstpointer a, gconstpointer b,
                             gpointer opaque)
{
    const GArray *all = opaque;
    const CostFunction *x = &g_array_index(all, CostFunction,
                                           *(const unsigned *)a);
    const CostFunction *y = &g_array_index(all, CostFunction,
                                           *(const unsigned *)b);

    return x->object != y->object ? (x->object < y->object ? -1 : 1) :
           !x->symbol != !y->symbol ? (x->symbol ? -1 : 1) :
           x->entry != y->entry ? (x->entry < y->entry ? -1 : 1) : 0;
}

static void sort_functions(Costs *costs)
{
    unsigned n = costs->functions->len;
    GArray *order = g_array_sized_new(false, false, sizeof(unsigned), n);
    GArray *sorted = g_array_sized_new(false, false, sizeof(CostFunction), n);
    g_autofree unsigned *now = g_new(unsigned, n);

    for (unsigned i = 0; i < n; i++) {
        g_array_append_val(order, i);
    }
    g_array_sort_with_data(order, compare_functions, costs->functions);
    for (unsigned i = 0; i < n; i++) {
        unsigned was = g_array_index(order, unsigned, i);

        CostFunction f = g_array_index(costs->functions, CostFunction, was);

        /* Only frames without an address may have been there. */
        f.entry = f.entry == UINT64_MAX ? 0 : f.entry;
        now[was] = i;
        g_array_append_val(sorted, f);
    }
    for (guint i = 0; i < costs->insns->len; i++) {
        CostInsn *insn = &g_array_index(costs->insns, CostInsn, i);

        insn->function = now[insn->function];
    }
    for (guint i = 0; i < costs->calls->len; i++) {
        CostCall *call = &g_array_index(costs->calls, CostCall, i);

        call->from = now[call->from];
        call->to = now[call->to];
    }
    for (guint i = 0; i < costs->jumps->len; i++) {
        CostJump *jump = &g_array_index(costs->jumps, CostJump, i);

        jump->function = now[jump->function];
    }
    g_array_unref(order);
    g_array_unref(costs->functions);
    costs->functions = sorted;
}

static void free_array(gpointer array)
{
    g_array_unref(array);
}

Costs *costs_new(const Counts *c, const Profile *p)
{
    Builder b = { .c = c };

    b.costs = g_new0(Costs, 1);
    b.costs->functions = g_array_new(false, false, sizeof(CostFunction));
    b.costs->insns = g_array_new(false, false, sizeof(CostInsn));
    b.costs->calls = g_array_new(false, false, sizeof(CostCall));
    b.costs->jumps = g_array_new(false, false, sizeof(CostJump));
    b.functions = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
    b.called = g_hash_table_new_full(NULL, NULL, NULL, free_array);
    b.pairs = g_hash_table_new_full(pair_hash, pair_equal, g_free, NULL);
    b.executed = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
    find_called(&b, p);
    add_ranges(&b);
    for (guint i = 0; i < c->edges->len; i++) {
        add_edge(&b, &g_array_index(c->edges, CountEdge, i));
    }
    add_tree(&b, p);
    share_inclusive(&b);
    g_hash_table_unref(b.functions);
    g_hash_table_unref(b.called);
    g_hash_table_unref(b.pairs);
    g_hash_table_unref(b.executed);
    sort_functions(b.costs);
    g_array_sort(b.costs->insns, compare_insns);
    g_array_sort(b.costs->calls, compare_calls);
    g_array_sort(b.costs->jumps, compare_jumps);
    merge_same(b.costs);
    return b.costs;
}

void costs_free(Costs *costs)
{
    g_array_unref(costs->functions);
    g_array_unref(costs->insns);
    g_array_unref(costs->calls);
    g_array_unref(costs->jumps);
    g_free(costs);
}
