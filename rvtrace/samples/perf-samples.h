/*
 * Samples with branch stacks: what perf record -b wrote
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SAMPLES_PERF_SAMPLES_H
#define ETRACE_SAMPLES_PERF_SAMPLES_H

#include "samples/process-maps.h"
#include "views/perf/perf-data.h"

/* A sample; what it points to is the file's */
typedef struct PerfSample {
    uint64_t time;              /* ns; 0: not recorded */
    uint64_t ip, period;
    uint32_t pid, tid, cpu;
    uint8_t priv;               /* ETracePriv of ip */
    const char *comm;           /* the task's name, or NULL */
    const ProcessMaps *maps;
    uint32_t nr_chain, nr_branches;
    const uint8_t *chain;       /* u64 each; contexts are among them */
    const uint8_t *branches;    /* from, to, flags: u64 each; newest first */
} PerfSample;

typedef struct PerfSamples {
    GArray *samples;            /* PerfSample, by time */
    ProcessTable *processes;
    unsigned nr_cpus;
    /*
     * Between a branch's target and the next one's source instructions follow
     * one another: no kind of branch was left out.
     */
    bool contiguous;
    PerfEvent event;
    uint64_t lost;              /* records that the kernel dropped */
    GStringChunk *comms;
} PerfSamples;

/* Does a perf.data file have branch stacks? */
bool perf_samples_in(const char *path, const uint8_t *data, size_t size);

/*
 * The samples of the file @path, whose @size bytes are @data and must live as
 * long. Returns NULL and sets @errp if it is damaged or not of that sort.
 */
PerfSamples *perf_samples_read(const char *path, const uint8_t *data,
                               size_t size, GError **errp);
void perf_samples_free(PerfSamples *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PerfSamples, perf_samples_free)

/* Entry @i of the sample's branch stack, from the newest, which is 0 */
typedef struct PerfBranch {
    uint64_t from, to, flags;
} PerfBranch;

PerfBranch perf_sample_branch(const PerfSample *s, unsigned i);

#endif /* ETRACE_SAMPLES_PERF_SAMPLES_H */
