/*
 * Write a synthetic trace, its sideband and its truth to files, for the tests
 * of the command line: synth-write SEED HARTS INSNS DIR [notes]
 *
 * The file "pcs" has those of hart 0, "privs" the ETracePriv of instructions: a
 * line for each hart, a digit for each instruction.
 * With notes, how many instructions each hart had retired at those goes to the
 * file "notes", a line for each.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/synth.h"

static void put(const char *dir, const char *name, const void *data,
                size_t len)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);
    g_autoptr(GError) err = NULL;

    g_file_set_contents(path, data, len, &err);
    check_no_error(err);
}

int main(int argc, char **argv)
{
    SynthOptions opts = {
        .xlen = 64,
        .code_bytes = 400,
        .sync_mode = ETRACE_SYNC_PACKETS,
        .sync_max = 64,
        .trap_permille = 5,
        .change_permille = 20,
    };
    g_autoptr(GString) pcs = g_string_new(NULL);
    g_autoptr(GString) notes = g_string_new(NULL);
    g_autoptr(GString) privs = g_string_new(NULL);
    GString *truth;
    Synth *s;

    check_cmpint(argc, >=, 5);
    opts.notes = argc > 5;
    opts.seed = g_ascii_strtoull(argv[1], NULL, 10);
    opts.nr_harts = g_ascii_strtoull(argv[2], NULL, 10);
    opts.insns = g_ascii_strtoull(argv[3], NULL, 10);
    s = synth_run(&opts);
    truth = synth_truth(s, 1000);
    put(argv[4], "trace", s->trace->data, s->trace->len);
    put(argv[4], "sideband", s->sideband->data, s->sideband->len);
    put(argv[4], "truth", truth->str, truth->len);
    for (guint i = 0; i < s->harts[0].pcs->len; i++) {
        g_string_append_printf(pcs, "%" PRIx64 "\n",
                               g_array_index(s->harts[0].pcs, uint64_t, i));
    }
    put(argv[4], "pcs", pcs->str, pcs->len);
    for (unsigned i = 0; i < opts.nr_harts; i++) {
        for (guint j = 0; j < s->harts[i].privs->len; j++) {
            g_string_append_printf(privs, "%u",
                                   g_array_index(s->harts[i].privs, uint8_t,
                                                 j));
        }
        g_string_append_c(privs, '\n');
        for (guint j = 0; j < s->harts[i].notes->len; j++) {
            g_string_append_printf(notes, "%u %" PRIu64 "\n", i,
                                   g_array_index(s->harts[i].notes, uint64_t,
                                                 j));
        }
    }
    put(argv[4], "privs", privs->str, privs->len);
    put(argv[4], "notes", notes->str, notes->len);
    g_string_free(truth, TRUE);
    synth_free(s);
    return 0;
}
