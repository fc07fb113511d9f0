/*
 * Reports: where the instructions went, as text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/virtual-clock.h"
#include "views/report/range-walk.h"
#include "views/report/report-private.h"

/* Keys that say who ran it */
#define TASK_KEYS (1u << REPORT_COMM | 1u << REPORT_PID | 1u << REPORT_TID)

bool report_parse_keys(const char *text, ReportOptions *o)
{
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    unsigned seen = 0;

    o->nr_keys = 0;
    for (char **w = words; *w; w++) {
        unsigned i = 0;

        while (i < REPORT_NR_KEYS && !g_str_equal(*w, report_key_names[i])) {
            i++;
        }
        if (i == REPORT_NR_KEYS || (seen >> i & 1)) {
            return false;
        }
        seen |= 1u << i;
        o->keys[o->nr_keys++] = i;
    }
    return o->nr_keys;
}

bool report_needs_source(const ReportOptions *o)
{
    for (unsigned i = 0; i < o->nr_keys; i++) {
        if (o->keys[i] == REPORT_SRCLINE || o->keys[i] == REPORT_SRCFILE) {
            return true;
        }
    }
    return false;
}

bool report_needs_tasks(const ReportOptions *o)
{
    for (unsigned i = 0; i < o->nr_keys; i++) {
        if (TASK_KEYS >> o->keys[i] & 1) {
            return true;
        }
    }
    return o->comm;
}

static guint row_hash(gconstpointer key)
{
    const ReportRow *r = key;
    uint64_t h = (uintptr_t)r->comm ^ (uintptr_t)r->symbol << 7;

    h = (h ^ (uintptr_t)r->source.file << 3 ^ r->source.line) *
        0x9e3779b97f4a7c15ull;
    h = (h ^ r->object ^ (uint64_t)r->pid << 32 ^ r->tid) *
        0x9e3779b97f4a7c15ull;
    return (h >> 32) + r->priv + r->hart * 8;
}

static gboolean row_equal(gconstpointer a, gconstpointer b)
{
    const ReportRow *x = a, *y = b;

    return x->comm == y->comm && x->pid == y->pid && x->tid == y->tid &&
           x->object == y->object && x->symbol == y->symbol &&
           x->priv == y->priv && x->hart == y->hart &&
           x->source.file == y->source.file &&
           x->source.line == y->source.line;
}

static const Symbol *symbol_at(const Object *object, uint64_t addr)
{
    return symbols_find(object->symbols, addr, NULL, NULL);
}

static bool selected(const char *glob, const char *text)
{
    return !glob || g_pattern_match_simple(glob, text);
}

/* Who ran it; only if report_needs_tasks() */
static const Task *place_task(const Report *r, const CountPlace *place)
{
    return task_get(r->counts->tasks, place->task);
}

/* The row of what is at @addr, which is of @symbol; NULL: it is not selected */
static ReportRow *get_row(Report *r, const CountPlace *place,
                          const Symbol *symbol, uint64_t addr)
{
    const Object *object = object_get(r->counts->objects, place->object);
    ReportRow key = { 0 }, *row;

    if ((r->o->comm && !selected(r->o->comm, place_task(r, place)->name)) ||
        !selected(r->o->dso, object->name) ||
        (!selected(r->o->sym, report_symbol_name(symbol)) &&
         !(symbol && selected(r->o->sym, symbol->linkage)))) {
        return NULL;
    }
    if (r->mask & TASK_KEYS) {
        const Task *task = place_task(r, place);

        key.comm = g_intern_string(task->name);
        key.pid = report_has_key(r, REPORT_PID) ? task->tgid : 0;
        key.tid = report_has_key(r, REPORT_TID) ? task->tid : 0;
    }
    key.object = r->mask & (1u << REPORT_DSO | 1u << REPORT_SYM) ?
                 place->object : 0;
    key.symbol = report_has_key(r, REPORT_SYM) ? symbol : NULL;
    key.priv = report_has_key(r, REPORT_PRIV) ? place->priv : 0;
    key.hart = report_has_key(r, REPORT_HART) ? place->hart : 0;
    if (report_needs_source(r->o) && r->o->places) {
        key.source = source_place_find(r->o->places, object, addr);
        if (!report_has_key(r, REPORT_SRCLINE)) {
            key.source.line = 0;
        }
    }
    row = g_hash_table_lookup(r->rows, &key);
    if (!row) {
        row = g_memdup2(&key, sizeof(key));
        g_hash_table_add(r->rows, row);
    }
    return row;
}

typedef struct RangePart {
    Report *r;
    const CountPlace *place;
    uint64_t done;          /* instructions of the range, so far */
} RangePart;

static uint64_t range_weight(const Report *r, const CountRange *range)
{
    return r->o->by_time ? range->ns : range->insns * range->count;
}

/* What the next @insns of the range's have; the sum of all is its weight. */
static uint64_t part_weight(RangePart *p, const CountRange *range,
                            uint64_t insns)
{
    uint64_t done = p->done;

    p->done += insns;
    return !p->r->o->by_time ? insns * range->count :
           share_of(range->ns, p->done, range->insns) -
           share_of(range->ns, done, range->insns);
}

static void add_insns(RangePart *p, const CountRange *range,
                      uint64_t addr, uint64_t insns, const Symbol *symbol)
{
    ReportRow *row = get_row(p->r, p->place, symbol, addr);
    uint64_t weight = part_weight(p, range, insns);

    if (row) {
        row->own += weight;
        p->r->own += weight;
    }
}

static void add_part(void *opaque, const CountRange *range, uint64_t start,
                     uint64_t insns, const Symbol *symbol)
{
    add_insns(opaque, range, start, insns, symbol);
}

/* Each instruction is of a line. */
static void add_lines(RangePart *p, const Object *object,
                      const CountRange *range)
{
    uint64_t lo = 0, hi = 0;
    const Symbol *symbol = NULL;
    RangeWalk w;

    if (!range_walk_begin(&w, object, range)) {
        add_insns(p, range, range->start, range->insns,
                  symbol_at(object, range->start));
        return;
    }
    do {
        if (w.addr < lo || w.addr >= hi) {
            symbol = symbols_find(object->symbols, w.addr, &lo, &hi);
        }
        add_insns(p, range, w.addr, 1, symbol);
    } while (range_walk_next(&w));
}

static void add_ranges(Report *r)
{
    for (guint i = 0; i < r->counts->ranges->len; i++) {
        const CountRange *range = &g_array_index(r->counts->ranges,
                                                 CountRange, i);
        const CountPlace *place = count_place(r->counts, range->place);
        const Object *object = object_get(r->counts->objects, place->object);
        RangePart p = { .r = r, .place = place };

        r->all += range_weight(r, range);
        if (report_needs_source(r->o)) {
            add_lines(&p, object, range);
        } else {
            range_by_function(object, range, add_part, &p);
        }
    }
}

/*
 * A call is whatever leads to a function's beginning, but for jumps within it
 * and for returns: linkage stubs and tail calls jump, and handlers of traps and
 * signals begin without a jump.
 */
static bool is_call(const CountEdge *e, const Object *from, const Object *to,
                    const Symbol *symbol)
{
    if (!symbol || symbol->start != e->to) {
        return false;
    }
    switch (e->itype) {
    case ETRACE_ITYPE_UNINFERABLE_CALL:
    case ETRACE_ITYPE_INFERABLE_CALL:
    case ETRACE_ITYPE_INTERRUPT:
        return true;
    case ETRACE_ITYPE_TRAP_RETURN:
    case ETRACE_ITYPE_RETURN:
    case ETRACE_ITYPE_COROUTINE_SWAP:
        return false;
    default:
        return from != to || symbol_at(from, e->from) != symbol;
    }
}

static void add_calls(Report *r)
{
    for (guint i = 0; i < r->counts->edges->len; i++) {
        const CountEdge *e = &g_array_index(r->counts->edges, CountEdge, i);
        const CountPlace *from = count_place(r->counts, e->from_place);
        const CountPlace *place = count_place(r->counts, e->to_place);
        const Object *to = object_get(r->counts->objects, place->object);
        const Symbol *symbol = symbol_at(to, e->to);
        ReportRow *row;

        if (!is_call(e, object_get(r->counts->objects, from->object), to,
                     symbol)) {
            continue;
        }
        row = get_row(r, place, symbol, e->to);
        if (row) {
            row->calls += e->count;
        }
    }
}

/* What the row of @node's frame stands for is on the stack above it, too. */
static bool is_recursive(const Profile *p, const ProfileNode *node)
{
    const ProfileFrame *frame = profile_frame(p, node->frame), *above;
    const ProfileNode *up = node;

    while (up != profile_node(p, PROFILE_ROOT)) {
        up = profile_node(p, up->parent);
        above = profile_frame(p, up->frame);
        if (above->object == frame->object && above->symbol == frame->symbol) {
            return true;
        }
    }
    return false;
}

/* A row for a function that has run nothing itself; NULL: it is not selected */
static ReportRow *add_caller(Report *r, const ReportRow *key)
{
    const Object *object = object_get(r->counts->objects, key->object);
    ReportRow *row;

    if (r->o->comm || !selected(r->o->dso, object->name) ||
        (!selected(r->o->sym, report_symbol_name(key->symbol)) &&
         !(key->symbol && selected(r->o->sym, key->symbol->linkage)))) {
        return NULL;
    }
    row = g_memdup2(key, sizeof(*key));
    g_hash_table_add(r->rows, row);
    return row;
}

/* Totals of functions, whoever ran them: only if nothing else is a key */
static void add_totals(Report *r, const Profile *p)
{
    for (guint i = 1; i < p->nodes->len; i++) {
        const ProfileNode *n = profile_node(p, i);
        const ProfileFrame *frame = profile_frame(p, n->frame);
        ReportRow key = { 0 }, *row;

        if (!frame->object || !n->total || is_recursive(p, n)) {
            continue;
        }
        key.object = frame->object->id;
        key.symbol = frame->symbol;
        row = g_hash_table_lookup(r->rows, &key) ?: add_caller(r, &key);
        if (row) {
            row->total += n->total;
        }
    }
}

static bool shows_totals(const Report *r, const Profile *p)
{
    return p && report_has_key(r, REPORT_SYM) &&
           !(r->mask & ~(1u << REPORT_SYM | 1u << REPORT_DSO));
}

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Of functions that have one name, as static ones of several files */
static uint64_t symbol_start(const ReportRow *row)
{
    return row->symbol ? row->symbol->start : 0;
}

static gint compare_rows(gconstpointer a, gconstpointer b, gpointer opaque)
{
    const Report *r = opaque;
    const ReportRow *x = *(ReportRow *const *)a, *y = *(ReportRow *const *)b;
    uint64_t m = r->o->by_total ? x->total : x->own;
    uint64_t n = r->o->by_total ? y->total : y->own;
    int d;

    if (m != n) {
        return m > n ? -1 : 1;
    }
    d = g_strcmp0(x->comm, y->comm);
    d = d ? d : (x->tid > y->tid) - (x->tid < y->tid);
    d = d ? d : (x->pid > y->pid) - (x->pid < y->pid);
    d = d ? d : (x->object > y->object) - (x->object < y->object);
    d = d ? d : strcmp(report_symbol_name(x->symbol),
                       report_symbol_name(y->symbol));
    d = d ? d : order(symbol_start(x), symbol_start(y));
    d = d ? d : g_strcmp0(x->source.file, y->source.file);
    d = d ? d : (x->source.line > y->source.line) -
                (x->source.line < y->source.line);
    d = d ? d : (x->priv > y->priv) - (x->priv < y->priv);
    return d ? d : (x->hart > y->hart) - (x->hart < y->hart);
}

/* Rows that are large enough, in order */
static GPtrArray *choose_rows(Report *r, uint64_t *left_out)
{
    GPtrArray *rows = g_ptr_array_new();
    GHashTableIter iter;
    gpointer row;

    g_hash_table_iter_init(&iter, r->rows);
    while (g_hash_table_iter_next(&iter, &row, NULL)) {
        g_ptr_array_add(rows, row);
    }
    g_ptr_array_sort_with_data(rows, compare_rows, r);
    *left_out = 0;
    for (guint i = rows->len; i > 0; i--) {
        const ReportRow *last = rows->pdata[i - 1];
        uint64_t n = r->o->by_total ? last->total : last->own;

        if ((!r->o->max_rows || i <= r->o->max_rows) &&
            report_percent(n, r->all) >= r->o->min_percent &&
            (n || last->total)) {
            break;
        }
        *left_out += last->own;
        g_ptr_array_set_size(rows, i - 1);
    }
    return rows;
}

uint64_t report_write(const Counts *counts, const Profile *profile,
                      const ReportOptions *o, FILE *f)
{
    Report r = {
        .counts = counts,
        .o = o,
        .rows = g_hash_table_new_full(row_hash, row_equal, g_free, NULL),
    };
    GPtrArray *rows;
    uint64_t left_out;
    bool totals;

    for (unsigned i = 0; i < o->nr_keys; i++) {
        r.mask |= 1u << o->keys[i];
    }
    totals = shows_totals(&r, profile);
    add_ranges(&r);
    if (report_has_key(&r, REPORT_SYM)) {
        add_calls(&r);
    }
    if (totals) {
        add_totals(&r, profile);
    }
    rows = choose_rows(&r, &left_out);
    report_write_rows(&r, rows, totals, left_out, f);
    g_ptr_array_unref(rows);
    g_hash_table_unref(r.rows);
    return r.own;
}
