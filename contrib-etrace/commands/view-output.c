/*
 * rvtrace: files for other people's tools
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "results.h"
#include "views/perf-data.h"
#include "views/script.h"

bool view_parse_options(Results *r, const ProfileOptions *o)
{
    if (o->period < 1) {
        cli_error("--period: a number of instructions, at least 1");
        return false;
    }
    if (o->branches < 0 || o->branches > SAMPLE_MAX_BRANCHES) {
        cli_error("--branches %d: must be from 0 to %u", o->branches,
                  SAMPLE_MAX_BRANCHES);
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

int view_write_perf_data(const Results *r, FILE *f)
{
    g_autofree Spool **spools = all_samples(r);
    g_autoptr(GError) err = NULL;
    const char *command[] = {
        "rvtrace", "perf-data", "--trace", r->ct->traces[0], NULL
    };

    if (!perf_data_write(spools, r->t->nr_harts, &(PerfDataOptions) {
            .objects = names_objects(r->names),
            .tasks = r->tasks,
            .nr_harts = r->t->nr_harts,
            .period = r->sampler.period,
            .command = command,
        }, f, &err)) {
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
                      r->tasks, f, &err)) {
        cli_error("script: %s", err->message);
        return CLI_ERROR;
    }
    return CLI_OK;
}
