/*
 * Tables for people's eyes and for scripts
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TABLE_H
#define ETRACE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <glib.h>

typedef enum TableFormat {
    TABLE_TEXT,             /* as each view has it */
    TABLE_TSV,              /* a line of names, then values, tabs between */
    TABLE_JSON,
} TableFormat;

/* "text", "tsv" or "json"; returns false if it is none of them. */
bool table_parse_format(const char *text, TableFormat *format);

typedef struct TableColumn {
    const char *name;
    bool number;            /* its cells are numbers as JSON writes them */
} TableColumn;

/*
 * Names are the guest's, and may be anything: the same text as valid UTF-8,
 * plain as text_plain() has it. To be freed with g_free().
 */
char *table_clean(const char *text);

/* One cell more: @n as decimal digits */
void table_add_number(GPtrArray *cells, uint64_t n);

/*
 * What each command writes as JSON is an object that begins like this, with the
 * version of what the manual says of it ("JSON") and its name; its other
 * members and "}" follow.
 */
#define TABLE_SCHEMA    1
void table_begin_json(const char *command, FILE *f);

/*
 * Write rows of @nr_columns cells each, strings that table_clean() could have
 * returned, or NULL for an unknown value ("-", and null in JSON), one row behind
 * the other in @cells. As JSON, it is an array with an object for each row,
 * without a newline behind it. @format is not TABLE_TEXT.
 */
void table_write(const TableColumn *columns, unsigned nr_columns,
                 const GPtrArray *cells, TableFormat format, FILE *f);

#endif /* ETRACE_TABLE_H */
