/*
 * E-Trace filters and comparators, from the words of the Trace Control
 * Interface 1.0, section "Trace Encoder Filter Registers"
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-test.h"
#include "etrace-filter-fixture.h"

/* "If all bits are 0, all instructions are traced." */
static void test_all_zero(void)
{
    Setup s;

    setup_init(&s);
    program(&s, 0, 0);
    g_assert_false(etrace_filter_active(&s.f));
    g_assert_true(block(&s, 0, 0x100));
    /* ... whatever the filters say */
    s.filter[0].enable = true;
    s.filter[0].match_privilege = true;
    program(&s, 0, 0);
    g_assert_true(block(&s, 0, 0x100));
}

/* trTeFilterEnable: "Overall filter enable" */
static void test_enable(void)
{
    Setup s;

    setup_init(&s);
    program(&s, 1, 0);
    g_assert_true(etrace_filter_active(&s.f));
    g_assert_false(block(&s, 0, 0x100));
    s.filter[0].enable = true;
    program(&s, 1, 0);
    g_assert_true(block(&s, 0, 0x100));
    /* the bit of another filter */
    program(&s, 2, 0);
    g_assert_false(block(&s, 0, 0x100));
}

/* "if bit N is 1, then match if the priv value at ingress port is N" */
static void test_privilege(void)
{
    Setup s;

    setup_init(&s);
    s.filter[0].match_privilege = true;
    for (unsigned choice = 0; choice < 256; choice++) {
        s.filter[0].choice_privilege = choice;
        program_one(&s);
        for (unsigned priv = 0; priv < 8; priv++) {
            g_assert(block_as(&s, 0, 2, 0, priv) == ((choice >> priv) & 1));
        }
    }
    /* The choice is of no interest if the bit is not set. */
    s.filter[0].match_privilege = false;
    s.filter[0].choice_privilege = 0;
    program_one(&s);
    g_assert_true(block(&s, 0, 2));
}

/* "several filters are enabled they act as logical OR" */
static void test_filters_or(void)
{
    Setup s;

    setup_init(&s);
    for (unsigned i = 0; i < 16; i += 15) {
        s.filter[i].enable = true;
        s.filter[i].match_privilege = true;
        s.filter[i].choice_privilege = i ? 1 << 3 : 1 << 1;
    }
    program(&s, 0x8001, 0);
    g_assert_true(block_as(&s, 0, 2, 0, 1));
    g_assert_true(block_as(&s, 0, 2, 0, 3));
    g_assert_false(block_as(&s, 0, 2, 0, 0));
    program(&s, 0x8000, 0);
    g_assert_false(block_as(&s, 0, 2, 0, 1));
    g_assert_true(block_as(&s, 0, 2, 0, 3));
}

/*
 * "Several conditions for single filter act as logical AND", of the same
 * instruction
 */
static void test_conditions_and(void)
{
    Setup s;

    setup_init(&s);
    s.comp[2] = (ETraceComparatorConfig) {
        .p_function = ETRACE_COMP_EQ, .p_match = 0x104,
    };
    s.comp[5] = (ETraceComparatorConfig) {
        .p_function = ETRACE_COMP_NE, .p_match = 0x104,
    };
    s.filter[0].match_comp[0] = s.filter[0].match_comp[2] = true;
    s.filter[0].comp[0] = 2;
    s.filter[0].comp[2] = 5;
    program_one(&s);
    g_assert_false(block(&s, 0x100, 0x110));
    s.comp[5].p_match = 0x106;
    program_one(&s);
    g_assert_true(block(&s, 0x100, 0x110));
    s.filter[0].match_privilege = true;
    s.filter[0].choice_privilege = 1 << ETRACE_PRIV_M;
    program_one(&s);
    g_assert_false(block(&s, 0x100, 0x110));
    g_assert_true(block_as(&s, 0x100, 0x110, 0, ETRACE_PRIV_M));
    /* all three comparators */
    s.comp[7].p_function = ETRACE_COMP_PRIME;
    s.filter[0].match_comp[1] = true;
    s.filter[0].comp[1] = 7;
    program_one(&s);
    g_assert_false(block_as(&s, 0x100, 0x110, 0, ETRACE_PRIV_M));
}

/* Functions against a block of instructions at 0x100, 0x102, 0x104 */
static void test_functions(void)
{
    static const struct {
        unsigned function;
        uint64_t match;
        bool qualified;
    } cases[] = {
        { ETRACE_COMP_EQ, 0xfe, false }, { ETRACE_COMP_EQ, 0x100, true },
        { ETRACE_COMP_EQ, 0x102, true }, { ETRACE_COMP_EQ, 0x104, true },
        { ETRACE_COMP_EQ, 0x106, false }, { ETRACE_COMP_EQ, 0x103, false },
        { ETRACE_COMP_NE, 0x100, true }, { ETRACE_COMP_NE, 0x106, true },
        { ETRACE_COMP_LT, 0x100, false }, { ETRACE_COMP_LT, 0x101, true },
        { ETRACE_COMP_LT, 0x102, true }, { ETRACE_COMP_LT, 0, false },
        { ETRACE_COMP_LE, 0xfe, false }, { ETRACE_COMP_LE, 0xff, false },
        { ETRACE_COMP_LE, 0x100, true },
        { ETRACE_COMP_GT, 0x104, false }, { ETRACE_COMP_GT, 0x103, true },
        { ETRACE_COMP_GT, 0x102, true },
        { ETRACE_COMP_GE, 0x106, false }, { ETRACE_COMP_GE, 0x105, false },
        { ETRACE_COMP_GE, 0x104, true },
        /* unsigned */
        { ETRACE_COMP_LT, UINT64_MAX, true },
        { ETRACE_COMP_GE, 1ull << 63, false },
        /* "Result always false", "Result always true" */
        { ETRACE_COMP_PRIME, 0x102, false }, { ETRACE_COMP_TRUE, 0, true },
    };
    Setup s;

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        setup_init(&s);
        use_comparator(&s, (ETraceComparatorConfig) {
            .p_function = cases[i].function, .p_match = cases[i].match,
        });
        g_assert(block(&s, 0x100, 0x104) == cases[i].qualified);
    }
    /* ne: an instruction that is another */
    setup_init(&s);
    use_comparator(&s, (ETraceComparatorConfig) {
        .p_function = ETRACE_COMP_NE, .p_match = 0x100,
    });
    g_assert_false(block(&s, 0x100, 0x100));
    g_assert_true(block(&s, 0x102, 0x102));
}

/* Modes 0 to 2 with a range */
static void test_modes(void)
{
    static const struct {
        uint64_t first, last;
        bool p, and, nand;
    } cases[] = {
        { 0x100, 0x1fe, false, false, true },
        { 0x1f0, 0x200, true, true, true },
        { 0x200, 0x200, true, true, false },
        { 0x200, 0x2fe, true, true, false },
        { 0x210, 0x220, true, true, false },
        { 0x2fe, 0x300, true, true, true },
        { 0x300, 0x310, true, false, true },
        { 0x100, 0x400, true, true, true },
    };
    Setup s;

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        setup_init(&s);
        use_comparator(&s, range(0x200, 0x2fe, ETRACE_COMP_MODE_P));
        g_assert(block(&s, cases[i].first, cases[i].last) == cases[i].p);
        use_comparator(&s, range(0x200, 0x2fe, ETRACE_COMP_MODE_AND));
        g_assert(block(&s, cases[i].first, cases[i].last) == cases[i].and);
        use_comparator(&s, range(0x200, 0x2fe, ETRACE_COMP_MODE_NAND));
        g_assert(block(&s, cases[i].first, cases[i].last) == cases[i].nand);
    }
    /* An empty range holds no instruction, on whatever sides a block is. */
    use_comparator(&s, range(0x200, 0x1f0, ETRACE_COMP_MODE_AND));
    g_assert_false(block(&s, 0x100, 0x400));
}

/* "Use trTeCompSMatch as a mask for trTeCompPMatch" */
static void test_mask(void)
{
    Setup s;

    setup_init(&s);
    use_comparator(&s, (ETraceComparatorConfig) {
        .p_match = 0xff120, .s_function = ETRACE_COMP_MASK, .s_match = 0xff0,
    });
    g_assert_true(block(&s, 0x120, 0x120));
    g_assert_true(block(&s, 0x77712e, 0x77712e));
    g_assert_false(block(&s, 0x130, 0x21e));
    /* anywhere in a block */
    g_assert_true(block(&s, 0x10100, 0x10200));
    g_assert_true(block(&s, 0x10100, 0x10120));
    g_assert_false(block(&s, 0x10100, 0x1011e));
    /* "Result always true": P && S is P, !(P && S) is !P */
    s.comp[0].mode = ETRACE_COMP_MODE_AND;
    program_one(&s);
    g_assert_true(block(&s, 0x120, 0x120));
    s.comp[0].mode = ETRACE_COMP_MODE_NAND;
    program_one(&s);
    g_assert_false(block(&s, 0x120, 0x12e));
    g_assert_true(block(&s, 0x120, 0x130));
}

/* "Only bits from an input signal should be compared" */
static void test_widths(void)
{
    Setup s;

    setup_init(&s);
    s.f.iaddress_width = 32;
    use_comparator(&s, (ETraceComparatorConfig) {
        .p_match = 0xabcdef0180000000,
    });
    g_assert_true(block(&s, 0x80000000, 0x80000000));
    g_assert_false(block(&s, 0, 0));

    setup_init(&s);
    s.f.context_width = 8;
    use_comparator(&s, (ETraceComparatorConfig) {
        .p_input = ETRACE_COMP_CONTEXT, .p_match = 0x1ff05,
    });
    event(&s, ETRACE_EVENT_CONTEXT, 0x305);
    g_assert_true(block(&s, 0, 0));
    /* no context at all: never */
    s.f.context_width = 0;
    g_assert_false(block(&s, 0, 0));
}

/* Context: from its event on */
static void test_context(void)
{
    Setup s;

    setup_init(&s);
    use_comparator(&s, (ETraceComparatorConfig) {
        .p_input = ETRACE_COMP_CONTEXT, .p_match = 7,
        .p_function = ETRACE_COMP_EQ,
    });
    g_assert_false(block(&s, 0, 0x10));
    event(&s, ETRACE_EVENT_CONTEXT, 7);
    g_assert_true(block(&s, 0, 0x10));
    g_assert_true(exception(&s, 3));
    event(&s, ETRACE_EVENT_CONTEXT, 8);
    g_assert_false(block(&s, 0, 0x10));
    g_assert_false(exception(&s, 3));
}

/* "(impdef & mask) == (value & mask)" */
static void test_impdef(void)
{
    Setup s;

    setup_init(&s);
    s.filter[0].match_impdef = true;
    s.filter[0].value_impdef = 0xf5;
    s.filter[0].mask_impdef = 0x0f;
    program_one(&s);
    g_assert_false(block(&s, 0, 0));
    event(&s, ETRACE_EVENT_IMPDEF, 0xa5);
    g_assert_true(block(&s, 0, 0));
    event(&s, ETRACE_EVENT_IMPDEF, 0xf4);
    g_assert_false(block(&s, 0, 0));
}

/*
 * "Set when primary result is true and continue to assert until instruction
 * after secondary result is true"
 */
static void test_latch(void)
{
    Setup s;

    setup_init(&s);
    use_comparator(&s, (ETraceComparatorConfig) {
        .p_match = 0x200, .s_match = 0x300, .mode = ETRACE_COMP_MODE_LATCH,
    });
    g_assert_false(block(&s, 0x100, 0x110));
    g_assert_false(block(&s, 0x300, 0x300));
    g_assert_true(block(&s, 0x1fe, 0x202));
    g_assert_true(block(&s, 0x800, 0x810));
    g_assert_true(exception(&s, 2));
    g_assert_true(block(&s, 0x300, 0x300));
    g_assert_false(block(&s, 0x302, 0x310));
    /* all in one block */
    g_assert_true(block(&s, 0x200, 0x300));
    g_assert_false(block(&s, 0x400, 0x410));
    /* the other way round in one block: off, then on again */
    g_assert_true(block(&s, 0x200, 0x210));
    s.comp[0].p_match = 0x310;
    use_comparator(&s, s.comp[0]);
    g_assert_true(block(&s, 0x310, 0x310));
    g_assert_true(block(&s, 0x300, 0x310));
    g_assert_true(block(&s, 0x400, 0x410));
    /* both at the same instruction: this one only */
    s.comp[0].p_match = 0x300;
    use_comparator(&s, s.comp[0]);
    g_assert_false(block(&s, 0x400, 0x400));
    g_assert_true(block(&s, 0x300, 0x300));
    g_assert_false(block(&s, 0x302, 0x302));
}

/* A trap is not the instruction at its address. */
static void test_latch_trap(void)
{
    Setup s;

    setup_init(&s);
    use_comparator(&s, (ETraceComparatorConfig) {
        .p_match = 0x500, .s_match = 0x600, .mode = ETRACE_COMP_MODE_LATCH,
    });
    g_assert_false(exception(&s, 13));
    g_assert_false(block(&s, 0x800, 0x810));
    use_comparator(&s, (ETraceComparatorConfig) {
        .p_match = 0x200, .s_match = 0x500, .mode = ETRACE_COMP_MODE_LATCH,
    });
    g_assert_true(block(&s, 0x200, 0x200));
    g_assert_true(exception(&s, 13));
    g_assert_true(block(&s, 0x800, 0x810));
    g_assert_true(block(&s, 0x500, 0x500));
    g_assert_false(block(&s, 0x502, 0x502));
}

/* 6: "Prime latch to 1 if trTeCompMatchMode is 3" */
static void test_prime(void)
{
    Setup s;

    setup_init(&s);
    use_comparator(&s, (ETraceComparatorConfig) {
        .p_function = ETRACE_COMP_PRIME, .s_match = 0x300,
        .mode = ETRACE_COMP_MODE_LATCH,
    });
    g_assert_true(block(&s, 0x100, 0x100));
    /* What is written anew without a change goes on. */
    program_one(&s);
    g_assert_true(block(&s, 0x2f0, 0x310));
    program_one(&s);
    g_assert_false(block(&s, 0x312, 0x320));
    g_assert_false(block(&s, 0x100, 0x100));
    etrace_filter_reset(&s.f);
    g_assert_true(block(&s, 0x100, 0x100));
    /* In the other modes it is just false. */
    for (unsigned mode = 0; mode < 2; mode++) {
        use_comparator(&s, (ETraceComparatorConfig) {
            .p_function = ETRACE_COMP_PRIME, .s_function = ETRACE_COMP_TRUE,
            .mode = mode,
        });
        g_assert_false(block(&s, 0x100, 0x300));
    }
}

static bool notify(Setup *s, uint64_t first, uint64_t last)
{
    ETraceBlock b = { .iaddr = first, .iretire = (last - first) / 2 + 1 };

    return etrace_filter_block(&s->f, &b, 0, NULL, 0, NULL).notify;
}

/* "Generate a trace packet explicitly reporting the address" */
static void test_notify(void)
{
    Setup s;

    setup_init(&s);
    s.comp[3] = (ETraceComparatorConfig) {
        .p_match = 0x200, .s_match = 0x300, .p_notify = true,
    };
    program(&s, 0, 0);
    g_assert_true(etrace_filter_active(&s.f));
    g_assert_true(notify(&s, 0x200, 0x200));
    g_assert_true(notify(&s, 0x1f0, 0x210));
    g_assert_false(notify(&s, 0x202, 0x210));
    g_assert_false(notify(&s, 0x300, 0x300));
    g_assert_true(block(&s, 0x400, 0x410));
    s.comp[3].s_notify = true;
    program(&s, 0, 0);
    g_assert_true(notify(&s, 0x200, 0x200));
    g_assert_true(notify(&s, 0x300, 0x300));
    s.comp[3].p_notify = false;
    program(&s, 0, 0);
    g_assert_false(notify(&s, 0x200, 0x200));
    g_assert_true(notify(&s, 0x300, 0x300));
    /* "Requires trTeCompSInput to be 0, and has no effect otherwise." */
    s.comp[3].s_input = ETRACE_COMP_CONTEXT;
    s.comp[3].s_match = 0;
    program(&s, 0, 0);
    g_assert_false(etrace_filter_active(&s.f));
    g_assert_false(notify(&s, 0x300, 0x300));
    s.comp[3].p_notify = true;
    s.comp[3].p_input = ETRACE_COMP_TVAL;
    program(&s, 0, 0);
    g_assert_false(etrace_filter_active(&s.f));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/etrace/filter/all-zero", test_all_zero);
    g_test_add_func("/etrace/filter/enable", test_enable);
    g_test_add_func("/etrace/filter/privilege", test_privilege);
    g_test_add_func("/etrace/filter/filters-or", test_filters_or);
    g_test_add_func("/etrace/filter/conditions-and", test_conditions_and);
    g_test_add_func("/etrace/filter/functions", test_functions);
    g_test_add_func("/etrace/filter/modes", test_modes);
    g_test_add_func("/etrace/filter/mask", test_mask);
    g_test_add_func("/etrace/filter/widths", test_widths);
    g_test_add_func("/etrace/filter/context", test_context);
    g_test_add_func("/etrace/filter/impdef", test_impdef);
    g_test_add_func("/etrace/filter/latch", test_latch);
    g_test_add_func("/etrace/filter/latch-trap", test_latch_trap);
    g_test_add_func("/etrace/filter/prime", test_prime);
    g_test_add_func("/etrace/filter/notify", test_notify);
    return g_test_run();
}
