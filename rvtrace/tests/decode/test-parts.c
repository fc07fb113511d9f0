/*
 * Traces in several parts: all of them, in order, and what is refused
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "tests/fixtures/check.h"
#include "tests/fixtures/sb-build.h"
#include "tests/fixtures/test-util.h"
#include "trace/growing.h"

#define PARTS 3
/* Ids of the sessions; the first one has nobody before it. */
#define ID(i) ((uint64_t)(i) + 1000)

/* Parts, each in two files; together they are what one machine did. */
typedef struct Fixture {
    Synth *synths[PARTS];
    char *traces[PARTS], *sidebands[PARTS];
} Fixture;

static Synth *make_part(unsigned seed, unsigned harts)
{
    return synth_run(&(SynthOptions) {
        .seed = seed,
        .xlen = 64,
        .nr_harts = harts,
        .insns = 3000,
        .code_bytes = 400,
        .modes = true,
        .trap_permille = 5,
        .change_permille = 10,
    });
}

/* The trace begins as QEMU's do. Alignment sequences in it move on with it. */
static void mark_session(GByteArray *trace, uint64_t id)
{
    const ETraceParams framing = { .src_bits = 8 };
    uint8_t begin[ETRACE_ALIGN_MAX + ETRACE_SESSION_MARK_SIZE];
    size_t n = etrace_encap_align(&framing, begin);

    etrace_encap_mark_session(id, begin + n);
    g_byte_array_prepend(trace, begin, n + ETRACE_SESSION_MARK_SIZE);
}

static void set_up(Fixture *f, unsigned harts, bool origins)
{
    for (unsigned i = 0; i < PARTS; i++) {
        Synth *s = make_part(i + 1, harts);

        if (origins) {
            sb_origin(s->sideband, ID(i), i ? ID(i - 1) : 0);
            mark_session(s->trace, ID(i));
        }
        f->synths[i] = s;
        f->traces[i] = test_file(s->trace->data, s->trace->len);
        f->sidebands[i] = test_file(s->sideband->data, s->sideband->len);
    }
}

static void tear_down(Fixture *f)
{
    for (unsigned i = 0; i < PARTS; i++) {
        g_unlink(f->traces[i]);
        g_unlink(f->sidebands[i]);
        g_free(f->traces[i]);
        g_free(f->sidebands[i]);
        synth_free(f->synths[i]);
    }
}

/* Open the parts of which @order holds the numbers, as in "012". */
static Trace *open_parts(const Fixture *f, const char *order, GError **errp)
{
    char *traces[8] = { NULL }, *sidebands[8] = { NULL };

    for (unsigned i = 0; order[i]; i++) {
        traces[i] = f->traces[order[i] - '0'];
        sidebands[i] = f->sidebands[order[i] - '0'];
    }
    return trace_open(&(TraceOptions) {
        .traces = traces,
        .sidebands = sidebands,
        .wrapped_at = RING_NOT_WRAPPED,
    }, errp);
}

/* Every hart did what it did in these parts, one after the other. */
static void check_parts(const Fixture *f, const char *order)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(Trace) t = open_parts(f, order, &err);

    check_no_error(err);
    for (unsigned hart = 0; hart < t->nr_harts; hart++) {
        Recording *rec = test_record(t, hart);
        guint at = 0;

        check_cmpuint(rec->losses->len, ==, 0);
        for (unsigned i = 0; order[i]; i++) {
            const Synth *s = f->synths[order[i] - '0'];
            const GArray *pcs = s->harts[hart].pcs;

            check_cmpuint(rec->pcs->len - at, >=, pcs->len);
            g_assert_cmpmem(&g_array_index(rec->pcs, uint64_t, at),
                            pcs->len * sizeof(uint64_t), pcs->data,
                            pcs->len * sizeof(uint64_t));
            at += pcs->len;
        }
        check_cmpuint(at, ==, rec->pcs->len);
        recording_free(rec);
    }
}

static void test_order(void)
{
    for (unsigned harts = 1; harts <= 3; harts += 2) {
        Fixture f;

        set_up(&f, harts, true);
        check_parts(&f, "012");
        check_parts(&f, "01");
        check_parts(&f, "12");
        check_parts(&f, "2");
        tear_down(&f);
    }
}

/* Sidebands that do not say: the user has to know. */
static void test_no_origin(void)
{
    Fixture f;

    set_up(&f, 2, false);
    check_parts(&f, "012");
    check_parts(&f, "201");
    tear_down(&f);
}

/* The consumer has enough: no more parts are read. */
static void stop_at_once(void *opaque, const FlowRun *run)
{
    TraceDecoder *d = opaque;

    d->stop = true;
}

static void test_stop(void)
{
    static const TraceConsumer consumer = { .flow.run = stop_at_once };
    g_autoptr(GError) err = NULL;
    g_autoptr(Trace) t = NULL;
    TraceDecoder d;
    Fixture f;

    set_up(&f, 1, true);
    t = open_parts(&f, "012", &err);
    check_no_error(err);
    trace_decode(&d, t, 0, &consumer, &d);
    check_true(d.trace == t);
    check_cmpuint(d.packets, <, 10);
    tear_down(&f);
}

static void expect_error(const Fixture *f, const char *order,
                         const char *what)
{
    g_autoptr(GError) err = NULL;

    check_null(open_parts(f, order, &err));
    check_nonnull(strstr(err->message, what));
}

static void test_wrong_order(void)
{
    Fixture f;

    set_up(&f, 1, true);
    expect_error(&f, "10", "wrong order");
    expect_error(&f, "102", "wrong order");
    expect_error(&f, "021", "wrong order");
    expect_error(&f, "02", "missing");
    expect_error(&f, "20", "a trace begins there");
    expect_error(&f, "00", "given twice");
    expect_error(&f, "011", "given twice");

    tear_down(&f);
}

/* The parts of two machines */
static void test_other_machine(void)
{
    char *traces[] = { NULL, NULL, NULL };
    char *sidebands[] = { NULL, NULL, NULL };
    g_autoptr(GError) err = NULL;
    Fixture one, two;

    set_up(&one, 1, true);
    set_up(&two, 2, true);
    traces[0] = one.traces[0];
    traces[1] = two.traces[1];
    sidebands[0] = one.sidebands[0];
    sidebands[1] = two.sidebands[1];
    check_null(trace_open(&(TraceOptions) {
        .traces = traces,
        .sidebands = sidebands,
        .wrapped_at = RING_NOT_WRAPPED,
    }, &err));
    check_nonnull(strstr(err->message, "they are not parts of one trace"));
    tear_down(&one);
    tear_down(&two);
}

/* As many of the one as of the other, but of a ring */
static void test_numbers(void)
{
    Fixture f;

    set_up(&f, 1, true);
    for (unsigned i = 0; i < 3; i++) {
        static const char *const whats[] = {
            "there are 2 and 1", "there are 1 and 2", "give one trace",
        };
        char *traces[] = { f.traces[0], i == 1 ? NULL : f.traces[1], NULL };
        char *sidebands[] = { f.sidebands[0],
                              i == 0 ? NULL : f.sidebands[1], NULL };
        g_autoptr(GError) err = NULL;

        check_null(trace_open(&(TraceOptions) {
            .traces = traces,
            .sidebands = sidebands,
            .ram = i == 2,
            .wrapped_at = RING_NOT_WRAPPED,
        }, &err));
        check_nonnull(strstr(err->message, whats[i]));
    }
    tear_down(&f);
}

/* Two sessions in one pair of files: a reader that came again */
static void test_sessions(void)
{
    g_autoptr(GByteArray) trace = g_byte_array_new();
    g_autoptr(GByteArray) sideband = g_byte_array_new();
    g_autofree char *trace_name = NULL, *sideband_name = NULL;
    const unsigned sessions[] = { 1, 2 };
    char *traces[3] = { NULL }, *sidebands[3] = { NULL };
    g_autoptr(GError) err = NULL;
    g_autoptr(Trace) t = NULL;
    Recording *rec;
    Fixture f;

    set_up(&f, 1, true);
    for (unsigned i = 0; i < 2; i++) {
        Synth *s = f.synths[i];

        /* the number and the offset of the SESSION record, which is first */
        etrace_sb_put(s->sideband->data + 8 + 16, i + 1, 4);
        etrace_sb_put(s->sideband->data + 8 + 24, trace->len, 8);
        g_byte_array_append(trace, s->trace->data, s->trace->len);
        g_byte_array_append(sideband, s->sideband->data, s->sideband->len);
    }
    traces[0] = traces[1] = trace_name = test_file(trace->data, trace->len);
    sidebands[0] = sidebands[1] = sideband_name =
        test_file(sideband->data, sideband->len);
    t = trace_open(&(TraceOptions) {
        .traces = traces,
        .sidebands = sidebands,
        .sessions = sessions,
        .wrapped_at = RING_NOT_WRAPPED,
    }, &err);
    check_no_error(err);
    rec = test_record(t, 0);
    check_cmpuint(rec->losses->len, ==, 0);
    check_cmpuint(rec->pcs->len, ==, f.synths[0]->harts[0].pcs->len +
                                     f.synths[1]->harts[0].pcs->len);
    recording_free(rec);
    g_unlink(trace_name);
    g_unlink(sideband_name);
    tear_down(&f);
}

/* Part 0 with @trace; the minor version of its sideband is @minor. */
static Trace *open_with(const Fixture *f, const GByteArray *trace,
                        unsigned minor, GError **errp)
{
    GByteArray *sideband = f->synths[0]->sideband;

    etrace_sb_put(sideband->data + 8 + 10, minor, 2);
    return test_trace_try(trace, sideband, errp);
}

/* Both streams have the id of their session since minor version 7. */
static void test_identity(void)
{
    const size_t plain = 33 + ETRACE_SESSION_MARK_SIZE;
    Fixture f;

    set_up(&f, 1, true);
    for (unsigned minor = 6; minor <= 8; minor++) {
        for (unsigned what = 0; what < 5; what++) {
            const GByteArray *from = f.synths[what == 1]->trace;
            g_autoptr(GByteArray) trace = g_byte_array_new();
            g_autoptr(GError) err = NULL;
            g_autoptr(Trace) t = NULL;
            const char *error = NULL;

            g_byte_array_append(trace, from->data, from->len);
            switch (what) {
            case 0:
                break;
            case 1:
                error = "different runs";
                break;
            case 2:
                g_byte_array_remove_range(trace, 0, plain);
                error = "no mark of a session";
                break;
            case 3:             /* nothing but a part of the mark */
                g_byte_array_set_size(trace, plain / 2);
                break;
            case 4:
                g_byte_array_set_size(trace, 0);
                break;
            }
            t = open_with(&f, trace, minor, &err);
            if (error && minor >= 7) {
                check_null(t);
                check_nonnull(strstr(err->message, error));
            } else {
                check_no_error(err);
            }
        }
    }
    tear_down(&f);
}

/* A trace that grows is taken for nobody's until its mark is whole. */
static void test_growing_identity(void)
{
    /* of its first alignment sequence: where it ends, and a hart's packets */
    const uint64_t align[] = { GUINT64_TO_LE(33), 0 };
    Fixture f;

    set_up(&f, 1, true);
    sb_record(f.synths[0]->sideband, ETRACE_SB_ALIGN, ETRACE_SB_ALL_HARTS,
              (const uint8_t *)align, sizeof(align));
    for (unsigned other = 0; other < 2; other++) {
        const GByteArray *trace = f.synths[other]->trace;
        g_autofree char *name = test_file(trace->data, 33 + 3);
        g_autoptr(Growing) g = growing_new(name, f.sidebands[0]);
        g_autoptr(GError) err = NULL;

        etrace_sb_put(f.synths[0]->sideband->data + 8 + 10, 7, 2);
        check_true(g_file_set_contents(f.sidebands[0], (const char *)
                                       f.synths[0]->sideband->data,
                                       f.synths[0]->sideband->len, NULL));
        check_null(growing_open(g, false, &err));
        check_no_error(err);
        /* in place, as a writer goes on */
        check_true(g_file_set_contents_full(
            name, (const char *)trace->data, trace->len,
            G_FILE_SET_CONTENTS_NONE, 0600, NULL));
        if (other) {
            check_null(growing_open(g, false, &err));
            check_nonnull(strstr(err->message, "different runs"));
        } else {
            check_nonnull(growing_open(g, false, &err));
            check_no_error(err);
        }
        g_unlink(name);
    }
    tear_down(&f);
}

/* Who the session is, and which one it goes on from */
static void test_origin(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();

    sb_session(bytes, 1, 1, 0);
    for (unsigned i = 0; i < 3; i++) {
        g_autoptr(GError) err = NULL;
        uint64_t id, origin;
        Sideband *sb;

        if (i == 1) {
            sb_origin(bytes, 0x123456789abcdef0, 7);
        } else if (i == 2) {
            /* too short: left out */
            sb_u64s(bytes, ETRACE_SB_ORIGIN, ETRACE_SB_ALL_HARTS, 1,
                    (uint64_t)3);
        }
        sb = sideband_parse(bytes->data, bytes->len, 0, &err);
        check_no_error(err);
        check_cmpint(sideband_origin(sb, &id, &origin), ==, i > 0);
        check_cmphex(id, ==, i ? 0x123456789abcdef0 : 0);
        check_cmphex(origin, ==, i ? 7 : 0);
        check_cmpint(sideband_problem(sb) != NULL, ==, i == 2);
        sideband_free(sb);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/parts/origin", test_origin);
    g_test_add_func("/parts/identity", test_identity);
    g_test_add_func("/parts/growing-identity", test_growing_identity);
    g_test_add_func("/parts/order", test_order);
    g_test_add_func("/parts/no-origin", test_no_origin);
    g_test_add_func("/parts/stop", test_stop);
    g_test_add_func("/parts/wrong-order", test_wrong_order);
    g_test_add_func("/parts/other-machine", test_other_machine);
    g_test_add_func("/parts/numbers", test_numbers);
    g_test_add_func("/parts/sessions", test_sessions);
    return g_test_run();
}
