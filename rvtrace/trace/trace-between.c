/*
 * The decoding of one hart: what stands between flow and consumer
 *
 * If the consumer wants data, instructions go to the data flow, too; if there
 * is a limit, the last run is cut off there.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "trace/trace-private.h"

static void data_run(TraceDecoder *d, const FlowRun *whole)
{
    const FlowOps *ops = &d->consumer->flow;
    FlowRun run = *whole;

    if (!d->left) {
        return;
    }
    if (run.count >= d->left) {
        run.count = d->left;
        run.itype = ETRACE_ITYPE_NONE;
    }
    if (d->left != UINT64_MAX) {
        d->left -= run.count;
    }
    if (ops->runs) {
        ops->runs(d->opaque, &run, 1, run.count);
    } else if (ops->run) {
        ops->run(d->opaque, &run);
    }
    if (d->consumer->data) {
        data_flow_run(&d->data, &run);
    }
    d->stop |= !d->left;
}

static void data_runs(void *opaque, const FlowRun *runs, unsigned n,
                      uint64_t insns)
{
    TraceDecoder *d = opaque;

    for (unsigned i = 0; i < n; i++) {
        data_run(d, &runs[i]);
    }
}

/* As data_runs(), without data */
static void limit_runs(void *opaque, const FlowRun *runs, unsigned n,
                       uint64_t insns)
{
    TraceDecoder *d = opaque;

    if (insns < d->left && d->consumer->flow.runs) {
        d->left -= insns;
        d->consumer->flow.runs(d->opaque, runs, n, insns);
    } else {
        data_runs(d, runs, n, insns);
    }
}

static void data_trap(void *opaque, const FlowTrap *trap)
{
    TraceDecoder *d = opaque;

    if (!d->left) {
        return;
    }
    if (d->consumer->data) {
        data_flow_trap(&d->data, trap);
    }
    if (d->consumer->flow.trap) {
        d->consumer->flow.trap(d->opaque, trap);
    }
}

static void data_window_start(void *opaque, uint64_t pc)
{
    TraceDecoder *d = opaque;

    if (d->left && d->consumer->flow.window_start) {
        d->consumer->flow.window_start(d->opaque, pc);
    }
}

static void data_window_end(void *opaque, FlowWindowEnd why)
{
    TraceDecoder *d = opaque;

    if (d->left && d->consumer->flow.window_end) {
        d->consumer->flow.window_end(d->opaque, why);
    }
}

static const FlowOps data_flow_ops = {
    .runs = data_runs,
    .trap = data_trap,
    .window_start = data_window_start,
    .window_end = data_window_end,
};

static const FlowOps limit_flow_ops = {
    .runs = limit_runs,
    .trap = data_trap,
    .window_start = data_window_start,
    .window_end = data_window_end,
};

const FlowOps *trace_between_ops(const TraceDecoder *d)
{
    return d->consumer->data ? &data_flow_ops : &limit_flow_ops;
}
