/*
 * The instructions of a range, by the object's bytes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_RANGE_WALK_H
#define ETRACE_RANGE_WALK_H

#include "profile/counts.h"

typedef struct RangeWalk {
    /* The instruction that it is at, in the object */
    uint64_t addr;
    unsigned size;          /* bytes */
    const uint8_t *code;
    /* private */
    unsigned left;          /* instructions, this one included */
} RangeWalk;

/*
 * To the first instruction of @range, which is of @object. Returns false if
 * the object does not have its bytes, or if they are not what ran: the range
 * has another number of instructions, or its last one is elsewhere.
 */
bool range_walk_begin(RangeWalk *w, const Object *object,
                      const CountRange *range);

/* To the next one; false if there is none. */
bool range_walk_next(RangeWalk *w);

/* Some instructions of a range, all of which are of one function */
typedef void RangePartFn(void *opaque, const CountRange *range, uint64_t start,
                         uint64_t insns, const Symbol *symbol);

/*
 * Call @fn for each function that has instructions of @range, in order;
 * @start is the address of the first one there. A function may come several
 * times. What cannot be walked is all of the function where it begins.
 */
void range_by_function(const Object *object, const CountRange *range,
                       RangePartFn *fn, void *opaque);

#endif /* ETRACE_RANGE_WALK_H */
