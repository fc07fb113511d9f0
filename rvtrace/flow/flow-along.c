/*
 * Instruction flow: along a path that was walked before
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "flow/flow-along.h"
#include "flow/flow-paths.h"

WalkResult flow_arrive(Flow *f, const Goal *g)
{
    if (flow_mode(f, ETRACE_IOPT_JUMP_TARGET_CACHE)) {
        etrace_jump_cache_put(&f->cache, g->address & f->mask);
    }
    if (G_UNLIKELY(f->ends)) {
        flow_ends_arrive(f, g->address & f->mask);
    }
    f->pc = g->address & f->mask;
    f->priv = g->target_priv;
    flow_emit_one(f, f->pc);
    return WALK_UPDISCON;
}

bool flow_may_keep(const Flow *f, const Goal *g)
{
    unsigned passed = f->branches - MAX(g->remain, g->last_branch);

    return f->paths && !f->ends && !g->no_branches && !g->irreport &&
           f->branches == f->map_bits &&
           f->branches >= MAX(g->remain, g->last_branch) &&
           (passed <= FLOW_PATH_LEARNT ||
            !flow_mode(f, ETRACE_IOPT_IMPLICIT_RETURN |
                          ETRACE_IOPT_BRANCH_PREDICTION | ETRACE_IOPT_SIJUMP));
}

/* Is the address that the packet reports on the way behind the last branch? */
static bool may_stop_on(const FlowPath *path, const Goal *g)
{
    for (unsigned i = path->tail; g->on_path && i < path->nr_runs; i++) {
        const FlowRun *run = &path->runs[i];

        if (g->address - run->pc < run->end - run->pc) {
            return true;
        }
    }
    return false;
}

static void report_path(Flow *f, const FlowPath *path)
{
    flow_flush(f);
    if (f->ops->runs) {
        f->ops->runs(f->opaque, path->runs, path->nr_runs, path->insns);
        return;
    }
    for (unsigned i = 0; i < path->nr_runs; i++) {
        f->ops->run(f->opaque, &path->runs[i]);
    }
}

/* Would a return at its end lead where the newest call said? */
static bool ends_inferred(const Flow *f, const FlowPath *path)
{
    return path->end_itype == ETRACE_ITYPE_RETURN && f->stack.depth &&
           flow_mode(f, ETRACE_IOPT_IMPLICIT_RETURN);
}

static void learn_branches(Flow *f, const FlowPath *path)
{
    for (unsigned i = 0; i < path->branches; i++) {
        bool taken = !(path->map >> i & 1);

        f->learnt += etrace_predictor_changes(&f->predictor, path->at[i],
                                              taken);
        etrace_predictor_learn(&f->predictor, path->at[i], taken);
    }
}

WalkResult flow_walk_path(Flow *f, const Goal *g)
{
    unsigned passed = f->branches - MAX(g->remain, g->last_branch);
    const FlowPath *path = flow_paths_find(f, passed);

    if (!path || f->steps + path->insns > f->steps_max ||
        (path->end_kind == CODE_END_BRANCH) != g->last_branch) {
        return WALK_ERROR;
    }
    if (!g->last_branch &&
        (!g->by_updiscon || may_stop_on(path, g) || ends_inferred(f, path) ||
         (g->by_xret && path->end_kind != CODE_END_XRET))) {
        return WALK_ERROR;
    }
    report_path(f, path);
    f->steps += path->insns;
    if (flow_mode(f, ETRACE_IOPT_BRANCH_PREDICTION)) {
        learn_branches(f, path);
    }
    f->branches -= passed;
    f->map_bits -= passed;
    f->branch_map >>= passed;
    f->irets = 0;
    f->prev_known = false;
    f->repeats_until = UINT64_MAX;
    f->pc = path->end_pc;
    if (g->last_branch) {
        return WALK_LAST_BRANCH;
    }
    flow_push_call(f, path->end_itype, path->behind);
    return flow_arrive(f, g);
}
