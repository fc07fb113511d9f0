/*
 * Profiles for compilers, and coverage: of a program of which each step is
 * known
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "tests/fixtures/check.h"
#include "tests/fixtures/count-build.h"
#include "tests/fixtures/guest-build.h"
#include "views/pgo/coverage.h"
#include "views/pgo/pgo.h"

static const char *const program =
    "    .globl _start\n"               /*  1 */
    "_start:\n"                         /*  2 */
    "    li a0, 3\n"                    /*  3: 10000 */
    "1:  addi a0, a0, -1\n"             /*  4: 10004 */
    "    bnez a0, 1b\n"                 /*  5: 10008 */
    "    jal leaf\n"                    /*  6: 1000c */
    "    nop\n"                         /*  7: 10010 */
    "    ecall\n"                       /*  8: 10014 */
    "    jr t0\n"                       /*  9: 10018 */
    "leaf:\n"                           /* 10 */
    "    ret\n"                         /* 11: 1001c */
    "    beqz a0, leaf\n"               /* 12: 10020, never */
    "    unimp\n";                      /* 13: 10024, never */

/* An ecall does not retire; what handles it is no known object's. */
static const uint64_t steps[] = {
    0x10000, 0x10004, 0x10008, 0x10004, 0x10008, 0x10004, 0x10008, 0x1000c,
    0x1001c, 0x10010, 0x80000000, 0x80000004, 0x10018, 0x80000000,
};

typedef struct Fixture {
    char *dir;
    char *elf;
    CountBuild *build;
    Counts *counts;
} Fixture;

static char *assemble(const char *dir, const char *name, const char *text,
                      const char *more)
{
    g_autofree char *source = g_strconcat(name, ".S", NULL);

    guest_write(dir, source, text);
    g_free(guest_run(dir, NULL, GUEST_TOOLS "gcc -g -march=rv64g -nostdlib "
                     "-static -Wl,-Ttext=0x10000 %s -o %s %s", more, name,
                     source));
    return g_build_filename(dir, name, NULL);
}

static void run(Fixture *f, unsigned times)
{
    for (unsigned n = 0; n < times; n++) {
        for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
            count_build_pc(f->build, steps[i]);
        }
    }
    f->counts = count_build_end(f->build);
}

static void set_up(Fixture *f, unsigned times)
{
    f->dir = guest_dir_new();
    f->elf = assemble(f->dir, "program", program, "-Wl,--build-id=none");
    f->build = count_build_new();
    count_build_elf(f->build, f->elf);
    run(f, times);
}

static void tear_down(Fixture *f)
{
    count_build_free(f->build);
    guest_dir_remove(f->dir);
    g_free(f->elf);
}

/* What is written to *@file, for g_free() */
static char *text_of(FILE *file)
{
    long size = ftell(file);
    char *text = g_malloc0(size + 1);

    rewind(file);
    check_cmpuint(fread(text, 1, size, file), ==, size);
    fclose(file);
    return text;
}

static char *pgo(Fixture *f, const PgoOptions *o, GError **errp)
{
    FILE *file = tmpfile();
    bool ok = pgo_write(f->counts, o, file, NULL, errp);
    char *text = text_of(file);

    if (!ok) {
        check_cmpstr(text, ==, "");
        g_clear_pointer(&text, g_free);
    }
    return text;
}

static void check_pgo(PgoFormat format, const char *expected)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *text = NULL;
    Fixture f;

    set_up(&f, 1);
    text = pgo(&f, &(PgoOptions) { .format = format }, &err);
    check_no_error(err);
    check_cmpstr(text, ==, expected);
    tear_down(&f);
}

static void test_llvm(void)
{
    check_pgo(PGO_LLVM,
              "6\n"
              "10000-10008:1\n"
              "10004-10008:2\n"
              "1000c-1000c:1\n"
              "10010-10010:1\n"
              "10018-10018:1\n"
              "1001c-1001c:1\n"
              "3\n"
              "10008->10004:2\n"
              "1000c->1001c:1\n"
              "1001c->10010:1\n");
}

static void test_bolt(void)
{
    check_pgo(PGO_BOLT,
              "B 10008 10004 2 0\n"
              "B 1000c 1001c 1 0\n"
              "B 10018 0 1 0\n"
              "B 1001c 10010 1 0\n"
              "F 10000 10008 1\n"
              "F 10004 1000c 1\n"       /* the branch is not taken */
              "F 10004 10008 1\n"
              "F 1000c 1000c 1\n"
              "f 10010 10010 1\n"       /* behind the call */
              "F 10018 10018 1\n"
              "F 1001c 1001c 1\n");
}

/* Counts of several places are added up. */
static void test_places(void)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *text = NULL;
    CountPlace place = { .hart = 1, .object = 1, .bias = 0x5000, .priv = 3 };
    CountRange r = {
        .itype = ETRACE_ITYPE_TAKEN_BRANCH, .insns = 2,
        .start = 0x10004, .last = 0x10008, .end = 0x1000c,
    };
    Fixture f;

    set_up(&f, 1);
    r.place = counts_place(f.counts, &place);
    counts_add_range(f.counts, &r, 1ull << 40);
    counts_sort(f.counts);
    text = pgo(&f, &(PgoOptions) { .format = PGO_LLVM }, &err);
    check_no_error(err);
    check_nonnull(strstr(text, "\n10004-10008:1099511627778\n"));
    tear_down(&f);
}

static void check_refused(Fixture *f, const PgoOptions *o, const char *why)
{
    g_autofree char *text = NULL;
    g_autoptr(GError) err = NULL;

    text = pgo(f, o, &err);
    if (text) {
        g_error("not refused: %s", why);
    }
    check_nonnull(err);
    if (!strstr(err->message, why)) {
        g_error("'%s' is not in '%s'", why, err->message);
    }
}

static void test_objects(void)
{
    g_autofree char *sub = NULL, *same = NULL, *idle = NULL;
    Fixture f;
    Object *o;

    set_up(&f, 1);
    sub = g_build_filename(f.dir, "sub", NULL);
    check_cmpint(g_mkdir(sub, 0700), ==, 0);
    check_refused(&f, &(PgoOptions) { .object = "nothing" },
                  "there is none of that name; what ran is");
    idle = assemble(f.dir, "idle", program, "-g");
    count_build_elf(f.build, idle);
    check_refused(&f, &(PgoOptions) { .object = "idle" },
                  "none of its code ran");

    same = assemble(sub, "program", program, "-g");
    o = count_build_elf(f.build, same);
    counts_add_range(f.counts, &(CountRange) {
        .place = f.build->place[o->id], .insns = 1,
        .itype = ETRACE_ITYPE_INTERRUPT,
        .start = 0x10000, .last = 0x10000, .end = 0x10004,
    }, 7);
    counts_sort(f.counts);
    check_refused(&f, &(PgoOptions) { .object = "program" }, "several");
    check_refused(&f, &(PgoOptions) { .object = NULL }, "several");
    check_true(pgo_find_object(f.counts, same, NULL) == o);
    check_true(pgo_find_object(f.counts, o->build_id, NULL) == o);
    check_true(pgo_find_object(f.counts, f.elf, NULL) ==
               object_get(f.build->objects, 1));
    tear_down(&f);
}

/* Another file than the one that ran */
static void test_wrong_file(void)
{
    g_autofree char *other = NULL, *text = NULL, *built = NULL;
    g_autofree char *plain = NULL;
    g_autoptr(GError) err = NULL;
    g_auto(GStrv) parts = g_strsplit(program, "addi a0, a0, -1", -1);
    Object *o;
    Fixture f;

    set_up(&f, 1);
    text = g_strjoinv("addi a0, a0, -2", parts);
    other = assemble(f.dir, "other", text, "-g");
    check_refused(&f, &(PgoOptions) { .elf = other },
                  "is not the code that ran: 7 of 11 instructions");

    /* Bytes are not known, but what they did is. */
    o = object_get(f.build->objects, 1);
    g_array_set_size(o->code, 0);
    g_free(text);
    text = pgo(&f, &(PgoOptions) { .elf = other }, &err);
    check_no_error(err);
    g_free(other);
    other = assemble(f.dir, "shifted", "    nop\n    nop\n    nop\n    nop\n"
                     "    .globl _start\n_start:\n    nop\n    nop\n"
                     "    nop\n    nop\n", "-g");
    check_refused(&f, &(PgoOptions) { .elf = other }, "not the code that ran");

    built = assemble(f.dir, "built", program,
                     "-Wl,--build-id=0xabcdef0123456789");
    o->build_id = g_strdup("1234");
    check_refused(&f, &(PgoOptions) { .elf = built },
                  "its build-id is abcdef0123456789");
    check_refused(&f, &(PgoOptions) { .elf = "/nowhere" }, "/nowhere");

    g_clear_pointer(&o->build_id, g_free);
    g_free(guest_run(f.dir, NULL, GUEST_TOOLS "objcopy -g program plain"));
    plain = g_build_filename(f.dir, "plain", NULL);
    check_refused(&f, &(PgoOptions) { .format = PGO_GCOV, .elf = plain },
                  "no function that ran has debug information");
    tear_down(&f);
}

static char *lcov(Fixture *f, const CoverageOptions *o, CoverageTotals *totals)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(Coverage) cv = coverage_new(o, &err);
    FILE *file = tmpfile();

    check_no_error(err);
    for (unsigned i = 1; i < object_table_size(f->build->objects); i++) {
        g_autofree char *note = NULL;

        coverage_add(cv, f->counts, object_get(f->build->objects, i), &note,
                     &err);
        check_no_error(err);
    }
    coverage_write_lcov(cv, file);
    coverage_totals(cv, totals);
    return text_of(file);
}

/* One line of assembly is one instruction. */
static void test_lcov(void)
{
    static const char *const lines =
        "DA:3,2\nDA:4,6\nDA:5,6\nDA:6,2\nDA:7,2\nDA:8,2\nDA:9,2\nDA:11,2\n"
        "DA:12,0\nDA:13,0\nLF:10\nLH:8\nend_of_record\n";
    g_autofree char *text = NULL;
    CoverageOptions o = { 0 };
    CoverageTotals t;
    Fixture f;

    set_up(&f, 2);
    text = lcov(&f, &o, &t);
    check_nonnull(strstr(text, "/program.S\n"));
    check_nonnull(strstr(text, lines));
    check_cmpuint(t.files, ==, 1);
    check_cmpuint(t.lines, ==, 10);
    check_cmpuint(t.lines_hit, ==, 8);
    check_true(coverage_percent(&t) == 80);
    tear_down(&f);
}

/* The same source in two objects: its lines are there once. */
static void test_two_objects(void)
{
    g_autofree char *text = NULL, *second = NULL;
    CoverageOptions o = { 0 };
    CoverageTotals t;
    Fixture f;
    Object *object;

    set_up(&f, 2);
    second = g_build_filename(f.dir, "second", NULL);
    g_free(guest_run(f.dir, NULL, GUEST_TOOLS "gcc -g -march=rv64g -nostdlib "
                     "-static -Wl,-Ttext=0x10000 -o second program.S"));
    object = count_build_elf(f.build, second);
    counts_add_range(f.counts, &(CountRange) {
        .place = f.build->place[object->id], .insns = 1,
        .itype = ETRACE_ITYPE_NONTAKEN_BRANCH,
        .start = 0x10020, .last = 0x10020, .end = 0x10024,
    }, 5);
    counts_sort(f.counts);
    text = lcov(&f, &o, &t);
    check_cmpuint(t.files, ==, 1);
    check_cmpuint(t.lines, ==, 10);
    check_cmpuint(t.lines_hit, ==, 9);
    check_nonnull(strstr(text, "\nDA:11,2\nDA:12,5\nDA:13,0\n"));
    tear_down(&f);
}

static void test_source_files(void)
{
    static char no_glob[] = "*.c", glob[] = "/new?*", no_pair[] = "nothing";
    char *none[] = { no_glob, NULL };
    char *all[] = { glob, NULL };
    char *wrong[] = { no_pair, NULL };
    g_autofree char *prefix = NULL, *text = NULL;
    char *prefixes[] = { NULL, NULL };
    CoverageTotals t;
    Fixture f;

    set_up(&f, 1);
    g_free(lcov(&f, &(CoverageOptions) { .include = none }, &t));
    check_cmpuint(t.files, ==, 0);
    check_true(coverage_percent(&t) == 100);
    prefixes[0] = prefix = g_strconcat(f.dir, "=/new", NULL);
    text = lcov(&f, &(CoverageOptions) {
        .prefixes = prefixes, .include = all,
    }, &t);
    check_cmpuint(t.files, ==, 1);
    check_nonnull(strstr(text, "SF:/new/program.S\n"));
    g_free(lcov(&f, &(CoverageOptions) {
        .prefixes = prefixes, .exclude = all,
    }, &t));
    check_cmpuint(t.files, ==, 0);
    check_null(coverage_new(&(CoverageOptions) { .prefixes = wrong }, NULL));
    tear_down(&f);
}

static char *drcov(Fixture *f, bool text, uint64_t *left_out)
{
    FILE *file = tmpfile();

    *left_out = coverage_write_drcov(f->counts, text, file);
    return text_of(file);
}

/* The lowest address that the program loads, by binutils */
static uint64_t first_address(Fixture *f)
{
    g_autofree char *headers = guest_run(f->dir, NULL, GUEST_TOOLS
                                         "readelf -lW program");
    const char *load = strstr(headers, "  LOAD ");
    unsigned long long offset, address;

    check_nonnull(load);
    check_cmpint(sscanf(load, " LOAD %llx %llx", &offset, &address), ==, 2);
    return address;
}

static void test_drcov(void)
{
    g_autofree char *text = NULL, *expected = NULL, *binary = NULL;
    g_autofree char *blocks = NULL;
    uint64_t left_out, base;
    const char *table;
    uint32_t first[2];
    Fixture f;

    set_up(&f, 1);
    base = first_address(&f);
    text = drcov(&f, true, &left_out);
    /* What is not the program's, after its ecall and its jump */
    check_cmpuint(left_out, ==, 3);
    expected = g_strdup_printf(
        "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov\n"
        "Module Table: version 2, count 1\n"
        "Columns: id, base, end, entry, path\n"
        "  0, 0x%016" PRIx64 ", 0x%016x, 0x%016x, %s\n"
        "BB Table: 6 bbs\nmodule id, start, size:\n", base, 0x11000, 0,
        f.elf);
    check_true(g_str_has_prefix(text, expected));
    blocks = g_strdup_printf("module[  0]: 0x%016" PRIx64 ",  12\n"
                             "module[  0]: 0x%016" PRIx64 ",   8\n"
                             "module[  0]: 0x%016" PRIx64 ",   4\n",
                             0x10000 - base, 0x10004 - base, 0x1000c - base);
    check_nonnull(strstr(text, blocks));
    binary = drcov(&f, false, &left_out);
    table = strstr(binary, "BB Table: 6 bbs\n");
    check_nonnull(table);
    memcpy(first, table + strlen("BB Table: 6 bbs\n"), sizeof(first));
    check_cmphex(GUINT32_FROM_LE(first[0]), ==, 0x10000 - base);
    check_cmphex(GUINT32_FROM_LE(first[1]), ==, 12);
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pgo/llvm", test_llvm);
    g_test_add_func("/pgo/bolt", test_bolt);
    g_test_add_func("/pgo/places", test_places);
    g_test_add_func("/pgo/objects", test_objects);
    g_test_add_func("/pgo/wrong-file", test_wrong_file);
    g_test_add_func("/coverage/lcov", test_lcov);
    g_test_add_func("/coverage/two-objects", test_two_objects);
    g_test_add_func("/coverage/source-files", test_source_files);
    g_test_add_func("/coverage/drcov", test_drcov);
    return g_test_run();
}
