/*
 * Annotated code, and reports by source line
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/debug-program.h"
#include "tests/fixtures/guest-build.h"
#include "names/object-elf.h"
#include "views/report/annotate.h"
#include "views/report/report.h"

/* main runs into leaf, and "other" is never run. */
static const char *const program_s =
    "    .option norvc\n"
    "    .text\n"
    "    .globl main\n"
    "    .type main, @function\n"
    "main:\n"
    "    li a0, 3\n"            /* 10000 */
    "1:  addi a0, a0, -1\n"     /* 10004 */
    "    bnez a0, 1b\n"         /* 10008 */
    "    jal leaf\n"            /* 1000c */
    "    jalr a1\n"             /* 10010 */
    "    .option rvc\n"
    "    c.nop\n"               /* 10014 */
    "    .option norvc\n"
    "    .size main, . - main\n"
    "    .type leaf, @function\n"
    "leaf:\n"
    "    nop\n"                 /* 10016 */
    "    ret\n"                 /* 1001a */
    "    .size leaf, . - leaf\n"
    "    .type other, @function\n"
    "other:\n"
    "    ret\n"                 /* 1001e */
    "    .size other, . - other\n";

#define MAIN    0x10000
#define LEAF    0x10016

typedef struct Fixture {
    char *dir, *path;
    ObjectTable *objects;
    Object *object;
    TaskTable *tasks;
    Counts *counts;
    unsigned place, other_place;
} Fixture;

static void open_object(Fixture *f)
{
    g_autoptr(GError) err = NULL;

    f->objects = object_table_new();
    f->object = object_elf_load(f->objects, "/bin/program", f->path, &err);
    check_no_error(err);
    object_elf_symbols(f->objects, f->object);
    f->tasks = task_table_new();
    f->counts = counts_new(f->objects, f->tasks);
    f->place = counts_place(f->counts, &(CountPlace) {
        .object = f->object->id,
    });
    f->other_place = counts_place(f->counts, &(CountPlace) {
        .object = f->object->id,
        .task = task_intern(f->tasks, TASK_KNOWN, 5, 5, "sh")->id,
        .hart = 1,
    });
}

static void set_up(Fixture *f)
{
    g_autofree char *out = NULL;

    *f = (Fixture) { .dir = guest_dir_new() };
    guest_write(f->dir, "program.S", program_s);
    out = guest_run(f->dir, NULL, GUEST_TOOLS "gcc -nostdlib -static -no-pie "
                    "-march=rv64gc -Wl,-Ttext=0x%x -Wl,-emain -Wl,--no-relax "
                    "program.S -o program", MAIN);
    f->path = g_build_filename(f->dir, "program", NULL);
    open_object(f);
}

static void tear_down(Fixture *f)
{
    counts_free(f->counts);
    task_table_free(f->tasks);
    object_table_free(f->objects);
    g_free(f->path);
    guest_dir_remove(f->dir);
}

static void range(Fixture *f, uint64_t start, uint64_t last, unsigned size,
                  unsigned insns, unsigned itype, uint64_t n)
{
    counts_add_range(f->counts, &(CountRange) {
        .place = f->place,
        .itype = itype,
        .insns = insns,
        .start = start,
        .last = last,
        .end = last + size,
    }, n);
}

static void edge(Fixture *f, uint64_t from, uint64_t to, unsigned itype,
                 uint64_t n)
{
    counts_add_edge(f->counts, &(CountEdge) {
        .from_place = f->place,
        .to_place = f->place,
        .itype = itype,
        .from = from,
        .to = to,
    }, n);
}

/* main with a loop of three rounds, a call, a jump to leaf in two ways */
static void run_program(Fixture *f)
{
    range(f, MAIN, MAIN + 8, 4, 3, ETRACE_ITYPE_TAKEN_BRANCH, 1);
    edge(f, MAIN + 8, MAIN + 4, ETRACE_ITYPE_TAKEN_BRANCH, 2);
    range(f, MAIN + 4, MAIN + 8, 4, 2, ETRACE_ITYPE_TAKEN_BRANCH, 1);
    range(f, MAIN + 4, MAIN + 8, 4, 2, ETRACE_ITYPE_NONTAKEN_BRANCH, 1);
    range(f, MAIN + 12, MAIN + 12, 4, 1, ETRACE_ITYPE_INFERABLE_CALL, 1);
    edge(f, MAIN + 12, LEAF, ETRACE_ITYPE_INFERABLE_CALL, 1);
    range(f, LEAF, LEAF + 4, 4, 2, ETRACE_ITYPE_RETURN, 1);
    edge(f, LEAF + 4, MAIN + 16, ETRACE_ITYPE_RETURN, 1);
    range(f, MAIN + 16, MAIN + 16, 4, 1, ETRACE_ITYPE_UNINFERABLE_CALL, 5);
    edge(f, MAIN + 16, LEAF + 4, ETRACE_ITYPE_UNINFERABLE_CALL, 2);
    edge(f, MAIN + 16, LEAF, ETRACE_ITYPE_UNINFERABLE_CALL, 3);
    /* From main into leaf */
    range(f, MAIN + 20, LEAF + 4, 4, 3, ETRACE_ITYPE_RETURN, 4);
    range(f, MAIN + 20, LEAF, 4, 2, ETRACE_ITYPE_INTERRUPT, 1);
}

/* Without the text of instructions, which is QEMU's */
static char *without_text(const char *text)
{
    g_autoptr(GRegex) re = g_regex_new("(?m)^(.{24}[0-9a-f]+:)  .*?"
                                       "( # .*)?$", 0, 0, NULL);

    return g_regex_replace(re, text, -1, 0, "\\1\\2", 0, NULL);
}

/* Not inlined: GCC 12 would take the text for the variable. */
static G_GNUC_NO_INLINE char *annotate(Fixture *f, const AnnotateOptions *o,
                                       AnnotateResult *result)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    *result = annotate_write(f->counts, o, file);
    fclose(file);
    return text;
}

static char *report(Fixture *f, const char *keys, ReportOptions o)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    check_true(report_parse_keys(keys, &o));
    report_write(f->counts, NULL, &o, file);
    fclose(file);
    return text;
}

static void assert_annotate(Fixture *f, AnnotateOptions o, const char *want)
{
    AnnotateResult result;
    char *text = annotate(f, &o, &result);
    g_autofree char *got = without_text(text);

    check_cmpstr(got, ==, want);
    check_cmpuint(result.functions, ==, 1);
    free(text);
}

/* A table says how much of leaf none of its rows has. */
static void assert_left_out(Fixture *f, uint64_t want)
{
    AnnotateResult result;
    g_autofree char *member = g_strdup_printf("\"left_out\": %" PRIu64 ",",
                                              want);
    char *text = annotate(f, &(AnnotateOptions) { .sym = "leaf",
                                                  .format = TABLE_JSON },
                          &result);

    check_cmpuint(result.left_out, ==, want);
    check_nonnull(strstr(text, member));
    free(text);
}

static void test_main(void)
{
    Fixture f;

    set_up(&f);
    run_program(&f);
    counts_sort(f.counts);
    assert_annotate(&f, (AnnotateOptions) { .sym = "main" },
        "# main of /bin/program: 18 instructions, 62.07% of all\n"
        "    own          count  address\n"
        "  5.56%              1  10000:\n"
        " 16.67%              3  10004:\n"
        " 16.67%              3  10008: # taken 2, not taken 1\n"
        "  5.56%              1  1000c: # calls leaf 1\n"
        " 27.78%              5  10010: # calls leaf 3, leaf+0x4 2\n"
        " 27.78%              5  10014:\n");
    assert_annotate(&f, (AnnotateOptions) { .sym = "l*", .dso = "pro*" },
        "# leaf of /bin/program: 11 instructions, 37.93% of all\n"
        "    own          count  address\n"
        " 54.55%              6  10016: # then 1 interrupts\n"
        " 45.45%              5  1001a: # returns to main+0x10 1\n");
    tear_down(&f);
}

/* Behind a branch comes a trap, or the end: where it led is not in the trace. */
static void test_traps(void)
{
    static const char branch[] = "\"addr\": \"0x10008\", \"count\": 9, "
                                 "\"taken\": 2, \"not_taken\": 1, "
                                 "\"not_known\": 6, \"exceptions\": 4, "
                                 "\"interrupts\": 1, ";
    static const char other[] = "\"addr\": \"0x10016\", \"count\": 6, "
                                "\"taken\": null, \"not_taken\": null, "
                                "\"not_known\": null, \"exceptions\": 0, "
                                "\"interrupts\": 1, ";
    AnnotateResult result;
    Fixture f;
    char *text;

    set_up(&f);
    run_program(&f);
    range(&f, MAIN + 4, MAIN + 8, 4, 2, ETRACE_ITYPE_EXCEPTION, 4);
    range(&f, MAIN + 4, MAIN + 8, 4, 2, ETRACE_ITYPE_INTERRUPT, 1);
    range(&f, MAIN + 4, MAIN + 8, 4, 2, ETRACE_ITYPE_NONE, 1);
    counts_sort(f.counts);
    text = annotate(&f, &(AnnotateOptions) { .format = TABLE_JSON }, &result);
    check_nonnull(strstr(text, branch));
    check_nonnull(strstr(text, other));
    free(text);
    tear_down(&f);

    /* None of them led anywhere. */
    set_up(&f);
    range(&f, MAIN, MAIN + 8, 4, 3, ETRACE_ITYPE_EXCEPTION, 2);
    counts_sort(f.counts);
    text = annotate(&f, &(AnnotateOptions) { .format = TABLE_JSON }, &result);
    check_nonnull(strstr(text, "\"count\": 2, \"taken\": 0, \"not_taken\": 0, "
                               "\"not_known\": 2, \"exceptions\": 2, "));
    free(text);
    tear_down(&f);
}

/* A report counts the same. */
static void test_sums(void)
{
    char *text;
    Fixture f;

    set_up(&f);
    run_program(&f);
    counts_sort(f.counts);
    text = report(&f, "sym", (ReportOptions) { .format = TABLE_TSV });
    check_cmpstr(text, ==, "own\tcalls\tsym\taddr\n"
                           "18\t0\tmain\t0x10000\n"
                           "11\t4\tleaf\t0x10016\n");
    free(text);
    tear_down(&f);
}

/* What of the text does not depend on a disassembler */
static void test_text(void)
{
    AnnotateResult result;
    Fixture f;
    char *text;

    set_up(&f);
    run_program(&f);
    counts_sort(f.counts);
    text = annotate(&f, &(AnnotateOptions) { .sym = "main" }, &result);
    check_true(strstr(text, "  10008:  bnez a0,0x10004") ||
               strstr(text, "  10008:  .insn 4, 0xfe051ee3"));
    free(text);
    tear_down(&f);
}

/* Of several functions, and only some of who ran them */
static void test_selection(void)
{
    AnnotateResult result;
    Fixture f;
    char *text, *leaf;

    set_up(&f);
    run_program(&f);
    f.place = f.other_place;
    range(&f, LEAF, LEAF + 4, 4, 2, ETRACE_ITYPE_RETURN, 100);
    counts_sort(f.counts);
    text = annotate(&f, &(AnnotateOptions) { .sym = "*" }, &result);
    check_cmpuint(result.functions, ==, 2);
    check_cmpuint(result.written, ==, 2);
    leaf = strstr(text, "# leaf");
    check_nonnull(leaf);
    check_nonnull(strstr(leaf, "\n# main"));
    free(text);
    text = annotate(&f, &(AnnotateOptions) { .max_functions = 1 }, &result);
    check_cmpuint(result.functions, ==, 2);
    check_cmpuint(result.written, ==, 1);
    check_null(strstr(text, "# main"));
    free(text);
    text = annotate(&f, &(AnnotateOptions) { .min_percent = 50 }, &result);
    check_cmpuint(result.written, ==, 1);
    free(text);
    assert_annotate(&f, (AnnotateOptions) { .comm = "sh" },
        "# leaf of /bin/program: 200 instructions, 87.34% of all\n"
        "    own          count  address\n"
        " 50.00%            100  10016:\n"
        " 50.00%            100  1001a:\n");
    text = annotate(&f, &(AnnotateOptions) { .sym = "other" }, &result);
    check_cmpuint(result.functions, ==, 0);
    check_cmpstr(text, ==, "");
    free(text);
    tear_down(&f);
}

/* Code that is not that of the file: nothing is shown where it did not run. */
static void test_other_code(void)
{
    AnnotateResult result;
    Fixture f;
    char *text;

    set_up(&f);
    /* Four instructions that were two of 8 bytes of the file */
    range(&f, LEAF, LEAF + 6, 2, 4, 0, 10);
    /* The nop was a jump. */
    range(&f, LEAF, LEAF, 4, 1, ETRACE_ITYPE_OTHER_INFERABLE_JUMP, 3);
    edge(&f, LEAF, MAIN, ETRACE_ITYPE_OTHER_INFERABLE_JUMP, 3);
    counts_sort(f.counts);
    assert_annotate(&f, (AnnotateOptions) { .sym = "leaf" },
        "# leaf of /bin/program: 43 instructions, 100.00% of all\n"
        "# 40 of them (93.02%) ran where the file has other code\n"
        "    own          count  address\n"
        "  6.98%              3  10016: # to main 3; other code ran here\n"
        "                     0  1001a:\n");
    assert_left_out(&f, 40);
    g_array_set_size(f.object->code, 0);
    assert_left_out(&f, 43);
    text = annotate(&f, &(AnnotateOptions) { .sym = "leaf" }, &result);
    check_cmpuint(result.functions, ==, 1);
    check_cmpuint(result.written, ==, 0);
    check_nonnull(strstr(text, "its code is not known"));
    free(text);
    tear_down(&f);
}

/* The innermost place of each address, by addr2line */
static char **addr2line(const char *dir, const GArray *addresses)
{
    g_autoptr(GString) input = g_string_new(NULL);
    g_autofree char *output = NULL;
    g_auto(GStrv) lines = NULL;
    GPtrArray *places = g_ptr_array_new();

    for (guint i = 0; i < addresses->len; i++) {
        g_string_append_printf(input, "0x%" PRIx64 "\n",
                               g_array_index(addresses, uint64_t, i));
    }
    output = guest_run(dir, input->str, GUEST_TOOLS "addr2line -e program");
    lines = g_strsplit(output, "\n", -1);
    check_cmpuint(g_strv_length(lines), ==, addresses->len + 1);
    for (guint i = 0; i < addresses->len; i++) {
        char *colon = strrchr(lines[i], ':');
        g_autofree char *file = NULL;

        *colon = 0;
        file = g_canonicalize_filename(lines[i], "/");
        g_ptr_array_add(places, g_strdup_printf("%s:%u", file,
                                                atoi(colon + 1)));
    }
    g_ptr_array_add(places, NULL);
    return (char **)g_ptr_array_free(places, false);
}

static void set_up_debug(Fixture *f, GArray **addresses)
{
    *f = (Fixture) { .dir = debug_program_dir() };
    f->path = debug_program_build(f->dir, "-O2 -gdwarf-4", "program");
    open_object(f);
    *addresses = guest_addresses(f->dir, "program");
    for (guint i = 0; i < (*addresses)->len; i++) {
        uint64_t addr = g_array_index(*addresses, uint64_t, i);
        const uint8_t *code;

        check_cmpuint(object_bytes(f->object, addr, 2, &code), ==, 2);
        range(f, addr, addr, insn_length(code[0] | code[1] << 8), 1, 0,
              i + 1);
    }
    counts_sort(f->counts);
}

static void add(GHashTable *sums, const char *what, uint64_t n)
{
    uint64_t *sum = g_hash_table_lookup(sums, what);

    if (!sum) {
        sum = g_new0(uint64_t, 1);
        g_hash_table_insert(sums, g_strdup(what), sum);
    }
    *sum += n;
}

static GHashTable *new_sums(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

/* Every one of @sums, and nothing else, is in @rows: the number, then it. */
static void check_sums(GHashTable *sums, char **rows)
{
    unsigned n = 0;

    for (; *rows && **rows; rows++, n++) {
        char *what;
        uint64_t count = g_ascii_strtoull(*rows, &what, 10);
        const uint64_t *sum = g_hash_table_lookup(sums, what + 1);

        if (!sum) {
            g_test_message("%s", *rows);
        }
        check_nonnull(sum);
        check_cmpuint(count, ==, *sum);
    }
    check_cmpuint(n, ==, g_hash_table_size(sums));
}

static void test_srcline(void)
{
    g_autoptr(GHashTable) lines = new_sums(), files = new_sums();
    g_autoptr(SourcePlaces) places = source_places_new(NULL);
    g_autoptr(GArray) addresses = NULL;
    g_auto(GStrv) want = NULL;
    Fixture f;

    set_up_debug(&f, &addresses);
    want = addr2line(f.dir, addresses);
    for (guint i = 0; want[i]; i++) {
        g_autofree char *file = g_strdup(want[i]);

        add(lines, want[i], i + 1);
        *strrchr(file, ':') = 0;
        add(files, file, i + 1);
    }
    check_cmpuint(g_hash_table_size(files), ==, 4);
    for (unsigned by_line = 0; by_line < 2; by_line++) {
        ReportOptions o = { .format = TABLE_TSV, .places = places };
        char *text = report(&f, by_line ? "srcline" : "srcfile", o);
        g_auto(GStrv) rows = g_strsplit(text, "\n", -1);

        check_cmpstr(rows[0], ==, by_line ? "own\tsrcline"
                                          : "own\tsrcfile");
        check_sums(by_line ? lines : files, rows + 1);
        free(text);
    }
    tear_down(&f);
}

/* Without debug info */
static void test_no_srcline(void)
{
    g_autoptr(SourcePlaces) places = source_places_new(NULL);
    g_autofree char *note = NULL;
    Fixture f;
    char *text;

    set_up(&f);
    run_program(&f);
    counts_sort(f.counts);
    text = report(&f, "sym,srcline", (ReportOptions) {
        .format = TABLE_TSV, .places = places,
    });
    check_cmpstr(text, ==, "own\tcalls\tsym\tsrcline\taddr\n"
                           "18\t0\tmain\t[no line]\t0x10000\n"
                           "11\t4\tleaf\t[no line]\t0x10016\n");
    check_true(source_place_asked(places, f.object));
    check_false(source_place_asked(places, object_get(f.objects, 0)));
    note = source_place_note(places, f.object);
    check_nonnull(strstr(note, f.path));
    free(text);
    tear_down(&f);
}

/* What annotate says of function @name, with its source */
static void check_source(Fixture *f, const char *name, GArray *addresses,
                         char **want)
{
    g_autoptr(SourcePlaces) places = source_places_new(NULL);
    char *everywhere[] = { (char *)"/", NULL };
    g_autoptr(SourceTree) sources = source_tree_new(everywhere, NULL, NULL);
    g_autoptr(GHashTable) lines = new_sums();
    AnnotateResult result;
    char *text = annotate(f, &(AnnotateOptions) {
        .sym = name, .places = places, .sources = sources,
    }, &result);
    g_auto(GStrv) rows = g_strsplit(text, "\n", -1);
    const char *place = NULL;
    bool summary = false;
    uint64_t sum = 0, insns = 0, blocks = 0, own = 0;
    unsigned nr_lines = 0;

    for (guint i = 0; want[i]; i++) {
        uint64_t addr = g_array_index(addresses, uint64_t, i);
        const Symbol *symbol = symbols_find(f->object->symbols, addr, NULL,
                                            NULL);

        if (symbol && !strcmp(symbol->name, name)) {
            add(lines, want[i], i + 1);
            own += i + 1;
        }
    }
    for (char **row = rows + 2; *row && **row; row++) {
        g_auto(GStrv) words = NULL;
        uint64_t count;

        summary |= g_str_equal(*row, "# by line");
        if (**row == '#') {
            continue;
        }
        check_cmpuint(strlen(*row), >, 24);
        count = g_ascii_strtoull(*row + 8, NULL, 10);
        if ((*row)[24] != ';') {
            /* An instruction, of the line that was the last one before it */
            uint64_t addr = g_ascii_strtoull(*row + 24, NULL, 16);
            unsigned k = count - 1;

            check_cmphex(g_array_index(addresses, uint64_t, k), ==, addr);
            check_true(g_str_has_suffix(want[k], place));
            check_false(summary);
            insns += count;
        } else {
            char *end;

            words = g_strsplit(*row + 26, ": ", 2);
            if (!summary) {
                place = g_intern_string(words[0]);
                blocks += count;
                continue;
            }
            check_cmpuint(count, ==,
                          *(uint64_t *)g_hash_table_lookup(lines, words[0]));
            end = strrchr(words[0], ':');
            *end = 0;
            check_cmpstr(words[1], ==, source_line(sources, words[0],
                                                   atoi(end + 1)));
            sum += count;
            nr_lines++;
        }
    }
    check_cmpuint(own, >, 0);
    check_cmpuint(insns, ==, own);
    check_cmpuint(blocks, ==, own);
    check_cmpuint(sum, ==, own);
    check_cmpuint(nr_lines, ==, g_hash_table_size(lines));
    free(text);
}

static void test_source(void)
{
    g_autoptr(GArray) addresses = NULL;
    g_auto(GStrv) want = NULL;
    Fixture f;

    set_up_debug(&f, &addresses);
    want = addr2line(f.dir, addresses);
    check_source(&f, "_start", addresses, want);
    check_source(&f, "two", addresses, want);
    check_source(&f, "own", addresses, want);
    tear_down(&f);
}

/* Where sources are not */
static void test_no_source(void)
{
    g_autoptr(SourcePlaces) places = source_places_new(NULL);
    char *everywhere[] = { (char *)"/", NULL };
    g_autoptr(SourceTree) sources = source_tree_new(everywhere, NULL, NULL);
    g_autofree char *out = NULL;
    g_autoptr(GArray) addresses = NULL;
    AnnotateResult result;
    Fixture f;
    char *text;

    set_up_debug(&f, &addresses);
    out = guest_run(f.dir, NULL, "rm two.c");
    text = annotate(&f, &(AnnotateOptions) {
        .sym = "two", .places = places, .sources = sources,
    }, &result);
    check_nonnull(strstr(text, "two.c is not here: --source-prefix"));
    check_nonnull(strstr(text, "; two.c:4\n"));
    free(text);
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/annotate/main", test_main);
    g_test_add_func("/annotate/traps", test_traps);
    g_test_add_func("/annotate/sums", test_sums);
    g_test_add_func("/annotate/text", test_text);
    g_test_add_func("/annotate/selection", test_selection);
    g_test_add_func("/annotate/other-code", test_other_code);
    g_test_add_func("/annotate/source", test_source);
    g_test_add_func("/annotate/no-source", test_no_source);
    g_test_add_func("/report/srcline", test_srcline);
    g_test_add_func("/report/no-srcline", test_no_srcline);
    return g_test_run();
}
