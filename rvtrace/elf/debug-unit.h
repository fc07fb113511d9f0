/*
 * The functions of a compilation unit
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_DEBUG_UNIT_H
#define ETRACE_DEBUG_UNIT_H

#include <elfutils/libdw.h>
#include "elf/debug-info.h"
#include "elf/symbols.h"

/* Addresses, and the index of what they belong to */
typedef struct DebugSpan {
    uint64_t lo;
    uint64_t hi;
    uint32_t depth;             /* what is deeper is meant where two overlap */
    uint32_t index;
} DebugSpan;

/*
 * Sort spans by address, and make them disjoint: of those that overlap, the
 * deepest stays.
 */
void debug_spans_flatten(GArray *spans);

/*
 * The span of @addr, or NULL. @hint, which starts with 0, makes it quick to
 * ask for neighbours.
 */
const DebugSpan *debug_spans_find(const GArray *spans, uint64_t addr,
                                  guint *hint);

/* What can be true of a file */
typedef struct DebugLimits {
    GArray *code;               /* DebugSpan, disjoint; empty: not known */
    guint code_hint;
    uint64_t budget;            /* ranges and rows that may still come */
    /* NULL, or those of the linked file, for functions without a length */
    SymbolTable *symbols;
    bool lengths_missing;       /* ... of which there are some */
} DebugLimits;

/*
 * Whether there is code from @lo to @hi. Of functions that the linker threw
 * away, DWARF says that they are at 0.
 */
bool debug_is_code(DebugLimits *limits, uint64_t lo, uint64_t hi);

typedef struct DebugUnit {
    Dwarf_Die die;              /* a skeleton if is_split */
    bool is_split;              /* functions are in another file */
    unsigned split;             /* ... which debug_split_find() finds */
    Dwarf_Lines *lines;         /* in order of addresses; NULL: none */
    size_t nr_lines;
    size_t line_hint;           /* the row that was found last */
    bool lines_read;
    bool functions_read;
    GArray *ranges;             /* DebugRange, those of a function together */
    GArray *functions;          /* DebugFunction */
    GArray *spans;              /* DebugSpan, disjoint, of functions */
    guint span_hint;
    GHashTable *paths;          /* of libdw's names that are not absolute */
} DebugUnit;

/*
 * The path of a file that libdw calls @name (NULL: not known) because of what
 * the compilation unit @die says, which may be another one than @unit. The
 * string belongs to @unit, or to libdw.
 */
const char *debug_unit_path(DebugUnit *unit, Dwarf_Die *die, const char *name);

/*
 * Read the functions of @unit, which @die has: the unit's own, or that of the
 * file that it was split off into. The ranges of addresses that are read are
 * taken off the budget. Returns false if the DWARF is damaged; what came before the
 * damage is there.
 */
bool debug_unit_read(DebugUnit *unit, Dwarf_Die *die, DebugLimits *limits);
void debug_unit_clear(DebugUnit *unit);

#endif /* ETRACE_DEBUG_UNIT_H */
