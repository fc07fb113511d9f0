/*
 * Differences of reports
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "views/report/diff.h"

static const char a[] =
    "own\ttotal\tcalls\tdso\tsym\n"
    "600\t900\t3\tls\tmain\n"
    "300\t300\t9\tlibc.so.6\tmemcpy\n"
    "60\t60\t1\tls\tsame\n"
    "40\t40\t2\tls\told\n";

/* In another order, without totals, two functions of the same name */
static const char b[] =
    "own\tsym\tdso\n"
    "500\tmemcpy\tlibc.so.6\n"
    "300\tmain\tls\n"
    "290\tmain\tls\n"
    "60\tsame\tls\n"
    "50\tfresh\tls\n";

static SavedReport *parse(const char *name, const char *text)
{
    g_autoptr(GError) err = NULL;
    SavedReport *report = saved_report_parse(name, text, strlen(text), &err);

    check_no_error(err);
    return report;
}

static void assert_diff(DiffOptions o, const char *want)
{
    g_autoptr(SavedReport) x = parse("a.tsv", a), y = parse("b.tsv", b);
    g_autoptr(GError) err = NULL;
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    check_true(diff_write(x, y, &o, file, &err));
    fclose(file);
    check_cmpstr(text, ==, want);
    free(text);
}

static void test_text(void)
{
    assert_diff((DiffOptions) { 0 },
        "# A: a.tsv: 1000 instructions\n"
        "# B: b.tsv: 1200 instructions, +20.00%\n"
        "               A                B             B - A    change    "
        "of A    of B  dso        sym\n"
        "             300              500               200   +66.67%  "
        "30.00%  41.67%  libc.so.6  memcpy\n"
        "               0               50                50       new   "
        "0.00%   4.17%  ls         fresh\n"
        "              40                0               -40      gone   "
        "4.00%   0.00%  ls         old\n"
        "             600              590               -10    -1.67%  "
        "60.00%  49.17%  ls         main\n"
        "              60               60                 0    +0.00%   "
        "6.00%   5.00%  ls         same\n");
}

static void test_sort(void)
{
    assert_diff((DiffOptions) { .sort = "dso", .format = TABLE_TSV },
        "own_a\town_b\tdifference\tdso\n"
        "300\t500\t200\tlibc.so.6\n"
        "700\t700\t0\tls\n");
}

static void test_limits(void)
{
    assert_diff((DiffOptions) { .min_percent = 3, .format = TABLE_TSV },
        "own_a\town_b\tdifference\tdso\tsym\n"
        "300\t500\t200\tlibc.so.6\tmemcpy\n"
        "0\t50\t50\tls\tfresh\n"
        "40\t0\t-40\tls\told\n");
    assert_diff((DiffOptions) { .max_rows = 1, .sort = "sym" },
        "# A: a.tsv: 1000 instructions\n"
        "# B: b.tsv: 1200 instructions, +20.00%\n"
        "               A                B             B - A    change    "
        "of A    of B  sym\n"
        "             300              500               200   +66.67%  "
        "30.00%  41.67%  memcpy\n"
        "# 4 rows left out, which differ less or not at all\n");
}

static void test_json(void)
{
    assert_diff((DiffOptions) { .max_rows = 2, .format = TABLE_JSON },
        "{\"schema\": 1, \"command\": \"diff\", "
        "\"instructions_a\": 1000, \"instructions_b\": 1200, \"rows\": [\n"
        "  {\"own_a\": 300, \"own_b\": 500, \"difference\": 200, "
        "\"dso\": \"libc.so.6\", \"sym\": \"memcpy\"},\n"
        "  {\"own_a\": 0, \"own_b\": 50, \"difference\": 50, "
        "\"dso\": \"ls\", \"sym\": \"fresh\"}\n"
        "]}\n");
}

/* Reports of virtual time; and one of each, which cannot be compared */
static void test_time(void)
{
    g_autoptr(SavedReport) x = parse("a.tsv", "own_ns\ttotal_ns\tsym\n"
                                     "30\t50\tmain\n20\t20\twork\n");
    g_autoptr(SavedReport) y = parse("b.tsv", "own_ns\tsym\n60\tmain\n");
    g_autoptr(SavedReport) z = parse("c.tsv", "own\tsym\n60\tmain\n");
    g_autoptr(GError) err = NULL;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    check_true(diff_write(x, y, &(DiffOptions) { .sort = "sym" }, f, &err));
    fclose(f);
    check_true(g_str_has_prefix(text, "# A: a.tsv: 50 ns\n"
                                      "# B: b.tsv: 60 ns, +20.00%\n"));
    free(text);
    check_false(diff_write(x, z, &(DiffOptions) { .sort = "sym" }, NULL,
                           &err));
    check_nonnull(strstr(err->message, "the same --weight"));
}

static void assert_no_diff(const char *sort, const char *first,
                           const char *second, const char *why)
{
    g_autoptr(SavedReport) x = parse("a.tsv", first);
    g_autoptr(SavedReport) y = parse("b.tsv", second);
    g_autoptr(GError) err = NULL;

    check_false(diff_write(x, y, &(DiffOptions) { .sort = sort }, NULL,
                           &err));
    if (!strstr(err->message, why)) {
        g_test_message("%s", err->message);
    }
    check_nonnull(strstr(err->message, why));
}

static void test_keys(void)
{
    assert_no_diff(NULL, a, "own\tsym\n1\tmain\n",
                   "b.tsv: 'dso' does not distinguish its rows");
    assert_no_diff("sym,hart", a, b,
                   "a.tsv: 'hart' does not distinguish its rows");
    assert_no_diff("own", a, b, "'own'");
    assert_no_diff("sym,", a, b, "''");
    assert_no_diff("", a, b, "is empty");
}

static void assert_bad(const char *text, const char *why)
{
    g_autoptr(GError) err = NULL;

    check_null(saved_report_parse("x", text, strlen(text), &err));
    if (!strstr(err->message, why)) {
        g_test_message("%s", err->message);
    }
    check_nonnull(strstr(err->message, why));
}

/* A terminal gets nothing but text of a file that somebody made. */
static void test_hostile(void)
{
    g_autoptr(SavedReport) x = parse("a", "own\tsym\tc\033[2J\n"
                                     "5\ta\033[2J\r\302\2332J\t1\n");
    g_autoptr(SavedReport) y = parse("b", "own\tsym\tc\033[2J\n"
                                     "7\t\377\033\t\n");
    g_autoptr(GError) err = NULL;
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    check_true(diff_write(x, y, &(DiffOptions) { 0 }, file, &err));
    fclose(file);
    check_nonnull(strstr(text, "  c?[2J\n"));
    check_nonnull(strstr(text, "a?[2J?"));
    check_null(strpbrk(text, "\033\r"));
    check_null(strstr(text, "\302\233"));
    check_true(g_utf8_validate(text, -1, NULL));
    free(text);
}

static void test_bad(void)
{
    g_autoptr(GString) wide = g_string_new("own");

    assert_bad("", "x, line 1: there is nothing");
    assert_bad("# 25 instructions; weights are instructions\n", "report");
    assert_bad("own\n1\n", "line 1: not what");
    assert_bad("own\tsym\town\n", "line 1: a column is there twice");
    assert_bad("own\tsym\n1\tmain\n1\n", "line 3: not as many columns");
    assert_bad("own\tsym\n1\tmain\tx\n", "line 2: not as many columns");
    assert_bad("own\tsym\n-1\tmain\n", "line 2: what is its own");
    assert_bad("own\tsym\nx\tmain\n", "line 2: what is its own");
    assert_bad("own\tsym\n18446744073709551615\tx\n1\ty\n",
               "line 3: what is its own");
    assert_bad("own\tsym\n\n", "line 2: not as many columns");
    for (unsigned i = 0; i < 100; i++) {
        g_string_append_printf(wide, "\t%u", i);
    }
    assert_bad(wide->str, "line 1: not what");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/diff/text", test_text);
    g_test_add_func("/diff/sort", test_sort);
    g_test_add_func("/diff/limits", test_limits);
    g_test_add_func("/diff/time", test_time);
    g_test_add_func("/diff/json", test_json);
    g_test_add_func("/diff/keys", test_keys);
    g_test_add_func("/diff/hostile", test_hostile);
    g_test_add_func("/diff/bad", test_bad);
    return g_test_run();
}
