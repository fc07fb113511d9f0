/*
 * rvtrace: callgrind: exact costs for callgrind_annotate and KCachegrind
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/lines.h"
#include "commands/views/options.h"
#include "views/pgo/callgrind.h"

static int write_view(ViewOutput *o, const ViewPass *p)
{
    const Job *job = p->r->job;
    g_autoptr(Lines) lines = lines_new(job);

    profile_sum(p->stacks);
    callgrind_write(p->counts, p->stacks, &(CallgrindOptions) {
        .command = job->traces[0],
        .lines = lines_finder(lines),
    }, o->f);
    return CLI_OK;
}

const View view_callgrind = {
    .name = "callgrind",
    .summary = "write exact costs for callgrind_annotate and KCachegrind",
    .about = "Write how often each instruction, call and jump was executed, "
             "for\ncallgrind_annotate and KCachegrind.",
    .needs = RESULT_COUNTS | RESULT_PROFILE,
    .groups = { &layers_group, &sources_group },
    .write = write_view,
};
