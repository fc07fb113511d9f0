/*
 * rvtrace: perf-data and script: samples, for Linux' perf
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "samples/perf-samples.h"
#include "views/perf/perf-data.h"
#include "views/perf/script.h"

static gboolean no_chains;
static char *arch;

static const OptionGroup chains = {
    .entries = (const GOptionEntry[]) {
        { "no-call-chains", 0, 0, G_OPTION_ARG_NONE, &no_chains,
          "Leave call chains out, as perf2bolt needs it", NULL },
        { "arch", 0, 0, G_OPTION_ARG_STRING, &arch,
          "Architecture that the file is said to be of, for readers that do "
          "not know riscv64: hotspot takes aarch64 and --branches=0 "
          "(default: riscv64)",
          "NAME" },
        { NULL }
    },
};

/* The samples of each hart; the caller frees the array. */
static Spool **all_samples(const Results *r)
{
    Spool **spools = g_new0(Spool *, r->t->nr_harts);

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        spools[i] = r->harts[i] ? hart_samples(r->harts[i]) : NULL;
    }
    return spools;
}

static int write_perf_data(ViewOutput *o, const ViewPass *p)
{
    const Results *r = p->r;
    g_autofree Spool **spools = all_samples(r);
    g_autoptr(TaskEnds) ends = task_ends_new();
    g_autoptr(GError) err = NULL;
    const char *command[] = {
        "rvtrace", "perf-data", "--trace", r->job->traces[0], NULL
    };
    PerfDataOptions options = {
        .objects = names_objects(r->names),
        .tasks = r->tasks,
        .ends = ends,
        .nr_harts = r->t->nr_harts,
        .period = r->sampler.period,
        .no_chains = no_chains,
        .arch = arch,
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
    if (!perf_data_write(spools, r->t->nr_harts, &options, o->f, &err)) {
        say_error("perf-data: %s", err->message);
        return CLI_ERROR;
    }
    return CLI_OK;
}

static int write_script(ViewOutput *o, const ViewPass *p)
{
    const Results *r = p->r;
    g_autofree Spool **spools = all_samples(r);
    g_autoptr(GError) err = NULL;

    if (!script_write(spools, r->t->nr_harts, names_objects(r->names),
                      r->tasks, r->t->samples ? r->t->samples->event.name :
                      perf_event_instructions.name, o->f, &err)) {
        say_error("script: %s", err->message);
        return CLI_ERROR;
    }
    return CLI_OK;
}

const View view_perf_data = {
    .name = "perf-data",
    .summary = "write samples as a file of Linux' perf",
    .about = "Write samples with call chains and branch stacks, for "
             "'perf report -i FILE' and\nother subcommands of Linux' perf on "
             "any machine. perf finds the guest's kernel by its build-id, "
             "when\nwhat 'rvtrace kernel-elf' wrote was added with 'perf "
             "buildid-cache --add'.\nWithout the Image below --sysroot, or "
             "if that has no build-id, perf takes its\nown kernel's names: "
             "give it --kallsyms with a copy of the guest's, or --vmlinux.",
    .needs = RESULT_PROFILE | RESULT_SAMPLES,
    .flags = VIEW_BINARY,
    .groups = { &layers_group, &samples_group, &chains },
    .write = write_perf_data,
};

const View view_script = {
    .name = "script",
    .summary = "write samples as text, as perf script does",
    .about = "Write samples with call chains as text, as 'perf script' does.",
    .needs = RESULT_PROFILE | RESULT_SAMPLES,
    .groups = { &layers_group, &samples_group },
    .write = write_script,
};
