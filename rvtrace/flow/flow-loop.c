/*
 * Instruction flow: loops
 *
 * Brent's algorithm: the state at one place is remembered, after 1, 2, 4, ...
 * places, and compared at each. What the path does next depends upon its pc,
 * the packet, the branch predictor and the return stack, and nothing else.
 *
 * A walk that comes back to a state without a branch in between never ends.
 * One that comes back to it by branches that are all as predicted goes round
 * as often as the packet has branches, and there is no need to watch it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "flow/flow-private.h"

/* Only loops that go round more often than this have their stack compared. */
#define STACK_STEPS     64

/* Branches to be left for what looks at their number: see peek_branch() */
#define LAST_BRANCHES   3

static bool same_stack(const ETraceReturnStack *a, const ETraceReturnStack *b)
{
    if (a->depth != b->depth) {
        return false;
    }
    for (unsigned i = 0; i < a->depth; i++) {
        unsigned x = (a->base + i) & (a->max - 1);
        unsigned y = (b->base + i) & (b->max - 1);

        if (a->link[x] != b->link[y] || a->repeat[x] != b->repeat[y]) {
            return false;
        }
    }
    return true;
}

static void set_mark(const Flow *f, FlowMark *m, uint64_t pc)
{
    m->pc = pc;
    m->pushes = f->pushes;
    m->pops = f->pops;
    m->learnt = f->learnt;
    m->irets = f->irets;
    m->depth = f->stack.depth;
    m->branches = f->branches;
    m->has_stack = m->steps >= STACK_STEPS;
    if (m->has_stack) {
        m->stack = f->stack;
    }
}

/* One place further; returns true if it is remembered now. */
static bool step(const Flow *f, FlowMark *m, uint64_t pc)
{
    if (++m->steps != m->next) {
        return false;
    }
    m->next *= 2;
    set_mark(f, m, pc);
    return true;
}

/* Will the return stack never make a difference, if this goes on? */
static bool same_returns(const Flow *f, const Goal *g, const FlowMark *m)
{
    bool counted = g->irreport && flow_is_2_1(f);

    if (f->pops == m->pops) {
        /* Nobody looks at what calls leave there, but 2.0 at its depth. */
        return !g->irreport || counted || f->stack.depth == m->depth;
    }
    /* Draft 2.1 counts returns, up to the packet's number of them. */
    return m->has_stack && same_stack(&f->stack, &m->stack) &&
           (!counted || m->irets > g->ircount || f->irets == m->irets);
}

bool flow_endless(const Flow *f, const Goal *g, FlowMark *m, uint64_t pc)
{
    if (m->steps && pc == m->pc && same_returns(f, g, m)) {
        return true;
    }
    step(f, m, pc);
    return false;
}

/* A place that was not what was remembered, or could not be repeated */
static void pass(Flow *f, FlowMark *m, uint64_t pc)
{
    if (step(f, m, pc) && f->ops->mark) {
        flow_flush(f);
        f->ops->mark(f->opaque);
    }
}

/*
 * Where not all rounds can be repeated, for the consumer has something to do
 * in one of them, half of them may. Returns how many were.
 */
static uint64_t repeat_most(Flow *f, uint64_t times)
{
    while (times && !f->ops->repeat(f->opaque, times)) {
        times /= 2;
    }
    return times;
}

void flow_repeat(Flow *f, FlowMark *m, uint64_t pc)
{
    uint64_t period, times, done;

    if (!m->steps || pc != m->pc || f->learnt != m->learnt ||
        !((f->pushes == m->pushes && f->pops == m->pops) ||
          (m->has_stack && same_stack(&f->stack, &m->stack)))) {
        pass(f, m, pc);
        return;
    }
    period = m->branches - f->branches;
    times = (f->branches - LAST_BRANCHES) / period;
    if (!times) {
        return;
    }
    flow_flush(f);
    if (!f->ops->repeat) {
        f->repeats_until = f->branches - times * period;
    } else {
        done = repeat_most(f, times);
        f->branches -= done * period;
        if (!done) {
            pass(f, m, pc);
            return;
        }
        if (done < times) {
            /* The rest is a loop like this one. */
            set_mark(f, m, pc);
            if (f->ops->mark) {
                f->ops->mark(f->opaque);
            }
            return;
        }
    }
    /* Once is enough: no pc is odd. */
    m->pc = UINT64_MAX;
    m->next = 0;
}
