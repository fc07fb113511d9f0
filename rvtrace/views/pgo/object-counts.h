/*
 * What ran of one object: its counts, whoever ran it
 *
 * Counts of all harts, tasks, privilege levels and address spaces are added
 * up. They are exact as long as their sums are below 2^64.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_OBJECT_COUNTS_H
#define ETRACE_OBJECT_COUNTS_H

#include "profile/counts.h"

/* Instructions that follow each other in memory, as in CountRange */
typedef struct ObjectBlock {
    uint64_t start;
    uint64_t last;          /* the last instruction */
    uint64_t end;           /* behind it */
    uint64_t count;
    uint32_t insns;
    uint8_t itype;          /* ETraceItype: how the last one was left */
} ObjectBlock;

/* A transfer of control that begins or ends in the object */
typedef struct ObjectJump {
    uint64_t from, to;      /* 0 where that is in another object */
    uint64_t count;
    bool from_here, to_here;
    uint8_t itype;          /* ETraceItype */
} ObjectJump;

/* Addresses, each of which was executed so often; none overlap. */
typedef struct ObjectSpan {
    uint64_t lo, hi;        /* [lo, hi) */
    uint64_t count;         /* not 0 */
} ObjectSpan;

typedef struct ObjectCounts {
    const Object *object;   /* not ours */
    GArray *blocks;         /* ObjectBlock, by start, end and itype */
    GArray *jumps;          /* ObjectJump, by from, to and itype */
    GArray *spans;          /* ObjectSpan, by address; see below */
    uint64_t insns;         /* in all blocks */
    /* Of those, in blocks that object_counts_check() dropped */
    uint64_t dropped;
} ObjectCounts;

/*
 * Add up what @c has of @object. Jumps that are returns from traps are left
 * out: they do not come from the code that they return to.
 */
ObjectCounts *object_counts_new(const Counts *c, const Object *object);
void object_counts_free(ObjectCounts *oc);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ObjectCounts, object_counts_free)

/* Set oc->spans, from the blocks as they are now. */
void object_counts_spread(ObjectCounts *oc);

/* How often the instruction at @addr ran. Needs object_counts_spread(). */
uint64_t object_counts_at(const ObjectCounts *oc, uint64_t addr);

/*
 * How often the instructions in [@lo, @hi) ran, which of them ran most; 0 if
 * none did. Needs object_counts_spread().
 */
uint64_t object_counts_most(const ObjectCounts *oc, uint64_t lo, uint64_t hi);

static inline const ObjectBlock *object_block(const ObjectCounts *oc, guint i)
{
    return &g_array_index(oc->blocks, ObjectBlock, i);
}

static inline const ObjectJump *object_jump(const ObjectCounts *oc, guint i)
{
    return &g_array_index(oc->jumps, ObjectJump, i);
}

#endif /* ETRACE_OBJECT_COUNTS_H */
