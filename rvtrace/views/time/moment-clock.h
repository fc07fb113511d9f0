/*
 * Moments in virtual time: when they were, by the timestamps around them
 *
 * A timestamp says when all that its hart had executed was done. What happened
 * between two of them is put there by instructions: so a moment waits until the
 * next timestamp is there.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_MOMENT_CLOCK_H
#define ETRACE_MOMENT_CLOCK_H

#include "profile/callstack.h"

/*
 * Timestamps that are closer than this to the last one that counted are taken
 * together, ns: packets are made in bursts, later than what they report.
 */
#define MOMENT_CLOCK_STEP   10000

/* Moments that wait, at most; if there are more, time stands for them. */
#define MOMENT_CLOCK_WAITING    (1u << 20)

typedef struct MomentClock MomentClock;

/* Of a trap's number: it is an interrupt */
#define MOMENT_INTERRUPT    256

/* Something that happens between two moments */
typedef enum MomentMarkKind {
    MOMENT_LOST,                /* of the trace; text: what */
    MOMENT_TRAP,                /* number: its cause, and MOMENT_INTERRUPT */
    MOMENT_NOTE,                /* number: ETraceSbNoteKind; the guest's text */
    MOMENT_RESET,               /* of the hart */
    /* Of a program whose kernel is not traced: it comes back from there, ... */
    MOMENT_RESUMED,
    MOMENT_ENDED,               /* ... or its thread has ended there */
} MomentMarkKind;

typedef struct MomentMark {
    MomentMarkKind kind;
    unsigned number;
    bool nested;                /* it hit the first instruction of a handler */
    const char *text;           /* without a NUL at its end */
    size_t len;
} MomentMark;

/*
 * @moment->time has been set, in ns, never less than that of the one before.
 * @mark: NULL, or what moment_clock_mark() was called with: then only the time,
 * the instructions and the place of @moment say something.
 */
typedef void MomentClockFn(void *opaque, const CallStackMoment *moment,
                           const MomentMark *mark);

MomentClock *moment_clock_new(MomentClockFn *fn, void *opaque);
void moment_clock_free(MomentClock *c);

void moment_clock_put(MomentClock *c, const CallStackMoment *moment);
/*
 * Where @when->insns and @when->place say, there was @mark, which stays the
 * caller's.
 */
void moment_clock_mark(MomentClock *c, const CallStackMoment *when,
                       const MomentMark *mark);

/*
 * Behind @insns instructions and all that was put so far it is @ns, which is
 * not less than before.
 */
void moment_clock_time(MomentClock *c, uint64_t insns, uint64_t ns);

/*
 * Nothing has happened since the last time, of which moment_clock_time() was
 * told, until the next one, however close these are to others.
 */
void moment_clock_split(MomentClock *c);

/*
 * What has happened so far is of no interest: time begins with the latest one
 * that is known.
 */
void moment_clock_restart(MomentClock *c);

/*
 * No more moments come: after the next time, none is of interest. May be called
 * again.
 */
void moment_clock_close(MomentClock *c);

/* Has there been that time? */
bool moment_clock_closed(const MomentClock *c);

/* There is no more: hand over what waits. Returns the last time, ns. */
uint64_t moment_clock_end(MomentClock *c);

#endif /* ETRACE_MOMENT_CLOCK_H */
