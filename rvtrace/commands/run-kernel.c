/*
 * What is known beforehand of what a machine is going to run
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/input.h"
#include "elf/rtos.h"
#include "names/kernel-btf.h"
#include "names/kernel-image.h"
#include "names/sysroot.h"
#include "base/packed.h"
#include "commands/run-kernel.h"

/* NULL: @path does not say */
static char *info_of(const char *path)
{
    g_autoptr(ElfFile) elf = NULL;
    ETraceGuestInfo info;

    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        return NULL;
    }
    elf = elf_file_open(path, NULL);
    return (elf && rtos_guest_info(elf, &info, NULL)) ||
           kernel_btf_guest_info(path, &info, NULL) ?
           etrace_guest_info_text(&info) : NULL;
}

static bool is_image(const char *path)
{
    g_autoptr(GBytes) file = NULL;
    const uint8_t *data;
    size_t size;

    file = g_file_test(path, G_FILE_TEST_IS_REGULAR) ?
           packed_open(path, NULL) : NULL;
    if (!file) {
        return false;
    }
    data = input_data(file, &size);
    return kernel_image_is(data, size);
}

static bool is_kernel_name(const char *name)
{
    return g_str_has_prefix(name, "Image") || g_str_has_prefix(name, "vmlinu");
}

/* Add what the kernels in the folder @path say to the set @infos. */
static void scan_folder(GHashTable *infos, const char *path)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;

    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *file = g_build_filename(path, name, NULL);
        char *info = is_kernel_name(name) ? info_of(file) : NULL;

        if (info) {
            g_hash_table_add(infos, info);
        }
    }
}

char *run_kernel_guest_info(const char *kernel, const char *bios,
                            char **sysroots)
{
    g_autoptr(GHashTable) infos = g_hash_table_new_full(g_str_hash, g_str_equal,
                                                        g_free, NULL);
    char *info = kernel ? info_of(kernel) : NULL;
    GHashTableIter iter;
    gpointer only;

    if (!info && bios) {
        info = info_of(bios);
    }
    /* An Image that does not say is not one of the others. */
    if (info || (kernel && is_image(kernel))) {
        return info;
    }
    for (; sysroots && *sysroots; sysroots++) {
        g_autofree char *boot = g_build_filename(*sysroots, "boot", NULL);

        scan_folder(infos, *sysroots);
        scan_folder(infos, boot);
    }
    if (g_hash_table_size(infos) != 1) {
        return NULL;
    }
    g_hash_table_iter_init(&iter, infos);
    g_hash_table_iter_next(&iter, &only, NULL);
    return g_strdup(only);
}

static void add_file(GPtrArray *files, const char *path)
{
    if (path && g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        g_ptr_array_add(files, g_strdup(path));
    }
}

/* What QEMU's firmware was made of, as -bios says, or else as it has it */
static void add_firmware(GPtrArray *files, const char *qemu, const char *bios)
{
    g_autofree char *program = NULL;

    if (bios && !g_str_equal(bios, "default")) {
        firmware_elfs(files, bios);
        return;
    }
    program = g_find_program_in_path(qemu);
    if (program) {
        firmware_default_elfs(files, program);
    }
}

char **run_kernel_files(char **sysroots, const char *qemu, const char *kernel,
                        const char *bios)
{
    GPtrArray *files = g_ptr_array_new();

    for (; sysroots && *sysroots; sysroots++) {
        g_ptr_array_add(files, g_strdup(*sysroots));
    }
    add_file(files, kernel);
    add_file(files, bios);
    add_firmware(files, qemu, bios);
    g_ptr_array_add(files, NULL);
    return (char **)g_ptr_array_free(files, FALSE);
}
