/*
 * Which file has the debug info of an ELF file
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
 * below @sysroot (which may be NULL), on the host or in debuginfod's cache, or
 * in the file that its .gnu_debuglink names. That none is found is no error.
 * Returns NULL and sets @errp if @path is no RISC-V ELF file.
 */
DebugFile *debug_file_open(const char *path, const char *sysroot,
                           GError **errp);
void debug_file_close(DebugFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DebugFile, debug_file_close)

#endif /* ETRACE_DEBUG_FILE_H */
