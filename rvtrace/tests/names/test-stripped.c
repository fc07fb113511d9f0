/*
 * Names of stripped programs, from what was split off them: against nm
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "tests/fixtures/check.h"
#include "elf/build-id.h"
#include "elf/debug-info.h"
#include "names/object-elf.h"
#include "names/sysroot.h"
#include "tests/fixtures/guest-build.h"
#include "tests/fixtures/sb-build.h"

#define OBJCOPY GUEST_TOOLS "objcopy"
#define STRIP   GUEST_TOOLS "strip"

/* With glibc, it has a few thousand functions. */
static const char *const source =
    "#include <stdio.h>\n"
    "static __attribute__((noinline)) int mixer(int x)\n"
    "{\n"
    "    for (int i = 0; i < 200; i++) {\n"
    "        x = (x << 5) ^ (x >> 3) ^ i;\n"
    "    }\n"
    "    return x;\n"
    "}\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    return printf(\"%d\\n\", mixer(argc)) < 0;\n"
    "}\n";

/*
 * @dir has "full", "full.debug" (what is split off it) and "root/bin/program",
 * the same stripped.
 */
typedef struct Program {
    char *dir, *root, *path;
    char *build_id_place;       /* below a sysroot */
    char *nm;
} Program;

static void run(const Program *p, const char *command)
{
    g_free(guest_run(p->dir, NULL, "%s", command));
}

static void copy(const Program *p, const char *from, const char *to)
{
    g_autofree char *folder = g_path_get_dirname(to);

    g_free(guest_run(p->dir, NULL, "mkdir -p %s", folder));
    g_free(guest_run(p->dir, NULL, "cp %s %s", from, to));
}

static Program make_program(const char *flags)
{
    Program p = { .dir = guest_dir_new() };
    g_autofree char *full = g_build_filename(p.dir, "full", NULL);
    g_autoptr(ElfFile) file = NULL;
    g_autofree char *id = NULL;

    p.root = g_build_filename(p.dir, "root", NULL);
    p.path = g_build_filename(p.root, "bin", "program", NULL);
    guest_write(p.dir, "program.c", source);
    g_free(guest_run(p.dir, NULL, GUEST_TOOLS "gcc -O2 -g %s program.c -o full",
                     flags));
    run(&p, OBJCOPY " --only-keep-debug full full.debug");
    copy(&p, "full", p.path);
    g_free(guest_run(p.dir, NULL, STRIP " %s", p.path));
    p.nm = guest_run(p.dir, NULL, GUEST_TOOLS "nm -S full");
    file = elf_file_open(full, NULL);
    check_nonnull(file);
    id = build_id_of(file);
    if (id) {
        p.build_id_place = g_strdup_printf("usr/lib/debug/.build-id/%.2s/%s"
                                           ".debug", id, id + 2);
    }
    return p;
}

static Program make_static(void)
{
    return make_program("-static -Wl,--build-id");
}

static void clear_program(Program *p)
{
    g_free(p->root);
    g_free(p->path);
    g_free(p->build_id_place);
    g_free(p->nm);
    guest_dir_remove(p->dir);
}

/* nm's functions: address to "\nNAME\nNAME\n", all that are there */
static GHashTable *read_nm(const char *nm, GHashTable *sizes)
{
    GHashTable *all = g_hash_table_new_full(g_int64_hash, g_int64_equal,
                                            g_free, g_free);
    g_auto(GStrv) lines = g_strsplit(nm, "\n", -1);

    for (char **line = lines; *line; line++) {
        g_auto(GStrv) words = g_strsplit(*line, " ", 4);
        gint64 addr, size;
        const char *old;

        if (g_strv_length(words) != 4 || !words[0][0] ||
            !strchr("tTwW", words[2][0])) {
            continue;
        }
        addr = g_ascii_strtoull(words[0], NULL, 16);
        size = g_ascii_strtoull(words[1], NULL, 16);
        old = g_hash_table_lookup(all, &addr);
        g_hash_table_insert(sizes, g_memdup2(&addr, 8), g_memdup2(&size, 8));
        g_hash_table_replace(all, g_memdup2(&addr, 8),
                             g_strconcat(old ?: "\n", words[3], "\n", NULL));
    }
    return all;
}

/* How many functions of @p have a name that nm knows; sets *@all */
static unsigned count_named(const Program *p, const SymbolTable *symbols,
                            unsigned *all)
{
    g_autoptr(GHashTable) sizes = g_hash_table_new_full(
        g_int64_hash, g_int64_equal, g_free, g_free);
    g_autoptr(GHashTable) nm = read_nm(p->nm, sizes);
    GHashTableIter iter;
    gpointer key, value;
    unsigned named = 0;

    g_hash_table_iter_init(&iter, nm);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        uint64_t addr = *(gint64 *)key;
        uint64_t size = *(gint64 *)g_hash_table_lookup(sizes, key);
        const Symbol *first = symbols_find(symbols, addr, NULL, NULL);
        g_autofree char *line = g_strconcat("\n", first ? first->name : "?",
                                            "\n", NULL);

        if (strstr(value, line)) {
            named++;
            /* Others may begin within it, as in glibc's assembly. */
            check_true(first == symbols_find(symbols, addr + MIN(size, 4) - 1,
                                             NULL, NULL));
        }
    }
    *all = g_hash_table_size(nm);
    return named;
}

static Object *load(ObjectTable *table, const char *name, const char *file)
{
    g_autoptr(GError) err = NULL;
    Object *o = object_elf_load(table, name, file, &err);

    check_no_error(err);
    return o;
}

typedef enum Expect {
    NONE, DYNAMIC, ALL,
} Expect;

/* Which functions have their names if files are looked for below @sysroots? */
static void expect(const Program *p, char **sysroots, Expect want)
{
    g_autoptr(ObjectTable) table = object_table_new();
    Object *o = load(table, "/bin/program", p->path);
    unsigned all, named;

    table->sysroots = sysroots;
    object_elf_symbols(table, o);
    named = count_named(p, o->symbols, &all);
    check_cmpuint(all, >, want == DYNAMIC ? 1 : 0);
    check_cmpuint(named, <=, all);
    if (want == ALL) {
        check_cmpuint(named, ==, all);
    } else {
        check_cmpuint(named, <, all);
        check_true(want == DYNAMIC || !named);
    }
}

/* The same with @p's own sysroot only */
static void expect_root(const Program *p, Expect want)
{
    char *roots[] = { p->root, NULL };

    expect(p, roots, want);
}

/* As distributions have them: in the sysroot, or in one with packages of it */
static void test_build_id(void)
{
    Program p = make_static();
    g_autofree char *inside = g_build_filename(p.root, p.build_id_place, NULL);
    g_autofree char *dbgsym = g_build_filename(p.dir, "dbgsym", NULL);
    g_autofree char *apart = g_build_filename(dbgsym, p.build_id_place, NULL);
    char *roots[] = { p.root, dbgsym, NULL };
    char *swapped[] = { dbgsym, p.root, NULL };

    expect(&p, NULL, NONE);
    expect_root(&p, NONE);
    copy(&p, "full.debug", inside);
    expect_root(&p, ALL);
    expect(&p, NULL, NONE);
    run(&p, "mv root/usr dbgsym-usr");
    expect_root(&p, NONE);
    copy(&p, "full.debug", apart);
    expect(&p, roots, ALL);
    expect(&p, swapped, ALL);
    clear_program(&p);
}

/* The lines are there, too, wherever the names are. */
static void test_lines(void)
{
    Program p = make_static();
    g_autofree char *dbgsym = g_build_filename(p.dir, "dbgsym", NULL);
    g_autofree char *apart = g_build_filename(dbgsym, p.build_id_place, NULL);
    char *roots[] = { p.root, dbgsym, NULL };
    g_autoptr(GHashTable) sizes = g_hash_table_new_full(
        g_int64_hash, g_int64_equal, g_free, g_free);
    g_autoptr(GHashTable) nm = read_nm(p.nm, sizes);
    g_autoptr(DebugInfo) info = NULL;
    GHashTableIter iter;
    gpointer key, value;
    DebugFrame frame;
    bool found = false;

    copy(&p, "full.debug", apart);
    info = debug_info_open(p.path, roots, NULL);
    check_cmpstr(debug_info_note(info), ==, NULL);
    g_hash_table_iter_init(&iter, nm);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        if (g_str_equal(value, "\nmixer\n")) {
            g_autofree char *want = guest_run(p.dir, NULL, GUEST_TOOLS
                                              "addr2line -e full 0x%" PRIx64,
                                              (uint64_t)*(gint64 *)key);
            g_autofree char *got = NULL;

            check_cmpuint(debug_info_frames(info, *(gint64 *)key, &frame, 1),
                          ==, 1);
            got = g_strdup_printf("%s:%u\n", frame.file, frame.line);
            check_cmpstr(got, ==, want);
            found = true;
        }
    }
    check_true(found);
    clear_program(&p);
}

/* .gnu_debuglink, with and without a build-id */
static void test_link(void)
{
    static const char *const flags[] = {
        "-static -Wl,--build-id", "-static -Wl,--build-id=none",
    };

    for (unsigned i = 0; i < ARRAY_SIZE(flags); i++) {
        Program p = make_program(flags[i]);

        g_free(guest_run(p.dir, NULL, OBJCOPY
                         " --add-gnu-debuglink=full.debug %s", p.path));
        expect_root(&p, NONE);
        copy(&p, "full.debug", "root/bin/.debug/full.debug");
        expect_root(&p, ALL);
        expect(&p, NULL, ALL);
        run(&p, "truncate -s +1 root/bin/.debug/full.debug");
        expect(&p, NULL, i ? NONE : ALL);
        clear_program(&p);
    }
}

/* What has the right name and was not built with it has other functions. */
static void test_other_build(void)
{
    Program p = make_static();
    g_autofree char *inside = g_build_filename(p.root, p.build_id_place, NULL);

    run(&p, GUEST_TOOLS "gcc -O1 -g -static -Wl,--build-id program.c -o other");
    copy(&p, "other", inside);
    expect_root(&p, NONE);
    guest_write(p.dir, "other", "no ELF");
    copy(&p, "other", inside);
    expect_root(&p, NONE);
    copy(&p, p.path, inside);       /* as stripped as the program */
    expect_root(&p, NONE);
    clear_program(&p);
}

/* "mini" becomes the program's .gnu_debugdata. */
static void replace_mini(const Program *p)
{
    g_free(guest_run(p->dir, NULL, OBJCOPY " --remove-section .gnu_debugdata "
                     "--add-section .gnu_debugdata=mini %s", p->path));
}

/* As Fedora has it: functions that are not in .dynsym, packed in the program */
static void test_mini(void)
{
    Program p = make_program("-Wl,--build-id,--export-dynamic");

    expect_root(&p, DYNAMIC);
    run(&p, OBJCOPY " -S --keep-symbol=mixer --keep-symbol=_start "
        "--keep-symbol=_init --keep-symbol=_fini "
        "--keep-symbol=deregister_tm_clones --keep-symbol=register_tm_clones "
        "--keep-symbol=__do_global_dtors_aux --keep-symbol=frame_dummy "
        "--keep-symbol=load_gp full.debug mini");
    run(&p, "xz mini");
    run(&p, "mv mini.xz mini");
    replace_mini(&p);
    expect_root(&p, ALL);
    clear_program(&p);
}

static void test_mini_damaged(void)
{
    Program p = make_static();

    /* What is not packed is an ELF file all the same. */
    run(&p, "cp full.debug mini");
    replace_mini(&p);
    expect_root(&p, ALL);
    run(&p, "xz full.debug");
    run(&p, "mv full.debug.xz mini");
    run(&p, "truncate -s -1000 mini");
    replace_mini(&p);
    expect_root(&p, NONE);
    run(&p, "truncate -s 4 mini");
    replace_mini(&p);
    expect_root(&p, NONE);
    clear_program(&p);
}

/* Objects of the bytes that ran, below @roots: each has @p's names. */
static void expect_scanned(const Program *p, char **roots, const char *elf,
                           const char *twin)
{
    g_autoptr(GByteArray) b = g_byte_array_new();
    g_autoptr(ObjectTable) table = object_table_new();
    g_autoptr(Names) names = names_new(table);
    g_autoptr(GError) err = NULL;
    g_autoptr(ObjectTable) other = object_table_new();
    const ObjectCode *code;
    ETraceParams params;
    bool stripped = false;
    Sideband *sb;

    code = &g_array_index(load(other, "/p", p->path)->code, ObjectCode, 0);
    etrace_params_init(&params, 64);
    sb_session(b, 1, 1, 0);
    sb_params(b, 0, &params);
    for (unsigned off = 0; off + 4096 <= MIN(code->size, 65536); off += 4096) {
        sb_code(b, (code->addr & 0xfff) + 0x80000000 + off, code->bytes + off,
                256);
    }
    sb = sideband_parse(b->data, b->len, 0, &err);
    check_no_error(err);
    table->sysroots = roots;
    if (elf) {
        check_cmpuint(object_elf_names(table, load(table, elf, elf)), >, 0);
    }
    names_add_sideband(names, sb);
    for (char **root = roots; *root; root++) {
        check_true(sysroot_scan(names, *root, &err));
    }
    names_decide(names);
    for (unsigned i = 1; i < object_table_size(table); i++) {
        const Object *o = object_get(table, i);
        unsigned all;

        check_cmpuint(count_named(p, o->symbols, &all), ==, all);
        if (g_str_equal(o->path, "/bin/program")) {
            stripped = true;
            check_cmpstr(o->file, ==, twin);
        }
    }
    check_true(stripped);
    g_clear_pointer(&names, names_free);
    sideband_free(sb);
}

/* The program before it was stripped is anywhere, with any name. */
static void test_twin(void)
{
    Program p = make_static();
    g_autofree char *full = g_build_filename(p.dir, "full", NULL);
    g_autofree char *built = g_build_filename(p.dir, "built", NULL);
    g_autofree char *twin = g_build_filename(built, "k", NULL);
    char *roots[] = { p.root, built, NULL };
    char *swapped[] = { built, p.root, NULL };
    char *one[] = { p.root, NULL };

    copy(&p, "full", twin);
    expect_scanned(&p, roots, NULL, twin);
    expect_scanned(&p, swapped, NULL, twin);
    expect_scanned(&p, one, full, full);
    clear_program(&p);
}

/* ... or at the same place of another sysroot, for files found by path */
static void test_same_path(void)
{
    Program p = make_static();
    g_autofree char *built = g_build_filename(p.dir, "built", NULL);
    g_autofree char *twin = g_build_filename(built, "bin", "program", NULL);
    char *roots[] = { p.root, built, NULL };
    g_autoptr(ObjectTable) table = object_table_new();
    const Object *o;
    unsigned all;

    copy(&p, "full", twin);
    table->sysroots = roots;
    o = object_elf_find(table, roots, "/bin/program", true);
    check_nonnull(o);
    check_cmpuint(count_named(&p, o->symbols, &all), ==, all);
    clear_program(&p);
}

/* ... or in a folder that it was copied to: the most of its path decides */
static void test_copy(void)
{
    Program p = make_static();
    g_autofree char *copies = g_build_filename(p.dir, "copies", NULL);
    g_autofree char *near = g_build_filename(copies, "program", NULL);
    g_autofree char *right = g_build_filename(copies, "bin", "program", NULL);
    char *roots[] = { copies, NULL };
    g_autoptr(ObjectTable) table = object_table_new();
    const Object *o;

    check_null(object_elf_find_copy(table, roots, "/home/me/bin/program"));
    copy(&p, "full", near);
    check_null(object_elf_find(table, roots, "/home/me/bin/program", true));
    o = object_elf_find_copy(table, roots, "/home/me/bin/program");
    check_nonnull(o);
    check_cmpstr(o->path, ==, "/home/me/bin/program");
    check_cmpstr(o->file, ==, near);
    copy(&p, "full", right);
    o = object_elf_find_copy(table, roots, "/home/me/bin/program");
    check_nonnull(o);
    check_cmpstr(o->file, ==, right);
    check_null(object_elf_find_copy(table, roots, "[vdso]"));
    check_null(object_elf_find_copy(table, roots, "/bin/"));
    check_null(object_elf_find_copy(table, NULL, "/home/me/bin/program"));
    clear_program(&p);
}

/* A file of nothing but symbols, by --elf */
static void test_debug_only(void)
{
    Program p = make_static();
    g_autofree char *debug = g_build_filename(p.dir, "full.debug", NULL);
    g_autoptr(ObjectTable) table = object_table_new();
    const Object *o;
    unsigned all;

    load(table, debug, debug);
    o = load(table, "/bin/program", p.path);
    object_elf_symbols(table, object_get(table, o->id));
    check_cmpuint(count_named(&p, o->symbols, &all), ==, all);
    check_cmpstr(o->file, ==, p.path);
    clear_program(&p);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_setenv("DEBUGINFOD_CACHE_PATH", "/nonexistent", true);
    g_test_add_func("/stripped/build-id", test_build_id);
    g_test_add_func("/stripped/lines", test_lines);
    g_test_add_func("/stripped/link", test_link);
    g_test_add_func("/stripped/other-build", test_other_build);
    g_test_add_func("/stripped/mini", test_mini);
    g_test_add_func("/stripped/mini-damaged", test_mini_damaged);
    g_test_add_func("/stripped/twin", test_twin);
    g_test_add_func("/stripped/same-path", test_same_path);
    g_test_add_func("/stripped/copy", test_copy);
    g_test_add_func("/stripped/debug-only", test_debug_only);
    return g_test_run();
}
