/*
 * rvtrace: folded: call stacks as text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/views/options.h"

static int write_view(ViewOutput *o, const ViewPass *p)
{
    profile_sum(p->weighed);
    profile_write_folded(p->weighed, o->f);
    return CLI_OK;
}

const View view_folded = {
    .name = "folded",
    .summary = "write call stacks as text, a line for each",
    .about = "Write how many instructions were executed in each call stack: a "
             "line\n'frame;frame;frame count' for each.",
    .needs = RESULT_PROFILE,
    .groups = { &layers_group, &weight_group },
    .write = write_view,
};
