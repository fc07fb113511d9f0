/*
 * Source-level names for addresses: against binutils
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <unistd.h>
#include "tests/fixtures/check.h"
#include "elf/debug-info.h"
#include "tests/fixtures/debug-program.h"
#include "tests/fixtures/guest-build.h"

#define MAX_FRAMES 16

/*
 * What compilers are asked for; every test is run with each. Where gcc relies
 * on the first file of DWARF 5 being number 1, as it does without
 * optimization, addr2line of binutils 2.40 takes number 0.
 */
static const struct {
    const char *name;
    const char *flags;
} variants[] = {
    { "dwarf-4", "-O2 -gdwarf-4" },
    { "dwarf-5", "-O2 -gdwarf-5" },
    { "dwarf-3", "-O2 -gdwarf-3 -gstrict-dwarf" },
    { "unoptimized", "-O0 -gdwarf-4" },
    { "small", "-Os -gdwarf-4" },
    { "compressed", "-O2 -g -gz=zlib" },
    { "compressed-gnu", "-O2 -gdwarf-4 -gz=zlib-gnu" },
    { "sections", "-O2 -g -ffunction-sections -Wl,--gc-sections" },
    { "lines-only", "-O2 -g1" },
    { "link-time", "-O2 -gdwarf-4 -flto" },
    { "rv32", "-O2 -g -march=rv32gc -mabi=ilp32d" },
};

typedef struct Program {
    char *dir;
    char *path;
    DebugInfo *info;
} Program;

static void open_program(Program *p, const void *flags)
{
    g_autoptr(GError) err = NULL;

    p->dir = debug_program_dir();
    p->path = debug_program_build(p->dir, flags, "program");
    p->info = debug_info_open(p->path, NULL, &err);
    check_no_error(err);
    check_cmpstr(debug_info_note(p->info), ==, NULL);
}

static void close_program(Program *p)
{
    debug_info_free(p->info);
    g_free(p->path);
    guest_dir_remove(p->dir);
}

/* "/a/./b/../c" is the same file as "/a/c". */
static char *same_path(const char *path)
{
    return path ? g_canonicalize_filename(path, "/") : g_strdup("?");
}

/* What addr2line writes of an address: the function, then file:line */
static void append_frames(GString *text, DebugInfo *info, uint64_t addr)
{
    DebugFrame frames[MAX_FRAMES];
    unsigned n = debug_info_frames(info, addr, frames, MAX_FRAMES);

    check_cmpuint(n, >, 0);
    for (unsigned i = 0; i < n; i++) {
        g_autofree char *file = same_path(frames[i].file);

        g_string_append_printf(text, "%s %s:%u\n",
                               frames[i].function &&
                               frames[i].function->name ?
                               frames[i].function->name : "?", file,
                               frames[i].line);
        /* How the chain hangs together */
        check_true(i + 1 == n ||
                   frames[i].function->caller == frames[i + 1].function);
        check_true(i + 1 < n || !frames[i].function ||
                   !frames[i].function->caller);
    }
}

/* The same from addr2line's lines; "low" has no function in DWARF. */
static char *read_frames(char **lines)
{
    GString *text = g_string_new(NULL);

    for (; lines[0] && lines[0][0] && !g_str_has_prefix(lines[0], "0x");
         lines += 2) {
        char *colon = strrchr(lines[1], ':');
        g_autofree char *file = NULL;

        check_nonnull(colon);
        *colon = 0;
        file = same_path(lines[1]);
        g_string_append_printf(text, "%s %s:%u\n",
                               g_str_has_suffix(file, "low.S") ? "?"
                                                               : lines[0],
                               file, atoi(colon + 1));
    }
    return g_string_free(text, FALSE);
}

static void test_frames(const void *flags)
{
    g_autoptr(GArray) addresses = NULL;
    g_autoptr(GString) input = g_string_new(NULL);
    g_autofree char *output = NULL;
    g_auto(GStrv) lines = NULL;
    char **line;
    Program p;

    open_program(&p, flags);
    addresses = guest_addresses(p.dir, "program");
    for (guint i = 0; i < addresses->len; i++) {
        g_string_append_printf(input, "0x%" PRIx64 "\n",
                               g_array_index(addresses, uint64_t, i));
    }
    output = guest_run(p.dir, input->str, GUEST_TOOLS
                       "addr2line -a -i -f -e program");
    lines = g_strsplit(output, "\n", -1);
    line = lines;
    for (guint i = 0; i < addresses->len; i++) {
        uint64_t addr = g_array_index(addresses, uint64_t, i);
        g_autoptr(GString) got = g_string_new(NULL);
        g_autofree char *want = NULL;

        check_cmphex(g_ascii_strtoull(*line++, NULL, 16), ==, addr);
        want = read_frames(line);
        append_frames(got, p.info, addr);
        if (strcmp(got->str, want)) {
            g_test_message("at 0x%" PRIx64, addr);
        }
        check_cmpstr(got->str, ==, want);
        while (**line && !g_str_has_prefix(*line, "0x")) {
            line++;
        }
    }
    close_program(&p);
}

static void collect_line(void *opaque, const DebugLine *line)
{
    g_autofree char *file = g_path_get_basename(line->file);

    check_cmphex(line->lo, <, line->hi);
    g_ptr_array_add(opaque, g_strdup_printf("%016" PRIx64 "-%" PRIx64
                                            " %s:%u %s", line->lo, line->hi,
                                            file, line->line,
                                            line->is_stmt ? "x" : ""));
}

static int compare_strings(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *join_sorted(GPtrArray *texts)
{
    g_ptr_array_sort(texts, compare_strings);
    g_ptr_array_add(texts, NULL);
    return g_strjoinv("\n", (char **)texts->pdata);
}

typedef struct Row {
    uint64_t addr;
    char *text;             /* NULL: end of a sequence */
} Row;

/* "one.c  7  0x10144  1  x", of which the view and x may be missing */
static bool parse_row(const char *line, Row *row)
{
    g_autoptr(GRegex) re = g_regex_new("^(\\S+)\\s+(\\d+|-)\\s+"
                                       "(0x[0-9a-f]+|0)(\\[\\d+\\])?"
                                       "(\\s+\\d+)?(\\s+x)?(\\s+END)?\\s*$",
                                       0, 0, NULL);
    g_autoptr(GMatchInfo) m = NULL;
    g_autofree char *file = NULL, *nr = NULL, *addr = NULL, *x = NULL;
    g_autofree char *base = NULL;

    if (!g_regex_match(re, line, 0, &m)) {
        return false;
    }
    file = g_match_info_fetch(m, 1);
    nr = g_match_info_fetch(m, 2);
    addr = g_match_info_fetch(m, 3);
    x = g_match_info_fetch(m, 6);
    base = g_path_get_basename(file);
    row->addr = g_ascii_strtoull(addr, NULL, 16);
    row->text = strcmp(nr, "-") ?
        g_strdup_printf("%s:%s %s", base, nr, x && x[0] ? "x" : "") : NULL;
    return true;
}

/* Rows as ranges: each reaches to the next one of its sequence. */
static void test_lines(const void *flags)
{
    g_autoptr(GPtrArray) got = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) want = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *output = NULL, *got_text = NULL, *want_text = NULL;
    g_auto(GStrv) lines = NULL;
    Row last = { 0 }, row;
    Program p;

    open_program(&p, flags);
    debug_info_lines(p.info, collect_line, got);
    got_text = join_sorted(got);
    output = guest_run(p.dir, NULL, GUEST_TOOLS "objdump -W "
                       "--dwarf=decodedline program");
    lines = g_strsplit(output, "\n", -1);
    for (char **line = lines; *line; line++) {
        if (!parse_row(*line, &row)) {
            continue;
        }
        /* What the linker threw away stays at 0. */
        if (last.text && last.addr < row.addr && last.addr >= 0x1000) {
            g_ptr_array_add(want, g_strdup_printf("%016" PRIx64 "-%" PRIx64
                                                  " %s", last.addr, row.addr,
                                                  last.text));
        }
        g_free(last.text);
        last = row;
    }
    g_free(last.text);
    check_cmpuint(want->len, >, 20);
    want_text = join_sorted(want);
    check_cmpstr(got_text, ==, want_text);
    close_program(&p);
}

typedef struct Seen {
    GPtrArray *functions;       /* "address size name" */
    GHashTable *known;          /* DebugFunction */
    char *dir;
    unsigned nr_inlined;
    bool has_lines;             /* of declarations and calls */
} Seen;

/* @name must be in that line of that file. */
static void check_source(const char *file, unsigned line, const char *name)
{
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;

    check_true(g_file_get_contents(file, &text, NULL, NULL));
    lines = g_strsplit(text, "\n", -1);
    check_cmpuint(line, >=, 1);
    check_cmpuint(line, <, g_strv_length(lines));
    check_nonnull(strstr(lines[line - 1], name));
}

/* A clone's symbol has a suffix that DWARF leaves out. */
static char *base_name(const char *name)
{
    return g_strndup(name, strcspn(name, "."));
}

static void see_function(void *opaque, const DebugFunction *f)
{
    Seen *seen = opaque;

    check_null(f->caller);
    check_cmpuint(f->nr_ranges, >, 0);
    g_hash_table_add(seen->known, (void *)f);
    for (unsigned i = 0; i < f->nr_ranges; i++) {
        g_autofree char *name = base_name(f->name);

        g_ptr_array_add(seen->functions,
                        g_strdup_printf("%016" PRIx64 " %" PRIx64 " %s",
                                        f->ranges[i].lo,
                                        f->ranges[i].hi - f->ranges[i].lo,
                                        name));
    }
    check_cmphex(f->entry, ==, f->ranges[0].lo);
    if (seen->has_lines) {
        check_source(f->file, f->line, f->name);
    }
}

static bool within(const DebugFunction *f, const DebugRange *r)
{
    for (unsigned i = 0; i < f->nr_ranges; i++) {
        if (f->ranges[i].lo <= r->lo && r->hi <= f->ranges[i].hi) {
            return true;
        }
    }
    return false;
}

static void see_inlined(void *opaque, const DebugFunction *f)
{
    Seen *seen = opaque;

    seen->nr_inlined++;
    check_true(g_hash_table_contains(seen->known, f->caller));
    g_hash_table_add(seen->known, (void *)f);
    check_source(f->call_file, f->call_line, f->name);
    for (unsigned i = 0; i < f->nr_ranges; i++) {
        check_true(within(f->caller, &f->ranges[i]));
    }
    if (seen->has_lines) {
        check_source(f->file, f->line, f->name);
        check_cmpuint(f->call_column, >, 0);
    }
}

/* Functions are where the symbol table says they are. */
static void test_functions(const void *flags)
{
    g_autoptr(GPtrArray) got = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) want = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *output = NULL, *got_text = NULL, *want_text = NULL;
    g_auto(GStrv) lines = NULL;
    Seen seen = {
        .functions = got,
        .known = g_hash_table_new(NULL, NULL),
        /* -g1 leaves lines out, strict DWARF 3 columns of calls */
        .has_lines = !strstr(flags, "-g1") && !strstr(flags, "strict"),
    };
    Program p;

    open_program(&p, flags);
    debug_info_functions(p.info, see_function, see_inlined, &seen);
    got_text = join_sorted(got);
    output = guest_run(p.dir, NULL, GUEST_TOOLS "readelf -sW program");
    lines = g_strsplit(output, "\n", -1);
    for (char **line = lines; *line; line++) {
        uint64_t addr, size;
        char name[64];

        if (sscanf(*line, " %*d: %" SCNx64 " %" SCNu64 " FUNC %*s %*s %*s %63s",
                   &addr, &size, name) == 3) {
            g_autofree char *base = base_name(name);

            g_ptr_array_add(want, g_strdup_printf("%016" PRIx64 " %" PRIx64
                                                  " %s", addr, size, base));
        }
    }
    want_text = join_sorted(want);
    check_cmpstr(got_text, ==, want_text);
    check_true(seen.nr_inlined > 5 || strstr(flags, "-O0") ||
               strstr(flags, "-Os"));
    g_hash_table_unref(seen.known);
    close_program(&p);
}

/* No more than what there is room for is written; the count is of all. */
static void test_max(void)
{
    DebugFrame all[MAX_FRAMES], some[2];
    g_autoptr(GArray) addresses = NULL;
    unsigned deepest = 0;
    Program p;

    open_program(&p, "-O2 -g");
    addresses = guest_addresses(p.dir, "program");
    for (guint i = 0; i < addresses->len; i++) {
        uint64_t addr = g_array_index(addresses, uint64_t, i);
        unsigned n = debug_info_frames(p.info, addr, all, MAX_FRAMES);

        memset(some, 0xa5, sizeof(some));
        check_cmpuint(debug_info_frames(p.info, addr, some, 1), ==, n);
        check_true(some[0].function == all[0].function);
        check_cmpuint(some[0].line, ==, all[0].line);
        check_cmphex((uintptr_t)some[1].file, ==,
                     (uintptr_t)0xa5a5a5a5a5a5a5a5);
        deepest = MAX(deepest, n);
    }
    check_cmpuint(deepest, >=, 3);
    check_cmpuint(debug_info_frames(p.info, 0, all, 1), ==, 0);
    check_cmpuint(debug_info_frames(p.info, UINT64_MAX, all, 1), ==, 0);
    close_program(&p);
}

/* What is looked up again and again must not be read again and again. */
static void test_speed(void)
{
    g_autoptr(GArray) addresses = NULL;
    DebugFrame frames[MAX_FRAMES];
    Program p;
    double s;

    open_program(&p, "-O2 -g");
    addresses = guest_addresses(p.dir, "program");
    g_test_timer_start();
    for (guint i = 0; i < 1000000; i++) {
        debug_info_frames(p.info, g_array_index(addresses, uint64_t,
                                                i % addresses->len),
                          frames, MAX_FRAMES);
    }
    s = g_test_timer_elapsed();
    g_test_message("a million lookups take %.2f s", s);
    check_cmpint(s, <, 20);
    close_program(&p);
}

/* Discriminators distinguish paths through one line. */
static void find_discriminator(void *opaque, const DebugLine *line)
{
    unsigned *max = opaque;

    *max = MAX(*max, line->discriminator);
}

static void test_discriminator(void)
{
    unsigned max = 0;
    Program p;

    open_program(&p, "-O2 -g");
    debug_info_lines(p.info, find_discriminator, &max);
    check_cmpuint(max, >, 0);
    close_program(&p);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
        g_autofree char *frames = g_strconcat("/debug-info/frames/",
                                              variants[i].name, NULL);
        g_autofree char *lines = g_strconcat("/debug-info/lines/",
                                             variants[i].name, NULL);
        g_autofree char *functions = g_strconcat("/debug-info/functions/",
                                                 variants[i].name, NULL);

        g_test_add_data_func(frames, variants[i].flags, test_frames);
        g_test_add_data_func(lines, variants[i].flags, test_lines);
        g_test_add_data_func(functions, variants[i].flags, test_functions);
    }
    g_test_add_func("/debug-info/max", test_max);
    g_test_add_func("/debug-info/speed", test_speed);
    g_test_add_func("/debug-info/discriminator", test_discriminator);
    return g_test_run();
}
