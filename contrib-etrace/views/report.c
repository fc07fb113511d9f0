/*
 * Reports: where the instructions went, as text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "report.h"
#include "trap-text.h"

/* What a row is told apart by; only what is a key is filled in. */
typedef struct Row {
    const char *comm;       /* interned strings: compared by pointer */
    uint32_t pid, tid;
    unsigned object;
    const Symbol *symbol;
    uint8_t priv;
    unsigned hart;
    /* sums */
    uint64_t own, total, calls;
} Row;

typedef struct Report {
    const Counts *counts;
    const ReportOptions *o;
    unsigned mask;          /* a bit for each key */
    GHashTable *rows;       /* Row */
    uint64_t own;           /* of all that is shown */
    uint64_t all;           /* of everything */
} Report;

static const char *const key_names[REPORT_NR_KEYS] = {
    [REPORT_COMM] = "comm",
    [REPORT_PID] = "pid",
    [REPORT_TID] = "tid",
    [REPORT_DSO] = "dso",
    [REPORT_SYM] = "sym",
    [REPORT_PRIV] = "priv",
    [REPORT_HART] = "hart",
};

bool report_parse_keys(const char *text, ReportOptions *o)
{
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    unsigned seen = 0;

    o->nr_keys = 0;
    for (char **w = words; *w; w++) {
        unsigned i = 0;

        while (i < REPORT_NR_KEYS && !g_str_equal(*w, key_names[i])) {
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

static guint row_hash(gconstpointer key)
{
    const Row *r = key;
    uint64_t h = (uintptr_t)r->comm ^ (uintptr_t)r->symbol << 7;

    h = (h ^ r->object ^ (uint64_t)r->pid << 32 ^ r->tid) *
        0x9e3779b97f4a7c15ull;
    return (h >> 32) + r->priv + r->hart * 8;
}

static gboolean row_equal(gconstpointer a, gconstpointer b)
{
    const Row *x = a, *y = b;

    return x->comm == y->comm && x->pid == y->pid && x->tid == y->tid &&
           x->object == y->object && x->symbol == y->symbol &&
           x->priv == y->priv && x->hart == y->hart;
}

static bool has_key(const Report *r, ReportKey key)
{
    return r->mask >> key & 1;
}

static const Symbol *symbol_at(const Object *object, uint64_t addr)
{
    return symbols_find(object->symbols, addr, NULL, NULL);
}

static bool selected(const char *glob, const char *text)
{
    return !glob || g_pattern_match_simple(glob, text);
}

static const char *symbol_name(const Symbol *symbol)
{
    return symbol ? symbol->name : "[no symbol]";
}

static Row *get_row(Report *r, const CountPlace *place, const Symbol *symbol)
{
    const Object *object = object_get(r->counts->objects, place->object);
    const Task *task = task_get(r->counts->tasks, place->task);
    Row key = { 0 }, *row;

    if (!selected(r->o->comm, task->name) ||
        !selected(r->o->dso, object->name) ||
        !selected(r->o->sym, symbol_name(symbol))) {
        return NULL;
    }
    if (r->mask & (1u << REPORT_COMM | 1u << REPORT_PID | 1u << REPORT_TID)) {
        key.comm = g_intern_string(task->name);
    }
    key.pid = has_key(r, REPORT_PID) ? task->tgid : 0;
    key.tid = has_key(r, REPORT_TID) ? task->tid : 0;
    key.object = has_key(r, REPORT_DSO) || has_key(r, REPORT_SYM) ?
                 place->object : 0;
    key.symbol = has_key(r, REPORT_SYM) ? symbol : NULL;
    key.priv = has_key(r, REPORT_PRIV) ? place->priv : 0;
    key.hart = has_key(r, REPORT_HART) ? place->hart : 0;
    row = g_hash_table_lookup(r->rows, &key);
    if (!row) {
        row = g_memdup2(&key, sizeof(key));
        g_hash_table_add(r->rows, row);
    }
    return row;
}

/*
 * A range seldom extends over two functions: only where one runs into the
 * next. Then it counts for the one in which it begins.
 */
static void add_ranges(Report *r)
{
    for (guint i = 0; i < r->counts->ranges->len; i++) {
        const CountRange *range = &g_array_index(r->counts->ranges,
                                                 CountRange, i);
        const CountPlace *place = count_place(r->counts, range->place);
        const Object *object = object_get(r->counts->objects, place->object);
        uint64_t insns = range->insns * range->count;
        Row *row = get_row(r, place, symbol_at(object, range->start));

        r->all += insns;
        if (row) {
            row->own += insns;
            r->own += insns;
        }
    }
}

/*
 * A call is whatever leads to a function's beginning, but for jumps within it
 * and for returns: linkage stubs and tail calls jump.
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
        Row *row;

        if (is_call(e, object_get(r->counts->objects, from->object), to,
                    symbol) && (row = get_row(r, place, symbol))) {
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

/* Totals of functions, whoever ran them: only if nothing else is a key */
static void add_totals(Report *r, const Profile *p)
{
    for (guint i = 1; i < p->nodes->len; i++) {
        const ProfileNode *n = profile_node(p, i);
        const ProfileFrame *frame = profile_frame(p, n->frame);
        Row key = { 0 }, *row;

        if (!frame->object || !n->total || is_recursive(p, n)) {
            continue;
        }
        key.object = frame->object->id;
        key.symbol = frame->symbol;
        row = g_hash_table_lookup(r->rows, &key);
        if (row) {
            row->total += n->total;
        }
    }
}

static bool shows_totals(const Report *r, const Profile *p)
{
    return p && has_key(r, REPORT_SYM) &&
           !(r->mask & ~(1u << REPORT_SYM | 1u << REPORT_DSO));
}

static gint compare_rows(gconstpointer a, gconstpointer b, gpointer opaque)
{
    const Report *r = opaque;
    const Row *x = *(Row *const *)a, *y = *(Row *const *)b;
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
    d = d ? d : strcmp(symbol_name(x->symbol), symbol_name(y->symbol));
    d = d ? d : (x->priv > y->priv) - (x->priv < y->priv);
    return d ? d : (x->hart > y->hart) - (x->hart < y->hart);
}

static char *cell(const Report *r, const Row *row, ReportKey key)
{
    switch (key) {
    case REPORT_COMM:
        return g_strdup(row->comm);
    case REPORT_PID:
        return row->pid >= TASK_MADE_UP ? g_strdup(row->comm) :
               g_strdup_printf("%u:%s", row->pid, row->comm);
    case REPORT_TID:
        return row->tid >= TASK_MADE_UP ? g_strdup(row->comm) :
               g_strdup_printf("%u:%s", row->tid, row->comm);
    case REPORT_DSO:
        return g_strdup(object_get(r->counts->objects, row->object)->name);
    case REPORT_SYM:
        return g_strdup(symbol_name(row->symbol));
    case REPORT_PRIV:
        return g_strdup(priv_text(row->priv));
    default:
        return g_strdup_printf("%u", row->hart);
    }
}

/* Names are the guest's: what is no printable character is shown as one. */
static void clean(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f) {
            *text = '?';
        }
    }
}

typedef struct Table {
    GPtrArray *cells;       /* nr_keys strings for each row */
    unsigned width[REPORT_NR_KEYS];
} Table;

static void fill_table(const Report *r, GPtrArray *rows, Table *t)
{
    for (unsigned k = 0; k < r->o->nr_keys; k++) {
        t->width[k] = strlen(key_names[r->o->keys[k]]);
    }
    for (guint i = 0; i < rows->len; i++) {
        for (unsigned k = 0; k < r->o->nr_keys; k++) {
            char *text = cell(r, rows->pdata[i], r->o->keys[k]);

            clean(text);
            t->width[k] = MAX(t->width[k], g_utf8_strlen(text, -1));
            g_ptr_array_add(t->cells, text);
        }
    }
}

static double percent(uint64_t part, uint64_t all)
{
    return all ? 100.0 * part / all : 0;
}

static void write_table(const Report *r, GPtrArray *rows, bool totals,
                        FILE *f)
{
    Table t = { .cells = g_ptr_array_new_with_free_func(g_free) };

    fill_table(r, rows, &t);
    fprintf(f, "%7s %16s", "own", "instructions");
    if (totals) {
        fprintf(f, " %7s %16s", "total", "instructions");
    }
    if (has_key(r, REPORT_SYM)) {
        fprintf(f, " %12s", "calls");
    }
    for (unsigned k = 0; k < r->o->nr_keys; k++) {
        fprintf(f, "  %-*s", k + 1 < r->o->nr_keys ? (int)t.width[k] : 0,
                key_names[r->o->keys[k]]);
    }
    fputc('\n', f);
    for (guint i = 0; i < rows->len; i++) {
        const Row *row = rows->pdata[i];

        fprintf(f, "%6.2f%% %16" PRIu64, percent(row->own, r->all), row->own);
        if (totals) {
            fprintf(f, " %6.2f%% %16" PRIu64, percent(row->total, r->all),
                    row->total);
        }
        if (has_key(r, REPORT_SYM)) {
            fprintf(f, " %12" PRIu64, row->calls);
        }
        for (unsigned k = 0; k < r->o->nr_keys; k++) {
            fprintf(f, "  %-*s",
                    k + 1 < r->o->nr_keys ? (int)t.width[k] : 0,
                    (char *)t.cells->pdata[i * r->o->nr_keys + k]);
        }
        fputc('\n', f);
    }
    g_ptr_array_unref(t.cells);
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
        const Row *last = rows->pdata[i - 1];
        uint64_t n = r->o->by_total ? last->total : last->own;

        if ((!r->o->max_rows || i <= r->o->max_rows) &&
            percent(n, r->all) >= r->o->min_percent && n) {
            break;
        }
        *left_out += last->own;
        g_ptr_array_set_size(rows, i - 1);
    }
    return rows;
}

void report_write(const Counts *counts, const Profile *profile,
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
    if (has_key(&r, REPORT_SYM)) {
        add_calls(&r);
    }
    if (totals) {
        add_totals(&r, profile);
    }
    rows = choose_rows(&r, &left_out);
    fprintf(f, "# %" PRIu64 " instructions", r.all);
    if (r.own != r.all) {
        fprintf(f, ", of which %" PRIu64 " (%.2f%%) were selected", r.own,
                percent(r.own, r.all));
    }
    fprintf(f, "; weights are instructions\n");
    write_table(&r, rows, totals, f);
    if (left_out) {
        fprintf(f, "# %u rows left out: %" PRIu64 " instructions (%.2f%%)\n",
                g_hash_table_size(r.rows) - rows->len, left_out,
                percent(left_out, r.all));
    }
    g_ptr_array_unref(rows);
    g_hash_table_unref(r.rows);
}
