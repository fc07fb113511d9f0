/*
 * Cut off, damaged and lossy streams: never a crash or an endless loop, and
 * what is reported as executed without a loss was executed
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/test-util.h"

#define SB_BEGINNING 200    /* session and parameters are in it */

static const SynthOptions base = {
    .xlen = 64,
    .nr_harts = 2,
    .insns = 1500,
    .code_bytes = 120,
    .sync_mode = ETRACE_SYNC_PACKETS,
    .sync_max = 20,
    .trap_permille = 10,
    .change_permille = 20,
    .window_permille = 5,
};

static GByteArray *copy(const GByteArray *from)
{
    GByteArray *to = g_byte_array_new();

    return g_byte_array_append(to, from->data, from->len);
}

/* Does truth, from *@pos on, hold the @n pcs at @want in a row? */
static bool find_sequence(const GArray *truth, guint *pos,
                          const uint64_t *want, guint n)
{
    const uint64_t *t = (const uint64_t *)truth->data;

    for (guint i = *pos; i + n <= truth->len; i++) {
        if (memcmp(t + i, want, n * sizeof(*want)) == 0) {
            *pos = i + n;
            return true;
        }
    }
    return false;
}

/* Every window was executed, in the order of the windows. */
static void assert_windows(const Synth *s, unsigned hart,
                           const Recording *rec)
{
    const uint64_t *pcs = (const uint64_t *)rec->pcs->data;
    guint pos = 0;

    for (guint i = 0; i < rec->starts->len; i++) {
        guint from = g_array_index(rec->starts, guint, i);
        guint to = i + 1 < rec->starts->len ?
                   g_array_index(rec->starts, guint, i + 1) : rec->pcs->len;

        check_true(find_sequence(s->harts[hart].pcs, &pos, pcs + from,
                                 to - from));
    }
}

/* The sink refuses packets now and then; the encoder says so in-band. */
static void test_lossy(void)
{
    guint losses = 0, lost = 0;

    for (uint32_t seed = 0; seed < 60; seed++) {
        SynthOptions opts = base;
        g_autoptr(Trace) t = NULL;
        Synth *s;

        opts.seed = seed;
        opts.lose_permille = 10;
        s = synth_run(&opts);
        t = test_trace_open(s->trace, s->sideband);
        for (unsigned i = 0; i < opts.nr_harts; i++) {
            Recording *rec = test_record(t, i);

            assert_windows(s, i, rec);
            for (guint j = 0; j < rec->losses->len; j++) {
                check_cmpint(g_array_index(rec->losses, TraceLoss,
                                           j).flow.kind,
                             ==, FLOW_LOST_IN_BAND);
            }
            losses += rec->losses->len;
            recording_free(rec);
        }
        lost += s->packets_lost;
        synth_free(s);
    }
    check_cmpuint(lost, >, 0);
    check_cmpuint(losses, >, 0);
}

/* However much is missing at the end: what there is decodes. */
static void test_cut_off(void)
{
    SynthOptions opts = base;
    Synth *s;
    size_t end;
    guint next = 0;

    opts.seed = 4711;
    opts.nr_harts = 1;
    opts.insns = 300;
    s = synth_run(&opts);
    for (size_t len = 0; len <= s->trace->len; len++) {
        g_autoptr(GByteArray) part = copy(s->trace);
        g_autoptr(Trace) t = NULL;
        Recording *rec;
        bool whole;

        g_byte_array_set_size(part, len);
        t = test_trace_open(part, s->sideband);
        rec = test_record(t, 0);
        assert_windows(s, 0, rec);

        while (next < s->ends->len &&
               g_array_index(s->ends, size_t, next) < len) {
            next++;
        }
        end = next < s->ends->len ? g_array_index(s->ends, size_t, next) : 0;
        whole = len == 0 || end == len;
        if (whole) {
            check_cmpuint(rec->losses->len, ==, 0);
        } else if (rec->losses->len) {
            const TraceLoss *loss = &g_array_index(rec->losses, TraceLoss, 0);

            /* the packet that is cut off, and nothing else */
            check_cmpuint(rec->losses->len, ==, 1);
            check_cmpint(loss->flow.kind, ==, FLOW_LOST_FRAMING);
            check_cmpuint(loss->offset + loss->bytes, ==, len);
            check_cmpuint(loss->bytes, <, 35);
        }
        recording_free(rec);
    }
    synth_free(s);
}

/* The last packet is cut off: that must be noticed. */
static void test_cut_off_is_noticed(void)
{
    SynthOptions opts = base;
    g_autoptr(Trace) t = NULL;
    Recording *rec;
    Synth *s;

    opts.seed = 1;
    opts.nr_harts = 1;
    s = synth_run(&opts);
    g_byte_array_set_size(s->trace, g_array_index(s->ends, size_t,
                                                  s->ends->len / 2) - 1);
    t = test_trace_open(s->trace, s->sideband);
    rec = test_record(t, 0);
    check_cmpuint(rec->losses->len, ==, 1);
    recording_free(rec);
    synth_free(s);
}

/*
 * After damage up to byte @damaged of the stream: behind the next alignment
 * sequence, nothing is lost any more, and what is executed is
 * right to the end. @first: what is lost first, FLOW_LOST_NR_KINDS if that may
 * be anything.
 */
static void assert_recovers(const Synth *s, const GByteArray *bad,
                            size_t damaged, FlowLossKind first)
{
    g_autoptr(Trace) t = test_trace_open(bad, s->sideband);
    ETraceParams params;
    size_t safe = damaged, skip = 0;
    guint losses = 0;

    etrace_params_init(&params, s->opts.xlen);
    params.src_bits = 8;
    check_true(etrace_encap_find_align(&params, bad->data + damaged,
                                       bad->len - damaged, &skip));
    safe += skip;
    for (unsigned i = 0; i < s->opts.nr_harts; i++) {
        Recording *rec = test_record(t, i);
        const GArray *truth = s->harts[i].pcs;
        guint tail = MIN(500, rec->pcs->len);

        losses += rec->losses->len;
        if (first != FLOW_LOST_NR_KINDS) {
            check_cmpuint(rec->losses->len, >, 0);
            check_cmpint(g_array_index(rec->losses, TraceLoss,
                                       0).flow.kind, ==, first);
        }
        for (guint j = 0; j < rec->losses->len; j++) {
            check_cmpuint(g_array_index(rec->losses, TraceLoss, j).offset,
                          <, safe);
        }
        g_assert_cmpmem((uint64_t *)rec->pcs->data + rec->pcs->len - tail,
                        tail * sizeof(uint64_t),
                        (uint64_t *)truth->data + truth->len - tail,
                        tail * sizeof(uint64_t));
        recording_free(rec);
    }
    check_cmpuint(losses, >, 0);
}

static Synth *changing_code(uint32_t seed)
{
    SynthOptions opts = base;

    opts.seed = seed;
    opts.insns = 10000;
    opts.change_permille = 100;
    return synth_run(&opts);
}

/* Bytes that are no packets, but of a source that does not exist */
static void test_garbage(void)
{
    for (uint32_t seed = 0; seed < 30; seed++) {
        Synth *s = changing_code(100 + seed);
        g_autoptr(GByteArray) bad = copy(s->trace);
        size_t at = g_array_index(s->ends, size_t, s->ends->len / 8);

        for (size_t i = 0; i < 64; i++) {
            bad->data[at + i] = i % 3 == 1 ? 0xee : 0x01;
        }
        assert_recovers(s, bad, at + 64, FLOW_LOST_FRAMING);
        synth_free(s);
    }
}

/*
 * Whole packets are not there, and some hart has packets again before the
 * next alignment sequence. That alone may be followed for a while, wrongly;
 * but the sideband knows how many packets there should have been.
 */
static void test_missing_packets(void)
{
    for (uint32_t seed = 0; seed < 30; seed++) {
        Synth *s = changing_code(200 + seed);
        g_autoptr(GByteArray) bad = copy(s->trace);
        guint n = s->ends->len / 8;
        size_t from = g_array_index(s->ends, size_t, n);
        size_t to = g_array_index(s->ends, size_t, n + 12);

        /* offsets behind it stay as they are: nulls in their place */
        memset(bad->data + from, 0, to - from);
        assert_recovers(s, bad, to, FLOW_LOST_NR_KINDS);
        synth_free(s);
    }
}

/* Decode whatever it is; count, but do not look at, what comes out. */
static guint decode_anything(const GByteArray *trace,
                             const GByteArray *sideband)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(Trace) t = test_trace_try(trace, sideband, &err);
    guint pcs = 0;

    if (!t) {
        check_nonnull(err);
        return 0;
    }
    for (unsigned i = 0; i < t->nr_harts; i++) {
        if (t->harts[i].present) {
            Recording *rec = test_record(t, i);

            pcs += rec->pcs->len;
            recording_free(rec);
        }
    }
    return pcs;
}

static void flip(GRand *r, GByteArray *bytes, guint from, unsigned n)
{
    while (n--) {
        bytes->data[g_rand_int_range(r, from, bytes->len)] ^=
            1u << g_rand_int_range(r, 0, 8);
    }
}

static void fuzz(bool in_trace, bool in_sideband, guint sideband_from)
{
    for (uint32_t seed = 0; seed < (g_test_slow() ? 2000 : 20); seed++) {
        g_autoptr(GRand) r = g_rand_new_with_seed(seed);
        SynthOptions opts = base;
        guint good, bad;
        Synth *s;

        opts.seed = 500 + seed;
        opts.nr_harts = 1 + seed % 2;
        opts.xlen = seed & 4 ? 32 : 64;
        s = synth_run(&opts);
        good = decode_anything(s->trace, s->sideband);
        for (int i = 0; i < 25; i++) {
            g_autoptr(GByteArray) trace = copy(s->trace);
            g_autoptr(GByteArray) sideband = copy(s->sideband);
            unsigned n = 1u << g_rand_int_range(r, 0, 8);

            if (in_trace) {
                flip(r, trace, 0, n);
            }
            if (in_sideband) {
                flip(r, sideband, sideband_from, n);
            }
            bad = decode_anything(trace, sideband);
            /* A wrong packet can make up instructions, but not many. */
            check_cmpuint(bad, <, 100 * good);
        }
        synth_free(s);
    }
}

static void test_flips_in_trace(void)
{
    fuzz(true, false, 0);
}

static void test_flips_in_sideband(void)
{
    fuzz(false, true, 0);
    fuzz(false, true, SB_BEGINNING);
}

static void test_flips_in_both(void)
{
    fuzz(true, true, SB_BEGINNING);
}

static void test_noise(void)
{
    g_autoptr(GRand) r = g_rand_new_with_seed(9);
    SynthOptions opts = base;
    Synth *s;

    opts.seed = 900;
    s = synth_run(&opts);
    for (int i = 0; i < 100; i++) {
        g_autoptr(GByteArray) noise = g_byte_array_new();

        g_byte_array_set_size(noise, g_rand_int_range(r, 0, 5000));
        for (guint j = 0; j < noise->len; j++) {
            noise->data[j] = g_rand_int(r);
        }
        decode_anything(noise, s->sideband);
        decode_anything(s->trace, noise);
    }
    synth_free(s);
}

static void test_empty(void)
{
    g_autoptr(GByteArray) nothing = g_byte_array_new();
    SynthOptions opts = base;
    Synth *s;

    opts.seed = 901;
    s = synth_run(&opts);
    check_cmpuint(decode_anything(nothing, s->sideband), ==, 0);
    check_cmpuint(decode_anything(s->trace, nothing), ==, 0);
    synth_free(s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/robust/lossy", test_lossy);
    g_test_add_func("/robust/cut-off", test_cut_off);
    g_test_add_func("/robust/cut-off-is-noticed", test_cut_off_is_noticed);
    g_test_add_func("/robust/garbage", test_garbage);
    g_test_add_func("/robust/missing-packets", test_missing_packets);
    g_test_add_func("/robust/flips-in-trace", test_flips_in_trace);
    g_test_add_func("/robust/flips-in-sideband", test_flips_in_sideband);
    g_test_add_func("/robust/flips-in-both", test_flips_in_both);
    g_test_add_func("/robust/noise", test_noise);
    g_test_add_func("/robust/empty", test_empty);
    return g_test_run();
}
