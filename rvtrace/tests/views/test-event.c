/*
 * Events: which texts are one, and where they are in a run
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "views/questions/event.h"

static void test_texts(void)
{
    static const struct {
        const char *text;
        Event event;
    } good[] = {
        { "sym:f", { EVENT_ENTERED, (char *)"f", { 0 }, 1 } },
        { "sym:f#7", { EVENT_ENTERED, (char *)"f", { 0 }, 7 } },
        { "mark:a#7", { EVENT_NOTE, (char *)"a#7", { 0 }, 1 } },
        { "trap:*page fault#2", { EVENT_TRAP, (char *)"*page fault", { 0 },
                                  2 } },
        { "slower:f>10ms", { EVENT_SLOWER, (char *)"f", { true, 10000000 },
                             1 } },
        { "slower:operator>>>1k#3", { EVENT_SLOWER, (char *)"operator>>",
                                      { false, 1000 }, 3 } },
        { "slowest:[*timer*#100", { EVENT_SLOWEST, (char *)"[*timer*", { 0 },
                                    100 } },
        { "sym:f#1048576", { EVENT_ENTERED, (char *)"f", { 0 }, 1 << 20 } },
    };
    static const char *const bad[] = {
        "", "f", "sym", "sym:", "sym:#2", "sym:f#0", "sym:f#1048577", "mark:",
        "trap:", "slower:f", "slower:f>", "slower:f>0", "slower:f>0ns",
        "slower:f>x", "slower:>1ms", "slower:f>1ms#0", "slower:f>-1ms",
        "slowest:f#101", "Sym:f", " sym:f",
    };

    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        const Event *want = &good[i].event;
        Event e;

        check_true(event_parse(&e, good[i].text));
        check_cmpuint(e.kind, ==, want->kind);
        check_cmpstr(e.name, ==, want->name);
        check_cmpuint(e.nth, ==, want->nth);
        check_cmpuint(e.limit.timed, ==, want->limit.timed);
        check_cmpuint(e.limit.amount, ==, want->limit.amount);
        event_clear(&e);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        Event e;

        g_test_message("%s", bad[i]);
        check_false(event_parse(&e, bad[i]));
        event_clear(&e);
    }
}

/* Two harts: on each, main calls f again and again. */
typedef struct Run {
    Profile *profile;
    TaskTable *tasks;
    const Task *task;
    unsigned main, f;
    Event event;
    EventSearch *search;
    EventHart *harts[2];
} Run;

static void set_up(Run *r, const char *event)
{
    *r = (Run) { .profile = profile_new(), .tasks = task_table_new() };
    r->task = task_intern(r->tasks, TASK_KNOWN, 1, 1, "a");
    r->main = profile_child(r->profile, PROFILE_ROOT,
                            profile_label(r->profile, FRAME_USER, "main"));
    r->f = profile_child(r->profile, r->main,
                         profile_label(r->profile, FRAME_USER, "f"));
    check_true(event_parse(&r->event, event));
    r->search = event_search_new(&r->event, NULL);
    event_search_clocks(r->search, true);
    for (unsigned i = 0; i < 2; i++) {
        r->harts[i] = event_search_hart(r->search, i, r->profile, r->tasks);
    }
}

static void tear_down(Run *r)
{
    event_search_free(r->search);
    event_clear(&r->event);
    task_table_free(r->tasks);
    profile_free(r->profile);
}

static void moment(Run *r, unsigned hart, unsigned node, uint64_t place,
                   uint64_t time)
{
    event_moment(r->harts[hart], &(CallStackMoment) {
        .node = node, .place = place, .time = time, .task = r->task,
        .begins = node == r->f,
    });
}

static void call(Run *r, unsigned hart, uint64_t from, uint64_t since,
                 uint64_t to, uint64_t until)
{
    moment(r, hart, r->f, from, since);
    moment(r, hart, r->main, to, until);
}

/* Where the event is: hart, from, to */
static void look(const char *text, uint64_t count, unsigned hart,
                 uint64_t from, uint64_t to)
{
    MomentMark mark = {
        .kind = MOMENT_NOTE, .number = ETRACE_SB_NOTE_MARK, .text = "here!",
        .len = 4,
    };
    MomentMark trap = { .kind = MOMENT_TRAP, .number = 256 + 5 };
    EventPlace place = { UINT_MAX, { 0 }, { 0 } };
    Run r;

    set_up(&r, text);
    moment(&r, 0, r.main, 0, 0);
    moment(&r, 1, r.main, 0, 0);
    call(&r, 0, 10, 1000, 20, 1500);
    call(&r, 0, 100, 5000, 130, 6000);
    call(&r, 1, 1000, 2000, 1005, 2600);
    call(&r, 1, 1100, 6500, 1200, 7500);
    event_mark(r.harts[1], &(CallStackMoment) { .place = 1300, .time = 8000 },
               &mark);
    event_mark(r.harts[0], &(CallStackMoment) { .place = 140, .time = 8100 },
               &trap);
    moment(&r, 0, r.f, 150, 9000);      /* has not returned */
    for (unsigned i = 0; i < 2; i++) {
        event_end(r.harts[i], &(CallStackMoment) {
            .place = 2000, .time = 20000,
        });
    }
    check_cmpuint(event_search_find(r.search, &place), ==, count);
    check_cmpuint(place.hart, ==, hart);
    check_cmpuint(place.from.insns, ==, from);
    check_cmpuint(place.to.insns, ==, to);
    tear_down(&r);
}

static void test_places(void)
{
    /* In the order of time, whichever hart it is */
    look("sym:f", 5, 0, 10, 10);
    look("sym:f#2", 5, 1, 1000, 1000);
    look("sym:f#4", 5, 1, 1100, 1100);
    look("sym:f#6", 5, UINT_MAX, 0, 0);
    /* Those that return */
    look("slower:f>1ns", 4, 0, 10, 20);
    look("slower:f>500ns", 3, 1, 1000, 1005);
    look("slower:f>600ns#2", 2, 1, 1100, 1200);
    look("slower:f>10", 2, 0, 100, 130);
    look("slower:g>1", 0, UINT_MAX, 0, 0);
    /* Of two that take as long, the first hart's */
    look("slowest:f", 4, 0, 100, 130);
    look("slowest:f#2", 4, 1, 1100, 1200);
    look("slowest:*#3", 4, 1, 1000, 1005);
    look("mark:here", 1, 1, 1300, 1300);
    look("mark:here!", 0, UINT_MAX, 0, 0);
    look("trap:supervisor*", 1, 0, 140, 140);
    look("trap:*fault", 0, UINT_MAX, 0, 0);
    /* Neither is on a stack. */
    look("slowest:[*", 0, UINT_MAX, 0, 0);
}

/* More moments than are kept; the hart idles in between. */
static void test_clock(void)
{
    const uint64_t n = 3 * EVENT_CLOCK_POINTS;
    unsigned hart;
    uint64_t insns;
    Run r;

    set_up(&r, "sym:g");
    for (uint64_t i = 0; i < n; i++) {
        moment(&r, 1, i & 1 ? r.f : r.main, 10 * i, 1000 + 100 * i);
    }
    event_end(r.harts[1], &(CallStackMoment) {
        .place = 10 * n, .time = 1000 + 100 * n,
    });
    for (uint64_t i = 0; i <= n; i += n / 100) {
        check_true(event_search_clock(r.search, 1, 1050 + 100 * i, &hart,
                                      &insns));
        check_cmpuint(hart, ==, 1);
        check_cmpuint(insns, >=, MIN(10 * i + 5, 10 * n));
        check_cmpuint(insns, <=, MIN(10 * i + 6, 10 * n));
    }
    check_true(event_search_clock(r.search, 1, UINT64_MAX, &hart, &insns));
    check_cmpuint(insns, ==, 10 * n);
    check_true(event_search_clock(r.search, 1, 999, &hart, &insns));
    check_cmpuint(insns, ==, 0);
    check_true(event_search_clock(r.search, 0, 5, &hart, &insns));
    check_cmpuint(hart, ==, 0);
    check_cmpuint(insns, ==, 0);
    check_false(event_search_clock(r.search, 2, 5, &hart, &insns));
    tear_down(&r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/event/texts", test_texts);
    g_test_add_func("/event/places", test_places);
    g_test_add_func("/event/clock", test_clock);
    return g_test_run();
}
