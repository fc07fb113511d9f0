/*
 * Live: an interval as text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "live/live.h"

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

/* A line of report_write(): own, perhaps calls, then the keys */
static void append_row(GString *s, char **cells, unsigned nr_keys,
                       const LiveBlock *b)
{
    unsigned n = g_strv_length(cells);
    uint64_t own = g_ascii_strtoull(cells[0], NULL, 10);

    g_string_append_printf(s, "%6.2f%% %16" PRIu64 " %9.1f",
                           b->all.insns ? 100.0 * own / b->all.insns : 0, own,
                           b->seconds > 0 ? own / b->seconds / 1e6 : 0);
    for (unsigned k = 0; k < nr_keys && nr_keys < n; k++) {
        g_string_append_printf(s, k + 1 < nr_keys ? "  %-20s" : "  %s",
                               cells[n - nr_keys + k]);
    }
    g_string_append_c(s, '\n');
}

static void append_rows(GString *s, const LiveBlock *b,
                        const ReportOptions *o)
{
    ReportOptions report = *o;
    g_auto(GStrv) lines = NULL;
    char *text = NULL;
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
            append_row(s, cells, report.nr_keys, b);
            continue;
        }
        g_string_append_printf(s, "%7s %16s %9s", "own", "instructions",
                               "M/s");
        for (unsigned k = 0; k < report.nr_keys; k++) {
            g_string_append_printf(s, k + 1 < report.nr_keys ? "  %-20s" :
                                   "  %s", cells[g_strv_length(cells) -
                                                 report.nr_keys + k]);
        }
        g_string_append_c(s, '\n');
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
