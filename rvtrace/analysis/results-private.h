/*
 * rvtrace: what the files of results share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_RESULTS_PRIVATE_H
#define ETRACE_RESULTS_PRIVATE_H

#include "analysis/observer.h"
#include "analysis/results.h"
#include "profile/counter.h"
#include "views/time/moment-clock.h"

static inline bool wants(const HartResult *h, unsigned what)
{
    return h->all->what & what;
}

/* results-hart.c */

/* Returns NULL and sets @errp if there is no room for temporary files. */
HartResult *hart_new(const Results *r, unsigned hart, GError **errp);
void hart_free(HartResult *h);
void hart_decode(HartResult *h);

/* observer.c */

/*
 * One observer more, which needs OBSERVER_*; @h frees @state. It can be found
 * by its @ops: NULL, if there is none.
 */
void hart_observe(HartResult *h, const ObserverOps *ops, void *state,
                  unsigned needs);
void *hart_observer(const HartResult *h, const ObserverOps *ops);

/* @o: each observer of @h that has a function for @event */
#define FOR_OBSERVERS(o, h, event)                                          \
    for (const Observer *o = (const Observer *)(h)->observers->data; o->ops; \
         o++)                                                               \
        if (o->ops->event)

/* For CallStackOptions.moment: @opaque is the hart. */
void hart_moment(void *opaque, const CallStackMoment *moment);

/* Observers: what they give is in results.h */

/* results-truth.c: what the truth says of a hart, or NULL */
const TruthHart *hart_truth(const Results *r, unsigned hart);
void hart_compare(HartResult *h, const TruthHart *truth);

/*
 * results-stack.c: with samples, if they are wanted. Sets @errp if there is no
 * temporary file.
 */
bool hart_follow_stacks(HartResult *h, GError **errp);
CallStack *hart_stack(const HartResult *h);

/* results-moments.c: likewise; nothing is done if nobody wants to know them */
bool hart_follow_moments(HartResult *h, GError **errp);

/* When @h has all that watchers may ask it for; false: they have said why. */
bool hart_begin_watchers(HartResult *h);

/* When it is known where decoding of @h begins, and before that does */
void hart_begin_moments(HartResult *h);

/* results-counter.c; for CallStackOptions.handler: @opaque is the hart. */
void hart_count(HartResult *h);
void hart_count_handler(void *opaque, uint64_t pc, unsigned priv,
                        const CallStackSite *site);

/* Empty ones, as RESULT_TASKS says; the caller frees them. */
Counts *results_new_counts(const Results *r);

/* results-tasks.c */
void hart_count_tasks(HartResult *h);

/* results-runs.c: have r->runs get the runs that are selected. */
void hart_hand_on_runs(HartResult *h);

/* results-weights.c: how long each call stack and each piece of code took */
void hart_weigh_nodes(HartResult *h, const Profile *profile);
void hart_weigh_ranges(HartResult *h, const Counts *ranges, Counter *counter);

/*
 * index-maker.c: when r->harts are there, an index of them is made, with places
 * at least r->spacing instructions from each other. Prints what is wrong and
 * returns false.
 */
bool index_maker_begin(Results *r);

/* results-time.c */

/*
 * When @h is complete but for what an index has: does anything need its virtual
 * time? Prints what is wrong and returns false.
 */
bool hart_time_begin(HartResult *h);

/* For TraceConsumer.time: @opaque is the hart. */
void hart_time(void *opaque, uint64_t ticks, unsigned bits, bool timestamp);

/* results-piece.c */

/*
 * By r->index: which piece of @h is decoded. @match: how the trace is to that
 * of the index.
 */
void hart_choose_piece(HartResult *h, TraceMatch match);

/* Decode it, or all if none was chosen. */
void hart_decode_piece(HartResult *h, const TraceConsumer *consumer);

/*
 * results-moves.c: tasks go on at other harts, and their call stacks with them,
 * for each of those who follow stacks
 */
typedef enum MovesUser {
    MOVES_OF_VIEWS,
    MOVES_OF_INDEX,
    MOVES_NR_USERS,
} MovesUser;

typedef struct Moves Moves;

/* Returns NULL if no task moves, or none can be followed. */
Moves *moves_new(const Trace *t);
void moves_free(Moves *m, unsigned nr_harts);

/*
 * Begin to decode r->harts, @turns of them at the same time. Returns how many
 * threads that takes: one more for each hart that may wait for another one,
 * which gives its turn away meanwhile.
 */
unsigned moves_begin(Moves *m, const Results *r, unsigned turns);
void moves_begin_turn(Moves *m);
void moves_end_turn(Moves *m);

/* Nobody has to wait any more for @hart, which has come to its end. */
void moves_end_hart(Moves *m, unsigned hart);

/*
 * From here on, tasks that come to @h from other harts bring their call stacks
 * to @stack, whose nodes are those of @profile. Observers that come later may
 * tell @stack of runs and traps, earlier ones may not. @made: an index that is
 * to have what arrives, or NULL.
 */
void hart_move_tasks(HartResult *h, MovesUser user, CallStack *stack,
                     Profile *profile, IndexHart *made);

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
