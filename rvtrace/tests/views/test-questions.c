/*
 * Questions: what begins and ends, and what is said of it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/guest-build.h"
#include "tests/fixtures/latency-fixture.h"
#include "tests/fixtures/view-fixture.h"
#include "views/questions/calls.h"
#include "views/questions/edges.h"
#include "views/questions/faults.h"

/* A follower, and what it says, a line for each thing */
typedef struct Asked {
    ViewFixture f;
    Follower *follower;
    GString *said;
    uint64_t insns;             /* so far */
} Asked;

static void on_begin(void *opaque, OpenCall *calls, unsigned n,
                     const Task *task)
{
    Asked *a = opaque;

    g_string_append_printf(a->said, "+%s\n",
                           profile_frame(a->f.profile,
                                         calls[n - 1].frame)->name);
}

static void on_end(void *opaque, const EndedCall *e)
{
    static const char *const ends[] = { "", " switched", " unseen" };
    Asked *a = opaque;

    g_string_append_printf(a->said, "-%s %d..%d away %d%s\n",
                           profile_frame(a->f.profile, e->call->frame)->name,
                           (int)e->call->from.insns, (int)e->to.insns,
                           (int)e->away.insns, ends[e->end]);
}

static void on_leave(void *opaque, OpenCall *calls, unsigned n,
                     const Task *task, const Task *next, const Place *at)
{
    Asked *a = opaque;

    g_string_append_printf(a->said, "%s to %s at %d\n", task->name, next->name,
                           (int)at->insns);
}

static void on_passed(void *opaque, const PassedTrap *p)
{
    Asked *a = opaque;

    g_string_append_printf(a->said, "%s: cause %u %d..%d%s\n", p->task->name,
                           p->trap.cause, (int)p->from.time, (int)p->to.time,
                           p->returned ? "" : ", the end");
}

static const FollowOps follow_ops = {
    .begin = on_begin, .end = on_end, .leave = on_leave, .passed = on_passed,
};

static void on_moment(void *opaque, const CallStackMoment *moment)
{
    Asked *a = opaque;

    follow_moment(a->follower, moment);
}

static void set_up(Asked *a)
{
    *a = (Asked) { 0 };
    view_set_up(&a->f, on_moment, a);
    a->follower = follow_new(a->f.profile, a->f.tasks, &follow_ops, a);
    a->said = g_string_new(NULL);
}

static void tear_down(Asked *a)
{
    g_string_free(a->said, true);
    follow_free(a->follower);
    view_tear_down(&a->f);
}

/* What was said since this was called last */
static void assert_said(Asked *a, const char *want)
{
    check_cmpstr(a->said->str, ==, want);
    g_string_truncate(a->said, 0);
}

static void end(Asked *a, uint64_t insns)
{
    follow_end(a->follower, &(CallStackMoment) {
        .insns = insns, .place = insns, .time = insns,
    });
}

static void run(Asked *a, uint64_t pc, unsigned count, unsigned itype)
{
    view_run(&a->f, pc, count, itype);
    a->insns += count;
}

/* The mark that the trap comes with, and the trap */
static void trap(Asked *a, unsigned cause, uint64_t epc)
{
    MomentMark mark = { .kind = MOMENT_TRAP, .number = cause };

    follow_mark(a->follower, &(CallStackMoment) {
        .insns = a->insns, .place = a->insns, .time = a->insns,
    }, &mark);
    view_trap(&a->f, cause, epc);
}

static void test_calls(void)
{
    Asked a;

    set_up(&a);
    view_run_all(&a.f);
    end(&a, 10300);
    assert_said(&a,
                "+main\n+work\n+leaf\n-leaf 12..4862 away 0\n+leaf\n"
                "-leaf 4864..9714 away 0\n+[ecall from U]\n"
                "+handle_exception\n+do_syscall\n"
                "-do_syscall 9755..9955 away 0\n"
                "-handle_exception 9715..9965 away 0\n"
                "-[ecall from U] 9715..9965 away 0\n"
                "-work 10..9975 away 0\n"
                "sh to ls at 10000\n+main\n+leaf\n"
                "-leaf 10100..10300 away 0 unseen\n"
                "-main 10000..10300 away 0 unseen\n"
                "-main 0..10300 away 300 unseen\n");
    tear_down(&a);
}

/* A function waits while another task runs; the task gets another name. */
static void test_tasks(void)
{
    Asked a;

    set_up(&a);
    run(&a, MAIN + 4, 9, CALL);
    run(&a, LEAF, 20, 0);
    a.f.task = a.f.ls;
    run(&a, MAIN, 100, CALL);
    run(&a, LEAF, 5, RET);
    assert_said(&a, "+leaf\nsh to ls at 29\n+main\n+leaf\n");
    a.f.task = task_intern(a.f.tasks, TASK_KNOWN, 10, 10, "other");
    run(&a, LEAF + 80, 7, RET);
    run(&a, MAIN + 40, 1, 0);
    assert_said(&a, "ls to other at 134\n-leaf 9..141 away 105\n");
    /* What was there before the trace has no beginning, and no end. */
    end(&a, 142);
    assert_said(&a, "-leaf 129..142 away 8 unseen\n"
                    "-main 29..142 away 8 unseen\n");
    tear_down(&a);
}

/* The same exception again, with nothing in between */
static void test_traps(void)
{
    Asked a;

    set_up(&a);
    run(&a, WORK, 3, 0);
    for (int i = 0; i < 2; i++) {
        trap(&a, 15, WORK + 12);
        run(&a, KENTRY, 5, XRET);
    }
    run(&a, WORK + 12, 3, CALL);
    /* The first instruction of a function that is called traps. */
    trap(&a, 12, LEAF);
    run(&a, KENTRY, 6, XRET);
    run(&a, LEAF, 1, RET);
    run(&a, WORK + 24, 1, 0);
    assert_said(&a,
                "+work\n+[store page fault]\n+handle_exception\n"
                "-handle_exception 3..8 away 0\n"
                "-[store page fault] 3..8 away 0\n"
                "+[store page fault]\n+handle_exception\n"
                "-handle_exception 8..13 away 0\n"
                "-[store page fault] 8..13 away 0\n"
                "+leaf\n+[instruction page fault]\n+handle_exception\n"
                "-handle_exception 16..22 away 0\n"
                "-[instruction page fault] 16..22 away 0\n"
                "-leaf 16..23 away 0\n");
    tear_down(&a);
}

/* What a program in user mode is told: its kernel is not in the trace. */
static void mark(Asked *a, MomentMarkKind kind, unsigned number, bool nested,
                 uint64_t place, uint64_t time)
{
    MomentMark m = { .kind = kind, .number = number, .nested = nested };

    follow_mark(a->follower, &(CallStackMoment) {
        .place = place, .time = time,
    }, &m);
}

static void moment(Asked *a, unsigned node, uint64_t place, uint64_t time)
{
    follow_moment(a->follower, &(CallStackMoment) {
        .node = node, .place = place, .time = time, .task = a->f.sh,
    });
}

/*
 * Handlers that are not traced return to the next instruction, or to a signal
 * before it. Only a trap into the first instruction of a handler is in that
 * one.
 */
static void test_passed(void)
{
    Asked a;
    Profile *p;
    unsigned main, first, second, third;

    set_up(&a);
    p = a.f.profile;
    main = profile_child(p, PROFILE_ROOT,
                         profile_label(p, FRAME_USER, "main"));
    first = profile_child(p, main, profile_label(p, FRAME_TRAP, "[signal]"));
    first = profile_child(p, first, profile_label(p, FRAME_USER, "on_one"));
    second = profile_child(p, first, profile_label(p, FRAME_TRAP, "[signal]"));
    second = profile_child(p, second, profile_label(p, FRAME_USER, "on_two"));
    third = profile_child(p, first, profile_label(p, FRAME_TRAP, "[trap]"));
    third = profile_child(p, third, profile_label(p, FRAME_TRAP, "[again]"));

    moment(&a, main, 0, 0);
    mark(&a, MOMENT_TRAP, 8, false, 3, 30);
    mark(&a, MOMENT_RESUMED, 0, false, 3, 45);
    assert_said(&a, "sh: cause 8 30..45\n");
    mark(&a, MOMENT_RESUMED, 0, false, 4, 50);
    mark(&a, MOMENT_TRAP, 13, false, 5, 60);
    moment(&a, first, 5, 60);
    assert_said(&a, "+[signal]\n+on_one\n");

    /* In a handler: a system call, and the next signal right behind it */
    mark(&a, MOMENT_TRAP, 8, false, 9, 90);
    mark(&a, MOMENT_TRAP, 15, false, 9, 95);
    assert_said(&a, "sh: cause 8 90..95\n");
    moment(&a, second, 9, 95);
    assert_said(&a, "+[signal]\n+on_two\n");
    moment(&a, first, 12, 120);
    assert_said(&a, "-on_two 9..12 away 0\n-[signal] 9..12 away 0\n");

    /* Two that are in each other; a third one is not. */
    mark(&a, MOMENT_TRAP, 2, false, 15, 150);
    mark(&a, MOMENT_TRAP, 15, true, 15, 150);
    moment(&a, third, 15, 150);
    assert_said(&a, "+[trap]\n+[again]\n");
    mark(&a, MOMENT_TRAP, 5, false, 18, 180);
    mark(&a, MOMENT_TRAP, 7, true, 18, 180);
    mark(&a, MOMENT_TRAP, 9, false, 18, 190);
    assert_said(&a, "sh: cause 5 180..190\nsh: cause 7 180..190\n");

    /* The last system call of a thread; the next one has its hart. */
    mark(&a, MOMENT_TRAP, 8, false, 18, 191);
    g_string_truncate(a.said, 0);
    mark(&a, MOMENT_ENDED, 0, false, 18, 192);
    assert_said(&a, "sh: cause 8 191..192, the end\n");
    mark(&a, MOMENT_TRAP, 9, false, 18, 193);

    /* What follows is not known any more. */
    mark(&a, MOMENT_LOST, 0, false, 18, 195);
    g_string_truncate(a.said, 0);
    mark(&a, MOMENT_RESUMED, 0, false, 18, 200);
    assert_said(&a, "");
    tear_down(&a);
}

/* Something was lost: what was called before has not been seen to return. */
static void test_lost(void)
{
    MomentMark lost = { .kind = MOMENT_LOST, .text = "lost" };
    Asked a;

    set_up(&a);
    run(&a, MAIN, 3, CALL);
    run(&a, WORK, 3, CALL);
    run(&a, LEAF, 3, 0);
    g_string_truncate(a.said, 0);
    follow_mark(a.follower, &(CallStackMoment) { .place = 9, .time = 9 },
                &lost);
    callstack_lost(a.f.stack);
    assert_said(&a, "-leaf 6..9 away 0 unseen\n-work 3..9 away 0 unseen\n"
                    "-main 0..9 away 0 unseen\n");
    run(&a, WORK + 40, 3, RET);
    run(&a, MAIN + 40, 3, 0);
    end(&a, 15);
    assert_said(&a, "");
    tear_down(&a);
}

/* Names that are hostile stay in their cells. */
static void test_hostile(void)
{
    static const char name[] = "a\tb\n\033[2J\"\\\377";
    g_autoptr(Profile) p = profile_new();
    g_autoptr(TaskTable) tasks = task_table_new();
    const Task *task = task_intern(tasks, TASK_KNOWN, 1, 1, name);
    unsigned node = profile_child(p, PROFILE_ROOT,
                                  profile_label(p, FRAME_USER, name));

    for (TableFormat format = TABLE_TEXT; format <= TABLE_JSON; format++) {
        g_autoptr(Calls) c = calls_new(&(CallsOptions) {
            .sym = "*", .format = format, .virtual_time = true,
        });
        CallsHart *h = calls_hart(c, 0, p, tasks);
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        calls_moment(h, &(CallStackMoment) {
            .node = node, .task = task, .begins = true,
        });
        calls_end(h, &(CallStackMoment) { .place = 3, .time = 4 });
        check_cmpuint(calls_write(c, f), ==, 1);
        fclose(f);
        check_true(g_utf8_validate(text, size, NULL));
        check_cmpuint(view_count(text, "\033"), ==, 0);
        check_cmpuint(view_count(text, format == TABLE_JSON ?
                                 "\"a?b??[2J\\\"\\\\\357\277\275\"" :
                                 "a?b??[2J\"\\\357\277\275"), ==, 2);
        check_cmpuint(view_count(text, "\n"), ==,
                      format == TABLE_TEXT ? 3 : format == TABLE_TSV ? 2 : 3);
        free(text);
    }
}

/* Storms come first; what has no room is counted. */
static void test_faults(void)
{
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(Names) names = names_new(objects);
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(Faults) faults = faults_new(&(FaultsOptions) {
        .format = TABLE_TSV, .max_rows = 2,
    });
    FaultsHart *h = faults_hart(faults, 3, names, tasks);
    CallStackSite site = {
        .task = task_intern(tasks, TASK_KNOWN, 7, 7, "t\n\033"),
    };
    FlowTrap trap = { .cause = 13, .epc = 0x1000, .epc_known = true };
    uint64_t place = 0;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    for (unsigned i = 0; i < 300; i++) {
        trap.tval = 0x5000 + i;
        trap.epc ^= 0x10;
        faults_trap(h, place++, &trap, &site);
    }
    trap = (FlowTrap) { .cause = 15, .epc = 0x2000, .epc_known = true };
    for (unsigned i = 0; i < FAULTS_STORM; i++) {
        faults_trap(h, place++, &trap, &site);
    }
    /* These are meant. */
    trap.cause = 8;
    faults_trap(h, place, &trap, &site);
    trap = (FlowTrap) { .interrupt = true, .cause = 5 };
    faults_trap(h, place, &trap, &site);
    for (unsigned i = 0; i < FAULTS_MAX_ROWS; i++) {
        trap = (FlowTrap) { .cause = 2, .epc = 2 * i, .epc_known = true };
        faults_trap(h, place++, &trap, &site);
    }
    check_cmpuint(faults_write(faults, f), ==,
                  300 + FAULTS_STORM + FAULTS_MAX_ROWS);
    fclose(f);
    check_cmpuint(view_count(text, "\n"), ==, 3);
    check_nonnull(strstr(text, "\n100\t100\tstore page fault\tU-mode\t0x2000\t"
                         "-\t[unknown]\t0x0\t0x0\tt??\t7\t7\t3\t300\t399\n"
                         "150\t1\tload page fault\tU-mode\t0x1010\t"));
    free(text);
}

/* Of a system call, an interrupt that another task ends, and a function */
static void test_latency(void)
{
    static const MomentMark mark = { .kind = MOMENT_TRAP, .number = 8 };
    LatencyFixture f;
    const Task *other;
    unsigned irq, nodes[5];
    g_autofree char *text = NULL;

    latency_set_up(&f, LATENCY_WORST);
    other = task_intern(f.tasks, TASK_KNOWN, 2, 2, "b");
    irq = latency_node(&f, f.user, FRAME_TRAP, "[supervisor timer interrupt]");
    nodes[0] = nodes[2] = f.user;
    nodes[1] = latency_node(&f, f.ecall, FRAME_SUPERVISOR, "sys_read");
    nodes[3] = latency_node(&f, irq, FRAME_SUPERVISOR, "tick");
    nodes[4] = latency_node(&f, PROFILE_ROOT, FRAME_SUPERVISOR, "idle");
    for (unsigned i = 0; i < G_N_ELEMENTS(nodes); i++) {
        CallStackMoment m = {
            .node = nodes[i], .place = 10 * i, .time = 100 * i,
            .task = i == 4 ? other : f.task, .begins = i % 2,
        };

        if (i % 2) {
            latency_trap(f.hart, m.place, &(FlowTrap) { .cause = 8 },
                         &(CallStackSite) { 0 });
            latency_mark(f.hart, &m, &mark);
        }
        latency_moment(f.hart, &m);
    }
    text = latency_answer(&f, 999, 2);
    check_cmpstr(text, ==,
                 "kind\tname\tnumber\tinsns\thart\tfrom\tto\tcomm\tpid\ttid\n"
                 "interrupt\tsupervisor timer interrupt\t-\t10\t0\t30\t40\ta"
                 "\t1\t1\n"
                 "syscall\tread\t-\t10\t0\t10\t20\ta\t1\t1\n");
    latency_tear_down(&f);
}

/*
 * The first instruction of the kernel is interrupted before it runs: the system
 * call has not returned by that, and it is one.
 */
static void test_interrupted(void)
{
    static const MomentMark call = {
        .kind = MOMENT_TRAP, .number = 8,
    };
    static const MomentMark timer = {
        .kind = MOMENT_TRAP, .number = 256 + 7, .nested = true,
    };
    CallStackMoment moments[] = {
        { .place = 0 },
        { .place = 10, .begins = true },
        { .place = 15, .begins = true },
        { .place = 20 },
    };
    LatencyFixture f;
    unsigned irq;
    g_autofree char *text = NULL;

    latency_set_up(&f, LATENCY_WORST);
    irq = latency_node(&f, f.ecall, FRAME_TRAP, "[machine timer interrupt]");
    moments[0].node = moments[3].node = f.user;
    moments[1].node = latency_node(&f, irq, FRAME_MACHINE, "_trap_handler");
    moments[2].node = latency_node(&f, f.ecall, FRAME_SUPERVISOR, "sys_read");
    for (unsigned i = 0; i < G_N_ELEMENTS(moments); i++) {
        moments[i].task = f.task;
        if (i == 1) {
            latency_mark(f.hart, &moments[i], &call);
            latency_mark(f.hart, &moments[i], &timer);
        }
        latency_moment(f.hart, &moments[i]);
    }
    text = latency_answer(&f, 99, 2);
    check_cmpstr(text, ==,
                 "kind\tname\tnumber\tinsns\thart\tfrom\tto\tcomm\tpid\ttid\n"
                 "interrupt\tmachine timer interrupt\t-\t5\t0\t10\t15\ta"
                 "\t1\t1\n"
                 "syscall\tread\t-\t10\t0\t10\t20\ta\t1\t1\n");
    latency_tear_down(&f);
}

/* Tasks that wait in the function all the time: maps are bounded. */
static void test_edges(void)
{
    g_autofree char *dir = guest_dir_new();
    g_autofree char *path = g_build_filename(dir, "maps", NULL);
    g_autofree char *table = g_build_filename(path, "maps.tsv", NULL);
    g_autofree char *text = NULL;
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(Names) names = names_new(objects);
    g_autoptr(Profile) p = profile_new();
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(GError) err = NULL;
    Edges *e = edges_new(path, &(EdgesOptions) { .function = "in*" }, &err);
    EdgesHart *h = edges_hart(e, 3, p, names, tasks);
    unsigned node = profile_child(p, PROFILE_ROOT,
                                  profile_label(p, FRAME_USER, "input"));
    uint64_t maps, left_out;

    check_no_error(err);
    for (unsigned i = 0; i < EDGES_MAX_OPEN + 2; i++) {
        CallStackMoment m = {
            .node = node, .insns = i, .place = 10 + i, .begins = true,
            .task = task_intern(tasks, TASK_KNOWN, i, i, "a\tb\n"),
        };
        FlowRun run = {
            .pc = 0x1000 * i, .code = (const uint8_t *)"\x01\x00\x01\x00",
            .count = 1, .priv = ETRACE_PRIV_U,
        };

        edges_moment(h, &m);
        edges_runs(h, &run, 1, &(CallStackSite) { .task = m.task });
    }
    edges_end(h, &(CallStackMoment) { .insns = 99, .place = 109 });
    check_true(edges_finish(e, &maps, &left_out, &err));
    edges_free(e);
    check_cmpuint(maps, ==, EDGES_MAX_OPEN);
    check_cmpuint(left_out, ==, 2);
    check_true(g_file_get_contents(table, &text, NULL, NULL));
    check_cmpuint(view_count(text, "\n"), ==, EDGES_MAX_OPEN + 1);
    check_nonnull(strstr(text, "\n3-000007\t3\t17\t-\t1\ta?b?\t7\t7\n"));
    guest_dir_remove(g_steal_pointer(&dir));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/questions/edges", test_edges);
    g_test_add_func("/questions/faults", test_faults);
    g_test_add_func("/questions/latency", test_latency);
    g_test_add_func("/questions/interrupted", test_interrupted);
    g_test_add_func("/questions/calls", test_calls);
    g_test_add_func("/questions/tasks", test_tasks);
    g_test_add_func("/questions/traps", test_traps);
    g_test_add_func("/questions/passed", test_passed);
    g_test_add_func("/questions/lost", test_lost);
    g_test_add_func("/questions/hostile", test_hostile);
    return g_test_run();
}
