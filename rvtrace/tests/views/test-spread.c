/*
 * Questions: how values are spread, and numbers of system calls
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <math.h>
#include "tests/fixtures/check.h"
#include "tests/fixtures/flow-fixture.h"
#include "tests/fixtures/latency-fixture.h"
#include "views/questions/rounds.h"
#include "views/questions/spread.h"
#include "views/questions/syscalls.h"

static gint compare_numbers(gconstpointer a, gconstpointer b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Percentiles of numbers of all sizes are those of the sorted list. */
static void test_spread(void)
{
    static const double shares[] = { 0, 0.01, 0.5, 0.9, 0.99, 1 };
    g_autoptr(GArray) all = g_array_new(false, false, sizeof(uint64_t));
    Spread s, part;
    uint64_t octaves = 0;

    spread_init(&s);
    spread_init(&part);
    check_cmpuint(spread_percentile(&s, 0.5), ==, 0);
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t value = ((uint64_t)g_test_rand_int() << 32 |
                          (uint32_t)g_test_rand_int()) >>
                         g_test_rand_int_range(0, 64);

        value = i == 7 ? UINT64_MAX : i == 8 ? 0 : value;
        g_array_append_val(all, value);
        spread_add(i % 3 ? &s : &part, value);
    }
    spread_merge(&s, &part);
    g_array_sort(all, compare_numbers);
    check_cmpuint(s.count, ==, all->len);
    check_cmpuint(s.least, ==, 0);
    check_cmpuint(s.most, ==, UINT64_MAX);
    for (unsigned i = 0; i < G_N_ELEMENTS(shares); i++) {
        unsigned rank = MAX(ceil(shares[i] * all->len), 1);
        uint64_t want = g_array_index(all, uint64_t, rank - 1);
        uint64_t got = spread_percentile(&s, shares[i]);

        check_cmpuint(got, >=, want);
        check_cmpuint(got - want, <=, want < 64 ? 0 : want / 32);
    }
    for (unsigned bit = 0; bit <= 64; bit++) {
        octaves += spread_octave(&s, bit ? UINT64_C(1) << (bit - 1) : 0);
    }
    check_cmpuint(octaves, ==, all->len);
    check_cmpuint(spread_octave(&s, UINT64_C(1) << 63), >=, 1);
    spread_clear(&s);
    spread_clear(&part);
}

/* The number is what a7 is given right before. */
static void test_syscall_number(void)
{
    FlowFixture f;
    FlowTrap trap = { .cause = 8, .epc_known = true, .priv = ETRACE_PRIV_M };

    set_up(&f, 64,
           0x04000893,          /* 0: li a7, 64 */
           NOP, ECALL,          /* 4, 8 */
           0x4895,              /* 12: c.li a7, 5 */
           C_NOP, ECALL,        /* 14, 16 */
           0x00028893,          /* 20: mv a7, t0 */
           ECALL,               /* 24 */
           0x8896,              /* 28: c.mv a7, t0 */
           C_NOP, ECALL,        /* 30, 32 */
           0xfff00893,          /* 36: li a7, -1 */
           ECALL, 0);           /* 40 */
    trap.epc = BASE + 8;
    check_cmpuint(syscall_number(f.image, &trap), ==, 64);
    trap.epc = BASE + 16;
    check_cmpuint(syscall_number(f.image, &trap), ==, 5);
    for (unsigned at = 24; at <= 40; at += 8) {
        trap.epc = BASE + at;
        check_cmpuint(syscall_number(f.image, &trap), ==, SYSCALL_UNKNOWN);
    }
    trap.epc = BASE;
    check_cmpuint(syscall_number(f.image, &trap), ==, SYSCALL_UNKNOWN);
    check_cmpuint(syscall_number(NULL, &trap), ==, SYSCALL_UNKNOWN);
    tear_down(&f);
    check_cmpstr(syscall_name("__riscv_sys_openat"), ==, "openat");
    check_cmpstr(syscall_name("sys_read"), ==, "read");
    check_null(syscall_name("do_sys_open"));
    check_cmpstr(syscall_number_name(0), ==, "io_setup");
    check_cmpstr(syscall_number_name(63), ==, "read");
    check_cmpstr(syscall_number_name(435), ==, "clone3");
    check_null(syscall_number_name(244));
    check_null(syscall_number_name(100000));
    check_null(syscall_number_name(SYSCALL_UNKNOWN));
}

/* As one would find it who looks at all periods */
static Rounds find_slowly(const uint64_t *values, unsigned n)
{
    Rounds best = { 0 };

    for (unsigned p = 1; p <= n / 3; p++) {
        unsigned length = p;

        while (length < n &&
               values[n - 1 - length] == values[n - 1 - length + p]) {
            length++;
        }
        if (length >= 3 * p && length > best.length) {
            best = (Rounds) { p, length };
        }
    }
    return best;
}

static void test_rounds(void)
{
    uint64_t values[200];

    for (unsigned round = 0; round < 2000; round++) {
        unsigned n = g_test_rand_int_range(0, G_N_ELEMENTS(values) + 1);
        unsigned period = g_test_rand_int_range(1, 60);
        unsigned random = g_test_rand_int_range(0, n + 1);
        unsigned kinds = g_test_rand_int_range(1, 4);
        Rounds got, want;

        for (unsigned i = 0; i < n; i++) {
            values[i] = i < random || i < period ?
                        (uint32_t)g_test_rand_int() % kinds :
                        values[i - period];
        }
        got = rounds_find(values, n);
        want = find_slowly(values, n);
        check_cmpuint(got.length, ==, want.length);
        check_cmpuint(got.period, ==, want.period);
    }
}

/* A call whose number is not known is one of its function's other calls. */
static void test_latency_number(void)
{
    static const MomentMark mark = { .kind = MOMENT_TRAP, .number = 8 };
    g_autofree char *text = NULL;
    LatencyFixture f;
    FlowFixture code;
    unsigned sys_read;

    latency_set_up(&f, LATENCY_SUMMARY);
    sys_read = latency_node(&f, f.ecall, FRAME_SUPERVISOR, "sys_read");
    set_up(&code, 64, 0x03f00893 /* li a7, 63 */, ECALL, 0);
    for (unsigned i = 0; i < 5; i++) {
        CallStackMoment m = {
            .node = i % 2 ? sys_read : f.user, .place = 10 * i, .time = 10 * i,
            .task = f.task, .begins = i % 2,
        };

        if (i % 2) {
            latency_trap(f.hart, m.place, &(FlowTrap) {
                .cause = 8, .epc_known = true, .priv = ETRACE_PRIV_M,
                .epc = BASE + 4,
            }, &(CallStackSite) { .image = i == 1 ? code.image : NULL });
            latency_mark(f.hart, &m, &mark);
        }
        latency_moment(f.hart, &m);
    }
    text = latency_answer(&f, 99, 2);
    check_nonnull(strstr(text, "\nsyscall\tread\t63\t2\t10\t"));
    check_null(strstr(text, "\t-\t"));
    tear_down(&code);
    latency_tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/spread/percentiles", test_spread);
    g_test_add_func("/spread/rounds", test_rounds);
    g_test_add_func("/spread/syscall-number", test_syscall_number);
    g_test_add_func("/spread/latency-number", test_latency_number);
    return g_test_run();
}
