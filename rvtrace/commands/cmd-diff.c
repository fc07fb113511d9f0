/*
 * rvtrace diff: what differs between two reports
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <math.h>
#include "commands/cli/cli.h"
#include "base/input.h"
#include "views/report/diff.h"

/* What 'rvtrace report' says of @folder, by @sort; prints what is wrong. */
static SavedReport *report_of(const char *folder, const char *sort)
{
    g_autofree char *by = g_strdup_printf("--sort=%s", sort ?: "");
    char *argv[] = {
        (char *)"/proc/self/exe", (char *)"report", (char *)"--format=tsv",
        sort ? by : (char *)"--", sort ? (char *)"--" : (char *)folder,
        sort ? (char *)folder : NULL, NULL
    };
    g_autoptr(GError) err = NULL;
    g_autofree char *text = NULL;
    SavedReport *report;
    int status;

    if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_CHILD_INHERITS_STDIN, NULL,
                      NULL, &text, NULL, &status, &err)) {
        say_error("%s: %s", folder, err->message);
        return NULL;
    }
    if (status) {
        /* It has said why. */
        return NULL;
    }
    report = saved_report_parse(folder, text, strlen(text), &err);
    if (!report) {
        say_error("%s", err->message);
    }
    return report;
}

/* @path: a report, or a folder to make one of. Prints what is wrong. */
static SavedReport *load(const char *path, const char *sort)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(GBytes) bytes = NULL;
    SavedReport *report = NULL;

    if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
        return report_of(path, sort);
    }
    bytes = input_open(path, &err);
    if (bytes) {
        size_t size;
        const char *text = (const char *)input_data(bytes, &size);

        report = saved_report_parse(path, text, size, &err);
    }
    if (!report) {
        say_error("%s", err->message);
    }
    return report;
}

static int write_diff(char **paths, const DiffOptions *o)
{
    g_autoptr(SavedReport) a = load(paths[0], o->sort);
    g_autoptr(SavedReport) b = a ? load(paths[1], o->sort) : NULL;
    g_autoptr(GError) err = NULL;

    if (!b) {
        return CLI_ERROR;
    }
    if (!diff_write(a, b, o, stdout, &err)) {
        say_error("%s", err->message);
        return CLI_ERROR;
    }
    return flush_output(stdout, "standard output") ? CLI_OK : CLI_ERROR;
}

int cmd_diff(int argc, char **argv)
{
    g_auto(GStrv) paths = NULL;
    g_autofree char *sort = NULL, *format = NULL;
    double min_percent = NAN;
    int max_rows = 0;
    DiffOptions o = { 0 };
    GOptionEntry entries[] = {
        { "sort", 0, 0, G_OPTION_ARG_STRING, &sort,
          "What distinguishes rows, of what both reports have (default: all "
          "that A has)", "LIST" },
        { "percent-limit", 0, 0, G_OPTION_ARG_DOUBLE, &min_percent,
          "Leave out rows that differ by less of all (default: 0.05; 0 with "
          "--format)", "X" },
        { "rows", 0, 0, G_OPTION_ARG_INT, &max_rows,
          "At most so many rows (default: 0, all)", "N" },
        { "format", 0, 0, G_OPTION_ARG_STRING, &format,
          "text (default), or for scripts, with all rows: tsv, json",
          "text|tsv|json" },
        { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &paths, NULL,
          "A B" },
        { NULL }
    };

    if (!cli_parse_only(entries, "Write what differs between two traces: each "
                        "row of two reports, the largest\ndifference first.",
                        "A and B are folders of 'rvtrace run', or what report "
                        "wrote of traces:\n\n"
                        "  rvtrace report --trace old.trace --sideband "
                        "old.side --format tsv -o A\n"
                        "  rvtrace report --trace new.trace --sideband "
                        "new.side --format tsv -o B\n"
                        "  rvtrace diff A B", argc, argv)) {
        return CLI_ERROR;
    }
    if (!paths || g_strv_length(paths) != 2) {
        say_error("which reports? Two folders or files: rvtrace diff A B");
        return CLI_ERROR;
    }
    if (!cli_parse_format(format, &o.format)) {
        return CLI_ERROR;
    }
    if (min_percent < 0 || max_rows < 0) {
        say_error("--percent-limit, --rows: must not be negative");
        return CLI_ERROR;
    }
    o.sort = sort;
    o.max_rows = max_rows;
    o.min_percent = !isnan(min_percent) ? min_percent :
                    o.format == TABLE_TEXT ? 0.05 : 0;
    return write_diff(paths, &o);
}
