/*
 * Packed files, as gzip, xz and zstd write them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <fcntl.h>
#include <gio/gio.h>
#include <sys/stat.h>
#include "tests/fixtures/check.h"
#include "tests/fixtures/guest-build.h"
#include "base/input.h"
#include "names/kernel-image.h"
#include "names/module-cache.h"
#include "names/sysroot.h"
#include "names/sysroot-modules.h"
#include "base/packed.h"
#include "tests/fixtures/sb-build.h"

#define SIZE        300001
#define CODE        0x2000      /* of the module and the kernel, physical */

static const char *const packers[] = {
    "gzip -k", "xz -k", "zstd -q", "xz -k --check=crc32 --block-size=65536",
    "cat",
};
static const char *const suffixes[] = { ".gz", ".xz", ".zst", ".xz", "" };

static char *path_of(const char *dir, const char *name, unsigned packer)
{
    g_autofree char *file = g_strconcat(name, suffixes[packer], NULL);

    return g_build_filename(dir, file, NULL);
}

/* @dir/@name, packed; false: there is no such program here */
static bool pack(const char *dir, const char *name, unsigned packer)
{
    g_autofree char *command = g_strdup_printf("%s %s", packers[packer], name);

    return guest_try(dir, command);
}

static void write_numbers(const char *dir, const char *name)
{
    g_autofree char *text = g_malloc(SIZE + 1);

    for (unsigned i = 0; i < SIZE; i++) {
        text[i] = '0' + i / 7 % 10;
    }
    text[SIZE] = 0;
    guest_write(dir, name, text);
}

static void test_formats(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(packers); i++) {
        char *dir = guest_dir_new();
        g_autofree char *plain = g_build_filename(dir, "file", NULL);
        g_autofree char *path = path_of(dir, "file", i);
        g_autoptr(GBytes) want = NULL, all = NULL, head = NULL;
        g_autoptr(GError) err = NULL;

        write_numbers(dir, "file");
        if (pack(dir, "file", i)) {
            want = input_open(plain, NULL);
            all = packed_open(path, &err);
            check_no_error(err);
            check_true(g_bytes_equal(all, want));
            head = packed_open_head(path, 100, &err);
            check_no_error(err);
            check_cmpuint(g_bytes_get_size(head), ==,
                          *suffixes[i] ? 100 : SIZE);
        } else {
            g_test_message("'%s' is not installed", packers[i]);
        }
        guest_dir_remove(dir);
    }
}

/* As much as is unpacked at a time, which the end must not hide behind */
static void test_even(void)
{
    char *dir = guest_dir_new();

    g_free(guest_run(dir, NULL, "truncate -s 128K even"));
    for (unsigned i = 0; i < 3; i++) {
        g_autofree char *path = path_of(dir, "even", i);
        g_autoptr(GError) err = NULL;
        g_autoptr(GBytes) all = NULL;

        if (pack(dir, "even", i)) {
            all = packed_open(path, &err);
            check_no_error(err);
            check_cmpuint(g_bytes_get_size(all), ==, 128 << 10);
        }
    }
    guest_dir_remove(dir);
}

/* Cut off anywhere, or with another byte in it: an error, or the same */
static void test_damaged(void)
{
    for (unsigned i = 0; i < 3; i++) {
        char *dir = guest_dir_new();
        g_autofree char *path = path_of(dir, "file", i);
        g_autofree char *bad = path_of(dir, "bad", i);
        g_autofree char *data = NULL;
        gsize size;

        write_numbers(dir, "file");
        if (pack(dir, "file", i) &&
            g_file_get_contents(path, &data, &size, NULL)) {
            for (gsize cut = 8; cut < size; cut += 97) {
                g_autoptr(GError) err = NULL;

                check_true(g_file_set_contents(bad, data, cut, NULL));
                check_null(packed_open(bad, &err));
                check_nonnull(strstr(err->message, "damaged"));
            }
            for (gsize at = 8; at < size; at += 41) {
                data[at] ^= 0x55;
                check_true(g_file_set_contents(bad, data, size, NULL));
                data[at] ^= 0x55;
                g_clear_pointer(&(GBytes *){ packed_open(bad, NULL) },
                                g_bytes_unref);
            }
        }
        guest_dir_remove(dir);
    }
}

/* Gigabytes of zeros in a few bytes */
static void test_bomb(void)
{
    char *dir = guest_dir_new();
    g_autofree char *path = path_of(dir, "zeros", 0);
    g_autoptr(GError) err = NULL;

    g_free(guest_run(dir, NULL, "truncate -s 600M zeros"));
    check_true(pack(dir, "zeros", 0));
    check_null(packed_open(path, &err));
    check_nonnull(strstr(err->message, "too much"));
    guest_dir_remove(dir);
}

/* Each is small enough, but not all of them together. */
static void test_together(void)
{
    char *dir = guest_dir_new();
    g_autofree char *path = path_of(dir, "zeros", 0);
    g_autoptr(GBytes) first = NULL, again = NULL, head = NULL;
    g_autoptr(GError) err = NULL;
    size_t usual = packed_total_max;

    g_free(guest_run(dir, NULL, "truncate -s 600K zeros"));
    check_true(pack(dir, "zeros", 0));
    packed_total_max = 1 << 20;
    first = packed_open(path, NULL);
    check_nonnull(first);
    check_null(packed_open(path, &err));
    check_true(g_error_matches(err, G_IO_ERROR, G_IO_ERROR_NO_SPACE));
    check_nonnull(strstr(err->message, "unpack it first"));
    /* To see what is in it takes next to nothing. */
    head = packed_open_head(path, 100, NULL);
    check_nonnull(head);
    g_clear_pointer(&first, g_bytes_unref);
    again = packed_open(path, NULL);
    check_nonnull(again);
    packed_total_max = usual;
    guest_dir_remove(dir);
}

static const char module[] =
    "int add(int a) { return a * 31 + (a >> 3) - 7; }\n"
    "int sub(int a) { return a * 17 - (a << 5) + 9; }\n";

/* What of @file, below @dir, ran is found there by its bytes. */
static void find_in(const char *dir, const char *file, ObjectKind kind,
                    const uint8_t *code, size_t size)
{
    g_autoptr(GByteArray) b = g_byte_array_new();
    g_autoptr(ObjectTable) table = object_table_new();
    g_autoptr(Names) names = names_new(table);
    g_autoptr(GError) err = NULL;
    ETraceParams params;
    Sideband *sb;

    etrace_params_init(&params, 64);
    sb_session(b, 1, 1, 0);
    sb_params(b, 0, &params);
    sb_code(b, CODE, code, size);
    sb = sideband_parse(b->data, b->len, 0, &err);
    check_no_error(err);
    names_add_sideband(names, sb);
    check_true(sysroot_scan(names, dir, &err));
    names_decide(names);
    check_cmpuint(object_table_size(table), ==, 2);
    check_cmpint(object_get(table, 1)->kind, ==, kind);
    check_true(g_str_has_suffix(object_get(table, 1)->file, file));
    g_clear_pointer(&names, names_free);
    sideband_free(sb);
}

static void test_sysroot(void)
{
    for (unsigned i = 0; i < 3; i++) {
        char *dir = guest_dir_new();
        g_autofree char *name = g_strconcat("m.ko", suffixes[i], NULL);
        g_autofree char *path = g_build_filename(dir, "text", NULL);
        g_autofree char *text = NULL;
        gsize size;

        guest_write(dir, "m.c", module);
        g_free(guest_run(dir, NULL, GUEST_TOOLS "gcc -O1 -c -o m.ko m.c"));
        g_free(guest_run(dir, NULL, GUEST_TOOLS "objcopy -O binary "
                         "-j .text m.ko text"));
        check_true(g_file_get_contents(path, &text, &size, NULL));
        if (pack(dir, "m.ko", i)) {
            g_free(guest_run(dir, NULL, "rm m.ko"));
            find_in(dir, name, OBJECT_MODULE, (uint8_t *)text, size & ~3);
        }
        guest_dir_remove(dir);
    }
}

/* How many objects have something of @code, below @dir? */
static unsigned found_in(const char *dir, const char *code, size_t size)
{
    g_autoptr(GByteArray) b = g_byte_array_new();
    g_autoptr(ObjectTable) table = object_table_new();
    g_autoptr(Names) names = names_new(table);
    ETraceParams params;
    unsigned found;
    Sideband *sb;

    etrace_params_init(&params, 64);
    sb_session(b, 1, 1, 0);
    sb_params(b, 0, &params);
    sb_code(b, CODE, (const uint8_t *)code, size);
    sb = sideband_parse(b->data, b->len, 0, NULL);
    names_add_sideband(names, sb);
    check_true(sysroot_scan(names, dir, NULL));
    names_decide(names);
    found = object_table_size(table) - 1;
    g_clear_pointer(&names, names_free);
    sideband_free(sb);
    return found;
}

/* The file @path has others bytes, and is as old as it was, or older. */
static void spoil(const char *path, bool older)
{
    struct stat st;
    g_autofree char *zeros = NULL;
    struct timespec times[2];

    check_cmpint(stat(path, &st), ==, 0);
    zeros = g_malloc0(st.st_size);
    check_true(g_file_set_contents_full(path, zeros, st.st_size,
                                        G_FILE_SET_CONTENTS_NONE, 0666, NULL));
    times[0] = times[1] = st.st_mtim;
    times[1].tv_sec -= older;
    check_cmpint(utimensat(AT_FDCWD, path, times, 0), ==, 0);
}

/* What is kept of modules is used for files that have not changed. */
static void test_kept(void)
{
    unsigned usual = module_files_many;
    char *dir = guest_dir_new();
    g_autofree char *text_path = g_build_filename(dir, "text", NULL);
    g_autofree char *root = g_build_filename(dir, "root", NULL);
    g_autofree char *packed = g_build_filename(root, "m.ko.xz", NULL);
    g_autofree char *kept = NULL;
    g_autofree char *text = NULL, *data = NULL;
    gsize size, len;

    module_files_many = 1;
    guest_write(dir, "m.c", module);
    check_cmpint(mkdir(root, 0777), ==, 0);
    g_free(guest_run(dir, NULL, GUEST_TOOLS "gcc -O1 -c -o root/m.ko m.c"));
    g_free(guest_run(dir, NULL, GUEST_TOOLS "objcopy -O binary -j .text "
                     "root/m.ko text"));
    check_true(g_file_get_contents(text_path, &text, &size, NULL));
    g_free(guest_run(dir, NULL, "xz root/m.ko"));
    kept = module_cache_path(root);

    check_cmpuint(found_in(root, text, size & ~3), ==, 1);
    check_true(g_file_get_contents(kept, &data, &len, NULL));
    spoil(packed, false);
    check_cmpuint(found_in(root, text, size & ~3), ==, 1);
    for (gsize i = 0; i < len; i++) {
        g_autoptr(ModuleCache) damaged = NULL;

        check_true(g_file_set_contents(kept, data, i, NULL));
        damaged = module_cache_open(kept);
        if (damaged) {
            g_autoptr(ObjectTable) table = object_table_new();

            check_null(module_cache_load(damaged, table, "/m.ko.xz", packed));
        }
    }
    check_true(g_file_set_contents(kept, data, len, NULL));
    spoil(packed, true);
    check_cmpuint(found_in(root, text, size & ~3), ==, 0);
    module_files_many = usual;
    guest_dir_remove(dir);
}

/* A kernel, of which only the header and some code are like one */
static void test_image(void)
{
    char *dir = guest_dir_new();
    g_autofree char *path = g_build_filename(dir, "Image", NULL);
    uint8_t image[8192] = { 0 };

    for (unsigned i = 4096; i < 4096 + 256; i++) {
        image[i] = i * 37 + (i >> 3);
    }
    memcpy(image + 56, "RSC\x05", 4);
    check_true(g_file_set_contents(path, (char *)image, sizeof(image), NULL));
    check_true(pack(dir, "Image", 0));
    g_free(guest_run(dir, NULL, "rm Image"));
    find_in(dir, "Image.gz", OBJECT_KERNEL, image + 4096, 256);
    guest_dir_remove(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/packed/formats", test_formats);
    g_test_add_func("/packed/even", test_even);
    g_test_add_func("/packed/damaged", test_damaged);
    g_test_add_func("/packed/bomb", test_bomb);
    g_test_add_func("/packed/together", test_together);
    g_test_add_func("/packed/sysroot", test_sysroot);
    g_test_add_func("/packed/kept", test_kept);
    g_test_add_func("/packed/image", test_image);
    return g_test_run();
}
