/*
 * rvtrace: the index of a trace, if it is of use
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"
#include "base/say.h"

/* Would an index make less work? */
static bool is_of_use(const Results *r)
{
    const Job *job = r->job;
    bool ranged = job->selection && (job->select.from || job->select.to);

    return (ranged || job->shards) && !job->shard_files && r->names &&
           r->what & (RESULT_PROFILE | RESULT_COUNTS) &&
           !(r->what & RESULT_VERIFY) &&
           /* Intervals from the beginning on say how long each takes. */
           !r->by_time &&
           job->limit == JOB_LIMIT_DEFAULT;
}

/* Does it say what is needed? Returns NULL if it does, or else why not. */
static char *find_difference(const Results *r, const TraceIndex *index,
                             TraceMatch match)
{
    g_autofree char *names = results_index_names(r);
    g_autofree char *setup = results_index_setup(r->job, NULL);

    if (g_strcmp0(setup, index->setup)) {
        return g_strdup("it was made with other --isa, --unit, --params, --param, "
                        "--tvec or programs");
    }
    if (strcmp(names, index->names)) {
        return g_strdup("its call stacks have other names: it was made with "
                        "other --sysroot, --elf or --kallsyms");
    }
    if (r->job->shards && match == TRACE_GROWN) {
        return g_strdup("the trace has grown since it was made");
    }
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i] && !index->harts[i].present) {
            return g_strdup_printf("it was made without hart %u", i);
        }
    }
    return NULL;
}

/*
 * Read the index, if there is one. What is wrong is an error if it was asked
 * for, else a warning.
 */
static bool read_index(Results *r, TraceMatch *match)
{
    const Job *job = r->job;
    g_autofree char *path = results_index_path(job);
    g_autofree char *why = NULL;
    g_autoptr(TraceIndex) index = NULL;
    g_autoptr(GError) err = NULL;
    bool must = job->index || job->shards;

    if (!must && !g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        return true;
    }
    if (job->shards && !g_file_test(path, G_FILE_TEST_EXISTS)) {
        say_error("--shard: pieces are those of an index, but %s does not "
                  "exist; make it with 'rvtrace index', or name it with "
                  "--index", path);
        return false;
    }
    index = trace_index_read(path, r->t, match, &err);
    if (index) {
        why = find_difference(r, index, *match);
    }
    if (index && !why) {
        r->index = g_steal_pointer(&index);
        return true;
    }
    if (must) {
        if (why) {
            say_error("%s: %s; make it again with 'rvtrace index' and these "
                      "options", path, why);
        } else {
            say_error("%s", err->message);
        }
        return false;
    }
    say_warn("%s%s%s; the trace is decoded from its beginning",
             why ? path : err->message, why ? ": " : "", why ?: "");
    return true;
}

/* An index of a trace that has grown does not have its end. */
static bool find_ends(Results *r, TraceMatch match)
{
    TraceIndex *index = r->index;
    bool ok;

    if (match == TRACE_GROWN) {
        r->index = NULL;
    }
    ok = results_find_ends(r);
    r->index = index;
    return ok;
}

bool results_index_begin(Results *r)
{
    bool needs_ends = r->job->selection && !r->job->shard_files &&
                      selection_has_end(r->job->selection);
    TraceMatch match = TRACE_SAME;

    if (r->spacing && !index_maker_begin(r)) {
        return false;
    }
    if (r->spacing || !is_of_use(r)) {
        return !needs_ends || results_find_ends(r);
    }
    if (!read_index(r, &match) ||
        (needs_ends && !find_ends(r, match))) {
        return false;
    }
    if (r->job->shards && !r->job->selection) {
        r->everything = selection_all();
    }
    for (unsigned i = 0; r->index && i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            hart_choose_piece(r->harts[i], match);
        }
    }
    return true;
}
