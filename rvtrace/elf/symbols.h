/*
 * Names for addresses: from ELF files and kallsyms
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SYMBOLS_H
#define ETRACE_SYMBOLS_H

#include "elf/elf-file.h"

typedef struct Symbol {
    uint64_t start;
    uint64_t end;           /* first address behind it */
    bool label;             /* it has neither a type nor a size */
    const char *name;       /* as it is shown; owned by the table */
    const char *linkage;    /* as linkers know it: may be the same pointer */
} Symbol;

typedef struct SymbolTable SymbolTable;

SymbolTable *symbols_new(void);
void symbols_free(SymbolTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SymbolTable, symbols_free)

/*
 * Add the functions of an ELF file, moved by @bias bytes. No symbols at all
 * are an error, too.
 */
bool symbols_add_elf(SymbolTable *table, const char *path, uint64_t bias,
                     GError **errp);

/*
 * The same of @file; returns how many there were. Those of a relocatable file
 * are moved by what @bases says of their section, by its number, instead.
 */
unsigned symbols_add_elf_file(SymbolTable *table, ElfFile *file,
                              uint64_t bias, const uint64_t *bases);

/* Add one; @size may be 0: not known. @name is copied. */
void symbols_add(SymbolTable *table, uint64_t start, uint64_t size,
                 const char *name);

/* How many there are */
unsigned symbols_count(const SymbolTable *table);

/* Add the functions of a copy of /proc/kallsyms, or of a System.map. */
bool symbols_add_kallsyms(SymbolTable *table, const char *path,
                          GError **errp);

/* The same from memory. */
bool symbols_parse_kallsyms(SymbolTable *table, const char *text, size_t size,
                            GError **errp);

/*
 * To be called when all have been added, before symbols_find(). Labels within a
 * function that has a size are removed: they are not functions.
 */
void symbols_sort(SymbolTable *table);

/*
 * Show the names that the source has. Neither their order nor their linkage
 * names change.
 */
void symbols_demangle(SymbolTable *table);

/*
 * The function at @addr, or NULL. A function without a size extends to the
 * next one. If @lo and @hi are not NULL they are set to the range of
 * addresses around @addr for which the answer is the same.
 */
const Symbol *symbols_find(const SymbolTable *table, uint64_t addr,
                           uint64_t *lo, uint64_t *hi);

/* All of them, by address, after symbols_sort(); sets *@n */
const Symbol *symbols_all(const SymbolTable *table, unsigned *n);

#endif /* ETRACE_SYMBOLS_H */
