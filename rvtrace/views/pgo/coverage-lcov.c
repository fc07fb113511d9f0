/*
 * Coverage for lcov and genhtml
 *
 * Of each branch instruction, in the order of their addresses, BRDA has a
 * "block", whose branch 0 is the one that jumps, and 1 the one that goes on.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/pgo/coverage-private.h"

typedef struct Writer {
    FILE *f;                /* NULL: only count */
    CoverageTotals sum;     /* of the file */
    CoverageTotals all;
    GTree *lines;           /* of the file */
    GHashTable *names;      /* of functions of the file that there were */
} Writer;

static void G_GNUC_PRINTF(2, 3) put(const Writer *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (w->f) {
        vfprintf(w->f, fmt, ap);
    }
    va_end(ap);
}

/*
 * Two functions of a file that have the same name, as in headers that several
 * programs read differently, are distinguished by their lines.
 */
static char *unique_name(Writer *w, const CoverageFunction *fn)
{
    char *name = g_hash_table_contains(w->names, fn->name) ?
                 g_strdup_printf("%s.%u", fn->name, fn->line) :
                 g_strdup(fn->name);

    g_hash_table_add(w->names, g_strdup(name));
    return name;
}

typedef struct Nearest {
    unsigned line;
    unsigned before, after;     /* the nearest lines with code; 0: none */
} Nearest;

static int compare_nearest(gconstpointer key, gconstpointer opaque)
{
    Nearest *n = (Nearest *)opaque;
    unsigned line = GPOINTER_TO_UINT(key);

    if (line < n->line) {
        n->before = line;
        return 1;
    }
    n->after = line;
    return line == n->line ? 0 : -1;
}

/*
 * genhtml of lcov 2 refuses a function whose line has no code. Optimised code
 * often begins behind the line that has the name.
 */
static unsigned line_with_code(GTree *lines, unsigned line)
{
    Nearest n = { .line = line };

    g_tree_search(lines, compare_nearest, &n);
    return n.after ? n.after : n.before;
}

static gboolean write_function(gpointer key, gpointer value, gpointer opaque)
{
    const CoverageFunction *fn = value;
    Writer *w = opaque;
    g_autofree char *name = unique_name(w, fn);

    put(w, "FN:%u,%s\n", line_with_code(w->lines, fn->line), name);
    put(w, "FNDA:%" PRIu64 ",%s\n", fn->count, name);
    w->sum.functions++;
    w->sum.functions_hit += fn->count > 0;
    return false;
}

static gboolean write_line(gpointer key, gpointer value, gpointer opaque)
{
    Writer *w = opaque;
    uint64_t count = *(uint64_t *)value;

    put(w, "DA:%u,%" PRIu64 "\n", GPOINTER_TO_UINT(key), count);
    w->sum.lines++;
    w->sum.lines_hit += count > 0;
    return false;
}

/* "-" if the instruction never ran */
static void write_direction(Writer *w, const CoverageBranch *b, unsigned block,
                            unsigned which)
{
    uint64_t count = which ? b->not_taken : b->taken;

    put(w, "BRDA:%u,%u,%u,", b->line, block, which);
    if (b->taken || b->not_taken) {
        put(w, "%" PRIu64 "\n", count);
    } else {
        put(w, "-\n");
    }
    w->sum.branches++;
    w->sum.branches_hit += count > 0;
}

typedef struct Order {
    guint index;
    unsigned line;
} Order;

static int compare_orders(gconstpointer a, gconstpointer b)
{
    const Order *x = a, *y = b;

    if (x->line != y->line) {
        return x->line < y->line ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

static void write_branches(Writer *w, const CoverageFile *file)
{
    g_autofree Order *order = g_new(Order, file->branches->len);
    unsigned block = 0;

    for (guint i = 0; i < file->branches->len; i++) {
        order[i].index = i;
        order[i].line = g_array_index(file->branches, CoverageBranch, i).line;
    }
    if (file->branches->len) {
        qsort(order, file->branches->len, sizeof(order[0]), compare_orders);
    }
    for (guint i = 0; i < file->branches->len; i++) {
        const CoverageBranch *b = &g_array_index(file->branches,
                                                 CoverageBranch,
                                                 order[i].index);

        block = i && order[i - 1].line == b->line ? block + 1 : 0;
        write_direction(w, b, block, 0);
        write_direction(w, b, block, 1);
    }
}

static void add_totals(CoverageTotals *to, const CoverageTotals *from)
{
    to->files++;
    to->lines += from->lines;
    to->lines_hit += from->lines_hit;
    to->functions += from->functions;
    to->functions_hit += from->functions_hit;
    to->branches += from->branches;
    to->branches_hit += from->branches_hit;
}

static gboolean write_file(gpointer key, gpointer value, gpointer opaque)
{
    const CoverageFile *file = value;
    Writer *w = opaque;

    if (!g_tree_nnodes(file->lines)) {
        return false;       /* Only its functions were mentioned. */
    }
    w->sum = (CoverageTotals) { 0 };
    w->lines = file->lines;
    w->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    put(w, "TN:\nSF:%s\n", file->name);
    g_tree_foreach(file->functions, write_function, w);
    put(w, "FNF:%" PRIu64 "\nFNH:%" PRIu64 "\n", w->sum.functions,
        w->sum.functions_hit);
    write_branches(w, file);
    put(w, "BRF:%" PRIu64 "\nBRH:%" PRIu64 "\n", w->sum.branches,
        w->sum.branches_hit);
    g_tree_foreach(file->lines, write_line, w);
    put(w, "LF:%" PRIu64 "\nLH:%" PRIu64 "\nend_of_record\n", w->sum.lines,
        w->sum.lines_hit);
    add_totals(&w->all, &w->sum);
    g_hash_table_unref(w->names);
    return false;
}

void coverage_write_lcov(Coverage *cv, FILE *f)
{
    Writer w = { .f = f };

    g_tree_foreach(cv->files, write_file, &w);
}

void coverage_totals(Coverage *cv, CoverageTotals *totals)
{
    Writer w = { .f = NULL };

    g_tree_foreach(cv->files, write_file, &w);
    *totals = w.all;
}

double coverage_percent(const CoverageTotals *totals)
{
    return totals->lines ? 100.0 * totals->lines_hit / totals->lines : 100;
}
