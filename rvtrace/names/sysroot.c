/*
 * The files that may have run: a folder with a copy of the guest's
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <gio/gio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/input.h"
#include "base/say.h"
#include "names/kernel-image.h"
#include "names/object-elf.h"
#include "base/packed.h"
#include "names/sysroot.h"
#include "names/sysroot-modules.h"

/* Folders in each other; deeper ones are left out */
#define MAX_DEPTH   64

/* Bytes that distinguish the kinds: a shorter file is none of them */
#define HEAD_SIZE   64

typedef enum FileKind {
    FILE_OTHER,
    FILE_ELF,
    FILE_IMAGE,
} FileKind;

static FileKind kind_of(const uint8_t *head, size_t size)
{
    return size < HEAD_SIZE ? FILE_OTHER :
           !memcmp(head, ELFMAG, SELFMAG) ? FILE_ELF :
           kernel_image_is(head, size) ? FILE_IMAGE : FILE_OTHER;
}

/* What a file is, by how it begins, or what is packed in it */
static FileKind look_at(const char *path, bool *packed)
{
    g_autoptr(GBytes) inside = NULL;
    uint8_t head[HEAD_SIZE];
    const uint8_t *data;
    size_t size;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t n;

    if (fd < 0) {
        return FILE_OTHER;
    }
    n = read(fd, head, sizeof(head));
    close(fd);
    *packed = n > 0 && packed_is(head, n);
    if (!*packed) {
        return kind_of(head, MAX(n, 0));
    }
    inside = packed_open_head(path, HEAD_SIZE, NULL);
    if (!inside) {
        return FILE_OTHER;
    }
    data = input_data(inside, &size);
    return kind_of(data, size);
}

/*
 * @path: as the guest knows it; @file: here. @asked: for this file, not for a
 * folder that it is in.
 */
static void try_file(Names *names, const char *path, const char *file,
                     bool asked)
{
    ObjectTable *table = names_table(names);
    unsigned before = object_table_size(table);
    g_autoptr(GError) err = NULL;
    static bool said;
    bool packed = false;
    Object *o = NULL;

    /* What is no object after all is no concern of the user's. */
    switch (look_at(file, &packed)) {
    case FILE_ELF:
        o = object_elf_load(table, path, file, &err);
        break;
    case FILE_IMAGE:
        o = kernel_image_load(table, file, &err);
        break;
    case FILE_OTHER:
        return;
    }
    if (o && o->kind == OBJECT_MODULE && !asked) {
        /* Called as no module is: compilers have such files, for programs. */
        object_drop(table, o);
    } else if (o) {
        o->mapped = !packed && o->bytes;
        names_try(names, before);
        if (object_table_size(table) > before) {
            object_let_go(o);
        }
    } else if (!said &&
               g_error_matches(err, G_IO_ERROR, G_IO_ERROR_NO_SPACE)) {
        say_warn("%s, and others like it", err->message);
        said = true;
    }
}

static gint compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void scan_folder(Names *names, ModuleFiles *modules, const char *path,
                        const char *folder, unsigned depth)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func(g_free);
    const char *name;

    while (dir && (name = g_dir_read_name(dir))) {
        g_ptr_array_add(entries, g_strdup(name));
    }
    /* In an order that does not depend on the file system */
    g_ptr_array_sort(entries, compare_names);
    for (guint i = 0; i < entries->len; i++) {
        g_autofree char *below = g_build_filename(path, entries->pdata[i],
                                                  NULL);
        g_autofree char *file = g_build_filename(folder, entries->pdata[i],
                                                 NULL);
        struct stat st;

        if (lstat(file, &st)) {
            continue;
        }
        if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH) {
            scan_folder(names, modules, below, file, depth + 1);
        } else if (S_ISREG(st.st_mode) &&
                   !module_files_add(modules, below, file, &st)) {
            try_file(names, below, file, false);
        }
    }
}

bool sysroot_scan(Names *names, const char *root, GError **errp)
{
    g_autoptr(ModuleFiles) modules = module_files_new();
    struct stat st;

    if (stat(root, &st)) {
        g_set_error(errp, G_IO_ERROR, g_io_error_from_errno(errno),
                    "%s: %s", root, g_strerror(errno));
        return false;
    }
    if (S_ISDIR(st.st_mode)) {
        scan_folder(names, modules, "/", root, 0);
        module_files_try(modules, names, root);
    } else {
        try_file(names, root, root, true);
    }
    return true;
}

/* Where QEMU has its data, from its program's folder: installed, and built */
static const char *const data_folders[] = {
    "../share/qemu", "qemu-bundle/usr/local/share/qemu",
};

/* Where `make demo` has the firmware, from there */
static const char *const guest_folders[] = { "../guest", "../../guest" };

/* As fw_dynamic.bin is called where several files are in one folder */
static const char *const defaults[] = {
    "opensbi-riscv64-generic-fw_dynamic.bin",
    "opensbi-riscv32-generic-fw_dynamic.bin",
};

static void add_file(GPtrArray *files, const char *path)
{
    g_autofree char *real = realpath(path, NULL);

    if (!real || !g_file_test(real, G_FILE_TEST_IS_REGULAR)) {
        return;
    }
    for (guint i = 0; i < files->len; i++) {
        if (g_str_equal(files->pdata[i], real)) {
            return;
        }
    }
    g_ptr_array_add(files, g_strdup(real));
}

static void add_elfs(GPtrArray *files, const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *stem = g_path_get_basename(path);
    g_autofree char *name = NULL, *beside = NULL, *boot = NULL;

    if (!g_str_has_suffix(stem, ".bin")) {
        return;
    }
    stem[strlen(stem) - strlen(".bin")] = 0;
    name = g_strconcat(stem, ".elf", NULL);
    beside = g_build_filename(folder, name, NULL);
    boot = g_build_filename(folder, "sysroot", "boot", name, NULL);
    add_file(files, beside);
    add_file(files, boot);
}

void firmware_elfs(GPtrArray *files, const char *path)
{
    g_autofree char *real = realpath(path, NULL);

    if (real) {
        add_elfs(files, path);
        add_elfs(files, real);
    }
}

void firmware_default_elfs(GPtrArray *files, const char *program)
{
    g_autofree char *real = realpath(program, NULL);
    g_autofree char *folder = real ? g_path_get_dirname(real) : NULL;

    for (guint i = 0; folder && i < G_N_ELEMENTS(data_folders); i++) {
        for (guint k = 0; k < G_N_ELEMENTS(defaults); k++) {
            g_autofree char *path = g_build_filename(folder, data_folders[i],
                                                     defaults[k], NULL);

            firmware_elfs(files, path);
        }
    }
    for (guint i = 0; folder && i < G_N_ELEMENTS(guest_folders); i++) {
        g_autofree char *path = g_build_filename(folder, guest_folders[i],
                                                 "fw_dynamic.bin", NULL);

        firmware_elfs(files, path);
    }
}
