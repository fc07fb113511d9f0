/*
 * rvtrace: report: where the instructions went, as a table
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/missing.h"
#include "commands/views/options.h"
#include "views/report/report.h"

#define DEFAULT_KEYS "dso,sym"

static struct {
    char *callers;
    gboolean by_total;
} options;

static bool check(const View *only)
{
    if (format_given() && options.callers) {
        say_error("--callers writes text only: leave out --format");
        return false;
    }
    return true;
}

static const OptionGroup group = {
    .entries = (const GOptionEntry[]) {
        { "by-total", 0, 0, G_OPTION_ARG_NONE, &options.by_total,
          "Sort by what ran in a function and all that it called", NULL },
        { "callers", 0, 0, G_OPTION_ARG_STRING, &options.callers,
          "Instead: who called this function, a glob, and what it called",
          "NAME" },
        { NULL }
    },
    .check = check,
};

/* Objects whose lines were asked for, but are not known */
static void warn_of_lines(SourcePlaces *places, const Counts *counts)
{
    g_autoptr(MissingLines) missing = missing_lines_new(counts);

    for (unsigned i = 0; i < object_table_size(counts->objects); i++) {
        const Object *o = object_get(counts->objects, i);

        /* Code of no object has no lines: that goes without saying. */
        if (o->kind != OBJECT_NONE && source_place_asked(places, o)) {
            missing_lines_add(missing, o, source_place_note(places, o));
        }
    }
    missing_lines_say(missing);
}

/* Only rows of functions have totals, which are those of call stacks. */
static unsigned spares(void)
{
    unsigned spared = filter_spares();
    bool profile = options.callers || weight_given();
    ReportOptions o = { 0 };

    report_parse_keys(sort_option ?: DEFAULT_KEYS, &o);
    for (unsigned i = 0; i < o.nr_keys; i++) {
        profile |= o.keys[i] == REPORT_SYM;
    }
    return (report_needs_tasks(&o) ? 0 : spared) |
           (profile ? 0 : RESULT_PROFILE);
}

/* A table without a row may be right, but is rather a name that is wrong. */
static void warn_of_names(const Counts *counts)
{
    const FilterOptions *o = &filter_options;

    if ((o->comm || o->dso || o->sym) && counts_insns(counts)) {
        say_warn("nothing that ran has such names:%s%s%s%s%s%s; they are "
                 "globs, as in --sym '*alloc*'; without them, report lists "
                 "what ran", o->comm ? " --comm " : "", o->comm ?: "",
                 o->dso ? " --dso " : "", o->dso ?: "",
                 o->sym ? " --sym " : "", o->sym ?: "");
    }
}

static int write_view(ViewOutput *out, const ViewPass *p)
{
    const Results *r = p->r;
    uint64_t selected;
    g_autoptr(SourcePlaces) places = source_places_new(r->job->names.sysroots);
    ReportOptions o = {
        .comm = filter_options.comm,
        .dso = filter_options.dso,
        .sym = filter_options.sym,
        .max_rows = row_options.max_rows,
        .by_time = r->by_time,
        .by_total = options.by_total,
        .ran = r->job->selection ? results_insns(r, &selected) : 0,
        .places = places,
        .format = format_choice(),
    };

    /* Scripts want all rows. */
    o.min_percent = !isnan(row_options.min_percent) ? row_options.min_percent :
                    o.format == TABLE_TEXT ? 0.05 : 0;

    if (p->weighed) {
        profile_sum(p->weighed);
    }
    if (options.callers) {
        if (!report_write_callers(p->weighed, options.callers, r->by_time,
                                  row_options.max_rows, out->f)) {
            say_error("--callers %s: no such function ran", options.callers);
            return CLI_ERROR;
        }
        return CLI_OK;
    }
    report_parse_keys(sort_option ?: DEFAULT_KEYS, &o);
    if (!report_write(p->counts, p->weighed, &o, out->f)) {
        warn_of_names(p->counts);
    }
    warn_of_lines(places, p->counts);
    return CLI_OK;
}

const View view_report = {
    .name = "report",
    .summary = "list where the instructions went, by name",
    .about = "Write where the instructions went, as a table: by process, "
             "object, function,\nprivilege level or hart.",
    .needs = RESULT_COUNTS | RESULT_TASKS | RESULT_PROFILE,
    .spares = spares,
    .groups = {
        &sort_group, &group, &format_group, &percent_group, &rows_group,
        &filter_group, &weight_group,
    },
    .write = write_view,
};
