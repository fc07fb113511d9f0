/*
 * RISC-V ELF files
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "elf/elf-file.h"
#include "base/input.h"
#include "base/packed.h"

#ifndef EM_RISCV
#define EM_RISCV 243
#endif

ElfFile *elf_file_open(const char *path, GError **errp)
{
    g_autoptr(GBytes) bytes = packed_open(path, errp);

    return bytes ? elf_file_parse(bytes, path, errp) : NULL;
}

ElfFile *elf_file_parse(GBytes *bytes, const char *path, GError **errp)
{
    g_autoptr(ElfFile) file = g_new0(ElfFile, 1);
    const uint8_t *data;
    GElf_Ehdr ehdr;
    size_t size;

    file->file = g_bytes_ref(bytes);
    data = input_data(file->file, &size);
    elf_version(EV_CURRENT);
    /* It is only read. */
    file->elf = elf_memory((char *)data, size);
    if (!file->elf || elf_kind(file->elf) != ELF_K_ELF ||
        !gelf_getehdr(file->elf, &ehdr)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: not an ELF file", path);
        return NULL;
    }
    if (ehdr.e_machine != EM_RISCV) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: an ELF file, but not for RISC-V", path);
        return NULL;
    }
    file->xlen = ehdr.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
    return g_steal_pointer(&file);
}

void elf_file_close(ElfFile *file)
{
    if (file->elf) {
        elf_end(file->elf);
    }
    g_clear_pointer(&file->file, g_bytes_unref);
    g_free(file);
}

Elf_Scn *elf_file_section(const ElfFile *file, const char *name)
{
    Elf_Scn *scn = NULL;
    GElf_Shdr shdr;
    size_t strings;

    if (elf_getshdrstrndx(file->elf, &strings)) {
        return NULL;
    }
    while ((scn = elf_nextscn(file->elf, scn))) {
        if (gelf_getshdr(scn, &shdr) && shdr.sh_type != SHT_NOBITS &&
            !g_strcmp0(elf_strptr(file->elf, strings, shdr.sh_name), name)) {
            return scn;
        }
    }
    return NULL;
}

bool elf_file_has_symtab(const ElfFile *file)
{
    Elf_Scn *scn = NULL;
    GElf_Shdr shdr;

    while ((scn = elf_nextscn(file->elf, scn))) {
        if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_SYMTAB) {
            return true;
        }
    }
    return false;
}

bool elf_file_dynamic(const ElfFile *file, uint64_t *addr, bool *pie)
{
    Elf_Scn *section = elf_file_section(file, ".dynamic");
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    GElf_Shdr shdr;
    GElf_Dyn dyn;

    if (!data || !gelf_getshdr(section, &shdr)) {
        return false;
    }
    *addr = shdr.sh_addr;
    *pie = false;
    for (int i = 0; gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
        *pie |= dyn.d_tag == DT_FLAGS_1 && (dyn.d_un.d_val & DF_1_PIE);
    }
    return true;
}

char *elf_file_split(const char *arg, uint64_t *bias, GError **errp)
{
    const char *at = strrchr(arg, '@');
    char *end;

    *bias = 0;
    if (!at) {
        return g_strdup(arg);
    }
    *bias = g_ascii_strtoull(at + 1, &end, 0);
    if (!at[1] || *end) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                    "%s: '%s' is not a number of bytes", arg, at + 1);
        return NULL;
    }
    return g_strndup(arg, at - arg);
}
