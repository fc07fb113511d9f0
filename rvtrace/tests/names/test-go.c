/*
 * Names of stripped Go programs, by their .gopclntab
 *
 * Tables of each layout are made by hand, for three functions; where there is a
 * Go compiler, what it builds is compared with nm, too.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "base/input.h"
#include "names/object-elf.h"
#include "tests/fixtures/guest-build.h"

#define FIXED   "-static -no-pie"

/* Three functions: of 8, 12 and 4 bytes */
static const char *const code_s =
    "    .option norvc\n"
    "    .option norelax\n"
    "    .text\n"
    "    .globl _start\n"
    "    nop\n"
    "_start:\n"
    "    nop\n"
    "    ret\n"
    "second:\n"
    "    nop\n"
    "    nop\n"
    "    ret\n"
    "third:\n"
    "    ret\n"
    "end:\n"
    "    ret\n";

static const char *const names_s =
    "names:\n"
    "    .byte 0\n"
    "name1: .asciz \"main.main\"\n"
    "name2: .asciz \"main.(*T).Run\"\n"
    "name3: .asciz \"main.Map[...]\"\n";

/* Go 1.16 and 1.17 */
static const char *const table_1_16_s =
    "    .section .gopclntab,\"aw\"\n"
    "table:\n"
    "    .4byte 0xfffffffa\n"
    "    .byte 0, 0, 4, 8\n"
    "    .8byte 3, 0\n"
    "    .8byte names - table, 0, 0, 0, functab - table\n"
    "%s"
    "    .balign 8\n"
    "functab:\n"
    "    .8byte _start, info1 - functab\n"
    "    .8byte second, info2 - functab\n"
    "    .8byte third, info3 - functab\n"
    "    .8byte end\n"
    "info1: .8byte _start\n"
    "    .4byte name1 - names\n"
    "info2: .8byte second\n"
    "    .4byte name2 - names\n"
    "info3: .8byte third\n"
    "    .4byte name3 - names\n"
    "table_end:\n";

/* Go 1.18, and with another number in front Go 1.20 */
static const char *const table_1_18_s =
    "    .section .gopclntab,\"aw\"\n"
    "table:\n"
    "    .4byte 0xfffffff%u\n"
    "    .byte 0, 0, 4, 8\n"
    "    .8byte 3, 0, _start\n"
    "    .8byte names - table, 0, 0, 0, functab - table\n"
    "%s"
    "    .balign 4\n"
    "functab:\n"
    "    .4byte 0, info1 - functab\n"
    "    .4byte second - _start, info2 - functab\n"
    "    .4byte third - _start, info3 - functab\n"
    "    .4byte end - _start\n"
    "info1: .4byte 0, name1 - names\n"
    "info2: .4byte second - _start, name2 - names\n"
    "info3: .4byte third - _start, name3 - names\n"
    "table_end:\n";

static char *table_1_16(void)
{
    return g_strdup_printf(table_1_16_s, names_s);
}

static char *table_1_18(unsigned version)
{
    return g_strdup_printf(table_1_18_s, version, names_s);
}

/* The program with @table, stripped; its first function is at *@start. */
static GBytes *build(const char *table, const char *flags, uint64_t *start)
{
    char *dir = guest_dir_new();
    g_autofree char *path = g_build_filename(dir, "program", NULL);
    g_autofree char *source = g_strconcat(code_s, table, NULL);
    g_autofree char *nm = NULL;
    g_autoptr(GBytes) file = NULL;
    const uint8_t *data;
    GBytes *copy;
    size_t size;

    guest_write(dir, "program.S", source);
    g_free(guest_run(dir, NULL, GUEST_TOOLS "gcc -nostdlib -nostartfiles %s "
                     "program.S -o program", flags));
    nm = guest_run(dir, NULL, GUEST_TOOLS "nm program");
    check_nonnull(strstr(nm, " T _start\n"));
    *start = g_ascii_strtoull(strstr(nm, " T _start\n") - 16, NULL, 16);
    g_free(guest_run(dir, NULL, GUEST_TOOLS "strip program"));
    /* What Go's own linker calls it */
    if (strcmp(flags, FIXED)) {
        g_free(guest_run(dir, NULL, GUEST_TOOLS "objcopy --rename-section "
                         ".gopclntab=.data.rel.ro.gopclntab program"));
    }
    file = input_open(path, NULL);
    data = input_data(file, &size);
    copy = g_bytes_new(data, size);
    guest_dir_remove(dir);
    return copy;
}

/* The names of @bytes' functions; NULL: it is no ELF file any more. */
static const Object *names_of(ObjectTable *table, GBytes *bytes)
{
    size_t size;
    const uint8_t *data = g_bytes_get_data(bytes, &size);
    Object *o = object_elf_parse(table, "/bin/program", NULL, bytes, data,
                                 size, OBJECT_NONE, NULL);

    if (o) {
        object_elf_names(table, o);
    }
    return o;
}

static void expect(const char *table, const char *flags)
{
    static const struct {
        const char *name;
        unsigned off, size;
    } want[] = {
        { "main.main", 0, 8 }, { "main.(*T).Run", 8, 12 },
        { "main.Map[...]", 20, 4 },
    };
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(GBytes) bytes = NULL;
    const Symbol *all;
    uint64_t start;
    unsigned n;

    bytes = build(table, flags, &start);
    all = symbols_all(names_of(objects, bytes)->symbols, &n);
    check_cmpuint(n, ==, ARRAY_SIZE(want));
    for (unsigned i = 0; i < n; i++) {
        check_cmpstr(all[i].name, ==, want[i].name);
        check_cmphex(all[i].start, ==, start + want[i].off);
        check_cmphex(all[i].end, ==, all[i].start + want[i].size);
    }
}

static void test_layouts(void)
{
    g_autofree char *go_1_16 = table_1_16();
    g_autofree char *go_1_18 = table_1_18(0);
    g_autofree char *go_1_20 = table_1_18(1);

    expect(go_1_16, FIXED);
    expect(go_1_18, FIXED);
    expect(go_1_20, FIXED);
    expect(go_1_20, "-static-pie");
}

/* What has symbols is named after them. */
static void test_symtab(void)
{
    g_autofree char *table = table_1_18(1);
    g_autoptr(ObjectTable) objects = object_table_new();
    char *dir = guest_dir_new();
    g_autofree char *path = g_build_filename(dir, "program", NULL);
    g_autofree char *source = g_strconcat(code_s, table, NULL);
    const Symbol *all;
    unsigned n;
    Object *o;

    guest_write(dir, "program.S", source);
    g_free(guest_run(dir, NULL, GUEST_TOOLS "gcc -nostdlib -static -no-pie "
                     "program.S -o program"));
    o = object_elf_load(objects, "/bin/program", path, NULL);
    check_cmpuint(object_elf_names(objects, o), >=, 4);
    all = symbols_all(o->symbols, &n);
    for (unsigned i = 0; i < n; i++) {
        check_null(strchr(all[i].name, '.'));
    }
    guest_dir_remove(dir);
}

/* Where the table is: where its header is */
static size_t find_table(GBytes *bytes, const char *header)
{
    size_t size;
    const uint8_t *data = g_bytes_get_data(bytes, &size);
    const uint8_t *at = memmem(data, size, header, 8);

    check_nonnull(at);
    return at - data;
}

/* How many functions are named with @value in place of 8 bytes at @off */
static unsigned count_with(GBytes *bytes, size_t off, uint64_t value,
                           unsigned len)
{
    g_autoptr(ObjectTable) objects = object_table_new();
    size_t size;
    const uint8_t *data = g_bytes_get_data(bytes, &size);
    g_autofree uint8_t *copy = g_memdup2(data, size);
    g_autoptr(GBytes) changed = NULL;
    const Object *o;

    value = GUINT64_TO_LE(value);
    memcpy(copy + off, &value, len);
    changed = g_bytes_new_take(g_steal_pointer(&copy), size);
    o = names_of(objects, changed);
    check_nonnull(o);
    return symbols_count(o->symbols);
}

static void test_damaged(void)
{
    static const uint64_t values[] = {
        0, 1, 4, 0x7f, 0x80, 0xffff, INT32_MAX, UINT32_MAX, INT64_MAX,
        UINT64_MAX, UINT64_MAX - 7, UINT64_MAX / 8, UINT64_MAX / 16,
    };
    static const char *const headers[] = {
        "\xfa\xff\xff\xff\0\0\4\x8", "\xf1\xff\xff\xff\0\0\4\x8",
    };

    for (unsigned i = 0; i < ARRAY_SIZE(headers); i++) {
        g_autofree char *table = i ? table_1_18(1) :
                                     table_1_16();
        uint64_t start;
        g_autoptr(GBytes) bytes = build(table, FIXED, &start);
        size_t at = find_table(bytes, headers[i]);

        check_cmpuint(count_with(bytes, at, 0xfffffff1fffffff1, 8), ==, 0);
        check_cmpuint(count_with(bytes, at + 7, 4, 1), ==, 0);
        check_cmpuint(count_with(bytes, at + 8, 1 << 20, 8), ==, 0);
        for (size_t off = 0; off < 260; off += off < 80 ? 8 : 4) {
            for (unsigned k = 0; k < ARRAY_SIZE(values); k++) {
                check_cmpuint(count_with(bytes, at + off, values[k],
                                         off < 80 ? 8 : 4), <=, 3);
            }
        }
    }
}

/* Names that overlap are no longer than the table is, together. */
static void test_overlap(void)
{
    enum { N = 2000 };
    g_autoptr(GString) s = g_string_new(".section .gopclntab,\"aw\"\n"
        "table: .4byte 0xfffffff1\n .byte 0, 0, 4, 8\n");
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autoptr(GBytes) bytes = NULL;
    const Symbol *all;
    size_t sum = 0;
    uint64_t start;
    unsigned n;

    g_string_append_printf(s, " .8byte %u, 0, _start, names - table, 0, 0, 0, "
                           "functab - table\n"
                           "names: .fill %u, 1, 'x'\n .byte 0\n .balign 4\n"
                           "functab:\n", N, N);
    for (unsigned i = 0; i < N; i++) {
        g_string_append_printf(s, " .4byte %u, info + %u - functab\n", 4 * i,
                               8 * i);
    }
    g_string_append_printf(s, " .4byte %u\ninfo:\n", 4 * N);
    for (unsigned i = 0; i < N; i++) {
        g_string_append_printf(s, " .4byte %u, %u\n", 4 * i, i);
    }
    g_string_append_printf(s, " .text\n .fill %u, 4, 0x13\n", N);
    bytes = build(s->str, FIXED, &start);
    all = symbols_all(names_of(objects, bytes)->symbols, &n);
    for (unsigned i = 0; i < n; i++) {
        sum += strlen(all[i].name);
    }
    check_cmpuint(n, >, 10);
    check_cmpuint(sum, <, 24 * N);
}

static const char *const program_go =
    "package main\n"
    "import \"fmt\"\n"
    "type T struct{ n int }\n"
    "//go:noinline\n"
    "func (t *T) Run(f func(int) int) int { return f(t.n) }\n"
    "//go:noinline\n"
    "func Leaf(x int) int { return x*31 + 7 }\n"
    "func main() {\n"
    "    t := &T{3}\n"
    "    fmt.Println(t.Run(func(x int) int { return Leaf(x) + 1 }))\n"
    "}\n";

/* The name that Go's own table has for what the symbol table calls @name */
static char *table_name(const char *name)
{
    const char *open = strchr(name, '['), *close = strrchr(name, ']');

    if (g_str_has_suffix(name, ".abi0")) {
        return g_strndup(name, strlen(name) - 5);
    }
    return open && close ? g_strdup_printf("%.*s[...]%s", (int)(open - name),
                                           name, close + 1) : g_strdup(name);
}

/* The linker's marks, and what is from C */
static bool is_not_go(const char *name)
{
    static const char *const names[] = {
        "runtime.text", "runtime.etext", "go.buildid", "go:buildid",
        "__do_global_dtors_aux", "deregister_tm_clones", "frame_dummy",
        "load_gp", "register_tm_clones", NULL,
    };

    return g_strv_contains(names, name);
}

static void compare_with_nm(const char *dir, const char *flags)
{
    g_autofree char *path = g_build_filename(dir, "program", NULL);
    g_autoptr(ObjectTable) objects = object_table_new();
    g_autofree char *nm = NULL;
    g_auto(GStrv) lines = NULL;
    unsigned all = 0, named = 0;
    Object *o;

    g_free(guest_run(dir, NULL, "env GOOS=linux GOARCH=riscv64 CGO_ENABLED=0 "
                     "GO111MODULE=off CC=" GUEST_TOOLS "gcc GOCACHE=%s/cache "
                     "HOME=%s go build %s -o program program.go", dir, dir,
                     flags));
    nm = guest_run(dir, NULL, GUEST_TOOLS "nm program");
    g_free(guest_run(dir, NULL, GUEST_TOOLS "strip program"));
    o = object_elf_load(objects, "/bin/program", path, NULL);
    check_nonnull(o);
    check_cmpuint(object_elf_names(objects, o), >, 1000);
    lines = g_strsplit(nm, "\n", -1);
    for (char **line = lines; *line && strlen(*line) > 19; line++) {
        uint64_t addr = g_ascii_strtoull(*line, NULL, 16);
        g_autofree char *name = table_name(*line + 19);
        const Symbol *symbol = symbols_find(o->symbols, addr, NULL, NULL);

        if (!strchr("tT", (*line)[17]) || is_not_go(name)) {
            continue;
        }
        all++;
        if (symbol && symbol->start == addr && !strcmp(symbol->name, name)) {
            named++;
        } else {
            g_test_message("0x%" PRIx64 " %s: %s", addr, name,
                           symbol ? symbol->name : "none");
        }
    }
    check_cmpuint(all, >, 1000);
    check_cmpuint(named, ==, all);
}

static void test_compiler(void)
{
    char *dir = guest_dir_new();

    guest_write(dir, "program.go", program_go);
    if (guest_try(dir, "env GOARCH=riscv64 go version")) {
        compare_with_nm(dir, "-buildmode=exe");
        compare_with_nm(dir, "-buildmode=pie");
    } else {
        g_test_skip("there is no Go compiler");
    }
    guest_dir_remove(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/go/layouts", test_layouts);
    g_test_add_func("/go/symtab", test_symtab);
    g_test_add_func("/go/damaged", test_damaged);
    g_test_add_func("/go/overlap", test_overlap);
    g_test_add_func("/go/compiler", test_compiler);
    return g_test_run();
}
