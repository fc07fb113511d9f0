/*
 * What to decode, of which trace
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "analysis/job.h"
#include "base/option-error.h"
#include "samples/samples-open.h"
#include "trace/trace-text.h"

void job_clear(Job *job)
{
    g_clear_pointer(&job->processes, g_ptr_array_unref);
    g_strfreev(job->traces);
    g_strfreev(job->sidebands);
    g_free(job->sessions);
    g_free(job->isa);
    g_strfreev(job->elfs);
    g_strfreev(job->params);
    g_free(job->unit);
    g_free(job->params_file);
    g_strfreev(job->tvecs);
    g_free(job->at);
    g_strfreev(job->names.kallsyms);
    g_strfreev(job->names.sysroots);
    g_strfreev(job->select.processes);
    g_strfreev(job->select.regions);
    g_free(job->select.from);
    g_free(job->select.to);
    g_free(job->select.window);
    g_free(job->select.before);
    g_free(job->select.after);
    g_clear_pointer(&job->selection, selection_free);
    g_strfreev(job->shard_files);
    g_free(job->index);
}

static bool set_unit(const Job *job, TraceOptions *o, Unit *unit, GError **errp)
{
    bool draft = job->params &&
                 g_strv_contains((const char *const *)job->params,
                                 "wire_format=2.1-draft");

    unit_init(unit, o->elf ? elf_code_xlen(o->elf) : o->isa.xlen, draft);
    if (!unit_parse(unit, job->unit, job->params_file, job->params, errp)) {
        return false;
    }
    if (unit_is_plain(unit)) {
        o->params = &unit->params;
    } else if (o->ram) {
        g_set_error(errp, OPTION_ERROR, OPTION_PARAMS,
                    "packets of another encoder are read from a file that "
                    "begins with the first one, not from a RAM sink or its "
                    "pieces");
        return false;
    } else {
        o->unit = unit;
    }
    return true;
}

/*
 * What is said of the program and the encoder. With a sideband, files are good
 * for names only, and parameters are those that it has.
 */
static bool set_program(const Job *job, TraceOptions *o, Unit *unit,
                        GError **errp)
{
    for (char **arg = job->tvecs; arg && *arg; arg++) {
        if (!trace_parse_tvec(&o->tvec, *arg, errp)) {
            return false;
        }
    }
    if (job->sidebands && *job->sidebands) {
        if (job->unit || job->params_file) {
            g_set_error(errp, OPTION_ERROR, OPTION_NEEDS_NO_SIDEBAND,
                        "--%s is for a trace whose encoder has no sideband",
                        job->unit ? "unit" : "params");
            return false;
        }
        return true;
    }
    if (job->elfs && *job->elfs) {
        o->elf = trace_load_program(job->elfs, errp);
        if (!o->elf) {
            return false;
        }
    }
    return (!job->params && !job->unit && !job->params_file) ||
           set_unit(job, o, unit, errp);
}

/* As trace_open() and samples_open() */
static Trace *open_any(const Job *job, GError **errp)
{
    Unit unit;
    TraceOptions o = {
        .traces = job->traces,
        .sidebands = job->sidebands,
        .sessions = job->sessions,
        .isa = { .xlen = 64 },
        .packets_only = job->packets_only,
        .ram = job->ram || job->at || trace_is_perf_data(*job->traces) ||
               job->wrapped_at != RING_NOT_WRAPPED,
        .wrapped_at = job->wrapped_at,
        .at = job->at,
    };

    if (job->isa && !trace_parse_isa(&o.isa, job->isa, errp)) {
        return NULL;
    }
    if (job->takes_samples && !job->traces[1]) {
        bool is;
        Trace *t = samples_open(*job->traces, &o.isa, &is, errp);

        if (t || is) {
            return t;
        }
    }
    if (!set_program(job, &o, &unit, errp)) {
        g_clear_pointer(&o.elf, elf_code_free);
        return NULL;
    }
    return trace_open(&o, errp);
}

Trace *job_open(const Job *job, GError **errp)
{
    Trace *t = open_any(job, errp);

    if (!t) {
        return NULL;
    }
    if (job->hart >= 0 && ((unsigned)job->hart >= t->nr_harts ||
                           !t->harts[job->hart].present)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                    "hart %d is not in the trace; it has %u hart%s from 0 on",
                    job->hart, t->nr_harts, t->nr_harts == 1 ? "" : "s");
        trace_free(t);
        return NULL;
    }
    t->limit = job_limit(job);
    t->patient = job->limit != JOB_LIMIT_DEFAULT;
    return t;
}

uint64_t job_limit(const Job *job)
{
    return job->limit < 0 ? UINT64_MAX : (uint64_t)job->limit;
}

bool job_has_hart(const Job *job, const Trace *t, unsigned hart)
{
    return t->harts[hart].present &&
           (job->hart < 0 || (unsigned)job->hart == hart);
}
