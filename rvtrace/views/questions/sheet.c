/*
 * Tables that answer a question: for people's eyes, or for scripts
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/questions/sheet.h"

struct Sheet {
    TableFormat format;
    GArray *columns;            /* TableColumn */
    GPtrArray *cells;           /* char * */
};

Sheet *sheet_new(TableFormat format)
{
    Sheet *s = g_new0(Sheet, 1);

    s->format = format;
    s->columns = g_array_new(false, false, sizeof(TableColumn));
    s->cells = g_ptr_array_new_with_free_func(g_free);
    return s;
}

void sheet_free(Sheet *s)
{
    g_array_unref(s->columns);
    g_ptr_array_unref(s->cells);
    g_free(s);
}

void sheet_column(Sheet *s, const char *name, bool number)
{
    TableColumn column = { name, number };

    g_array_append_val(s->columns, column);
}

void sheet_text(Sheet *s, const char *text)
{
    g_ptr_array_add(s->cells, text ? table_clean(text) : NULL);
}

void sheet_number(Sheet *s, uint64_t n)
{
    g_ptr_array_add(s->cells, g_strdup_printf("%" PRIu64, n));
}

void sheet_none(Sheet *s)
{
    g_ptr_array_add(s->cells, NULL);
}

void sheet_share(Sheet *s, double percent)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    g_ptr_array_add(s->cells, g_strdup(g_ascii_formatd(text, sizeof(text),
                                                       "%.1f", percent)));
}

void sheet_task_columns(Sheet *s)
{
    sheet_column(s, "comm", false);
    sheet_column(s, "pid", true);
    sheet_column(s, "tid", true);
}

void sheet_task(Sheet *s, const Task *task)
{
    sheet_text(s, task ? task->name : NULL);
    if (task && task_is_known(task)) {
        sheet_number(s, task->tgid);
        sheet_number(s, task->tid);
    } else {
        sheet_none(s);
        sheet_none(s);
    }
}

unsigned sheet_rows(const Sheet *s)
{
    return s->cells->len / s->columns->len;
}

static const TableColumn *column(const Sheet *s, unsigned i)
{
    return &g_array_index(s->columns, TableColumn, i);
}

static const char *cell(const Sheet *s, unsigned row, unsigned i)
{
    const char *text = s->cells->pdata[row * s->columns->len + i];

    return text ?: "-";
}

static void write_cell(const char *text, unsigned width, bool number,
                       bool last, FILE *f)
{
    int pad = width - g_utf8_strlen(text, -1);

    if (number) {
        fprintf(f, "%*s%s", pad, "", text);
    } else {
        fprintf(f, "%s%*s", text, last ? 0 : pad, "");
    }
    fputs(last ? "\n" : "  ", f);
}

static void write_text(const Sheet *s, FILE *f)
{
    unsigned n = s->columns->len, rows = sheet_rows(s);
    g_autofree unsigned *widths = g_new0(unsigned, n);

    for (unsigned i = 0; i < n; i++) {
        widths[i] = strlen(column(s, i)->name);
        for (unsigned row = 0; row < rows; row++) {
            widths[i] = MAX(widths[i], g_utf8_strlen(cell(s, row, i), -1));
        }
    }
    for (unsigned i = 0; i < n; i++) {
        write_cell(column(s, i)->name, widths[i], column(s, i)->number,
                   i + 1 == n, f);
    }
    for (unsigned row = 0; row < rows; row++) {
        for (unsigned i = 0; i < n; i++) {
            write_cell(cell(s, row, i), widths[i], column(s, i)->number,
                       i + 1 == n, f);
        }
    }
}

void sheet_write(const Sheet *s, FILE *f)
{
    if (s->format == TABLE_TEXT) {
        write_text(s, f);
    } else {
        table_write((const TableColumn *)s->columns->data, s->columns->len,
                    s->cells, s->format, f);
    }
}

void sheet_write_alone(const Sheet *s, const char *command, FILE *f)
{
    bool json = s->format == TABLE_JSON;

    if (json) {
        table_begin_json(command, f);
        fputs("\"rows\": ", f);
    }
    sheet_write(s, f);
    fputs(json ? "}\n" : "", f);
}

const char *sheet_clock(bool virtual_time)
{
    return virtual_time ? "virtual time, ns" : "instructions";
}
