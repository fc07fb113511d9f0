/*
 * The instructions of a range, by the object's bytes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "code/insn.h"
#include "views/report/range-walk.h"

/* The instruction of @w->code, which ends before @end */
static bool measure(RangeWalk *w, uint64_t end)
{
    if (end - w->addr < 2) {
        return false;
    }
    w->size = insn_length(w->code[0] | w->code[1] << 8);
    return w->size <= end - w->addr;
}

static void step(RangeWalk *w)
{
    w->addr += w->size;
    w->code += w->size;
    w->left--;
}

bool range_walk_begin(RangeWalk *w, const Object *object,
                      const CountRange *range)
{
    RangeWalk first;
    uint64_t size = range->end - range->start;

    *w = (RangeWalk) { .addr = range->start, .left = range->insns };
    if (!w->left || range->end <= range->start ||
        object_bytes(object, w->addr, size, &w->code) < size ||
        !measure(w, range->end)) {
        return false;
    }
    first = *w;
    while (w->left > 1) {
        step(w);
        if (!measure(w, range->end)) {
            return false;
        }
    }
    if (w->addr != range->last || w->addr + w->size != range->end) {
        return false;
    }
    *w = first;
    return true;
}

bool range_walk_next(RangeWalk *w)
{
    if (w->left < 2) {
        return false;
    }
    step(w);
    w->size = insn_length(w->code[0] | w->code[1] << 8);
    return true;
}

void range_by_function(const Object *object, const CountRange *range,
                       RangePartFn *fn, void *opaque)
{
    uint64_t lo, hi, start = range->start, insns = 0;
    const Symbol *symbol = symbols_find(object->symbols, start, &lo, &hi);
    RangeWalk w;

    if (range->last < hi || !range_walk_begin(&w, object, range)) {
        fn(opaque, range, start, range->insns, symbol);
        return;
    }
    do {
        if (w.addr >= hi) {
            fn(opaque, range, start, insns, symbol);
            symbol = symbols_find(object->symbols, w.addr, &lo, &hi);
            start = w.addr;
            insns = 0;
        }
        insns++;
    } while (range_walk_next(&w));
    fn(opaque, range, start, insns, symbol);
}
