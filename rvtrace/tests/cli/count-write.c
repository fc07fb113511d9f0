/*
 * Write a profile or coverage of a list of instructions
 *
 *   count-write FORMAT OUT ELF... < PCS
 *
 * PCS are those of instructions that ran, in their order, hexadecimal, a line
 * each. FORMAT is llvm, bolt, gcov (of the first ELF file), lcov, drcov,
 * drcov-text, or stat: instructions, taken branches, lines of code of 64 bytes
 * that were touched, of the ELF files together.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/count-build.h"
#include "views/pgo/coverage.h"
#include "views/pgo/pgo.h"

#define CACHE_LINE_BITS 6

static void write_stat(const Counts *c, FILE *f)
{
    g_autoptr(GHashTable) lines = g_hash_table_new(NULL, NULL);
    uint64_t insns = 0, taken = 0;

    for (guint i = 0; i < c->ranges->len; i++) {
        const CountRange *r = &g_array_index(c->ranges, CountRange, i);

        if (count_place(c, r->place)->object == OBJECT_UNKNOWN) {
            continue;
        }
        insns += r->insns * r->count;
        taken += r->itype > ETRACE_ITYPE_NONTAKEN_BRANCH ? r->count : 0;
        for (uint64_t l = r->start >> CACHE_LINE_BITS;
             l <= (r->end - 1) >> CACHE_LINE_BITS; l++) {
            g_hash_table_add(lines, (gpointer)(uintptr_t)l);
        }
    }
    fprintf(f, "%" PRIu64 " %" PRIu64 " %u\n", insns, taken,
            g_hash_table_size(lines));
}

static void write_lcov(const Counts *c, FILE *f)
{
    CoverageOptions options = { 0 };
    g_autoptr(GError) err = NULL;
    g_autoptr(Coverage) cv = coverage_new(&options, &err);

    check_no_error(err);
    for (unsigned i = 1; i < object_table_size(c->objects); i++) {
        g_autofree char *note = NULL;

        coverage_add(cv, c, object_get(c->objects, i), &note, &err);
        check_no_error(err);
        if (note) {
            fprintf(stderr, "note: %s\n", note);
        }
    }
    coverage_write_lcov(cv, f);
}

static int write_format(const char *format, const Counts *c, const char *elf,
                        FILE *f)
{
    g_autoptr(GError) err = NULL;
    PgoOptions o = { .object = elf };

    if (g_str_equal(format, "stat")) {
        write_stat(c, f);
    } else if (g_str_equal(format, "lcov")) {
        write_lcov(c, f);
    } else if (g_str_has_prefix(format, "drcov")) {
        coverage_write_drcov(c, g_str_equal(format, "drcov-text"), f);
    } else if (!pgo_parse_format(format, &o.format) ||
               !pgo_write(c, &o, f, NULL, &err)) {
        fprintf(stderr, "%s\n", err ? err->message : "what format is this?");
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    g_autoptr(CountBuild) b = count_build_new();
    char line[64];
    int status;
    FILE *f;

    check_cmpint(argc, >=, 4);
    for (int i = 3; i < argc; i++) {
        count_build_elf(b, argv[i]);
    }
    while (fgets(line, sizeof(line), stdin)) {
        count_build_pc(b, g_ascii_strtoull(line, NULL, 16));
    }
    f = fopen(argv[2], "we");
    check_nonnull(f);
    status = write_format(argv[1], count_build_end(b), argv[3], f);
    check_cmpint(fclose(f), ==, 0);
    return status;
}
