/*
 * Objects from ELF files: programs, libraries, modules, vdso, firmware
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_OBJECT_ELF_H
#define ETRACE_OBJECT_ELF_H

#include "names/object.h"

/*
 * A new object of @table from the RISC-V ELF file @file, which the guest knows
 * as @path: its executable segments, or the executable sections of a file of
 * the kernel's modules, which lie in the object one behind the other. Symbols
 * are not read yet. Returns NULL and sets @errp if it is no such file, or if
 * it is damaged. An object without any code is returned, too.
 */
Object *object_elf_load(ObjectTable *table, const char *path,
                        const char *file, GError **errp);

/*
 * Load the rest of @object, a brief one, from its file. Returns false if the
 * file has changed into one of another kind, or cannot be read any more.
 */
bool object_elf_complete(Object *object);

/*
 * The file that the guest knows as @path, an absolute one, below the first of
 * @roots (may be NULL) that has it as an ELF file of the kind that processes
 * map: no module, and if @with_code, with code. Whatever @path says, it leads
 * to no file that is not below @roots. Its symbols are read. NULL if there is
 * none.
 */
Object *object_elf_find(ObjectTable *table, char **roots, const char *path,
                        bool with_code);

/*
 * The same with code, or else the first one in which as many of the last parts
 * of @path as possible lead to one: for /home/me/bin/ls, bin/ls or just ls. It
 * may be another file with that name: its bytes have to be compared.
 */
Object *object_elf_find_copy(ObjectTable *table, char **roots,
                             const char *path);

/*
 * The same as object_elf_load() from @size bytes of memory at @data, which
 * @owner owns (a reference is taken). @kind replaces what the file says, unless
 * it is OBJECT_NONE.
 */
Object *object_elf_parse(ObjectTable *table, const char *path,
                         const char *file, GBytes *owner,
                         const uint8_t *data, size_t size, ObjectKind kind,
                         GError **errp);

/*
 * Read the names of the functions of @object, which is in @table: those of its
 * .symtab and .dynsym. If it was stripped of its .symtab, those of a file of
 * the same build are added: of another object of @table, whose file becomes
 * the object's own, or of one that debug_file_symbols() finds; or else what the
 * object itself has for this case, MiniDebugInfo or Go's table. Returns how
 * many there are.
 */
unsigned object_elf_names(ObjectTable *table, Object *object);

/*
 * The same, and then functions without a name: those that .eh_frame describes
 * or that look like some. They are named after their addresses.
 */
void object_elf_symbols(ObjectTable *table, Object *object);

#endif /* ETRACE_OBJECT_ELF_H */
