/*
 * rvtrace: uftrace: what was called when, as a folder of uftrace
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/time/uftrace.h"

static bool begin(ViewOutput *o, Results *r)
{
    g_autoptr(GError) err = NULL;

    o->state = uftrace_new(o->path, &err);
    if (!o->state) {
        say_error("uftrace: %s", err->message);
    }
    return o->state;
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    const Results *r = p->r;
    g_autoptr(GError) err = NULL;

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        const HartResult *h = r->harts[i];

        if (h && !uftrace_add_hart(o->state, hart_moments(h), i,
                                   hart_profile(h), hart_end_time(h),
                                   r->tasks, duration_option(0), &err)) {
            say_error("uftrace: %s", err->message);
            return CLI_ERROR;
        }
    }
    if (!uftrace_finish(o->state, &err)) {
        say_error("uftrace: %s", err->message);
        return CLI_ERROR;
    }
    return CLI_OK;
}

static void free_folder(void *state)
{
    uftrace_free(state);
}

const View view_uftrace = {
    .name = "uftrace",
    .summary = "write what was called when as a folder of uftrace",
    .about = "Write what each task called when, for 'uftrace report -d "
             "FOLDER' and other\nsubcommands of uftrace. Time is the task's "
             "own: instructions, or ns of virtual time.",
    .needs = RESULT_PROFILE | RESULT_MOMENTS,
    .flags = VIEW_FOLDER,
    .groups = { &layers_group, &duration_group, &clock_group },
    .begin = begin,
    .write = write_view,
    .free = free_folder,
};
