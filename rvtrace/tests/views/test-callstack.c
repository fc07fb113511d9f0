/*
 * Call stacks where a task is more than one flow of calls
 *
 * Signals, tasks that move between harts, and what a filter leaves out
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/callstack-save.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/profile-fixture.h"

static const char kallsyms[] =
    "0000000000001000 T main\n"
    "0000000000001100 t work\n"
    "0000000000001200 T leaf\n"
    "0000000000001300 T handler\n"
    "0000000000001400 T sigreturn\n"
    "ffffffff80000000 T trap\n"
    "ffffffff80000100 T schedule\n";

#define MAIN        0x1000
#define WORK        0x1100
#define LEAF        0x1200
#define HANDLER     0x1300
#define SIGRETURN   0x1400
#define TRAP        0xffffffff80000000ull
#define SCHEDULE    0xffffffff80000100ull

#define CALL    ETRACE_ITYPE_INFERABLE_CALL
#define RET     ETRACE_ITYPE_RETURN
#define XRET    ETRACE_ITYPE_TRAP_RETURN

typedef struct Fixture {
    ObjectTable *objects;
    TaskTable *tasks;
    Names *names;
    Profile *profile;
    CallStack *stack;
    const Task *a, *b;
    CallStackSite site;
    unsigned space;             /* of user mode */
    GString *handlers;          /* that have begun */
} Fixture;

static void note_handler(void *opaque, uint64_t pc, unsigned priv,
                         const CallStackSite *site)
{
    Fixture *f = opaque;

    g_string_append_printf(f->handlers, "%s%" PRIx64 " %c",
                           f->handlers->len ? ", " : "", pc,
                           priv == ETRACE_PRIV_U ? 'U' : 'S');
    check_true(site->task == f->site.task);
}

static void set_up(Fixture *f)
{
    *f = (Fixture) { .space = 1, .handlers = g_string_new(NULL) };
    f->objects = object_table_new();
    f->names = names_new(f->objects);
    fixture_object(f->objects, f->names, OBJECT_KERNEL, "[kernel]", kallsyms,
                   0);
    f->tasks = task_table_new();
    f->a = task_intern(f->tasks, TASK_KNOWN, 10, 10, "a");
    f->b = task_intern(f->tasks, TASK_KNOWN, 11, 11, "b");
    f->site.task = f->a;
    f->profile = profile_new();
    f->stack = callstack_new(f->profile, PROFILE_ROOT, &(CallStackOptions) {
        .names = f->names,
        .layers = { CALLSTACK_LAYER_COMM }, .nr_layers = 1,
        .handler = note_handler, .opaque = f,
    });
}

static void tear_down(Fixture *f)
{
    callstack_free(f->stack);
    g_string_free(f->handlers, true);
    profile_free(f->profile);
    names_free(f->names);
    task_table_free(f->tasks);
    object_table_free(f->objects);
}

/* @count 4-byte instructions at @pc, the last one being an @itype */
static void run(Fixture *f, uint64_t pc, unsigned count, unsigned itype)
{
    f->site.space = pc < TRAP ? f->space : 0;
    callstack_run(f->stack, &(FlowRun) {
        .pc = pc,
        .end = pc + 4 * count,
        .count = count,
        .priv = pc < TRAP ? ETRACE_PRIV_U : ETRACE_PRIV_S,
        .itype = itype,
    }, &f->site);
}

/* An exception in user mode */
static void trap_at(Fixture *f, unsigned cause, uint64_t epc)
{
    f->site.space = f->space;
    callstack_trap(f->stack, &(FlowTrap) {
        .cause = cause, .epc = epc, .epc_known = true, .priv = ETRACE_PRIV_U,
    }, &f->site);
}

static void check_folded(Fixture *f, const char *want)
{
    g_autofree char *text = fixture_folded(f->profile);

    check_cmpstr(text, ==, want);
}

/*
 * A signal interrupts work(): its handler is above it, calls others, and ends
 * with a system call, behind which work() goes on.
 */
static void test_signal(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, CALL);
    run(&f, WORK, 1, 0);
    trap_at(&f, 13, WORK + 4);
    run(&f, TRAP, 1, XRET);
    run(&f, HANDLER, 1, CALL);
    run(&f, LEAF, 2, RET);
    run(&f, HANDLER + 4, 1, RET);
    run(&f, SIGRETURN, 1, 0);
    trap_at(&f, 8, SIGRETURN + 4);
    run(&f, TRAP, 1, XRET);
    run(&f, WORK + 4, 3, RET);
    run(&f, MAIN + 4, 5, 0);
    check_folded(&f, "a;main 6\n"
                     "a;main;work 4\n"
                     "a;main;work;[load page fault];trap 1\n"
                     "a;main;work;[signal];handler 2\n"
                     "a;main;work;[signal];handler;leaf 2\n"
                     "a;main;work;[signal];sigreturn 1\n"
                     "a;main;work;[signal];sigreturn;[ecall from U];trap 1\n");
    /* It began once, and the kernel's for each trap. */
    check_cmpstr(f.handlers->str, ==, "ffffffff80000000 S, 1300 U, "
                                      "ffffffff80000000 S");
    tear_down(&f);
}

/* A function that is not there yet begins where it was called. */
static void test_fault_at_entry(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, CALL);
    trap_at(&f, 12, WORK);
    run(&f, TRAP, 1, XRET);
    run(&f, WORK, 1, RET);
    run(&f, MAIN + 4, 1, 0);
    check_folded(&f, "a;main 2\n"
                     "a;main;work 1\n"
                     "a;main;work;[instruction page fault];trap 1\n");
    check_cmpstr(f.handlers->str, ==, "ffffffff80000000 S");
    /* What is not selected does not count. */
    callstack_select(f.stack, false);
    trap_at(&f, 8, MAIN + 8);
    run(&f, TRAP, 1, XRET);
    run(&f, MAIN + 12, 1, 0);
    check_cmpstr(f.handlers->str, ==, "ffffffff80000000 S");
    tear_down(&f);
}

/* A handler that ends with longjmp() to main() */
static void test_signal_longjmp(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, CALL);
    run(&f, WORK, 1, 0);
    trap_at(&f, 13, WORK + 4);
    run(&f, TRAP, 1, XRET);
    run(&f, HANDLER, 1, CALL);
    run(&f, LEAF, 2, RET);
    run(&f, MAIN + 0x40, 1, CALL);
    run(&f, LEAF, 1, RET);
    run(&f, MAIN + 0x44, 1, 0);
    check_folded(&f, "a;main 3\n"
                     "a;main;leaf 1\n"
                     "a;main;work 1\n"
                     "a;main;work;[load page fault];trap 1\n"
                     "a;main;work;[signal];handler 1\n"
                     "a;main;work;[signal];handler;leaf 2\n");
    tear_down(&f);
}

/* The second signal comes before the first one's handler has returned. */
static void test_nested_signals(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, 0);
    for (int i = 0; i < 2; i++) {
        trap_at(&f, 13, (i ? HANDLER : MAIN) + 4);
        run(&f, TRAP, 1, XRET);
        run(&f, HANDLER, 1, 0);
    }
    for (int i = 0; i < 2; i++) {
        run(&f, HANDLER + 4, 1, RET);
        run(&f, SIGRETURN, 1, 0);
        trap_at(&f, 8, SIGRETURN + 4);
        run(&f, TRAP, 1, XRET);
    }
    run(&f, MAIN + 4, 1, 0);
    check_folded(&f,
        "a;main 2\n"
        "a;main;[load page fault];trap 1\n"
        "a;main;[signal];handler 2\n"
        "a;main;[signal];handler;[load page fault];trap 1\n"
        "a;main;[signal];handler;[signal];handler 2\n"
        "a;main;[signal];handler;[signal];sigreturn 1\n"
        "a;main;[signal];handler;[signal];sigreturn;[ecall from U];trap 1\n"
        "a;main;[signal];sigreturn 1\n"
        "a;main;[signal];sigreturn;[ecall from U];trap 1\n");
    tear_down(&f);
}

/* a was on another hart, where work() returned and main() called leaf(). */
static void test_moved(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, CALL);
    run(&f, WORK, 1, 0);
    trap_at(&f, 8, WORK + 4);
    run(&f, TRAP, 1, CALL);
    run(&f, SCHEDULE, 1, 0);
    f.site.task = f.b;
    run(&f, SCHEDULE + 4, 1, RET);
    f.site.task = f.a;
    callstack_drop_task(f.stack, f.a->tid);
    run(&f, SCHEDULE + 4, 1, RET);
    run(&f, TRAP + 4, 1, XRET);
    run(&f, LEAF + 8, 5, RET);
    run(&f, MAIN + 0x40, 1, 0);
    check_folded(&f, "a;leaf 5\n"
                     "a;main 2\n"
                     "a;main;work 1\n"
                     "a;main;work;[ecall from U];trap 1\n"
                     "a;main;work;[ecall from U];trap;schedule 1\n"
                     "a;schedule 1\n"
                     "a;trap 1\n"
                     "b;schedule 1\n");
    tear_down(&f);
}

/*
 * Until Linux says which task runs on a hart, its idle task begins there;
 * others have stacks of their own.
 */
static void test_introduced(void)
{
    static const struct {
        uint32_t tid;
        const char *name, *want;
        bool other;             /* ... runs first */
    } cases[] = {
        { 0, "swapper/1", "swapper/1;trap;schedule 2\n", false },
        { 0, "swapper/1", "swapper/1;trap;schedule 2\n", true },
        { 0, "first", "first;schedule 2\n", false },
        { 10, "a", "a;schedule 2\n", false },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        g_autofree char *text = NULL;
        Fixture f;

        set_up(&f);
        f.site.task = NULL;
        run(&f, TRAP, 1, CALL);
        run(&f, SCHEDULE, 1, 0);
        if (cases[i].other) {
            f.site.task = f.b;
            run(&f, SCHEDULE + 4, 1, 0);
        }
        f.site.task = task_intern(f.tasks, TASK_KNOWN, cases[i].tid,
                                  cases[i].tid, cases[i].name);
        run(&f, SCHEDULE + 4, 2, 0);
        text = fixture_folded(f.profile);
        check_nonnull(strstr(text, cases[i].want));
        tear_down(&f);
    }
}

/* ... or else its stacks come with it: work() is left as it was called there. */
static void test_handed_over(void)
{
    g_autoptr(TreeWriter) writer = NULL;
    g_autoptr(StackPool) pool = stack_pool_new();
    g_autoptr(GByteArray) stacks = g_byte_array_new();
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autoptr(TreeReader) tree = NULL;
    g_autoptr(GArray) pieces = NULL;
    Fixture from, to;
    ByteReader in;

    set_up(&from);
    from.space = 5;
    run(&from, MAIN, 1, CALL);
    run(&from, WORK, 1, 0);
    trap_at(&from, 8, WORK + 4);
    run(&from, TRAP, 1, CALL);
    run(&from, SCHEDULE, 1, 0);
    from.site.task = from.b;
    run(&from, SCHEDULE + 4, 1, RET);
    writer = tree_writer_new(from.profile);
    check_true(callstack_save_task(from.stack, from.a->tid, writer, pool,
                                   stacks));
    check_false(callstack_save_task(from.stack, 12345, writer, pool, stacks));
    tree_writer_put(writer, out);
    stack_pool_put(pool, out);
    g_byte_array_append(out, stacks->data, stacks->len);

    set_up(&to);
    to.space = 5;
    run(&to, LEAF, 1, 0);
    to.site.task = to.b;
    run(&to, SCHEDULE + 4, 1, RET);
    in = (ByteReader) { .data = out->data, .size = out->len };
    tree = tree_reader_new(&in, to.objects, to.tasks);
    pieces = stack_pool_get(&in);
    tree_reader_bind(tree, to.profile, NULL);
    check_true(callstack_load_task(to.stack, to.a->tid, tree, pieces, &in));
    to.site.task = to.a;
    run(&to, SCHEDULE + 4, 1, RET);
    run(&to, TRAP + 4, 1, XRET);
    run(&to, WORK + 8, 5, RET);
    run(&to, MAIN + 4, 1, 0);
    check_folded(&to, "a;leaf 1\n"
                      "a;main 1\n"
                      "a;main;work 5\n"
                      "a;main;work;[ecall from U];trap 1\n"
                      "a;main;work;[ecall from U];trap;schedule 1\n"
                      "b;schedule 1\n");
    tear_down(&from);
    tear_down(&to);
}

/* What a damaged index says that one task brings is another's: nothing is. */
static void test_handed_over_wrong(void)
{
    g_autoptr(TreeWriter) writer = NULL;
    g_autoptr(StackPool) pool = stack_pool_new();
    g_autoptr(GByteArray) stacks = g_byte_array_new();
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autoptr(TreeReader) tree = NULL;
    g_autoptr(GArray) pieces = NULL;
    ByteReader in;
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, CALL);
    run(&f, WORK, 1, 0);
    f.site.task = f.b;
    run(&f, SCHEDULE + 4, 1, RET);
    writer = tree_writer_new(f.profile);
    check_true(callstack_save_task(f.stack, f.a->tid, writer, pool, stacks));
    tree_writer_put(writer, out);
    stack_pool_put(pool, out);
    callstack_drop_task(f.stack, f.a->tid);
    in = (ByteReader) { .data = out->data, .size = out->len };
    tree = tree_reader_new(&in, f.objects, f.tasks);
    pieces = stack_pool_get(&in);
    tree_reader_bind(tree, f.profile, NULL);
    in = (ByteReader) { .data = stacks->data, .size = stacks->len };
    check_false(callstack_load_task(f.stack, 12345, tree, pieces, &in));
    f.site.task = f.a;
    run(&f, WORK + 4, 2, 0);
    check_folded(&f, "a;main 1\n"
                     "a;main;work 1\n"
                     "a;work 2\n"
                     "b;schedule 1\n");
    tear_down(&f);
}

/* Another one runs while nothing is traced, and a signal is handled then. */
static void test_gap(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, CALL);
    run(&f, WORK, 1, 0);
    trap_at(&f, 8, WORK + 4);
    callstack_gap(f.stack, false);
    f.site.task = f.b;
    run(&f, MAIN, 2, CALL);
    callstack_gap(f.stack, false);
    f.site.task = f.a;
    run(&f, WORK + 8, 1, 0);
    trap_at(&f, 8, WORK + 12);
    callstack_gap(f.stack, false);
    run(&f, HANDLER, 1, RET);
    run(&f, SIGRETURN, 1, 0);
    trap_at(&f, 8, SIGRETURN + 4);
    callstack_gap(f.stack, false);
    run(&f, WORK + 16, 1, RET);
    run(&f, MAIN + 4, 1, 0);
    f.site.task = f.b;
    callstack_gap(f.stack, false);
    run(&f, MAIN + 8, 4, CALL);
    callstack_gap(f.stack, false);
    run(&f, LEAF, 1, RET);
    callstack_gap(f.stack, false);
    run(&f, MAIN + 24, 1, 0);
    check_folded(&f, "a;main 2\n"
                     "a;main;work 3\n"
                     "a;main;work;[signal];handler 1\n"
                     "a;main;work;[signal];sigreturn 1\n"
                     "b;main 7\n"
                     "b;main;leaf 1\n");
    tear_down(&f);
}

/*
 * A signal comes in the middle of a system call: QEMU makes that call again, and
 * then the handler begins.
 */
static void test_call_again(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, CALL);
    run(&f, WORK, 1, 0);
    trap_at(&f, 8, WORK + 4);
    callstack_gap(f.stack, true);
    trap_at(&f, 8, WORK + 4);
    run(&f, HANDLER, 1, RET);
    run(&f, SIGRETURN, 1, 0);
    trap_at(&f, 8, SIGRETURN + 4);
    callstack_gap(f.stack, true);
    run(&f, WORK + 8, 1, RET);
    run(&f, MAIN + 4, 1, 0);
    check_folded(&f, "a;main 2\n"
                     "a;main;work 2\n"
                     "a;main;work;[signal];handler 1\n"
                     "a;main;work;[signal];sigreturn 1\n");
    tear_down(&f);
}

/*
 * A signal interrupts a system call. Its handler returns to that, which is made
 * again at once, before anything else runs.
 */
static void test_call_restarted(void)
{
    for (unsigned fenced = 0; fenced < 2; fenced++) {
        Fixture f;

        set_up(&f);
        run(&f, MAIN, 1, CALL);
        run(&f, WORK, 1, 0);
        trap_at(&f, 8, WORK + 4);
        callstack_gap(f.stack, fenced);
        run(&f, HANDLER, 1, RET);
        run(&f, SIGRETURN, 1, 0);
        trap_at(&f, 8, SIGRETURN + 4);
        callstack_gap(f.stack, fenced);
        trap_at(&f, 8, WORK + 4);
        callstack_gap(f.stack, fenced);
        run(&f, WORK + 8, 1, RET);
        run(&f, MAIN + 4, 1, 0);
        check_folded(&f, "a;main 2\n"
                         "a;main;work 2\n"
                         "a;main;work;[signal];handler 1\n"
                         "a;main;work;[signal];sigreturn 1\n");
        tear_down(&f);
    }
}

/*
 * The trace is interrupted for the sideband's sake, within calls and returns;
 * of the function that is called, nothing is known.
 */
static void test_fence(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, CALL);
    callstack_gap(f.stack, true);
    run(&f, WORK + 0x10, 1, CALL);
    callstack_gap(f.stack, true);
    run(&f, LEAF + 0x20, 2, 0);
    callstack_gap(f.stack, true);
    run(&f, LEAF + 0x28, 1, RET);
    callstack_gap(f.stack, true);
    run(&f, WORK + 0x14, 1, RET);
    run(&f, MAIN + 4, 1, CALL);
    run(&f, WORK, 1, 0);
    /* A filter leaves out the handler, and the program goes on at a fence. */
    trap_at(&f, 8, WORK + 4);
    callstack_gap(f.stack, true);
    run(&f, WORK + 8, 1, RET);
    run(&f, MAIN + 8, 1, 0);
    /* Another task */
    callstack_gap(f.stack, true);
    f.site.task = f.b;
    run(&f, MAIN, 2, 0);
    check_folded(&f, "a;main 3\n"
                     "a;main;work 4\n"
                     "a;main;work;leaf 3\n"
                     "b;main 2\n");
    tear_down(&f);
}

/* As run(), in S-mode, where no task is known */
static void run_kernel(Fixture *f, uint64_t pc, unsigned count, unsigned itype)
{
    f->site = (CallStackSite) { 0 };
    callstack_run(f->stack, &(FlowRun) {
        .pc = pc,
        .end = pc + 4 * count,
        .count = count,
        .priv = ETRACE_PRIV_S,
        .itype = itype,
    }, &f->site);
}

/* An interrupt there, and its handler, which ends with an xRET */
static void interrupt_kernel(Fixture *f, uint64_t epc)
{
    callstack_trap(f->stack, &(FlowTrap) {
        .interrupt = true, .cause = 5, .epc = epc, .epc_known = true,
        .priv = ETRACE_PRIV_S,
    }, &f->site);
    run_kernel(f, TRAP, 1, XRET);
}

/*
 * Two threads of a kernel: one begins in leaf(), and goes on behind the
 * instruction at which the other one is interrupted.
 */
static void test_interrupts(void)
{
    Fixture f;

    set_up(&f);
    run_kernel(&f, MAIN, 1, CALL);
    run_kernel(&f, WORK, 1, 0);
    interrupt_kernel(&f, WORK + 4);
    run_kernel(&f, LEAF, 1, 0);
    interrupt_kernel(&f, LEAF + 4);
    run_kernel(&f, WORK + 4, 1, CALL);
    interrupt_kernel(&f, LEAF);
    run_kernel(&f, LEAF + 4, 1, 0);
    check_folded(&f, "leaf 2\n"
                     "leaf;[supervisor timer interrupt];trap 1\n"
                     "main 1\n"
                     "main;work 2\n"
                     "main;work;[supervisor timer interrupt];trap 1\n"
                     "main;work;leaf;[supervisor timer interrupt];trap 1\n");
    tear_down(&f);
}

/* M-mode interrupts a system call's handler before its first instruction. */
static void test_trapped_twice(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, CALL);
    run(&f, WORK, 1, 0);
    trap_at(&f, 8, WORK + 4);
    callstack_trap(f.stack, &(FlowTrap) {
        .interrupt = true, .cause = 7, .priv = ETRACE_PRIV_S,
    }, &f.site);
    callstack_run(f.stack, &(FlowRun) {
        .pc = HANDLER, .end = HANDLER + 4, .count = 1,
        .priv = ETRACE_PRIV_M, .itype = XRET,
    }, &f.site);
    run(&f, TRAP, 2, XRET);
    run(&f, WORK + 8, 1, RET);
    run(&f, MAIN + 4, 1, 0);
    check_folded(&f, "a;main 2\n"
                     "a;main;work 2\n"
                     "a;main;work;[ecall from U];"
                     "[machine timer interrupt];handler 1\n"
                     "a;main;work;[ecall from U];trap 2\n");
    tear_down(&f);
}

/* A kernel's handler returns for the function that trapped. */
static void test_returned_for(void)
{
    Fixture f;

    set_up(&f);
    run_kernel(&f, MAIN, 1, CALL);
    run_kernel(&f, WORK, 1, CALL);
    run_kernel(&f, LEAF, 1, 0);
    callstack_trap(f.stack, &(FlowTrap) {
        .cause = 5, .epc = LEAF + 4, .epc_known = true, .priv = ETRACE_PRIV_S,
    }, &f.site);
    run_kernel(&f, TRAP, 1, XRET);
    run_kernel(&f, WORK + 4, 1, RET);
    run_kernel(&f, MAIN + 4, 1, 0);
    check_folded(&f, "main 2\n"
                     "main;work 2\n"
                     "main;work;leaf 1\n"
                     "main;work;leaf;[load access fault];trap 1\n");
    tear_down(&f);
}

/*
 * Whatever happens, each instruction is counted once. Mostly for sanitizers.
 */
static void test_random(void)
{
    static const unsigned itypes[] = {
        0, 0, CALL, CALL, CALL, RET, RET, XRET, ETRACE_ITYPE_UNINFERABLE_CALL,
        ETRACE_ITYPE_UNINFERABLE_JUMP, ETRACE_ITYPE_INFERABLE_JUMP,
        ETRACE_ITYPE_COROUTINE_SWAP,
    };
    g_autoptr(GRand) r = g_rand_new_with_seed(29);
    uint64_t insns = 0;
    Fixture f;

    set_up(&f);
    for (unsigned i = 0; i < 300000; i++) {
        uint64_t pc = g_rand_int_range(r, 0, 7) < 5 ?
            MAIN + 4u * g_rand_int_range(r, 0, 0x140) :
            TRAP + 4u * g_rand_int_range(r, 0, 0x80);
        unsigned count = g_rand_int_range(r, 1, 4);

        switch (g_rand_int_range(r, 0, 40)) {
        case 0:
            callstack_gap(f.stack, g_rand_boolean(r));
            break;
        case 1:
            f.site.task = f.site.task == f.a ? f.b : f.a;
            if (!g_rand_int_range(r, 0, 4)) {
                callstack_drop_task(f.stack, f.site.task->tid);
            }
            break;
        case 2:
            f.site.task = NULL;
            break;
        case 3:
            trap_at(&f, 8, pc < TRAP ? pc : MAIN);
            if (count == 1) {
                callstack_trap(f.stack, &(FlowTrap) {
                    .interrupt = true, .cause = 7, .priv = ETRACE_PRIV_S,
                }, &f.site);
            }
            break;
        case 4:
            callstack_mark(f.stack);
            break;
        case 5:
            if (callstack_can_repeat(f.stack)) {
                callstack_repeat(f.stack, 0);
            }
            break;
        default:
            run(&f, pc, count, itypes[g_rand_int_range(r, 0,
                                                       ARRAY_SIZE(itypes))]);
            insns += count;
            break;
        }
    }
    check_cmpuint(profile_sum(f.profile), ==, insns);
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/callstack/signal", test_signal);
    g_test_add_func("/callstack/fault-at-entry", test_fault_at_entry);
    g_test_add_func("/callstack/signal-longjmp", test_signal_longjmp);
    g_test_add_func("/callstack/nested-signals", test_nested_signals);
    g_test_add_func("/callstack/moved", test_moved);
    g_test_add_func("/callstack/introduced", test_introduced);
    g_test_add_func("/callstack/handed-over", test_handed_over);
    g_test_add_func("/callstack/handed-over-wrong", test_handed_over_wrong);
    g_test_add_func("/callstack/gap", test_gap);
    g_test_add_func("/callstack/call-again", test_call_again);
    g_test_add_func("/callstack/call-restarted", test_call_restarted);
    g_test_add_func("/callstack/fence", test_fence);
    g_test_add_func("/callstack/interrupts", test_interrupts);
    g_test_add_func("/callstack/trapped-twice", test_trapped_twice);
    g_test_add_func("/callstack/returned-for", test_returned_for);
    g_test_add_func("/callstack/random", test_random);
    return g_test_run();
}
