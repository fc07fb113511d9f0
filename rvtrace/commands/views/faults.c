/*
 * rvtrace: faults: exceptions by cause, place and task
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/questions/faults.h"

static void *begin_hart(void *opaque, const HartResult *h)
{
    return faults_hart(opaque, h->hart, h->all->names, h->all->tasks);
}

static bool begin(ViewOutput *o, Results *r)
{
    o->state = faults_new(&(FaultsOptions) {
        .comm = filter_options.comm,
        .dso = filter_options.dso,
        .sym = filter_options.sym,
        .max_rows = row_options.max_rows,
        .format = format_choice(),
    });
    results_watch(r, &(Watcher) {
        .begin = begin_hart,
        .trap = faults_trap,
        .opaque = o->state,
    });
    return true;
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    faults_write(o->state, o->f);
    return CLI_OK;
}

static void free_faults(void *state)
{
    faults_free(state);
}

const View view_faults = {
    .name = "faults",
    .summary = "list exceptions by cause, place and task, storms first",
    .about = "Write which exceptions and page faults were taken: their causes, "
             "places, tasks\nand addresses. Those that were taken again and "
             "again are first.",
    .needs = RESULT_PROFILE,
    .flags = VIEW_WATCHES,
    .groups = { &format_group, &rows_group, &filter_group },
    .begin = begin,
    .write = write_view,
    .free = free_faults,
};
