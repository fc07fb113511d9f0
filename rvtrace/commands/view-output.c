/*
 * rvtrace: files for other people's tools
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results.h"
#include "samples/perf-samples.h"
#include "views/pgo/callgrind.h"
#include "views/perf/perf-data.h"
#include "views/pgo/pprof.h"
#include "views/perf/script.h"
#include "views/report/source-place.h"

bool view_parse_options(Results *r, const ProfileOptions *o)
{
    if (o->period < 1) {
        cli_error("--period: a number of instructions, at least 1");
        return false;
    }
    if (o->branches < 0 || o->branches > SAMPLER_MAX_BRANCHES) {
        cli_error("--branches %d: must be from 0 to %u", o->branches,
                  SAMPLER_MAX_BRANCHES);
        return false;
    }
    if (o->min_duration < -1) {
        cli_error("--min-duration: a number of instructions, not negative");
        return false;
    }
    if (o->max_events < 2) {
        cli_error("--max-events: a number, at least 2");
        return false;
    }
    r->sampler.period = o->period;
    r->sampler.branches = o->branches;
    return true;
}

/* The samples of each hart; the caller frees the array. */
static Spool **all_samples(const Results *r)
{
    Spool **spools = g_new0(Spool *, r->t->nr_harts);

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        spools[i] = r->harts[i] ? r->harts[i]->samples : NULL;
    }
    return spools;
}

int view_write_perf_data(const Results *r, const ProfileOptions *o, FILE *f)
{
    g_autofree Spool **spools = all_samples(r);
    g_autoptr(TaskEnds) ends = task_ends_new();
    g_autoptr(GError) err = NULL;
    const char *command[] = {
        "rvtrace", "perf-data", "--trace", r->ct->traces[0], NULL
    };
    PerfDataOptions options = {
        .objects = names_objects(r->names),
        .tasks = r->tasks,
        .ends = ends,
        .nr_harts = r->t->nr_harts,
        .period = r->sampler.period,
        .no_chains = o->no_chains,
        .command = command,
    };

    if (r->t->samples) {
        const GArray *samples = r->t->samples->samples;

        options.event = &r->t->samples->event;
        options.filtered = !r->t->samples->contiguous;
        options.period = g_array_index(samples, PerfSample, 0).period;
    }
    for (const Trace *part = r->t; part; part = part->next) {
        if (part->sideband) {
            task_ends_add(ends, part->sideband);
        }
    }
    if (!perf_data_write(spools, r->t->nr_harts, &options, f, &err)) {
        cli_error("perf-data: %s", err->message);
        return CLI_ERROR;
    }
    return CLI_OK;
}

int view_write_script(const Results *r, FILE *f)
{
    g_autofree Spool **spools = all_samples(r);
    g_autoptr(GError) err = NULL;

    if (!script_write(spools, r->t->nr_harts, names_objects(r->names),
                      r->tasks, r->t->samples ? r->t->samples->event.name :
                      perf_event_instructions.name, f, &err)) {
        cli_error("script: %s", err->message);
        return CLI_ERROR;
    }
    return CLI_OK;
}

/* Where the code is from, by debug info, and where that source is here */
typedef struct Lines {
    SourcePlaces *places;
    SourceTree *sources;
} Lines;

static bool find_line(void *opaque, const Object *object, uint64_t addr,
                      const char **file, unsigned *line)
{
    const Lines *lines = opaque;
    SourcePlace place = source_place_find(lines->places, object, addr);

    if (!place.file) {
        return false;
    }
    *file = source_path(lines->sources, place.file) ?: place.file;
    *line = place.line;
    return true;
}

int view_write_callgrind(const Results *r, const ProfileOptions *o,
                         const Counts *counts, Profile *profile, FILE *f)
{
    g_autoptr(SourcePlaces) places =
        source_places_new(profile_sysroots(r->ct, o));
    g_autoptr(SourceTree) sources = profile_sources(r->ct, o);
    Lines lines = { places, sources };

    profile_sum(profile);
    callgrind_write(counts, profile, &(CallgrindOptions) {
        .command = r->ct->traces[0],
        .line = find_line,
        .opaque = &lines,
    }, f);
    return CLI_OK;
}

int view_write_pprof(const Results *r, const Profile *profile, FILE *f)
{
    g_autoptr(GError) err = NULL;

    if (!pprof_write(profile, names_objects(r->names), r->by_time, f,
                     &err)) {
        cli_error("pprof: %s", err->message);
        return CLI_ERROR;
    }
    return CLI_OK;
}

int view_write_speedscope(const Results *r, const Profile *profile,
                          const ProfileOptions *o, FILE *f)
{
    g_autofree char *name = g_path_get_basename(r->ct->traces[0]);
    g_autoptr(Speedscope) s = speedscope_new(name, r->virtual_time,
                                                  o->max_events);
    g_autoptr(GError) err = NULL;
    uint64_t lost;

    speedscope_add_profile(s, profile);
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        const HartResult *h = r->harts[i];

        if (h && !speedscope_add_hart(s, h->moments, i, h->profile,
                                      h->end_time, r->tasks,
                                      MAX(o->min_duration, 0), &err)) {
            cli_error("speedscope: %s", err->message);
            return CLI_ERROR;
        }
    }
    lost = speedscope_write(s, f);
    if (lost) {
        cli_warn("speedscope: no room for %" PRIu64 " more events; have less "
                 "with --min-duration N, or room with --max-events N", lost);
    }
    return CLI_OK;
}

int view_write_uftrace(const Results *r, const ProfileOptions *o,
                       Uftrace *uftrace)
{
    g_autoptr(GError) err = NULL;

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        const HartResult *h = r->harts[i];

        if (h && !uftrace_add_hart(uftrace, h->moments, i, h->profile,
                                   h->end_time, r->tasks,
                                   MAX(o->min_duration, 0), &err)) {
            cli_error("uftrace: %s", err->message);
            return CLI_ERROR;
        }
    }
    if (!uftrace_finish(uftrace, &err)) {
        cli_error("uftrace: %s", err->message);
        return CLI_ERROR;
    }
    return CLI_OK;
}
