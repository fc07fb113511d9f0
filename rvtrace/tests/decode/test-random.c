/*
 * Synthetic harts: what is decoded must be what was executed
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "tests/fixtures/check.h"
#include "tests/fixtures/synth.h"
#include "tests/fixtures/test-util.h"

/* Everything that can be traced at all must come back, in the right order. */
static void check_lossless(const SynthOptions *opts)
{
    Synth *s = synth_run(opts);
    g_autoptr(Trace) t = test_trace_open(s->trace, s->sideband);

    for (unsigned i = 0; i < opts->nr_harts; i++) {
        Recording *rec = test_record(t, i);

        test_assert_recording(s, i, rec);
        recording_free(rec);
    }
    synth_free(s);
}

static void test_tiny(void)
{
    /* A handful of instructions: every address is met again and again. */
    for (uint32_t seed = 0; seed < (g_test_slow() ? 20000 : 400); seed++) {
        check_lossless(&(SynthOptions) {
            .seed = seed,
            .xlen = seed & 1 ? 32 : 64,
            .nr_harts = 1,
            .insns = 4000,
            .code_bytes = 12 + seed % 60,
            .sync_mode = seed & 2 ? ETRACE_SYNC_PACKETS
                                  : ETRACE_SYNC_HALFWORDS,
            .sync_max = 3 + seed % 50,
            .trap_permille = seed % 40,
            .change_permille = seed & 4 ? 30 : 0,
            .window_permille = seed & 8 ? 20 : 0,
        });
    }
}

static void test_large(void)
{
    for (uint32_t seed = 0; seed < 10; seed++) {
        check_lossless(&(SynthOptions) {
            .seed = 1000 + seed,
            .xlen = seed & 1 ? 32 : 64,
            .nr_harts = 1 + seed % 3,
            .insns = 100000,
            .code_bytes = 16384,
            .sync_mode = ETRACE_SYNC_PACKETS,
            .sync_max = 256,
            .trap_permille = 5,
            .change_permille = 10,
        });
    }
}

static void test_full_address(void)
{
    for (uint32_t seed = 0; seed < 20; seed++) {
        check_lossless(&(SynthOptions) {
            .seed = 2000 + seed,
            .xlen = seed & 1 ? 32 : 64,
            .nr_harts = 1 + seed % 2,
            .insns = 4000,
            .code_bytes = 200,
            .ioptions = ETRACE_IOPT_FULL_ADDRESS,
            .trap_permille = 20,
        });
    }
}

/* Every mode, alone and with others */
static void test_modes(void)
{
    for (uint32_t seed = 0; seed < (g_test_slow() ? 20000 : 500); seed++) {
        check_lossless(&(SynthOptions) {
            .seed = 3000 + seed,
            .xlen = seed & 1 ? 32 : 64,
            .nr_harts = 1,
            .insns = 4000,
            .code_bytes = 30 + seed % 200,
            .modes = true,
            .sync_mode = seed % 3 == 0 ? ETRACE_SYNC_OFF :
                         seed % 3 == 1 ? ETRACE_SYNC_PACKETS
                                       : ETRACE_SYNC_HALFWORDS,
            .sync_max = 10 + seed % 500,
            .trap_permille = seed % 20,
            .change_permille = seed & 4 ? 10 : 0,
            .window_permille = seed & 8 ? 5 : 0,
        });
    }
    for (uint32_t seed = 0; seed < 10; seed++) {
        check_lossless(&(SynthOptions) {
            .seed = 4000 + seed,
            .xlen = seed & 1 ? 32 : 64,
            .nr_harts = 1 + seed % 3,
            .insns = 100000,
            .code_bytes = 16384,
            .modes = true,
            .sync_mode = ETRACE_SYNC_PACKETS,
            .sync_max = 4096,
            .trap_permille = 2,
            .change_permille = 2,
        });
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/random/tiny", test_tiny);
    g_test_add_func("/random/large", test_large);
    g_test_add_func("/random/full-address", test_full_address);
    g_test_add_func("/random/modes", test_modes);
    return g_test_run();
}
