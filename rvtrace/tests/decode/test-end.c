/*
 * Ends of traces: what the sideband announces and what there is
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/sb-build.h"
#include "tests/fixtures/test-util.h"

#define HARTS 2

typedef struct Fixture {
    Synth *s;
    uint64_t packets[HARTS];
} Fixture;

static void set_up(Fixture *f, gconstpointer data)
{
    g_autoptr(Trace) t = NULL;

    f->s = synth_run(&(SynthOptions) {
        .seed = 1,
        .xlen = 64,
        .nr_harts = HARTS,
        .insns = 3000,
        .code_bytes = 400,
    });
    t = test_trace_open(f->s->trace, f->s->sideband);
    for (unsigned i = 0; i < HARTS; i++) {
        Recording *rec = test_record(t, i);

        f->packets[i] = rec->d.packets;
        check_cmpuint(f->packets[i], >, 10);
        recording_free(rec);
    }
}

static void tear_down(Fixture *f, gconstpointer data)
{
    synth_free(f->s);
}

/* END: @more packets of hart 0 than there are, @lost behind them */
static void put_end(Fixture *f, int64_t more, uint64_t lost)
{
    sb_u64s(f->s->sideband, ETRACE_SB_END, ETRACE_SB_ALL_HARTS, 7,
            (uint64_t)f->s->trace->len, f->packets[0] + more, lost, lost,
            f->packets[1], (uint64_t)0, (uint64_t)0);
}

/*
 * @hart was decoded as it should be, and then there is one loss of this kind,
 * or none if @packets is 0.
 */
static void check_hart(const Fixture *f, unsigned hart, FlowLossKind kind,
                       uint64_t packets, unsigned unknown)
{
    g_autoptr(Trace) t = test_trace_open(f->s->trace, f->s->sideband);
    Recording *rec = test_record(t, hart);

    check_cmpuint(rec->d.stats.unknown_ends, ==, unknown);
    if (packets) {
        const TraceLoss *loss = &g_array_index(rec->losses, TraceLoss, 0);

        check_cmpuint(rec->losses->len, ==, 1);
        check_cmpint(loss->flow.kind, ==, kind);
        check_cmpuint(loss->flow.packets, ==, packets);
        check_cmpuint(loss->hart, ==, hart);
        check_cmpuint(rec->d.stats.losses[kind], ==, 1);
        g_array_set_size(rec->losses, 0);
        rec->d.stats.losses[kind] = 0;
    }
    test_assert_recording(f->s, hart, rec);
    recording_free(rec);
}

static void test_unknown(Fixture *f, gconstpointer data)
{
    check_hart(f, 0, 0, 0, 1);
}

static void test_complete(Fixture *f, gconstpointer data)
{
    put_end(f, 0, 0);
    check_hart(f, 0, 0, 0, 0);
    check_hart(f, 1, 0, 0, 0);
}

static void test_cut(Fixture *f, gconstpointer data)
{
    put_end(f, 5, 0);
    check_hart(f, 0, FLOW_LOST_CUT, 5, 0);
    check_hart(f, 1, 0, 0, 0);
}

static void test_lost(Fixture *f, gconstpointer data)
{
    put_end(f, 0, 7);
    check_hart(f, 0, FLOW_LOST_END, 7, 0);
    check_hart(f, 1, 0, 0, 0);
}

/* The trace goes on behind the end that was reported at the last stop. */
static void test_beyond(Fixture *f, gconstpointer data)
{
    put_end(f, -3, 0);
    check_hart(f, 0, 0, 0, 1);
    check_hart(f, 1, 0, 0, 0);
}

/* What was so at an earlier stop counts no more. */
static void test_last_counts(Fixture *f, gconstpointer data)
{
    put_end(f, 5, 7);
    put_end(f, 0, 0);
    check_hart(f, 0, 0, 0, 0);
    put_end(f, 0, 2);
    check_hart(f, 0, FLOW_LOST_END, 2, 0);
}

/* One that is too short for its harts is left out. */
static void test_malformed(Fixture *f, gconstpointer data)
{
    sb_u64s(f->s->sideband, ETRACE_SB_END, ETRACE_SB_ALL_HARTS, 6,
            (uint64_t)0, f->packets[0] + 1, (uint64_t)0, (uint64_t)0,
            f->packets[1], (uint64_t)0);
    check_hart(f, 0, 0, 0, 1);
}

/* That of another session says nothing about this one. */
static void test_other_session(Fixture *f, gconstpointer data)
{
    Fixture before = *f;

    before.s = synth_run(&(SynthOptions) {
        .seed = 1, .xlen = 64, .nr_harts = HARTS, .insns = 3000,
        .code_bytes = 400,
    });
    put_end(&before, 5, 7);
    g_byte_array_append(before.s->sideband, f->s->sideband->data,
                        f->s->sideband->len);
    g_byte_array_set_size(f->s->sideband, 0);
    g_byte_array_append(f->s->sideband, before.s->sideband->data,
                        before.s->sideband->len);
    check_hart(f, 0, 0, 0, 1);
    synth_free(before.s);
}

/* Who has enough of it does not look at the end. */
static void stop_at_once(void *opaque, const FlowRun *run)
{
    TraceDecoder *d = opaque;

    d->stop = true;
}

static void test_stopped(Fixture *f, gconstpointer data)
{
    static const TraceConsumer consumer = { .flow.run = stop_at_once };
    g_autofree TraceDecoder *d = g_new0(TraceDecoder, 1);
    g_autoptr(Trace) t = NULL;

    put_end(f, 5, 7);
    t = test_trace_open(f->s->trace, f->s->sideband);
    trace_decode(d, t, 0, &consumer, d);
    check_cmpuint(trace_stats_losses(&d->stats), ==, 0);
    check_cmpuint(d->stats.unknown_ends, ==, 0);
}

#define TEST(name, func) \
    g_test_add("/end/" name, Fixture, NULL, set_up, func, tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    TEST("unknown", test_unknown);
    TEST("complete", test_complete);
    TEST("cut", test_cut);
    TEST("lost", test_lost);
    TEST("beyond", test_beyond);
    TEST("last-counts", test_last_counts);
    TEST("malformed", test_malformed);
    TEST("other-session", test_other_session);
    TEST("stopped", test_stopped);
    return g_test_run();
}
