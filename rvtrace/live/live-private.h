/*
 * Live: what live.c and live-hart.c share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_LIVE_PRIVATE_H
#define ETRACE_LIVE_PRIVATE_H

#include "profile/counter.h"
#include "trace/growing.h"
#include "live/live.h"

/* Names that were found at some time: their objects are those of counts. */
typedef struct LiveNames {
    ObjectTable *table;
    Names *names;
} LiveNames;

typedef struct LiveHart {
    Live *live;
    TraceDecoder d;
    Who who;
    LiveSum sum;            /* since the beginning, but for skipped in d */
    uint64_t insns_at_mark;
    uint64_t skipped;       /* by trace_decoder_skip(), in this session */
    bool skipping;          /* a loss is our own doing */
    Counts *counts;
    Counter *counter;
} LiveHart;

/* An interval that was shown, to be shown again */
typedef struct LiveShown {
    LiveBlock block;
    Counts *counts;
    LiveSum *harts;
    LiveNames *names;
} LiveShown;

struct Live {
    LiveOptions o;
    GThread *thread;
    GMutex lock;
    GCond wake;             /* of the thread */
    /* under lock */
    bool ended, stop, redraw, paused, done;

    /* the thread's */
    Growing *growing;
    Trace *t;               /* NULL: not open */
    TaskTable *tasks;
    LiveNames *names;
    size_t named;           /* bytes of the sideband that names know */
    gint64 named_at, naming_took;
    unsigned nr_harts;
    LiveHart *harts;        /* those that were not asked for are all 0 */
    LiveSum *before;        /* what harts had when the interval began */
    GThreadPool *pool;      /* NULL: one hart at a time */
    GMutex crew_lock;
    GCond crew_done;
    unsigned crew_left;
    size_t pos, piece_end;  /* bytes of the trace: decoded; being decoded */
    size_t known, size;     /* that can be decoded, that are there */
    double rate;            /* bytes a second; 0: not known */
    uint64_t number;
    gint64 started, since;  /* of everything, of the interval */
    LiveShown shown;
    bool failed;
};

/* live-hart.c: the harts, of which one piece of the trace is decoded */

/*
 * Begin with l->t, whose harts are counted by l->names. Of a session behind
 * another one, the sums go on. Prints what is wrong and returns false.
 */
bool live_begin_harts(Live *l);

/* Their sums become those of all sessions so far; and they are no more. */
void live_end_harts(Live *l);
void live_forget_harts(Live *l);

/* From now on, what runs is counted anew. */
void live_begin_counts(Live *l);

/* What all harts have run since, sorted */
Counts *live_end_counts(Live *l);

/* Since the beginning */
LiveSum live_sum_of(const LiveHart *h);

/* Decode to byte @end of the trace. */
void live_decode_to(Live *l, size_t end);

/* Leave out what is before byte @to, if something can go on there. */
void live_skip_to(Live *l, size_t to);

/* live-names.c */

/* Find l->names, those of what ran so far; prints what is wrong. */
bool live_find_names(Live *l);

/* Find them again, if there is much more to look at than then. */
void live_renew_names(Live *l);
void live_names_free(LiveNames *n);

#endif /* ETRACE_LIVE_PRIVATE_H */
