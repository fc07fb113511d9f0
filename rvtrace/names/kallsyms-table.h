/*
 * The kernel's own table of symbols, as it is in its image
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_KALLSYMS_TABLE_H
#define ETRACE_KALLSYMS_TABLE_H

#include "elf/symbols.h"

/*
 * Find the tables that scripts/kallsyms.c of Linux (6.4 and later) writes, in
 * @size bytes of a kernel's image, and add the functions to @symbols, at their
 * distances from the symbol _start, with which the image begins. Returns how
 * many there were; 0 if there are no such tables, or if they contradict each
 * other.
 */
unsigned kallsyms_table_read(const uint8_t *data, size_t size,
                             SymbolTable *symbols);

#endif /* ETRACE_KALLSYMS_TABLE_H */
