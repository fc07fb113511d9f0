/*
 * Counts: how often each piece of code ran, and each jump was taken
 *
 * Exact, not sampled: each instruction that retired is in one range. Ranges
 * end where something other than the next instruction could have followed: at
 * branches, taken or not, at jumps, and at traps.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_COUNTS_H
#define ETRACE_COUNTS_H

#include "etrace/etrace.h"
#include "base/element-index.h"
#include "names/object.h"
#include "profile/task.h"

/* Who ran code of which object */
typedef struct CountPlace {
    unsigned hart;
    /* Index in the TaskTable; TASK_NONE if counts are not kept by task */
    unsigned task;
    unsigned object;        /* index in the ObjectTable */
    uint8_t priv;           /* ETracePriv */
    /*
     * The object's addresses are this much less than those that ran; 0 for
     * OBJECT_UNKNOWN
     */
    uint64_t bias;
} CountPlace;

/* Instructions that follow each other in memory */
typedef struct CountRange {
    unsigned place;         /* index in Counts.places */
    uint8_t itype;          /* ETraceItype: how the last one was left */
    uint32_t insns;         /* in it */
    uint64_t start;         /* of the first one, in the object */
    uint64_t last;          /* of the last one */
    uint64_t end;           /* behind it */
    uint64_t count;         /* how often it ran */
    uint64_t ns;            /* ... and how long; 0 if nobody asked for that */
} CountRange;

/*
 * A transfer of control: from the last instruction of a range to another
 * place. Not one for a branch that is not taken. Traps end a range with itype 1
 * or 2, and no jump leads to their handlers, nor to those of signals: their
 * edges are from the handler's first instruction to itself, with itype 2.
 */
typedef struct CountEdge {
    unsigned from_place, to_place;
    uint8_t itype;          /* ETraceItype: 5 a taken branch, 8 a call, ... */
    uint64_t from;          /* the jump's own address, in its object */
    uint64_t to;
    uint64_t count;
} CountEdge;

typedef struct Counts {
    const ObjectTable *objects;     /* not ours */
    /* Not ours; NULL: counts are not kept by task */
    const TaskTable *tasks;
    GArray *places;         /* CountPlace */
    GArray *ranges;         /* CountRange */
    GArray *edges;          /* CountEdge */
    ElementIndex place_index, range_index, edge_index;
} Counts;

/*
 * @objects and @tasks must live as long. @tasks: NULL, if nobody is going to
 * ask who ran what: a kernel's code would be counted for each task by itself.
 */
Counts *counts_new(const ObjectTable *objects, const TaskTable *tasks);
void counts_free(Counts *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Counts, counts_free)

/* The index of a place like @place, made if there is none */
unsigned counts_place(Counts *c, const CountPlace *place);

/*
 * The index of a range or edge like this one, which is added with a count of 0
 * if there is none. Valid until counts_sort().
 */
unsigned counts_range(Counts *c, const CountRange *range);
unsigned counts_edge(Counts *c, const CountEdge *edge);

/* Add @n to its count. */
void counts_add_range(Counts *c, const CountRange *range, uint64_t n);
void counts_add_edge(Counts *c, const CountEdge *edge, uint64_t n);

/* Add everything of @from, which has the same objects and tasks. */
void counts_merge(Counts *c, const Counts *from);

/*
 * To be called when all has been added, before the arrays are read: ranges by
 * place's object, start, end and place; edges by object and address of from,
 * then of to.
 */
void counts_sort(Counts *c);

/* Instructions in all ranges */
uint64_t counts_insns(const Counts *c);

/* Instructions of each object, by its id. The caller frees them. */
uint64_t *counts_insns_by_object(const Counts *c);

static inline const CountPlace *count_place(const Counts *c, unsigned place)
{
    return &g_array_index(c->places, CountPlace, place);
}

#endif /* ETRACE_COUNTS_H */
