/*
 * Samples of an instruction flow, as a processor's counters make them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/perf/sampler.h"

/*
 * The instruction that a transfer leaves from is the last one of a run. Where
 * it is, is only worked out for those that come into a sample.
 */
typedef struct Transfer {
    uint64_t pc;            /* of the run's first instruction */
    uint64_t wide;          /* see FlowRun */
    uint64_t to;
    uint8_t count;          /* instructions of the run, at most 32 */
    uint8_t itype, cause;
    uint8_t from_priv, to_priv;
} Transfer;

struct Sampler {
    CallStack *stack;
    SamplerOptions options;
    bool ignored;           /* what happens is not selected */
    uint64_t insns;         /* so far, of those that are */
    uint64_t next;          /* the sample comes with this many */
    /* What was last, and whether it leads elsewhere */
    Transfer last;
    bool taken;
    const Task *task;       /* whose transfers they are; NULL: not known */
    /* The last ones, around which the array is used */
    Transfer ring[SAMPLER_MAX_BRANCHES];
    uint64_t transfers;     /* so far; the last one is in front of that */
    unsigned valid;         /* in the ring */
    /* sampler_mark() */
    uint64_t insns_at_mark, transfers_at_mark;
    Sample sample;
};

Sampler *sampler_new(CallStack *stack, const SamplerOptions *options)
{
    Sampler *s = g_new0(Sampler, 1);

    s->stack = stack;
    s->options = *options;
    s->options.branches = MIN(options->branches, SAMPLER_MAX_BRANCHES);
    s->next = options->period;
    return s;
}

void sampler_free(Sampler *s)
{
    g_free(s);
}

static Transfer *ring_at(Sampler *s, uint64_t index)
{
    return &s->ring[index % SAMPLER_MAX_BRANCHES];
}

static void add_transfer(Sampler *s, uint64_t to, uint8_t priv)
{
    Transfer *t = ring_at(s, s->transfers++);

    *t = s->last;
    t->to = to;
    t->to_priv = priv;
    s->valid = MIN(s->valid + 1, s->options.branches);
    s->taken = false;
}

static bool is_taken(unsigned itype)
{
    return itype != ETRACE_ITYPE_NONE &&
           itype != ETRACE_ITYPE_NONTAKEN_BRANCH;
}

/* The address of instruction @n, from 0, of @run */
static uint64_t insn_address(const FlowRun *run, unsigned n)
{
    uint64_t off = 0;

    for (unsigned i = 0; i < n; i++) {
        off += flow_insn_length(run->code + off);
    }
    return run->pc + off;
}

/* The same of the last one of a transfer's run */
static uint64_t transfer_from(const Transfer *t)
{
    uint64_t off = 0;

    for (unsigned i = 1; i < t->count; i++) {
        off += t->wide >> (off / 2) & 1 ? 4 : 2;
    }
    return t->pc + off;
}

static void note_run(Sampler *s, const FlowRun *run)
{
    if (run->count) {
        if (s->taken) {
            add_transfer(s, run->pc, run->priv);
        }
        s->last = (Transfer) {
            .pc = run->pc,
            .wide = run->wide,
            .count = run->count,
            .from_priv = run->priv,
        };
        if (run->count > FLOW_WIDE_INSNS) {
            s->last.pc = insn_address(run, run->count - 1);
            s->last.count = 1;
        }
        s->insns += run->count;
    }
    if (run->itype && s->last.count) {
        s->last.itype = run->itype;
        s->taken = is_taken(run->itype);
    }
}

static SampleMode mode_of(unsigned priv, ObjectKind kind)
{
    if (priv_is_user(priv)) {
        return SAMPLE_USER;
    }
    switch (kind) {
    case OBJECT_NONE:
        return priv == ETRACE_PRIV_S || priv == ETRACE_PRIV_VS ?
               SAMPLE_KERNEL : SAMPLE_MONITOR;
    case OBJECT_KERNEL:
    case OBJECT_MODULE:
        return SAMPLE_KERNEL;
    default:
        return SAMPLE_USER;
    }
}

static SampleAddr sample_addr(const Sampler *s, Image *image,
                              uint64_t pc, uint8_t priv)
{
    NamePlace place;

    names_find(s->options.names, image, priv, pc, &place);
    return (SampleAddr) {
        .pc = pc,
        .bias = place.bias,
        .object = place.object->id,
        .mode = mode_of(priv, place.object->kind),
        .priv = priv,
    };
}

/* Where in the guest is what it knows of @task? 0: nobody has said so. */
static uint64_t descriptor_of(const Task *task, Image *image)
{
    SidebandTask now;

    return task && task_is_known(task) && image && image_task(image, &now) &&
           now.tid == task->tid ? now.task : 0;
}

/* A sample at @pc, which has been reported to the call stack */
static void take_sample(Sampler *s, uint64_t pc, uint8_t priv,
                        const CallStackSite *site)
{
    CallStackCaller callers[SAMPLE_MAX_CHAIN - 1];
    const Task *task = site->task;
    Sample *sample = &s->sample;
    unsigned n = MIN(callstack_callers(s->stack, callers, ARRAY_SIZE(callers),
                                       &task), ARRAY_SIZE(callers));

    sample->time = s->next;
    sample->period = s->options.period;
    sample->hart = s->options.hart;
    sample->task = task ? task->id : TASK_NONE;
    sample->descriptor = descriptor_of(task, site->image);
    sample->nr_chain = n + 1;
    sample->chain[0] = sample_addr(s, site->image, pc, priv);
    for (unsigned i = 0; i < n; i++) {
        sample->chain[i + 1] = sample_addr(s, site->image, callers[i].pc,
                                           callers[i].priv);
    }
    sample->nr_branches = s->valid;
    for (unsigned i = 0; i < s->valid; i++) {
        const Transfer *t = ring_at(s, s->transfers - 1 - i);

        sample->branches[i] = (SampleBranch) {
            .from = sample_addr(s, site->image, transfer_from(t),
                                t->from_priv),
            .to = sample_addr(s, site->image, t->to, t->to_priv),
            .itype = t->itype,
            .cause = t->cause,
        };
    }
    s->options.sample(s->options.opaque, sample);
    s->next += s->options.period;
}

/* All samples in @run, the last one that was reported to the call stack */
static void sample_run(Sampler *s, const FlowRun *run,
                       const CallStackSite *site)
{
    uint64_t before = s->insns - run->count;

    while (s->next <= s->insns) {
        take_sample(s, insn_address(run, s->next - before - 1), run->priv,
                    site);
    }
}

/* Transfers of one task do not explain how another one got somewhere. */
static void look_at_task(Sampler *s, const Task *task)
{
    if (task && task != s->task) {
        s->taken = false;
        s->valid = 0;
        s->task = task;
    }
}

void sampler_runs(Sampler *s, const FlowRun *runs, unsigned n,
                  const CallStackSite *site)
{
    unsigned reported = 0;

    if (s->ignored) {
        callstack_runs(s->stack, runs, n, site);
        return;
    }
    look_at_task(s, site->task);
    for (unsigned i = 0; i < n; i++) {
        note_run(s, &runs[i]);
        if (G_UNLIKELY(s->insns >= s->next)) {
            callstack_runs(s->stack, runs + reported, i + 1 - reported, site);
            reported = i + 1;
            sample_run(s, &runs[i], site);
        }
    }
    callstack_runs(s->stack, runs + reported, n - reported, site);
}

void sampler_trap(Sampler *s, const FlowTrap *trap, const CallStackSite *site)
{
    if (s->ignored) {
        callstack_trap(s->stack, trap, site);
        return;
    }
    look_at_task(s, site->task);
    if (s->taken && trap->epc_known) {
        add_transfer(s, trap->epc, trap->priv);
    }
    s->last = (Transfer) {
        .pc = trap->epc,
        .count = 1,
        .itype = trap->interrupt ? ETRACE_ITYPE_INTERRUPT :
                                   ETRACE_ITYPE_EXCEPTION,
        .cause = trap->cause,
        .from_priv = trap->priv,
    };
    s->taken = trap->epc_known;
    callstack_trap(s->stack, trap, site);
}

/* Transfers before a gap do not explain how one got to what is behind it. */
void sampler_select(Sampler *s, bool selected)
{
    s->ignored = !selected;
    s->last = (Transfer) { 0 };
    s->taken = false;
    s->valid = 0;
    callstack_select(s->stack, selected);
}

void sampler_mark(Sampler *s)
{
    s->insns_at_mark = s->insns;
    s->transfers_at_mark = s->transfers;
    callstack_mark(s->stack);
}

/* What a round left in the ring is there once for each round. */
static void repeat_transfers(Sampler *s, uint64_t times)
{
    uint64_t n = s->transfers - s->transfers_at_mark;

    if (!n || n >= SAMPLER_MAX_BRANCHES) {
        return;
    }
    times = MIN(times, SAMPLER_MAX_BRANCHES / n + 1);
    for (uint64_t i = 0; i < times * n; i++) {
        *ring_at(s, s->transfers) = *ring_at(s, s->transfers - n);
        s->transfers++;
        s->valid = MIN(s->valid + 1, s->options.branches);
    }
}

bool sampler_can_repeat(const Sampler *s, uint64_t times)
{
    uint64_t round = s->insns - s->insns_at_mark;
    uint64_t room = s->next - 1 - s->insns;

    return (!round || times <= room / round) &&
           callstack_can_repeat(s->stack);
}

void sampler_repeat(Sampler *s, uint64_t times)
{
    callstack_repeat(s->stack, times);
    s->insns += (s->insns - s->insns_at_mark) * times;
    repeat_transfers(s, times);
}

void sampler_lost(Sampler *s)
{
    s->taken = false;
    s->valid = 0;
    callstack_lost(s->stack);
}
