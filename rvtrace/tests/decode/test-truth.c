/*
 * Comparison with the truth: it must notice every kind of difference
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/test-util.h"
#include "trace/truth.h"

#define EVERY 256       /* instructions between checkpoints */

/* What the comparison says of @rec against the record of @s's hart 0 */
static bool compare(const Synth *s, const Recording *rec, TruthCheck *check)
{
    g_autoptr(GString) text = synth_truth(s, EVERY);
    g_autoptr(GError) err = NULL;
    g_autoptr(Truth) truth = truth_parse(text->str, text->len, &err);
    static const uint8_t code[2];
    bool ok;

    check_no_error(err);
    truth_check_init(check, &g_array_index(truth->harts, TruthHart, 0));
    for (guint i = 0; i < rec->pcs->len; i++) {
        truth_check_run(check, &(FlowRun) {
            .pc = g_array_index(rec->pcs, uint64_t, i),
            .code = code,
            .count = 1,
        });
    }
    ok = truth_check_finish(check);
    check->truth = NULL;
    return ok;
}

static Synth *one_hart(uint32_t seed)
{
    return synth_run(&(SynthOptions) {
        .seed = seed,
        .xlen = 64,
        .nr_harts = 1,
        .insns = 2000,
        .code_bytes = 300,
        .trap_permille = 10,
    });
}

static Recording *record(const Synth *s)
{
    g_autoptr(Trace) t = test_trace_open(s->trace, s->sideband);

    return test_record(t, 0);
}

static void test_equal(void)
{
    Synth *s = one_hart(1);
    Recording *rec = record(s);
    TruthCheck check;

    check_true(compare(s, rec, &check));
    check_cmpuint(check.count, ==, rec->pcs->len);
    check_cmpuint(check.differing, ==, 0);
    check_cmpuint(check.matched, ==, rec->pcs->len / EVERY + 1);
    recording_free(rec);
    synth_free(s);
}

/* Where differences are put: the ends, and both sides of a checkpoint */
static const guint places[] = {
    0, 1, EVERY - 1, EVERY, EVERY + 1, 1000, 3 * EVERY - 1, UINT_MAX,
};

static void inject(void (*change)(GArray *pcs, guint at), bool in_truth)
{
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        Synth *s = one_hart(2);
        Recording *rec = record(s);
        GArray *pcs = in_truth ? s->harts[0].pcs : rec->pcs;
        guint at = MIN(places[i], pcs->len - 1);
        TruthCheck check;

        check_true(compare(s, rec, &check));
        change(pcs, at);
        check_false(compare(s, rec, &check));
        /* the checkpoints before the difference are all right */
        if (check.differing) {
            check_cmpuint(check.first_bad, >=, (MAX(at, 1) - 1) / EVERY);
            check_cmpuint(check.first_bad, <=, at / EVERY + 1);
        }
        recording_free(rec);
        synth_free(s);
    }
}

static void make_wrong(GArray *pcs, guint at)
{
    g_array_index(pcs, uint64_t, at) ^= 2;
}

static void make_missing(GArray *pcs, guint at)
{
    g_array_remove_index(pcs, at);
}

static void make_extra(GArray *pcs, guint at)
{
    uint64_t pc = g_array_index(pcs, uint64_t, at);

    g_array_insert_val(pcs, at, pc);
}

static void make_swapped(GArray *pcs, guint at)
{
    guint other = at ? at - 1 : 1;
    uint64_t pc = g_array_index(pcs, uint64_t, at);

    if (pc == g_array_index(pcs, uint64_t, other)) {
        make_wrong(pcs, at);    /* equal ones cannot be swapped */
        return;
    }
    g_array_index(pcs, uint64_t, at) = g_array_index(pcs, uint64_t, other);
    g_array_index(pcs, uint64_t, other) = pc;
}

static void test_wrong(void)
{
    inject(make_wrong, false);
    inject(make_wrong, true);
}

static void test_missing(void)
{
    inject(make_missing, false);
    inject(make_missing, true);
}

static void test_extra(void)
{
    inject(make_extra, false);
    inject(make_extra, true);
}

static void test_swapped(void)
{
    inject(make_swapped, false);
    inject(make_swapped, true);
}

/* Checkpoints that are never reached count as different. */
static void test_ends_early(void)
{
    Synth *s = one_hart(3);
    Recording *rec = record(s);
    guint whole = rec->pcs->len;
    TruthCheck check;

    g_array_set_size(rec->pcs, 3 * EVERY + 5);
    check_false(compare(s, rec, &check));
    check_cmpuint(check.matched, ==, 3);
    check_cmpuint(check.first_bad, ==, 3);
    check_cmpuint(check.differing, ==, whole / EVERY - 3 + 1);
    recording_free(rec);
    synth_free(s);
}

/* "h = rotl64(h, 5) ^ pc; h *= 0x9E3779B97F4A7C15", worked out by hand */
static void test_hash(void)
{
    check_cmphex(truth_hash(0, 1), ==, 0x9e3779b97f4a7c15ull);
    check_cmphex(truth_hash(0, 0), ==, 0);
    check_cmphex(truth_hash(1ull << 59, 0), ==, 0x9e3779b97f4a7c15ull);
    check_cmphex(truth_hash(1, 32), ==, 0);
}

/* A run across checkpoints is compared at each of them. */
static void test_long_run(void)
{
    g_autoptr(GString) text = g_string_new("# rvtruth 1\n");
    g_autoptr(GError) err = NULL;
    g_autoptr(Truth) truth = NULL;
    uint8_t code[4 * 100];
    uint64_t hash = 0;
    TruthCheck check;

    for (unsigned i = 0; i < 100; i++) {
        memcpy(code + 4 * i, "\x13\x00\x00\x00", 4);
        hash = truth_hash(hash, 0x1000 + 4 * i);
        if (i % 10 == 9) {
            g_string_append_printf(text, "%c 3 %u %" PRIx64 "\n",
                                   i == 99 ? 'E' : 'H', i + 1, hash);
        }
    }
    truth = truth_parse(text->str, text->len, &err);
    check_no_error(err);
    check_cmpuint(g_array_index(truth->harts, TruthHart, 0).hart, ==, 3);
    truth_check_init(&check, &g_array_index(truth->harts, TruthHart, 0));
    truth_check_run(&check, &(FlowRun) {
        .pc = 0x1000, .code = code, .count = 100,
    });
    check_cmpuint(check.matched, ==, 10);
    check_true(truth_check_finish(&check));
}

/* Two files: the hash begins anew in the second, counts go on. */
static void test_append(void)
{
    static const char *const texts[] = {
        "# rvtruth 1\nH 0 2 %" PRIx64 "\nE 0 3 %" PRIx64 "\nE 1 0 0\n",
        "# rvtruth 1\nE 0 2 %" PRIx64 "\nE 2 0 0\n",
    };
    static const uint8_t code[] = {
        0x13, 0, 0, 0, 0x13, 0, 0, 0, 0x13, 0, 0, 0, 0x13, 0, 0, 0,
        0x13, 0, 0, 0,
    };
    uint64_t hash[6] = { 0 };
    g_autoptr(GError) err = NULL;

    for (int i = 0; i < 5; i++) {
        /* of the first three, and of the two that follow */
        hash[i + 1] = truth_hash(i == 3 ? 0 : hash[i], 0x1000 + 4 * i);
    }
    /* a whole run; too short in the second file; wrong in it */
    for (int i = 0; i < 3; i++) {
        g_autofree char *first = g_strdup_printf(texts[0], hash[2], hash[3]);
        g_autofree char *last = g_strdup_printf(texts[1],
                                                hash[5] ^ (i == 2));
        g_autoptr(Truth) truth = truth_parse(first, strlen(first), &err);
        g_autoptr(Truth) more = truth_parse(last, strlen(last), &err);
        TruthCheck check;

        check_no_error(err);
        truth_append(truth, more);
        check_cmpuint(truth->harts->len, ==, 3);
        truth_check_init(&check, &g_array_index(truth->harts, TruthHart, 0));
        truth_check_run(&check, &(FlowRun) {
            .pc = 0x1000, .code = code, .count = i == 1 ? 4 : 5,
        });
        check_cmpint(truth_check_finish(&check), ==, i == 0);
        check_cmpuint(check.first_bad, ==, i == 0 ? 0 : 2);
    }
}

static void test_bad_files(void)
{
    static const struct {
        const char *text, *what;
    } table[] = {
        { "", "cut off" },
        { "rvtruth\n", "does not begin" },
        { "# rvtruth 2\nE 0 0 0\n", "does not begin" },
        { "# rvtruth 1\n", "cut off" },
        { "# rvtruth 1\nH 0 10 abc\n", "no final line" },
        { "# rvtruth 1\nE 0 10\n", "line 2" },
        { "# rvtruth 1\nX 0 10 abc\n", "line 2" },
        { "# rvtruth 1\nE 0 10 abc def\n", "line 2" },
        { "# rvtruth 1\nH 0 10 abc\nE 0 9 abc\n", "do not grow" },
        { "# rvtruth 1\nH 0 10 abc\nE 0 10 abd\n", "do not grow" },
        { "# rvtruth 1\nE 0 10 abc\nH 0 11 abc\n", "has ended" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        g_autoptr(GError) err = NULL;

        check_null(truth_parse(table[i].text, strlen(table[i].text),
                               &err));
        check_nonnull(strstr(err->message, table[i].what));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/truth/equal", test_equal);
    g_test_add_func("/truth/wrong", test_wrong);
    g_test_add_func("/truth/missing", test_missing);
    g_test_add_func("/truth/extra", test_extra);
    g_test_add_func("/truth/swapped", test_swapped);
    g_test_add_func("/truth/ends-early", test_ends_early);
    g_test_add_func("/truth/hash", test_hash);
    g_test_add_func("/truth/long-run", test_long_run);
    g_test_add_func("/truth/append", test_append);
    g_test_add_func("/truth/bad-files", test_bad_files);
    return g_test_run();
}
