/*
 * Samples with branch stacks: perf.data files, maps, and what ran by them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "etrace/sideband.h"
#include "tests/fixtures/perf-build.h"
#include "samples/ctr-samples.h"
#include "samples/sample-flow.h"
#include "base/perf-format.h"

#define TYPES       (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
                     PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | \
                     PERF_SAMPLE_BRANCH_STACK)
#define ANY         PERF_SAMPLE_BRANCH_ANY
#define BASE        0x10000

/* A program: offsets, and what is there */
static const uint32_t code[] = {
    [0] = 0x00000013,       /* nop */
    [1] = 0x00b50463,       /* beq a0, a1, +8: to [3] */
    [2] = 0x00000013,
    [3] = 0x010000ef,       /* jal ra, +16: to [7] */
    [4] = 0x00000073,       /* ecall */
    [5] = 0x00000013,
    [6] = 0xfe9ff06f,       /* j -24: to [0] */
    [7] = 0x00000013,
    [8] = 0x00008067,       /* ret */
    [9] = 0x00000013,
};
#define AT(n)   (BASE + 4 * (n))

static const InsnIsa rv64 = { .xlen = 64 };

typedef struct Branch {
    uint64_t from, to, flags;
} Branch;

static uint64_t type(uint64_t value)
{
    return value << PERF_BRANCH_TYPE_SHIFT;
}

/* sample_id_all of TYPES */
static void put_id(GByteArray *b, uint32_t pid, uint64_t time)
{
    view_put32(b, pid);
    view_put32(b, pid);
    view_put64(b, time);
    view_put64(b, 0);
}

static void put_sample(GByteArray *b, uint64_t ip, uint32_t pid, uint64_t time,
                       unsigned cpu, const Branch *branches, unsigned n)
{
    guint record = perf_record(b, PERF_RECORD_SAMPLE, PERF_MISC_USER);

    view_put64(b, ip);
    view_put32(b, pid);
    view_put32(b, pid);
    view_put64(b, time);
    view_put64(b, cpu);
    view_put64(b, 1000);
    view_put64(b, n);
    for (unsigned i = 0; i < n; i++) {
        view_put64(b, branches[i].from);
        view_put64(b, branches[i].to);
        view_put64(b, branches[i].flags);
    }
    perf_record_end(b, record);
}

static void put_comm(GByteArray *b, uint32_t pid, const char *name,
                     uint64_t time, bool exec)
{
    guint record = perf_record(b, PERF_RECORD_COMM,
                               exec ? PERF_MISC_COMM_EXEC : 0);

    view_put32(b, pid);
    view_put32(b, pid);
    view_put_string(b, name, 8);
    put_id(b, pid, time);
    perf_record_end(b, record);
}

static void put_map(GByteArray *b, uint32_t pid, uint64_t lo, uint64_t size,
                    const char *path, uint64_t time)
{
    guint record = perf_record(b, PERF_RECORD_MMAP2, PERF_MISC_USER);

    view_put32(b, pid);
    view_put32(b, pid);
    view_put64(b, lo);
    view_put64(b, size);
    view_put64(b, 0);
    view_put64(b, 0);
    view_put64(b, 0);
    view_put64(b, 0);
    view_put32(b, 5);
    view_put32(b, 2);
    view_put_string(b, path, 8);
    put_id(b, pid, time);
    perf_record_end(b, record);
}

static void put_fork(GByteArray *b, uint32_t pid, uint32_t parent,
                     uint64_t time)
{
    guint record = perf_record(b, 7, 0);

    view_put32(b, pid);
    view_put32(b, parent);
    view_put32(b, pid);
    view_put32(b, parent);
    view_put64(b, time);
    put_id(b, pid, time);
    perf_record_end(b, record);
}

static PerfSamples *read_all(GByteArray *b)
{
    GError *err = NULL;
    PerfSamples *s;

    perf_end(b);
    check_true(perf_samples_in("file", b->data, b->len));
    s = perf_samples_read("file", b->data, b->len, &err);
    check_no_error(err);
    check_nonnull(s);
    return s;
}

static const PerfSample *sample(const PerfSamples *s, guint i)
{
    check_cmpuint(i, <, s->samples->len);
    return &g_array_index(s->samples, PerfSample, i);
}

static const ProcessMap *map_of(const PerfSample *s, guint i)
{
    check_cmpuint(i, <, s->maps->maps->len);
    return &g_array_index(s->maps->maps, ProcessMap, i);
}

/* Records of two CPUs are put in order of time. */
static void test_order(gconstpointer data)
{
    g_autoptr(GByteArray) b = perf_begin(TYPES, ANY, GPOINTER_TO_INT(data));
    g_autoptr(PerfSamples) s = NULL;

    put_sample(b, AT(1), 5, 300, 1, NULL, 0);
    put_comm(b, 5, "late", 250, false);
    put_sample(b, AT(0), 5, 200, 0, (Branch[]) { { 1, 2, 3 } }, 1);
    put_comm(b, 5, "early", 0, false);
    s = read_all(b);
    check_cmpuint(s->samples->len, ==, 2);
    check_cmpuint(s->nr_cpus, ==, 2);
    check_true(s->contiguous);
    check_cmphex(sample(s, 0)->ip, ==, AT(0));
    check_cmpstr(sample(s, 0)->comm, ==, "early");
    check_cmpuint(sample(s, 0)->nr_branches, ==, 1);
    check_cmpuint(perf_sample_branch(sample(s, 0), 0).to, ==, 2);
    check_cmpuint(sample(s, 0)->period, ==, 1000);
    check_cmpstr(sample(s, 1)->comm, ==, "late");
    check_cmpuint(sample(s, 1)->cpu, ==, 1);
}

/* What a process has mapped: inherited, replaced, gone with exec */
static void test_maps(void)
{
    g_autoptr(GByteArray) b = perf_begin(TYPES, ANY, false);
    g_autoptr(PerfSamples) s = NULL;

    put_map(b, 5, 0x10000, 0x2000, "/a", 10);
    put_fork(b, 6, 5, 20);
    put_sample(b, 0x10000, 6, 30, 0, NULL, 0);
    /* elsewhere: no other maps */
    put_map(b, 6, 0x20000, 0x1000, "/b", 40);
    put_sample(b, 0x10000, 6, 50, 0, NULL, 0);
    /* over a part of it */
    put_map(b, 6, 0x11000, 0x1000, "/c", 60);
    put_sample(b, 0x11000, 6, 70, 0, NULL, 0);
    put_comm(b, 6, "new", 80, true);
    put_map(b, 6, 0x30000, 0x1000, "/d", 81);
    put_sample(b, 0x30000, 6, 90, 0, NULL, 0);
    put_sample(b, 0x10000, 5, 95, 0, NULL, 0);
    s = read_all(b);
    check_cmpuint(s->samples->len, ==, 5);
    check_true(sample(s, 0)->maps == sample(s, 1)->maps);
    check_cmpuint(sample(s, 0)->maps->maps->len, ==, 2);
    check_cmpstr(map_of(sample(s, 0), 0)->path, ==, "/a");
    check_true(sample(s, 2)->maps != sample(s, 1)->maps);
    check_cmpuint(sample(s, 2)->maps->maps->len, ==, 2);
    check_cmpstr(map_of(sample(s, 2), 0)->path, ==, "/b");
    check_cmpstr(map_of(sample(s, 2), 1)->path, ==, "/c");
    check_cmpuint(sample(s, 3)->maps->maps->len, ==, 1);
    check_cmpstr(map_of(sample(s, 3), 0)->path, ==, "/d");
    check_cmpuint(sample(s, 4)->maps->maps->len, ==, 1);
    check_cmpstr(map_of(sample(s, 4), 0)->path, ==, "/a");
}

static void refused(GByteArray *b, const char *says)
{
    g_autoptr(GError) err = NULL;

    perf_end(b);
    check_null(perf_samples_read("file", b->data, b->len, &err));
    check_nonnull(strstr(err->message, says));
}

static void test_refused(void)
{
    g_autoptr(GByteArray) plain = perf_begin(TYPES & ~PERF_SAMPLE_BRANCH_STACK,
                                             0, false);
    g_autoptr(GByteArray) calls = perf_begin(TYPES, 1u << 11, false);
    g_autoptr(GByteArray) none = perf_begin(TYPES, ANY, false);
    g_autoptr(GByteArray) packed = perf_begin(TYPES, ANY, false);
    g_autoptr(GByteArray) hurt = perf_begin(TYPES, ANY, false);
    guint record;

    check_false(perf_samples_in("file", plain->data, plain->len));
    refused(plain, "has no branch stacks");
    refused(calls, "its branch stacks are call stacks");
    put_comm(none, 5, "nobody", 1, false);
    refused(none, "has no samples");
    record = perf_record(packed, 81, 0);
    view_put64(packed, 0);
    perf_record_end(packed, record);
    refused(packed, "its records are compressed");
    put_sample(hurt, 0, 5, 1, 0, NULL, 0);
    /* more branches than it has room for */
    hurt->data[hurt->len - 8] = 1;
    refused(hurt, "is damaged");
}

/* Each process inherits all and adds one: no more than there is room for */
static void test_many_maps(void)
{
    g_autoptr(GByteArray) b = perf_begin(TYPES, ANY, false);

    for (unsigned i = 0; i < 4000; i++) {
        put_map(b, 10 + i, 0x100000 + 0x1000 * i, 0x1000, "/a", 10 + i);
        put_fork(b, 11 + i, 10 + i, 10 + i);
    }
    put_sample(b, 0, 6, 1, 0, NULL, 0);
    refused(b, "processes map more than any machine has room for");
}

static void try_read(const uint8_t *data, size_t size)
{
    PerfSamples *s = perf_samples_read("file", data, size, NULL);

    g_clear_pointer(&s, perf_samples_free);
}

/* Whatever is cut off or changed, nothing but an error comes of it. */
static void test_hostile(void)
{
    g_autoptr(GByteArray) b = perf_begin(TYPES, ANY, true);

    put_map(b, 5, 0x10000, 0x2000, "/a", 10);
    put_fork(b, 6, 5, 20);
    put_comm(b, 6, "new", 25, true);
    put_sample(b, 0x10000, 6, 30, 0, (Branch[]) { { 1, 2, 3 } }, 1);
    for (guint n = 16; n < b->len; n++) {
        g_autofree uint8_t *copy = g_memdup2(b->data, n);

        try_read(copy, n);
    }
    for (guint i = 16; i < b->len; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            b->data[i] ^= 1 << bit;
            try_read(b->data, b->len);
            b->data[i] ^= 1 << bit;
        }
    }
}

/* What was handed over, as text */
static void on_run(void *opaque, const FlowRun *run)
{
    g_string_append_printf(opaque, "%" PRIu64 "+%u:%u ",
                           (run->pc - BASE) / 4, run->count, run->itype);
}

static void on_trap(void *opaque, const FlowTrap *trap)
{
    g_string_append_printf(opaque, "%s%" PRIu64 " ",
                           trap->interrupt ? "I" : "E",
                           (trap->epc - BASE) / 4);
}

static void on_lost(void *opaque)
{
    g_string_append(opaque, "- ");
}

static const SampleFlowOps flow_ops = {
    .run = on_run, .trap = on_trap, .lost = on_lost,
};

/* What a sample at @ip with these branches, newest first, says that ran */
static void flows(uint64_t ip, const Branch *branches, unsigned n,
                  const char *want, SampleFlowStats *stats)
{
    g_autoptr(GByteArray) b = perf_begin(TYPES, ANY, false);
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(Names) names = names_new(objects);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    Object *o = object_new(objects, OBJECT_PROGRAM, "/program", NULL);
    ObjectCode piece = { .addr = 0, .size = sizeof(code) };
    g_autoptr(PerfSamples) s = NULL;
    g_autoptr(GString) got = g_string_new(NULL);
    ProcessMaps *maps;

    put_sample(b, ip, 5, 1, 0, branches, n);
    s = read_all(b);
    for (unsigned i = 0; i < ARRAY_SIZE(code); i++) {
        view_put32(bytes, code[i]);
    }
    piece.bytes = bytes->data;
    g_array_append_val(o->code, piece);
    maps = (ProcessMaps *)sample(s, 0)->maps;
    maps->names = names_derive(names);
    names_add_mapped(maps->names, o, BASE, BASE, BASE + sizeof(code));
    *stats = (SampleFlowStats) { 0 };
    sample_flow(sample(s, 0), &rv64, &flow_ops, got, stats);
    check_cmpstr(got->str, ==, want);
}

#define FLOWS(ip, want, stats, ...) do { \
    const Branch b_[] = { __VA_ARGS__ }; \
    flows(ip, b_, ARRAY_SIZE(b_), want, stats); \
} while (0)

static void test_flow(void)
{
    SampleFlowStats stats;

    /* a call, from behind a branch that was not taken; a return; a jump */
    FLOWS(AT(6), "- 0+2:4 2+2:9 7+2:13 4+2:0 ", &stats,
          { AT(8), AT(4), 0 }, { AT(3), AT(7), 0 }, { AT(6), AT(0), 0 });
    check_cmpuint(stats.pieces, ==, 3);
    check_cmpuint(stats.insns, ==, 8);
    check_cmpuint(stats.wrong + stats.unknown, ==, 0);
    /* a branch that was taken */
    FLOWS(AT(3), "- 0+2:5 ", &stats,
          { AT(1), AT(3), 0 }, { AT(6), AT(0), 0 });
    /* ... and one that says that it was not (NTBREN) */
    FLOWS(AT(3), "- 0+2:4 2+1:0 ", &stats,
          { AT(1), AT(2), 0 }, { AT(6), AT(0), 0 });
}

static void test_flow_traps(void)
{
    SampleFlowStats stats;

    /* reported by perf: what is at the source did not retire */
    FLOWS(AT(6), "- E4 5+1:0 ", &stats,
          { AT(4), AT(5), type(PERF_BR_SYSCALL) }, { AT(8), AT(4), 0 });
    FLOWS(AT(1), "- 4+1:0 I5 0+1:0 ", &stats,
          { AT(5), AT(0), type(PERF_BR_IRQ) }, { AT(8), AT(4), 0 });
    /* not reported: an ECALL, and an instruction that does not lead anywhere */
    FLOWS(AT(8), "- E4 7+1:0 ", &stats,
          { AT(4), AT(7), 0 }, { AT(8), AT(4), 0 });
    FLOWS(AT(8), "- 4+1:0 I5 7+1:0 ", &stats,
          { AT(5), AT(7), 0 }, { AT(8), AT(4), 0 });
    /* a jump that does not lead there was not executed yet */
    FLOWS(AT(8), "- 4+2:0 I6 7+1:0 ", &stats,
          { AT(6), AT(7), 0 }, { AT(8), AT(4), 0 });
}

static void test_flow_gaps(void)
{
    SampleFlowStats stats;

    /* a call on the way was not recorded */
    FLOWS(AT(8), "- 7+1:0 ", &stats,
          { AT(6), AT(7), type(PERF_BR_IND) }, { AT(6), AT(0), 0 });
    check_cmpuint(stats.wrong, ==, 1);
    /* backwards, and what is too far to be believed */
    FLOWS(AT(0), "- ", &stats, { AT(6), AT(7), 0 });
    check_cmpuint(stats.wrong, ==, 1);
    FLOWS(1ull << 40, "- ", &stats, { AT(6), AT(0), 0 });
    check_cmpuint(stats.wrong, ==, 1);
    /* no file has it */
    FLOWS(AT(8), "- 7+1:0 ", &stats,
          { 0x50010, AT(7), 0 }, { AT(6), 0x50000, 0 });
    check_cmpuint(stats.unknown, ==, 1);
    /* a filter by mode: from or to somewhere */
    FLOWS(AT(1), "- 7+2:13 - 0+1:0 ", &stats,
          { 0, AT(0), 0 }, { AT(8), 0, 0 }, { AT(3), AT(7), 0 });
    check_cmpuint(stats.pieces, ==, 2);
    check_cmpuint(stats.insns, ==, 3);
}

/* QEMU's samples become a file that is read as perf's are. */
static void test_ctr_samples(void)
{
    g_autoptr(CtrSamples) c = ctr_samples_new();
    g_autoptr(GByteArray) b = g_byte_array_new();
    g_autoptr(PerfSamples) s = NULL;
    g_autoptr(GError) err = NULL;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    view_put32(b, 48 + 2 * 24);
    view_put32(b, 3);                       /* hart */
    view_put64(b, 12345);
    view_put64(b, AT(5));
    view_put64(b, 0x8000000000012345);      /* satp */
    view_put64(b, 1000);
    view_put8(b, 0x80);                     /* U */
    view_put8(b, 0);
    view_put16(b, 0);
    view_put32(b, 2);
    for (unsigned i = 0; i < 2; i++) {
        view_put64(b, i ? AT(3) : AT(8));
        view_put64(b, i ? AT(7) : AT(4));
        view_put32(b, i ? 0 : 1u << 15 | 77u << 16);
        view_put8(b, i ? 9 : 13);
        view_put8(b, 0x80);
        view_put16(b, 0);
    }
    check_true(ctr_samples_add(c, b->data, b->len, &err));
    check_cmpuint(c->samples, ==, 1);
    check_true(ctr_samples_write(c, 1000, f, &err));
    fclose(f);
    s = perf_samples_read("file", (const uint8_t *)text, size, &err);
    check_no_error(err);
    check_true(s->contiguous);
    check_cmpstr(s->event.name, ==, "cpu-clock");
    check_cmpuint(sample(s, 0)->cpu, ==, 3);
    check_cmpuint(sample(s, 0)->time, ==, 12345);
    check_cmphex(sample(s, 0)->ip, ==, AT(5));
    check_cmpuint(sample(s, 0)->priv, ==, ETRACE_PRIV_U);
    check_cmpstr(sample(s, 0)->comm, ==, "space 1");
    check_cmpuint(sample(s, 0)->nr_branches, ==, 2);
    check_cmphex(perf_sample_branch(sample(s, 0), 0).from, ==, AT(8));
    check_cmphex(perf_sample_branch(sample(s, 0), 1).to, ==, AT(7));
    check_cmpuint(perf_sample_branch(sample(s, 0), 0).flags >>
                  PERF_BRANCH_CYCLES_SHIFT & 0xffff, ==, 77);
    free(text);

    for (guint n = 1; n < b->len; n++) {
        check_false(ctr_samples_add(c, b->data, n, NULL));
    }
    b->data[44] = 3;
    check_false(ctr_samples_add(c, b->data, b->len, NULL));
    b->data[44] = 2;
    b->data[41] = 1;                        /* calls that have not returned */
    check_true(ctr_samples_add(c, b->data, b->len, NULL));
    check_cmpuint(c->stacks, ==, 1);
    check_cmpuint(c->samples, ==, 1);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/samples/order", GINT_TO_POINTER(false),
                         test_order);
    g_test_add_data_func("/samples/order-pipe", GINT_TO_POINTER(true),
                         test_order);
    g_test_add_func("/samples/maps", test_maps);
    g_test_add_func("/samples/refused", test_refused);
    g_test_add_func("/samples/many-maps", test_many_maps);
    g_test_add_func("/samples/hostile", test_hostile);
    g_test_add_func("/samples/flow", test_flow);
    g_test_add_func("/samples/flow-traps", test_flow_traps);
    g_test_add_func("/samples/flow-gaps", test_flow_gaps);
    g_test_add_func("/samples/ctr", test_ctr_samples);
    return g_test_run();
}
