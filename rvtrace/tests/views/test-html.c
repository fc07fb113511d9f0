/*
 * Counts by time, layers of profiles, JSON: what reports are made of
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/profile-fixture.h"
#include "views/html/html-report.h"
#include "base/json.h"

/* Of the whole: what each thing has in each bin */
static uint64_t count_of(const Bins *b, uint32_t id, uint32_t bin)
{
    uint64_t sum = 0;

    for (guint i = 0; i < b->counts->len; i++) {
        const BinCount *c = &g_array_index(b->counts, BinCount, i);

        sum += c->id == id && c->bin == bin ? c->count : 0;
    }
    return sum;
}

static void test_bins(void)
{
    g_autoptr(Bins) b = bins_new(16, 4, 1000);

    bins_put(b, 7, 40, 50, 10);
    bins_put(b, 7, 50, 50, 5);          /* all of it at one place */
    bins_put(b, 3, 56, 72, 32);         /* 16 in [48, 64), 16 in [64, 80) */
    bins_end(b);
    check_cmpuint(b->width, ==, 16);
    check_cmpuint(b->first, ==, 2);
    check_cmpuint(count_of(b, 7, 0), ==, 8);
    check_cmpuint(count_of(b, 7, 1), ==, 7);
    check_cmpuint(count_of(b, 3, 1), ==, 16);
    check_cmpuint(count_of(b, 3, 2), ==, 16);
    /* Bins of others, twice as wide, from 0 on */
    check_cmpuint(bins_place(b, &(BinCount) { .bin = 1 }, 32, 0), ==, 1);
    check_cmpuint(bins_place(b, &(BinCount) { .bin = 2 }, 32, 0), ==, 2);
    check_cmpuint(bins_place(b, &(BinCount) { .bin = 2 }, 32, 64), ==, 0);
    check_cmpuint(bins_place(b, &(BinCount) { .bin = 0 }, 32, 64), ==, 0);
}

/*
 * One of each thing for each unit of the axis, so that what a bin has to have
 * is known without dividing; whatever widths come about
 */
static void check_random_bins(uint32_t seed, unsigned max_bins,
                              unsigned max_counts)
{
    enum { THINGS = 9, UNITS = 30000 };
    g_autoptr(Bins) b = bins_new(1, max_bins, max_counts);
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    g_autofree uint8_t *who = g_malloc(UNITS);
    uint64_t start = g_rand_int_range(rand, 0, 5000);
    uint64_t at = start, seen = 0;

    while (at < UNITS) {
        uint64_t len = g_rand_int_range(rand, 0, 1 + g_rand_int_range(rand, 1,
                                                                     900));
        uint32_t id = g_rand_int_range(rand, 0, THINGS);

        len = MIN(len, UNITS - at);
        bins_put(b, id, at, at + len, len);
        memset(who + at, id, len);
        at += len;
    }
    bins_end(b);
    check_cmpuint(b->width & (b->width - 1), ==, 0);
    check_cmpuint(b->counts->len, <=, MAX(max_counts + THINGS, THINGS));
    for (guint i = 0; i < b->counts->len; i++) {
        const BinCount *c = &g_array_index(b->counts, BinCount, i);
        uint64_t from = (b->first + c->bin) * b->width, want = 0;

        check_cmpuint(c->bin, <, max_bins);
        for (at = MAX(from, start); at < MIN(from + b->width, UNITS); at++) {
            want += who[at] == c->id;
        }
        check_cmpuint(c->count, ==, want);
        check_cmpuint(count_of(b, c->id, c->bin), ==, want);
        seen += want;
    }
    check_cmpuint(seen, ==, UNITS - start);
}

static void test_random_bins(void)
{
    for (uint32_t seed = 0; seed < 40; seed++) {
        check_random_bins(seed, 2 + seed * 3 % 60, 100000);
        check_random_bins(seed, 1000, 5 + seed * 7 % 200);
    }
}

/* A guest may say any time. */
static void test_far_bins(void)
{
    g_autoptr(Bins) b = bins_new(16, 100, 1000);

    bins_put(b, 1, 5, 100, 1000);
    bins_put(b, 2, 100, UINT64_MAX, UINT64_MAX);
    bins_put(b, 3, UINT64_MAX, UINT64_MAX, 3);
    bins_end(b);
    for (uint32_t id = 1; id <= 3; id++) {
        uint64_t sum = 0;

        for (uint32_t bin = 0; bin < 100; bin++) {
            sum += count_of(b, id, bin);
        }
        check_cmpuint(sum, ==, id == 1 ? 1000 : id == 2 ? UINT64_MAX : 3);
    }
}

static unsigned grow(Profile *p, unsigned node, FrameKind kind,
                     const char *name, uint64_t self);

static uint64_t sum_of(const Bins *b, uint32_t id)
{
    uint64_t sum = 0;

    for (guint i = 0; i < b->counts->len; i++) {
        const BinCount *c = &g_array_index(b->counts, BinCount, i);

        sum += c->id == id ? c->count : 0;
    }
    return sum;
}

/* Instructions and time are what moments say; handlers are of who ran. */
static void test_activity(void)
{
    static const MomentMark trap = { .kind = MOMENT_TRAP, .number = 9 };
    static const MomentMark lost = { .kind = MOMENT_LOST };
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(Profile) p = profile_new();
    g_autoptr(Activity) a = activity_new(3, p, true);
    const Task *sh = task_intern(tasks, TASK_KNOWN, 1, 1, "sh");
    const Task *ls = task_intern(tasks, TASK_KNOWN, 2, 2, "ls");
    unsigned main = grow(p, PROFILE_ROOT, FRAME_USER, "main", 0);
    unsigned irq = grow(p, grow(p, main, FRAME_TRAP, "[irq]", 0),
                        FRAME_MACHINE, "handler", 0);
    unsigned boot = grow(p, PROFILE_ROOT, FRAME_MACHINE, "boot", 0);
    const struct {
        uint64_t insns, time;
        unsigned node;
        const Task *task;
    } moments[] = {
        { 0, 1000, boot, NULL }, { 100, 5000, main, sh },
        { 130, 5000, irq, NULL }, { 150, 9000, main, sh },
        { 150, 20000, main, ls }, { 250, 20500, boot, NULL },
    };

    for (size_t i = 0; i < ARRAY_SIZE(moments); i++) {
        activity_moment(a, &(CallStackMoment) {
            .insns = moments[i].insns, .time = moments[i].time,
            .node = moments[i].node, .task = moments[i].task,
        });
        activity_mark(a, moments[i].time, &trap);
    }
    for (unsigned i = 0; i < ACTIVITY_MAX_MARKS + 5; i++) {
        activity_mark(a, 20500, &lost);
    }
    activity_end(a, 260, 21000);
    check_cmpuint(a->from, ==, 1000);
    check_cmpuint(a->to, ==, 21000);
    check_cmpuint(a->insns, ==, 260);
    check_cmpuint(sum_of(a->nodes, boot), ==, 110);
    check_cmpuint(sum_of(a->nodes, main), ==, 130);
    check_cmpuint(sum_of(a->nodes, irq), ==, 20);
    check_cmpuint(sum_of(a->tasks, TASK_NONE), ==, 110);
    check_cmpuint(sum_of(a->tasks, sh->id), ==, 50);
    check_cmpuint(sum_of(a->tasks, ls->id), ==, 100);
    check_cmpuint(sum_of(a->times, TASK_NONE), ==, 4500);
    check_cmpuint(sum_of(a->times, sh->id), ==, 15000);
    check_cmpuint(sum_of(a->times, ls->id), ==, 500);
    check_cmpuint(sum_of(a->traps, 9), ==, ARRAY_SIZE(moments));
    check_cmpuint(a->marks->len, ==, ACTIVITY_MAX_MARKS);
    check_cmpuint(a->more_marks, ==, 5);
}

static unsigned grow(Profile *p, unsigned node, FrameKind kind,
                     const char *name, uint64_t self)
{
    unsigned child = profile_child(p, node, profile_label(p, kind, name));

    profile_node(p, child)->self += self;
    return child;
}

/* Firmware at the start, which no task called, and two processes */
static void test_layers(void)
{
    static const CallStackLayer order[] = {
        CALLSTACK_LAYER_COMM, CALLSTACK_LAYER_PROCESS, CALLSTACK_LAYER_PRIV,
    };
    const Layers layers = { .hart = true, .layers = order, .nr_layers = 3 };
    g_autoptr(Profile) p = profile_new();
    g_autofree uint8_t *is = NULL;
    unsigned hart = grow(p, PROFILE_ROOT, FRAME_GROUP, "hart 0", 0);
    unsigned m = grow(p, hart, FRAME_GROUP, "M-mode", 0);
    unsigned boot = grow(p, m, FRAME_MACHINE, "boot", 5);
    unsigned sh = grow(p, hart, FRAME_GROUP, "sh", 0);
    unsigned one = grow(p, sh, FRAME_GROUP, "sh (1)", 0);
    unsigned two = grow(p, sh, FRAME_GROUP, "sh (2)", 0);
    unsigned u = grow(p, one, FRAME_GROUP, "U-mode", 0);
    unsigned main = grow(p, u, FRAME_USER, "main", 7);
    static const struct {
        unsigned keep;
        const char *want;
    } table[] = {
        { 0, "boot 5\nmain 18\nmain;[trap] 2\n" },
        { 1 << LAYER_HART, "hart 0;boot 5\nhart 0;main 18\n"
                           "hart 0;main;[trap] 2\n" },
        { 1 << LAYER_COMM, "boot 5\nsh;main 18\nsh;main;[trap] 2\n" },
        { 1 << LAYER_PROCESS, "boot 5\nsh (1);main 7\nsh (1);main;[trap] 2\n"
                              "sh (2);main 11\n" },
        { 1 << LAYER_PRIV, "M-mode;boot 5\nU-mode;main 18\n"
                           "U-mode;main;[trap] 2\n" },
        { 1 << LAYER_PROCESS | 1 << LAYER_PRIV,
          "M-mode;boot 5\nsh (1);U-mode;main 7\nsh (1);U-mode;main;[trap] 2\n"
          "sh (2);U-mode;main 11\n" },
    };

    grow(p, main, FRAME_TRAP, "[trap]", 2);
    grow(p, grow(p, two, FRAME_GROUP, "U-mode", 0), FRAME_USER, "main", 11);
    is = layers_find(p, &layers);
    check_cmpuint(is[PROFILE_ROOT], ==, LAYER_NONE);
    check_cmpuint(is[hart], ==, LAYER_HART);
    check_cmpuint(is[m], ==, LAYER_PRIV);
    check_cmpuint(is[boot], ==, LAYER_NONE);
    check_cmpuint(is[sh], ==, LAYER_COMM);
    check_cmpuint(is[two], ==, LAYER_PROCESS);
    check_cmpuint(is[u], ==, LAYER_PRIV);
    check_cmpuint(is[main], ==, LAYER_NONE);
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        g_autoptr(Profile) kept = layers_keep(p, is, table[i].keep);
        g_autofree char *text = fixture_folded(kept);

        check_cmpstr(text, ==, table[i].want);
    }
}

static void test_json(void)
{
    static const struct {
        const char *text;
        size_t max;
        const char *want;
    } table[] = {
        { "plain", 99, "\"plain\"" },
        { "", 99, "\"\"" },
        { NULL, 99, "null" },
        { "a\"b\\c", 99, "\"a\\u0022b\\u005cc\"" },
        { "</script><!--", 99, "\"\\u003c/script\\u003e\\u003c!--\"" },
        { "a\nb\001", 99, "\"a\\u000ab\\u0001\"" },
        { "\342\200\250", 99, "\"\\u2028\"" },
        { "x\377y", 99, "\"x\357\277\275y\"" },
        { "gr\303\266\303\237e", 5, "\"gr\303\266\303\237e\"" },
        { "too long", 4, "\"too\342\200\246\"" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        g_autoptr(GString) s = g_string_new(NULL);

        json_string(s, table[i].text, table[i].max);
        check_cmpstr(s->str, ==, table[i].want);
    }
}

static size_t report_size(Profile *p)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    html_report_write(&(HtmlReport) {
        .title = "big", .unit = "instructions", .profile = p,
    }, f);
    fclose(f);
    free(text);
    return size;
}

/* However many stacks there are, a browser can show the report. */
static void test_report_size(void)
{
    g_autoptr(Profile) wide = profile_new();
    g_autoptr(Profile) deep = profile_new();
    size_t empty;

    {
        g_autoptr(Profile) p = profile_new();

        empty = report_size(p);
    }
    for (unsigned i = 0; i < 300000; i++) {
        g_autofree char *name = g_strdup_printf("function %u", i);

        grow(wide, PROFILE_ROOT, FRAME_USER, name, 1);
    }
    /* The functions are listed, their nodes are all "others". */
    check_cmpuint(report_size(wide), <, empty + HTML_MAX_FUNCTIONS * 64);
    for (unsigned i = 0; i < 200; i++) {
        unsigned node = PROFILE_ROOT;

        for (unsigned j = 0; j < 2000; j++) {
            g_autofree char *name = g_strdup_printf("f%u", (i * 7 + j) % 997);

            node = grow(deep, node, FRAME_USER, name, 1);
        }
    }
    check_cmpuint(report_size(deep), <, empty + HTML_MAX_NODES * 40 +
                                        HTML_MAX_FUNCTIONS * 64);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/views/bins", test_bins);
    g_test_add_func("/views/random-bins", test_random_bins);
    g_test_add_func("/views/far-bins", test_far_bins);
    g_test_add_func("/views/activity", test_activity);
    g_test_add_func("/views/layers", test_layers);
    g_test_add_func("/views/json", test_json);
    g_test_add_func("/views/report-size", test_report_size);
    return g_test_run();
}
