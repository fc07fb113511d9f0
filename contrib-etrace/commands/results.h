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
#include "cli.h"
#include "counter.h"
#include "truth.h"

/* Results.what */
#define RESULT_STAT     0x1
#define RESULT_VERIFY   0x2
#define RESULT_PROFILE  0x4
#define RESULT_COUNTS   0x8

typedef struct HartCounts {
    uint64_t insns, insns_at_mark;
    uint64_t exceptions, interrupts, windows;
} HartCounts;

/* Of one hart; what was not asked for is 0 or NULL. */
typedef struct HartResult {
    TraceDecoder d;             /* d.stats, d.left */
    unsigned hart;
    const struct Results *all;
    HartCounts counts;
    bool compared;              /* the truth has something of this hart */
    TruthCheck check;
    uint64_t end;               /* instructions that retired, by the truth */
    Profile *profile;
    CallStack *stack;
    Counts *ranges;
    Counter *counter;
    /* Who ran last: by the sideband, or else whose address space it is */
    const Task *task, *space_task;
    uint64_t task_serial;
    unsigned task_space, task_generation;
    GArray *losses;             /* TraceLoss, the first ones and the last */
    uint64_t more_losses;
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
    /* by hart; NULL: not asked for, or not in the trace */
    HartResult **harts;
} Results;

/*
 * Decode the harts that were asked for, and report what was lost. If nothing
 * but RESULT_VERIFY is asked for, only those that the truth knows.
 */
void results_decode(Results *r);
void results_clear(Results *r);

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
    char *layers;               /* of flame graphs and folded stacks */
    char *title;
    int width;
    double min_width;
    /* of reports */
    char *sort, *comm, *dso, *sym, *callers, *format;
    double min_percent;         /* NAN: not given */
    int max_rows;
    gboolean by_total;
    /* of annotate, with comm, dso, sym, min_percent and max_rows */
    gboolean source;
    char **source_prefixes;
} ProfileOptions;

/* As options are before they are parsed */
#define PROFILE_OPTIONS_INIT { \
    .width = 1200, .min_width = 0.3, .min_percent = NAN, \
}

void profile_options_clear(ProfileOptions *o);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ProfileOptions, profile_options_clear)

/* Prints what is wrong with @o and returns false. */
bool profile_options_valid(const ProfileOptions *o);

/*
 * Fill @table with the ELF files of @ct, the kernel's symbols and what ran of
 * @t, as @o says; prints what is wrong and returns NULL.
 */
Names *profile_load_names(const CliTrace *ct, const ProfileOptions *o,
                          const Trace *t, ObjectTable *table);

/* Set r->layers and r->hart_layer; prints what is wrong and returns false. */
bool profile_parse_layers(Results *r, const ProfileOptions *o);

/* All harts in one, which the caller frees; warns if it had no room. */
Profile *profile_join(const Results *r);

/* All harts in one, sorted, which the caller frees */
Counts *counts_join(const Results *r);

/* As a flame graph if @svg, or else as folded stacks */
void profile_write(Profile *profile, const CliTrace *ct,
                   const ProfileOptions *o, bool svg, FILE *f);

#endif /* ETRACE_RESULTS_H */
