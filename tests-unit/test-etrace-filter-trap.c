/*
 * E-Trace filters and comparators: trap handlers and data accesses, from the
 * words of the Trace Control Interface 1.0
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-test.h"
#include "etrace-filter-fixture.h"

/* "start matching from ... stop matching upon return from the 1st" */
static void test_ecause(void)
{
    Setup s;

    setup_init(&s);
    s.filter[0].match_ecause = true;
    s.filter[0].choice_ecause = 1ull << 13 | 1ull << 40;
    program_one(&s);
    g_assert_false(block(&s, 0x100, 0x110));
    g_assert_false(exception(&s, 12));
    g_assert_false(block(&s, 0x800, 0x810));
    g_assert_false(xret(&s));
    /* the exception, its handler, the return */
    g_assert_true(exception(&s, 13));
    g_assert_true(block(&s, 0x800, 0x810));
    /* nested: any trap counts */
    g_assert_true(interrupt(&s, 7));
    g_assert_true(exception(&s, 2));
    g_assert_true(xret(&s));
    g_assert_true(xret(&s));
    g_assert_true(block(&s, 0x812, 0x820));
    g_assert_true(xret(&s));
    g_assert_false(block(&s, 0x100, 0x110));
    /* trTeFilterMatchEcauseHigh: "N+32" */
    g_assert_true(exception(&s, 40));
    g_assert_true(xret(&s));
    g_assert_false(exception(&s, 8));
    g_assert_false(exception(&s, 64 + 13));
    /* exception causes: no interrupt of that number */
    g_assert_false(interrupt(&s, 13));
    /* A reset of the hart leaves all handlers. */
    g_assert_true(exception(&s, 13));
    event(&s, ETRACE_EVENT_RESET, 0);
    g_assert_false(block(&s, 0, 0x10));
}

/* "match itype of 2 or 1 depending on whether this bit is 1 or 0" */
static void test_interrupt(void)
{
    Setup s;

    setup_init(&s);
    s.filter[0].match_interrupt = true;
    program_one(&s);
    g_assert_false(interrupt(&s, 7));
    g_assert_false(xret(&s));
    g_assert_true(exception(&s, 7));
    g_assert_true(xret(&s));
    g_assert_false(block(&s, 0, 0x10));

    s.filter[0].value_interrupt = true;
    program_one(&s);
    g_assert_false(exception(&s, 7));
    g_assert_false(xret(&s));
    g_assert_true(interrupt(&s, 7));
    g_assert_true(block(&s, 0, 0x10));
    g_assert_true(xret(&s));
    g_assert_false(block(&s, 0, 0x10));

    /* with ecause: interrupts of these numbers */
    s.filter[0].match_ecause = true;
    s.filter[0].choice_ecause = 1 << 5;
    program_one(&s);
    g_assert_false(interrupt(&s, 7));
    g_assert_false(exception(&s, 5));
    g_assert_true(interrupt(&s, 5));
}

/* "the counter will saturate, ... the filtering will turn off prematurely" */
static void test_nesting_saturates(void)
{
    Setup s;

    setup_init(&s);
    s.f.nested_max = 3;
    s.filter[0].match_interrupt = true;
    program_one(&s);
    for (int i = 0; i < 5; i++) {
        g_assert_true(exception(&s, 2));
    }
    for (int i = 0; i < 3; i++) {
        g_assert_true(xret(&s));
    }
    g_assert_false(block(&s, 0x800, 0x810));
    g_assert_false(xret(&s));
}

/* Other conditions of such a filter hold for each instruction. */
static void test_ecause_and_privilege(void)
{
    Setup s;

    setup_init(&s);
    s.filter[0].match_interrupt = true;
    s.filter[0].match_privilege = true;
    s.filter[0].choice_privilege = 1 << ETRACE_PRIV_S;
    program_one(&s);
    /* from U mode: priv is that from before the trap */
    g_assert_false(exception(&s, 8));
    g_assert_true(block_as(&s, 0x800, 0x810, 0, ETRACE_PRIV_S));
    g_assert_false(block_as(&s, 0x900, 0x910, 0, ETRACE_PRIV_M));
    g_assert_true(block_as(&s, 0x812, 0x812, 3, ETRACE_PRIV_S));
    g_assert_false(block_as(&s, 0x800, 0x810, 0, ETRACE_PRIV_S));
}

/* "trap handlers ... with particular tval values" */
static void test_tval(void)
{
    const ETraceComparatorConfig tval = {
        .p_input = ETRACE_COMP_TVAL, .p_match = 0x1234,
    };
    Setup s;

    setup_init(&s);
    s.filter[0].match_ecause = true;
    s.filter[0].choice_ecause = 1 << 13;
    use_comparator(&s, tval);
    g_assert_false(trap(&s, ETRACE_ITYPE_EXCEPTION, 13, 0x1235));
    g_assert_false(block(&s, 0x800, 0x810));
    g_assert_false(xret(&s));
    g_assert_true(trap(&s, ETRACE_ITYPE_EXCEPTION, 13, 0x1234));
    g_assert_true(block(&s, 0x800, 0x810));
    g_assert_true(trap(&s, ETRACE_ITYPE_EXCEPTION, 2, 1));
    g_assert_true(xret(&s));
    g_assert_true(xret(&s));
    g_assert_false(block(&s, 0x100, 0x110));

    /* alone: at the exception only; an interrupt has none */
    s.filter[0].match_ecause = false;
    use_comparator(&s, tval);
    g_assert_false(block(&s, 0x100, 0x110));
    g_assert_true(trap(&s, ETRACE_ITYPE_EXCEPTION, 2, 0x1234));
    g_assert_false(block(&s, 0x800, 0x810));
    g_assert_false(trap(&s, ETRACE_ITYPE_INTERRUPT, 2, 0x1234));

    /* set by it, cleared by an address */
    use_comparator(&s, (ETraceComparatorConfig) {
        .p_input = ETRACE_COMP_TVAL, .p_match = 0x1234,
        .s_match = 0x810, .mode = ETRACE_COMP_MODE_LATCH,
    });
    g_assert_false(block(&s, 0x100, 0x110));
    g_assert_true(trap(&s, ETRACE_ITYPE_EXCEPTION, 2, 0x1234));
    g_assert_true(block(&s, 0x800, 0x810));
    g_assert_false(block(&s, 0x100, 0x110));
}

/* Traps are where they happened. */
static void test_trap_address(void)
{
    Setup s;

    setup_init(&s);
    use_comparator(&s, range(0x4f0, 0x510, ETRACE_COMP_MODE_AND));
    g_assert_true(exception(&s, 2));
    g_assert_true(interrupt(&s, 7));
    use_comparator(&s, range(0x502, 0x510, ETRACE_COMP_MODE_AND));
    g_assert_false(exception(&s, 2));
    g_assert_false(interrupt(&s, 7));
}

static ETraceAccess access_at(unsigned halfwords, uint64_t daddr,
                              unsigned dtype, unsigned dsize)
{
    return (ETraceAccess) {
        .type = ETRACE_SLOT_ACCESS, .daddr = daddr, .offset = halfwords,
        .dtype = dtype, .dsize = dsize,
    };
}

/*
 * Data trace: each access by the address of its instruction, which
 * "iaddr_lsbs and dblock are provided to support"
 */
static void test_data(void)
{
    const ETraceAccess accesses[] = {
        access_at(0, 0x1000, ETRACE_DTYPE_LOAD, 3),
        access_at(2, 0x2000, ETRACE_DTYPE_STORE, 3),
        access_at(2, 0x2008, ETRACE_DTYPE_STORE, 2),
        access_at(4, 0x3000, ETRACE_DTYPE_LOAD, 0),
    };
    ETraceBlock b = { .iaddr = 0x100, .iretire = 5 };
    ETraceFilterResult r;
    bool data[4];
    Setup s;

#define CHECK(q, d0, d1, d2, d3) do {                                   \
        r = etrace_filter_block(&s.f, &b, 0, accesses, 4, data);        \
        g_assert(r.qualified == q);                                     \
        g_assert(data[0] == d0 && data[1] == d1);                       \
        g_assert(data[2] == d2 && data[3] == d3);                       \
    } while (0)

    setup_init(&s);
    /* "If all bits are 0, all data accesses are traced." */
    program(&s, 0, 0);
    CHECK(true, true, true, true, true);

    s.filter[1].enable = true;
    program(&s, 0, 2);
    CHECK(true, true, true, true, true);
    s.filter[1].match_dtype = true;
    s.filter[1].choice_dtype = 1 << ETRACE_DTYPE_STORE;
    program(&s, 0, 2);
    CHECK(true, false, true, true, false);
    s.filter[1].match_dsize = true;
    s.filter[1].choice_dsize = 1 << 3;
    program(&s, 0, 2);
    CHECK(true, false, true, false, false);
    s.filter[1].match_dtype = false;
    program(&s, 0, 2);
    CHECK(true, true, true, false, false);
    s.filter[1].match_dsize = false;

    s.comp[4] = (ETraceComparatorConfig) {
        .p_input = ETRACE_COMP_DADDR, .p_function = ETRACE_COMP_GE,
        .p_match = 0x2000, .s_input = ETRACE_COMP_DADDR,
        .s_function = ETRACE_COMP_LT, .s_match = 0x2008,
        .mode = ETRACE_COMP_MODE_AND,
    };
    s.filter[1].match_comp[0] = true;
    s.filter[1].comp[0] = 4;
    program(&s, 0, 2);
    CHECK(true, false, true, false, false);
    s.comp[4].mode = ETRACE_COMP_MODE_NAND;
    program(&s, 0, 2);
    CHECK(true, true, false, true, true);

    /* the very instruction, not the block */
    s.comp[4] = (ETraceComparatorConfig) { .p_match = 0x104 };
    program(&s, 0, 2);
    CHECK(true, false, true, true, false);

    /* an instruction filter with data conditions: if an access matches */
    s.comp[4] = (ETraceComparatorConfig) {
        .p_input = ETRACE_COMP_DADDR, .p_match = 0x3000,
    };
    program(&s, 2, 0);
    g_assert_true(etrace_filter_needs_data(&s.f));
    CHECK(true, true, true, true, true);
    /* ... of the access that matches otherwise, too */
    s.filter[1].match_dtype = true;
    program(&s, 2, 0);
    CHECK(false, true, true, true, true);
    s.filter[1].choice_dtype = 1 << ETRACE_DTYPE_LOAD;
    program(&s, 2, 0);
    CHECK(true, true, true, true, true);
    /* and without accesses never */
    g_assert_false(block(&s, 0x100, 0x108));
    program(&s, 0, 2);
    g_assert_false(etrace_filter_needs_data(&s.f));

    /* latch: set by an access, cleared by a later one */
    memset(s.filter, 0, sizeof(s.filter));
    s.comp[4] = (ETraceComparatorConfig) {
        .p_input = ETRACE_COMP_DADDR, .p_match = 0x2000,
        .s_input = ETRACE_COMP_DADDR, .s_match = 0x2008,
        .mode = ETRACE_COMP_MODE_LATCH,
    };
    s.filter[1].enable = true;
    s.filter[1].match_comp[2] = true;
    s.filter[1].comp[2] = 4;
    program(&s, 2, 2);
    CHECK(true, false, true, true, false);
    g_assert_false(block(&s, 0x100, 0x108));
#undef CHECK
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/etrace/filter/ecause", test_ecause);
    g_test_add_func("/etrace/filter/interrupt", test_interrupt);
    g_test_add_func("/etrace/filter/nesting-saturates",
                    test_nesting_saturates);
    g_test_add_func("/etrace/filter/ecause-and-privilege",
                    test_ecause_and_privilege);
    g_test_add_func("/etrace/filter/tval", test_tval);
    g_test_add_func("/etrace/filter/trap-address", test_trap_address);
    g_test_add_func("/etrace/filter/data", test_data);
    return g_test_run();
}
