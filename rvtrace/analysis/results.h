/*
 * rvtrace: what one pass over a trace gives
 *
 * Several results can be had of the same pass, and the harts are decoded at the
 * same time. What there is to write and to say comes afterwards, hart by hart
 * in their order, as if they had been decoded one after the other.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_RESULTS_H
#define ETRACE_RESULTS_H

#include "analysis/job.h"
#include "analysis/loss-report.h"
#include "analysis/trap-loop.h"
#include "index/trace-index.h"
#include "trace/truth.h"
#include "views/time/moment-clock.h"
#include "views/time/moments.h"
#include "views/perf/sampler.h"
#include "views/perf/spool.h"
#include "profile/counts.h"
#include "profile/who.h"
#include "base/virtual-clock.h"

/* Results.what */
#define RESULT_STAT     0x1
#define RESULT_VERIFY   0x2
#define RESULT_PROFILE  0x4
#define RESULT_COUNTS   0x8
#define RESULT_SAMPLES  0x10
#define RESULT_MOMENTS  0x20
#define RESULT_RUNS     0x40
/* RESULT_COUNTS tell tasks apart, which takes time and memory. */
#define RESULT_TASKS    0x80
/* How much each task ran, in all; with RESULT_COUNTS */
#define RESULT_SHARES   0x100

typedef struct HartCounts {
    uint64_t insns, insns_at_mark;
    /* ... of which are selected: all, if nobody selects any */
    uint64_t selected, selected_at_mark;
    uint64_t exceptions, interrupts, windows;
} HartCounts;

struct HartResult;

/*
 * A view that follows how the call stacks of harts change (RESULT_PROFILE).
 * Harts are decoded at the same time: what begin() returned for one of them is
 * used by one thread at a time. Of a loop, rounds in which the call stack changes
 * are all followed; if there are runs(), every round is.
 */
typedef struct Watcher {
    /* NULL: it printed what is wrong, and nothing is decoded */
    void *(*begin)(void *opaque, const struct HartResult *h);
    /* Called with what begin() returned; any may be NULL */
    void (*moment)(void *hart, const CallStackMoment *moment);
    /*
     * @when: as a moment that has a time, instructions and a place, and nothing
     * else. @mark, and its text, stay until the results are cleared.
     */
    void (*mark)(void *hart, const CallStackMoment *when,
                 const MomentMark *mark);
    /*
     * A trap behind @place instructions. mark() is told of it, too, but later,
     * when @trap and @site are gone.
     */
    void (*trap)(void *hart, uint64_t place, const FlowTrap *trap,
                 const CallStackSite *site);
    /* Runs that are selected, as they are decoded; see ObserverOps */
    void (*runs)(void *hart, const FlowRun *runs, unsigned n,
                 const CallStackSite *site);
    /* Behind what was selected of the hart; @when: as above */
    void (*end)(void *hart, const CallStackMoment *when);
    void *opaque;               /* of begin() */
    bool forgets;               /* no moment's node is used later */
    /*
     * Moments and marks are told of at once, without virtual time, before the
     * runs that they are in the middle of or behind.
     */
    bool timeless;
} Watcher;

/* By an index, see results-piece.c: which piece is decoded of a hart */
typedef struct HartPiece {
    const IndexHart *indexed;   /* NULL: there is none */
    const IndexPoint *from, *to;    /* NULL: its beginning, its end */
    TraceStart start;
    TreeReader *tree;
    bool over;                  /* what is behind @to is not needed */
    bool failed;                /* the index did not fit */
} HartPiece;

/* Of one hart */
typedef struct HartResult {
    TraceDecoder d;             /* d.stats, d.left */
    unsigned hart;
    const struct Results *all;
    HartCounts counts;
    SelectionHart *selection;   /* NULL: everything is selected */
    bool ignored;               /* what happens now is not */
    struct BorderSearch *borders;   /* results-borders.c; NULL at first */
    VirtualClock time;          /* .hz is 0: nobody wants to know it */
    bool by_timestamps;         /* ... it is that of packets' envelopes */
    bool is_process;            /* of user mode */
    bool waits;                 /* it has done nothing since the last time */
    unsigned goes_on_in;        /* times until a program goes on; 0: it runs */
    bool goes_on;               /* ... which this is the time of */
    uint64_t insns_at_trap;     /* the last one; UINT64_MAX: none */
    Who who;
    GArray *losses;             /* TraceLoss, the first ones and the last */
    uint64_t more_losses;
    TrapLoop trap_loop;
    HartPiece piece;
    GArray *observers;          /* Observer; see observer.h */
    unsigned needs;             /* OBSERVER_* of all of them */
    bool named;                 /* ... and who runs what, or nobody needs it */
} HartResult;

/* What observers have to give: NULL or 0, if that was not asked for */
Profile *hart_profile(const HartResult *h);
Spool *hart_samples(const HartResult *h);
Counts *hart_ranges(const HartResult *h);
/* ... which is the caller's from then on: hart_ranges() has none any more */
Counts *hart_take_ranges(HartResult *h);
Moments *hart_moments(const HartResult *h);
uint64_t hart_end_time(const HartResult *h);    /* as that of moments */
/*
 * RESULT_SHARES: selected instructions, uint64_t by Task.id; and when the last
 * of them ran, in ns of virtual time, or 0 if the trace does not have that
 */
const GArray *hart_by_task(const HartResult *h);
uint64_t hart_last_time(const HartResult *h);
/* Virtual time of a node of the profile, ns */
uint64_t hart_node_time(const HartResult *h, unsigned node);
/* The truth may have nothing of a hart. */
TruthCheck *hart_check(const HartResult *h);

typedef struct Results {
    /* the caller's to set */
    const Job *job;
    LossReport *losses;
    Trace *t;
    unsigned what;              /* RESULT_* */
    const Truth *truth;         /* RESULT_VERIFY */
    /*
     * RESULT_RUNS: gets what was executed, from several harts at the same
     * time; returns false when it wants no more of that hart
     */
    bool (*runs)(void *opaque, const FlowRun *runs, unsigned n);
    void *runs_opaque;
    /* RESULT_PROFILE, RESULT_COUNTS and RESULT_RUNS */
    const Names *names;
    TaskTable *tasks;
    CallStackOptions layers;    /* RESULT_PROFILE */
    bool hart_layer;            /* ... and one for the hart above them */
    SamplerOptions sampler;     /* RESULT_SAMPLES: how often, how much */
    /* results_choose_time(): moments are in ns of virtual time */
    bool virtual_time;
    bool by_time;               /* ... and weights */
    GArray *watchers;           /* Watcher; NULL: none */
    uint64_t spacing;           /* of an index to be made; 0: none is */
    bool only_ends;             /* for results_find_ends() */
    TraceIndex *made;           /* ... which is that one */
    TraceIndex *index;          /* one that was read; or NULL */
    Selection *everything;      /* of shards, if nothing else is selected */
    /* What other traces had that are added up with this one */
    uint64_t more_insns, more_selected;
    /* by hart; NULL: not asked for, or not in the trace */
    HartResult **harts;
    struct Moves *moves;        /* results-moves.c; NULL: no task has moved */
} Results;

/*
 * Decode the harts that were asked for, and report what was lost. Profiles,
 * counts, samples, moments, runs and watchers see what job->selection says; the
 * rest is about everything. If nothing but RESULT_VERIFY is asked for, only
 * those that the truth knows. Prints what is wrong and returns false if that
 * cannot be done, or if a watcher could not begin.
 */
bool results_decode(Results *r);
void results_clear(Results *r);

/*
 * Warn if the selection is empty: an empty view may be right, but is
 * rather a name that is wrong. results_decode() does, unless there are several
 * processes.
 */
void results_warn_of_nothing(const Results *r);

/* What to do where a trace has no times: "have ..." */
#define TIMES_REMEDY    "QEMU write it with -global " \
                        "riscv-trace-encoder.time-width=64, or in user mode " \
                        "with -cpu CPU,etrace-timestamps=on"

/* The clock of moments: by default virtual time, if the trace has it */
typedef enum ClockChoice {
    CLOCK_BEST,
    CLOCK_VIRTUAL,
    CLOCK_INSTRUCTIONS,
} ClockChoice;

/*
 * Set r->virtual_time by @clock and r->t, and r->by_time. Prints what is wrong
 * and returns false.
 */
bool results_choose_time(Results *r, ClockChoice clock, bool by_time);

/*
 * Times that the user sees should be right, or said to be wrong: warn if those
 * of @hart, in timestamps or else time fields of @ticks a second, may wrap
 * unseen. May read all of the trace.
 */
void results_warn_of_clock(const Trace *t, unsigned hart, bool timestamps,
                           uint64_t ticks);

/*
 * A pass before the one that counts, for watchers of RESULT_PROFILE alone: all
 * of the trace, in place of results_decode(). What was lost is not said. Prints
 * what is wrong and returns false.
 */
bool results_scan(Results *r);

/* One more; before results_decode() */
void results_watch(Results *r, const Watcher *watcher);

/* Of all harts, and traces: what ran, and how much of it is selected */
uint64_t results_insns(const Results *r, uint64_t *selected);

/*
 * results-samples.c: of r->t->samples, can what was asked for be had? Prints
 * what is wrong and returns false. Then, take it, when r->harts are there.
 */
bool results_can_sample(const Results *r);
bool results_take_samples(Results *r);

/* index-setup.c */

/* TRACE.rvidx, or what --index says; the caller frees it. */
char *results_index_path(const Job *job);

/* What of @job decides how the trace is decoded, and how names are found */
char *results_index_setup(const Job *job, GError **errp);
char *results_index_names(const Results *r);

/* index-maker.c: an index is made of what is decoded */

/* Instructions between two places, at least, if nobody says */
#define INDEX_SPACING   1000000

/* Is there an index of such a trace? Prints why not and returns false. */
bool index_maker_can(const Results *r);

/* Write it to @path; prints what is wrong and returns false. */
bool index_maker_write(Results *r, const char *path);

/* results-join.c */

/*
 * The call stacks of all harts in one, which the caller frees; warns if it had
 * no room. @by_time: weights are ns, as r->by_time says, and not instructions.
 */
Profile *results_profile(const Results *r, bool by_time);

/*
 * The counts of all harts in one, sorted, which the caller frees; the harts
 * have none any more.
 */
Counts *results_take_counts(const Results *r);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Results, results_clear)

#endif /* ETRACE_RESULTS_H */
