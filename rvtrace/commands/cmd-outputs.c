/*
 * rvtrace decode --output: several results of one pass
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/shards.h"
#include "views/report/annotate.h"
#include "views/report/report.h"

typedef enum OutputKind {
    OUTPUT_STAT,
    OUTPUT_VERIFY,
    OUTPUT_FLAMEGRAPH,
    OUTPUT_FOLDED,
    OUTPUT_REPORT,
    OUTPUT_ANNOTATE,
    OUTPUT_PERF_DATA,
    OUTPUT_SCRIPT,
    OUTPUT_PPROF,
    OUTPUT_SPEEDSCOPE,
    OUTPUT_UFTRACE,
    OUTPUT_CALLGRIND,
    OUTPUT_TIMELINE,
    OUTPUT_HTML,
    OUTPUT_PGO_LLVM,
    OUTPUT_PGO_BOLT,
    OUTPUT_PGO_GCOV,
    OUTPUT_LCOV,
    OUTPUT_DRCOV,
    OUTPUT_DRCOV_TEXT,
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
    [OUTPUT_PERF_DATA] = { "perf-data", RESULT_PROFILE | RESULT_SAMPLES },
    [OUTPUT_SCRIPT] = { "script", RESULT_PROFILE | RESULT_SAMPLES },
    [OUTPUT_PPROF] = { "pprof", RESULT_PROFILE },
    [OUTPUT_SPEEDSCOPE] = { "speedscope", RESULT_PROFILE | RESULT_MOMENTS },
    [OUTPUT_UFTRACE] = { "uftrace", RESULT_PROFILE | RESULT_MOMENTS },
    [OUTPUT_CALLGRIND] = { "callgrind", RESULT_COUNTS | RESULT_PROFILE },
    [OUTPUT_TIMELINE] = { "timeline", RESULT_PROFILE },
    [OUTPUT_HTML] = { "html", RESULT_STAT | RESULT_COUNTS | RESULT_PROFILE },
    [OUTPUT_PGO_LLVM] = { "pgo-llvm", RESULT_COUNTS },
    [OUTPUT_PGO_BOLT] = { "pgo-bolt", RESULT_COUNTS },
    [OUTPUT_PGO_GCOV] = { "pgo-gcov", RESULT_COUNTS },
    [OUTPUT_LCOV] = { "lcov", RESULT_COUNTS },
    [OUTPUT_DRCOV] = { "drcov", RESULT_COUNTS },
    [OUTPUT_DRCOV_TEXT] = { "drcov-text", RESULT_COUNTS },
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

/* KIND or KIND=FILE of @option; prints what is wrong and returns NULL. */
static Output *output_new(const char *arg, const char *option)
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
    cli_error("%s %s: not KIND or KIND=FILE, where KIND is %s", option, arg,
              names->str);
    return NULL;
}

static bool is_asked_for(const GPtrArray *outputs, OutputKind kind)
{
    for (guint i = 0; i < outputs->len; i++) {
        const Output *o = outputs->pdata[i];

        if (o->kind == kind) {
            return true;
        }
    }
    return false;
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

/* What outputs need besides the results; NULL: not asked for */
typedef struct Views {
    Timeline *timeline;
    GPtrArray *strips;          /* Strip; of html */
    Profile *profile;
    /* The same with fewer layers, where some wanted more than the others */
    Profile *plain;
    Profile *timed;             /* weights are ns of virtual time */
    Counts *counts;
    char *verdict;              /* of verify */
    int verify_status;
} Views;

static void views_clear(Views *v)
{
    g_clear_pointer(&v->timeline, timeline_free);
    g_clear_pointer(&v->strips, g_ptr_array_unref);
    g_clear_pointer(&v->profile, profile_free);
    g_clear_pointer(&v->plain, profile_free);
    g_clear_pointer(&v->timed, profile_free);
    g_clear_pointer(&v->counts, counts_free);
    g_free(v->verdict);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Views, views_clear)

/*
 * html lets one choose layers when it is looked at, and timelines show when a
 * level is left for another one: have them all, if nobody says which.
 */
static const CallStackLayer all_layers[] = {
    CALLSTACK_LAYER_COMM, CALLSTACK_LAYER_PROCESS, CALLSTACK_LAYER_PRIV,
};

static void choose_all_layers(Results *r)
{
    r->hart_layer = true;
    r->layers.nr_layers = ARRAY_SIZE(all_layers);
    memcpy(r->layers.layers, all_layers, sizeof(all_layers));
}

/* What flame graphs and folded stacks have if nobody says */
static Profile *default_layers(const Results *r, const Profile *profile)
{
    g_autofree uint8_t *is = layers_find(profile, &(Layers) {
        .hart = r->hart_layer,
        .layers = r->layers.layers,
        .nr_layers = r->layers.nr_layers,
    });

    return layers_keep(profile, is, 1u << LAYER_COMM);
}

/* The verdict is found once, whoever writes it. */
static void verify(const Results *r, char **truths, Views *v)
{
    size_t size;
    char *text = NULL;
    FILE *f = open_memstream(&text, &size);

    v->verify_status = verify_write(r, truths, f);
    fclose(f);
    v->verdict = g_strdup(text);
    free(text);
}

static void prepare(const Results *r, char **truths, const ProfileOptions *po,
                    Views *v)
{
    if (r->what & RESULT_PROFILE) {
        bool all_layers = (v->strips || v->timeline) && !po->layers;

        v->profile = profile_join(r, false);
        if (all_layers) {
            v->plain = default_layers(r, v->profile);
        }
        if (r->by_time) {
            g_autoptr(Profile) timed = profile_join(r, true);

            v->timed = all_layers ? default_layers(r, timed) :
                                    g_steal_pointer(&timed);
        }
    }
    if (r->what & RESULT_COUNTS) {
        v->counts = counts_join(r);
    }
    if (r->what & RESULT_VERIFY) {
        verify(r, truths, v);
    }
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
static int report_output(const Results *r, Profile *profile,
                         const Counts *counts, const ProfileOptions *po,
                         FILE *f)
{
    uint64_t selected;
    char **sysroots = profile_sysroots(r->ct, po);
    g_autoptr(SourcePlaces) places = source_places_new(sysroots);
    ReportOptions o = {
        .comm = po->comm,
        .dso = po->dso,
        .sym = po->sym,
        .max_rows = po->max_rows,
        .by_time = r->by_time,
        .by_total = po->by_total,
        .ran = r->ct->selection ? results_insns(r, &selected) : 0,
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
        if (!report_write_callers(profile, po->callers, r->by_time, f)) {
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
    char **sysroots = profile_sysroots(r->ct, po);
    g_autoptr(SourcePlaces) places = source_places_new(sysroots);
    g_autoptr(SourceTree) sources = profile_sources(r->ct, po);
    AnnotateOptions o = {
        .comm = po->comm,
        .dso = po->dso,
        .sym = po->sym,
        .min_percent = !isnan(po->min_percent) ? po->min_percent :
                       po->sym ? 0 : 1,
        .max_functions = po->max_rows,
        .isa = r->t->isa,
        .places = po->source ? places : NULL,
        .sources = sources,
    };
    AnnotateResult result;

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
static int write_output(Output *o, const Results *r, const ProfileOptions *po,
                        Views *v)
{
    int status = CLI_OK;

    switch (o->kind) {
    case OUTPUT_STAT:
        stat_write(r, o->f);
        break;
    case OUTPUT_VERIFY:
        fputs(v->verdict, o->f);
        status = v->verify_status;
        break;
    case OUTPUT_TIMELINE:
        status = timeline_output(v->timeline, o->f);
        break;
    case OUTPUT_HTML:
        html_output(r, po, v->profile, v->counts, v->strips, v->verdict,
                    v->verify_status, o->f);
        status = v->verdict ? v->verify_status : CLI_OK;
        break;
    case OUTPUT_REPORT:
        status = report_output(r, v->timed ?: v->plain ?: v->profile,
                               v->counts, po, o->f);
        break;
    case OUTPUT_PERF_DATA:
        status = view_write_perf_data(r, po, o->f);
        break;
    case OUTPUT_SCRIPT:
        status = view_write_script(r, o->f);
        break;
    case OUTPUT_PPROF:
        status = view_write_pprof(r, v->timed ?: v->plain ?: v->profile,
                                  o->f);
        break;
    case OUTPUT_SPEEDSCOPE:
        status = view_write_speedscope(r, v->profile, po, o->f);
        break;
    case OUTPUT_UFTRACE:
        status = view_write_uftrace(r, po, o->uftrace);
        break;
    case OUTPUT_CALLGRIND:
        status = view_write_callgrind(r, po, v->counts,
                                      v->plain ?: v->profile, o->f);
        break;
    case OUTPUT_PGO_LLVM:
        status = pgo_output(r->ct, po, PGO_LLVM, v->counts, o->f);
        break;
    case OUTPUT_PGO_BOLT:
        status = pgo_output(r->ct, po, PGO_BOLT, v->counts, o->f);
        break;
    case OUTPUT_PGO_GCOV:
        status = pgo_output(r->ct, po, PGO_GCOV, v->counts, o->f);
        break;
    case OUTPUT_LCOV:
        status = lcov_output(r->ct, po, v->counts, o->f);
        break;
    case OUTPUT_DRCOV:
    case OUTPUT_DRCOV_TEXT:
        status = drcov_output(v->counts, o->kind == OUTPUT_DRCOV_TEXT, o->f);
        break;
    case OUTPUT_ANNOTATE:
        status = annotate_output(r, v->counts, po, o->f);
        break;
    default:
        profile_write(v->timed ?: v->plain ?: v->profile, r, po,
                      o->kind == OUTPUT_FLAMEGRAPH, o->f);
        break;
    }
    return close_output(o) ? status : CLI_ERROR;
}

/*
 * Of pieces, counts can be added up, but not samples, or what was when. Prints
 * what is wrong and returns false.
 */
static bool can_add(const CliTrace *ct, const GPtrArray *outputs,
                    const ProfileOptions *po)
{
    if (!ct->shards && !ct->shard_files) {
        return true;
    }
    if (po->weight) {
        cli_error("--weight: pieces are added up by instructions");
        return false;
    }
    for (guint i = 0; i < outputs->len; i++) {
        const Output *o = outputs->pdata[i];

        if (kinds[o->kind].what & ~(RESULT_COUNTS | RESULT_PROFILE) ||
            o->kind == OUTPUT_TIMELINE) {
            cli_error("%s of pieces cannot be added up; report, annotate, "
                      "flamegraph, folded, callgrind, pprof, pgo and coverage "
                      "can", kinds[o->kind].name);
            return false;
        }
    }
    return true;
}

/* Prints what is wrong with --make-index and returns false. */
static bool choose_index(Results *r)
{
    if (!r->ct->make_index) {
        if (r->ct->index_every) {
            cli_error("--index-every is for --make-index");
        }
        return !r->ct->index_every;
    }
    if (!(r->what & (RESULT_PROFILE | RESULT_COUNTS))) {
        cli_error("--make-index: an index has call stacks: have it made with "
                  "a view that has some, or by 'rvtrace index'");
        return false;
    }
    if (r->ct->shards || r->ct->shard_files) {
        cli_error("--make-index: an index is of the whole trace, and not of "
                  "pieces");
        return false;
    }
    return index_parse_spacing("--index-every", r->ct->index_every,
                               &r->spacing);
}

/* The index that was made on the way, if one was asked for */
static bool save_index(Results *r)
{
    g_autofree char *path = results_index_path(r->ct);

    return !r->ct->make_index || index_maker_write(r, path);
}

static int write_shards(GPtrArray *outputs, const Results *r,
                        const ProfileOptions *po)
{
    int status = CLI_OK;

    for (guint i = 0; i < outputs->len; i++) {
        Output *o = outputs->pdata[i];

        status = shards_write(r, po, o->f);
        if (!close_output(o)) {
            return CLI_ERROR;
        }
    }
    return status;
}

static int decode(Results *r, GPtrArray *outputs, char **truths,
                  const ProfileOptions *po, Views *v)
{
    int status;

    for (guint i = 0; i < outputs->len; i++) {
        if (!open_output(outputs->pdata[i])) {
            return CLI_ERROR;
        }
    }
    if (!results_decode(r) || !save_index(r)) {
        return CLI_ERROR;
    }
    if (r->ct->shards) {
        return write_shards(outputs, r, po);
    }
    prepare(r, truths, po, v);
    status = cli_finish_losses(r->ct);
    for (guint i = 0; i < outputs->len; i++) {
        int one = write_output(outputs->pdata[i], r, po, v);

        status = MAX(status, one);
    }
    return status;
}

bool cmd_check_outputs(char **args, const char *option, bool compared,
                       const ProfileOptions *po)
{
    g_auto(Results) r = { 0 };

    for (; *args; args++) {
        g_autofree Output *o = output_new(*args, option);

        if (!o) {
            return false;
        }
        if (o->kind == OUTPUT_VERIFY && !compared) {
            cli_error("%s verify: compare with what? give --truth FILE",
                      option);
            return false;
        }
        if (o->kind == OUTPUT_UFTRACE && !o->path) {
            cli_error("%s uftrace: which folder? give its name: %s "
                      "uftrace=DIR", option, option);
            return false;
        }
    }
    return view_parse_options(&r, po) && profile_options_valid(po) &&
           profile_parse_layers(&r, po);
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
    g_auto(Views) views = { 0 };
    g_auto(Results) r = { .ct = ct, .tasks = tasks };

    for (; *args; args++) {
        Output *o = output_new(*args, "--output");

        if (!o) {
            return CLI_ERROR;
        }
        g_ptr_array_add(outputs, o);
        r.what |= kinds[o->kind].what;
    }
    if (!can_add(ct, outputs, po) || !view_parse_options(&r, po) ||
        !choose_index(&r)) {
        return CLI_ERROR;
    }
    r.what |= ct->shards ? RESULT_COUNTS | RESULT_PROFILE : 0;
    if (is_asked_for(outputs, OUTPUT_HTML)) {
        views.strips = html_begin(&r);
        r.what |= truths ? RESULT_VERIFY : 0;
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
    ct->takes_samples = true;
    t = r.t = cli_open(ct);
    if (!t || (ct->make_index && !index_maker_can(&r)) ||
        (t->samples ? !results_can_sample(&r) :
                      !results_choose_time(&r, po))) {
        return CLI_ERROR;
    }
    if (t->samples && (po->weight || is_asked_for(outputs, OUTPUT_TIMELINE))) {
        cli_error("--weight, timeline: samples do not say how long it took");
        return CLI_ERROR;
    }
    if (is_asked_for(outputs, OUTPUT_TIMELINE)) {
        views.timeline = timeline_begin(&r, po);
        if (!views.timeline) {
            return CLI_ERROR;
        }
    }
    if (r.what & (RESULT_PROFILE | RESULT_COUNTS)) {
        r.names = names = profile_load_names(ct, po, t, objects);
        if (!names || !profile_parse_layers(&r, po)) {
            return CLI_ERROR;
        }
    }
    if ((views.strips || views.timeline) && !po->layers) {
        choose_all_layers(&r);
    }
    if (ct->shards) {
        stack_tree_layers(&r.layers);
    }
    return decode(&r, outputs, truths, po, &views);
}
