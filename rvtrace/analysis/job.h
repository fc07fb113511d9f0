/*
 * What to decode, of which trace
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_JOB_H
#define ETRACE_JOB_H

#include "profile/selection.h"
#include "trace/trace.h"

/* Pieces that a trace can be decoded in */
#define JOB_MAX_SHARDS      65536

/* Job.limit: as much as is reasonable; and no limit of anything */
#define JOB_LIMIT_DEFAULT   G_MININT64
#define JOB_LIMIT_NONE      (-1)

/* Where names are from, besides the trace and its ELF files */
typedef struct NameOptions {
    char **kallsyms, **sysroots;
    gboolean no_demangle;
} NameOptions;

typedef struct Job {
    /* The trace: see TraceOptions */
    char **traces, **sidebands;
    /*
     * Paths of traces, a process of user mode each, that are to be added up;
     * NULL: there is one trace. The others are about the one that is decoded.
     */
    GPtrArray *processes;
    unsigned *sessions, nr_sessions;    /* NULL: the last ones */
    char *isa;
    char **elfs, **params, **tvecs;
    char *unit, *params_file;   /* see unit_parse() */
    gboolean ram;
    gint64 wrapped_at;
    int64_t *at;
    bool packets_only;          /* no program is needed */
    bool takes_samples;         /* branch stacks of perf are fine, too */
    NameOptions names;
    /* What of it */
    int hart;                   /* -1: all */
    gint64 limit;               /* JOB_LIMIT_*, or instructions of a hart */
    SelectionOptions select;
    Selection *selection;       /* NULL: everything */
    unsigned shard, shards;     /* piece @shard from 1 on; 0: the whole */
    char **shard_files;         /* to be added up; NULL: decode the trace */
    /* How */
    gint jobs;                  /* 0: as many as there are processors */
    char *index;                /* see results-index.c; NULL: TRACE.rvidx */
} Job;

/* As it is if nothing is said */
#define JOB_INIT \
    .hart = -1, .wrapped_at = RING_NOT_WRAPPED, .limit = JOB_LIMIT_DEFAULT

void job_clear(Job *job);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Job, job_clear)

/* Open its trace, or samples. Returns NULL and sets @errp if it cannot be. */
Trace *job_open(const Job *job, GError **errp);

/* How many instructions, or packets, there may be */
uint64_t job_limit(const Job *job);

/* Has @hart been asked for, and is it there? */
bool job_has_hart(const Job *job, const Trace *t, unsigned hart);

#endif /* ETRACE_JOB_H */
