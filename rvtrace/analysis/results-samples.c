/*
 * rvtrace: results of samples with branch stacks, instead of a trace
 *
 * Counts and call stacks are those of the instructions that the branch stacks
 * hold: what ran often is in many of them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"
#include "samples/sample-flow.h"
#include "base/perf-format.h"
#include "base/say.h"

/* More than this share of the pieces without code: say so. */
#define FEW_UNKNOWN 0.02

/* Of one hart, and of one process' maps */
typedef struct Feed {
    HartResult *h;
    Counter *counter;           /* NULL: not asked for */
    CallStack *stack;           /* likewise */
    CallStackSite site;
} Feed;

static void on_run(void *opaque, const FlowRun *run)
{
    Feed *f = opaque;

    f->h->counts.insns += run->count;
    f->h->counts.selected += run->count;
    if (f->counter) {
        counter_runs(f->counter, run, 1, &f->site);
    }
    if (f->stack) {
        callstack_runs(f->stack, run, 1, &f->site);
    }
}

static void on_trap(void *opaque, const FlowTrap *trap)
{
    Feed *f = opaque;

    if (f->counter) {
        counter_trap(f->counter, trap, &f->site);
    }
    if (f->stack) {
        callstack_trap(f->stack, trap, &f->site);
    }
}

static void on_lost(void *opaque)
{
    Feed *f = opaque;

    if (f->counter) {
        counter_lost(f->counter);
    }
    if (f->stack) {
        callstack_lost(f->stack);
    }
}

static const SampleFlowOps feed_ops = {
    .run = on_run,
    .trap = on_trap,
    .lost = on_lost,
};

static const Task *task_of(const Results *r, const PerfSample *s)
{
    g_autofree char *name = s->comm ? NULL : g_strdup_printf(":%u", s->tid);

    return task_intern(r->tasks, true, s->tid, s->pid, s->comm ?: name);
}

static HartResult *hart_of(const Results *r, const PerfSample *s)
{
    return s->cpu < r->t->nr_harts ? r->harts[s->cpu] : NULL;
}

static SampleAddr sample_addr(const PerfSample *s, uint64_t pc, uint8_t priv)
{
    NamePlace place;
    SampleMode mode = SAMPLE_USER;

    names_find(s->maps->names, NULL, priv, pc, &place);
    if (priv == ETRACE_PRIV_S || priv == ETRACE_PRIV_VS) {
        mode = pc >> 63 || place.object->kind == OBJECT_NONE ?
               SAMPLE_KERNEL : SAMPLE_USER;
    } else if (priv == ETRACE_PRIV_M) {
        mode = place.object->kind == OBJECT_NONE ? SAMPLE_MONITOR :
                                                   SAMPLE_USER;
    }
    return (SampleAddr) {
        .pc = pc,
        .bias = place.bias,
        .object = place.object->id,
        .mode = mode,
        .priv = priv,
    };
}

static unsigned fill_chain(const PerfSample *s, SampleAddr *chain)
{
    uint8_t priv = s->priv;
    unsigned n = 0;

    for (unsigned i = 0; i < s->nr_chain && n < SAMPLE_MAX_CHAIN; i++) {
        uint64_t pc = etrace_sb_get(s->chain + 8 * (size_t)i, 8);

        if (pc == PERF_CONTEXT_USER) {
            priv = ETRACE_PRIV_U;
        } else if (pc == PERF_CONTEXT_KERNEL) {
            priv = ETRACE_PRIV_S;
        } else if (pc == PERF_CONTEXT_HV) {
            priv = ETRACE_PRIV_M;
        } else {
            chain[n++] = sample_addr(s, pc, priv);
        }
    }
    if (!n) {
        chain[n++] = sample_addr(s, s->ip, s->priv);
    }
    return n;
}

/* Not perf's own, which knows fewer kinds: that of the instruction */
static void fill_branch(const Results *r, const PerfSample *s, unsigned i,
                        SampleBranch *out)
{
    PerfBranch b = perf_sample_branch(s, i);
    PerfBranch before = i + 1 < s->nr_branches ?
                        perf_sample_branch(s, i + 1) : (PerfBranch) { 0 };
    uint8_t itype;
    bool trap;

    itype = sample_branch_itype(s, &b, &r->t->isa, &trap);
    *out = (SampleBranch) {
        .from = sample_addr(s, b.from,
                            sample_priv(s, b.from, before.flags)),
        .to = sample_addr(s, b.to, sample_priv(s, b.to, b.flags)),
        .itype = itype,
        .cause = 8,
        .cycles = b.flags >> PERF_BRANCH_CYCLES_SHIFT,
    };
}

static void put_sample(const Results *r, HartResult *h, const PerfSample *s)
{
    Sample *out = g_new0(Sample, 1);

    out->time = s->time;
    out->period = s->period;
    out->hart = s->cpu;
    out->task = task_of(r, s)->id;
    out->nr_chain = fill_chain(s, out->chain);
    out->nr_branches = MIN(s->nr_branches, SAMPLE_MAX_BRANCHES);
    for (unsigned i = 0; i < out->nr_branches; i++) {
        fill_branch(r, s, i, &out->branches[i]);
    }
    spool_put(hart_samples(h), out);
    g_free(out);
}

static gint compare_feeds(gconstpointer pa, gconstpointer pb)
{
    const PerfSample *a = *(const PerfSample **)pa;
    const PerfSample *b = *(const PerfSample **)pb;

    if (a->cpu != b->cpu) {
        return a->cpu < b->cpu ? -1 : 1;
    }
    if (a->maps != b->maps) {
        return a->maps->id < b->maps->id ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

static void feed_end(Feed *f)
{
    g_clear_pointer(&f->counter, counter_free);
    g_clear_pointer(&f->stack, callstack_free);
}

static void feed_begin(const Results *r, Feed *f, const PerfSample *s)
{
    CallStackOptions options = r->layers;
    Counts *ranges;
    Profile *profile;

    feed_end(f);
    f->h = hart_of(r, s);
    ranges = hart_ranges(f->h);
    profile = hart_profile(f->h);
    options.names = s->maps->names;
    f->counter = ranges ? counter_new(ranges, s->maps->names, s->cpu) : NULL;
    f->stack = profile ? callstack_new(profile, PROFILE_ROOT, &options) : NULL;
}

/* Memory for what ran lately is had for one process of a hart at a time. */
static void count(const Results *r, SampleFlowStats *stats)
{
    const GArray *samples = r->t->samples->samples;
    g_autoptr(GPtrArray) order = g_ptr_array_sized_new(samples->len);
    const PerfSample *last = NULL;
    Feed feed = { 0 };

    for (guint i = 0; i < samples->len; i++) {
        PerfSample *s = &g_array_index(samples, PerfSample, i);

        if (hart_of(r, s)) {
            g_ptr_array_add(order, s);
        }
    }
    g_ptr_array_sort(order, compare_feeds);
    for (guint i = 0; i < order->len; i++) {
        const PerfSample *s = order->pdata[i];

        if (!last || last->cpu != s->cpu || last->maps != s->maps) {
            feed_begin(r, &feed, s);
        }
        last = s;
        feed.site = (CallStackSite) {
            .space = s->maps->id + 1,
            .task = task_of(r, s),
        };
        on_lost(&feed);
        sample_flow(s, &r->t->isa, &feed_ops, &feed, stats);
    }
    feed_end(&feed);
}

static void warn(const Results *r, const SampleFlowStats *stats)
{
    if (stats->pieces && stats->unknown > FEW_UNKNOWN * stats->pieces) {
        say_warn("of %.1f %% of what is between branches the code is not "
                 "known: give the guest's files with --sysroot or --elf",
                 100.0 * stats->unknown / stats->pieces);
    }
    if (stats->wrong) {
        say_warn("%" PRIu64 " of %" PRIu64 " pieces between branches cannot "
                 "have run so in these files, and are left out",
                 stats->wrong, stats->pieces);
    }
    if (r->t->samples->lost) {
        say_warn("perf has lost %" PRIu64 " records", r->t->samples->lost);
    }
}

bool results_can_sample(const Results *r)
{
    const PerfSamples *samples = r->t->samples;

    if (r->what & ~(RESULT_COUNTS | RESULT_TASKS | RESULT_PROFILE |
                    RESULT_SAMPLES) ||
        r->watchers || r->by_time || r->virtual_time || r->job->shards) {
        say_error("%s: has samples, no trace: they are good for perf-data, "
                  "script, report, folded, flamegraph, annotate, callgrind, "
                  "pprof, pgo and coverage, by instructions",
                  *r->job->traces);
        return false;
    }
    if (r->job->selection) {
        say_error("%s: has samples, of which no part can be selected; "
                  "--hart, --comm and --sym can be used",
                  *r->job->traces);
        return false;
    }
    if (!samples->contiguous && r->what & RESULT_COUNTS) {
        say_error("%s: perf left out some kinds of branches (-j), so that "
                  "what ran between them is not known; use perf record -b",
                  *r->job->traces);
        return false;
    }
    return true;
}

bool results_take_samples(Results *r)
{
    const GArray *samples = r->t->samples->samples;
    SampleFlowStats stats = { 0 };

    for (guint i = 0; r->what & RESULT_SAMPLES && i < samples->len; i++) {
        const PerfSample *s = &g_array_index(samples, PerfSample, i);
        HartResult *h = hart_of(r, s);

        if (h) {
            put_sample(r, h, s);
        }
    }
    if (r->what & RESULT_COUNTS ||
        (r->what & RESULT_PROFILE && !(r->what & RESULT_SAMPLES))) {
        count(r, &stats);
    }
    warn(r, &stats);
    return true;
}
