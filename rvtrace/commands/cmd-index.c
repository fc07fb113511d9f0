/*
 * rvtrace index: find the places of a trace where decoding can begin
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/load-names.h"
#include "analysis/results.h"
#include "commands/cli/cli.h"
#include "base/trap-text.h"
#include "views/questions/sheet.h"

static int make(CliTrace *ct, const char *path, uint64_t spacing)
{
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(Names) names = NULL;
    g_autoptr(Trace) t = NULL;
    g_auto(Results) r = {
        .job = &ct->job,
        .losses = &ct->losses,
        .tasks = tasks,
        .what = RESULT_STAT,
        .spacing = spacing,
    };
    int status;

    t = r.t = cli_open(ct);
    if (!t || !index_maker_can(&r)) {
        return CLI_ERROR;
    }
    r.names = names = load_names(&ct->job, t, objects);
    if (!names) {
        return CLI_ERROR;
    }
    if (!results_decode(&r)) {
        return CLI_ERROR;
    }
    status = cli_finish_losses(ct);
    return status != CLI_ERROR && index_maker_write(&r, path) ? status :
                                                                CLI_ERROR;
}

/* As text, or, if @sheet is not NULL, as a row of it */
static void list_point(unsigned hart, const IndexPoint *p,
                       const TreeReader *tree, Sheet *sheet)
{
    const Task *task = NULL;
    g_autofree char *name = NULL;

    tree_reader_task(tree, p->task, &task);
    if (sheet) {
        sheet_number(sheet, hart);
        sheet_number(sheet, p->before.insns);
        if (p->ticks) {
            sheet_number(sheet, p->ticks);
        } else {
            sheet_none(sheet);
        }
        sheet_number(sheet, p->at.pos);
        sheet_text(sheet, priv_text(p->at.flow.priv));
        sheet_task(sheet, task);
        return;
    }
    name = task ? g_strdup_printf("%s (%u/%u)", task->name, task->tgid,
                                  task->tid) : g_strdup("-");
    printf("%4u  %16" PRIu64 "  %16" PRIu64 "  %12" PRIu64 "  %-10s  %s\n",
           hart, p->before.insns, p->ticks, p->at.pos,
           priv_text(p->at.flow.priv), name);
}

static Sheet *new_sheet(TableFormat format)
{
    Sheet *sheet = sheet_new(format);

    sheet_column(sheet, "hart", true);
    sheet_column(sheet, "instructions", true);
    sheet_column(sheet, "ticks", true);
    sheet_column(sheet, "byte", true);
    sheet_column(sheet, "priv", false);
    sheet_task_columns(sheet);
    return sheet;
}

/* The rows, and as JSON how many instructions each hart has in all */
static void write_sheet(const Sheet *sheet, TableFormat format,
                        const Sheet *harts)
{
    if (format == TABLE_JSON) {
        table_begin_json("index", stdout);
        fputs("\"harts\": ", stdout);
        sheet_write(harts, stdout);
        fputs(", \"rows\": ", stdout);
    }
    sheet_write(sheet, stdout);
    fputs(format == TABLE_JSON ? "}\n" : "", stdout);
}

/* Print what an index has. */
static int list(CliTrace *ct, const char *path, TableFormat format)
{
    g_autoptr(Sheet) sheet = format == TABLE_TEXT ? NULL : new_sheet(format);
    g_autoptr(Sheet) harts = sheet_new(format);
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(TraceIndex) index = NULL;
    g_autoptr(GError) err = NULL;
    g_autoptr(Trace) t = cli_open(ct);
    TraceMatch match;

    if (t && !g_file_test(path, G_FILE_TEST_EXISTS)) {
        say_error("%s does not exist: make it with 'rvtrace index'", path);
        return CLI_ERROR;
    }
    index = t ? trace_index_read(path, t, &match, &err) : NULL;
    if (!index) {
        if (t) {
            say_error("%s", err->message);
        }
        return CLI_ERROR;
    }
    if (match == TRACE_GROWN) {
        say_warn("%s: the trace has grown since it was made", path);
    }
    sheet_column(harts, "hart", true);
    sheet_column(harts, "instructions", true);
    if (!sheet) {
        printf("hart      instructions             ticks          byte  "
               "privilege   task\n");
    }
    for (unsigned i = 0; i < index->nr_harts; i++) {
        const IndexHart *h = &index->harts[i];
        ByteReader tasks_only = h->tree;
        g_autoptr(TreeReader) tree = NULL;

        if (!h->present || !job_has_hart(&ct->job, t, i)) {
            continue;
        }
        tree = tree_reader_new(&tasks_only, NULL, tasks);
        if (!tree) {
            say_error("%s: the index makes no sense; make it again with "
                      "'rvtrace index'", path);
            return CLI_ERROR;
        }
        for (guint k = 0; k < h->points->len; k++) {
            list_point(i, &g_array_index(h->points, IndexPoint, k), tree,
                       sheet);
        }
        sheet_number(harts, i);
        sheet_number(harts, h->all.insns);
        if (!sheet) {
            printf("%4u  %16" PRIu64 "  in all\n", i, h->all.insns);
        }
    }
    if (sheet) {
        write_sheet(sheet, format, harts);
    }
    return flush_output(stdout, "standard output") ? CLI_OK : CLI_ERROR;
}

int cmd_index(int argc, char **argv)
{
    g_auto(CliTrace) ct = { .has_names = true };
    g_autofree char *every = NULL, *path = NULL, *format_text = NULL;
    TableFormat format = TABLE_TEXT;
    gboolean only_list = false;
    uint64_t spacing;
    GOptionEntry entries[] = {
        { "every", 0, 0, G_OPTION_ARG_STRING, &every,
          "Instructions of a hart between two places, at least; N can end in "
          "k, M or G (default: 1M)", "N" },
        { "list", 0, 0, G_OPTION_ARG_NONE, &only_list,
          "Write the places of an index that is there", NULL },
        { "format", 0, 0, G_OPTION_ARG_STRING, &format_text,
          "With --list: text (default), or for scripts: tsv, json",
          "text|tsv|json" },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &path,
          "Where to write to, or what to list (default: TRACE.rvidx)",
          "FILE" },
        { NULL }
    };

    if (!cli_parse(&ct, entries, "Find the places of a trace where decoding "
                   "can begin, with what is known there,\nso that other "
                   "commands need not decode what is before --from, or\n"
                   "decode but a piece of it.", argc, argv)) {
        return CLI_ERROR;
    }
    if (!cli_parse_spacing("--every", every, &spacing)) {
        return CLI_ERROR;
    }
    if (!cli_parse_format(format_text, &format)) {
        return CLI_ERROR;
    }
    if (format_text && !only_list) {
        say_error("--format goes with --list");
        return CLI_ERROR;
    }
    path = path ?: results_index_path(&ct.job);
    return only_list ? list(&ct, path, format) : make(&ct, path, spacing);
}
