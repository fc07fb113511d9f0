/*
 * rvtrace: observers of a hart while it is decoded
 *
 * What a pass is to give - call stacks, counts, samples, an index - comes from
 * observers. Each one keeps its state in a file of its own and knows no other
 * one, except what it is built upon. results-hart.c tells them what happens, in
 * the order in which they were added.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_OBSERVER_H
#define ETRACE_OBSERVER_H

#include "profile/callstack.h"

/* Each may be NULL, except free; @opaque is the observer's state. */
typedef struct ObserverOps {
    /* Instructions were executed: runs as they are decoded */
    void (*decoded)(void *opaque, const FlowRun *runs, unsigned n);
    /*
     * Then the same runs again, split so that each piece is of one privilege
     * level and either selected or not; @site has the task and the code.
     */
    void (*runs)(void *opaque, const FlowRun *runs, unsigned n,
                 const CallStackSite *site);
    void (*trap)(void *opaque, const FlowTrap *trap,
                 const CallStackSite *site);
    void (*lost)(void *opaque, FlowLossKind kind);
    /* Software has noted something down; the text stays. */
    void (*note)(void *opaque, const SidebandNote *note);
    /* What a filter leaves out begins here; see callstack_gap(). */
    void (*gap)(void *opaque, bool fenced);
    /* A packet that synchronises has been processed. */
    void (*synced)(void *opaque);

    /* From here on, what happens is @selected or not. At first, it is. */
    void (*select)(void *opaque, bool selected);
    /* The first instructions that are selected come next. */
    void (*selection_begins)(void *opaque);
    /*
     * Nothing more is selected. Return true if the observer needs nothing
     * behind the selection; one that returns false is asked again.
     */
    bool (*is_over)(void *opaque);

    /*
     * A round of a loop begins; it was gone round @times times more, each like
     * what was run since. repeat is called only if can_repeat says so of all.
     */
    void (*mark)(void *opaque);
    bool (*can_repeat)(void *opaque, uint64_t times);
    void (*repeat)(void *opaque, uint64_t times);

    /* The call stack, if there is one, is another one from here on. */
    void (*moment)(void *opaque, const CallStackMoment *moment);
    /*
     * It is @ns of virtual time, behind all that happened so far. @waited: since
     * the time before, a program has waited for the kernel, which is not traced.
     */
    void (*time)(void *opaque, uint64_t ns, bool waited);

    /* The hart has been decoded. The last observer is told first; likewise: */
    void (*end)(void *opaque);
    void (*free)(void *opaque);
} ObserverOps;

/* What an observer needs of the pass */
#define OBSERVER_EVERY_ROUND    0x1     /* of a loop: nothing is repeated */
#define OBSERVER_TIME           0x2     /* virtual time, if it is known */

typedef struct Observer {
    const ObserverOps *ops;
    void *state;
} Observer;

#endif /* ETRACE_OBSERVER_H */
