/*
 * rvtrace: annotate: how often each instruction of a function ran
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/report/annotate.h"

static gboolean with_source;

static const OptionGroup group = {
    .entries = (const GOptionEntry[]) {
        { "source", 0, 0, G_OPTION_ARG_NONE, &with_source,
          "Show source lines, too, by debug info", NULL },
        { NULL }
    },
};

static int write_view(ViewOutput *out, const ViewPass *p)
{
    const Job *job = p->r->job;
    g_autoptr(SourcePlaces) places = source_places_new(job->names.sysroots);
    g_autoptr(SourceTree) sources = source_options_tree(job);
    const char *dso = filter_options.dso, *sym = filter_options.sym;
    TableFormat format = format_choice();
    AnnotateOptions o = {
        .comm = filter_options.comm,
        .dso = dso,
        .sym = sym,
        .min_percent = !isnan(row_options.min_percent) ?
                       row_options.min_percent :
                       sym || format != TABLE_TEXT ? 0 : 1,
        .format = format,
        .max_functions = row_options.max_rows,
        .isa = p->r->t->isa,
        .places = with_source ? places : NULL,
        .sources = sources,
    };
    AnnotateResult result = annotate_write(p->counts, &o, out->f);

    if (!result.functions && !sym && !dso && !filter_options.comm) {
        say_error("nothing that ran has a name: give the files of what ran "
                  "with --sysroot or --elf");
        return CLI_ERROR;
    }
    if (!result.functions) {
        say_error("no function with such a name ran: --sym %s, --dso %s; "
                  "'rvtrace report' lists those that did", sym ?: "*",
                  dso ?: "*");
        return CLI_ERROR;
    }
    if (!result.written) {
        say_error("%u functions with such names ran, but none that is to be "
                  "shown has code here: give their files with --elf or "
                  "--sysroot, or lower --percent-limit", result.functions);
        return CLI_ERROR;
    }
    if (format != TABLE_TEXT && result.left_out) {
        say_warn("%" PRIu64 " instructions of these functions are in no row: "
                 "other code ran there than their files have, or the files "
                 "are missing (--elf, --sysroot)", result.left_out);
    }
    return CLI_OK;
}

const View view_annotate = {
    .name = "annotate",
    .summary = "show how often each instruction of a function ran",
    .about = "Write how often each instruction of a function was executed, "
             "how often branches\nwere taken and not, and where calls and "
             "jumps went.",
    .needs = RESULT_COUNTS | RESULT_TASKS,
    .spares = filter_spares,
    .groups = { &group, &format_group, &sources_group, &percent_group,
                &rows_group, &filter_group },
    .write = write_view,
};
