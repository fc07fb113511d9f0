/*
 * RISC-V ELF files
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_ELF_FILE_H
#define ETRACE_ELF_FILE_H

#include <gelf.h>
#include <glib.h>

typedef struct ElfFile {
    GBytes *file;
    Elf *elf;
    unsigned xlen;          /* 32 or 64 */
} ElfFile;

/* Returns NULL and sets @errp if @path is no RISC-V ELF file. */
ElfFile *elf_file_open(const char *path, GError **errp);
/*
 * The same from memory, of which a reference is taken. @path is for messages.
 */
ElfFile *elf_file_parse(GBytes *bytes, const char *path, GError **errp);
void elf_file_close(ElfFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ElfFile, elf_file_close)

/* The section called @name if it has contents; else NULL */
Elf_Scn *elf_file_section(const ElfFile *file, const char *name);

/*
 * Is there a .symtab? What `strip` leaves has at most .dynsym, the functions
 * that other files may call.
 */
bool elf_file_has_symtab(const ElfFile *file);

/*
 * Where the dynamic section is, by the file's own addresses; *@pie: it is a
 * program that lies anywhere. Returns false if the file has none.
 */
bool elf_file_dynamic(const ElfFile *file, uint64_t *addr, bool *pie);

/*
 * Split "FILE" or "FILE@BIAS". A name with an @ of its own can be given as
 * FILE@0. Returns the file's name, or NULL if BIAS is not a number.
 */
char *elf_file_split(const char *arg, uint64_t *bias, GError **errp);

#endif /* ETRACE_ELF_FILE_H */
