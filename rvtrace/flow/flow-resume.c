/*
 * Instruction flow: to leave it at one place and go on from there later
 *
 * A synchronisation packet says nearly all that the flow has to know, and
 * empties return stack, predictor and jump target cache.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "flow/flow-private.h"

bool flow_point(const Flow *f, FlowPoint *point)
{
    if (!f->started || f->inferred || f->trap_pending || f->handler_pending ||
        f->handler_faulted || f->unsupported || f->keep_history ||
        f->waiting || f->nr_runs || f->branches > 1 ||
        f->map_bits != f->branches || f->stack.depth ||
        (f->ends && f->ends->calls)) {
        return false;
    }
    *point = (FlowPoint) {
        .priv = f->priv,
        .pc = f->pc,
        .prev_known = f->prev_known,
        .prev = f->prev,
        .address = f->address,
        .branch = f->branches,
        .not_taken = f->branches && f->branch_map & 1,
        .irets = f->irets,
    };
    return true;
}

bool flow_resume(Flow *f, const ETracePacket *support, const FlowPoint *point)
{
    if (support) {
        if (support->encoder_mode ||
            !etrace_params_follow(&f->params, support)) {
            return false;
        }
        flow_init_history(f);
    }
    f->started = true;
    f->priv = point->priv;
    f->pc = point->pc & f->mask;
    f->prev_known = point->prev_known;
    f->prev = point->prev & f->mask;
    f->address = point->address & f->mask;
    f->branches = point->branch;
    f->map_bits = point->branch;
    f->branch_map = point->not_taken;
    f->irets = point->irets;
    return true;
}
