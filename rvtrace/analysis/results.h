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

#include <math.h>
#include "analysis/cli.h"
#include "profile/counter.h"
#include "index/trace-index.h"
#include "elf/source.h"
#include "trace/truth.h"
#include "views/time/moment-clock.h"
#include "views/time/moments.h"
#include "views/pgo/pgo.h"
#include "views/perf/spool.h"
#include "views/time/speedscope.h"
#include "views/time/uftrace.h"
#include "profile/who.h"
#include "base/virtual-clock.h"
#include "views/html/html-report.h"
#include "views/time/timeline.h"

/* Results.what */
#define RESULT_STAT     0x1
#define RESULT_VERIFY   0x2
#define RESULT_PROFILE  0x4
#define RESULT_COUNTS   0x8
#define RESULT_SAMPLES  0x10
#define RESULT_MOMENTS  0x20

typedef struct HartCounts {
    uint64_t insns, insns_at_mark;
    /* ... of which are selected: all, if nobody selects any */
    uint64_t selected, selected_at_mark;
    uint64_t exceptions, interrupts, windows;
} HartCounts;

struct HartResult;

/*
 * Who wants to know how the call stacks of harts change, with RESULT_PROFILE.
 * Harts are decoded at the same time: what begin() returned for one of them is
 * used by one thread at a time. Every round of a loop is decoded then.
 */
typedef struct Watcher {
    /* NULL: it printed what is wrong, and nothing is decoded */
    void *(*begin)(void *opaque, const struct HartResult *h);
    /* Called with what begin() returned; any may be NULL */
    void (*moment)(void *hart, const CallStackMoment *moment);
    /* @time: as that of moments. @what is a constant text */
    void (*lost)(void *hart, uint64_t time, const char *what);
    /* Behind so many selected instructions of the hart */
    void (*end)(void *hart, uint64_t insns, uint64_t time);
    void *opaque;               /* of begin() */
} Watcher;

#define RESULTS_MAX_WATCHERS 8

/* Of one hart; what was not asked for is 0 or NULL. */
typedef struct HartResult {
    TraceDecoder d;             /* d.stats, d.left */
    unsigned hart;
    const struct Results *all;
    HartCounts counts;
    bool compared;              /* the truth has something of this hart */
    TruthCheck check;
    SelectionHart *selection;   /* NULL: everything is selected */
    bool ignored;               /* what happens now is not */
    struct BorderSearch *borders;   /* results-borders.c; NULL at first */
    uint64_t end;               /* instructions that retired, by the truth */
    Profile *profile;
    CallStack *stack;
    Sampler *sampler;           /* reports to the stack what happens */
    Spool *samples;
    Moments *moments;
    MomentClock *clock;         /* of moments in virtual time */
    /* ns; NULL: not asked for */
    struct Weights *weights;        /* of the profile's nodes */
    struct Weights *range_weights;  /* of the counts' ranges */
    VirtualClock time;          /* .hz is 0: nobody wants to know it */
    bool by_timestamps;         /* ... it is that of packets' envelopes */
    uint64_t end_time;          /* as that of moments */
    void *watching[RESULTS_MAX_WATCHERS];   /* what their begin() returned */
    Counts *ranges;
    Counter *counter;
    Who who;
    GArray *losses;             /* TraceLoss, the first ones and the last */
    uint64_t more_losses;
    /* By an index, see results-index.c: which piece is decoded of the hart */
    const IndexHart *indexed;   /* NULL: there is none */
    const IndexPoint *from, *to;    /* NULL: its beginning, its end */
    TraceStart start;
    TreeReader *tree;
    bool over;                  /* what is behind @to is not needed */
    bool failed;                /* the index did not fit */
    struct IndexMaker *maker;   /* index-maker.c, or NULL */
} HartResult;

typedef struct Results {
    /* the caller's to set */
    CliTrace *ct;
    Trace *t;
    unsigned what;              /* RESULT_* */
    const Truth *truth;         /* RESULT_VERIFY */
    /* RESULT_PROFILE and RESULT_COUNTS */
    const Names *names;
    TaskTable *tasks;
    CallStackOptions layers;    /* RESULT_PROFILE */
    bool hart_layer;            /* ... and one for the hart above them */
    SamplerOptions sampler;     /* RESULT_SAMPLES: how often, how much */
    /* results_choose_time(): moments are in ns of virtual time */
    bool virtual_time;
    bool by_time;               /* ... and weights: weights_get() */
    Watcher watchers[RESULTS_MAX_WATCHERS];
    unsigned nr_watchers;
    uint64_t spacing;           /* of an index to be made; 0: none is */
    bool only_ends;             /* for results_find_ends(): nothing is said */
    TraceIndex *made;           /* ... which is that one */
    TraceIndex *index;          /* one that was read; or NULL */
    Selection *everything;      /* of shards, if nothing else is selected */
    /* by hart; NULL: not asked for, or not in the trace */
    HartResult **harts;
} Results;

/*
 * Decode the harts that were asked for, and report what was lost. Profiles,
 * counts, samples, moments and watchers see what ct->selection says; the rest
 * is about everything. If nothing but RESULT_VERIFY is asked for, only those
 * that the truth knows. Prints what is wrong and returns false if that cannot
 * be done, or if a watcher could not begin.
 */
bool results_decode(Results *r);
void results_clear(Results *r);

/* What @o and r->t say; prints what is wrong and returns false. */
struct ProfileOptions;
bool results_choose_time(Results *r, const struct ProfileOptions *o);

/* Virtual time of a node of the hart's profile, or of a range, ns */
uint64_t weights_get(const struct Weights *w, unsigned index);

/* Of all harts: instructions that ran, and those that are selected */
uint64_t results_insns(const Results *r, uint64_t *selected);

/*
 * results-samples.c: of r->t->samples, can what was asked for be had? Prints
 * what is wrong and returns false. Then, take it, when r->harts are there.
 */
bool results_can_sample(const Results *r);
bool results_take_samples(Results *r);

/* results-index.c */

/* TRACE.rvidx, or what --index says; the caller frees it. */
char *results_index_path(const CliTrace *ct);

/* What of @ct decides how the trace is decoded, and how names are found */
char *results_index_setup(const CliTrace *ct, GError **errp);
char *results_index_names(const Results *r);

/*
 * When r->harts are there: find an index, if that is of use, and see where each
 * hart begins and ends. Prints what is wrong and returns false.
 */
bool results_index_begin(Results *r);

/* Decode one hart as that says. */
void results_index_decode(HartResult *h, const TraceConsumer *consumer);

/* index-maker.c: an index is made of what is decoded */

/*
 * Instructions between two places, at least, by @text, or what it is if that is
 * NULL. Prints what is wrong with the @option and returns false.
 */
bool index_parse_spacing(const char *option, const char *text,
                         uint64_t *spacing);

/* Is there an index of such a trace? Prints why not and returns false. */
bool index_maker_can(const Results *r);

/* Write it to @path; prints what is wrong and returns false. */
bool index_maker_write(Results *r, const char *path);

/* cmd-stat.c: the counts of each hart, and in total */
void stat_write(const Results *r, FILE *f);

/*
 * cmd-verify.c: load the files of --truth; prints what is wrong and returns
 * NULL.
 */
Truth *verify_load(char **paths);

/*
 * Write how each hart compares, but for those that were not asked for. Returns
 * an exit status. @paths are those of verify_load().
 */
int verify_write(const Results *r, char **paths, FILE *f);

/* profile-output.c */

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Results, results_clear)

/* The options of profiles */
typedef struct ProfileOptions {
    char **kallsyms;
    char **sysroots;
    gboolean no_demangle;
    char *layers;               /* of flame graphs and folded stacks */
    char *title;
    int width;
    double min_width;
    /* of samples, and of what was called when */
    gint64 period;              /* instructions between samples */
    int branches;               /* transfers that each has */
    gboolean no_chains;         /* samples have none */
    /* of functions, instructions or ns; -1: not given */
    gint64 min_duration;
    char *weight;               /* time or instructions; NULL: not given */
    char *time;                 /* virtual or instructions; NULL: not given */
    gint64 max_events;          /* of functions, in all */
    gboolean icicle;
    /* of reports */
    char *sort, *comm, *dso, *sym, *callers, *format;
    double min_percent;         /* NAN: not given */
    int max_rows;
    gboolean by_total;
    /* of annotate, with comm, dso, sym, min_percent and max_rows */
    gboolean source;
    char **source_prefixes;
    /* of profiles for compilers: the program, and its file */
    char *object, *object_file;
    /* of coverage */
    char **include, **exclude;
    double fail_under;          /* per cent of the lines; negative: not given */
} ProfileOptions;

/* As options are before they are parsed */
#define PROFILE_OPTIONS_INIT { \
    .width = 1200, .min_width = 0.3, .min_percent = NAN, \
    .period = SAMPLER_PERIOD, .branches = SAMPLER_BRANCHES, \
    .max_events = SPEEDSCOPE_MAX_EVENTS, .min_duration = -1, \
    .fail_under = -1, \
}

void profile_options_clear(ProfileOptions *o);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ProfileOptions, profile_options_clear)

/* view-options.c: those of all views, into @o; the caller frees the list. */
GOptionEntry *view_options(ProfileOptions *o);

/* --weight, of views of call stacks; the caller frees it, not what is set. */
GOptionEntry *weight_options(ProfileOptions *o);

/* Those of views that have a clock; the caller frees them, not what is set. */
GOptionEntry *clock_options(ProfileOptions *o);

/* A command that writes one view, of a kind of decode --output */
typedef struct ViewCommand {
    const char *kind;
    const char *summary;
    bool stacks;            /* --layers says what is below them */
    bool folder;            /* it writes a folder, not a file */
    char ***truths;         /* set by an option of its own; or NULL */
} ViewCommand;

/*
 * Run it: its options are those of names, --output, and @more, which set @o.
 * Returns the exit status.
 */
int view_command(const ViewCommand *v, ProfileOptions *o,
                 const GOptionEntry *more, int argc, char **argv);

/* Write the view @kind to @file, NULL for standard output, as that does. */
int view_write(CliTrace *ct, const char *kind, const char *file, char **truths,
               const ProfileOptions *o);

/* Prints what is wrong with @o and returns false. */
bool profile_options_valid(const ProfileOptions *o);

/* Where sources are, by @o, which is valid; the caller frees it. */
SourceTree *profile_sources(const CliTrace *ct, const ProfileOptions *o);

/* --sysroot, or what shards were made with that are merged */
char **profile_sysroots(const CliTrace *ct, const ProfileOptions *o);

/*
 * Fill @table with the ELF files of @ct, the kernel's symbols and what ran of
 * @t, as @o says; prints what is wrong and returns NULL.
 */
Names *profile_load_names(const CliTrace *ct, const ProfileOptions *o,
                          const Trace *t, ObjectTable *table);

/* Set r->layers and r->hart_layer; prints what is wrong and returns false. */
bool profile_parse_layers(Results *r, const ProfileOptions *o);

/*
 * All harts in one, which the caller frees; warns if it had no room. @by_time:
 * weights are ns, as r->by_time says, and not instructions.
 */
Profile *profile_join(const Results *r, bool by_time);

/* All harts in one, sorted, which the caller frees */
Counts *counts_join(const Results *r);

/* cmd-pgo.c: returns an exit status. */
int pgo_output(const CliTrace *ct, const ProfileOptions *o, PgoFormat format,
               const Counts *counts, FILE *f);

/* cmd-coverage.c: each returns an exit status. */
int lcov_output(const CliTrace *ct, const ProfileOptions *o,
                const Counts *counts, FILE *f);
int drcov_output(const Counts *counts, bool text, FILE *f);

/* profile-output.c */

/* As a flame graph if @svg, or else as folded stacks */
void profile_write(Profile *profile, const Results *r,
                   const ProfileOptions *o, bool svg, FILE *f);

/* view-output.c: files for other people's tools */

/*
 * See what @o says, and set r->sampler; prints what is wrong and returns
 * false.
 */
bool view_parse_options(Results *r, const ProfileOptions *o);

/* Each returns an exit status. */
int view_write_perf_data(const Results *r, const ProfileOptions *o, FILE *f);
int view_write_script(const Results *r, FILE *f);
int view_write_callgrind(const Results *r, const ProfileOptions *o,
                         const Counts *counts, Profile *profile, FILE *f);
int view_write_pprof(const Results *r, const Profile *profile, FILE *f);
int view_write_speedscope(const Results *r, const Profile *profile,
                          const ProfileOptions *o, FILE *f);
int view_write_uftrace(const Results *r, const ProfileOptions *o,
                       Uftrace *uftrace);
/* cmd-timeline.c */

/*
 * A timeline that watches what is decoded for @r, which the caller frees;
 * prints what is wrong and returns NULL.
 */
Timeline *timeline_begin(Results *r, const ProfileOptions *o);

/* Write it; prints what is wrong. Returns an exit status. */
int timeline_output(Timeline *t, FILE *f);

/* cmd-html.c */

/*
 * A strip for each hart that is decoded for @r, in an array that the caller
 * frees.
 */
GPtrArray *html_begin(Results *r);

/*
 * Write the report. @profile has the layers of @r. @verdict is what
 * verify_write() wrote, and @status what it returned; NULL: nothing was
 * compared.
 */
void html_output(const Results *r, const ProfileOptions *o, Profile *profile,
                 const Counts *counts, GPtrArray *strips, const char *verdict,
                 int status, FILE *f);

#endif /* ETRACE_RESULTS_H */
