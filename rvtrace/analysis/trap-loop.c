/*
 * Exception loops: a hart that takes the same exception again and again
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/trap-loop.h"
#include "base/trap-text.h"

/* Handlers that do something take more instructions than this. */
#define MAX_BETWEEN 16

/* Fewer in a row may be a program's own doing. */
#define LEAST       1000

/* Interrupts, ecall and ebreak are meant: they are not a sign of a loop. */
static bool is_asked_for(const FlowTrap *trap)
{
    return trap->interrupt || trap->cause == 3 ||
           (trap->cause >= 8 && trap->cause <= 11);
}

/* The place of one may be unknown: then what it is about has to be the same. */
static bool is_same(const FlowTrap *a, const FlowTrap *b)
{
    return a->cause == b->cause && a->epc_known == b->epc_known &&
           (a->epc_known ? a->epc == b->epc : a->tval == b->tval);
}

static void keep_longest(TrapLoop *loop)
{
    if (loop->now.times > loop->longest.times) {
        loop->longest = loop->now;
    }
}

void trap_loop_put(TrapLoop *loop, const FlowTrap *trap, uint64_t insns)
{
    bool close = insns - loop->insns <= MAX_BETWEEN;

    loop->insns = insns;
    if (loop->now.times && close && !trap->interrupt &&
        is_same(&loop->now.trap, trap)) {
        loop->now.times++;
        return;
    }
    keep_longest(loop);
    loop->now = (TrapRow) {
        .trap = *trap,
        .times = !is_asked_for(trap),
        .since = insns,
    };
}

char *trap_loop_text(const TrapLoop *loop, unsigned hart)
{
    const TrapRow *row = loop->now.times > loop->longest.times ?
                         &loop->now : &loop->longest;
    const char *cause = trap_cause_text(false, row->trap.cause);
    g_autofree char *place = NULL;

    if (row->times < LEAST) {
        return NULL;
    }
    place = row->trap.epc_known ?
            g_strdup_printf("at 0x%" PRIx64, row->trap.epc) :
            g_strdup("at the first instruction of its handler");
    return g_strdup_printf("hart %u is in an exception loop since its "
                           "instruction %" PRIu64 ": the same exception %"
                           PRIu64 " times in a row, cause %u%s%s%s, %s, tval "
                           "0x%" PRIx64 "; look at its stack pointer and trap "
                           "vector", hart, row->since, row->times,
                           row->trap.cause, cause ? " (" : "", cause ?: "",
                           cause ? ")" : "", place, row->trap.tval);
}
