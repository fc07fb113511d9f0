/*
 * Live: an interval as text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "live/live.h"
#include "views/report/saved-report.h"

static void append_rate(GString *s, double insns, double seconds)
{
    g_string_append_printf(s, "%.1f M/s",
                           seconds > 0 ? insns / seconds / 1e6 : 0);
}

/* How much of what ran was looked at, by packets */
static void append_share(GString *s, const LiveSum *sum)
{
    if (sum->skipped) {
        g_string_append_printf(s, "shows %.0f %% of what ran (%" PRIu64 " of %"
                               PRIu64 " packets)", 100.0 * sum->packets /
                               (sum->packets + sum->skipped), sum->packets,
                               sum->packets + sum->skipped);
    } else {
        g_string_append_printf(s, "shows all of %" PRIu64 " packets",
                               sum->packets);
    }
    if (sum->losses) {
        g_string_append_printf(s, ", %" PRIu64 " losses", sum->losses);
    }
}

static void append_head(GString *s, const LiveBlock *b)
{
    if (b->number) {
        g_string_append_printf(s, "# interval %" PRIu64 ": %.2f s, ",
                               b->number, b->seconds);
    } else {
        g_string_append_printf(s, "# total: %.2f s, ", b->seconds);
    }
    g_string_append_printf(s, "%" PRIu64 " instructions, ", b->all.insns);
    append_rate(s, b->all.insns, b->seconds);
    g_string_append(s, "; ");
    append_share(s, &b->all);
    if (b->behind) {
        g_string_append_printf(s, ", %.1f MB %s", b->behind / 1e6,
                               b->number ? "behind" : "not looked at");
    }
    g_string_append(s, b->ended && b->number ? "; ended\n" : "\n");
    for (unsigned i = 0; i < b->nr_harts; i++) {
        g_string_append_printf(s, "%s hart %u: ", i ? "" : "#", i);
        append_rate(s, b->harts[i].insns, b->seconds);
        g_string_append(s, i + 1 < b->nr_harts ? "," : "\n");
    }
}

/* The keys' columns, and the line's end */
static void append_keys(GString *s, char **keys, unsigned nr_keys)
{
    for (unsigned k = 0; k < nr_keys && keys[k]; k++) {
        g_string_append_printf(s, k + 1 < nr_keys ? "  %-20s" : "  %s",
                               keys[k]);
    }
    g_string_append_c(s, '\n');
}

/* A line of report_write(): own, others, and from @keys on the keys */
static void append_row(GString *s, char **cells, char **keys, unsigned nr_keys,
                       const LiveBlock *b)
{
    uint64_t own = g_ascii_strtoull(cells[0], NULL, 10);

    g_string_append_printf(s, "%6.2f%% %16" PRIu64 " %9.1f",
                           b->all.insns ? 100.0 * own / b->all.insns : 0, own,
                           b->seconds > 0 ? own / b->seconds / 1e6 : 0);
    append_keys(s, keys, nr_keys);
}

static void append_rows(GString *s, const LiveBlock *b,
                        const ReportOptions *o)
{
    ReportOptions report = *o;
    g_auto(GStrv) lines = NULL;
    char *text = NULL;
    unsigned first = 0;     /* column of the keys */
    size_t size;
    FILE *f = open_memstream(&text, &size);

    report.format = TABLE_TSV;
    report_write(b->counts, NULL, &report, f);
    fclose(f);
    lines = g_strsplit(text, "\n", -1);
    free(text);
    for (char **line = lines; *line && **line; line++) {
        g_auto(GStrv) cells = g_strsplit(*line, "\t", -1);

        if (line > lines) {
            append_row(s, cells, cells + first, report.nr_keys, b);
            continue;
        }
        while (cells[first] && !saved_report_is_key(cells[first])) {
            first++;
        }
        g_string_append_printf(s, "%7s %16s %9s", "own", "instructions",
                               "M/s");
        append_keys(s, cells + first, report.nr_keys);
    }
}

char *live_text(const LiveBlock *block, const ReportOptions *report,
                unsigned *header)
{
    GString *s = g_string_new(NULL);

    append_head(s, block);
    *header = block->nr_harts ? 2 : 1;
    if (block->counts) {
        append_rows(s, block, report);
        (*header)++;
    }
    return g_string_free(s, FALSE);
}
