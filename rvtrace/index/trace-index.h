/*
 * Index of a trace: places where decoding can begin, with all that is known
 * there
 *
 * Each hart has a list of points, in the trace's order, that lie behind its
 * synchronisation packets. What a point does not say of call stacks is in the
 * hart's tree and pool (index/stack-tree.h, index/stack-pool.h).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TRACE_INDEX_H
#define ETRACE_TRACE_INDEX_H

#include "profile/stack-pool.h"
#include "profile/stack-tree.h"
#include "index/trace-id.h"

/* Of the file's format */
#define TRACE_INDEX_VERSION 5

/* What was counted of a hart so far */
typedef struct IndexCounts {
    uint64_t insns;
    uint64_t exceptions, interrupts, windows;
    uint64_t losses;
    TraceStats stats;
} IndexCounts;

typedef struct IndexPoint {
    TracePoint at;
    IndexCounts before;
    /* Ticks of virtual time, by the packets before; 0: not known */
    uint64_t ticks;
    unsigned task;          /* number in the tree; 0: not known */
    /*
     * Where tasks are not known: whom the current address space was taken for
     * (0: nobody yet), and its number
     */
    unsigned space_task, space;
    /* For callstack_load(): of the file that was read, or of bytes */
    ByteReader stacks;
    GByteArray *bytes;      /* when it is being made; else NULL */
} IndexPoint;

/* A task that comes from another hart, with its call stacks */
typedef struct IndexArrival {
    uint64_t came;          /* SidebandMove.came */
    /* For callstack_load_task(); empty: it has brought nothing */
    ByteReader stacks;
    GByteArray *bytes;      /* when it is being made; else NULL */
} IndexArrival;

typedef struct IndexHart {
    bool present;
    GArray *advanced;       /* uint64_t, by part: see TraceStart */
    GArray *points;         /* IndexPoint */
    GArray *arrivals;       /* IndexArrival, by @came */
    IndexCounts all;        /* of the whole trace */
    uint64_t last_ticks;    /* of virtual time; 0: not known */
    uint64_t sideband_end;  /* how far the sideband was read in the end */
    GArray *losses;         /* TraceLoss, the first ones */
    TreeWriter *tree_writer;    /* when it is being made; else NULL */
    StackPool *pool;
    ByteReader tree;        /* for tree_reader_new() */
    GArray *pieces;         /* ByteReader; of stack_pool_get() */
} IndexHart;

typedef struct TraceIndex {
    GArray *ids;            /* PartId */
    char *setup;            /* options that the decoder has */
    char *names;            /* names_digest() */
    char *digest;           /* of the file that was read; else NULL */
    GBytes *file;           /* or NULL */
    unsigned nr_harts;
    IndexHart *harts;
} TraceIndex;

/* An empty one of @t, to be filled */
TraceIndex *trace_index_new(const Trace *t, const char *setup,
                            const char *names);
void trace_index_free(TraceIndex *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TraceIndex, trace_index_free)

/* Write @index of @t to @path. Returns false and sets @errp if that fails. */
bool trace_index_write(const TraceIndex *index, const Trace *t,
                       const char *path, GError **errp);

/*
 * Read @path and see whether it is an index of @t, as far as that goes without
 * decoding; *@match says whether the trace has grown. Returns NULL and sets
 * @errp, with the path in its message, if not.
 */
TraceIndex *trace_index_read(const char *path, const Trace *t,
                             TraceMatch *match, GError **errp);

/* The last point of @h with at most @insns instructions before; or NULL */
const IndexPoint *index_hart_find(const IndexHart *h, uint64_t insns);

/* ... with a time that is known and at most @ticks; or NULL */
const IndexPoint *index_hart_find_time(const IndexHart *h, uint64_t ticks);

/* What came with the task that arrived then; NULL: it is not known */
const IndexArrival *index_hart_arrival(const IndexHart *h, uint64_t came);

#endif /* ETRACE_TRACE_INDEX_H */
