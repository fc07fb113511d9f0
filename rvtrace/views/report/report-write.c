/*
 * Reports: rows, as text and for scripts
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/report/report-private.h"
#include "base/trap-text.h"

const char *const report_key_names[REPORT_NR_KEYS] = {
    [REPORT_COMM] = "comm",
    [REPORT_PID] = "pid",
    [REPORT_TID] = "tid",
    [REPORT_DSO] = "dso",
    [REPORT_SYM] = "sym",
    [REPORT_PRIV] = "priv",
    [REPORT_HART] = "hart",
    [REPORT_SRCLINE] = "srcline",
    [REPORT_SRCFILE] = "srcfile",
};

static char *cell(const Report *r, const ReportRow *row, ReportKey key)
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
        return g_strdup(report_symbol_name(row->symbol));
    case REPORT_PRIV:
        return g_strdup(priv_text(row->priv));
    case REPORT_SRCLINE:
        return !row->source.file ? g_strdup("[no line]") :
               g_strdup_printf("%s:%u", row->source.file, row->source.line);
    case REPORT_SRCFILE:
        return g_strdup(row->source.file ? row->source.file : "[no file]");
    default:
        return g_strdup_printf("%u", row->hart);
    }
}

static char *clean_cell(const Report *r, const ReportRow *row, ReportKey key)
{
    g_autofree char *text = cell(r, row, key);

    return table_clean(text);
}

typedef struct Table {
    GPtrArray *cells;       /* nr_keys strings for each row */
    unsigned width[REPORT_NR_KEYS];
} Table;

static void fill_table(const Report *r, GPtrArray *rows, Table *t)
{
    for (unsigned k = 0; k < r->o->nr_keys; k++) {
        t->width[k] = strlen(report_key_names[r->o->keys[k]]);
    }
    for (guint i = 0; i < rows->len; i++) {
        for (unsigned k = 0; k < r->o->nr_keys; k++) {
            char *text = clean_cell(r, rows->pdata[i], r->o->keys[k]);

            t->width[k] = MAX(t->width[k], (size_t)g_utf8_strlen(text, -1));
            g_ptr_array_add(t->cells, text);
        }
    }
}

static const char *unit(const Report *r)
{
    return r->o->by_time ? "ns" : "instructions";
}

static void write_table(const Report *r, GPtrArray *rows, bool totals,
                        FILE *f)
{
    Table t = { .cells = g_ptr_array_new_with_free_func(g_free) };

    fill_table(r, rows, &t);
    fprintf(f, "%7s %16s", "own", unit(r));
    if (totals) {
        fprintf(f, " %7s %16s", "total", unit(r));
    }
    if (report_has_key(r, REPORT_SYM)) {
        fprintf(f, " %12s", "calls");
    }
    for (unsigned k = 0; k < r->o->nr_keys; k++) {
        fprintf(f, "  %-*s", k + 1 < r->o->nr_keys ? (int)t.width[k] : 0,
                report_key_names[r->o->keys[k]]);
    }
    fputc('\n', f);
    for (guint i = 0; i < rows->len; i++) {
        const ReportRow *row = rows->pdata[i];

        fprintf(f, "%6.2f%% %16" PRIu64, report_percent(row->own, r->all),
                row->own);
        if (totals) {
            fprintf(f, " %6.2f%% %16" PRIu64,
                    report_percent(row->total, r->all), row->total);
        }
        if (report_has_key(r, REPORT_SYM)) {
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

static void write_text(const Report *r, GPtrArray *rows, bool totals,
                       uint64_t left_out, FILE *f)
{
    fprintf(f, "# %" PRIu64 " %s", r->all, r->o->by_time ?
            "ns of virtual time, of all harts" : "instructions");
    if (r->o->ran && !r->o->by_time) {
        fprintf(f, " of %" PRIu64 " that ran (%.2f%%)", r->o->ran,
                report_percent(r->all, r->o->ran));
    }
    if (r->own != r->all) {
        fprintf(f, ", of which %" PRIu64 " (%.2f%%) were selected", r->own,
                report_percent(r->own, r->all));
    }
    fprintf(f, "; weights are %s\n", r->o->by_time ? "virtual time" :
                                                   "instructions");
    write_table(r, rows, totals, f);
    if (left_out) {
        fprintf(f, "# %u rows left out: %" PRIu64 " %s (%.2f%%)\n",
                g_hash_table_size(r->rows) - rows->len, left_out, unit(r),
                report_percent(left_out, r->all));
    }
}

/* Functions of one object may have the same name. */
static void add_address(GPtrArray *cells, const Symbol *symbol)
{
    g_ptr_array_add(cells, symbol ?
                    g_strdup_printf("0x%" PRIx64, symbol->start) : NULL);
}

static void write_data(const Report *r, GPtrArray *rows, bool totals, FILE *f)
{
    g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
    TableColumn columns[REPORT_NR_KEYS + 4];
    unsigned n = 0;

    columns[n++] = (TableColumn) { r->o->by_time ? "own_ns" : "own", true };
    if (totals) {
        columns[n++] = (TableColumn) {
            r->o->by_time ? "total_ns" : "total", true
        };
    }
    if (report_has_key(r, REPORT_SYM)) {
        columns[n++] = (TableColumn) { "calls", true };
    }
    for (unsigned k = 0; k < r->o->nr_keys; k++) {
        columns[n++] = (TableColumn) {
            .name = report_key_names[r->o->keys[k]],
        };
    }
    if (report_has_key(r, REPORT_SYM)) {
        columns[n++] = (TableColumn) { "addr" };
    }
    for (guint i = 0; i < rows->len; i++) {
        const ReportRow *row = rows->pdata[i];

        table_add_number(cells, row->own);
        if (totals) {
            table_add_number(cells, row->total);
        }
        if (report_has_key(r, REPORT_SYM)) {
            table_add_number(cells, row->calls);
        }
        for (unsigned k = 0; k < r->o->nr_keys; k++) {
            g_ptr_array_add(cells, clean_cell(r, row, r->o->keys[k]));
        }
        if (report_has_key(r, REPORT_SYM)) {
            add_address(cells, row->symbol);
        }
    }
    if (r->o->format == TABLE_JSON) {
        table_begin_json("report", f);
        fprintf(f, "\"%s\": %" PRIu64 ", \"selected\": %" PRIu64, unit(r),
                r->all, r->own);
        if (r->o->ran && !r->o->by_time) {
            fprintf(f, ", \"ran\": %" PRIu64, r->o->ran);
        }
        fprintf(f, ", \"rows\": ");
    }
    table_write(columns, n, cells, r->o->format, f);
    if (r->o->format == TABLE_JSON) {
        fprintf(f, "}\n");
    }
}

void report_write_rows(const Report *r, GPtrArray *rows, bool totals,
                       uint64_t left_out, FILE *f)
{
    if (r->o->format == TABLE_TEXT) {
        write_text(r, rows, totals, left_out, f);
    } else {
        write_data(r, rows, totals, f);
    }
}
