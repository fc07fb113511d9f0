/*
 * Where debug info is found: split off, shared, of another build
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "elf/build-id.h"
#include "tests/fixtures/check.h"
#include "elf/debug-info.h"
#include "tests/fixtures/debug-program.h"
#include "tests/fixtures/guest-build.h"

#define OBJCOPY GUEST_TOOLS "objcopy"

/* A program without debug info, and its debug info in @dir/debug */
typedef struct Split {
    char *dir;
    char *path;
    char *build_id;         /* NULL: none */
    uint64_t start;         /* of _start */
} Split;

static void run(const char *dir, const char *command)
{
    g_free(guest_run(dir, NULL, "%s", command));
}

static char *read_build_id(const char *path)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(ElfFile) file = elf_file_open(path, &err);

    check_no_error(err);
    return build_id_of(file);
}

/* Where _start is */
static uint64_t read_start(const Split *s)
{
    g_autofree char *text = guest_run(s->dir, NULL, GUEST_TOOLS
                                      "readelf -h %s", s->path);
    const char *entry = strstr(text, "Entry point address:");

    check_nonnull(entry);
    return g_ascii_strtoull(strstr(entry, "0x"), NULL, 16);
}

static Split split_program(const char *flags)
{
    Split s = { .dir = debug_program_dir() };

    s.path = debug_program_build(s.dir, flags, "program");
    s.build_id = read_build_id(s.path);
    s.start = read_start(&s);
    run(s.dir, OBJCOPY " --only-keep-debug program debug");
    run(s.dir, OBJCOPY " --strip-debug program");
    return s;
}

static void split_clear(Split *s)
{
    g_free(s->path);
    g_free(s->build_id);
    guest_dir_remove(s->dir);
}

/* @note: a part of what has to be said; NULL: there are answers */
static void expect(const Split *s, const char *sysroot, const char *note)
{
    g_autoptr(GError) err = NULL;
    char *sysroots[] = { (char *)sysroot, NULL };
    g_autoptr(DebugInfo) info = debug_info_open(s->path, sysroots, &err);
    DebugFrame frame;
    unsigned n;

    check_no_error(err);
    n = debug_info_frames(info, s->start, &frame, 1);
    if (!note) {
        check_cmpstr(debug_info_note(info), ==, NULL);
        check_cmpuint(n, ==, 1);
        check_cmpstr(frame.function->name, ==, "_start");
        check_true(g_str_has_suffix(frame.file, "/one.c"));
    } else {
        check_cmpuint(n, ==, 0);
        check_true(g_str_has_prefix(debug_info_note(info), s->path));
        if (!strstr(debug_info_note(info), note)) {
            g_error("'%s' does not say '%s'", debug_info_note(info), note);
        }
    }
}

/* @dir/@under/xx/yyy.debug, or another place */
static void install(const Split *s, const char *what, const char *to)
{
    g_autofree char *path = g_build_filename(s->dir, to, NULL);
    g_autofree char *folder = g_path_get_dirname(path);

    g_free(guest_run(s->dir, NULL, "mkdir -p %s", folder));
    g_free(guest_run(s->dir, NULL, "cp %s %s", what, path));
}

static char *build_id_place(const Split *s)
{
    return g_strdup_printf("root/usr/lib/debug/.build-id/%.2s/%s.debug",
                           s->build_id, s->build_id + 2);
}

static char *root_of(const Split *s)
{
    return g_build_filename(s->dir, "root", NULL);
}

static void test_build_id(void)
{
    Split s = split_program("-O2 -g");
    g_autofree char *notes = guest_run(s.dir, NULL, GUEST_TOOLS
                                       "readelf -n program");
    g_autofree char *want = g_strdup_printf("Build ID: %s\n", s.build_id);

    check_nonnull(strstr(notes, want));
    check_null(build_id_hex(NULL, 0));
    split_clear(&s);
    s = split_program("-O2 -g -Wl,--build-id=none");
    check_null(s.build_id);
    split_clear(&s);
}

static void test_nowhere(void)
{
    Split s = split_program("-O2 -g");
    g_autofree char *root = root_of(&s);

    expect(&s, NULL, s.build_id);
    expect(&s, root, s.build_id);
    split_clear(&s);
}

static void test_sysroot(void)
{
    Split s = split_program("-O2 -g -gz");
    g_autofree char *root = root_of(&s), *place = build_id_place(&s);
    g_autofree char *slash = g_strconcat(root, "/", NULL);

    install(&s, "debug", place);
    expect(&s, root, NULL);
    expect(&s, slash, NULL);
    expect(&s, NULL, "no debug info");
    split_clear(&s);
}

static void test_cache(void)
{
    Split s = split_program("-O2 -g");
    g_autofree char *place = g_strdup_printf("cache/%s/debuginfo", s.build_id);
    g_autofree char *cache = g_build_filename(s.dir, "cache", NULL);

    install(&s, "debug", place);
    g_setenv("DEBUGINFOD_CACHE_PATH", cache, true);
    expect(&s, NULL, NULL);
    g_setenv("DEBUGINFOD_CACHE_PATH", "/nonexistent", true);
    expect(&s, NULL, "no debug info");
    split_clear(&s);
}

/* What is in the right place but of another build is not taken. */
static void test_other_build(void)
{
    Split s = split_program("-O2 -g"), other = split_program("-O1 -g");
    g_autofree char *root = root_of(&s), *place = build_id_place(&s);
    g_autofree char *debug = g_build_filename(other.dir, "debug", NULL);

    install(&s, debug, place);
    expect(&s, root, "is of another build");
    install(&s, "program", place);
    expect(&s, root, "has none, either");
    guest_write(s.dir, place, "no ELF");
    expect(&s, root, "not an ELF file");
    split_clear(&s);
    split_clear(&other);
}

/* The places of a file that is found by its name */
static void test_names(void)
{
    static const char *const flags[] = {
        "-O2 -g", "-O2 -g -Wl,--build-id=none",
    };

    for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
        Split s = split_program(flags[i]);
        g_autofree char *root = root_of(&s);
        g_autofree char *mirror = g_strdup_printf(
            "root/usr/lib/debug%s/far.debug", s.dir);

        install(&s, "debug", "far.debug");
        run(s.dir, OBJCOPY " --add-gnu-debuglink=far.debug program");
        expect(&s, NULL, NULL);
        run(s.dir, "rm far.debug");
        expect(&s, NULL, "no debug info");
        install(&s, "debug", ".debug/far.debug");
        expect(&s, NULL, NULL);
        run(s.dir, "rm .debug/far.debug");
        install(&s, "debug", mirror);
        expect(&s, root, NULL);
        expect(&s, NULL, "no debug info");
        split_clear(&s);
    }
}

/* A file without a build-id has to have the checksum. */
static void test_checksum(void)
{
    Split s = split_program("-O2 -g -Wl,--build-id=none");

    install(&s, "debug", "far.debug");
    run(s.dir, OBJCOPY " --add-gnu-debuglink=far.debug program");
    run(s.dir, "truncate -s +1 far.debug");
    expect(&s, NULL, "is of another build");
    split_clear(&s);
}

/* The program as its path is in the guest's file system */
static void test_guest_path(void)
{
    Split s = split_program("-O2 -g");
    g_autofree char *root = root_of(&s);

    install(&s, "program", "root/usr/bin/program");
    install(&s, "debug", "root/usr/lib/debug/usr/bin/program.debug");
    g_free(s.path);
    s.path = g_build_filename(root, "usr", "bin", "program", NULL);
    expect(&s, root, NULL);
    split_clear(&s);
}

/* dwz moves what two files share into a third one. */
static void test_alt(void)
{
    Split s = { .dir = debug_program_dir() };
    g_autofree char *section = NULL;

    s.path = debug_program_build(s.dir, "-O2 -gdwarf-4", "a");
    run(s.dir, "cp a b");
    section = guest_run(s.dir, NULL, "dwz -m common a b");
    g_free(section);
    section = guest_run(s.dir, NULL, GUEST_TOOLS "readelf -SW a");
    check_nonnull(strstr(section, ".gnu_debugaltlink"));
    s.start = read_start(&s);
    expect(&s, NULL, NULL);
    run(s.dir, "mv common away");
    expect(&s, NULL, "common, which it shares with other files, is missing");
    run(s.dir, "cp a common");
    expect(&s, NULL, "is of another build");
    split_clear(&s);
}

/* A kernel module, as far as the format goes */
static void test_relocatable(void)
{
    Split s = { .dir = debug_program_dir() };

    s.path = g_build_filename(s.dir, "one.o", NULL);
    run(s.dir, GUEST_TOOLS "gcc -O2 -g -c one.c -o one.o");
    expect(&s, NULL, "relocatable");
    split_clear(&s);
}

static void count_line(void *opaque, const DebugLine *line)
{
    ++*(unsigned *)opaque;
}

static void count_function(void *opaque, const DebugFunction *function)
{
    ++*(unsigned *)opaque;
}

/*
 * The functions of @path are in other files. If @note is not NULL, some are
 * missing, or what they inline is, and it says so. Lines are there.
 */
static void expect_functions(const char *path, char **sysroots,
                             const char *note)
{
    g_autoptr(DebugInfo) info = debug_info_open(path, sysroots, NULL);
    unsigned lines = 0, functions = 0, inlined = 0;

    check_nonnull(info);
    debug_info_functions(info, count_function, NULL, &functions);
    debug_info_functions(info, NULL, count_function, &inlined);
    debug_info_lines(info, count_line, &lines);
    check_cmpuint(lines, >, 20);
    if (!note) {
        check_cmpstr(debug_info_note(info), ==, NULL);
        check_cmpuint(functions, ==, 4);    /* own, unused, _start, two */
        check_cmpuint(inlined, >, 5);
    } else {
        check_nonnull(debug_info_note(info));
        check_nonnull(strstr(debug_info_note(info), note));
        check_true((functions == 4) == !!strstr(note, "inlined"));
    }
}

/* Where .dwo files are looked for */
static void test_split_dwarf(void)
{
    char *dir = debug_program_dir();
    g_autofree char *path = debug_program_build(
        dir, "-O2 -gdwarf-3 -gsplit-dwarf", "program");
    g_autofree char *moved = g_build_filename(dir, "bin", "program", NULL);
    g_autofree char *root = g_build_filename(dir, "root", NULL);
    g_autofree char *mirror = g_strconcat(root, dir, NULL);
    g_autofree char *elsewhere = g_build_filename(root, "program", NULL);
    char *roots[] = { root, NULL };

    expect_functions(path, NULL, NULL);
    /* Below the folder that it was built in */
    run(dir, "mkdir -p bin root");
    run(dir, "cp program bin");
    expect_functions(moved, NULL, NULL);
    /* Beside it */
    run(dir, "mv program-one.dwo bin");
    expect_functions(path, NULL, "program-one.dwo (-gsplit-dwarf), which is "
                     "missing");
    expect_functions(moved, NULL, NULL);
    run(dir, "mv program-two.dwo bin");
    /* At the same place in a sysroot */
    run(dir, "cp program root/program");
    expect_functions(elsewhere, roots, "is missing");
    g_free(guest_run(dir, NULL, "mkdir -p %s", mirror));
    g_free(guest_run(dir, NULL, "cp bin/program-one.dwo bin/program-two.dwo %s",
                     mirror));
    expect_functions(elsewhere, roots, NULL);
    guest_dir_remove(dir);
}

/* A file that somebody sent leads to no others of this machine. */
static void test_split_away(void)
{
    char *dir = debug_program_dir(), *other = guest_dir_new();
    g_autofree char *path = debug_program_build(
        dir, "-O2 -gdwarf-3 -gsplit-dwarf", "program");
    g_autofree char *sent = g_build_filename(other, "program", NULL);

    g_free(guest_run(dir, NULL, "cp program %s", other));
    expect_functions(path, NULL, NULL);
    expect_functions(sent, NULL, "is missing");
    guest_dir_remove(dir);
    guest_dir_remove(other);
}

/* What is there is something else. */
static void test_split_other(void)
{
    char *dir = debug_program_dir();
    g_autofree char *path = debug_program_build(
        dir, "-O2 -gdwarf-3 -gsplit-dwarf", "program");

    run(dir, "cp program-one.dwo program-two.dwo");
    expect_functions(path, NULL, "is of another build");
    run(dir, "cp one.c program-two.dwo");
    expect_functions(path, NULL, "is of another build");
    run(dir, "rm program-two.dwo");
    run(dir, "mkfifo program-two.dwo");
    expect_functions(path, NULL, "is missing");
    guest_dir_remove(dir);
}

/* All of them in one file. For DWARF 5, llvm-dwp 14 hangs and dwp crashes. */
static void test_package(void)
{
    static const struct {
        const char *flags, *packer, *note;
    } builds[] = {
        { "-O2 -gdwarf-3 -gsplit-dwarf", "dwp", NULL },
        { "-O2 -gdwarf-3 -gsplit-dwarf", "llvm-dwp", NULL },
        { "-O2 -gdwarf-4 -gsplit-dwarf", "dwp",
          "what was inlined is not known" },
        { "-O2 -gdwarf-4 -gsplit-dwarf", "llvm-dwp",
          "what was inlined is not known" },
    };
    unsigned done = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(builds); i++) {
        char *dir = debug_program_dir();
        g_autofree char *path = debug_program_build(dir, builds[i].flags,
                                                    "program");
        g_autofree char *pack = g_strdup_printf(
            "timeout 60 %s -e program -o program.dwp", builds[i].packer);

        expect_functions(path, NULL, builds[i].note);
        if (guest_try(dir, pack)) {
            run(dir, "mkdir away");
            run(dir, "mv program-one.dwo program-two.dwo away");
            expect_functions(path, NULL, builds[i].note);
            run(dir, "mv program.dwp away");
            expect_functions(path, NULL, "is missing");
            done++;
        }
        guest_dir_remove(dir);
    }
    if (!done) {
        g_test_skip("there is neither dwp nor llvm-dwp");
    }
}

/* What DWARF 5 has in files of its own */
static void test_split_5(void)
{
    char *dir = debug_program_dir();
    g_autofree char *path = debug_program_build(
        dir, "-O2 -gdwarf-5 -gsplit-dwarf", "program");

    expect_functions(path, NULL, "what was inlined is not known");
    guest_dir_remove(dir);
}

static void test_no_elf(void)
{
    g_autoptr(GError) err = NULL;

    check_null(debug_info_open("/dev/null", NULL, &err));
    check_nonnull(strstr(err->message, "/dev/null"));
    g_clear_error(&err);
    check_null(debug_info_open("/nonexistent", NULL, &err));
    check_nonnull(strstr(err->message, "/nonexistent"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_setenv("DEBUGINFOD_CACHE_PATH", "/nonexistent", true);
    g_test_add_func("/debug-file/build-id", test_build_id);
    g_test_add_func("/debug-file/nowhere", test_nowhere);
    g_test_add_func("/debug-file/sysroot", test_sysroot);
    g_test_add_func("/debug-file/cache", test_cache);
    g_test_add_func("/debug-file/other-build", test_other_build);
    g_test_add_func("/debug-file/names", test_names);
    g_test_add_func("/debug-file/checksum", test_checksum);
    g_test_add_func("/debug-file/guest-path", test_guest_path);
    g_test_add_func("/debug-file/alt", test_alt);
    g_test_add_func("/debug-file/relocatable", test_relocatable);
    g_test_add_func("/debug-file/split-dwarf", test_split_dwarf);
    g_test_add_func("/debug-file/split-away", test_split_away);
    g_test_add_func("/debug-file/split-other", test_split_other);
    g_test_add_func("/debug-file/split-5", test_split_5);
    g_test_add_func("/debug-file/package", test_package);
    g_test_add_func("/debug-file/no-elf", test_no_elf);
    return g_test_run();
}
