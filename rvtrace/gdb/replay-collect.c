/*
 * Replay: instructions and their accesses, of a trace with data
 *
 * The decoder begins before the instructions that are asked for, because which
 * access is whose is only known from one synchronization to the next
 * (data-flow.h).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/replay-state-private.h"

/* Instructions from one call of the poll function to the next */
#define POLL_INSNS      (1u << 20)

/* Entries of the queue that are done before it is made shorter */
#define COMPACT_AT      4096

#define CAUSE_USER_ECALL    8

/* The run that follows is the next one in the queue. */
static void next_run(StatePass *p)
{
    const PendingRun *run = &g_array_index(p->queue, PendingRun, p->next);

    p->now = run->first;
    p->left = run->count;
    p->next++;
    if (p->next == p->queue->len) {
        g_array_set_size(p->queue, 0);
        p->next = 0;
    } else if (p->next >= COMPACT_AT && p->next >= p->queue->len / 2) {
        g_array_remove_range(p->queue, 0, p->next);
        p->next = 0;
    }
}

/* The instruction is handed over: its accesses follow. */
static void on_insn(void *opaque, const DataFlowInsn *insn)
{
    StatePass *p = opaque;

    p->look(p);
    if (p->left) {
        p->now.index++;
        p->now.border = BORDER_NONE;
        p->now.trapped = p->now.called = p->now.first = false;
        p->now.pc = insn->pc;
    } else {
        next_run(p);
    }
    p->failed |= p->now.pc != insn->pc;
    p->now.raw = insn->raw;
    p->now.readable = insn->readable;
    p->left--;
    p->has_now = true;
    if (p->accesses->len) {
        g_array_set_size(p->accesses, 0);
    }
    p->unknown = false;
    p->sc_failed = false;
    if (p->now.index >= p->to) {
        p->d.stop = true;
    }
}

static void on_access(void *opaque, const DataFlowAccess *access)
{
    StatePass *p = opaque;
    uint8_t doptions = p->d.data.params.doptions;

    if (access->pc_known && p->has_now && access->pc == p->now.pc) {
        if (access->inferred) {
            p->sc_failed = true;
        } else if (doptions & ETRACE_DOPT_NO_ADDRESS) {
            p->unknown = true;
        } else if (p->accesses->len < DATA_INSN_MANY) {
            p->unknown |= doptions & ETRACE_DOPT_NO_DATA;
            g_array_append_val(p->accesses, access->access);
        } else {
            p->unknown = true;
        }
        return;
    }
    /*
     * Of one that trapped, or nobody knows whose: when was that? Before what is
     * looked at, if none of that has come yet.
     */
    if (p->memory && p->has_now && p->now.index >= p->from) {
        memory_forget_all(p->memory);
        p->forgets++;
        marks_wild(p, p->pos);
    }
    if (p->stray) {
        p->stray(p, &access->access);
    }
}

static const DataFlowOps data_ops = {
    .insn = on_insn,
    .access = on_access,
};

static void add_run(StatePass *p, const FlowRun *run)
{
    PendingRun pending = {
        .first = {
            .pc = run->pc, .index = p->pos, .priv = run->priv,
            .space = priv_is_machine(run->priv) ? MACHINE :
                     trace_decoder_space(&p->d, run->priv),
            .border = p->border, .trapped = p->trapped, .first = true,
            .called = p->in_call &&
                      run->pc == ((p->call + ECALL_SIZE) & p->d.flow.mask),
        },
        .count = run->count,
    };

    if (run->count) {
        p->cpu.isa = p->d.image->isa;
        g_array_append_val(p->queue, pending);
        p->pos += run->count;
        p->border = BORDER_NONE;
        p->trapped = p->in_call = false;
    }
}

static void on_runs(void *opaque, const FlowRun *runs, unsigned n,
                    uint64_t insns)
{
    StatePass *p = opaque;

    if (p->d.part != p->part) {
        p->part = p->d.part;
        p->border = BORDER_GAP;
        p->in_call = false;
    }
    for (unsigned i = 0; i < n; i++) {
        add_run(p, &runs[i]);
    }
    if (p->poll && p->pos - p->polled >= POLL_INSNS) {
        p->polled = p->pos;
        if (p->poll(p->opaque)) {
            p->stopped = p->d.stop = true;
        }
    }
}

static void on_trap(void *opaque, const FlowTrap *trap)
{
    StatePass *p = opaque;

    p->trapped = true;
    p->in_call = p->is_process && trap->epc_known && !trap->interrupt &&
                 trap->cause == CAUSE_USER_ECALL;
    p->call = trap->epc;
}

static void on_window_end(void *opaque, FlowWindowEnd why)
{
    StatePass *p = opaque;

    if (why == FLOW_WINDOW_QUAL && trace_decoder_fenced(&p->d)) {
        p->border = MAX(p->border, trace_decoder_knows_gaps(&p->d) ?
                                   BORDER_SEAM : BORDER_FENCE);
    } else {
        p->border = BORDER_GAP;
    }
}

static void on_window_start(void *opaque, uint64_t pc)
{
    StatePass *p = opaque;
    const ETraceSbRegs *regs = trace_decoder_registers(&p->d);

    if (regs) {
        p->has_regs = true;
        p->regs = *regs;
        p->regs_at = p->pos;
    }
    if (regs && !(regs->flags & ETRACE_SB_REGS_AMID)) {
        p->border = BORDER_BEGIN;
    } else if (p->border == BORDER_NONE) {
        p->border = BORDER_GAP;
    }
}

static void on_loss(void *opaque, const TraceLoss *loss)
{
    StatePass *p = opaque;

    p->border = BORDER_GAP;
    p->in_call = false;
}

static const TraceConsumer state_consumer = {
    .flow = {
        .runs = on_runs,
        .trap = on_trap,
        .window_start = on_window_start,
        .window_end = on_window_end,
    },
    .data = &data_ops,
    .loss = on_loss,
};

/* Where to begin decoding for what follows @insns; NULL: the beginning */
static const ReplayPoint *point_before(const Replay *r, uint64_t insns)
{
    const ReplayPoint *first = (const ReplayPoint *)r->points->data;
    const ReplayPoint *point = replay_last_point(r, insns);

    return point && point > first ? point - 1 : NULL;
}

bool replay_state_pass(StatePass *p)
{
    ReplayStates *s = p->s;
    const ReplayPoint *point = point_before(s->r, p->from);
    TraceStart start = {
        .point = point ? &point->at : NULL,
        .advanced = (const uint64_t *)s->r->advanced->data,
    };
    bool ok;

    p->is_process = s->r->t->sideband &&
                    sideband_is_process(s->r->t->sideband);
    p->pos = p->began = p->polled = point ? point->insns : 0;
    p->part = point ? point->at.part : 0;
    p->queue = g_array_new(false, false, sizeof(PendingRun));
    p->accesses = g_array_new(false, false, sizeof(ETraceDataAccess));
    ok = trace_decode_from(&p->d, s->r->t, s->r->hart,
                           point ? &start : NULL, &state_consumer, p);
    p->look(p);
    g_array_unref(p->queue);
    g_array_unref(p->accesses);
    return ok && !p->failed;
}
