/*
 * Counts of what ran, and reports of them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/unfiled.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/profile-fixture.h"
#include "profile/counter.h"
#include "views/report/report.h"

static const char kallsyms[] =
    "0000000000001000 T main\n"
    "0000000000001100 t work\n"
    "0000000000001200 T leaf\n";

#define MAIN    0x1000
#define WORK    0x1100
#define LEAF    0x1200

/* c.nop; an instruction of 4 bytes; c.nop ... */
static const uint8_t code[64] = {
    0x01, 0x00, 0x13, 0x00, 0x00, 0x00, 0x01, 0x00, 0x13, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x13, 0x00, 0x00, 0x00,
};

typedef struct Fixture {
    ObjectTable *objects;
    Object *kernel;
    TaskTable *tasks;
    Names *names;
    Counts *counts;
    Counter *counter;
    CallStackSite site;
} Fixture;

static void set_up(Fixture *f)
{
    *f = (Fixture) { .objects = object_table_new() };
    f->names = names_new(f->objects);
    f->kernel = fixture_object(f->objects, f->names, OBJECT_KERNEL,
                               "/boot/kernel", kallsyms, 0x10000);
    f->tasks = task_table_new();
    f->counts = counts_new(f->objects, f->tasks);
    f->counter = counter_new(f->counts, f->names, 3);
    f->site.task = task_intern(f->tasks, TASK_KNOWN, 7, 7, "sh");
}

static void tear_down(Fixture *f)
{
    g_clear_pointer(&f->counter, counter_free);
    counts_free(f->counts);
    names_free(f->names);
    task_table_free(f->tasks);
    object_table_free(f->objects);
}

/* @count instructions of @code, the last one being an @itype, at @pc */
static void run(Fixture *f, uint64_t pc, unsigned count, unsigned itype)
{
    FlowRun run = {
        .pc = pc + 0x10000,
        .code = code,
        .count = count,
        .priv = ETRACE_PRIV_U,
        .itype = itype,
    };

    run.end = run.pc;
    for (unsigned i = 0; i < count; i++) {
        run.end += flow_insn_length(code + (run.end - run.pc));
    }
    counter_runs(f->counter, &run, 1, &f->site);
}

static char *text_of(const Counts *c)
{
    GString *s = g_string_new(NULL);

    for (guint i = 0; i < c->ranges->len; i++) {
        const CountRange *r = &g_array_index(c->ranges, CountRange, i);

        if (r->count) {
            g_string_append_printf(s, "%" PRIx64 "-%" PRIx64 "-%" PRIx64
                                   " %u insns itype %u: %" PRIu64 "\n",
                                   r->start, r->last, r->end, r->insns,
                                   r->itype, r->count);
        }
    }
    for (guint i = 0; i < c->edges->len; i++) {
        const CountEdge *e = &g_array_index(c->edges, CountEdge, i);

        if (e->count) {
            g_string_append_printf(s, "%" PRIx64 ">%" PRIx64 " itype %u: %"
                                   PRIu64 "\n", e->from, e->to, e->itype,
                                   e->count);
        }
    }
    return g_string_free(s, false);
}

static void assert_counts(Fixture *f, const char *want)
{
    g_autofree char *text = NULL;

    g_clear_pointer(&f->counter, counter_free);
    counts_sort(f->counts);
    text = text_of(f->counts);
    check_cmpstr(text, ==, want);
}

/* A loop: taken twice, and not the third time */
static void test_branches(void)
{
    Fixture f;

    set_up(&f);
    for (unsigned i = 0; i < 3; i++) {
        run(&f, MAIN, 3, i < 2 ? ETRACE_ITYPE_TAKEN_BRANCH
                               : ETRACE_ITYPE_NONTAKEN_BRANCH);
    }
    run(&f, MAIN + 8, 2, ETRACE_ITYPE_INFERABLE_CALL);
    run(&f, LEAF, 1, ETRACE_ITYPE_RETURN);
    run(&f, MAIN + 14, 1, 0);
    assert_counts(&f, "1000-1006-1008 3 insns itype 4: 1\n"
                      "1000-1006-1008 3 insns itype 5: 2\n"
                      "1008-100a-100e 2 insns itype 9: 1\n"
                      "100e-100e-1010 1 insns itype 0: 1\n"
                      "1200-1200-1202 1 insns itype 13: 1\n"
                      "1006>1000 itype 5: 2\n"
                      "100a>1200 itype 9: 1\n"
                      "1200>100e itype 13: 1\n");
    check_cmpuint(counts_insns(f.counts), ==, 3 * 3 + 2 + 1 + 1);
    tear_down(&f);
}

/* How a run was left is said afterwards, and a trap ends one in its middle. */
static void test_late_and_traps(void)
{
    FlowRun news = { .end = 0x11002, .itype = ETRACE_ITYPE_TAKEN_BRANCH };
    FlowTrap trap = { .interrupt = true };
    FlowTrap target = { .epc = LEAF + 0x10000, .epc_known = true };
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, 0);
    counter_runs(f.counter, &news, 1, &f.site);
    run(&f, WORK, 2, 0);
    counter_trap(f.counter, &trap, &f.site);
    run(&f, LEAF, 1, ETRACE_ITYPE_TAKEN_BRANCH);
    counter_lost(f.counter);
    run(&f, MAIN, 1, ETRACE_ITYPE_INFERABLE_CALL);
    /* The call has been made, and the function's first instruction has not. */
    counter_trap(f.counter, &target, &f.site);
    run(&f, MAIN + 0x20, 1, ETRACE_ITYPE_TRAP_RETURN);
    run(&f, LEAF, 1, 0);
    assert_counts(&f, "1000-1000-1002 1 insns itype 5: 1\n"
                      "1000-1000-1002 1 insns itype 9: 1\n"
                      "1020-1020-1022 1 insns itype 3: 1\n"
                      "1100-1102-1106 2 insns itype 2: 1\n"
                      "1200-1200-1202 1 insns itype 0: 1\n"
                      "1200-1200-1202 1 insns itype 5: 1\n"
                      "1000>1100 itype 5: 1\n"
                      "1000>1200 itype 9: 1\n"
                      "1020>1200 itype 3: 1\n");
    tear_down(&f);
}

/* Rounds that are repeated count like those that were run one by one. */
static void test_repeat(void)
{
    g_autofree char *want = NULL;
    Fixture f;

    for (unsigned repeated = 0; repeated < 2; repeated++) {
        set_up(&f);
        run(&f, LEAF, 2, ETRACE_ITYPE_UNINFERABLE_JUMP);
        for (unsigned i = 0; i < 100; i++) {
            if (i == 1) {
                counter_mark(f.counter);
            } else if (i == 2 && repeated) {
                check_true(counter_can_repeat(f.counter));
                counter_repeat(f.counter, 97);
                i = 99;
            }
            run(&f, MAIN, 2, ETRACE_ITYPE_NONTAKEN_BRANCH);
            run(&f, MAIN + 6, 1, ETRACE_ITYPE_TAKEN_BRANCH);
        }
        g_clear_pointer(&f.counter, counter_free);
        counts_sort(f.counts);
        if (!repeated) {
            want = text_of(f.counts);
        } else {
            g_autofree char *text = text_of(f.counts);

            check_cmpstr(text, ==, want);
        }
        tear_down(&f);
    }
}

/* Two harts' counts in one are those of both. */
static void test_merge(void)
{
    Counts *sum;
    g_autofree char *text = NULL;
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, ETRACE_ITYPE_INFERABLE_CALL);
    run(&f, WORK, 1, 0);
    g_clear_pointer(&f.counter, counter_free);
    sum = counts_new(f.objects, f.tasks);
    counts_merge(sum, f.counts);
    counts_merge(sum, f.counts);
    counts_sort(sum);
    text = text_of(sum);
    check_cmpstr(text, ==, "1000-1000-1002 1 insns itype 9: 2\n"
                           "1100-1100-1102 1 insns itype 0: 2\n"
                           "1000>1100 itype 9: 2\n");
    counts_free(sum);
    tear_down(&f);
}

static char *report(Fixture *f, const char *keys, const ReportOptions *with)
{
    ReportOptions o = *with;
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    check_true(report_parse_keys(keys, &o));
    report_write(f->counts, NULL, &o, file);
    fclose(file);
    return text;
}

static void assert_report(Fixture *f, const char *keys, ReportOptions with,
                          const char *want)
{
    char *text = report(f, keys, &with);

    check_cmpstr(text, ==, want);
    free(text);
}

static void test_report(void)
{
    ReportOptions o;
    Fixture f;

    set_up(&f);
    for (unsigned i = 0; i < 5; i++) {
        run(&f, MAIN, 3, ETRACE_ITYPE_INFERABLE_CALL);
        run(&f, WORK, 1, ETRACE_ITYPE_RETURN);
    }
    f.site.task = task_intern(f.tasks, TASK_KNOWN, 8, 7, "awk");
    run(&f, MAIN, 5, 0);
    g_clear_pointer(&f.counter, counter_free);
    counts_sort(f.counts);
    assert_report(&f, "comm", (ReportOptions) { 0 },
        "# 25 instructions; weights are instructions\n"
        "    own     instructions  comm\n"
        " 80.00%               20  sh\n"
        " 20.00%                5  awk\n");
    assert_report(&f, "tid,sym", (ReportOptions) { 0 },
        "# 25 instructions; weights are instructions\n"
        "    own     instructions        calls  tid    sym\n"
        " 60.00%               15            0  7:sh   main\n"
        " 20.00%                5            0  8:awk  main\n"
        " 20.00%                5            5  7:sh   work\n");
    assert_report(&f, "dso,priv,hart", (ReportOptions) { .sym = "w*" },
        "# 25 instructions, of which 5 (20.00%) were selected; weights are "
        "instructions\n"
        "    own     instructions  dso     priv    hart\n"
        " 20.00%                5  kernel  U-mode  3\n");
    assert_report(&f, "sym", (ReportOptions) { .max_rows = 1 },
        "# 25 instructions; weights are instructions\n"
        "    own     instructions        calls  sym\n"
        " 80.00%               20            0  main\n"
        "# 1 rows left out: 5 instructions (20.00%)\n");
    check_false(report_parse_keys("sym,sym", &o));
    check_false(report_parse_keys("symbol", &o));
    check_false(report_parse_keys("", &o));
    tear_down(&f);
}

/* Where nobody asks who ran it, each piece of code is counted once. */
static void test_without_tasks(void)
{
    static const struct {
        const char *keys;
        ReportOptions o;
        bool needed;
    } cases[] = {
        { "dso,sym", { .sym = NULL }, false },
        { "priv,hart,srcline", { .sym = "*", .dso = "*" }, false },
        { "comm", { .sym = NULL }, true },
        { "dso,pid", { .sym = NULL }, true },
        { "sym,tid", { .sym = NULL }, true },
        { "sym", { .comm = "*" }, true },
    };
    g_autofree char *want = NULL;
    Fixture f;

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        ReportOptions o = cases[i].o;

        check_true(report_parse_keys(cases[i].keys, &o));
        check_cmpint(report_needs_tasks(&o), ==, cases[i].needed);
    }
    for (unsigned apart = 0; apart < 2; apart++) {
        g_autofree char *text = NULL;

        set_up(&f);
        if (!apart) {
            f.counts->tasks = NULL;
        }
        for (unsigned i = 0; i < 6; i++) {
            f.site.task = i % 3 ? task_intern(f.tasks, TASK_KNOWN, 10 + i % 3,
                                              7, "sh") : NULL;
            run(&f, MAIN, 3, ETRACE_ITYPE_INFERABLE_CALL);
            run(&f, WORK, 1, ETRACE_ITYPE_RETURN);
        }
        g_clear_pointer(&f.counter, counter_free);
        counts_sort(f.counts);
        check_cmpuint(f.counts->places->len, ==, apart ? 3 : 1);
        check_cmpuint(f.counts->ranges->len, ==, apart ? 6 : 2);
        check_cmpuint(count_place(f.counts, 0)->task, ==, TASK_NONE);
        text = report(&f, "sym", &(ReportOptions) { 0 });
        if (!apart) {
            want = g_steal_pointer(&text);
        } else {
            check_cmpstr(text, ==, want);
        }
        tear_down(&f);
    }
    check_cmpstr(want, ==,
        "# 24 instructions; weights are instructions\n"
        "    own     instructions        calls  sym\n"
        " 75.00%               18            0  main\n"
        " 25.00%                6            6  work\n");
}

/* Virtual time as weight; calls stay what they are. */
static void test_report_time(void)
{
    Counts *sum;
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 3, ETRACE_ITYPE_INFERABLE_CALL);
    run(&f, WORK, 1, ETRACE_ITYPE_RETURN);
    g_clear_pointer(&f.counter, counter_free);
    for (guint i = 0; i < f.counts->ranges->len; i++) {
        CountRange *r = &g_array_index(f.counts->ranges, CountRange, i);

        check_cmpuint(r->ns, ==, 0);
        r->ns = r->insns == 3 ? 100 : 300;
    }
    /* Harts are added up. */
    sum = counts_new(f.counts->objects, f.counts->tasks);
    counts_merge(sum, f.counts);
    counts_merge(sum, f.counts);
    counts_free(f.counts);
    f.counts = sum;
    counts_sort(f.counts);
    assert_report(&f, "sym", (ReportOptions) { .by_time = true, .ran = 7 },
        "# 800 ns of virtual time, of all harts; weights are virtual time\n"
        "    own               ns        calls  sym\n"
        " 75.00%              600            2  work\n"
        " 25.00%              200            0  main\n");
    assert_report(&f, "sym", (ReportOptions) {
            .by_time = true, .format = TABLE_JSON, .max_rows = 1
        },
        "{\"schema\": 1, \"command\": \"report\", "
        "\"ns\": 800, \"selected\": 800, \"rows\": [\n"
        "  {\"own_ns\": 600, \"calls\": 2, \"sym\": \"work\", "
        "\"addr\": \"0x1100\"}\n"
        "]}\n");
    tear_down(&f);
}

/* For scripts: names may be anything that a guest can think of. */
static void test_formats(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 3, ETRACE_ITYPE_INFERABLE_CALL);
    f.site.task = task_intern(f.tasks, TASK_KNOWN, 8, 7, "a\"b\\\t\xf0");
    run(&f, WORK, 1, ETRACE_ITYPE_RETURN);
    g_clear_pointer(&f.counter, counter_free);
    counts_sort(f.counts);
    assert_report(&f, "comm,sym", (ReportOptions) { .format = TABLE_TSV },
        "own\tcalls\tcomm\tsym\taddr\n"
        "3\t0\tsh\tmain\t0x1000\n"
        "1\t1\ta\"b\\?\xef\xbf\xbd\twork\t0x1100\n");
    assert_report(&f, "comm,sym", (ReportOptions) { .format = TABLE_JSON },
        "{\"schema\": 1, \"command\": \"report\", "
        "\"instructions\": 4, \"selected\": 4, \"rows\": [\n"
        "  {\"own\": 3, \"calls\": 0, \"comm\": \"sh\", "
        "\"sym\": \"main\", \"addr\": \"0x1000\"},\n"
        "  {\"own\": 1, \"calls\": 1, \"comm\": "
        "\"a\\\"b\\\\?\xef\xbf\xbd\", \"sym\": \"work\", "
        "\"addr\": \"0x1100\"}\n"
        "]}\n");
    assert_report(&f, "comm", (ReportOptions) { .format = TABLE_JSON,
                                                .comm = "none" },
        "{\"schema\": 1, \"command\": \"report\", "
        "\"instructions\": 4, \"selected\": 0, \"rows\": [\n]}\n");
    assert_report(&f, "comm", (ReportOptions) { .format = TABLE_TSV,
                                                .comm = "none" },
        "own\tcomm\n");
    assert_report(&f, "comm", (ReportOptions) { .comm = "a*" },
        "# 4 instructions, of which 1 (25.00%) were selected; weights are "
        "instructions\n"
        "    own     instructions  comm\n"
        " 25.00%                1  a\"b\\?\xef\xbf\xbd\n");
    tear_down(&f);
}

/* Two functions of one object with the same name, and code that has none */
static void test_same_names(void)
{
    static const char twice[] = "0000000000004000 t init\n"
                                "0000000000004100 t init\n";
    Object *other;
    Fixture f;

    set_up(&f);
    other = fixture_object(f.objects, f.names, OBJECT_PROGRAM, "/bin/other",
                           twice, 0x10000);
    run(&f, 0x4000, 3, ETRACE_ITYPE_INFERABLE_CALL);
    run(&f, 0x4100, 2, ETRACE_ITYPE_RETURN);
    run(&f, 0x20, 1, ETRACE_ITYPE_RETURN);
    g_clear_pointer(&f.counter, counter_free);
    counts_sort(f.counts);
    assert_report(&f, "dso,sym", (ReportOptions) { .format = TABLE_TSV },
        "own\tcalls\tdso\tsym\taddr\n"
        "3\t0\tother\tinit\t0x4000\n"
        "2\t1\tother\tinit\t0x4100\n"
        "1\t0\t[unknown]\t[no symbol]\t-\n");
    check_cmpuint(symbols_count(other->symbols), ==, 2);
    tear_down(&f);
}

/* ... that ran as often: by address, whatever comes first in the memory. */
static void test_ties(void)
{
    g_autoptr(GString) syms = g_string_new(NULL), want = g_string_new(NULL);
    Fixture f;

    for (unsigned i = 0; i < 20; i++) {
        g_string_append_printf(syms, "%016x t init\n", 0x4000 + 0x100 * i);
    }
    set_up(&f);
    fixture_object(f.objects, f.names, OBJECT_PROGRAM, "/bin/other",
                   syms->str, 0x10000);
    g_string_append(want, "own\tcalls\tdso\tsym\taddr\n");
    for (unsigned i = 0; i < 20; i++) {
        run(&f, 0x4000 + 0x100 * (i * 7 % 20), 3, ETRACE_ITYPE_RETURN);
        g_string_append_printf(want, "3\t0\tother\tinit\t0x%x\n",
                               0x4000 + 0x100 * i);
    }
    g_clear_pointer(&f.counter, counter_free);
    counts_sort(f.counts);
    assert_report(&f, "dso,sym", (ReportOptions) { .format = TABLE_TSV },
                  want->str);
    tear_down(&f);
}

/* Handlers are called without a jump: how often is said. */
static void test_handlers(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 3, 0);
    for (unsigned i = 0; i < 5; i++) {
        counter_trap(f.counter, &(FlowTrap) {
            .cause = 8, .epc = MAIN + 0x10008, .epc_known = true,
        }, &f.site);
        counter_handler(f.counter, WORK + 0x10000, ETRACE_PRIV_U, &f.site);
        run(&f, WORK, 2, ETRACE_ITYPE_TRAP_RETURN);
        run(&f, MAIN + 8, 1, 0);
    }
    g_clear_pointer(&f.counter, counter_free);
    counts_sort(f.counts);
    assert_report(&f, "sym", (ReportOptions) { 0 },
        "# 18 instructions; weights are instructions\n"
        "    own     instructions        calls  sym\n"
        " 55.56%               10            5  work\n"
        " 44.44%                8            0  main\n");
    tear_down(&f);
}

/* @insns ran at @priv, in code of the object number @object. */
static void add_insns(Fixture *f, unsigned object, unsigned priv,
                      uint64_t insns)
{
    unsigned place = counts_place(f->counts, &(CountPlace) {
        .task = f->site.task->id, .object = object, .priv = priv,
    });

    counts_add_range(f->counts, &(CountRange) {
        .place = place, .insns = 1, .start = 0x100 * insns,
        .last = 0x100 * insns, .end = 0x100 * insns + 4,
    }, insns);
}

/* What ran in no known file, by whose it may be */
static void test_unfiled(void)
{
    g_autofree char *nothing = NULL, *one = NULL, *several = NULL;
    g_autofree char *stacks = NULL;
    g_autoptr(Profile) p = profile_new();
    unsigned node;
    Fixture f;

    set_up(&f);
    names_add_unfiled(f.names);
    add_insns(&f, f.kernel->id, ETRACE_PRIV_S, 99200);
    add_insns(&f, OBJECT_UNKNOWN, ETRACE_PRIV_U, 800);
    nothing = unfiled_text(f.counts, NULL);
    check_null(nothing);
    add_insns(&f, object_table_size(f.objects) - 2, ETRACE_PRIV_M, 300000);
    one = unfiled_text(f.counts, NULL);
    check_cmpstr(one, ==, "75 % of the instructions ran in M-mode (the "
                 "firmware's ELF file; OpenSBI's is fw_dynamic.elf), in no "
                 "known file: name it with --sysroot or --elf");
    add_insns(&f, OBJECT_UNKNOWN, ETRACE_PRIV_S, 100000);
    several = unfiled_text(f.counts, NULL);
    check_true(g_str_has_prefix(several, "60 % of the instructions ran in "
                                         "M-mode (the firmware's"));
    check_nonnull(strstr(several, "), 20 % ran in S-mode (the kernel's "
                                  "Image"));
    check_null(strstr(several, "U-mode"));
    /* ... or by call stacks */
    node = profile_child(p, PROFILE_ROOT, profile_function(p, FRAME_MACHINE,
        &(NamePlace) { .object = object_get(f.objects, 0) }, 0x100, true));
    profile_node(p, node)->self = 10;
    node = profile_child(p, node, profile_label(p, FRAME_TRAP, "[trap]"));
    profile_node(p, node)->self = 10;
    stacks = unfiled_text(NULL, p);
    check_true(g_str_has_prefix(stacks, "50 % of the instructions ran in "
                                        "M-mode ("));
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/counts/branches", test_branches);
    g_test_add_func("/counts/late-and-traps", test_late_and_traps);
    g_test_add_func("/counts/repeat", test_repeat);
    g_test_add_func("/counts/merge", test_merge);
    g_test_add_func("/counts/without-tasks", test_without_tasks);
    g_test_add_func("/counts/report", test_report);
    g_test_add_func("/counts/report-time", test_report_time);
    g_test_add_func("/counts/formats", test_formats);
    g_test_add_func("/counts/same-names", test_same_names);
    g_test_add_func("/counts/ties", test_ties);
    g_test_add_func("/counts/handlers", test_handlers);
    g_test_add_func("/counts/unfiled", test_unfiled);
    return g_test_run();
}
