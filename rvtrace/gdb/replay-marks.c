/*
 * Replay: when a hart has accessed memory last
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "gdb/replay-state-private.h"

/* Upper addresses with paging: behind the numbers of address spaces */
#define UPPER   (UINT_MAX - 1)

Marks marks_new(void)
{
    return (Marks) { .seen = memory_new(), .stores = memory_new() };
}

Marks marks_copy(const Marks *marks)
{
    Marks copy = { .wild = marks->wild };

    if (marks->seen) {
        copy.seen = memory_copy(marks->seen);
        copy.stores = memory_copy(marks->stores);
    }
    return copy;
}

void marks_clear(Marks *marks)
{
    g_clear_pointer(&marks->seen, memory_free);
    g_clear_pointer(&marks->stores, memory_free);
    marks->wild = 0;
}

bool marks_are_crowded(const Marks *marks)
{
    return marks->seen && (memory_is_crowded(marks->seen) ||
                           memory_is_crowded(marks->stores));
}

unsigned replay_stores_space(unsigned space, uint64_t addr, unsigned xlen)
{
    return space == MACHINE || !space ? 0 :
           addr >> (xlen - 1) ? UPPER : space;
}

/* The epoch of instruction @i */
static unsigned find_epoch(StatePass *p, uint64_t i)
{
    const Replay *r = p->s->r;

    if (i < p->epoch_begin || i >= p->epoch_end) {
        p->epoch = replay_epoch(r, i);
        p->epoch_begin = i;
        p->epoch_end = p->epoch < r->reports->len ?
                       g_array_index(r->reports, ReplayReport, p->epoch).at :
                       UINT64_MAX;
    }
    return p->epoch;
}

void marks_load(StatePass *p, const Pending *insn, uint64_t addr, unsigned len)
{
    if (p->marks.seen) {
        stamps_put(p->marks.seen, insn->space, addr,
                   find_epoch(p, insn->index) + 1, len);
    }
}

static void add_store(StatePass *p, const ReplayStore *store)
{
    if (p->zone && store->index >= p->zone->begin &&
        p->zone->stores->len < ZONE_STORES_MAX) {
        g_array_append_vals(p->zone->stores, store, 1);
    }
}

void marks_store(StatePass *p, const Pending *insn, uint64_t addr, unsigned len,
                 const uint64_t *value)
{
    ReplayStore store = {
        .index = insn->index, .addr = addr, .len = len, .known = value,
        .value = value ? *value : 0,
        .space = replay_stores_space(insn->space, addr, p->cpu.isa.xlen),
    };

    if (!p->marks.seen) {
        return;
    }
    if (value) {
        marks_load(p, insn, addr, len);
    }
    if (!stamps_put(p->marks.stores, store.space, addr,
                    find_epoch(p, insn->index) + 1, len)) {
        /* Older ones are forgotten, but they have been. */
        marks_wild(p, insn->index);
    }
    add_store(p, &store);
}

static void wild_until(StatePass *p, uint64_t index, uint64_t ns)
{
    p->marks.wild = MAX(p->marks.wild, ns);
    add_store(p, &(ReplayStore) { .index = index, .wild = true });
}

void marks_wild(StatePass *p, uint64_t index)
{
    if (p->marks.seen) {
        wild_until(p, index,
                   replay_not_after(p->s->r, find_epoch(p, index)));
    }
}

/* Are these a hart's that has executed nothing since it was reset? */
static bool is_reset(const ETraceSbRegs *regs)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(regs->x); i++) {
        if (regs->x[i]) {
            return false;
        }
    }
    return true;
}

/*
 * The packet of the first instruction, which the decoder reports behind that,
 * has the time at which the hart's trace was begun: what has run without trace
 * ran before.
 */
void marks_session(StatePass *p, const Pending *insn)
{
    const Replay *r = p->s->r;
    unsigned epoch;

    if (p->marks.seen && !is_reset(&p->regs)) {
        epoch = replay_epoch(r, insn->index + 1);
        wild_until(p, insn->index, epoch ? replay_not_before(r, epoch)
                                         : replay_not_after(r, 0));
    }
}
