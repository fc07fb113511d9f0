/*
 * Locks: who has which, by the names of functions that take them
 *
 * Neither the lock's address nor what a function returns is in a trace. That a
 * function takes a lock is told by its name, and that one gives it back by its
 * name, too: what has returned from spin_lock has one until it calls
 * spin_unlock.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_LOCKS_H
#define ETRACE_LOCKS_H

#include "views/questions/follow.h"

/* Locks that a hart has at a time; of more, the oldest ones are forgotten. */
#define LOCKS_MAX_HELD  64

/* Is @function one that takes a lock, and does not return without it? */
bool lock_is_taken_by(const char *function);

/* Does @function give back what @taker, which is one of these, has taken? */
bool lock_is_given_back_by(const char *function, const char *taker);

typedef struct HeldLock {
    unsigned frame, caller;     /* of the profile: the function, and its caller */
    uint64_t since;             /* place: it returned behind so many */
    const Task *task;
} HeldLock;

/* Those of one hart */
typedef struct Locks Locks;

Locks *locks_new(const Profile *profile);
void locks_free(Locks *l);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Locks, locks_free)

/* For FollowOps */
void locks_begin(Locks *l, const OpenCall *call);
void locks_end(Locks *l, const EndedCall *ended);

/* Something is missing in the trace: what the hart has is not known. */
void locks_forget(Locks *l);

/* The latest lock that it has of @taker, a name; NULL: none */
const HeldLock *locks_find(const Locks *l, const char *taker);

/* Was a lock of @taker ever given back by a call? */
bool locks_gave_back(const Locks *l, const char *taker);

#endif /* ETRACE_LOCKS_H */
