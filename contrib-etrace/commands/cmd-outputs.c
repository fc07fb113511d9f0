/*
 * rvtrace decode --output: several results of one pass
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "results.h"
#include "views/annotate.h"
#include "views/report.h"

typedef enum OutputKind {
    OUTPUT_STAT,
    OUTPUT_VERIFY,
    OUTPUT_FLAMEGRAPH,
    OUTPUT_FOLDED,
    OUTPUT_REPORT,
    OUTPUT_ANNOTATE,
    OUTPUT_NR_KINDS,
} OutputKind;

static const struct {
    const char *name;
    unsigned what;              /* RESULT_* */
} kinds[OUTPUT_NR_KINDS] = {
    [OUTPUT_STAT] = { "stat", RESULT_STAT },
    [OUTPUT_VERIFY] = { "verify", RESULT_VERIFY },
    [OUTPUT_FLAMEGRAPH] = { "flamegraph", RESULT_PROFILE },
    [OUTPUT_FOLDED] = { "folded", RESULT_PROFILE },
    [OUTPUT_REPORT] = { "report", RESULT_COUNTS | RESULT_PROFILE },
    [OUTPUT_ANNOTATE] = { "annotate", RESULT_COUNTS },
};

typedef struct Output {
    OutputKind kind;
    const char *path;           /* NULL: standard output */
    FILE *f;                    /* NULL: not opened yet */
} Output;

static void output_free(gpointer opaque)
{
    Output *o = opaque;

    if (o->f && o->f != stdout) {
        fclose(o->f);
    }
    g_free(o);
}

/* KIND or KIND=FILE; prints what is wrong and returns NULL. */
static Output *output_new(const char *arg)
{
    size_t len = strcspn(arg, "=");

    for (unsigned i = 0; i < OUTPUT_NR_KINDS; i++) {
        Output *o;

        if (strlen(kinds[i].name) != len ||
            strncmp(arg, kinds[i].name, len) || g_str_equal(arg + len, "=")) {
            continue;
        }
        o = g_new0(Output, 1);
        o->kind = i;
        o->path = arg[len] ? arg + len + 1 : NULL;
        return o;
    }
    cli_error("--output %s: not KIND or KIND=FILE, where KIND is stat, "
              "verify, report, annotate, flamegraph or folded", arg);
    return NULL;
}

/* Before anything is decoded: that takes time. */
static bool open_output(Output *o)
{
    o->f = o->path ? fopen(o->path, "we") : stdout;
    if (!o->f) {
        cli_error("cannot write %s: %s", o->path, g_strerror(errno));
    }
    return o->f;
}

static bool close_output(Output *o)
{
    const char *name = o->path ?: "standard output";
    FILE *f = g_steal_pointer(&o->f);
    bool ok = cli_flush(f, name);

    if (f != stdout && fclose(f) != 0 && ok) {
        cli_error("cannot write %s: %s", name, g_strerror(errno));
        ok = false;
    }
    return ok;
}

/* Objects whose lines were asked for, but are not known */
static void warn_of_lines(SourcePlaces *places, const Counts *counts)
{
    g_autofree char *note = NULL;
    unsigned n = source_places_missing(places, counts->objects, &note);

    if (n == 1) {
        cli_warn("%s", note);
    } else if (n) {
        cli_warn("%s; and %u more files with no or incomplete debug info",
                 note, n - 1);
    }
}

/* Returns an exit status. */
static int report_output(Profile *profile, const Counts *counts,
                         const ProfileOptions *po, FILE *f)
{
    g_autoptr(SourcePlaces) places = source_places_new(po->sysroots);
    ReportOptions o = {
        .comm = po->comm,
        .dso = po->dso,
        .sym = po->sym,
        .max_rows = po->max_rows,
        .by_total = po->by_total,
        .places = places,
    };

    if (po->format) {
        table_parse_format(po->format, &o.format);
    }
    /* Scripts want all rows. */
    o.min_percent = !isnan(po->min_percent) ? po->min_percent :
                    o.format == TABLE_TEXT ? 0.05 : 0;

    profile_sum(profile);
    if (po->callers) {
        if (!report_write_callers(profile, po->callers, f)) {
            cli_error("--callers %s: no such function ran", po->callers);
            return CLI_ERROR;
        }
        return CLI_OK;
    }
    report_parse_keys(po->sort ? po->sort : "dso,sym", &o);
    report_write(counts, profile, &o, f);
    warn_of_lines(places, counts);
    return CLI_OK;
}

/* Returns an exit status. */
static int annotate_output(const Results *r, const Counts *counts,
                           const ProfileOptions *po, FILE *f)
{
    g_autoptr(SourcePlaces) places = source_places_new(po->sysroots);
    g_autoptr(SourceTree) sources = NULL;
    AnnotateOptions o = {
        .comm = po->comm,
        .dso = po->dso,
        .sym = po->sym,
        .min_percent = !isnan(po->min_percent) ? po->min_percent :
                       po->sym ? 0 : 1,
        .max_functions = po->max_rows,
        .isa = r->t->isa,
        .places = po->source ? places : NULL,
    };
    AnnotateResult result;

    /* profile_options_valid() has seen that it can be made. */
    sources = source_tree_new(po->source_prefixes,
                              po->sysroots ? *po->sysroots : NULL, NULL);
    o.sources = sources;
    result = annotate_write(counts, &o, f);
    if (!result.functions) {
        cli_error("no function with such a name ran: --sym %s, --dso %s; "
                  "'rvtrace report' lists those that did",
                  po->sym ? po->sym : "*", po->dso ? po->dso : "*");
        return CLI_ERROR;
    }
    if (!result.written) {
        cli_error("%u functions with such names ran, but none that is to be "
                  "shown has code here: give their files with --elf or "
                  "--sysroot, or lower --percent-limit", result.functions);
        return CLI_ERROR;
    }
    return CLI_OK;
}

/* Returns an exit status. */
static int write_output(Output *o, const Results *r, char **truths,
                        const ProfileOptions *po, Profile *profile,
                        Counts *counts)
{
    int status = CLI_OK;

    switch (o->kind) {
    case OUTPUT_STAT:
        stat_write(r, o->f);
        break;
    case OUTPUT_VERIFY:
        status = verify_write(r, truths, o->f);
        break;
    case OUTPUT_REPORT:
        status = report_output(profile, counts, po, o->f);
        break;
    case OUTPUT_ANNOTATE:
        status = annotate_output(r, counts, po, o->f);
        break;
    default:
        profile_write(profile, r->ct, po, o->kind == OUTPUT_FLAMEGRAPH, o->f);
        break;
    }
    return close_output(o) ? status : CLI_ERROR;
}

static int decode(Results *r, GPtrArray *outputs, char **truths,
                  const ProfileOptions *po)
{
    g_autoptr(Profile) profile = NULL;
    g_autoptr(Counts) counts = NULL;
    int status;

    for (guint i = 0; i < outputs->len; i++) {
        if (!open_output(outputs->pdata[i])) {
            return CLI_ERROR;
        }
    }
    results_decode(r);
    if (r->what & RESULT_PROFILE) {
        profile = profile_join(r);
    }
    if (r->what & RESULT_COUNTS) {
        counts = counts_join(r);
    }
    status = cli_finish_losses(r->ct);
    for (guint i = 0; i < outputs->len; i++) {
        int one = write_output(outputs->pdata[i], r, truths, po, profile,
                               counts);

        status = MAX(status, one);
    }
    return status;
}

int cmd_decode_outputs(CliTrace *ct, char **args, char **truths,
                       const ProfileOptions *po)
{
    g_autoptr(GPtrArray) outputs = g_ptr_array_new_with_free_func(output_free);
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(Names) names = NULL;
    g_autoptr(Truth) truth = NULL;
    g_autoptr(Trace) t = NULL;
    g_auto(Results) r = { .ct = ct, .tasks = tasks };

    for (; *args; args++) {
        Output *o = output_new(*args);

        if (!o) {
            return CLI_ERROR;
        }
        g_ptr_array_add(outputs, o);
        r.what |= kinds[o->kind].what;
    }
    if (r.what & RESULT_VERIFY) {
        r.truth = truth = verify_load(truths);
        if (!truth) {
            return CLI_ERROR;
        }
    }
    if (r.what & (RESULT_PROFILE | RESULT_COUNTS) &&
        !profile_options_valid(po)) {
        return CLI_ERROR;
    }
    t = r.t = cli_open(ct);
    if (!t) {
        return CLI_ERROR;
    }
    if (r.what & (RESULT_PROFILE | RESULT_COUNTS)) {
        r.names = names = profile_load_names(ct, po, t, objects);
        if (!names || !profile_parse_layers(&r, po)) {
            return CLI_ERROR;
        }
    }
    return decode(&r, outputs, truths, po);
}
