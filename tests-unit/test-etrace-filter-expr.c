/*
 * E-Trace filters as text: terms of one kind add up, kinds restrict each
 * other, ranges have both of their ends
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-test.h"
#include "hw/trace/etrace/filter-expr.h"

static ETraceFilterExpr parse(const char *text)
{
    ETraceFilterExpr e;
    char *problem = NULL;

    g_assert_true(etrace_filter_expr_parse(&e, text, &problem));
    g_assert_null(problem);
    return e;
}

static void check_text(const char *text, const char *canonical)
{
    ETraceFilterExpr e = parse(text), again;
    g_autofree char *got = etrace_filter_expr_text(&e);

    g_assert_cmpstr(got, ==, canonical);
    again = parse(got);
    g_assert_cmpmem(&e, sizeof(e), &again, sizeof(again));
}

static void test_text(void)
{
    check_text("", "");
    check_text("priv=U", "priv=U");
    check_text("priv=VS+M+U", "priv=U+M+VS");
    check_text("priv=S;priv=VU;priv=S", "priv=S+VU");
    check_text("pc=4096-0x1fff", "pc=0x1000-0x1fff");
    check_text("pc=0X10-0X1F", "pc=0x10-0x1f");
    check_text("pc=0x0-0xffffffffffffffff", "pc=0x0-0xffffffffffffffff");
    check_text("pc=18446744073709551614-18446744073709551615",
               "pc=0xfffffffffffffffe-0xffffffffffffffff");
    check_text("context=0x1f", "context=31");
    check_text("context=7;context=3;context=7", "context=3;context=7");
    check_text("context=5;pc=0x30-0x3f;priv=M;pc=0x10-0x1f",
               "priv=M;pc=0x10-0x1f;pc=0x30-0x3f;context=5");
}

/* Ranges that overlap or touch are one. */
static void test_ranges(void)
{
    check_text("pc=0x10-0x1f;pc=0x20-0x2f", "pc=0x10-0x2f");
    check_text("pc=0x20-0x2f;pc=0x10-0x1f", "pc=0x10-0x2f");
    check_text("pc=0x10-0x1f;pc=0x21-0x2f", "pc=0x10-0x1f;pc=0x21-0x2f");
    check_text("pc=0x10-0x40;pc=0x20-0x2f", "pc=0x10-0x40");
    check_text("pc=0x20-0x2f;pc=0x10-0x40", "pc=0x10-0x40");
    check_text("pc=1-2;pc=5-6;pc=9-10;pc=2-9", "pc=0x1-0xa");
    check_text("pc=0-1;pc=2-0xffffffffffffffff",
               "pc=0x0-0xffffffffffffffff");
    check_text("pc=5-0xffffffffffffffff;pc=1-2",
               "pc=0x1-0x2;pc=0x5-0xffffffffffffffff");
}

static void check_problem(const char *text, const char *says)
{
    ETraceFilterExpr e = parse("priv=U;pc=1-2;context=3"), before = e;
    g_autofree char *problem = NULL;

    g_assert_false(etrace_filter_expr_parse(&e, text, &problem));
    g_assert_nonnull(strstr(problem, says));
    g_assert_cmpmem(&e, sizeof(e), &before, sizeof(before));
}

static void test_problems(void)
{
    static const char none[] = "is none of priv=LEVEL, pc=FIRST-LAST and "
                               "context=NUMBER";
    static const char level[] = "is no privilege level, which are U, S, M";
    static const char range[] = "needs the first and the last address";
    static const char number[] = "needs a number of at most 64 bits";

    check_problem(";", none);
    check_problem("priv=U;", none);
    check_problem("priv=U,pc=1-2", level);
    check_problem("priv", none);
    check_problem("Priv=U", none);
    check_problem(" priv=U", none);
    check_problem("asid=5", "'asid=5'");
    check_problem("priv=", "needs a privilege level");
    check_problem("priv=u", "'u' is no");
    check_problem("priv=D", level);
    check_problem("priv=U+", level);
    check_problem("priv=U S", level);
    check_problem("pc=", range);
    check_problem("pc=0x1000", range);
    check_problem("pc=-0x1000", range);
    check_problem("pc=0x1000-", range);
    check_problem("pc=1-2-3", range);
    check_problem("pc= 1-2", range);
    check_problem("pc=1--2", range);
    check_problem("pc=0x-0x1", range);
    check_problem("pc=0x0x1-0x2", range);
    check_problem("pc=ff-100", range);
    check_problem("pc=0-0x10000000000000000", range);
    check_problem("pc=0x20-0x1f", "the first address is above the last one");
    check_problem("context=", number);
    check_problem("context=-1", number);
    check_problem("context=x", number);
    check_problem("context=1 ", number);
    check_problem("context=18446744073709551616", number);
}

/* 8 pc ranges and contexts together */
static void test_limit(void)
{
    static const char too_many[] = "at most 8 pc ranges and contexts";
    g_autoptr(GString) ranges = g_string_new("priv=U");
    g_autoptr(GString) contexts = g_string_new("priv=U");

    for (unsigned i = 0; i < 8; i++) {
        g_string_append_printf(ranges, ";pc=%u-%u", 4 * i, 4 * i + 1);
        g_string_append_printf(contexts, ";context=%u", i);
    }
    parse(ranges->str);
    parse(contexts->str);
    parse("pc=0-1;pc=4-5;pc=8-9;pc=12-13;context=0;context=1;context=2;"
          "context=3");
    /* None that is there already counts. */
    g_string_append(ranges, ";pc=0-5");
    parse(ranges->str);
    g_string_append(contexts, ";context=7");
    parse(contexts->str);

    check_problem("pc=0-1;pc=4-5;pc=8-9;pc=12-13;context=0;context=1;"
                  "context=2;context=3;context=4", too_many);
    g_string_append(ranges, ";pc=100-101;pc=200-201");
    check_problem(ranges->str, too_many);
    g_string_append(contexts, ";context=8");
    check_problem(contexts->str, too_many);
}

/* Addresses of harts of 32 bits */
static void test_fits(void)
{
    static const struct {
        const char *text;
        bool fits;
    } cases[] = {
        { "", true }, { "context=0x100000000", true },
        { "pc=0-0xffffffff", true }, { "pc=0-0x100000000", false },
        { "pc=0x100000000-0x100000001;pc=0-1", false },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        ETraceFilterExpr e = parse(cases[i].text);

        g_assert(etrace_filter_expr_fits(&e, 32) == cases[i].fits);
        g_assert_true(etrace_filter_expr_fits(&e, 64));
    }
}

/*
 * What is qualified
 */

static void program(ETraceFilter *f, const char *text)
{
    ETraceFilterExpr e = parse(text);

    etrace_filter_expr_apply(&e, f);
}

static void in_context(ETraceFilter *f, uint64_t context)
{
    etrace_filter_event(f, &(ETraceEvent) {
        .type = ETRACE_EVENT_CONTEXT, .value = context,
    });
}

/* Instructions of two bytes from @first to @last */
static bool qualified(ETraceFilter *f, uint64_t first, uint64_t last,
                      ETracePriv priv)
{
    ETraceBlock b = {
        .iaddr = first, .iretire = (last - first) / 2 + 1, .priv = priv,
    };

    return etrace_filter_block(f, &b, 0, NULL, 0, NULL).qualified;
}

static void test_priv(void)
{
    static const struct {
        const char *name;
        ETracePriv priv;
    } levels[] = {
        { "U", ETRACE_PRIV_U }, { "S", ETRACE_PRIV_S }, { "M", ETRACE_PRIV_M },
        { "VU", ETRACE_PRIV_VU }, { "VS", ETRACE_PRIV_VS },
    };
    ETraceFilter f;

    etrace_filter_init(&f);
    for (unsigned i = 0; i < ARRAY_SIZE(levels); i++) {
        g_autofree char *one = g_strdup_printf("priv=%s", levels[i].name);
        g_autofree char *two = g_strdup_printf("priv=M+%s", levels[i].name);

        program(&f, one);
        g_assert_true(etrace_filter_active(&f));
        for (unsigned priv = 0; priv < 8; priv++) {
            g_assert(qualified(&f, 0, 2, priv) == (priv == levels[i].priv));
        }
        program(&f, two);
        for (unsigned priv = 0; priv < 8; priv++) {
            g_assert(qualified(&f, 0, 2, priv) ==
                     (priv == levels[i].priv || priv == ETRACE_PRIV_M));
        }
    }
    program(&f, "");
    g_assert_false(etrace_filter_active(&f));
    g_assert_true(qualified(&f, 0, 2, ETRACE_PRIV_S));
}

static void test_pc(void)
{
    ETraceFilter f;

    etrace_filter_init(&f);
    program(&f, "pc=0x1000-0x1ffe;pc=0x4000-0x4000");
    g_assert_false(qualified(&f, 0xffe, 0xffe, 0));
    g_assert_true(qualified(&f, 0x1000, 0x1000, 0));
    g_assert_true(qualified(&f, 0x1ffe, 0x1ffe, 0));
    g_assert_false(qualified(&f, 0x2000, 0x3ffe, 0));
    g_assert_true(qualified(&f, 0x4000, 0x4000, 0));
    g_assert_false(qualified(&f, 0x4002, 0x4002, 0));
    /* "if any of the instructions in that block match" */
    g_assert_true(qualified(&f, 0xf00, 0x1000, 0));
    g_assert_true(qualified(&f, 0x1ffe, 0x2100, 0));
    g_assert_true(qualified(&f, 0x3f00, 0x4100, 0));
    program(&f, "pc=0-0xffffffffffffffff");
    g_assert_true(qualified(&f, 0, 0, 0));
    g_assert_true(qualified(&f, UINT64_MAX - 1, UINT64_MAX - 1, 0));
}

static void test_context(void)
{
    ETraceFilter f;

    etrace_filter_init(&f);
    program(&f, "context=5;context=0x8000000000000001");
    in_context(&f, 4);
    g_assert_false(qualified(&f, 0, 2, 0));
    in_context(&f, 5);
    g_assert_true(qualified(&f, 0, 2, 0));
    in_context(&f, 1);
    g_assert_false(qualified(&f, 0, 2, 0));
    in_context(&f, 0x8000000000000001);
    g_assert_true(qualified(&f, 0, 2, 0));
}

/* Every combination of three kinds: one of each is needed, of the same. */
static void test_kinds(void)
{
    static const uint64_t contexts[] = { 1, 2, 3 };
    ETraceFilter f;

    etrace_filter_init(&f);
    program(&f, "pc=0x100-0x10f;context=3;priv=U+S;pc=0x200-0x20f;context=1");
    for (unsigned i = 0; i < ARRAY_SIZE(contexts); i++) {
        in_context(&f, contexts[i]);
        for (unsigned priv = 0; priv < 4; priv++) {
            for (uint64_t pc = 0x100; pc <= 0x300; pc += 0x100) {
                bool want = contexts[i] != 2 && priv < 2 && pc != 0x300;

                g_assert(qualified(&f, pc, pc + 2, priv) == want);
            }
        }
    }
}

/* A trap counts as the instruction that it happened at. */
static void test_trap(void)
{
    ETraceBlock b = {
        .iaddr = 0x1000, .itype = ETRACE_ITYPE_EXCEPTION,
        .priv = ETRACE_PRIV_U,
    };
    ETraceFilter f;

    etrace_filter_init(&f);
    program(&f, "priv=U;pc=0x1000-0x1001");
    g_assert_true(etrace_filter_block(&f, &b, 0, NULL, 0, NULL).qualified);
    b.itype = ETRACE_ITYPE_INTERRUPT;
    g_assert_true(etrace_filter_block(&f, &b, 0, NULL, 0, NULL).qualified);
    b.iaddr = 0x1002;
    g_assert_false(etrace_filter_block(&f, &b, 0, NULL, 0, NULL).qualified);
    b.iaddr = 0x1000;
    b.priv = ETRACE_PRIV_S;
    g_assert_false(etrace_filter_block(&f, &b, 0, NULL, 0, NULL).qualified);
}

/* Data accesses are those of the instructions that are qualified. */
static void test_data(void)
{
    ETraceBlock b = { .iaddr = 0x1000, .iretire = 4 };
    ETraceAccess accesses[] = {
        { .daddr = 0x5000, .offset = 0 }, { .daddr = 0x6000, .offset = 2 },
        { .daddr = 0x7000, .offset = 3 },
    };
    bool data[ARRAY_SIZE(accesses)];
    ETraceFilter f;

    etrace_filter_init(&f);
    f.daddress_width = 64;
    program(&f, "pc=0x1004-0x1004");
    g_assert_false(etrace_filter_needs_data(&f));
    g_assert_true(etrace_filter_block(&f, &b, 0, accesses, 3, data).qualified);
    g_assert_false(data[0]);
    g_assert_true(data[1]);
    g_assert_false(data[2]);
    /* of an instruction that trapped in the middle of them */
    b.iaddr = 0x1004;
    b.itype = ETRACE_ITYPE_EXCEPTION;
    data[0] = false;
    g_assert_true(etrace_filter_block(&f, &b, 0, accesses, 1, data).qualified);
    g_assert_true(data[0]);
    b.iaddr = 0x1006;
    g_assert_false(etrace_filter_block(&f, &b, 0, accesses, 1, data).qualified);
    g_assert_false(data[0]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/etrace/filter-expr/text", test_text);
    g_test_add_func("/etrace/filter-expr/ranges", test_ranges);
    g_test_add_func("/etrace/filter-expr/problems", test_problems);
    g_test_add_func("/etrace/filter-expr/limit", test_limit);
    g_test_add_func("/etrace/filter-expr/fits", test_fits);
    g_test_add_func("/etrace/filter-expr/priv", test_priv);
    g_test_add_func("/etrace/filter-expr/pc", test_pc);
    g_test_add_func("/etrace/filter-expr/context", test_context);
    g_test_add_func("/etrace/filter-expr/kinds", test_kinds);
    g_test_add_func("/etrace/filter-expr/trap", test_trap);
    g_test_add_func("/etrace/filter-expr/data", test_data);
    return g_test_run();
}
