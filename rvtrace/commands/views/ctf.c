/*
 * rvtrace: ctf: switches, interrupts and system calls, as a folder of CTF
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"
#include "views/ctf/ctf.h"

static void *begin_hart(void *opaque, const HartResult *h)
{
    g_autoptr(GError) err = NULL;
    CtfHart *hart = ctf_hart(opaque, h->hart, hart_profile(h), h->all->tasks,
                             &err);

    if (!hart) {
        say_error("ctf: %s", err->message);
    }
    return hart;
}

static bool begin(ViewOutput *o, Results *r)
{
    g_autoptr(GError) err = NULL;

    o->state = ctf_new(o->path, r->virtual_time, &err);
    if (!o->state) {
        say_error("ctf: %s", err->message);
        return false;
    }
    results_watch(r, &(Watcher) {
        .begin = begin_hart,
        .moment = ctf_moment,
        .mark = ctf_mark,
        .trap = ctf_trap,
        .end = ctf_end,
        .opaque = o->state,
    });
    return true;
}

static int write_view(ViewOutput *o, const ViewPass *p)
{
    g_autoptr(GError) err = NULL;

    if (!ctf_finish(o->state, &err)) {
        say_error("ctf: %s", err->message);
        return CLI_ERROR;
    }
    return CLI_OK;
}

static void free_folder(void *state)
{
    ctf_free(state);
}

const View view_ctf = {
    .name = "ctf",
    .summary = "write switches, traps and system calls as a folder of CTF",
    .about = "Write which task ran when, interrupts, system calls and "
             "exceptions of each hart\nin the Common Trace Format, with LTTng's "
             "names, for Trace Compass and 'babeltrace2\nFOLDER'.",
    .needs = RESULT_PROFILE,
    .flags = VIEW_WATCHES | VIEW_FOLDER,
    .groups = { &clock_group },
    .begin = begin,
    .write = write_view,
    .free = free_folder,
};
