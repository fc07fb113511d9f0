/*
 * perf.data: threads that begin and end
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/sb-build.h"
#include "views/perf/perf-data.h"
#include "base/perf-format.h"

/* Where the kernel has the descriptors of its threads */
#define ONE     0xffffffff81000000ull
#define TWO     0xffffffff81001000ull
#define THREE   0xffffffff81002000ull

typedef struct Guest {
    GByteArray *sb;
    TaskTable *tasks;
    ObjectTable *objects;
    Object *program;
    Spool *spools[2];
} Guest;

static void set_up(Guest *g)
{
    *g = (Guest) { .sb = g_byte_array_new(), .tasks = task_table_new(),
                   .objects = object_table_new() };
    sb_session(g->sb, 1, 2, 0);
    for (int i = 0; i < 2; i++) {
        g->spools[i] = spool_new(NULL);
        check_nonnull(g->spools[i]);
    }
    g->program = object_new(g->objects, OBJECT_PROGRAM, "/bin/program", NULL);
}

/* A hart runs it at @time, in the program. */
static void sample(Guest *g, unsigned hart, uint64_t time, uint64_t descriptor,
                   uint32_t tid, uint32_t tgid, const char *comm)
{
    static Sample s;

    s = (Sample) {
        .time = time, .period = 1, .hart = hart, .descriptor = descriptor,
        .task = task_intern(g->tasks, TASK_KNOWN, tid, tgid, comm)->id,
        .nr_chain = 1,
        .chain = { { .pc = 0x1000, .object = g->program->id,
                     .mode = SAMPLE_USER } },
    };
    spool_put(g->spools[hart], &s);
}

static uint64_t get(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned i = bytes; i > 0; i--) {
        v = v << 8 | p[i - 1];
    }
    return v;
}

/* A line for each record: its time, what it is, pid:tid and the parent's */
static char *describe(const uint8_t *data)
{
    GString *text = g_string_new(NULL);
    uint64_t at = get(data + 40, 8), end = at + get(data + 48, 8);

    for (; at < end; at += get(data + at + 6, 2)) {
        const uint8_t *p = data + at;
        unsigned len = get(p + 6, 2), type = get(p, 4);

        switch (type) {
        case PERF_RECORD_SAMPLE:
            g_string_append_printf(text, "%u sample %u:%u\n",
                                   (unsigned)get(p + 24, 8),
                                   (unsigned)get(p + 16, 4),
                                   (unsigned)get(p + 20, 4));
            break;
        case PERF_RECORD_COMM:
            g_string_append_printf(text, "%s %u:%u %s\n",
                                   get(p + 4, 2) & PERF_MISC_COMM_EXEC ?
                                   "exec" : "comm", (unsigned)get(p + 8, 4),
                                   (unsigned)get(p + 12, 4), p + 16);
            break;
        case PERF_RECORD_FORK:
        case PERF_RECORD_EXIT:
            check_cmpuint(len, ==, 8 + 24 + 24);
            /* Both times are the same. */
            check_cmpuint(get(p + 24, 8), ==, get(p + len - 16, 8));
            g_string_append_printf(text, "%u %s %u:%u of %u:%u\n",
                                   (unsigned)get(p + 24, 8),
                                   type == PERF_RECORD_FORK ? "fork" : "exit",
                                   (unsigned)get(p + 8, 4),
                                   (unsigned)get(p + 16, 4),
                                   (unsigned)get(p + 12, 4),
                                   (unsigned)get(p + 20, 4));
            break;
        case PERF_RECORD_MMAP2:
            g_string_append_printf(text, "map %u\n", (unsigned)get(p + 8, 4));
            break;
        }
    }
    return g_string_free(text, FALSE);
}

static void check_records(Guest *g, const char *want)
{
    g_autoptr(TaskEnds) ends = task_ends_new();
    g_autoptr(GError) err = NULL;
    g_autofree char *got = NULL;
    Sideband *sb = sideband_parse(g->sb->data, g->sb->len, 0, &err);
    ObjectCode code = { .addr = 0x1000, .size = 0x100,
                        .bytes = (const uint8_t[0x100]) { 0 } };
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    check_no_error(err);
    g_array_append_val(g->program->code, code);
    task_ends_add(ends, sb);
    sideband_free(sb);
    check_true(perf_data_write(g->spools, 2, &(PerfDataOptions) {
        .objects = g->objects, .tasks = g->tasks, .ends = ends,
        .nr_harts = 2, .period = 1,
    }, file, &err));
    fclose(file);
    got = describe((const uint8_t *)text);
    check_cmpstr(got, ==, want);
    free(text);
    spool_free(g->spools[0]);
    spool_free(g->spools[1]);
    g_byte_array_unref(g->sb);
    task_table_free(g->tasks);
    object_table_free(g->objects);
}

/* A thread is its process', and gone when another one has its descriptor. */
static void test_thread(void)
{
    Guest g;

    set_up(&g);
    sb_thread(g.sb, 0, ONE, 10, 10, "main");
    sb_thread(g.sb, 0, TWO, 11, 10, "worker");
    sb_thread(g.sb, 0, ONE, 10, 10, "main");
    sb_thread(g.sb, 0, TWO, 12, 10, "worker");
    sample(&g, 0, 1, ONE, 10, 10, "main");
    sample(&g, 0, 2, TWO, 11, 10, "worker");
    sample(&g, 0, 3, ONE, 10, 10, "main");
    sample(&g, 0, 4, TWO, 11, 10, "worker");
    sample(&g, 0, 5, TWO, 12, 10, "worker");
    sample(&g, 0, 6, ONE, 10, 10, "main");
    check_records(&g,
        "comm 10:10 main\nmap 10\n1 sample 10:10\n"
        "2 fork 10:11 of 10:10\ncomm 10:11 worker\n2 sample 10:11\n"
        "3 sample 10:10\n"
        "4 sample 10:11\n4 exit 10:11 of 10:10\n"
        "5 fork 10:12 of 10:10\ncomm 10:12 worker\n5 sample 10:12\n"
        "6 sample 10:10\n");
}

/* A number that is used again: the new process has maps of its own. */
static void test_reused(void)
{
    Guest g;

    set_up(&g);
    sb_task(g.sb, 0, ONE, 10, "old");
    sb_task(g.sb, 0, ONE, 20, "other");
    sb_task(g.sb, 0, TWO, 10, "new");
    sample(&g, 0, 1, ONE, 10, 10, "old");
    sample(&g, 0, 2, TWO, 10, 10, "new");
    check_records(&g,
        "comm 10:10 old\nmap 10\n1 sample 10:10\n1 exit 10:10 of 0:0\n"
        "comm 10:10 new\nmap 10\n2 sample 10:10\n");
}

/* exec of a thread that is not the first: it is that from then on. */
static void test_exec(void)
{
    Guest g;

    set_up(&g);
    sb_thread(g.sb, 0, ONE, 10, 10, "sh");
    sb_thread(g.sb, 0, TWO, 11, 10, "sh");
    sb_thread(g.sb, 0, TWO, 10, 10, "ls");
    sample(&g, 0, 1, TWO, 11, 10, "sh");
    sample(&g, 0, 2, TWO, 10, 10, "ls");
    check_records(&g,
        "1 fork 10:11 of 10:10\ncomm 10:11 sh\nmap 10\n1 sample 10:11\n"
        "comm 10:10 ls\n2 sample 10:10\n");
}

/* A thread that has another name runs the same program. */
static void test_renamed(void)
{
    Guest g;

    set_up(&g);
    sb_thread(g.sb, 0, ONE, 10, 10, "sh");
    sb_thread(g.sb, 0, TWO, 11, 10, "sh");
    sb_thread(g.sb, 0, TWO, 11, 10, "worker");
    sb_thread(g.sb, 0, ONE, 10, 10, "ls");
    sample(&g, 0, 1, ONE, 10, 10, "sh");
    sample(&g, 0, 2, TWO, 11, 10, "sh");
    sample(&g, 0, 3, TWO, 11, 10, "worker");
    sample(&g, 0, 4, ONE, 10, 10, "ls");
    check_records(&g,
        "comm 10:10 sh\nmap 10\n1 sample 10:10\n"
        "2 fork 10:11 of 10:10\ncomm 10:11 sh\n2 sample 10:11\n"
        "comm 10:11 worker\n3 sample 10:11\n"
        "exec 10:10 ls\n4 sample 10:10\n");
}

/* What is not certain is not said. */
static void test_unknown(void)
{
    Guest g;

    set_up(&g);
    /* Nobody else has its descriptor. */
    sb_task(g.sb, 0, ONE, 10, "last");
    sample(&g, 0, 1, ONE, 10, 10, "last");
    /* It had ended, and is there again. */
    sb_task(g.sb, 0, TWO, 20, "again");
    sb_task(g.sb, 0, TWO, 21, "between");
    sb_task(g.sb, 0, TWO, 20, "again");
    sample(&g, 0, 2, TWO, 20, 20, "again");
    /* Another kernel */
    sb_task(g.sb, 0, THREE, 30, "before");
    sb_record(g.sb, ETRACE_SB_RESET, 0, NULL, 0);
    sb_task(g.sb, 0, THREE, 31, "behind");
    sample(&g, 0, 3, THREE, 30, 30, "before");
    check_records(&g,
        "comm 10:10 last\nmap 10\n1 sample 10:10\n"
        "comm 20:20 again\nmap 20\n2 sample 20:20\n"
        "comm 30:30 before\nmap 30\n3 sample 30:30\n");
}

/* Harts' clocks differ: no exit in the middle of what a process does. */
static void test_clocks(void)
{
    Guest g;

    set_up(&g);
    sb_task(g.sb, 0, ONE, 10, "old");
    sb_task(g.sb, 0, ONE, 11, "next");
    sb_task(g.sb, 1, TWO, 10, "new");
    sb_thread(g.sb, 0, THREE, 20, 20, "main");
    sb_thread(g.sb, 0, THREE, 22, 22, "next");
    sample(&g, 0, 5, ONE, 10, 10, "old");
    sample(&g, 1, 6, TWO, 10, 10, "new");
    sample(&g, 0, 8, ONE, 10, 10, "old");
    sample(&g, 0, 9, THREE, 20, 20, "main");
    sample(&g, 1, 10, TWO + 1, 21, 20, "thread");
    check_records(&g,
        "comm 10:10 old\nmap 10\n5 sample 10:10\n"
        "exec 10:10 new\n6 sample 10:10\nexec 10:10 old\n8 sample 10:10\n"
        "comm 20:20 main\nmap 20\n9 sample 20:20\n"
        "10 fork 20:21 of 20:20\ncomm 20:21 thread\n10 sample 20:21\n");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/perf-data/thread", test_thread);
    g_test_add_func("/perf-data/reused", test_reused);
    g_test_add_func("/perf-data/exec", test_exec);
    g_test_add_func("/perf-data/renamed", test_renamed);
    g_test_add_func("/perf-data/unknown", test_unknown);
    g_test_add_func("/perf-data/clocks", test_clocks);
    return g_test_run();
}
