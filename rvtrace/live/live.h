/*
 * Live: what runs, interval by interval, while the trace is being written
 *
 * A thread decodes the files beside whoever writes them, with less priority.
 * What it is too slow for it leaves out, from one synchronisation point to
 * another, and says how much that was.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_LIVE_H
#define ETRACE_LIVE_H

#include "analysis/results.h"
#include "views/report/report.h"

/* What was decoded, of one hart or of all */
typedef struct LiveSum {
    uint64_t insns;
    uint64_t packets;       /* that were decoded */
    uint64_t skipped;       /* packets that were not */
    uint64_t losses;        /* in the trace itself */
} LiveSum;

/* An interval, or everything */
typedef struct LiveBlock {
    uint64_t number;        /* of the interval, from 1; 0: of everything */
    double seconds;         /* that it took */
    uint64_t behind;        /* bytes that wait to be decoded */
    unsigned nr_harts;
    const LiveSum *harts;   /* by hart */
    LiveSum all;
    const Counts *counts;   /* sorted; NULL: of everything there are none */
    bool ended;             /* no more will come */
} LiveBlock;

typedef struct LiveOptions {
    const char *trace, *sideband;   /* files, which need not be there yet */
    /* Are they the ones that are meant, and no older ones? NULL: they are. */
    bool (*ready)(void *opaque);
    const Job *job;                   /* hart, elfs, jobs, names */
    double interval;                /* seconds */
    /* Seconds of work that may wait before something is left out; 0: any */
    double max_lag;
    unsigned load;                  /* per cent of a processor, at most */
    /*
     * Called for each interval, and again for the last one when live_redraw()
     * was called, by the thread that decodes
     */
    void (*show)(void *opaque, const LiveBlock *block);
    void *opaque;
} LiveOptions;

typedef struct Live Live;

/* @o is copied; what it points to must live as long. Decoding begins. */
Live *live_new(const LiveOptions *o);

/* The files are complete: decode what is left of them. */
void live_end(Live *l);

/* Decode nothing more. */
void live_stop(Live *l);

/* Show the last interval again, as soon as that can be. */
void live_redraw(Live *l);

/* Show no new intervals, or show them again; decoding goes on. */
void live_pause(Live *l, bool paused);

/* Has live_end() or live_stop() been done, or is there an error? */
bool live_is_done(Live *l);

/*
 * Wait for that, and free @l. @show (may be NULL) is called with the sums of
 * everything. Prints what went wrong and returns false.
 */
bool live_finish(Live *l, void (*show)(void *opaque, const LiveBlock *block));

/* live-text.c */

/*
 * The text of @block, lines that end with a newline, for the caller to free.
 * The first *@header of them are not rows; of these, @report says which and
 * how many.
 */
char *live_text(const LiveBlock *block, const ReportOptions *report,
                unsigned *header);

#endif /* ETRACE_LIVE_H */
