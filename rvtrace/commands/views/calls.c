/*
 * rvtrace: calls: when a function was called, for how long, and by whom
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/questions/calls.h"

static gboolean by_caller;

static const OptionGroup group = {
    .entries = (const GOptionEntry[]) {
        { "callers", 0, 0, G_OPTION_ARG_NONE, &by_caller,
          "Instead of each call: how often each caller called it", NULL },
        { NULL }
    },
};

static void *begin_hart(void *opaque, const HartResult *h)
{
    return calls_hart(opaque, h->hart, hart_profile(h), h->all->tasks);
}

static bool begin(ViewOutput *o, Results *r)
{
    if (!filter_options.sym) {
        say_error("calls: of which function? give --sym NAME, a glob");
        return false;
    }
    o->state = calls_new(&(CallsOptions) {
        .comm = filter_options.comm,
        .dso = filter_options.dso,
        .sym = filter_options.sym,
        .by_caller = by_caller,
        .max_rows = row_options.max_rows,
        .virtual_time = r->virtual_time,
        .format = format_choice(),
    });
    results_watch(r, &(Watcher) {
        .begin = begin_hart,
        .moment = calls_moment,
        .mark = calls_mark,
        .end = calls_end,
        .opaque = o->state,
    });
    return true;
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    if (!calls_write(o->state, o->f)) {
        const char *comm = filter_options.comm;

        say_warn("--sym %s: no such function was called%s%s; 'rvtrace "
                 "report%s' lists what ran", filter_options.sym,
                 comm ? " in a task " : "", comm ?: "",
                 comm ? " --sort comm,sym" : "");
    }
    return CLI_OK;
}

static void free_calls(void *state)
{
    calls_free(state);
}

const View view_calls = {
    .name = "calls",
    .summary = "list each call of a function: when, how long, by whom",
    .about = "Write each call of the functions that --sym names: when it was, "
             "how long it took,\nand who called it.",
    .needs = RESULT_PROFILE,
    .flags = VIEW_WATCHES,
    .groups = {
        &group, &format_group, &rows_group, &filter_group, &clock_group,
    },
    .begin = begin,
    .write = write_view,
    .free = free_calls,
};
