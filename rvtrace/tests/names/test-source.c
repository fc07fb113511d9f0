/*
 * Lines of source files
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <unistd.h>
#include <sys/stat.h>
#include <glib/gstdio.h>
#include "tests/fixtures/check.h"
#include "tests/fixtures/guest-build.h"
#include "base/below.h"
#include "elf/source.h"

static SourceTree *open_tree(char **prefixes, const char *sysroot)
{
    g_autoptr(GError) err = NULL;
    char *sysroots[] = { (char *)sysroot, NULL };
    SourceTree *tree = source_tree_new(prefixes, sysroots, &err);

    check_no_error(err);
    return tree;
}

static void test_lines(void)
{
    char *dir = guest_dir_new();
    g_autofree char *path = g_build_filename(dir, "a.c", NULL);
    char *prefixes[] = { dir, NULL };
    g_autoptr(SourceTree) tree = open_tree(prefixes, NULL);

    guest_write(dir, "a.c", "first\n\nthird\r\n\tlast");
    check_cmpstr(source_line(tree, path, 1), ==, "first");
    check_cmpstr(source_line(tree, path, 2), ==, "");
    check_cmpstr(source_line(tree, path, 3), ==, "third");
    check_cmpstr(source_line(tree, path, 4), ==, "\tlast");
    check_null(source_line(tree, path, 0));
    check_null(source_line(tree, path, 5));
    check_null(source_line(tree, path, UINT_MAX));
    check_cmpuint(source_nr_lines(tree, path), ==, 4);
    check_cmpstr(source_path(tree, path), ==, path);
    guest_dir_remove(dir);
}

static void test_absent(void)
{
    char *dir = guest_dir_new();
    g_autofree char *path = g_build_filename(dir, "a.c", NULL);
    char *prefixes[] = { dir, NULL };
    g_autoptr(SourceTree) tree = open_tree(prefixes, NULL);

    check_null(source_line(tree, path, 1));
    check_null(source_path(tree, path));
    check_cmpuint(source_nr_lines(tree, path), ==, 0);
    check_null(source_line(tree, NULL, 1));
    check_null(source_line(tree, "", 1));
    guest_dir_remove(dir);
}

/* What is no text, or no regular file, has no lines, and is not waited for. */
static void test_no_text(void)
{
    char *dir = guest_dir_new();
    g_autofree char *zero = g_build_filename(dir, "zero.c", NULL);
    g_autofree char *fifo = g_build_filename(dir, "fifo.c", NULL);
    g_autofree char *big = g_build_filename(dir, "big.c", NULL);
    char *prefixes[] = { (char *)"/", NULL };
    g_autoptr(SourceTree) tree = open_tree(prefixes, NULL);

    check_true(g_file_set_contents(zero, "a\0b\n", 4, NULL));
    check_cmpint(mkfifo(fifo, 0600), ==, 0);
    guest_write(dir, "big.c", "x\n");
    check_cmpint(truncate(big, 64 << 20), ==, 0);
    check_null(source_line(tree, zero, 1));
    check_null(source_line(tree, fifo, 1));
    check_null(source_line(tree, dir, 1));
    check_null(source_line(tree, "/dev/zero", 1));
    check_null(source_line(tree, big, 1));
    guest_dir_remove(dir);
}

/* Whole names are substituted, the last that fits, before all others. */
static void test_prefix(void)
{
    char *dir = guest_dir_new();
    g_autofree char *first = g_strdup_printf("/build=%s/none", dir);
    g_autofree char *second = g_strdup_printf("/build=%s/new", dir);
    g_autofree char *third = g_strdup("/build/su=/elsewhere");
    g_autofree char *root = g_build_filename(dir, "root", NULL);
    g_autofree char *want = g_build_filename(dir, "new", "sub", "a.c", NULL);
    char *prefixes[] = { first, second, third, NULL };
    g_autoptr(SourceTree) tree = NULL;

    g_free(guest_run(dir, NULL, "mkdir -p new/sub root/build"));
    tree = open_tree(prefixes, root);
    guest_write(dir, "new/sub/a.c", "substituted\n");
    guest_write(dir, "root/build/b.c", "in the sysroot\n");
    check_cmpstr(source_line(tree, "/build/sub/a.c", 1), ==, "substituted");
    check_cmpstr(source_path(tree, "/build/sub/a.c"), ==, want);
    check_cmpstr(source_line(tree, "/build/b.c", 1), ==, "in the sysroot");
    check_null(source_line(tree, "/buildings/sub/a.c", 1));
    guest_dir_remove(dir);
}

/*
 * A name is what an ELF file says that somebody sent. It must not reach a file
 * that nobody named, wherever it leads.
 */
static void test_hostile(void)
{
    char *dir = guest_dir_new();
    g_autofree char *root = g_build_filename(dir, "root", NULL);
    g_autofree char *secret = g_build_filename(dir, "secret", NULL);
    g_autofree char *prefix = g_strdup_printf("/build=%s/root/src", dir);
    char *prefixes[] = { prefix, NULL };
    const char *const names[] = {
        secret, "/secret", "/../secret", "/../../../../../../etc/passwd",
        "/etc/passwd", "/src/up", "/src/away", "/src/folder/secret",
        "/src/../../secret", "/src/loop", "../secret", "secret", "",
        "/build/../../secret", "/build/up", "/build/away",
        "/build/folder/secret", "/build/../../../../../../etc/passwd",
    };
    const char *const inside[] = {
        "/src/a.c", "/build/a.c", "/../src/a.c", "/src/../../src/a.c",
        "/link/a.c", "/src/absolute", "/src/relative", "src/a.c",
    };
    const char *const links[][2] = {
        { "link", "src" }, { "src/up", "../../secret" }, { "src/away", NULL },
        { "src/folder", "../.." }, { "src/loop", "loop" },
        { "src/absolute", "/src/a.c" }, { "src/relative", "../src/a.c" },
    };
    g_autoptr(SourceTree) tree = NULL, none = NULL;

    g_free(guest_run(dir, NULL, "mkdir -p root/src"));
    guest_write(dir, "secret", "secret\n");
    guest_write(dir, "root/src/a.c", "inside\n");
    for (size_t i = 0; i < G_N_ELEMENTS(links); i++) {
        g_autofree char *link = g_build_filename(root, links[i][0], NULL);

        check_cmpint(symlink(links[i][1] ?: secret, link), ==, 0);
    }
    tree = open_tree(prefixes, root);
    none = open_tree(NULL, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *walked = below_find_by_steps(root, names[i]);

        check_null(source_line(tree, names[i], 1));
        check_null(source_line(none, names[i], 1));
        check_null(walked);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(inside); i++) {
        g_autofree char *found = below_find(root, inside[i]);
        g_autofree char *walked = below_find_by_steps(root, inside[i]);

        check_cmpstr(source_line(tree, inside[i], 1), ==, "inside");
        check_null(source_line(none, inside[i], 1));
        check_cmpstr(walked, ==, found);
    }
    guest_dir_remove(dir);
}

static void test_bad_prefix(void)
{
    static const char *const bad[] = { "", "x", "=y" };

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        char *prefixes[] = { (char *)bad[i], NULL };
        g_autoptr(GError) err = NULL;

        check_null(source_tree_new(prefixes, NULL, &err));
        check_nonnull(strstr(err->message, "OLD=NEW"));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/source/lines", test_lines);
    g_test_add_func("/source/absent", test_absent);
    g_test_add_func("/source/no-text", test_no_text);
    g_test_add_func("/source/prefix", test_prefix);
    g_test_add_func("/source/hostile", test_hostile);
    g_test_add_func("/source/bad-prefix", test_bad_prefix);
    return g_test_run();
}
