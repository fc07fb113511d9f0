/*
 * Reports that were saved
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "base/text-plain.h"
#include "views/report/saved-report.h"
#include "views/report/table.h"

/* More than a report has */
#define MAX_COLUMNS 32

void saved_report_free(SavedReport *report)
{
    g_free(report->name);
    g_strfreev(report->columns);
    g_ptr_array_unref(report->rows);
    g_array_unref(report->owns);
    g_free(report);
}

bool saved_report_is_key(const char *column)
{
    /* Where a function is, is another matter in each build. */
    static const char *const others[] = {
        "own", "own_ns", "total", "total_ns", "calls", "addr", NULL
    };

    return !g_strv_contains(others, column);
}

int saved_report_column(const SavedReport *report, const char *name)
{
    for (unsigned k = 0; k < report->nr_columns; k++) {
        if (g_str_equal(report->columns[k], name)) {
            return k;
        }
    }
    return -1;
}

static bool fail(GError **errp, const SavedReport *report, unsigned line,
                 const char *what)
{
    g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s, line %u: %s",
                report->name, line, what);
    return false;
}

/*
 * The cells of a line. No report of ours has control characters; this may be
 * another's.
 */
static GStrv split(const char *text, unsigned most)
{
    GStrv cells = g_strsplit(text, "\t", most);

    for (char **cell = cells; *cell; cell++) {
        char *clean = table_clean(text_plain(*cell));

        g_free(*cell);
        *cell = clean;
    }
    return cells;
}

static bool set_columns(SavedReport *report, const char *text, GError **errp)
{
    char **columns = split(text, MAX_COLUMNS + 1);
    bool keys = false;
    int own;

    report->columns = columns;
    report->nr_columns = g_strv_length(columns);
    own = saved_report_column(report, "own_ns");
    report->by_time = own >= 0;
    if (!report->by_time) {
        own = saved_report_column(report, "own");
    }
    for (unsigned k = 0; k < report->nr_columns; k++) {
        keys |= saved_report_is_key(columns[k]);
        if (saved_report_column(report, columns[k]) != (int)k) {
            return fail(errp, report, 1, "a column is there twice");
        }
    }
    if (own < 0 || !keys || report->nr_columns > MAX_COLUMNS) {
        return fail(errp, report, 1, "not what 'rvtrace report --format tsv' "
                    "writes");
    }
    report->own_column = own;
    return true;
}

static bool add_row(SavedReport *report, const char *text, unsigned line,
                    GError **errp)
{
    char **cells = split(text, report->nr_columns + 1);
    guint64 own;

    g_ptr_array_add(report->rows, cells);
    if (g_strv_length(cells) != report->nr_columns) {
        return fail(errp, report, line, "not as many columns as in line 1");
    }
    if (!g_ascii_string_to_unsigned(cells[report->own_column], 10, 0,
                                    UINT64_MAX, &own, NULL) ||
        own > UINT64_MAX - report->own) {
        return fail(errp, report, line, "what is its own is no number, "
                    "or too large");
    }
    report->own += own;
    g_array_append_val(report->owns, own);
    return true;
}

SavedReport *saved_report_parse(const char *name, const char *text,
                                size_t size, GError **errp)
{
    g_autoptr(SavedReport) report = g_new0(SavedReport, 1);
    const char *end = text + size, *next;
    unsigned line = 1;

    report->name = g_strdup(name);
    report->rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    report->owns = g_array_new(false, false, sizeof(uint64_t));
    for (; text < end; text = next, line++) {
        const char *newline = memchr(text, '\n', end - text);
        g_autofree char *copy = g_strndup(text, (newline ?: end) - text);

        next = newline ? newline + 1 : end;
        if (line == 1 ? !set_columns(report, copy, errp)
                      : !add_row(report, copy, line, errp)) {
            return NULL;
        }
    }
    if (line == 1) {
        fail(errp, report, 1, "there is nothing");
        return NULL;
    }
    return g_steal_pointer(&report);
}
