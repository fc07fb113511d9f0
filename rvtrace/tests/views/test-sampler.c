/*
 * Samples, and the perf.data they become
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/view-fixture.h"
#include "views/perf/perf-data.h"
#include "base/perf-format.h"
#include "views/perf/script.h"

#define U(pc)   ((pc) + PROGRAM_BIAS)

typedef struct Seen {
    ViewFixture f;
    GArray *samples;        /* Sample */
} Seen;

static void note_sample(void *opaque, const Sample *sample)
{
    Seen *s = opaque;

    g_array_append_vals(s->samples, sample, 1);
}

static void set_up(Seen *s, uint64_t period, unsigned branches)
{
    view_set_up(&s->f, NULL, NULL);
    s->samples = g_array_new(false, false, sizeof(Sample));
    s->f.sampler = sampler_new(s->f.stack, &(SamplerOptions) {
        .names = s->f.names, .hart = 1, .period = period,
        .branches = branches, .sample = note_sample, .opaque = s,
    });
}

static void tear_down(Seen *s)
{
    sampler_free(s->f.sampler);
    g_array_unref(s->samples);
    view_tear_down(&s->f);
}

static const Sample *sample_at(const Seen *s, unsigned i)
{
    check_cmpuint(i, <, s->samples->len);
    return &g_array_index(s->samples, Sample, i);
}

static void assert_chain(const Sample *sample, const uint64_t *want,
                         unsigned n)
{
    check_cmpuint(sample->nr_chain, ==, n);
    for (unsigned i = 0; i < n; i++) {
        check_cmphex(sample->chain[i].pc, ==, want[i]);
    }
}

static void assert_branch(const SampleBranch *b, uint64_t from, uint64_t to,
                          unsigned itype)
{
    check_cmphex(b->from.pc, ==, from);
    check_cmphex(b->to.pc, ==, to);
    check_cmpuint(b->itype, ==, itype);
}

/* Every tenth instruction, wherever runs begin and end */
static void test_period(void)
{
    Seen s;

    set_up(&s, 10, 8);
    view_run(&s.f, MAIN, 4, 0);
    view_run(&s.f, MAIN + 16, 5, CALL);
    view_run(&s.f, WORK, 1, 0);         /* the tenth */
    view_run(&s.f, WORK + 4, 25, RET);  /* two more */
    view_run(&s.f, MAIN + 36, 4, 0);
    check_cmpuint(s.samples->len, ==, 3);
    for (unsigned i = 0; i < 3; i++) {
        check_cmpuint(sample_at(&s, i)->time, ==, 10 * (i + 1));
        check_cmpuint(sample_at(&s, i)->period, ==, 10);
        check_cmpuint(sample_at(&s, i)->hart, ==, 1);
        check_cmpuint(sample_at(&s, i)->task, ==, s.f.sh->id);
    }
    assert_chain(sample_at(&s, 0), (uint64_t[]) { U(WORK), U(MAIN + 36) }, 2);
    check_cmphex(sample_at(&s, 1)->chain[0].pc, ==, U(WORK + 40));
    check_cmphex(sample_at(&s, 2)->chain[0].pc, ==, U(WORK + 80));
    tear_down(&s);
}

/* The transfers before a sample, the last one first, and not its own */
static void test_branches(void)
{
    const Sample *sample;
    Seen s;

    set_up(&s, 100, 3);
    view_run(&s.f, MAIN, 10, CALL);
    view_run(&s.f, WORK, 2, BRANCH);
    view_run(&s.f, WORK + 0x40, 3, ETRACE_ITYPE_NONTAKEN_BRANCH);
    view_run(&s.f, WORK + 0x4c, 40, CALL);
    view_run(&s.f, LEAF, 1, RET);
    view_run(&s.f, WORK + 0xec, 44, RET);
    sample = sample_at(&s, 0);
    check_cmphex(sample->chain[0].pc, ==, U(WORK + 0xec + 43 * 4));
    check_cmpuint(sample->nr_branches, ==, 3);
    assert_branch(&sample->branches[0], U(LEAF), U(WORK + 0xec), RET);
    assert_branch(&sample->branches[1], U(WORK + 0xe8), U(LEAF), CALL);
    assert_branch(&sample->branches[2], U(WORK + 4), U(WORK + 0x40), BRANCH);
    check_cmpuint(sample->branches[2].from.object, ==, s.f.program->id);
    check_cmphex(sample->branches[2].from.bias, ==, PROGRAM_BIAS);
    tear_down(&s);
}

/* What is behind a run of no instructions belongs to the one before. */
static void test_late_itype(void)
{
    Seen s;

    set_up(&s, 12, 8);
    view_run(&s.f, MAIN, 10, 0);
    view_run(&s.f, MAIN + 40, 0, CALL);
    view_run(&s.f, WORK, 2, 0);
    check_cmpuint(sample_at(&s, 0)->nr_branches, ==, 1);
    assert_branch(&sample_at(&s, 0)->branches[0], U(MAIN + 36), U(WORK),
                  CALL);
    tear_down(&s);
}

/* The kernel's stack hangs below the program's, and a trap is a transfer. */
static void test_kernel(void)
{
    const Sample *sample;
    Seen s;

    set_up(&s, 30, 8);
    view_run(&s.f, MAIN, 10, CALL);
    view_run(&s.f, WORK, 5, 0);
    view_trap(&s.f, 8, WORK + 20);
    view_run(&s.f, KENTRY, 5, CALL);
    view_run(&s.f, KSYSCALL, 15, RET);
    sample = sample_at(&s, 0);
    assert_chain(sample, (uint64_t[]) {
        KSYSCALL + 36, KENTRY + 20, U(WORK + 20), U(MAIN + 40),
    }, 4);
    check_cmpuint(sample->chain[1].mode, ==, SAMPLE_KERNEL);
    check_cmpuint(sample->chain[2].mode, ==, SAMPLE_USER);
    check_cmpuint(sample->nr_branches, ==, 3);
    assert_branch(&sample->branches[1], U(WORK + 20), KENTRY,
                  ETRACE_ITYPE_EXCEPTION);
    check_cmpuint(sample->branches[1].cause, ==, 8);
    tear_down(&s);
}

/* A task's transfers, and whose call stack it is, end with it. */
static void test_other_task(void)
{
    Seen s;

    set_up(&s, 20, 8);
    view_run(&s.f, MAIN, 10, CALL);
    s.f.task = s.f.ls;
    view_run(&s.f, LEAF, 10, 0);
    check_cmpuint(sample_at(&s, 0)->nr_branches, ==, 0);
    check_cmpuint(sample_at(&s, 0)->task, ==, s.f.ls->id);
    assert_chain(sample_at(&s, 0), (uint64_t[]) { U(LEAF + 36) }, 1);
    tear_down(&s);
}

static void test_lost(void)
{
    Seen s;

    set_up(&s, 20, 8);
    view_run(&s.f, MAIN, 10, CALL);
    sampler_lost(s.f.sampler);
    view_run(&s.f, LEAF, 10, 0);
    check_cmpuint(sample_at(&s, 0)->nr_branches, ==, 0);
    assert_chain(sample_at(&s, 0), (uint64_t[]) { U(LEAF + 36) }, 1);
    tear_down(&s);
}

/* Repeated rounds are as good as those that are reported one by one. */
static void test_repeat(void)
{
    Seen each, repeated;

    set_up(&each, 1000, 8);
    set_up(&repeated, 1000, 8);
    view_run(&each.f, MAIN, 10, CALL);
    view_run(&repeated.f, MAIN, 10, CALL);
    for (int i = 0; i < 90; i++) {
        view_run(&each.f, LEAF, 10, BRANCH);
        if (i < 3) {
            if (i == 2) {
                sampler_mark(repeated.f.sampler);
            }
            view_run(&repeated.f, LEAF, 10, BRANCH);
        }
    }
    /* No sample may be in what is repeated. */
    check_false(sampler_can_repeat(repeated.f.sampler, 1000));
    check_true(sampler_can_repeat(repeated.f.sampler, 87));
    sampler_repeat(repeated.f.sampler, 87);
    view_run(&each.f, LEAF, 100, 0);
    view_run(&repeated.f, LEAF, 100, 0);
    check_cmpuint(each.samples->len, ==, 1);
    check_cmpuint(repeated.samples->len, ==, 1);
    check_cmpuint(sample_at(&each, 0)->nr_branches, ==, 8);
    check_cmpuint(sample_at(&repeated, 0)->nr_branches, ==, 8);
    for (int i = 0; i < 8; i++) {
        const SampleBranch *b = &sample_at(&each, 0)->branches[i];

        assert_branch(&sample_at(&repeated, 0)->branches[i], b->from.pc,
                      b->to.pc, b->itype);
    }
    check_cmphex(sample_at(&repeated, 0)->chain[0].pc, ==,
                 sample_at(&each, 0)->chain[0].pc);
    tear_down(&each);
    tear_down(&repeated);
}

/* Calls that never return: no more of the chain than a sample has room for */
static void test_deep(void)
{
    Seen s;

    set_up(&s, 400, 64);
    for (int i = 0; i < 400; i++) {
        view_run(&s.f, i % 2 ? WORK : MAIN, 1, CALL);
    }
    check_cmpuint(sample_at(&s, 0)->nr_chain, ==, SAMPLE_MAX_CHAIN);
    check_cmpuint(sample_at(&s, 0)->nr_branches, ==, 64);
    tear_down(&s);
}

static void test_branch_types(void)
{
    static const struct {
        uint8_t itype, cause;
        unsigned type, new_type;
    } table[] = {
        { ETRACE_ITYPE_TAKEN_BRANCH, 0, PERF_BR_COND, 0 },
        { ETRACE_ITYPE_INFERABLE_CALL, 0, PERF_BR_CALL, 0 },
        { ETRACE_ITYPE_UNINFERABLE_CALL, 0, PERF_BR_IND_CALL, 0 },
        { ETRACE_ITYPE_RETURN, 0, PERF_BR_RET, 0 },
        { ETRACE_ITYPE_INFERABLE_JUMP, 0, PERF_BR_UNCOND, 0 },
        { ETRACE_ITYPE_UNINFERABLE_JUMP, 0, PERF_BR_IND, 0 },
        { ETRACE_ITYPE_INTERRUPT, 5, PERF_BR_IRQ, 0 },
        { ETRACE_ITYPE_TRAP_RETURN, 0, PERF_BR_ERET, 0 },
        { ETRACE_ITYPE_EXCEPTION, 8, PERF_BR_SYSCALL, 0 },
        { ETRACE_ITYPE_EXCEPTION, 9, PERF_BR_SYSCALL, 0 },
        { ETRACE_ITYPE_EXCEPTION, 12, PERF_BR_EXTEND_ABI,
          PERF_BR_NEW_FAULT_INST },
        { ETRACE_ITYPE_EXCEPTION, 15, PERF_BR_EXTEND_ABI,
          PERF_BR_NEW_FAULT_DATA },
        { ETRACE_ITYPE_EXCEPTION, 4, PERF_BR_EXTEND_ABI,
          PERF_BR_NEW_FAULT_ALGN },
        { ETRACE_ITYPE_EXCEPTION, 2, PERF_BR_UNKNOWN, 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        uint64_t flags = perf_branch_flags(&(SampleBranch) {
            .itype = table[i].itype, .cause = table[i].cause,
            .to.mode = SAMPLE_KERNEL,
        });

        /* Else perf says that it was mispredicted. */
        check_cmpuint(flags & 3, ==, 2);
        check_cmpuint(flags >> 20 & 15, ==, table[i].type);
        check_cmpuint(flags >> 26 & 15, ==, table[i].new_type);
        check_cmpuint(flags >> 30 & 7, ==, PERF_BR_PRIV_KERNEL);
    }
}

/* Two harts' samples in spools, for the writers */
static void fill_spools(ViewFixture *f, Spool **spools)
{
    g_autoptr(GError) err = NULL;

    view_set_up(f, NULL, NULL);
    for (unsigned i = 0; i < 2; i++) {
        spools[i] = spool_new(&err);
        check_no_error(err);
        f->sampler = sampler_new(f->stack, &(SamplerOptions) {
            .names = f->names, .hart = i, .period = 100 + i, .branches = 8,
            .sample = spool_put, .opaque = spools[i],
        });
        view_run_all(f);
        sampler_free(f->sampler);
        f->sampler = NULL;
        callstack_lost(f->stack);
    }
}

typedef struct Order {
    uint64_t time;
    unsigned n;
} Order;

static void check_order(void *opaque, const Sample *sample)
{
    Order *o = opaque;

    check_cmpuint(sample->time, >=, o->time);
    check_cmpuint(sample->time, ==, (sample->time / (100 + sample->hart)) *
                  (100 + sample->hart));
    o->time = sample->time;
    o->n++;
}

static void test_merge(void)
{
    Spool *spools[3] = { NULL };
    g_autoptr(GError) err = NULL;
    ViewFixture f;

    fill_spools(&f, spools);
    /* More than once */
    for (int i = 0; i < 2; i++) {
        Order order = { 0 };

        check_true(spool_merge(spools, 3, check_order, &order, &err));
        check_cmpuint(order.n, ==, 10300 / 100 + 10300 / 101);
    }
    check_cmpuint(spool_summary(spools, 3).samples, ==, 103 + 101);
    check_cmpuint(spool_summary(spools, 3).first, ==, 100);
    check_cmpuint(spool_summary(spools, 3).last, ==, 10300);
    check_cmphex(spool_summary(spools, 3).kernel_lo, >=, KENTRY);
    spool_free(spools[0]);
    spool_free(spools[1]);
    view_tear_down(&f);
}

static uint64_t get(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned i = bytes; i > 0; i--) {
        v = v << 8 | p[i - 1];
    }
    return v;
}

/* The records of a file, in order of time, and where it says */
static void test_perf_data(void)
{
    unsigned seen[16] = { 0 };
    Spool *spools[2];
    g_autoptr(GError) err = NULL;
    char *text = NULL;
    const uint8_t *data;
    uint64_t at, end, time = 0;
    size_t size;
    ViewFixture f;
    FILE *file = open_memstream(&text, &size);

    fill_spools(&f, spools);
    check_true(perf_data_write(spools, 2, &(PerfDataOptions) {
        .objects = f.objects, .tasks = f.tasks, .nr_harts = 2, .period = 100,
    }, file, &err));
    fclose(file);
    data = (const uint8_t *)text;
    check_true(!memcmp(data, "PERFILE2", 8));
    at = get(data + 40, 8);
    end = at + get(data + 48, 8);
    check_cmpuint(end, <, size);
    while (at < end) {
        unsigned type = get(data + at, 4), len = get(data + at + 6, 2);
        uint64_t when = type == PERF_RECORD_SAMPLE ?
                        get(data + at + 24, 8) : get(data + at + len - 16, 8);

        check_cmpuint(type, <, 16);
        check_cmpuint(len % 8, ==, 0);
        check_cmpuint(len, >, 8);
        check_cmpuint(when, >=, time);
        seen[type]++;
        time = when;
        at += len;
    }
    check_cmpuint(at, ==, end);
    check_cmpuint(seen[PERF_RECORD_SAMPLE], ==, 103 + 101);
    check_cmpuint(seen[PERF_RECORD_COMM], ==, 2);
    check_cmpuint(seen[PERF_RECORD_MMAP2], ==, 2);
    check_cmpuint(seen[PERF_RECORD_MMAP], ==, 1);
    spool_free(spools[0]);
    spool_free(spools[1]);
    free(text);
    view_tear_down(&f);
}

static void test_script(void)
{
    Spool *spools[2];
    g_autoptr(GError) err = NULL;
    char *text = NULL;
    size_t size;
    ViewFixture f;
    FILE *file = open_memstream(&text, &size);

    fill_spools(&f, spools);
    check_true(script_write(spools, 1, f.objects, f.tasks, "instructions",
                            file, &err));
    fclose(file);
    check_true(g_str_has_prefix(text,
        "sh    10 [000]     0.000000:        100 instructions:\040\n"
        "\t           4135c leaf+0x15c (/bin/program)\n"
        "\t           41108 work+0x8 (/bin/program)\n"
        "\t           41028 main+0x28 (/bin/program)\n\n"));
    check_nonnull(strstr(text, "do_syscall+0x"));
    check_nonnull(strstr(text, "ls    20 [000]     0.000010:"));
    spool_free(spools[0]);
    spool_free(spools[1]);
    free(text);
    view_tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sampler/period", test_period);
    g_test_add_func("/sampler/branches", test_branches);
    g_test_add_func("/sampler/late-itype", test_late_itype);
    g_test_add_func("/sampler/kernel", test_kernel);
    g_test_add_func("/sampler/other-task", test_other_task);
    g_test_add_func("/sampler/lost", test_lost);
    g_test_add_func("/sampler/repeat", test_repeat);
    g_test_add_func("/sampler/deep", test_deep);
    g_test_add_func("/sampler/branch-types", test_branch_types);
    g_test_add_func("/sampler/merge", test_merge);
    g_test_add_func("/sampler/perf-data", test_perf_data);
    g_test_add_func("/sampler/script", test_script);
    return g_test_run();
}
