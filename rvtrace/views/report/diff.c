/*
 * What differs between two reports
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "views/report/saved-report.h"

typedef struct DiffRow {
    char *key;              /* its cells, tabs between */
    uint64_t own[2];
} DiffRow;

typedef struct Diff {
    const SavedReport *reports[2];
    const DiffOptions *o;
    GStrv keys;
    GHashTable *rows;       /* DiffRow */
} Diff;

static void row_free(gpointer opaque)
{
    DiffRow *row = opaque;

    g_free(row->key);
    g_free(row);
}

/* The keys of a report, in its order */
static GStrv keys_of(const SavedReport *report)
{
    g_autoptr(GPtrArray) keys = g_ptr_array_new();

    for (unsigned k = 0; k < report->nr_columns; k++) {
        if (saved_report_is_key(report->columns[k])) {
            g_ptr_array_add(keys, report->columns[k]);
        }
    }
    g_ptr_array_add(keys, NULL);
    return g_strdupv((char **)keys->pdata);
}

static bool check_weights(const Diff *d, GError **errp)
{
    if (d->reports[0]->by_time != d->reports[1]->by_time) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "one report has ns, the other one instructions: make "
                    "both with the same --weight");
        return false;
    }
    return true;
}

static bool check_keys(const Diff *d, GError **errp)
{
    if (!*d->keys) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "the list of what distinguishes rows is empty");
        return false;
    }
    for (char **key = d->keys; *key; key++) {
        for (unsigned i = 0; i < 2; i++) {
            if (!saved_report_is_key(*key) ||
                saved_report_column(d->reports[i], *key) < 0) {
                g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                            "%s: '%s' does not distinguish its rows; "
                            "make both reports with the same --sort, or name "
                            "what they have in common",
                            d->reports[i]->name, *key);
                return false;
            }
        }
    }
    return true;
}

static void add_report(Diff *d, unsigned i)
{
    const SavedReport *report = d->reports[i];
    unsigned n = g_strv_length(d->keys);
    g_autofree char **cells = g_new0(char *, n + 1);

    for (guint r = 0; r < report->rows->len; r++) {
        const GStrv all = report->rows->pdata[r];
        g_autofree char *key = NULL;
        DiffRow *row;

        for (unsigned k = 0; k < n; k++) {
            cells[k] = all[saved_report_column(report, d->keys[k])];
        }
        key = g_strjoinv("\t", cells);
        row = g_hash_table_lookup(d->rows, key);
        if (!row) {
            row = g_new0(DiffRow, 1);
            row->key = g_steal_pointer(&key);
            g_hash_table_insert(d->rows, row->key, row);
        }
        row->own[i] += g_array_index(report->owns, uint64_t, r);
    }
}

static uint64_t distance(const DiffRow *row)
{
    return row->own[0] > row->own[1] ? row->own[0] - row->own[1]
                                     : row->own[1] - row->own[0];
}

static char sign(uint64_t a, uint64_t b)
{
    return a > b ? '-' : '+';
}

static gint compare_rows(gconstpointer a, gconstpointer b)
{
    const DiffRow *x = *(DiffRow *const *)a, *y = *(DiffRow *const *)b;

    if (distance(x) != distance(y)) {
        return distance(x) > distance(y) ? -1 : 1;
    }
    if (x->own[0] != y->own[0]) {
        return x->own[0] > y->own[0] ? -1 : 1;
    }
    return strcmp(x->key, y->key);
}

static double percent(uint64_t part, uint64_t all)
{
    return all ? 100.0 * part / all : 0;
}

static GPtrArray *choose_rows(const Diff *d)
{
    uint64_t all = MAX(d->reports[0]->own, d->reports[1]->own);
    GPtrArray *rows = g_ptr_array_new();
    GHashTableIter iter;
    gpointer row;

    g_hash_table_iter_init(&iter, d->rows);
    while (g_hash_table_iter_next(&iter, NULL, &row)) {
        g_ptr_array_add(rows, row);
    }
    g_ptr_array_sort(rows, compare_rows);
    if (d->o->max_rows && rows->len > d->o->max_rows) {
        g_ptr_array_set_size(rows, d->o->max_rows);
    }
    while (rows->len &&
           percent(distance(rows->pdata[rows->len - 1]), all) <
           d->o->min_percent) {
        g_ptr_array_set_size(rows, rows->len - 1);
    }
    return rows;
}

/* How much more or less @b is than @a */
static char *change(uint64_t a, uint64_t b)
{
    DiffRow row = { .own = { a, b } };

    return !a ? g_strdup(b ? "new" : "") : !b ? g_strdup("gone") :
           g_strdup_printf("%c%.2f%%", sign(a, b), percent(distance(&row), a));
}

static char *signed_distance(const DiffRow *row)
{
    return g_strdup_printf("%s%" PRIu64,
                           row->own[0] > row->own[1] ? "-" : "",
                           distance(row));
}

/* Columns are as wide as what is in them, but for the last one. */
static void write_keys(char **cells, const unsigned *widths, FILE *f)
{
    for (unsigned k = 0; cells[k]; k++) {
        fprintf(f, "  %s", cells[k]);
        if (cells[k + 1]) {
            fprintf(f, "%*s", (int)(widths[k] - g_utf8_strlen(cells[k], -1)),
                    "");
        }
    }
    fputc('\n', f);
}

static GStrv cells_of(const DiffRow *row)
{
    GStrv cells = g_strsplit(row->key, "\t", -1);

    for (char **cell = cells; *cell; cell++) {
        g_autofree char *text = *cell;

        *cell = table_clean(text);
    }
    return cells;
}

static const char *unit(const Diff *d)
{
    return d->reports[0]->by_time ? "ns" : "instructions";
}

static void write_text(const Diff *d, GPtrArray *rows, FILE *f)
{
    uint64_t a = d->reports[0]->own, b = d->reports[1]->own;
    g_autofree unsigned *widths = g_new(unsigned, g_strv_length(d->keys));
    g_autofree char *all = change(a, b);

    for (unsigned k = 0; d->keys[k]; k++) {
        widths[k] = g_utf8_strlen(d->keys[k], -1);
    }
    for (guint i = 0; i < rows->len; i++) {
        g_auto(GStrv) cells = cells_of(rows->pdata[i]);

        for (unsigned k = 0; cells[k]; k++) {
            widths[k] = MAX(widths[k], (size_t)g_utf8_strlen(cells[k], -1));
        }
    }
    fprintf(f, "# A: %s: %" PRIu64 " %s\n", d->reports[0]->name, a, unit(d));
    fprintf(f, "# B: %s: %" PRIu64 " %s%s%s\n", d->reports[1]->name, b,
            unit(d), *all ? ", " : "", all);
    fprintf(f, "%16s %16s %17s %9s %7s %7s", "A", "B", "B - A", "change",
            "of A", "of B");
    write_keys(d->keys, widths, f);
    for (guint i = 0; i < rows->len; i++) {
        const DiffRow *row = rows->pdata[i];
        g_auto(GStrv) cells = cells_of(row);
        g_autofree char *more = signed_distance(row);
        g_autofree char *by = change(row->own[0], row->own[1]);

        fprintf(f, "%16" PRIu64 " %16" PRIu64 " %17s %9s %6.2f%% %6.2f%%",
                row->own[0], row->own[1], more, by, percent(row->own[0], a),
                percent(row->own[1], b));
        write_keys(cells, widths, f);
    }
    if (g_hash_table_size(d->rows) > rows->len) {
        fprintf(f, "# %u rows left out, which differ less or not at all\n",
                g_hash_table_size(d->rows) - rows->len);
    }
}

static void write_data(const Diff *d, GPtrArray *rows, FILE *f)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
    unsigned nr_keys = g_strv_length(d->keys);
    g_autofree TableColumn *columns = g_new0(TableColumn, 3 + nr_keys);

    columns[0] = (TableColumn) { "own_a", true };
    columns[1] = (TableColumn) { "own_b", true };
    columns[2] = (TableColumn) { "difference", true };
    for (unsigned k = 0; k < nr_keys; k++) {
        columns[3 + k].name = d->keys[k];
    }
    for (guint i = 0; i < rows->len; i++) {
        const DiffRow *row = rows->pdata[i];
        g_auto(GStrv) cells = cells_of(row);

        for (unsigned k = 0; k < 2; k++) {
            table_add_number(all, row->own[k]);
        }
        g_ptr_array_add(all, signed_distance(row));
        for (unsigned k = 0; k < nr_keys; k++) {
            g_ptr_array_add(all, g_strdup(cells[k]));
        }
    }
    if (d->o->format == TABLE_JSON) {
        table_begin_json("diff", f);
        fprintf(f, "\"%s_a\": %" PRIu64 ", \"%s_b\": %" PRIu64
                ", \"rows\": ", unit(d), d->reports[0]->own, unit(d),
                d->reports[1]->own);
    }
    table_write(columns, 3 + nr_keys, all, d->o->format, f);
    if (d->o->format == TABLE_JSON) {
        fprintf(f, "}\n");
    }
}

bool diff_write(const SavedReport *a, const SavedReport *b,
                const DiffOptions *o, FILE *f, GError **errp)
{
    g_auto(GStrv) keys = o->sort ? g_strsplit(o->sort, ",", -1) : keys_of(a);
    g_autoptr(GHashTable) rows = g_hash_table_new_full(g_str_hash,
                                                       g_str_equal, NULL,
                                                       row_free);
    g_autoptr(GPtrArray) list = NULL;
    Diff d = { .reports = { a, b }, .o = o, .keys = keys, .rows = rows };

    if (!check_weights(&d, errp) || !check_keys(&d, errp)) {
        return false;
    }
    add_report(&d, 0);
    add_report(&d, 1);
    list = choose_rows(&d);
    if (o->format == TABLE_TEXT) {
        write_text(&d, list, f);
    } else {
        write_data(&d, list, f);
    }
    return true;
}
