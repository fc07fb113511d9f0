/*
 * rvtrace: what the files of results share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_RESULTS_PRIVATE_H
#define ETRACE_RESULTS_PRIVATE_H

#include "analysis/results.h"

static inline bool wants(const HartResult *h, unsigned what)
{
    return h->all->what & what;
}

/* Before @h has a call stack; sets @errp if there is no temporary file. */
bool hart_moments_begin(HartResult *h, GError **errp);

/* For CallStackOptions.moment: @opaque is the hart. */
void hart_moment(void *opaque, const CallStackMoment *moment);

void hart_moment_lost(HartResult *h, FlowLossKind kind);

/*
 * Nothing more is selected: is there no more to know, either? The time of the
 * last moments is known behind them.
 */
bool hart_moments_over(HartResult *h);
void hart_moments_end(HartResult *h);

/* results-time.c */

/*
 * When @h is complete but for what an index has: does anything need its virtual
 * time? Prints what is wrong and returns false.
 */
bool hart_time_begin(HartResult *h);

/* For TraceConsumer.time: @opaque is the hart. */
void hart_time(void *opaque, uint64_t ticks, unsigned bits, bool timestamp);

/* results-weights.c: how long each call stack and each piece of code took */

typedef struct Weights Weights;

void weights_free(Weights *w);

/* When @h has all that it is decoded with: is time asked for as weight? */
void hart_weights_begin(HartResult *h);

/* The call stack, of which there are weights, is another one from here on. */
void hart_weights_moment(HartResult *h, const CallStackMoment *moment);

/* It is @ns, behind all that @h has executed so far. */
void hart_weights_time(HartResult *h, uint64_t ns);

/* @h has no more packets; its ranges have their times. */
void hart_weights_end(HartResult *h);

/* index-maker.c */

typedef struct IndexMaker IndexMaker;

/*
 * When r->harts are there: an index of them is made, with places at least
 * r->spacing instructions from each other. Prints what is wrong and returns
 * false.
 */
bool index_maker_begin(Results *r);
void index_maker_free(IndexMaker *m);

/*
 * What happens, selected or not, as for callstack_runs() and its kin; nothing
 * is done if @m is NULL.
 */
void index_maker_runs(IndexMaker *m, const FlowRun *runs, unsigned n,
                      const CallStackSite *site);
void index_maker_trap(IndexMaker *m, const FlowTrap *trap,
                      const CallStackSite *site);
void index_maker_lost(IndexMaker *m);
void index_maker_mark(IndexMaker *m);
bool index_maker_can_repeat(const IndexMaker *m);
void index_maker_repeat(IndexMaker *m, uint64_t times);

/* For TraceConsumer.synced: here there could be a place. */
void index_maker_synced(void *opaque);

/* results-hart.c */

/* What the truth says of a hart, or NULL */
const TruthHart *hart_truth(const Results *r, unsigned hart);

/* Returns NULL and sets @errp if there is no room for temporary files. */
HartResult *hart_new(const Results *r, unsigned hart, GError **errp);
void hart_free(HartResult *h);
void hart_decode(HartResult *h);

/* results-piece.c */

/*
 * By r->index: which piece of @h is decoded. @match: how the trace is to that
 * of the index.
 */
void hart_choose_piece(HartResult *h, TraceMatch match);

/* Decode it, or all if none was chosen. */
void hart_decode_piece(HartResult *h, const TraceConsumer *consumer);

/* results-pool.c */

/* The harts that were asked for; prints what is wrong and returns false. */
bool results_make_harts(Results *r);
void results_decode_harts(Results *r);

/* results-ends.c */

/*
 * Say to all selections where each hart and the trace end, by r->index or by a
 * pass over the trace. Prints what is wrong and returns false.
 */
bool results_find_ends(Results *r);

/* results-index.c */

/*
 * When r->harts are there: find an index, if that is of use, and see where each
 * hart begins and ends. Prints what is wrong and returns false.
 */
bool results_index_begin(Results *r);

/* results-borders.c */

/*
 * Are there such functions as --from and --to name? Prints what is wrong and
 * returns false.
 */
bool results_borders_exist(const Results *r);

/*
 * Which function that the selection waits for begins first in @run? Returns
 * how many instructions are before it, and sets *@name; or @run->count, if none
 * does.
 */
unsigned hart_find_border(HartResult *h, const FlowRun *run,
                          const CallStackSite *site, const char **name);

#endif /* ETRACE_RESULTS_PRIVATE_H */
