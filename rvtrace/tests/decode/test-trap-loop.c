/*
 * Exception loops: what is one, and what is a program that takes exceptions
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/loss-report.h"
#include "analysis/trap-loop.h"

static const FlowTrap fault = {
    .cause = 7, .priv = 3, .epc_known = true, .epc = 0x80000010, .tval = 0x8,
};

/* Take @trap so often, with so many instructions in between. */
static void take(TrapLoop *loop, FlowTrap trap, unsigned times,
                 unsigned between, uint64_t *insns)
{
    for (unsigned i = 0; i < times; i++) {
        trap_loop_put(loop, &trap, *insns);
        *insns += between;
    }
}

static void assert_said(const TrapLoop *loop, const char *pattern)
{
    g_autofree char *text = trap_loop_text(loop, 3);

    if (!pattern) {
        g_assert_null(text);
    } else {
        g_assert_nonnull(text);
        if (!g_pattern_match_simple(pattern, text)) {
            g_error("'%s' is not like '%s'", text, pattern);
        }
    }
}

static void test_loop(void)
{
    TrapLoop loop = { 0 };
    uint64_t insns = 42;

    assert_said(&loop, NULL);
    take(&loop, fault, 999, 1, &insns);
    assert_said(&loop, NULL);
    take(&loop, fault, 1, 1, &insns);
    assert_said(&loop, "hart 3 *since its instruction 42:* 1000 times*cause 7 "
                "(store access fault), at 0x80000010, tval 0x8;*");
    /* What comes behind it does not make it less. */
    insns += 100000;
    take(&loop, fault, 10, 1, &insns);
    assert_said(&loop, "*since its instruction 42:* 1000 times*");
}

/* The vector leads nowhere: nothing of the handler runs, epc is not known. */
static void test_no_handler(void)
{
    TrapLoop loop = { 0 };
    FlowTrap trap = { .cause = 1, .priv = 3, .tval = 0 };
    uint64_t insns = 7;

    take(&loop, fault, 1, 0, &insns);
    take(&loop, trap, 5000, 0, &insns);
    assert_said(&loop, "*instruction 7:* 5000 times*cause 1 *at the first "
                "instruction of its handler*");
}

/* Then no instruction has run, and all of the trace was understood. */
static void test_nothing_else(void)
{
    LossReport losses = { .packets = 5000, .syncs = 5000, .trap_loop = true };

    g_assert(!loss_report_is_all(&losses));
}

static void test_no_loop(void)
{
    TrapLoop loop = { 0 };
    FlowTrap ecall = fault, timer = fault, other = fault;
    uint64_t insns = 0;

    ecall.cause = 9;
    timer.interrupt = true;
    other.epc += 4;
    /* handlers that do something: misaligned accesses are made by firmware */
    take(&loop, fault, 5000, 200, &insns);
    /* what asks for exceptions; and interrupts */
    take(&loop, ecall, 5000, 3, &insns);
    take(&loop, timer, 5000, 3, &insns);
    /* several in turn */
    for (unsigned i = 0; i < 5000; i++) {
        take(&loop, i & 1 ? fault : other, 1, 3, &insns);
    }
    assert_said(&loop, NULL);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/trap-loop/loop", test_loop);
    g_test_add_func("/trap-loop/no-handler", test_no_handler);
    g_test_add_func("/trap-loop/nothing-else", test_nothing_else);
    g_test_add_func("/trap-loop/no-loop", test_no_loop);
    return g_test_run();
}
