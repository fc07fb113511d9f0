/*
 * Tables that answer a question: for people's eyes, or for scripts
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SHEET_H
#define ETRACE_SHEET_H

#include "views/questions/follow.h"
#include "views/report/table.h"

/* Rows of cells, one behind the other */
typedef struct Sheet Sheet;

Sheet *sheet_new(TableFormat format);
void sheet_free(Sheet *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sheet, sheet_free)

/* Before any cell: one column more. @name must live as long as @s. */
void sheet_column(Sheet *s, const char *name, bool number);

/*
 * The next cell: a text, which may be anything, or NULL if it is not known; a
 * number; or not known
 */
void sheet_text(Sheet *s, const char *text);
void sheet_number(Sheet *s, uint64_t n);
void sheet_none(Sheet *s);

/* The number of the column, "%.1f" of it, if it is one of per cent */
void sheet_share(Sheet *s, double percent);

/* Three cells: name, process and thread of @task, NULL if it is not known */
void sheet_task_columns(Sheet *s);
void sheet_task(Sheet *s, const Task *task);

/* How many rows there are */
unsigned sheet_rows(const Sheet *s);

/*
 * Write what there is, as text with columns below each other, or as
 * table_write() does.
 */
void sheet_write(const Sheet *s, FILE *f);

/*
 * The same as all that @command writes: as JSON, in an object that has nothing
 * but these rows; see table_begin_json().
 */
void sheet_write_alone(const Sheet *s, const char *command, FILE *f);

/* Of the time that views have: "virtual time, ns" or "instructions" */
const char *sheet_clock(bool virtual_time);

#endif /* ETRACE_SHEET_H */
