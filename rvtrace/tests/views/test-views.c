/*
 * Views for other people's tools: callgrind, speedscope, uftrace
 *
 * What the tools themselves say of such files is in tests/tcg/riscv64/views.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "tests/fixtures/check.h"
#include "base/little-endian.h"
#include "tests/fixtures/view-fixture.h"
#include "views/pgo/callgrind.h"
#include "views/time/moment-clock.h"
#include "base/virtual-clock.h"
#include "views/pgo/cost.h"
#include "base/json.h"
#include "views/time/moments.h"
#include "base/protobuf.h"
#include "views/time/speedscope.h"
#include "views/time/uftrace.h"

/* Of all that view_run_all() runs */
#define ALL_INSNS   10300

static void assert_bytes(const GByteArray *b, const char *want)
{
    g_autoptr(GString) got = g_string_new(NULL);

    for (guint i = 0; i < b->len; i++) {
        g_string_append_printf(got, "%02x", b->data[i]);
    }
    check_cmpstr(got->str, ==, want);
}

/* The examples of the wire format's own documentation, and large numbers */
static void test_protobuf(void)
{
    g_autoptr(GByteArray) b = g_byte_array_new();
    g_autoptr(GByteArray) inner = g_byte_array_new();

    protobuf_uint(b, 1, 150);
    assert_bytes(b, "089601");
    g_byte_array_set_size(b, 0);
    protobuf_string(b, 2, "testing");
    assert_bytes(b, "120774657374696e67");
    g_byte_array_set_size(b, 0);
    protobuf_uint(inner, 1, 150);
    protobuf_message(b, 3, inner);
    assert_bytes(b, "1a03089601");
    g_byte_array_set_size(b, 0);
    protobuf_uint(b, 16, UINT64_MAX);
    assert_bytes(b, "8001ffffffffffffffffff01");
    g_byte_array_set_size(b, 0);
    protobuf_fixed64(b, 1, 0x0102030405060708);
    assert_bytes(b, "090807060504030201");
    g_byte_array_set_size(b, 0);
    g_byte_array_set_size(inner, 0);
    protobuf_message(b, 4, inner);
    assert_bytes(b, "2200");
}

static void test_json(void)
{
    g_autoptr(GString) json = g_string_new(NULL);

    json_string(json, "a\"b\\c\nd\177\377", SIZE_MAX);
    check_cmpstr(json->str, ==, "\"a\\u0022b\\u005cc\\u000ad\\u007f"
                                "\357\277\275\"");
}

/* Counts as those of a program of 4-byte instructions */
static Counts *make_counts(ViewFixture *f)
{
    static uint8_t code[0x300];
    Counts *c = counts_new(f->objects, f->tasks);
    ObjectCode all = { .addr = MAIN, .size = sizeof(code), .bytes = code };
    unsigned program, kernel;

    memset(code, 0x13, sizeof(code));
    g_array_append_val(f->program->code, all);
    program = counts_place(c, &(CountPlace) {
        .task = f->sh->id, .object = f->program->id, .bias = PROGRAM_BIAS,
    });
    kernel = counts_place(c, &(CountPlace) {
        .task = f->sh->id, .object = f->kernel->id, .priv = ETRACE_PRIV_S,
    });
    /* main: 4 instructions, a call; work: a branch, taken 3 times of 4 */
    counts_add_range(c, &(CountRange) {
        .place = program, .itype = CALL, .insns = 4, .start = MAIN,
        .last = MAIN + 12, .end = MAIN + 16,
    }, 2);
    counts_add_range(c, &(CountRange) {
        .place = program, .itype = BRANCH, .insns = 2, .start = WORK,
        .last = WORK + 4, .end = WORK + 8,
    }, 6);
    counts_add_range(c, &(CountRange) {
        .place = program, .itype = ETRACE_ITYPE_NONTAKEN_BRANCH, .insns = 2,
        .start = WORK, .last = WORK + 4, .end = WORK + 8,
    }, 2);
    counts_add_range(c, &(CountRange) {
        .place = program, .itype = RET, .insns = 1, .start = WORK + 8,
        .last = WORK + 8, .end = WORK + 12,
    }, 2);
    /* The kernel has no code here. */
    counts_add_range(c, &(CountRange) {
        .place = kernel, .itype = XRET, .insns = 5, .start = KENTRY,
        .last = KENTRY + 16, .end = KENTRY + 20,
    }, 7);
    counts_add_edge(c, &(CountEdge) {
        .from_place = program, .to_place = program, .itype = CALL,
        .from = MAIN + 12, .to = WORK,
    }, 2);
    counts_add_edge(c, &(CountEdge) {
        .from_place = program, .to_place = program, .itype = BRANCH,
        .from = WORK + 4, .to = WORK,
    }, 6);
    counts_sort(c);
    return c;
}

/* ... and the tree that goes with them */
static void make_tree(ViewFixture *f)
{
    view_run(f, MAIN, 4, CALL);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) {
            view_run(f, WORK, 2, BRANCH);
        }
        view_run(f, WORK, 3, RET);
        view_run(f, MAIN + 16, i ? 0 : 4, CALL);
    }
}

static char *callgrind(const Counts *c, const Profile *p,
                       const CallgrindOptions *o)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    callgrind_write(c, p, o, f);
    fclose(f);
    return text;
}

static void test_callgrind(void)
{
    static const CallgrindOptions options = { .command = "program" };
    g_autoptr(Counts) c = NULL;
    ViewFixture f;
    char *text;

    view_set_up(&f, NULL, NULL);
    make_tree(&f);
    profile_sum(f.profile);
    c = make_counts(&f);
    text = callgrind(c, f.profile, &options);
    check_cmpstr(text, ==,
        "# callgrind format\nversion: 1\ncreator: rvtrace\ncmd: program\n"
        "part: 1\n\npositions: instr line\nevents: Ir\nsummary: 61\n\n"
        "ob=(2) /bin/program\nfl=(1) ???\nfn=(1) main\n"
        "0x1000 0 2\n0x1004 0 2\n0x1008 0 2\n0x100c 0 2\n"
        "cob=(2)\ncfi=(1)\ncfn=(2) work\ncalls=2 0x1100 0\n"
        "0x100c 0 18\n\n"
        "ob=(2)\nfl=(1)\nfn=(2)\n"
        "0x1100 0 8\n0x1104 0 8\n"
        "jcnd=6/8 0x1100 0\n0x1104 0\n0x1108 0 2\n\n"
        "ob=(3) [kernel]\nfl=(1)\nfn=(3) handle_exception\n"
        "0xffffffff80000000 0 35\n\n"
        "totals: 61\n");
    check_cmpuint(counts_insns(c), ==, 61);
    free(text);
    view_tear_down(&f);
}

static bool find_line(void *opaque, const Object *object, uint64_t addr,
                      const char **file, unsigned *line)
{
    if (addr < MAIN || addr >= LEAF) {
        return false;
    }
    *file = addr == WORK + 4 ? "inline.h" : "program.c";
    *line = addr / 4 % 100;
    return true;
}

/*
 * Code without a symbol, of no object and of one: it has names of its own,
 * since readers take functions of one name for one, whatever object has them.
 */
static void test_callgrind_unnamed(void)
{
    static const CallgrindOptions options = { .command = "program" };
    g_autoptr(Counts) c = NULL;
    unsigned unknown, bare;
    ViewFixture f;
    Object *o;
    char *text;

    view_set_up(&f, NULL, NULL);
    o = object_new(f.objects, OBJECT_LIBRARY, "/lib/bare.so", NULL);
    /* below all symbols of the program */
    view_run(&f, MAIN, 4, CALL);
    view_run(&f, 0x100, 5, RET);
    view_run(&f, MAIN + 16, 1, 0);
    profile_sum(f.profile);
    c = make_counts(&f);
    unknown = counts_place(c, &(CountPlace) { .task = f.sh->id });
    bare = counts_place(c, &(CountPlace) {
        .task = f.sh->id, .object = o->id,
    });
    for (unsigned i = 0; i < 3; i++) {
        uint64_t at = PROGRAM_BIAS + 0x50 + 0x100 * i;

        counts_add_range(c, &(CountRange) {
            .place = unknown, .insns = 5, .start = at, .last = at + 16,
            .end = at + 20,
        }, 1 + i);
        counts_add_range(c, &(CountRange) {
            .place = bare, .insns = 5, .start = at, .last = at + 16,
            .end = at + 20,
        }, 10 + i);
    }
    counts_add_edge(c, &(CountEdge) {
        .from_place = unknown, .to_place = bare, .itype = CALL,
        .from = PROGRAM_BIAS + 0x150, .to = PROGRAM_BIAS + 0x250,
    }, 3);
    counts_sort(c);
    text = callgrind(c, f.profile, &options);
    check_nonnull(strstr(text, "ob=(1) [unknown]\nfl=(1) ???\n"
                               "fn=(1) [unknown]\n0x40050 0 5\n"));
    check_nonnull(strstr(text, "fn=(2) 0x40100\n0x40150 0 10\n"));
    check_nonnull(strstr(text, "cob=(4) /lib/bare.so\ncfi=(1)\n"
                               "cfn=(7) bare.so+0x40250\n"
                               "calls=3 0x40250 0\n"));
    check_nonnull(strstr(text, "fn=(6) [bare.so]\n0x40050 0 50\n"
                               "0x40150 0 55\n"));
    check_nonnull(strstr(text, "fn=(7)\n0x40250 0 60\n"));
    free(text);
    view_tear_down(&f);
}

/* Positions in the source, and what is inlined from another file */
static void test_callgrind_lines(void)
{
    static const CallgrindOptions options = { .lines = { find_line } };
    g_autoptr(Counts) c = NULL;
    ViewFixture f;
    char *text;

    view_set_up(&f, NULL, NULL);
    make_tree(&f);
    profile_sum(f.profile);
    c = make_counts(&f);
    text = callgrind(c, f.profile, &options);
    check_nonnull(strstr(text, "fl=(1) program.c\nfn=(1) main\n"
                               "0x1000 24 2\n"));
    check_nonnull(strstr(text, "0x1100 88 8\nfi=(2) inline.h\n0x1104 89 8\n"
                               "jfi=(1)\njcnd=6/8 0x1100 88\n0x1104 89\n"
                               "fe=(1)\n0x1108 90 2\n"));
    free(text);
    view_tear_down(&f);
}

/* What a jump out of the called function led to is the caller's, too. */
static void test_tail_call_cost(void)
{
    g_autoptr(Counts) c = NULL;
    g_autoptr(Costs) costs = NULL;
    const CostCall *call;
    ViewFixture f;

    view_set_up(&f, NULL, NULL);
    view_run(&f, MAIN, 4, CALL);
    view_run(&f, WORK, 2, ETRACE_ITYPE_INFERABLE_JUMP);
    view_run(&f, LEAF, 7, RET);
    view_run(&f, MAIN + 16, 1, 0);
    profile_sum(f.profile);
    c = make_counts(&f);
    costs = costs_new(c, f.profile);
    check_cmpuint(costs->calls->len, ==, 2);
    call = &g_array_index(costs->calls, CostCall, 0);
    check_cmpuint(call->count, ==, 0);
    check_cmphex(call->addr, ==, MAIN);
    check_cmphex(call->target, ==, LEAF);
    check_cmpuint(call->inclusive, ==, 7);
    call = &g_array_index(costs->calls, CostCall, 1);
    check_cmpuint(call->count, ==, 2);
    check_cmpuint(call->inclusive, ==, 2);
    view_tear_down(&f);
}

/*
 * Where the guest has put other code into the place of the file's, the file's
 * instructions are not those that ran: their number decides what it costs.
 */
static void test_patched_cost(void)
{
    g_autoptr(Counts) c = NULL;
    g_autoptr(Costs) costs = NULL;
    uint64_t total = 0;
    ViewFixture f;
    unsigned place;

    view_set_up(&f, NULL, NULL);
    profile_sum(f.profile);
    c = make_counts(&f);
    place = counts_place(c, &(CountPlace) {
        .task = f.sh->id, .object = f.program->id, .bias = PROGRAM_BIAS,
    });
    /* three instructions of two, four and two bytes, where the file has two */
    counts_add_range(c, &(CountRange) {
        .place = place, .itype = ETRACE_ITYPE_NONE, .insns = 3,
        .start = MAIN + 8, .last = MAIN + 14, .end = MAIN + 16,
    }, 10);
    /* two, but the first one has two bytes */
    counts_add_range(c, &(CountRange) {
        .place = place, .itype = ETRACE_ITYPE_NONE, .insns = 2,
        .start = MAIN + 8, .last = MAIN + 10, .end = MAIN + 14,
    }, 100);
    counts_sort(c);
    costs = costs_new(c, f.profile);
    for (guint i = 0; i < costs->insns->len; i++) {
        total += g_array_index(costs->insns, CostInsn, i).cost;
    }
    check_cmpuint(total, ==, counts_insns(c));
    check_cmpuint(costs->total, ==, counts_insns(c));
    view_tear_down(&f);
}

typedef struct Spans {
    ViewFixture f;
    Moments *moments;
    GString *text;
} Spans;

static void on_enter(void *opaque, Track *track, unsigned frame,
                     uint64_t time)
{
    Spans *s = opaque;

    g_string_append_printf(s->text, "%u:%" PRIu64 " +%s\n", track->task->tid,
                           time, profile_frame(s->f.profile, frame)->name);
}

static void on_leave(void *opaque, Track *track, unsigned frame,
                     uint64_t time)
{
    Spans *s = opaque;

    g_string_append_printf(s->text, "%u:%" PRIu64 " -%s\n", track->task->tid,
                           time, profile_frame(s->f.profile, frame)->name);
}

static void spans_set_up(Spans *s)
{
    g_autoptr(GError) err = NULL;

    s->moments = moments_new(&err);
    check_no_error(err);
    s->text = g_string_new(NULL);
    view_set_up(&s->f, moments_put, s->moments);
}

static void spans_tear_down(Spans *s)
{
    moments_free(s->moments);
    g_string_free(s->text, true);
    view_tear_down(&s->f);
}

static void spans_run(Spans *s, uint64_t insns, uint64_t min_duration)
{
    g_autoptr(GPtrArray) tracks = tracks_new();
    g_autoptr(GError) err = NULL;
    SpanOps ops = {
        .enter = on_enter, .leave = on_leave, .min_duration = min_duration,
    };

    g_string_truncate(s->text, 0);
    check_true(moments_spans(s->moments, 0, s->f.profile, insns, s->f.tasks,
                             tracks, &ops, s, &err));
}

/* Each task has its own clock, and goes on where it was. */
static void test_spans(void)
{
    Spans s;

    spans_set_up(&s);
    view_run(&s.f, MAIN, 10, CALL);
    view_run(&s.f, WORK, 5, CALL);
    view_run(&s.f, LEAF, 1, 0);
    s.f.task = s.f.ls;
    view_run(&s.f, LEAF, 100, 0);
    s.f.task = s.f.sh;
    view_run(&s.f, LEAF + 4, 2, RET);
    view_run(&s.f, WORK + 20, 1, RET);
    view_run(&s.f, MAIN + 40, 2, 0);
    spans_run(&s, 121, 0);
    check_cmpstr(s.text->str, ==,
                 "10:0 +main\n10:10 +work\n10:15 +leaf\n10:18 -leaf\n"
                 "10:19 -work\n10:21 -main\n20:0 +leaf\n20:100 -leaf\n");
    /* What is short is left out, and with it what is around nothing else. */
    spans_run(&s, 121, 4);
    check_cmpstr(s.text->str, ==,
                 "10:0 +main\n10:10 +work\n10:19 -work\n10:21 -main\n"
                 "20:0 +leaf\n20:100 -leaf\n");
    spans_run(&s, 121, 30);
    check_cmpstr(s.text->str, ==, "20:0 +leaf\n20:100 -leaf\n");
    spans_tear_down(&s);
}

/* A trap is a span, and the kernel's functions are within it. */
static void test_trap_spans(void)
{
    Spans s;

    spans_set_up(&s);
    view_run(&s.f, MAIN, 10, 0);
    view_trap(&s.f, 8, MAIN + 40);
    view_run(&s.f, KENTRY, 4, XRET);
    view_run(&s.f, MAIN + 44, 1, 0);
    spans_run(&s, 15, 0);
    check_cmpstr(s.text->str, ==,
                 "10:0 +main\n10:10 +[ecall from U]\n"
                 "10:10 +handle_exception\n10:14 -handle_exception\n"
                 "10:14 -[ecall from U]\n10:15 -main\n");
    spans_tear_down(&s);
}

static char *speedscope(Spans *s, uint64_t max_events, uint64_t min_duration,
                        uint64_t *lost)
{
    g_autoptr(Speedscope) sc = speedscope_new("a \"name\"", false, max_events,
                                              NULL);
    g_autoptr(GError) err = NULL;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    check_true(speedscope_add_hart(sc, s->moments, 0, s->f.profile,
                                   ALL_INSNS, s->f.tasks, min_duration,
                                   &err));
    speedscope_add_profile(sc, s->f.profile);
    *lost = speedscope_write(sc, f);
    fclose(f);
    return text;
}

static void test_speedscope(void)
{
    uint64_t lost;
    char *text;
    Spans s;

    spans_set_up(&s);
    view_run_all(&s.f);
    text = speedscope(&s, 1000, 0, &lost);
    check_cmpuint(lost, ==, 0);
    check_nonnull(strstr(text, "\"name\":\"a \\u0022name\\u0022\""));
    check_nonnull(strstr(text, "{\"type\":\"evented\",\"name\":"
        "\"sh (10/10), hart 0\",\"unit\":\"none\",\"startValue\":0,"
        "\"endValue\":10000,"));
    check_nonnull(strstr(text, "\"name\":\"ls (20/20), hart 0\""));
    check_nonnull(strstr(text, "{\"type\":\"sampled\",\"name\":\"all\","
        "\"unit\":\"none\",\"startValue\":0,\"endValue\":10300,"));
    /* main, work, leaf twice, trap, 2 of the kernel; main, leaf of ls */
    check_cmpuint(view_count(text, "\"type\":\"O\""), ==, 9);
    check_cmpuint(view_count(text, "\"type\":\"C\""), ==, 9);
    free(text);
    /* A bound: what is entered is left, nevertheless. */
    text = speedscope(&s, 7, 0, &lost);
    check_cmpuint(lost, >=, 12);
    check_cmpuint(view_count(text, "\"type\":\"O\""), ==, 3);
    check_cmpuint(view_count(text, "\"type\":\"C\""), ==, 3);
    free(text);
    spans_tear_down(&s);
}

static char *read_file(const char *folder, const char *name, size_t *size)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autoptr(GError) err = NULL;
    char *text;

    g_file_get_contents(path, &text, size, &err);
    check_no_error(err);
    return text;
}

static void remove_folder(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;

    while ((name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(folder, name, NULL);

        g_unlink(path);
    }
    g_rmdir(folder);
}

/* Two words for each record of a task; they are as "info" says they are. */
static uint64_t *read_records(const char *folder, const char *name,
                              size_t records)
{
    size_t size;
    g_autofree char *data = read_file(folder, name, &size);
    uint64_t *words = g_new(uint64_t, 2 * records);

    check_cmpuint(size, ==, records * 16);
    for (size_t i = 0; i < 2 * records; i++) {
        words[i] = get_le((const uint8_t *)data + 8 * i, 8);
    }
    return words;
}

static void test_uftrace(void)
{
    g_autofree char *folder = g_dir_make_tmp("rvtrace-XXXXXX", NULL);
    g_autofree char *tasks = NULL, *info = NULL, *sym = NULL;
    g_autofree uint64_t *record = NULL;
    g_autoptr(Uftrace) u = NULL;
    g_autoptr(GError) err = NULL;
    size_t size;
    Spans s;

    spans_set_up(&s);
    view_run_all(&s.f);
    u = uftrace_new(folder, &err);
    check_no_error(err);
    check_true(uftrace_add_hart(u, s.moments, 0, s.f.profile, ALL_INSNS,
                                s.f.tasks, 0, &err));
    check_true(uftrace_finish(u, &err));
    tasks = read_file(folder, "task.txt", &size);
    check_nonnull(strstr(tasks, "pid=10 sid=000000000000000a "
                                "exename=\"/sh\"\n"));
    check_nonnull(strstr(tasks, " tid=20 pid=20\n"));
    info = read_file(folder, "info", &size);
    check_true(!memcmp(info, "Ftrace!\0\4\0\0\0\50\0\1\2", 16));
    check_nonnull(strstr(info + 40, "taskinfo:tids=10,20\n"));
    sym = read_file(folder, "1-program.sym", &size);
    check_nonnull(strstr(sym, " T leaf\n"));
    record = read_records(folder, "10.dat", 14);
    for (unsigned i = 0; i < 14; i++) {
        check_cmpuint(record[2 * i + 1] >> 3 & 7, ==, 5);
        check_cmpuint(i ? record[2 * i] : 0, >=, i ? record[2 * i - 2] : 0);
    }
    /* main is entered first, and left last, at depth 0. */
    check_cmphex(record[1] & 0xffc7, ==, 0);
    check_cmphex(record[27], ==, record[1] | 1);
    check_cmpuint(record[26], ==, 10000);
    remove_folder(folder);
    spans_tear_down(&s);
}

/* Nothing of the user's is overwritten. */
static void test_uftrace_folder(void)
{
    g_autofree char *folder = g_dir_make_tmp("rvtrace-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(folder, "mine", NULL);
    g_autofree char *under = g_build_filename(file, "folder", NULL);
    g_autoptr(GError) full = NULL, none = NULL, plain = NULL;

    g_file_set_contents(file, "", 0, NULL);
    check_null(uftrace_new(folder, &full));
    check_nonnull(strstr(full->message, "not empty"));
    check_null(uftrace_new(file, &plain));
    check_nonnull(strstr(plain->message, "is there already"));
    check_null(uftrace_new(under, &none));
    check_nonnull(strstr(none->message, "give the name of a new folder"));
    remove_folder(folder);
}

typedef struct Reported {
    GArray *times;              /* uint64_t */
    const MomentMark *mark;
} Reported;

static void on_time(void *opaque, const CallStackMoment *moment,
                    const MomentMark *mark)
{
    Reported *got = opaque;
    uint64_t time = moment->time;

    g_array_append_val(got->times, time);
    got->mark = mark ?: got->mark;
}

static void put_moment(MomentClock *c, uint64_t insns)
{
    moment_clock_put(c, &(CallStackMoment) { .insns = insns });
}

static uint64_t time_at(const Reported *got, guint i)
{
    check_cmpuint(i, <, got->times->len);
    return g_array_index(got->times, uint64_t, i);
}

/* Ticks of a microsecond, 16 bits of them, which wrap in between */
static void test_virtual_clock(void)
{
    VirtualClock c = { .hz = 1000000 };

    check_true(virtual_clock_put(&c, 0x7fff0, 16));
    check_cmpuint(virtual_clock_ns(&c), ==, 0xfff0 * 1000);
    check_true(virtual_clock_put(&c, 0x0010, 16));
    check_cmpuint(virtual_clock_ns(&c), ==, 0x10010 * 1000);
    /* It may stand, but cannot go back. */
    check_true(virtual_clock_put(&c, 0x0010, 16));
    check_false(virtual_clock_put(&c, 0xfff8, 16));
    check_cmpuint(virtual_clock_ns(&c), ==, 0x10010 * 1000);
    check_true(virtual_clock_put(&c, 0x0110, 16));
    check_cmpuint(virtual_clock_ns(&c), ==, 0x10110 * 1000);
    /* 64 bits of them are more than nanoseconds fit into 64 bits of ticks. */
    c = (VirtualClock) { .hz = 10 };
    check_true(virtual_clock_put(&c, UINT64_C(1) << 33, 64));
    check_cmpuint(virtual_clock_ns(&c), ==, (UINT64_C(1) << 33) * 100000000);
}

static void test_moment_clock(void)
{
    g_autoptr(GArray) times = g_array_new(false, false, sizeof(uint64_t));
    Reported got = { .times = times };
    MomentClock *c = moment_clock_new(on_time, &got);
    const MomentMark lost = { .kind = MOMENT_LOST, .text = "lost" };

    put_moment(c, 0);
    moment_clock_time(c, 100, 0xfff0 * 1000);
    put_moment(c, 150);
    moment_clock_mark(c, &(CallStackMoment) { .insns = 200 }, &lost);
    moment_clock_time(c, 300, 0x10010 * 1000);
    /* It is known now, but another packet may report the same time. */
    check_cmpuint(times->len, ==, 0);
    put_moment(c, 350);
    moment_clock_time(c, 400, 0x10010 * 1000);
    put_moment(c, 500);
    moment_clock_time(c, 600, 0x10110 * 1000);
    put_moment(c, 700);
    check_cmpuint(moment_clock_end(c), ==, 0x10110 * 1000);
    check_cmpuint(times->len, ==, 6);
    /* What was before the first timestamp */
    check_cmpuint(time_at(&got, 0), ==, 0xfff0 * 1000);
    /* A sixth and a third of the way: 32 us for 300 instructions */
    check_cmpuint(time_at(&got, 1), ==, 0xfff0 * 1000 + 32000 / 6);
    check_cmpuint(time_at(&got, 2), ==, 0xfff0 * 1000 + 32000 / 3);
    check_cmpuint(time_at(&got, 3), ==, 0xfff0 * 1000 + 32000 * 5 / 6);
    check_cmpuint(time_at(&got, 4), ==, 0x10010 * 1000 + 256000 / 2);
    check_cmpuint(time_at(&got, 5), ==, 0x10110 * 1000);
    check_true(got.mark == &lost);
    moment_clock_free(c);
}

/* Timestamps that are a moment apart are one; without any, time stands. */
static void test_moment_clock_bounds(void)
{
    g_autoptr(GArray) times = g_array_new(false, false, sizeof(uint64_t));
    Reported got = { .times = times };
    MomentClock *c = moment_clock_new(on_time, &got);

    moment_clock_time(c, 0, 0);
    put_moment(c, 500);
    moment_clock_time(c, 1000, MOMENT_CLOCK_STEP - 1);
    moment_clock_time(c, 2000, 2 * MOMENT_CLOCK_STEP);
    moment_clock_time(c, 3000, 4 * MOMENT_CLOCK_STEP);
    check_cmpuint(times->len, ==, 1);
    check_cmpuint(time_at(&got, 0), ==, MOMENT_CLOCK_STEP / 2);
    for (unsigned i = 0; i < MOMENT_CLOCK_WAITING + 10; i++) {
        put_moment(c, 3000 + i);
    }
    /* There was no room for all of them. */
    check_cmpuint(times->len, >, MOMENT_CLOCK_WAITING);
    check_cmpuint(time_at(&got, MOMENT_CLOCK_WAITING), ==,
                  4 * MOMENT_CLOCK_STEP);
    moment_clock_end(c);
    check_cmpuint(times->len, ==, MOMENT_CLOCK_WAITING + 11);
    for (guint i = 1; i < times->len; i++) {
        check_cmpuint(time_at(&got, i), >=, time_at(&got, i - 1));
    }
    moment_clock_free(c);
}

/* A wait is no part of what ran a moment before it. */
static void test_moment_clock_split(void)
{
    g_autoptr(GArray) times = g_array_new(false, false, sizeof(uint64_t));
    Reported got = { .times = times };
    MomentClock *c = moment_clock_new(on_time, &got);

    moment_clock_time(c, 0, 0);
    put_moment(c, 500);
    moment_clock_time(c, 1000, MOMENT_CLOCK_STEP / 10);
    moment_clock_split(c);
    moment_clock_time(c, 1000, 100 * MOMENT_CLOCK_STEP);
    put_moment(c, 1500);
    moment_clock_time(c, 2000, 102 * MOMENT_CLOCK_STEP);
    moment_clock_end(c);
    check_cmpuint(times->len, ==, 2);
    check_cmpuint(time_at(&got, 0), ==, MOMENT_CLOCK_STEP / 20);
    check_cmpuint(time_at(&got, 1), ==, 101 * MOMENT_CLOCK_STEP);
    moment_clock_free(c);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/views/protobuf", test_protobuf);
    g_test_add_func("/views/json", test_json);
    g_test_add_func("/views/callgrind", test_callgrind);
    g_test_add_func("/views/virtual-clock", test_virtual_clock);
    g_test_add_func("/views/moment-clock", test_moment_clock);
    g_test_add_func("/views/moment-clock-bounds", test_moment_clock_bounds);
    g_test_add_func("/views/moment-clock-split", test_moment_clock_split);
    g_test_add_func("/views/callgrind-unnamed", test_callgrind_unnamed);
    g_test_add_func("/views/callgrind-lines", test_callgrind_lines);
    g_test_add_func("/views/patched-cost", test_patched_cost);
    g_test_add_func("/views/tail-call-cost", test_tail_call_cost);
    g_test_add_func("/views/spans", test_spans);
    g_test_add_func("/views/trap-spans", test_trap_spans);
    g_test_add_func("/views/speedscope", test_speedscope);
    g_test_add_func("/views/uftrace", test_uftrace);
    g_test_add_func("/views/uftrace-folder", test_uftrace_folder);
    return g_test_run();
}
