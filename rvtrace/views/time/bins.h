/*
 * Counts by time: how much of each thing there was in each of a few bins
 *
 * Bins are equally wide pieces of an axis, in instructions or ns. Their number
 * is bounded, and so is memory: where there is more than they have room for,
 * two neighbours become one. A width is always the least one times a power of
 * two, and a bin begins at a multiple of it, so that bins of several harts that
 * began with the same width can be added up.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_BINS_H
#define ETRACE_BINS_H

#include <glib.h>

/* How much of a thing there was in a bin, where it was not nothing */
typedef struct BinCount {
    uint32_t id;                /* of the thing: the caller's numbers */
    uint32_t bin;
    uint64_t count;
} BinCount;

typedef struct Bins {
    unsigned max_bins;
    unsigned max_counts;        /* entries of counts */
    uint64_t width;             /* of a bin */
    uint64_t first;             /* bin 0 begins at first * width */
    GArray *counts;             /* BinCount, by bin: those that are complete */
    bool known;                 /* something was counted */
    uint64_t end;               /* bin @now ends there */
    uint32_t now;               /* bin that is not in counts yet: ... */
    GArray *open;               /* ... uint64_t by id */
    GArray *touched;            /* ... uint32_t: the ids that are not 0 */
} Bins;

/*
 * Bins of which there are at most @max_bins and which have at most @max_counts
 * counts, except that a single bin may have one for each id. @width is the
 * least, and not 0. The caller frees it.
 */
Bins *bins_new(uint64_t width, unsigned max_bins, unsigned max_counts);
void bins_free(Bins *b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Bins, bins_free)

/*
 * There was @count of thing @id between @from and @to on the axis, evenly. @to
 * is not less than @from, which is not less than in the call before; numbers of
 * things should be small.
 */
void bins_put(Bins *b, uint32_t id, uint64_t from, uint64_t to,
              uint64_t count);

/*
 * There is nothing more to count: b->counts is complete, ordered by bin. May be
 * called again.
 */
void bins_end(Bins *b);

/*
 * The bin of width @width, which is not less than that of @b, into which
 * @count falls, counted from that which begins at @start, a multiple of @width,
 * and in which everything before it is
 */
static inline uint32_t bins_place(const Bins *b, const BinCount *count,
                                  uint64_t width, uint64_t start)
{
    uint64_t at = (b->first + count->bin) * b->width;

    return (at - MIN(at, start)) / width;
}

#endif /* ETRACE_BINS_H */
