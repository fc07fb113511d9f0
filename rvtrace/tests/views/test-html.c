/*
 * Strips, layers of profiles, JSON: what reports are made of
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/profile-fixture.h"
#include "views/html/html-report.h"
#include "base/json.h"

static void moment(Strip *s, uint64_t insns, const Task *task)
{
    strip_moment(s, &(CallStackMoment) { .insns = insns, .task = task });
}

static uint64_t total_of(const Strip *s, const Task *task)
{
    const uint64_t *n = g_hash_table_lookup(s->totals, task);

    return n ? *n : 0;
}

static uint64_t bucket_insns(const StripBucket *b)
{
    uint64_t n = b->others;

    for (unsigned i = 0; i < STRIP_TASKS; i++) {
        n += b->shares[i].insns;
    }
    return n;
}

static void test_strip(void)
{
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(Profile) p = profile_new();
    g_autoptr(Strip) s = strip_new(3, p);
    const Task *a = task_intern(tasks, true, 1, 1, "a");
    const Task *b = task_intern(tasks, true, 2, 2, "b");
    uint64_t half = STRIP_BUCKETS / 2;

    moment(s, 0, a);
    moment(s, 10, a);                   /* another function of it */
    moment(s, 512 * 1000, b);
    moment(s, 1024 * 1000 - 100, NULL);
    strip_end(s, 1024 * 1000);
    check_cmpuint(s->insns, ==, 1024 * 1000);
    check_cmpuint(total_of(s, a), ==, 512 * 1000);
    check_cmpuint(total_of(s, b), ==, 512 * 1000 - 100);
    check_cmpuint(total_of(s, NULL), ==, 100);
    /* The smallest 64 * 2^n of which so many are enough */
    check_cmpuint(s->width, ==, 1024);
    for (unsigned i = 0; i < 1000; i++) {
        check_cmpuint(bucket_insns(&s->buckets[i]), ==, 1024);
    }
    check_cmpuint(bucket_insns(&s->buckets[1000]), ==, 0);
    check_true(s->buckets[0].shares[0].task == a);
    check_true(s->buckets[half].shares[0].task == b);
    check_cmpuint(s->buckets[499].shares[0].insns, ==, 1024);
    check_true(s->buckets[999].shares[1].task == NULL);
    check_cmpuint(s->buckets[999].shares[1].insns, ==, 100);
}

/* More tasks than a bucket distinguishes: nothing is lost. */
static void test_strip_crowd(void)
{
    g_autoptr(TaskTable) tasks = task_table_new();
    g_autoptr(Profile) p = profile_new();
    g_autoptr(Strip) s = strip_new(0, p);
    uint64_t insns = 0, sum = 0;

    for (unsigned i = 0; i < 5000; i++) {
        g_autofree char *name = g_strdup_printf("task %u", i % 50);

        moment(s, insns, task_intern(tasks, true, 1 + i % 50, 1, name));
        insns += 1 + i % 97;
    }
    strip_end(s, insns);
    for (unsigned i = 0; i < STRIP_BUCKETS; i++) {
        sum += bucket_insns(&s->buckets[i]);
    }
    check_cmpuint(sum, ==, insns);
    check_cmpuint(g_hash_table_size(s->totals), ==, 50);
    check_cmpuint(s->insns / s->width, <, STRIP_BUCKETS);
    check_cmpuint(s->insns / s->width, >=, STRIP_BUCKETS / 2);
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
    g_test_add_func("/views/strip", test_strip);
    g_test_add_func("/views/strip-crowd", test_strip_crowd);
    g_test_add_func("/views/layers", test_layers);
    g_test_add_func("/views/json", test_json);
    g_test_add_func("/views/report-size", test_report_size);
    return g_test_run();
}
