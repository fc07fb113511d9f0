/*
 * Which file has the debug info, or the symbols, of an ELF file
 *
 * Nothing is ever fetched from a network.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_DEBUG_FILE_H
#define ETRACE_DEBUG_FILE_H

#include "elf/elf-file.h"

typedef struct DebugFile {
    ElfFile *file;          /* has the debug info; NULL: there is none */
    ElfFile *alt;           /* what dwz moved out of @file, or NULL */
    char *note;             /* why @file is NULL */
} DebugFile;

/*
 * Find the debug info of @path: in itself, or in a file of the same build-id
 * below one of @sysroots (NULL, or a list that ends with NULL), on the host or
 * in debuginfod's cache, or in the file that its .gnu_debuglink names.
 * Finding none is not an error. Returns NULL and sets @errp if @path is not a
 * RISC-V ELF file.
 */
DebugFile *debug_file_open(const char *path, char **sysroots, GError **errp);
void debug_file_close(DebugFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DebugFile, debug_file_close)

/*
 * The file of the same build as @file that has a .symtab, looked for in the
 * same places. @path is where @file is; NULL: it is part of another file, and
 * has only its build-id. NULL if there is none. elf_file_close() frees it.
 */
ElfFile *debug_file_symbols(const ElfFile *file, const char *path,
                            char **sysroots);

#endif /* ETRACE_DEBUG_FILE_H */
