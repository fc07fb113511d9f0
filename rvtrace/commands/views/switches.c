/*
 * rvtrace: switches: which task ran when, for how long, and why it left
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/questions/switches.h"

static gboolean list;

static const OptionGroup group = {
    .entries = (const GOptionEntry[]) {
        { "list", 0, 0, G_OPTION_ARG_NONE, &list,
          "Each time that a task ran, in place of sums by task", NULL },
        { NULL }
    },
};

static void *begin_hart(void *opaque, const HartResult *h)
{
    return switches_hart(opaque, h->hart, hart_profile(h), h->all->tasks);
}

static bool begin(ViewOutput *o, Results *r)
{
    o->state = switches_new(&(SwitchesOptions) {
        .comm = filter_options.comm,
        .list = list,
        .max_rows = row_options.max_rows,
        .virtual_time = r->virtual_time,
        .format = format_choice(),
    });
    results_watch(r, &(Watcher) {
        .begin = begin_hart,
        .moment = switches_moment,
        .mark = switches_mark,
        .end = switches_end,
        .opaque = o->state,
    });
    return true;
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    if (!switches_write(o->state, o->f)) {
        say_warn("switches: no task was switched to; those of a machine are in "
                 "its trace if QEMU has trace-guest-info, which 'rvtrace run' "
                 "gives it, those of a program in user mode never");
    }
    return CLI_OK;
}

static void free_switches(void *state)
{
    switches_free(state);
}

const View view_switches = {
    .name = "switches",
    .summary = "list which task ran, for how long, and why it left",
    .about = "Write what each task ran, how often it was preempted or blocked, "
             "and how long it\nwaited; or each of its runs (--list), and why "
             "it ended.",
    .needs = RESULT_PROFILE,
    .flags = VIEW_WATCHES,
    .groups = {
        &group, &format_group, &rows_group, &comm_group, &clock_group,
    },
    .begin = begin,
    .write = write_view,
    .free = free_switches,
};
