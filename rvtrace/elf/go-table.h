/*
 * Names of functions in Go's own table, which stripped programs keep
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_GO_TABLE_H
#define ETRACE_GO_TABLE_H

#include "elf/symbols.h"

/*
 * Add the functions that .gopclntab of @file names, as Go 1.16 and newer write
 * it; returns how many there are. Go's runtime needs the table for its own
 * stack traces. What contradicts the file's code is left out.
 */
unsigned symbols_add_go(SymbolTable *table, const ElfFile *file);

#endif /* ETRACE_GO_TABLE_H */
