/*
 * Samples of an instruction flow, as a processor's counters make them
 *
 * One every so many instructions, at the exact one, with the call stack and
 * the transfers of control before it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_SAMPLER_H
#define ETRACE_VIEWS_SAMPLER_H

#include "profile/callstack.h"

#define SAMPLER_PERIOD      100003      /* instructions; a prime number */
#define SAMPLER_BRANCHES    32

#define SAMPLE_MAX_CHAIN    127
#define SAMPLE_MAX_BRANCHES 127             /* that perf takes */
#define SAMPLER_MAX_BRANCHES 64

/* What an address is to perf, which knows two worlds and what is below */
typedef enum SampleMode {
    SAMPLE_USER,            /* programs; firmware and bare metal that has ELF */
    SAMPLE_KERNEL,
    SAMPLE_MONITOR,         /* M-mode of which nothing is known */
} SampleMode;

/* An address that ran, and what was there at the time of the sample */
typedef struct SampleAddr {
    uint64_t pc;
    uint64_t bias;          /* the object's addresses are this much less */
    uint32_t object;        /* index in the ObjectTable */
    uint8_t mode;           /* SampleMode */
    uint8_t priv;           /* ETracePriv */
} SampleAddr;

/* A transfer of control that was taken; a trap is one, too */
typedef struct SampleBranch {
    SampleAddr from, to;
    uint8_t itype;          /* ETraceItype */
    uint8_t cause;          /* of a trap */
    uint16_t cycles;        /* since the one before; 0: not known */
} SampleBranch;

typedef struct Sample {
    /* selected instructions of the hart, this one included; or ns */
    uint64_t time;
    uint64_t period;        /* instructions, or what else was counted */
    uint64_t descriptor;    /* of the task, in the guest; 0: not known */
    uint32_t hart;
    uint32_t task;          /* index in the TaskTable */
    uint32_t nr_chain;      /* at least 1 */
    uint32_t nr_branches;
    SampleAddr chain[SAMPLE_MAX_CHAIN];     /* the sampled instruction first */
    SampleBranch branches[SAMPLE_MAX_BRANCHES];     /* the last one first */
} Sample;

typedef struct SamplerOptions {
    const Names *names;     /* not ours */
    unsigned hart;
    uint64_t period;        /* instructions, at least 1 */
    unsigned branches;      /* at most SAMPLER_MAX_BRANCHES */
    /* Called with @opaque for each; valid only during the call */
    void (*sample)(void *opaque, const Sample *sample);
    void *opaque;
} SamplerOptions;

typedef struct Sampler Sampler;

/*
 * @stack must live as long, and only the sampler reports to it what happens.
 */
Sampler *sampler_new(CallStack *stack, const SamplerOptions *options);
void sampler_free(Sampler *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sampler, sampler_free)

/* As callstack_runs(), callstack_trap(), and so on */
void sampler_runs(Sampler *s, const FlowRun *runs, unsigned n,
                  const CallStackSite *site);
void sampler_trap(Sampler *s, const FlowTrap *trap,
                  const CallStackSite *site);
void sampler_select(Sampler *s, bool selected);
void sampler_mark(Sampler *s);
bool sampler_can_repeat(const Sampler *s, uint64_t times);
void sampler_repeat(Sampler *s, uint64_t times);
void sampler_lost(Sampler *s);

#endif /* ETRACE_VIEWS_SAMPLER_H */
