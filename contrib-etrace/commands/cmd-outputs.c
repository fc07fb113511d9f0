/*
 * rvtrace decode --output: several results of one pass
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "results.h"
#include "views/report.h"

typedef enum OutputKind {
    OUTPUT_STAT,
    OUTPUT_VERIFY,
    OUTPUT_FLAMEGRAPH,
    OUTPUT_FOLDED,
    OUTPUT_REPORT,
    OUTPUT_PERF_DATA,
    OUTPUT_SCRIPT,
    OUTPUT_PPROF,
    OUTPUT_SPEEDSCOPE,
    OUTPUT_UFTRACE,
    OUTPUT_CALLGRIND,
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
    [OUTPUT_PERF_DATA] = { "perf-data", RESULT_PROFILE | RESULT_SAMPLES },
    [OUTPUT_SCRIPT] = { "script", RESULT_PROFILE | RESULT_SAMPLES },
    [OUTPUT_PPROF] = { "pprof", RESULT_PROFILE },
    [OUTPUT_SPEEDSCOPE] = { "speedscope", RESULT_PROFILE | RESULT_MOMENTS },
    [OUTPUT_UFTRACE] = { "uftrace", RESULT_PROFILE | RESULT_MOMENTS },
    [OUTPUT_CALLGRIND] = { "callgrind", RESULT_COUNTS | RESULT_PROFILE },
};

typedef struct Output {
    OutputKind kind;
    const char *path;           /* NULL: standard output */
    FILE *f;                    /* NULL: not opened yet, or a folder */
    Uftrace *uftrace;           /* the folder; or NULL */
} Output;

static void output_free(gpointer opaque)
{
    Output *o = opaque;

    if (o->f && o->f != stdout) {
        fclose(o->f);
    }
    g_clear_pointer(&o->uftrace, uftrace_free);
    g_free(o);
}

/* KIND or KIND=FILE; prints what is wrong and returns NULL. */
static Output *output_new(const char *arg)
{
    g_autoptr(GString) names = g_string_new(NULL);
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
    for (unsigned i = 0; i < OUTPUT_NR_KINDS; i++) {
        g_string_append_printf(names, "%s%s", !i ? "" :
                               i + 1 < OUTPUT_NR_KINDS ? ", " : " or ",
                               kinds[i].name);
    }
    cli_error("--output %s: not KIND or KIND=FILE, where KIND is %s", arg,
              names->str);
    return NULL;
}

/* Before anything is decoded: that takes time. */
static bool open_output(Output *o)
{
    g_autoptr(GError) err = NULL;

    if (o->kind == OUTPUT_UFTRACE) {
        o->uftrace = o->path ? uftrace_new(o->path, &err) : NULL;
        if (!o->uftrace) {
            cli_error("uftrace: %s", err ? err->message :
                      "which folder? give its name");
        }
        return o->uftrace;
    }
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
    bool ok;

    if (!f) {
        return true;
    }
    ok = cli_flush(f, name);
    if (f != stdout && fclose(f) != 0 && ok) {
        cli_error("cannot write %s: %s", name, g_strerror(errno));
        ok = false;
    }
    return ok;
}

/* Returns an exit status. */
static int report_output(Profile *profile, const Counts *counts,
                         const ProfileOptions *po, FILE *f)
{
    ReportOptions o = {
        .comm = po->comm,
        .dso = po->dso,
        .sym = po->sym,
        .min_percent = po->min_percent,
        .max_rows = po->max_rows,
        .by_total = po->by_total,
    };

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
    case OUTPUT_PERF_DATA:
        status = view_write_perf_data(r, o->f);
        break;
    case OUTPUT_SCRIPT:
        status = view_write_script(r, o->f);
        break;
    case OUTPUT_PPROF:
        status = view_write_pprof(r, profile, o->f);
        break;
    case OUTPUT_SPEEDSCOPE:
        status = view_write_speedscope(r, profile, po, o->f);
        break;
    case OUTPUT_UFTRACE:
        status = view_write_uftrace(r, po, o->uftrace);
        break;
    case OUTPUT_CALLGRIND:
        status = view_write_callgrind(r, counts, profile, o->f);
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
    if (!results_decode(r)) {
        return CLI_ERROR;
    }
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
    if (!view_parse_options(&r, po)) {
        return CLI_ERROR;
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
