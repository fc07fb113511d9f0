/*
 * Annotated code: how often each instruction of a function ran
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/report/annotate-private.h"
#include "views/report/range-walk.h"

typedef struct Annotation {
    const Counts *counts;
    const AnnotateOptions *o;
    GHashTable *functions;  /* AnnotatedFunction, by its symbol */
    const Object *object;   /* of the range that is being looked at */
} Annotation;

static void function_free(gpointer opaque)
{
    AnnotatedFunction *fn = opaque;

    g_hash_table_unref(fn->insns);
    g_ptr_array_unref(fn->edges);
    g_free(fn);
}

static bool selected(const char *glob, const char *text)
{
    return !glob || g_pattern_match_simple(glob, text);
}

static bool selected_place(const Annotation *a, const CountPlace *place)
{
    const Object *object = object_get(a->counts->objects, place->object);

    return selected(a->o->dso, object->name) &&
           (!a->o->comm ||
            selected(a->o->comm,
                     task_get(a->counts->tasks, place->task)->name));
}

static AnnotatedFunction *find_function(const Annotation *a,
                                        const Symbol *symbol)
{
    return g_hash_table_lookup(a->functions, symbol);
}

/* How much of which functions ran */
static void add_part(void *opaque, const CountRange *range, uint64_t start,
                     uint64_t insns, const Symbol *symbol)
{
    Annotation *a = opaque;
    AnnotatedFunction *fn;

    if (!symbol || !range->count || (!selected(a->o->sym, symbol->name) &&
                                      !selected(a->o->sym,
                                                symbol->linkage))) {
        return;
    }
    fn = find_function(a, symbol);
    if (!fn) {
        fn = g_new0(AnnotatedFunction, 1);
        fn->object = a->object;
        fn->symbol = symbol;
        fn->insns = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL,
                                          g_free);
        fn->edges = g_ptr_array_new();
        g_hash_table_insert(a->functions, (gpointer)symbol, fn);
    }
    fn->own += insns * range->count;
}

static void add_functions(Annotation *a)
{
    for (guint i = 0; i < a->counts->ranges->len; i++) {
        const CountRange *range = &g_array_index(a->counts->ranges,
                                                 CountRange, i);
        const CountPlace *place = count_place(a->counts, range->place);

        if (selected_place(a, place)) {
            a->object = object_get(a->counts->objects, place->object);
            range_by_function(a->object, range, add_part, a);
        }
    }
}

static gint compare_functions(gconstpointer a, gconstpointer b)
{
    const AnnotatedFunction *x = *(AnnotatedFunction *const *)a;
    const AnnotatedFunction *y = *(AnnotatedFunction *const *)b;
    int d;

    if (x->own != y->own) {
        return x->own > y->own ? -1 : 1;
    }
    d = (x->object->id > y->object->id) - (x->object->id < y->object->id);
    d = d ? d : strcmp(x->symbol->name, y->symbol->name);
    return d ? d : (x->symbol->start > y->symbol->start) -
                   (x->symbol->start < y->symbol->start);
}

/* Those that are to be written, in order; the others are forgotten. */
static GPtrArray *choose_functions(Annotation *a, uint64_t all)
{
    GPtrArray *list = g_ptr_array_new();
    GHashTableIter iter;
    gpointer fn;

    g_hash_table_iter_init(&iter, a->functions);
    while (g_hash_table_iter_next(&iter, NULL, &fn)) {
        g_ptr_array_add(list, fn);
    }
    g_ptr_array_sort(list, compare_functions);
    for (guint i = list->len; i > 0; i--) {
        const AnnotatedFunction *last = list->pdata[i - 1];

        if ((!a->o->max_functions || i <= a->o->max_functions) &&
            100.0 * last->own / all >= a->o->min_percent) {
            break;
        }
        g_ptr_array_set_size(list, i - 1);
        g_hash_table_remove(a->functions, last->symbol);
    }
    return list;
}

static AnnotatedInsn *get_insn(AnnotatedFunction *fn, uint64_t addr)
{
    AnnotatedInsn *insn = g_hash_table_lookup(fn->insns, &addr);

    if (!insn) {
        insn = g_new0(AnnotatedInsn, 1);
        insn->addr = addr;
        g_hash_table_insert(fn->insns, &insn->addr, insn);
    }
    return insn;
}

/* How @range's last instruction, which is of @fn, was left */
static void add_end(AnnotatedFunction *fn, const CountRange *range)
{
    AnnotatedInsn *insn = get_insn(fn, range->last);

    switch (range->itype) {
    case ETRACE_ITYPE_TAKEN_BRANCH:
        insn->taken += range->count;
        break;
    case ETRACE_ITYPE_NONTAKEN_BRANCH:
        insn->not_taken += range->count;
        break;
    case ETRACE_ITYPE_EXCEPTION:
        insn->exceptions += range->count;
        break;
    case ETRACE_ITYPE_INTERRUPT:
        insn->interrupts += range->count;
        break;
    }
}

static void add_insns(Annotation *a, const Object *object,
                      const CountRange *range)
{
    uint64_t lo, hi;
    const Symbol *symbol = symbols_find(object->symbols, range->start, &lo,
                                        &hi);
    AnnotatedFunction *fn = symbol ? find_function(a, symbol) : NULL;
    RangeWalk w;

    if (!fn && range->last < hi) {
        return;
    }
    if (!range_walk_begin(&w, object, range)) {
        if (fn) {
            fn->elsewhere += range->insns * range->count;
        }
        return;
    }
    do {
        if (w.addr >= hi) {
            symbol = symbols_find(object->symbols, w.addr, &lo, &hi);
            fn = symbol ? find_function(a, symbol) : NULL;
        }
        if (fn) {
            get_insn(fn, w.addr)->count += range->count;
        }
    } while (range_walk_next(&w));
    if (fn) {
        add_end(fn, range);
    }
}

/* What is known of the instructions of the functions that were chosen */
static void add_details(Annotation *a)
{
    for (guint i = 0; i < a->counts->ranges->len; i++) {
        const CountRange *range = &g_array_index(a->counts->ranges,
                                                 CountRange, i);
        const CountPlace *place = count_place(a->counts, range->place);

        if (range->count && selected_place(a, place)) {
            add_insns(a, object_get(a->counts->objects, place->object),
                      range);
        }
    }
    for (guint i = 0; i < a->counts->edges->len; i++) {
        const CountEdge *edge = &g_array_index(a->counts->edges, CountEdge, i);
        const CountPlace *from = count_place(a->counts, edge->from_place);
        const Object *object = object_get(a->counts->objects, from->object);
        const Symbol *symbol = symbols_find(object->symbols, edge->from, NULL,
                                            NULL);
        AnnotatedFunction *fn = symbol ? find_function(a, symbol) : NULL;

        if (fn && edge->count && edge->itype != ETRACE_ITYPE_INTERRUPT &&
            selected_place(a, from)) {
            g_ptr_array_add(fn->edges, (gpointer)edge);
        }
    }
}

unsigned annotate_functions(const Counts *counts, const AnnotateOptions *o,
                            AnnotateFn *fn, void *opaque)
{
    g_autoptr(GPtrArray) list = NULL;
    unsigned selected;
    Annotation a = {
        .counts = counts,
        .o = o,
        .functions = g_hash_table_new_full(NULL, NULL, NULL, function_free),
    };

    add_functions(&a);
    selected = g_hash_table_size(a.functions);
    list = choose_functions(&a, counts_insns(counts));
    add_details(&a);
    for (guint i = 0; i < list->len; i++) {
        fn(opaque, list->pdata[i]);
    }
    g_hash_table_unref(a.functions);
    return selected;
}

/* annotate_write() */
typedef struct Text {
    AnnotateTable *table;   /* or NULL */
    const Counts *counts;
    const AnnotateOptions *o;
    uint64_t all;
    FILE *f;
    unsigned functions, written;
    uint64_t left_out;
} Text;

static void write_function(void *opaque, const AnnotatedFunction *fn)
{
    Text *t = opaque;
    bool known;

    if (t->table) {
        known = annotate_table_add(t->table, fn);
    } else {
        fputs(t->functions++ ? "\n" : "", t->f);
        known = annotate_write_function(t->counts, fn, t->o, t->all, t->f);
    }
    t->written += known;
    t->left_out += known ? fn->elsewhere : fn->own;
}

AnnotateResult annotate_write(const Counts *counts, const AnnotateOptions *o,
                              FILE *f)
{
    Text t = {
        .counts = counts, .o = o, .all = counts_insns(counts), .f = f,
        .table = o->format != TABLE_TEXT ? annotate_table_new(counts, o) :
                                           NULL,
    };
    unsigned selected = annotate_functions(counts, o, write_function, &t);

    if (t.table) {
        annotate_table_end(t.table, t.left_out, f);
    }
    return (AnnotateResult) {
        .functions = selected,
        .written = t.written,
        .left_out = t.left_out,
    };
}
