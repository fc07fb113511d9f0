/*
 * Privilege levels by intervals of time
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/view-fixture.h"
#include "views/time/privilege.h"

#define U   ETRACE_PRIV_U
#define S   ETRACE_PRIV_S
#define M   ETRACE_PRIV_M

/* From here on the hart is in that level; times that are 0 are its insns. */
static void turn(PrivilegeHart *h, unsigned priv, uint64_t insns,
                 uint64_t time)
{
    privilege_moment(h, &(CallStackMoment) {
        .priv = priv, .insns = insns, .time = time ?: insns,
    });
}

static char *written(const PrivilegeTable *t, TableFormat format,
                     uint64_t *wider)
{
    char *text = NULL, *copy;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    uint64_t width = privilege_write(t, format, f);

    fclose(f);
    copy = g_strdup(text);
    free(text);
    if (wider) {
        *wider = width;
    } else {
        check_cmpuint(width, ==, 0);
    }
    return copy;
}

static void assert_written(const PrivilegeTable *t, TableFormat format,
                           const char *want)
{
    g_autofree char *text = written(t, format, NULL);

    check_cmpstr(text, ==, want);
}

/* Widths need be no powers of two; intervals without anything have no row. */
static void test_insns(void)
{
    g_autoptr(PrivilegeTable) t = privilege_new(100, false);
    PrivilegeHart *h = privilege_hart(t);

    turn(h, M, 0, 0);
    turn(h, S, 130, 0);
    turn(h, M, 150, 0);
    turn(h, U, 150, 0);
    turn(h, M, 160, 0);
    turn(h, M, 170, 0);
    privilege_end(h, 230, 230);
    assert_written(t, TABLE_TSV,
                   "from\tinstructions\tU-mode\tS-mode\tM-mode\n"
                   "0\t100\t0\t0\t100\n"
                   "100\t100\t10\t20\t70\n"
                   "200\t30\t0\t0\t30\n");
    assert_written(t, TABLE_TEXT,
        "# 230 instructions, in intervals of 100 instructions of each hart\n"
        "            from     instructions       U-mode       S-mode"
        "       M-mode\n"
        "               0              100        0.00%        0.00%"
        "      100.00%\n"
        "             100              100       10.00%       20.00%"
        "       70.00%\n"
        "             200               30        0.00%        0.00%"
        "      100.00%\n");
    assert_written(t, TABLE_JSON,
        "{\"schema\": 1, \"command\": \"privilege\", "
        "\"instructions\": 230, \"interval\": 100, \"rows\": [\n"
        "  {\"from\": 0, \"instructions\": 100, \"U-mode\": 0, \"S-mode\": 0, "
        "\"M-mode\": 100},\n"
        "  {\"from\": 100, \"instructions\": 100, \"U-mode\": 10, "
        "\"S-mode\": 20, \"M-mode\": 70},\n"
        "  {\"from\": 200, \"instructions\": 30, \"U-mode\": 0, "
        "\"S-mode\": 0, \"M-mode\": 30}\n]}\n");
}

/* Harts are added up; one begins late, one has another level. */
static void test_time(void)
{
    g_autoptr(PrivilegeTable) t = privilege_new(250000000, true);
    PrivilegeHart *a = privilege_hart(t), *b = privilege_hart(t);

    privilege_hart(t);      /* one that never runs */
    turn(a, S, 0, 1000000000);
    turn(a, U, 10, 1200000000);
    privilege_end(a, 60, 1300000000);
    turn(b, ETRACE_PRIV_VS, 0, 3000000000);
    privilege_end(b, 7, 3000000000);
    assert_written(t, TABLE_TSV,
                   "from_ns\tinstructions\tU-mode\tS-mode\tM-mode\tVS-mode\n"
                   "1000000000\t35\t25\t10\t0\t0\n"
                   "1250000000\t25\t25\t0\t0\t0\n"
                   "3000000000\t7\t0\t0\t0\t7\n");
    assert_written(t, TABLE_TEXT,
        "# 67 instructions, in intervals of 0.250s of virtual time\n"
        "            from     instructions       U-mode       S-mode"
        "       M-mode      VS-mode\n"
        "          1.000s               35       71.43%       28.57%"
        "        0.00%        0.00%\n"
        "          1.250s               25      100.00%        0.00%"
        "        0.00%        0.00%\n"
        "          3.000s                7        0.00%        0.00%"
        "        0.00%      100.00%\n");
}

static void test_nothing(void)
{
    g_autoptr(PrivilegeTable) t = privilege_new(1000000000, true);

    privilege_end(privilege_hart(t), 0, 0);
    assert_written(t, TABLE_JSON, "{\"schema\": 1, "
                   "\"command\": \"privilege\", \"instructions\": 0, \"interval_ns\": "
                                  "1000000000, \"rows\": [\n]}\n");
    assert_written(t, TABLE_TEXT,
        "# 0 instructions, in intervals of 1s of virtual time\n"
        "            from     instructions       U-mode       S-mode"
        "       M-mode\n");
}

/* A trace may have any level and time: nothing is lost, sizes are bounded. */
static void test_hostile(void)
{
    g_autoptr(PrivilegeTable) t = privilege_new(10, true);
    PrivilegeHart *a = privilege_hart(t), *b = privilege_hart(t);
    g_autofree char *text = NULL;
    uint64_t wider, insns = 0;
    unsigned rows = 0;
    size_t at;

    turn(a, 7, 0, 5);
    turn(a, 2, 1000, 20);
    turn(a, 255, 2000, 40);
    turn(a, U, 3000, 60);
    privilege_end(a, 4000000, UINT64_MAX);
    turn(b, ETRACE_PRIV_D, 0, 1);
    privilege_end(b, 1234, 5);
    text = written(t, TABLE_TSV, &wider);
    check_cmpuint(wider, >=, 10);
    check_cmpuint(wider % 10, ==, 0);
    check_true(g_str_has_prefix(text, "from_ns\tinstructions\tU-mode\tS-mode\t"
                                      "M-mode\tdebug mode\tunknown mode\n"));
    for (at = strcspn(text, "\n") + 1; text[at];
         at += strcspn(text + at, "\n") + 1) {
        insns += g_ascii_strtoull(strchr(text + at, '\t'), NULL, 10);
        rows++;
    }
    check_cmpuint(rows, >, 1000);
    check_cmpuint(rows, <=, PRIVILEGE_MAX_INTERVALS);
    check_cmpuint(insns, ==, 4001234);
}

/* An interval of any width that the option can have */
static void test_wide(void)
{
    static const uint64_t widths[] = { UINT64_MAX, 1ull << 63, 3ull << 61 };

    for (unsigned i = 0; i < ARRAY_SIZE(widths); i++) {
        g_autoptr(PrivilegeTable) t = privilege_new(widths[i], false);
        PrivilegeHart *h = privilege_hart(t);

        turn(h, M, 0, 0);
        turn(h, U, 5, 5);
        privilege_end(h, 9, UINT64_MAX);
        assert_written(t, TABLE_TSV,
                       "from\tinstructions\tU-mode\tS-mode\tM-mode\n"
                       "0\t9\t4\t0\t5\n");
    }
}

/*
 * One instruction after the other, of random levels, against counts that are
 * made without dividing
 */
static void check_random(uint32_t seed)
{
    enum { INSNS = 20000 };
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    unsigned width = g_rand_int_range(rand, 1, 3000);
    g_autoptr(PrivilegeTable) t = privilege_new(width, false);
    g_autoptr(GString) want = g_string_new("from\tinstructions\tU-mode\t"
                                           "S-mode\tM-mode\n");
    g_autofree unsigned (*sums)[4] = g_malloc0(sizeof(*sums) * (INSNS + 1));

    for (int hart = 0; hart < 3; hart++) {
        PrivilegeHart *h = privilege_hart(t);

        for (unsigned at = 0, next; at < INSNS; at = next) {
            static const unsigned privs[] = { U, S, M };
            unsigned priv = privs[g_rand_int_range(rand, 0, 3)];

            turn(h, priv, at, 0);
            next = at + g_rand_int_range(rand, 0, 1500);
            next = MIN(next, INSNS);
            for (unsigned i = at; i < next; i++) {
                sums[i / width][priv]++;
            }
        }
        privilege_end(h, INSNS, INSNS);
    }
    for (unsigned i = 0; i <= (INSNS - 1) / width; i++) {
        g_string_append_printf(want, "%u\t%u\t%u\t%u\t%u\n", i * width,
                               sums[i][U] + sums[i][S] + sums[i][M],
                               sums[i][U], sums[i][S], sums[i][M]);
    }
    assert_written(t, TABLE_TSV, want->str);
}

static void test_random(void)
{
    for (uint32_t seed = 0; seed < 40; seed++) {
        check_random(seed);
    }
}

/* A function that two levels share: its node in the profile is the same. */
static void test_shared_code(void)
{
    g_autoptr(PrivilegeTable) t = privilege_new(1000, false);
    PrivilegeHart *h = privilege_hart(t);
    ViewFixture f;

    view_set_up(&f, privilege_moment, h);
    f.priv = M;
    view_run(&f, KENTRY, 30, XRET);
    f.priv = S;
    view_run(&f, KENTRY + 120, 20, XRET);
    f.priv = ETRACE_PRIV_VS;
    view_run(&f, KENTRY + 200, 9, 0);
    privilege_end(h, 59, 59);
    assert_written(t, TABLE_TSV,
                   "from\tinstructions\tU-mode\tS-mode\tM-mode\tVS-mode\n"
                   "0\t59\t0\t20\t30\t9\n");
    view_tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/privilege/insns", test_insns);
    g_test_add_func("/privilege/time", test_time);
    g_test_add_func("/privilege/nothing", test_nothing);
    g_test_add_func("/privilege/hostile", test_hostile);
    g_test_add_func("/privilege/wide", test_wide);
    g_test_add_func("/privilege/random", test_random);
    g_test_add_func("/privilege/shared-code", test_shared_code);
    return g_test_run();
}
