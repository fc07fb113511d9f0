/*
 * Tables for people's eyes and for scripts
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/text-plain.h"
#include "views/report/table.h"

bool table_parse_format(const char *text, TableFormat *format)
{
    static const char *const names[] = {
        [TABLE_TEXT] = "text",
        [TABLE_TSV] = "tsv",
        [TABLE_JSON] = "json",
    };

    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        if (g_str_equal(text, names[i])) {
            *format = i;
            return true;
        }
    }
    return false;
}

char *table_clean(const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);

    return text_plain_copy(valid);
}

void table_add_number(GPtrArray *cells, uint64_t n)
{
    g_ptr_array_add(cells, g_strdup_printf("%" PRIu64, n));
}

static void write_string(const char *text, FILE *f)
{
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            fputc('\\', f);
        }
        fputc(*text, f);
    }
    fputc('"', f);
}

void table_begin_json(const char *command, FILE *f)
{
    fprintf(f, "{\"schema\": %d, \"command\": \"%s\", ", TABLE_SCHEMA, command);
}

static void write_json(const TableColumn *columns, unsigned nr_columns,
                       const GPtrArray *cells, FILE *f)
{
    fputc('[', f);
    for (guint i = 0; i < cells->len; i++) {
        unsigned k = i % nr_columns;

        fputs(k ? ", " : i ? ",\n  {" : "\n  {", f);
        write_string(columns[k].name, f);
        fputs(": ", f);
        if (!cells->pdata[i]) {
            fputs("null", f);
        } else if (columns[k].number) {
            fputs(cells->pdata[i], f);
        } else {
            write_string(cells->pdata[i], f);
        }
        fputs(k + 1 == nr_columns ? "}" : "", f);
    }
    fputs("\n]", f);
}

void table_write(const TableColumn *columns, unsigned nr_columns,
                 const GPtrArray *cells, TableFormat format, FILE *f)
{
    if (format == TABLE_JSON) {
        write_json(columns, nr_columns, cells, f);
        return;
    }
    for (unsigned k = 0; k < nr_columns; k++) {
        fprintf(f, "%s%s", k ? "\t" : "", columns[k].name);
    }
    for (guint i = 0; i < cells->len; i++) {
        const char *cell = cells->pdata[i];

        fprintf(f, "%c%s", i % nr_columns ? '\t' : '\n', cell ?: "-");
    }
    fputc('\n', f);
}
