/*
 * rvtrace: pprof: the call tree for pprof
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/lines.h"
#include "commands/views/options.h"
#include "views/pgo/pprof.h"

static int write_view(ViewOutput *o, const ViewPass *p)
{
    g_autoptr(Lines) lines = lines_new(p->r->job);
    g_autoptr(GError) err = NULL;

    if (!pprof_write(p->weighed, names_objects(p->r->names), &(PprofOptions) {
            .by_time = p->r->by_time,
            .lines = lines_finder(lines),
        }, o->f, &err)) {
        say_error("pprof: %s", err->message);
        return CLI_ERROR;
    }
    return CLI_OK;
}

const View view_pprof = {
    .name = "pprof",
    .summary = "write the call tree for pprof",
    .about = "Write how many instructions were executed in each call stack, or "
             "how long\nit took, as a profile.proto for 'go tool pprof'.",
    .needs = RESULT_PROFILE,
    .flags = VIEW_BINARY,
    .groups = { &layers_group, &weight_group, &sources_group },
    .write = write_view,
};
