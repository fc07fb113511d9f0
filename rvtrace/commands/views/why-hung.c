/*
 * rvtrace: why-hung: what each hart did last
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/questions/hung.h"

static void *begin_hart(void *opaque, const HartResult *h)
{
    return hung_hart(opaque, h->hart, hart_profile(h), h->all->names,
                     h->all->tasks);
}

static bool begin(ViewOutput *o, Results *r)
{
    o->state = hung_new(format_choice());
    results_watch(r, &(Watcher) {
        .begin = begin_hart,
        .runs = hung_runs,
        .moment = hung_moment,
        .mark = hung_mark,
        .trap = hung_trap,
        .end = hung_end,
        .opaque = o->state,
    });
    return true;
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    hung_write(o->state, o->f);
    return CLI_OK;
}

static void free_hung(void *state)
{
    hung_free(state);
}

const View view_why_hung = {
    .name = "why-hung",
    .summary = "say in ten lines what each hart did last",
    .about = "Write in some ten lines what each hart did last: its call stack, "
             "loops, exceptions\nthat were taken again and again, interrupts "
             "and calls.",
    .needs = RESULT_PROFILE,
    .flags = VIEW_WATCHES,
    .groups = { &format_group },
    .begin = begin,
    .write = write_view,
    .free = free_hung,
};
