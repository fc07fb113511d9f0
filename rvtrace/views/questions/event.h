/*
 * Events: places of a run that one finds by what happens there
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_EVENT_H
#define ETRACE_EVENT_H

#include "profile/selection.h"
#include "views/questions/follow.h"

/* EVENT#N: N at most, and of the slowest calls */
#define EVENT_MAX_NTH       (1u << 20)
#define EVENT_MAX_SLOWEST   100

/* Moments of a hart that are kept to know where it was at a time */
#define EVENT_CLOCK_POINTS  (1u << 18)

/* How long: ns of virtual time, or instructions of a hart */
typedef struct Duration {
    bool timed;
    uint64_t amount;
} Duration;

/* "10ms" or "100k", above 0; returns false if it is neither. */
bool duration_parse(Duration *d, const char *text);

typedef enum EventKind {
    EVENT_ENTERED,              /* sym:FUNCTION */
    EVENT_NOTE,                 /* mark:NOTE */
    EVENT_TRAP,                 /* trap:CAUSE */
    EVENT_SLOWER,               /* slower:FUNCTION>DURATION */
    EVENT_SLOWEST,              /* slowest:FUNCTION */
} EventKind;

typedef struct Event {
    EventKind kind;
    char *name;                 /* a glob, but of a note: its text */
    Duration limit;             /* of EVENT_SLOWER */
    uint64_t nth;               /* from 1 on */
} Event;

/* Returns false if @text is no event; event_clear() frees what @e has. */
bool event_parse(Event *e, const char *text);
void event_clear(Event *e);

/* Where it is: a call from its beginning to its return, all else from == to. */
typedef struct EventPlace {
    unsigned hart;
    Place from, to;
} EventPlace;

/* The search for it in a trace, and in one of its harts */
typedef struct EventSearch EventSearch;
typedef struct EventHart EventHart;

/*
 * @event and @processes must live as long; NULL: all of them, else only what
 * happens to those that it selects counts.
 */
EventSearch *event_search_new(const Event *event, const Selection *processes);
void event_search_free(EventSearch *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EventSearch, event_search_free)

/* Moments are in ns of virtual time, or not; before any hart is searched. */
void event_search_clocks(EventSearch *s, bool virtual_time);

/*
 * In hart number @hart. @profile and @tasks must live as long as @s, which the
 * result belongs to.
 */
EventHart *event_search_hart(EventSearch *s, unsigned hart,
                             const Profile *profile, const TaskTable *tasks);

/* For Watcher: @hart is an EventHart. */
void event_moment(void *hart, const CallStackMoment *moment);
void event_mark(void *hart, const CallStackMoment *when,
                const MomentMark *mark);
void event_end(void *hart, const CallStackMoment *when);

/*
 * When all harts have ended: set *@place to the N-th one, in the order of time,
 * or without times first those of the first hart; of the slowest ones, to the
 * N-th of these. Returns how many there were; less than N: *@place is not set.
 */
uint64_t event_search_find(const EventSearch *s, EventPlace *place);

/*
 * How many instructions the @i-th hart that was searched had at @time; its
 * number is in *@hart. Returns false if there are no more. Between moments that
 * were kept, at most EVENT_CLOCK_POINTS, it is put there by time.
 */
bool event_search_clock(const EventSearch *s, unsigned i, uint64_t time,
                        unsigned *hart, uint64_t *insns);

#endif /* ETRACE_EVENT_H */
