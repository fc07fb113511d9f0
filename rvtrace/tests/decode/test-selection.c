/*
 * What views look at: tasks, numbers of instructions, regions
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "profile/selection.h"
#include "base/option-error.h"

static Task init = {
    .kind = TASK_KNOWN, .tid = 1, .tgid = 1, .name = (char *)"init",
};
static Task worker = {
    .kind = TASK_KNOWN, .tid = 31, .tgid = 30, .name = (char *)"worker/1",
};
static Task made_up = {
    .kind = TASK_GUESSED, .tid = TASK_MADE_UP, .tgid = TASK_MADE_UP,
    .name = (char *)"busybox",
};

typedef struct Case {
    Selection *s;
    SelectionHart *h;
} Case;

static void begin(Case *c, const SelectionOptions *o)
{
    g_autoptr(GError) err = NULL;

    c->s = selection_new(o, &err);
    check_no_error(err);
    check_nonnull(c->s);
    c->h = selection_hart_new(c->s, 1);
}

static void end(Case *c)
{
    selection_hart_free(c->h);
    selection_free(c->s);
}

static void note(Case *c, ETraceSbNoteKind kind, const char *text)
{
    selection_note(c->h, &(SidebandNote) {
        .kind = kind, .text = text, .len = strlen(text),
    });
}

static void test_numbers(void)
{
    static const struct {
        const char *text;
        uint64_t count;
    } good[] = {
        { "0", 0 }, { "17", 17 }, { "3k", 3000 }, { "2M", 2000000 },
        { "18446744073G", 18446744073000000000ull },
        { "18446744073709551615", UINT64_MAX },
    };
    static const char *const bad[] = {
        "", "k", "-1", "+1", " 1", "1 ", "1K", "1kk", "0x10", "1.5M",
        "18446744074G", "18446744073709551616",
    };
    uint64_t count;

    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        check_true(selection_parse_count(good[i].text, &count));
        check_cmpuint(count, ==, good[i].count);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        check_false(selection_parse_count(bad[i], &count));
    }
}

static void wrong(const SelectionOptions *o, OptionError option,
                  const char *what)
{
    g_autoptr(GError) err = NULL;

    check_null(selection_new(o, &err));
    check_true(g_error_matches(err, OPTION_ERROR, option));
    check_true(g_str_has_prefix(err->message, what));
}

static void test_options(void)
{
    char *none[] = { NULL }, *empty[] = { (char *)"", NULL };
    char *half[] = { (char *)"a..", NULL };
    g_autoptr(GError) err = NULL;

    check_null(selection_new(&(SelectionOptions) { 0 }, &err));
    check_no_error(err);
    check_null(selection_new(&(SelectionOptions) {
        .processes = none, .regions = none,
    }, &err));
    check_no_error(err);
    wrong(&(SelectionOptions) { .from = (char *)"x" }, OPTION_FROM, "x: ");
    wrong(&(SelectionOptions) { .to = (char *)"1K" }, OPTION_TO, "1K: ");
    wrong(&(SelectionOptions) {
        .from = (char *)"2k", .to = (char *)"2000",
    }, OPTION_FROM, "2k: ");
    wrong(&(SelectionOptions) { .processes = empty }, OPTION_PROCESS, "'': ");
    wrong(&(SelectionOptions) { .regions = empty }, OPTION_REGION, "'': ");
    wrong(&(SelectionOptions) { .regions = half }, OPTION_REGION, "a..: ");
}

static void test_process(void)
{
    char *names[] = { (char *)"work*", NULL };
    char *thread[] = { (char *)"31", NULL }, *group[] = { (char *)"30", NULL };
    char *two[] = { (char *)"1", (char *)"busybox", NULL };
    char *address[] = { (char *)"4194305", NULL };
    Case c;

    begin(&c, &(SelectionOptions) { .processes = names });
    check_true(selection_covers(c.h, &worker));
    check_false(selection_covers(c.h, &init));
    check_false(selection_covers(c.h, NULL));
    check_true(selection_covers(c.h, &worker));
    check_cmpuint(selection_room(c.h), ==, UINT64_MAX);
    end(&c);
    begin(&c, &(SelectionOptions) { .processes = thread });
    check_true(selection_covers(c.h, &worker));
    end(&c);
    begin(&c, &(SelectionOptions) { .processes = group });
    check_true(selection_covers(c.h, &worker));
    check_false(selection_covers(c.h, &made_up));
    end(&c);
    begin(&c, &(SelectionOptions) { .processes = two });
    check_true(selection_covers(c.h, &init));
    check_true(selection_covers(c.h, &made_up));
    check_false(selection_covers(c.h, &worker));
    end(&c);
    /* Numbers that the guest does not know are nobody's. */
    begin(&c, &(SelectionOptions) { .processes = address });
    check_false(selection_covers(c.h, &made_up));
    end(&c);
}

static void test_count(void)
{
    Case c;

    begin(&c, &(SelectionOptions) {
        .from = (char *)"10", .to = (char *)"1k",
    });
    check_false(selection_covers(c.h, NULL));
    check_cmpuint(selection_room(c.h), ==, 10);
    selection_ran(c.h, 4);
    check_false(selection_covers(c.h, NULL));
    check_cmpuint(selection_room(c.h), ==, 6);
    selection_ran(c.h, 6);
    check_true(selection_covers(c.h, NULL));
    check_cmpuint(selection_room(c.h), ==, 990);
    selection_ran(c.h, 990);
    check_false(selection_covers(c.h, NULL));
    check_cmpuint(selection_room(c.h), ==, UINT64_MAX);
    end(&c);
}

/* Rounds of a loop may not cross a border, and may end at it. */
static void test_repeat(void)
{
    char *names[] = { (char *)"init", NULL };
    Case c;

    begin(&c, &(SelectionOptions) { .from = (char *)"100" });
    selection_mark(c.h);
    check_false(selection_covers(c.h, NULL));
    selection_ran(c.h, 10);
    check_true(selection_can_repeat(c.h, 9));
    check_false(selection_can_repeat(c.h, 10));
    check_false(selection_can_repeat(c.h, UINT64_MAX));
    selection_repeat(c.h, 9);
    check_true(selection_covers(c.h, NULL));
    selection_mark(c.h);
    check_true(selection_covers(c.h, NULL));
    selection_ran(c.h, 10);
    check_true(selection_can_repeat(c.h, UINT64_MAX / 20));
    end(&c);

    begin(&c, &(SelectionOptions) { .from = (char *)"5" });
    selection_mark(c.h);
    check_false(selection_covers(c.h, NULL));
    selection_ran(c.h, 5);
    check_true(selection_covers(c.h, NULL));
    selection_ran(c.h, 5);
    check_false(selection_can_repeat(c.h, 1));
    end(&c);

    /* A round of two tasks is none. */
    begin(&c, &(SelectionOptions) { .processes = names });
    selection_covers(c.h, &init);
    selection_mark(c.h);
    selection_covers(c.h, &init);
    selection_ran(c.h, 5);
    check_true(selection_can_repeat(c.h, 3));
    selection_covers(c.h, &worker);
    selection_covers(c.h, &init);
    check_false(selection_can_repeat(c.h, 3));
    end(&c);
}

static void test_region(void)
{
    char *one[] = { (char *)"work", NULL };
    char *marks[] = { (char *)"a..b", NULL };
    char *both[] = { (char *)"x", (char *)"y", NULL };
    Case c;

    begin(&c, &(SelectionOptions) { .regions = one });
    check_false(selection_covers(c.h, &init));
    note(&c, ETRACE_SB_NOTE_END, "work");
    note(&c, ETRACE_SB_NOTE_MARK, "work");
    note(&c, ETRACE_SB_NOTE_BEGIN, "works");
    note(&c, ETRACE_SB_NOTE_BEGIN, "wor");
    check_false(selection_covers(c.h, &init));
    for (int i = 0; i < 2; i++) {
        note(&c, ETRACE_SB_NOTE_BEGIN, "work");
        check_true(selection_covers(c.h, &init));
        note(&c, ETRACE_SB_NOTE_END, "other");
        check_true(selection_covers(c.h, NULL));
        note(&c, ETRACE_SB_NOTE_END, "work");
        check_false(selection_covers(c.h, &init));
    }
    /* Text is of all harts, and so is what is marked as such. */
    selection_note(c.h, &(SidebandNote) {
        .kind = ETRACE_SB_NOTE_BEGIN, .all_harts = true, .text = "work",
        .len = 4,
    });
    note(&c, ETRACE_SB_NOTE_TEXT, "work");
    check_false(selection_covers(c.h, &init));
    end(&c);

    begin(&c, &(SelectionOptions) { .regions = marks });
    note(&c, ETRACE_SB_NOTE_MARK, "b");
    note(&c, ETRACE_SB_NOTE_BEGIN, "a");
    note(&c, ETRACE_SB_NOTE_BEGIN, "a..b");
    check_false(selection_covers(c.h, NULL));
    note(&c, ETRACE_SB_NOTE_MARK, "a");
    note(&c, ETRACE_SB_NOTE_MARK, "c");
    check_true(selection_covers(c.h, NULL));
    note(&c, ETRACE_SB_NOTE_MARK, "b");
    check_false(selection_covers(c.h, NULL));
    end(&c);

    /* Regions that overlap are selected until the last of them ends. */
    begin(&c, &(SelectionOptions) { .regions = both });
    note(&c, ETRACE_SB_NOTE_BEGIN, "x");
    note(&c, ETRACE_SB_NOTE_BEGIN, "y");
    note(&c, ETRACE_SB_NOTE_END, "x");
    check_true(selection_covers(c.h, NULL));
    note(&c, ETRACE_SB_NOTE_END, "y");
    check_false(selection_covers(c.h, NULL));
    end(&c);
}

static void test_borders(void)
{
    static const struct {
        const char *text;
        bool good;
    } texts[] = {
        { "1.5s", true }, { "20ms", true }, { "7us", true }, { "0ns", true },
        { "-1s", true }, { "-3M", true }, { "mark:a b", true },
        { "sym:main", true }, { "sym:operator new(unsigned long)", true },
        { "1e3s", true }, { "sym:f#1", true }, { "sym:{lambda()#1}", true },
        { "sym:{lambda()#1}#20", true }, { "sym:f#", true },
        { "x", false }, { "1 s", false }, { "s", false }, { "0x1s", false },
        { "infs", false }, { "--1s", false }, { "+1s", false },
        { "1.5", false }, { "1e30s", false }, { "mark:", false },
        { "sym:", false }, { "sym:#1", false }, { "sym:f#0", false }, { "main", false }, { "1m", false }, { "", false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        g_autofree char *text = g_strdup(texts[i].text);
        g_autoptr(Selection) s = NULL;
        g_autoptr(GError) err = NULL;

        s = selection_new(&(SelectionOptions) { .from = text }, &err);
        check_true(!s == !texts[i].good);
        check_true(!err == texts[i].good);
    }
    wrong(&(SelectionOptions) {
        .from = (char *)"1s", .to = (char *)"1000ms",
    }, OPTION_FROM, "1s: ");
    wrong(&(SelectionOptions) {
        .from = (char *)"-5", .to = (char *)"-6",
    }, OPTION_FROM, "-5: ");
    wrong(&(SelectionOptions) {
        .from = (char *)"sym:f#5", .to = (char *)"sym:f#5",
    }, OPTION_FROM, "sym:f#5: ");
}

/* From the first time that is not before the border on */
static void test_time(void)
{
    Case c;

    begin(&c, &(SelectionOptions) {
        .from = (char *)"2us", .to = (char *)"0.003ms",
    });
    check_true(selection_has_times(c.s));
    check_cmpuint(selection_hart_since(c.h), ==, 2000);
    check_false(selection_covers(c.h, NULL));
    selection_time(c.h, 1999);
    check_false(selection_covers(c.h, NULL));
    selection_mark(c.h);
    selection_time(c.h, 2001);
    check_true(selection_covers(c.h, NULL));
    check_false(selection_can_repeat(c.h, 1));
    check_cmpuint(selection_room(c.h), ==, UINT64_MAX);
    selection_time(c.h, 2999);
    check_true(selection_covers(c.h, NULL));
    selection_ran(c.h, 10);
    selection_time(c.h, 3000);
    check_false(selection_covers(c.h, NULL));
    check_false(selection_over(c.h));
    selection_ran(c.h, 1);
    check_true(selection_over(c.h));
    selection_time(c.h, 2500);
    check_false(selection_covers(c.h, NULL));
    end(&c);

    /* All of it may be between two times that are known. */
    begin(&c, &(SelectionOptions) {
        .from = (char *)"2us", .to = (char *)"3us",
    });
    selection_time(c.h, 1000);
    selection_time(c.h, 4000);
    check_false(selection_covers(c.h, NULL));
    end(&c);
}

static void test_from_end(void)
{
    uint64_t from, to;
    Case c;

    begin(&c, &(SelectionOptions) {
        .from = (char *)"-100", .to = (char *)"-30",
    });
    check_true(selection_has_end(c.s));
    selection_hart_end(c.h, 1000, 0);
    selection_hart_range(c.h, &from, &to);
    check_cmpuint(from, ==, 900);
    check_cmpuint(to, ==, 970);
    check_true(selection_hart_ends(c.h, 1000));
    /* There are not as many. */
    selection_hart_end(c.h, 50, 0);
    selection_hart_range(c.h, &from, &to);
    check_cmpuint(from, ==, 0);
    check_cmpuint(to, ==, 20);
    end(&c);

    begin(&c, &(SelectionOptions) { .from = (char *)"-1ms" });
    selection_hart_end(c.h, 50, 5000000);
    check_cmpuint(selection_hart_since(c.h), ==, 4000000);
    check_false(selection_hart_ends(c.h, 50));
    selection_time(c.h, 3999999);
    check_false(selection_covers(c.h, NULL));
    selection_time(c.h, 4000000);
    check_true(selection_covers(c.h, NULL));
    end(&c);
}

static void test_marks(void)
{
    Case c;

    begin(&c, &(SelectionOptions) {
        .from = (char *)"mark:a", .to = (char *)"mark:a",
    });
    check_false(selection_covers(c.h, NULL));
    note(&c, ETRACE_SB_NOTE_BEGIN, "a");
    note(&c, ETRACE_SB_NOTE_MARK, "ab");
    check_false(selection_covers(c.h, NULL));
    note(&c, ETRACE_SB_NOTE_MARK, "a");
    check_true(selection_covers(c.h, NULL));
    note(&c, ETRACE_SB_NOTE_MARK, "a");
    check_false(selection_covers(c.h, NULL));
    note(&c, ETRACE_SB_NOTE_MARK, "a");
    check_false(selection_covers(c.h, NULL));
    end(&c);

    /* Marks from before the first instruction do not end anything. */
    begin(&c, &(SelectionOptions) {
        .from = (char *)"10", .to = (char *)"mark:end",
    });
    note(&c, ETRACE_SB_NOTE_MARK, "end");
    selection_hart_start(c.h, 10);
    check_true(selection_covers(c.h, NULL));
    note(&c, ETRACE_SB_NOTE_MARK, "end");
    check_false(selection_covers(c.h, NULL));
    end(&c);
}

/* Functions count where a process enters them that is selected. */
static void test_functions(void)
{
    char *names[] = { (char *)"init", NULL };
    Case c;

    begin(&c, &(SelectionOptions) {
        .processes = names, .from = (char *)"sym:f", .to = (char *)"sym:g",
    });
    check_true(selection_has_functions(c.s));
    check_cmpstr(selection_function(c.s, 0), ==, "f");
    check_cmpstr(selection_function(c.s, 1), ==, "g");
    check_true(selection_awaits(c.h));
    selection_enter(c.h, &worker, "f");
    selection_enter(c.h, &init, "g");
    check_false(selection_covers(c.h, &init));
    selection_enter(c.h, &init, "f");
    check_true(selection_covers(c.h, &init));
    check_false(selection_covers(c.h, &worker));
    selection_enter(c.h, &init, "f");
    check_true(selection_awaits(c.h));
    selection_enter(c.h, &init, "g");
    check_false(selection_covers(c.h, &init));
    check_false(selection_awaits(c.h));
    end(&c);
}

/* The second time of f until the fourth of g, counted from the beginning on */
static void test_times_entered(void)
{
    static const struct {
        const char *name;
        bool covered;           /* behind it */
    } enters[] = {
        { "g", false }, { "f", false }, { "g", false }, { "f", true },
        { "f", true }, { "g", true }, { "g", false }, { "f", false },
    };
    Case c;

    begin(&c, &(SelectionOptions) {
        .from = (char *)"sym:f#2", .to = (char *)"sym:g#4",
    });
    check_cmpstr(selection_function(c.s, 0), ==, "f");
    check_cmpstr(selection_function(c.s, 1), ==, "g");
    for (unsigned i = 0; i < ARRAY_SIZE(enters); i++) {
        check_true(selection_awaits(c.h) == (i < 7));
        selection_mark(c.h);
        selection_enter(c.h, &init, enters[i].name);
        /* Who counts must see each round of a loop. */
        check_true(!selection_can_repeat(c.h, 1));
        check_true(selection_covers(c.h, &init) == enters[i].covered);
        selection_ran(c.h, 10);
    }
    end(&c);
    begin(&c, &(SelectionOptions) {
        .from = (char *)"sym:f#2", .to = (char *)"sym:f#3",
    });
    for (unsigned i = 1; i < 5; i++) {
        selection_enter(c.h, &init, "f");
        check_true(selection_covers(c.h, &init) == (i == 2));
        selection_ran(c.h, 10);
    }
    end(&c);
    /* The time of --to is over: it goes on to its end. */
    begin(&c, &(SelectionOptions) {
        .from = (char *)"sym:f#2", .to = (char *)"sym:g#1",
    });
    for (unsigned i = 1; i < 5; i++) {
        selection_enter(c.h, &init, "g");
        selection_enter(c.h, &init, "f");
        check_true(selection_covers(c.h, &init) == (i >= 2));
        selection_ran(c.h, 10);
    }
    end(&c);
}

/* What is said in several respects has to be so in all of them. */
static void test_together(void)
{
    char *names[] = { (char *)"init", NULL }, *one[] = { (char *)"r", NULL };
    Case c;

    begin(&c, &(SelectionOptions) {
        .processes = names, .regions = one, .from = (char *)"1",
    });
    note(&c, ETRACE_SB_NOTE_BEGIN, "r");
    check_false(selection_covers(c.h, &init));
    selection_ran(c.h, 1);
    check_true(selection_covers(c.h, &init));
    check_false(selection_covers(c.h, &worker));
    note(&c, ETRACE_SB_NOTE_END, "r");
    check_false(selection_covers(c.h, &init));
    end(&c);
}

/* c.nop has 2 bytes and nop has 4; 40 of them are more than wide knows. */
static void test_split(void)
{
    uint8_t code[40 * 4];
    FlowRun run = {
        .pc = 0x1000, .code = code, .end = 0x2000, .count = 40, .priv = 3,
        .itype = ETRACE_ITYPE_RETURN,
    };
    uint64_t pc = run.pc;
    unsigned len = 0;
    FlowRun head;

    for (unsigned i = 0; i < run.count; i++) {
        static const uint8_t nop[] = { 0x13, 0, 0, 0 }, c_nop[] = { 1, 0 };

        if (i < FLOW_WIDE_INSNS && i % 3 == 0) {
            run.wide |= 1ull << (len / 2);
        }
        memcpy(code + len, i % 3 ? c_nop : nop, i % 3 ? 2 : 4);
        len += i % 3 ? 2 : 4;
        pc += i < 5 ? (i % 3 ? 2 : 4) : 0;
    }
    head = selection_split(&run, 5);
    check_cmphex(head.pc, ==, 0x1000);
    check_cmpuint(head.count, ==, 5);
    check_cmpuint(head.itype, ==, ETRACE_ITYPE_NONE);
    check_cmpuint(head.priv, ==, 3);
    check_true(head.code == code);
    check_cmpuint(run.count, ==, 35);
    check_cmphex(run.pc, ==, pc);
    check_true(run.code == code + (pc - 0x1000));
    check_cmpuint(run.itype, ==, ETRACE_ITYPE_RETURN);
    check_cmphex(run.end, ==, 0x2000);
    /* The first of the rest is number 5, which is narrow, and then a nop. */
    len = 0;
    for (unsigned i = 5; i < 5 + FLOW_WIDE_INSNS; i++) {
        check_cmpuint(run.wide >> (len / 2) & 1, ==, i % 3 == 0);
        len += i % 3 ? 2 : 4;
    }
}

/* One hart has its own borders. */
static void test_pinned(void)
{
    const SelectionOptions o = { .from = (char *)"1s" };
    g_autoptr(GError) err = NULL;
    g_autoptr(Selection) s = selection_new(&o, &err);
    SelectionHart *other, *own;

    check_no_error(err);
    selection_pin(s, 1, 10, 20);
    other = selection_hart_new(s, 0);
    own = selection_hart_new(s, 1);
    check_false(selection_covers(other, &init));
    check_false(selection_covers(own, &init));
    check_cmpuint(selection_room(own), ==, 10);
    selection_ran(own, 10);
    check_true(selection_covers(own, &init));
    check_cmpuint(selection_room(own), ==, 10);
    selection_ran(own, 10);
    check_false(selection_covers(own, &init));
    selection_ran(own, 1);
    check_true(selection_over(own));
    selection_time(other, 1000000000);
    check_true(selection_covers(other, &init));
    selection_hart_free(own);
    selection_hart_free(other);
}

static void test_nth(void)
{
    static const struct {
        const char *text, *name;
        uint64_t nth;
    } cases[] = {
        { "f", "f", 0 }, { "f#3", "f", 3 }, { "f#0", NULL, 0 },
        { "f#", "f#", 0 }, { "{lambda()#1}", "{lambda()#1}", 0 },
        { "{lambda()#1}#2", "{lambda()#1}", 2 }, { "#2", "", 2 },
        { "f#-1", "f#-1", 0 }, { "f#18446744073709551616",
                                 "f#18446744073709551616", 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint64_t nth;
        g_autofree char *name = selection_split_nth(cases[i].text, &nth);

        check_cmpstr(name, ==, cases[i].name);
        check_cmpuint(nth, ==, cases[i].nth);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/selection/numbers", test_numbers);
    g_test_add_func("/selection/options", test_options);
    g_test_add_func("/selection/borders", test_borders);
    g_test_add_func("/selection/time", test_time);
    g_test_add_func("/selection/from-end", test_from_end);
    g_test_add_func("/selection/marks", test_marks);
    g_test_add_func("/selection/functions", test_functions);
    g_test_add_func("/selection/times-entered", test_times_entered);
    g_test_add_func("/selection/process", test_process);
    g_test_add_func("/selection/count", test_count);
    g_test_add_func("/selection/repeat", test_repeat);
    g_test_add_func("/selection/region", test_region);
    g_test_add_func("/selection/together", test_together);
    g_test_add_func("/selection/split", test_split);
    g_test_add_func("/selection/pinned", test_pinned);
    g_test_add_func("/selection/nth", test_nth);
    return g_test_run();
}
