/*
 * rvtrace: several views of one pass over a trace
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/load-names.h"
#include "analysis/shards.h"
#include "analysis/unfiled.h"
#include "base/text-plain.h"
#include "commands/cli/folder.h"
#include "commands/views/options.h"
#include "commands/views/verify.h"
#include "commands/views/window.h"
#include "views/report/layers.h"

#define NAMED   (RESULT_PROFILE | RESULT_COUNTS)

static void output_free(gpointer opaque)
{
    ViewOutput *o = opaque;

    g_clear_pointer(&o->out, output_discard);
    if (o->state) {
        o->view->free(o->state);
    }
    g_free(o);
}

/* KIND or KIND=FILE of @option; prints what is wrong and returns NULL. */
static ViewOutput *output_new(const char *arg, const char *option)
{
    g_autofree char *kinds = NULL;
    size_t len = strcspn(arg, "=");
    const View *view;

    for (unsigned i = 0; (view = view_number(i)); i++) {
        ViewOutput *o;

        if (strlen(view->name) != len || strncmp(arg, view->name, len) ||
            g_str_equal(arg + len, "=")) {
            continue;
        }
        o = g_new0(ViewOutput, 1);
        o->view = view;
        o->path = arg[len] ? arg + len + 1 : NULL;
        return o;
    }
    kinds = view_kinds(VIEW_ANY, " or ");
    say_error("%s %s: not KIND or KIND=FILE, where KIND is %s", option, arg,
              kinds);
    return NULL;
}

/* What all of them are, in one */
static unsigned all_flags(const GPtrArray *outputs)
{
    unsigned flags = 0;

    for (guint i = 0; i < outputs->len; i++) {
        flags |= ((const ViewOutput *)outputs->pdata[i])->view->flags;
    }
    return flags;
}

/* @all: what options may ask of pieces when they are added up is not known. */
static unsigned all_needs(const GPtrArray *outputs, bool all)
{
    unsigned needs = 0;

    for (guint i = 0; i < outputs->len; i++) {
        const View *view = ((const ViewOutput *)outputs->pdata[i])->view;

        needs |= view->needs & ~(!all && view->spares ? view->spares() : 0);
        needs |= truth_files ? view->compares : 0;
    }
    return needs;
}

/* Before anything is decoded: that takes time. */
static bool open_output(ViewOutput *o, Results *r)
{
    const View *view = o->view;
    g_autoptr(GError) err = NULL;

    if (view->flags & VIEW_FOLDER) {
        if (!o->path) {
            say_error("%s: which folder? give its name, as in -o %s",
                      view->name, view->name);
            return false;
        }
    } else {
        bool binary = view->flags & VIEW_BINARY || r->job->shards;

        o->out = binary ? output_open_binary(o->path, &err) :
                          output_open(o->path, &err);
        if (!o->out) {
            if (!o->path) {
                g_prefix_error(&err, "%s: ", view->name);
            }
            say_error("%s", err->message);
            return false;
        }
        o->f = output_stream(o->out);
    }
    return !view->begin || view->begin(o, r);
}

static bool close_output(ViewOutput *o)
{
    g_autoptr(GError) err = NULL;

    if (o->out && !output_commit(g_steal_pointer(&o->out), &err)) {
        say_error("%s", err->message);
        return false;
    }
    return true;
}

/* What a ViewPass points to, some of it more than once */
typedef struct Decoded {
    ViewPass pass;
    Profile *profile, *plain, *timed;
    char *verdict;
    /* The trace that is decoded, or the last one */
    Trace *t;
    Names *names;
} Decoded;

static void decoded_clear(Decoded *d)
{
    g_clear_pointer(&d->profile, profile_free);
    g_clear_pointer(&d->plain, profile_free);
    g_clear_pointer(&d->timed, profile_free);
    g_clear_pointer(&d->pass.counts, counts_free);
    g_clear_pointer(&d->names, names_free);
    g_clear_pointer(&d->t, trace_free);
    g_free(d->verdict);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Decoded, decoded_clear)

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

static void prepare_profiles(Decoded *d, bool all_layers)
{
    const Results *r = d->pass.r;

    if (d->profile) {
        g_autoptr(Profile) sum = g_steal_pointer(&d->profile);

        d->profile = profile_tidy(sum);
    } else {
        d->profile = results_profile(r, false);
    }
    d->plain = all_layers ? default_layers(r, d->profile) : NULL;
    if (r->by_time) {
        g_autoptr(Profile) timed = results_profile(r, true);

        d->timed = all_layers ? default_layers(r, timed) :
                                g_steal_pointer(&timed);
    }
    d->pass.profile = d->profile;
    d->pass.stacks = d->plain ?: d->profile;
    d->pass.weighed = d->timed ?: d->pass.stacks;
}

/* The verdict is found once, whichever view writes it. */
static void verify(Decoded *d)
{
    size_t size;
    char *text = NULL;
    FILE *f = open_memstream(&text, &size);

    d->pass.verify_status = verify_write(d->pass.r, truth_files, f);
    fclose(f);
    d->pass.verdict = d->verdict = g_strdup(text);
    free(text);
}

static void prepare(Decoded *d, bool all_layers)
{
    const Results *r = d->pass.r;

    if (r->what & RESULT_PROFILE) {
        prepare_profiles(d, all_layers);
    }
    if (r->what & RESULT_COUNTS) {
        if (d->pass.counts) {
            counts_sort(d->pass.counts);
        } else {
            d->pass.counts = results_take_counts(r);
        }
    }
    if (r->what & RESULT_VERIFY) {
        verify(d);
    }
}

/* Tell the user which files would name the code that has no names. */
static void warn_of_unfiled(const Decoded *d)
{
    g_autofree char *text = d->pass.counts || d->profile ?
        unfiled_text(d->pass.counts, d->profile) : NULL;

    if (text) {
        say_warn("%s", text);
    }
}

/* Returns an exit status. */
static int write_output(ViewOutput *o, const ViewPass *p)
{
    int status = o->view->write(o, p);

    return status != CLI_ERROR && close_output(o) ? status : CLI_ERROR;
}

/*
 * Of pieces, counts can be added up, but not samples, or what was when. Prints
 * what is wrong and returns false.
 */
static bool can_add(const Job *job, const GPtrArray *outputs)
{
    const char *what = job->processes ? "traces of processes" : "pieces";

    if (!job->shards && !job->shard_files && !job->processes) {
        return true;
    }
    if (job->processes && (job->shards || job->index)) {
        say_error("--%s: a folder of processes has no index; give one trace",
                  job->shards ? "shard" : "index");
        return false;
    }
    if (weight_given()) {
        say_error("--weight: %s are added up by instructions", what);
        return false;
    }
    for (guint i = 0; i < outputs->len; i++) {
        const View *view = ((const ViewOutput *)outputs->pdata[i])->view;

        if (!view_needs_only(view, VIEW_ADDED)) {
            g_autofree char *others = view_commands(VIEW_ADDED, " and ");

            say_error("%s of %s cannot be added up; %s can", view->name, what,
                      others);
            return false;
        }
    }
    return true;
}

/* Prints what is wrong with --make-index and returns false. */
static bool choose_index(const CliTrace *ct, Results *r)
{
    if (!ct->make_index) {
        if (ct->index_every) {
            say_error("--index-every is for --make-index");
        }
        return !ct->index_every;
    }
    if (!(r->what & NAMED)) {
        say_error("--make-index: an index has call stacks: have it made with "
                  "a view that has some, or by 'rvtrace index'");
        return false;
    }
    if (r->job->shards || r->job->shard_files || r->job->processes) {
        say_error("--make-index: an index is of one whole trace, and not of "
                  "%s", r->job->processes ? "several" : "pieces");
        return false;
    }
    return cli_parse_spacing("--index-every", ct->index_every, &r->spacing);
}

/* The index that was made on the way, if one was asked for */
static bool save_index(Results *r)
{
    g_autofree char *path = results_index_path(r->job);

    return !r->spacing || index_maker_write(r, path);
}

/* Returns @status, which decoding had, or that writing has failed. */
static int write_shards(GPtrArray *outputs, const Results *r, int status)
{
    for (guint i = 0; i < outputs->len && status != CLI_ERROR; i++) {
        ViewOutput *o = outputs->pdata[i];

        shards_write(r, o->f);
        if (!close_output(o)) {
            return CLI_ERROR;
        }
    }
    return status;
}

/* Can the trace say what was asked for? Prints what is wrong. */
static bool can_tell(Results *r, const GPtrArray *outputs)
{
    if (!r->t->samples) {
        return results_choose_time(r, clock_choice(), weight_is_time());
    }
    if (!results_can_sample(r)) {
        return false;
    }
    if (weight_given() || all_flags(outputs) & VIEW_WATCHES) {
        say_error("--weight, timeline: samples do not say how long it took");
        return false;
    }
    return true;
}

/* Files of a machine would be searched for, and not looked up. */
static bool is_process(const Trace *t)
{
    if (!t->sideband || !sideband_is_process(t->sideband)) {
        say_error("%s is the trace of a machine, and no process of user mode, "
                  "which can be added up; give it with --trace",
                  text_plain(t->path));
        return false;
    }
    return true;
}

/* Open the trace of @ct, and its names, for @r. Prints what is wrong. */
static bool open_trace(Decoded *d, CliTrace *ct, Results *r,
                       const GPtrArray *outputs, ObjectTable *objects,
                       bool all_layers)
{
    d->t = r->t = cli_open(ct);
    if (!d->t || (ct->job.processes && !is_process(d->t)) ||
        (ct->make_index && !index_maker_can(r)) || !window_find(ct, d->t) ||
        !can_tell(r, outputs)) {
        return false;
    }
    if (r->what & NAMED) {
        r->names = d->names = load_names(&ct->job, d->t, objects);
        if (!d->names) {
            return false;
        }
        r->layers.names = d->names;
    }
    layers_choose(r, all_layers);
    if (ct->job.shards) {
        stack_tree_layers(&r->layers);
    }
    return true;
}

/* Add what was decoded of a process to that of the others. */
static void add_process(Decoded *d, Results *r)
{
    r->more_insns = results_insns(r, &r->more_selected);
    if (r->what & RESULT_PROFILE) {
        g_autoptr(Profile) one = results_profile(r, false);

        if (!d->profile) {
            d->profile = profile_new();
            d->profile->limit = UINT_MAX;
        }
        profile_merge(d->profile, PROFILE_ROOT, one, NULL);
    }
    if (r->what & RESULT_COUNTS) {
        g_autoptr(Counts) one = results_take_counts(r);

        if (!d->pass.counts) {
            d->pass.counts = g_steal_pointer(&one);
        } else {
            counts_merge(d->pass.counts, one);
        }
    }
}

/*
 * A folder of processes: one after the other, each with its own code and names.
 * Prints what is wrong and returns false.
 */
static bool decode_processes(Decoded *d, CliTrace *ct, Results *r,
                             const GPtrArray *outputs, ObjectTable *objects,
                             bool all_layers)
{
    GPtrArray *processes = ct->job.processes;

    for (guint i = 0; i < processes->len; i++) {
        if (i) {
            results_clear(r);
            g_clear_pointer(&d->names, names_free);
            g_clear_pointer(&d->t, trace_free);
            g_free(ct->job.traces[0]);
            g_free(ct->job.sidebands[0]);
            ct->job.traces[0] = g_strdup(processes->pdata[i]);
            ct->job.sidebands[0] = folder_process_sideband(processes->pdata[i]);
            if (!open_trace(d, ct, r, outputs, objects, all_layers)) {
                return false;
            }
        }
        if (!results_decode(r)) {
            return false;
        }
        add_process(d, r);
    }
    /* They have the last one's, too. */
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            r->harts[i]->counts = (HartCounts) { 0 };
        }
    }
    results_warn_of_nothing(r);
    return true;
}

static int decode(Decoded *d, CliTrace *ct, Results *r, GPtrArray *outputs,
                  ObjectTable *objects, bool all_layers)
{
    int status;

    for (guint i = 0; i < outputs->len; i++) {
        if (!open_output(outputs->pdata[i], r)) {
            return CLI_ERROR;
        }
    }
    if (ct->job.processes ?
        !decode_processes(d, ct, r, outputs, objects, all_layers) :
        !results_decode(r)) {
        return CLI_ERROR;
    }
    status = cli_finish_losses(ct);
    if (status != CLI_ERROR && !save_index(r)) {
        return CLI_ERROR;
    }
    if (r->job->shards) {
        return write_shards(outputs, r, status);
    }
    prepare(d, all_layers);
    warn_of_unfiled(d);
    for (guint i = 0; i < outputs->len; i++) {
        ViewOutput *o = outputs->pdata[i];

        /* An empty result may be shown, but must not replace a good file. */
        if (status != CLI_ERROR || !o->path) {
            int one = write_output(o, &d->pass);

            status = MAX(status, one);
        }
    }
    return status;
}

bool views_check(char **args, const char *option)
{
    for (; *args; args++) {
        g_autofree ViewOutput *o = output_new(*args, option);

        if (!o) {
            return false;
        }
        if (o->view->needs & RESULT_VERIFY && !truth_files) {
            say_error("%s %s: compare with what? give --truth FILE", option,
                      o->view->name);
            return false;
        }
        if (o->view->flags & VIEW_FOLDER && !o->path) {
            say_error("%s %s: which folder? give its name: %s %s=DIR", option,
                      o->view->name, option, o->view->name);
            return false;
        }
    }
    return view_options_possible(NULL);
}

int views_write(CliTrace *ct, char **args, const char *option)
{
    g_autoptr(GPtrArray) outputs = g_ptr_array_new_with_free_func(output_free);
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(Truth) truth = NULL;
    g_auto(Decoded) d = { 0 };
    g_auto(Results) r = {
        .job = &ct->job, .losses = &ct->losses, .tasks = tasks,
    };
    const ViewOutput *first;
    bool all_layers;

    for (; *args; args++) {
        ViewOutput *o = output_new(*args, option);

        if (!o) {
            return CLI_ERROR;
        }
        g_ptr_array_add(outputs, o);
    }
    first = outputs->pdata[0];
    all_layers = all_flags(outputs) & VIEW_ALL_LAYERS && !layers_given();
    if (!can_add(&ct->job, outputs) ||
        !view_options_possible(outputs->len == 1 ? first->view : NULL)) {
        return CLI_ERROR;
    }
    r.what = all_needs(outputs, ct->job.shards);
    if (!choose_index(ct, &r)) {
        return CLI_ERROR;
    }
    r.what |= ct->job.shards ? NAMED | RESULT_TASKS : 0;
    samples_choose(&r.sampler);
    if (r.what & RESULT_VERIFY) {
        r.truth = truth = verify_load(truth_files);
        if (!truth) {
            return CLI_ERROR;
        }
    }
    ct->job.takes_samples = true;
    d.pass.r = &r;
    if (!open_trace(&d, ct, &r, outputs, objects, all_layers)) {
        return CLI_ERROR;
    }
    return decode(&d, ct, &r, outputs, objects, all_layers);
}
