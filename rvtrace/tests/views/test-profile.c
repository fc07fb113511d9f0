/*
 * Symbols, call stacks, folded stacks and flame graphs
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "profile/callstack.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/profile-fixture.h"
#include "views/report/flamegraph.h"

/* Four functions of 0x100 bytes each, and a kernel's */
static const char kallsyms[] =
    "0000000000001000 T main\n"
    "0000000000001100 t work\n"
    "0000000000001100 t $x\n"
    "0000000000001200 T leaf\n"
    "0000000000001300 T other\n"
    "0000000000001400 D data\n"
    "ffffffff80000000 T handle_exception\n"
    "ffffffff80000100 T do_syscall\t[module]\n"
    "ffffffff80000200 T schedule\n"
    "ffffffff80000300 T thread_a\n"
    "ffffffff80000400 T thread_b\n";

#define MAIN        0x1000
#define WORK        0x1100
#define LEAF        0x1200
#define OTHER       0x1300
#define KENTRY      0xffffffff80000000ull
#define KSYSCALL    0xffffffff80000100ull
#define KSCHEDULE   0xffffffff80000200ull
#define KTHREAD_A   0xffffffff80000300ull
#define KTHREAD_B   0xffffffff80000400ull

typedef struct Fixture {
    ObjectTable *objects;
    Object *kernel;
    TaskTable *tasks;
    Names *names;
    Profile *profile;
    CallStack *stack;
    unsigned priv, space;
    const Task *task;       /* NULL: nothing is known but the space */
    GString *moments;
} Fixture;

static void new_stack(Fixture *f, const CallStackLayer *layers, unsigned n)
{
    CallStackOptions options = { .names = f->names, .nr_layers = n };

    memcpy(options.layers, layers, n * sizeof(layers[0]));
    g_clear_pointer(&f->stack, callstack_free);
    f->stack = callstack_new(f->profile, PROFILE_ROOT, &options);
}

static void set_up(Fixture *f)
{
    static const CallStackLayer layers[] = {
        CALLSTACK_LAYER_PRIV, CALLSTACK_LAYER_COMM,
    };

    *f = (Fixture) { .priv = ETRACE_PRIV_U, .space = 1 };
    f->objects = object_table_new();
    f->names = names_new(f->objects);
    f->kernel = fixture_object(f->objects, f->names, OBJECT_KERNEL,
                               "[kernel]", kallsyms, 0);
    f->tasks = task_table_new();
    f->profile = profile_new();
    new_stack(f, layers, ARRAY_SIZE(layers));
}

static void tear_down(Fixture *f)
{
    callstack_free(f->stack);
    profile_free(f->profile);
    names_free(f->names);
    task_table_free(f->tasks);
    object_table_free(f->objects);
}

/* Where f->priv is; programs are named after their spaces */
static CallStackSite site(Fixture *f)
{
    bool user = f->priv == ETRACE_PRIV_U;
    g_autofree char *name = g_strdup_printf("address space %u", f->space);

    return (CallStackSite) {
        .space = user ? f->space : 0,
        .task = f->task ? f->task :
                user ? task_intern(f->tasks, false, TASK_MADE_UP + f->space,
                                   TASK_MADE_UP + f->space, name) : NULL,
    };
}

/* @count 4-byte instructions at @pc, the last one being an @itype */
static void run(Fixture *f, uint64_t pc, unsigned count, unsigned itype)
{
    CallStackSite at = site(f);

    callstack_run(f->stack, &(FlowRun) {
        .pc = pc,
        .end = pc + 4 * count,
        .count = count,
        .priv = f->priv,
        .itype = itype,
    }, &at);
}

static void trap_into(Fixture *f, unsigned cause, uint64_t epc, unsigned priv)
{
    CallStackSite at = site(f);

    callstack_trap(f->stack, &(FlowTrap) {
        .cause = cause, .epc = epc, .epc_known = true, .priv = f->priv,
    }, &at);
    f->priv = priv;
}

static void assert_folded(Fixture *f, const char *want)
{
    g_autofree char *text = fixture_folded(f->profile);

    check_cmpstr(text, ==, want);
}

#define CALL    ETRACE_ITYPE_INFERABLE_CALL
#define RET     ETRACE_ITYPE_RETURN
#define JUMP    ETRACE_ITYPE_INFERABLE_JUMP
#define XRET    ETRACE_ITYPE_TRAP_RETURN
#define U       "U-mode;address space 1"

static void test_calls(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 4, CALL);
    run(&f, WORK, 3, CALL);
    run(&f, LEAF, 10, RET);
    run(&f, WORK + 12, 2, CALL);
    run(&f, LEAF, 10, RET);
    run(&f, WORK + 20, 1, RET);
    run(&f, MAIN + 16, 5, 0);
    assert_folded(&f, U ";main 9\n"
                      U ";main;work 6\n"
                      U ";main;work;leaf 20\n");
    tear_down(&f);
}

static void test_recursion(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, CALL);
    for (int i = 0; i < 3; i++) {
        run(&f, WORK, 2, CALL);
    }
    run(&f, WORK, 1, RET);
    for (int i = 0; i < 3; i++) {
        run(&f, WORK + 8, 1, RET);
    }
    run(&f, MAIN + 4, 1, 0);
    assert_folded(&f, U ";main 2\n"
                      U ";main;work 3\n"
                      U ";main;work;work 3\n"
                      U ";main;work;work;work 3\n"
                      U ";main;work;work;work;work 1\n");
    tear_down(&f);
}

/* work jumps to leaf, which returns to main. */
static void test_tail_call(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, CALL);
    run(&f, WORK, 2, JUMP);
    run(&f, LEAF, 4, RET);
    run(&f, MAIN + 4, 8, 0);
    assert_folded(&f, U ";main 9\n"
                      U ";main;leaf 4\n"
                      U ";main;work 2\n");
    tear_down(&f);
}

/* leaf jumps back into main, across work. */
static void test_longjmp(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, CALL);
    run(&f, WORK, 1, CALL);
    run(&f, LEAF, 1, ETRACE_ITYPE_UNINFERABLE_JUMP);
    run(&f, MAIN + 0x40, 1, CALL);
    run(&f, OTHER, 1, RET);
    run(&f, MAIN + 0x44, 1, 0);
    assert_folded(&f, U ";main 3\n"
                      U ";main;other 1\n"
                      U ";main;work 1\n"
                      U ";main;work;leaf 1\n");
    tear_down(&f);
}

/* The trace begins inside of functions that return. */
static void test_begins_inside(void)
{
    Fixture f;

    set_up(&f);
    run(&f, LEAF + 8, 1, RET);
    run(&f, WORK + 8, 2, RET);
    run(&f, MAIN + 8, 3, CALL);
    run(&f, LEAF, 4, 0);
    assert_folded(&f, U ";leaf 1\n"
                      U ";main 3\n"
                      U ";main;leaf 4\n"
                      U ";work 2\n");
    tear_down(&f);
}

/* A system call: the kernel's stack hangs below the program's. */
static void test_system_call(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, CALL);
    run(&f, WORK, 1, 0);
    trap_into(&f, 8, WORK + 4, ETRACE_PRIV_S);
    run(&f, KENTRY, 2, CALL);
    run(&f, KSYSCALL, 3, RET);
    run(&f, KENTRY + 8, 1, XRET);
    f.priv = ETRACE_PRIV_U;
    run(&f, WORK + 8, 1, RET);
    run(&f, MAIN + 4, 1, 0);
    assert_folded(&f, U ";main 2\n"
                      U ";main;work 2\n"
                      U ";main;work;[ecall from U];handle_exception 3\n"
                      U ";main;work;[ecall from U];handle_exception;"
                      "do_syscall 3\n");
    tear_down(&f);
}

/* A trap within a privilege level is removed by its xRET. */
static void test_nested_trap(void)
{
    Fixture f;

    set_up(&f);
    f.priv = ETRACE_PRIV_S;
    run(&f, KSYSCALL, 1, CALL);
    run(&f, KSCHEDULE, 1, 0);
    trap_into(&f, 13, KSCHEDULE + 4, ETRACE_PRIV_S);
    run(&f, KENTRY, 2, XRET);
    run(&f, KSCHEDULE + 4, 1, RET);
    run(&f, KSYSCALL + 4, 1, 0);
    assert_folded(&f, "S-mode;do_syscall 2\n"
                      "S-mode;do_syscall;schedule 2\n"
                      "S-mode;do_syscall;schedule;[load page fault];"
                      "handle_exception 2\n");
    tear_down(&f);
}

/* The target of an xRET faults before it retires: it was there, anyhow. */
static void test_fault_at_target(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, 0);
    trap_into(&f, 8, MAIN + 4, ETRACE_PRIV_S);
    run(&f, KENTRY, 1, XRET);
    f.priv = ETRACE_PRIV_U;
    trap_into(&f, 12, MAIN + 8, ETRACE_PRIV_S);
    run(&f, KENTRY, 1, XRET);
    f.priv = ETRACE_PRIV_U;
    run(&f, MAIN + 8, 1, 0);
    assert_folded(&f, U ";main 2\n"
                      U ";main;[ecall from U];handle_exception 1\n"
                      U ";main;[instruction page fault];handle_exception "
                      "1\n");
    tear_down(&f);
}

/* A call's target faults: the call was made. */
static void test_fault_after_call(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, CALL);
    trap_into(&f, 12, WORK, ETRACE_PRIV_S);
    run(&f, KENTRY, 1, XRET);
    f.priv = ETRACE_PRIV_U;
    run(&f, WORK, 1, RET);
    run(&f, MAIN + 4, 1, 0);
    assert_folded(&f, U ";main 2\n"
                      U ";main;work 1\n"
                      U ";main;work;[instruction page fault];"
                      "handle_exception 1\n");
    tear_down(&f);
}

/* Threads that call schedule(), which returns on the other one's stack */
static void test_switched_stacks(void)
{
    Fixture f;

    set_up(&f);
    f.priv = ETRACE_PRIV_S;
    run(&f, KTHREAD_A, 1, CALL);
    run(&f, KSCHEDULE, 1, RET);
    run(&f, KTHREAD_B + 8, 1, CALL);
    run(&f, KSCHEDULE, 1, RET);
    run(&f, KTHREAD_A + 4, 1, CALL);
    run(&f, KSCHEDULE, 1, RET);
    run(&f, KTHREAD_B + 12, 1, 0);
    assert_folded(&f, "S-mode;thread_a 2\n"
                      "S-mode;thread_a;schedule 2\n"
                      "S-mode;thread_b 2\n"
                      "S-mode;thread_b;schedule 1\n");
    tear_down(&f);
}

/* Programs have the same addresses, but not the same stacks. */
static void test_spaces(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, CALL);
    run(&f, WORK, 1, 0);
    f.space = 2;
    run(&f, MAIN, 1, 0);
    f.space = 1;
    run(&f, WORK + 4, 1, RET);
    run(&f, MAIN + 4, 1, 0);
    assert_folded(&f, U ";main 2\n"
                      U ";main;work 2\n"
                      "U-mode;address space 2;main 1\n");
    tear_down(&f);
}

/* The same, but what they are called is the same */
static void test_merged_spaces(void)
{
    static const CallStackLayer layer = CALLSTACK_LAYER_PRIV;
    Fixture f;

    set_up(&f);
    new_stack(&f, &layer, 1);
    run(&f, MAIN, 1, CALL);
    run(&f, WORK, 1, 0);
    f.space = 2;
    run(&f, MAIN, 1, 0);
    f.space = 1;
    run(&f, WORK + 4, 1, RET);
    run(&f, MAIN + 4, 1, 0);
    assert_folded(&f, "U-mode;main 3\n"
                      "U-mode;main;work 2\n");
    tear_down(&f);
}

/*
 * Two threads of one process, and the idle task: the kernel switches in the
 * middle of a function, and each goes on with its own stack.
 */
static void test_tasks(void)
{
    static const CallStackLayer layer = CALLSTACK_LAYER_THREAD;
    const Task *a, *b, *idle;
    Fixture f;

    set_up(&f);
    new_stack(&f, &layer, 1);
    a = task_intern(f.tasks, TASK_KNOWN, 10, 10, "sh");
    b = task_intern(f.tasks, TASK_KNOWN, 11, 10, "sh");
    idle = task_intern(f.tasks, TASK_KNOWN, 0, 0, "swapper/0");
    f.task = a;
    run(&f, MAIN, 2, 0);
    trap_into(&f, 8, MAIN + 8, ETRACE_PRIV_S);
    run(&f, KENTRY, 2, CALL);
    run(&f, KSCHEDULE, 3, 0);
    f.task = idle;              /* from here on, and nobody returned */
    run(&f, KSCHEDULE + 12, 1, RET);
    run(&f, KTHREAD_A, 4, CALL);
    run(&f, KSCHEDULE, 3, 0);
    f.task = b;
    run(&f, KSCHEDULE + 12, 1, RET);
    run(&f, KTHREAD_B, 1, XRET);
    f.priv = ETRACE_PRIV_U;
    run(&f, OTHER, 7, 0);
    trap_into(&f, 8, OTHER + 28, ETRACE_PRIV_S);
    run(&f, KENTRY, 2, CALL);
    run(&f, KSCHEDULE, 3, 0);
    f.task = a;
    run(&f, KSCHEDULE + 12, 1, RET);
    run(&f, KENTRY + 8, 1, XRET);
    f.priv = ETRACE_PRIV_U;
    run(&f, MAIN + 8, 1, 0);
    assert_folded(&f,
        "sh (10/10);main 3\n"
        "sh (10/10);main;[ecall from U];handle_exception 3\n"
        "sh (10/10);main;[ecall from U];handle_exception;schedule 4\n"
        "sh (10/11);other 7\n"
        "sh (10/11);other;[ecall from U];handle_exception 2\n"
        "sh (10/11);other;[ecall from U];handle_exception;schedule 3\n"
        "sh (10/11);schedule 1\n"
        "sh (10/11);thread_b 1\n"
        "swapper/0 (0/0);schedule 1\n"
        "swapper/0 (0/0);thread_a 4\n"
        "swapper/0 (0/0);thread_a;schedule 3\n");
    tear_down(&f);
}

/* A task that is called something else goes on with its stack. */
static void test_renamed(void)
{
    static const CallStackLayer layer = CALLSTACK_LAYER_COMM;
    Fixture f;

    set_up(&f);
    new_stack(&f, &layer, 1);
    f.task = task_intern(f.tasks, TASK_KNOWN, 10, 10, "exe");
    run(&f, MAIN, 2, CALL);
    run(&f, WORK, 3, 0);
    f.task = task_intern(f.tasks, TASK_KNOWN, 10, 10, "awk");
    run(&f, WORK + 12, 4, RET);
    run(&f, MAIN + 8, 5, 0);
    assert_folded(&f, "awk;main 5\n"
                      "awk;main;work 4\n"
                      "exe;main 2\n"
                      "exe;main;work 3\n");
    tear_down(&f);
}

static void note_moment(void *opaque, const CallStackMoment *m)
{
    Fixture *f = opaque;
    const ProfileNode *n = profile_node(f->profile, m->node);

    g_string_append_printf(f->moments, "%" PRIu64 " %s %u\n", m->insns,
                           profile_frame(f->profile, n->frame)->name,
                           m->task ? m->task->tid : 0);
}

/* What is innermost, and since when */
static void test_moments(void)
{
    Fixture f;

    set_up(&f);
    callstack_free(f.stack);
    f.moments = g_string_new(NULL);
    f.stack = callstack_new(f.profile, PROFILE_ROOT, &(CallStackOptions) {
        .names = f.names, .moment = note_moment, .opaque = &f,
    });
    f.task = task_intern(f.tasks, TASK_KNOWN, 10, 10, "sh");
    run(&f, MAIN, 3, 0);
    run(&f, MAIN + 12, 1, CALL);
    run(&f, WORK, 2, RET);
    run(&f, MAIN + 16, 1, CALL);
    run(&f, WORK, 2, RET);
    run(&f, MAIN + 20, 1, 0);
    f.task = task_intern(f.tasks, TASK_KNOWN, 11, 11, "sh");
    run(&f, MAIN, 1, 0);
    check_cmpstr(f.moments->str, ==,
                 "0 main 10\n4 work 10\n6 main 10\n7 work 10\n"
                 "9 main 10\n10 main 11\n");
    g_string_free(f.moments, true);
    tear_down(&f);
}

static void test_lost(void)
{
    Fixture f;

    set_up(&f);
    run(&f, MAIN, 1, CALL);
    run(&f, WORK, 1, CALL);
    callstack_lost(f.stack);
    run(&f, LEAF, 1, 0);
    assert_folded(&f, U ";leaf 1\n" U ";main 1\n" U ";main;work 1\n");
    tear_down(&f);
}

/* Calls that never return must not use up memory. */
static void test_endless_calls(void)
{
    Fixture f;

    set_up(&f);
    for (int i = 0; i < 100000; i++) {
        run(&f, MAIN, 1, CALL);
    }
    check_cmpuint(f.profile->nodes->len, <, 2000);
    check_cmpuint(profile_sum(f.profile), ==, 100000);
    tear_down(&f);
}

static void test_symbols(void)
{
    SymbolTable *t = symbols_new();
    g_autoptr(GError) err = NULL;
    const Symbol *sym;
    uint64_t lo, hi;

    check_true(symbols_parse_kallsyms(t, kallsyms, strlen(kallsyms),
                                      &err));
    symbols_sort(t);
    sym = symbols_find(t, WORK + 0xff, &lo, &hi);
    check_cmpstr(sym->name, ==, "work");
    check_cmphex(lo, ==, WORK);
    check_cmphex(hi, ==, LEAF);
    check_null(symbols_find(t, 0xfff, &lo, &hi));
    check_cmphex(lo, ==, 0);
    check_cmphex(hi, ==, MAIN);
    sym = symbols_find(t, KSYSCALL + 4, NULL, NULL);
    check_cmpstr(sym->name, ==, "do_syscall");
    symbols_free(t);
}

static void test_bad_kallsyms(void)
{
    static const struct {
        const char *text, *what;
    } table[] = {
        { "", "no symbols" },
        { "hello\n", "line 1" },
        { "0000000000001000 T a\nxyz T b\n", "line 2" },
        { "0000000000000000 T a\n0000000000000000 t b\n", "all addresses" },
        { "0000000000001000 D a\n", "no symbols" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        g_autoptr(GError) err = NULL;
        SymbolTable *t = symbols_new();

        check_false(symbols_parse_kallsyms(t, table[i].text,
                                           strlen(table[i].text), &err));
        check_nonnull(strstr(err->message, table[i].what));
        symbols_free(t);
    }
}

static void test_escape(void)
{
    static const struct {
        const char *text;
        size_t max;
        const char *want;
    } table[] = {
        { "plain", 99, "plain" },
        { "operator<<(a&, \"b\")", 99,
          "operator&lt;&lt;(a&amp;, &quot;b&quot;)" },
        { "a\001b\nc", 99, "a\357\277\275b\357\277\275c" },
        { "bad\377utf", 99, "bad\357\277\275utf" },
        { "long_name", 6, "long.." },
        { "exact!", 6, "exact!" },
        { "gr\303\266\303\237e", 5, "gr\303\266\303\237e" },
        { "&&&&", 3, "&amp;.." },
        { "", 0, "" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        g_autofree char *got = flamegraph_escape(table[i].text, table[i].max);

        check_cmpstr(got, ==, table[i].want);
    }
}

static void test_commas(void)
{
    static const struct {
        uint64_t n;
        const char *want;
    } table[] = {
        { 0, "0" }, { 999, "999" }, { 1000, "1,000" },
        { 1234567, "1,234,567" },
        { UINT64_MAX, "18,446,744,073,709,551,615" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        g_autofree char *got = flamegraph_commas(table[i].n);

        check_cmpstr(got, ==, table[i].want);
    }
}

/* What a drawing's elements are, as an XML parser sees them */
typedef struct Seen {
    unsigned rects, titles;
    double max_right;
} Seen;

static void on_element(GMarkupParseContext *context, const char *name,
                       const char **names, const char **values,
                       gpointer opaque, GError **errp)
{
    Seen *seen = opaque;
    double x = 0, width = 0;

    seen->titles += g_str_equal(name, "title");
    if (!g_str_equal(name, "rect")) {
        return;
    }
    seen->rects++;
    for (int i = 0; names[i]; i++) {
        if (g_str_equal(names[i], "x")) {
            x = g_ascii_strtod(values[i], NULL);
        } else if (g_str_equal(names[i], "width") &&
                   !strchr(values[i], '%')) {
            width = g_ascii_strtod(values[i], NULL);
        }
    }
    seen->max_right = MAX(seen->max_right, x + width);
}

static char *draw(Fixture *f, const char *title, double min_width)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    flamegraph_write(f->profile, &(FlameOptions) {
        .title = title, .width = 1200, .min_width = min_width,
    }, file);
    fclose(file);
    return text;
}

static void test_drawing(void)
{
    static const GMarkupParser parser = { .start_element = on_element };
    g_autoptr(GMarkupParseContext) context = NULL;
    g_autoptr(GError) err = NULL;
    Seen seen = { 0 };
    Fixture f;
    char *svg, *again;

    set_up(&f);
    run(&f, MAIN, 50, CALL);
    run(&f, LEAF, 39, RET);
    run(&f, MAIN + 200, 10, 0);
    run(&f, MAIN + 240, 0, CALL);
    run(&f, OTHER, 1, 0);
    svg = draw(&f, "<title> & \"more\"", 0);
    context = g_markup_parse_context_new(&parser, 0, &seen, NULL);
    g_markup_parse_context_parse(context, svg, strlen(svg), &err);
    g_markup_parse_context_end_parse(context, err ? NULL : &err);
    check_no_error(err);
    /* all, U-mode, space, main, leaf, other; background, legend, two bars */
    check_cmpuint(seen.titles, ==, 6);
    check_cmpuint(seen.rects, ==, 6 + 4);
    check_true(seen.max_right <= 1200);
    check_nonnull(strstr(svg, "leaf (39 instructions, 39.00%)"));
    check_nonnull(strstr(svg, "other (1 instruction, 1.00%)"));
    check_null(strstr(svg, "<title> &"));

    again = draw(&f, "<title> & \"more\"", 0);
    check_cmpstr(svg, ==, again);
    free(again);

    /* too narrow to be seen */
    again = draw(&f, "t", 20);
    check_null(strstr(again, "other ("));
    check_nonnull(strstr(again, "leaf ("));
    free(again);
    free(svg);
    tear_down(&f);
}

static void test_empty_drawing(void)
{
    Fixture f;
    char *svg;

    set_up(&f);
    svg = draw(&f, "nothing", 0.1);
    check_nonnull(strstr(svg, "all (0 instructions, 0.00%)"));
    free(svg);
    tear_down(&f);
}

/* What it takes to draw a stack grows with its depth, not by its power. */
static void test_deep_drawing(void)
{
    Fixture f;
    char *svg;

    set_up(&f);
    for (int i = 0; i < 400; i++) {
        run(&f, i % 2 ? WORK : MAIN, 1, CALL);
    }
    svg = draw(&f, "deep", 0);
    check_nonnull(strstr(svg, "work (1 instruction, 0.25%)"));
    free(svg);
    tear_down(&f);
}

/*
 * Traps from each of two levels to the other one: no hart does that, and a
 * stack without end is of no use. Nothing is lost of the counts.
 */
static void test_endless_traps(void)
{
    char *text = NULL;
    size_t size;
    Fixture f;
    FILE *file;

    set_up(&f);
    run(&f, MAIN, 1, 0);
    for (int i = 0; i < 100000; i++) {
        CallStackSite at = site(&f);

        callstack_trap(f.stack, &(FlowTrap) {
            .cause = 8, .priv = f.priv, .epc_known = true, .epc = MAIN + 4,
        }, &at);
        f.priv = f.priv == ETRACE_PRIV_U ? ETRACE_PRIV_S : ETRACE_PRIV_U;
        run(&f, f.priv == ETRACE_PRIV_U ? MAIN : KENTRY, 1, 0);
    }
    check_cmpuint(profile_sum(f.profile), ==, 100001);
    check_cmpuint(f.profile->nodes->len, <=, PROFILE_MAX_DEPTH + 10);
    check_true(f.profile->full);
    file = open_memstream(&text, &size);
    profile_write_folded(f.profile, file);
    fclose(file);
    free(text);
    free(draw(&f, "deep", 0));
    tear_down(&f);
}

/* Functions that nobody has named, and more than anybody wants to see */
static void test_many_functions(void)
{
    NamePlace place;
    Fixture f;

    set_up(&f);
    for (unsigned i = 0; i < PROFILE_MAX_FRAMES + 1000; i++) {
        uint64_t pc = KTHREAD_B + 0x10000 + i;

        names_find(f.names, NULL, f.priv, pc, &place);
        profile_function(f.profile, FRAME_USER, &place, pc, true);
    }
    check_cmpuint(f.profile->frames->len, <=, PROFILE_MAX_FRAMES + 10);
    check_true(f.profile->full);
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/profile/calls", test_calls);
    g_test_add_func("/profile/recursion", test_recursion);
    g_test_add_func("/profile/tail-call", test_tail_call);
    g_test_add_func("/profile/longjmp", test_longjmp);
    g_test_add_func("/profile/begins-inside", test_begins_inside);
    g_test_add_func("/profile/system-call", test_system_call);
    g_test_add_func("/profile/nested-trap", test_nested_trap);
    g_test_add_func("/profile/fault-at-target", test_fault_at_target);
    g_test_add_func("/profile/fault-after-call", test_fault_after_call);
    g_test_add_func("/profile/switched-stacks", test_switched_stacks);
    g_test_add_func("/profile/spaces", test_spaces);
    g_test_add_func("/profile/merged-spaces", test_merged_spaces);
    g_test_add_func("/profile/tasks", test_tasks);
    g_test_add_func("/profile/renamed", test_renamed);
    g_test_add_func("/profile/moments", test_moments);
    g_test_add_func("/profile/lost", test_lost);
    g_test_add_func("/profile/endless-calls", test_endless_calls);
    g_test_add_func("/profile/symbols", test_symbols);
    g_test_add_func("/profile/bad-kallsyms", test_bad_kallsyms);
    g_test_add_func("/profile/escape", test_escape);
    g_test_add_func("/profile/commas", test_commas);
    g_test_add_func("/profile/drawing", test_drawing);
    g_test_add_func("/profile/empty-drawing", test_empty_drawing);
    g_test_add_func("/profile/deep-drawing", test_deep_drawing);
    g_test_add_func("/profile/endless-traps", test_endless_traps);
    g_test_add_func("/profile/many-functions", test_many_functions);
    return g_test_run();
}
