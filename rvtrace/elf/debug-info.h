/*
 * Source-level names for addresses: functions, inlined calls, files, lines
 *
 * What DWARF says of an ELF file, read through elfutils' libdw. Addresses are
 * those of the file, without a bias. Names are those of the symbol table (for
 * C++ and Rust: mangled), files are named by absolute paths where the
 * compiler recorded its folder. All strings and functions belong to the
 * DebugInfo and live as long as it does.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_DEBUG_INFO_H
#define ETRACE_DEBUG_INFO_H

#include <glib.h>

typedef struct DebugInfo DebugInfo;

/* Addresses @lo to @hi, without @hi */
typedef struct DebugRange {
    uint64_t lo;
    uint64_t hi;
} DebugRange;

/*
 * A function that has code of its own, or one that was inlined, once for each
 * place where it was
 */
typedef struct DebugFunction DebugFunction;
struct DebugFunction {
    const char *name;           /* NULL: not known */
    const char *file;           /* of the declaration; NULL: not known */
    unsigned line;              /* of the declaration; 0: not known */
    uint64_t entry;             /* where its code begins */
    const DebugRange *ranges;   /* its code, what it inlines included */
    unsigned nr_ranges;
    /* Where it was inlined; NULL: nowhere, it has code of its own */
    const DebugFunction *caller;
    const char *call_file;      /* the call's; NULL: not known */
    unsigned call_line;
    unsigned call_column;
    unsigned call_discriminator;
};

typedef struct DebugFrame {
    const DebugFunction *function;  /* NULL: not known */
    const char *file;               /* NULL: not known */
    unsigned line;                  /* 0: not known */
    unsigned column;                /* 0: not known */
    unsigned discriminator;
} DebugFrame;

/* One row of the line table: what addresses @lo to @hi, without @hi, are */
typedef struct DebugLine {
    uint64_t lo;
    uint64_t hi;
    const char *file;           /* NULL: not known */
    unsigned line;              /* 0: of no line */
    unsigned column;
    unsigned discriminator;
    bool is_stmt;               /* a place for a breakpoint */
} DebugLine;

typedef void DebugLineFn(void *opaque, const DebugLine *line);
typedef void DebugFunctionFn(void *opaque, const DebugFunction *function);

/*
 * Read the debug info of the RISC-V ELF file @path, which may be in another
 * file: see debug-file.h for where it is looked for. A file without debug info
 * is opened, too, but has no answers. Returns NULL and sets @errp if @path is
 * no RISC-V ELF file.
 */
DebugInfo *debug_info_open(const char *path, char **sysroots, GError **errp);
void debug_info_free(DebugInfo *info);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DebugInfo, debug_info_free)

/*
 * Why there are no answers, or why some are missing, as a sentence without a
 * full stop, in which the path is; NULL if nothing is known to be missing.
 */
const char *debug_info_note(const DebugInfo *info);

/*
 * What @addr is: the innermost inlined function first, the function that has
 * the code last. Returns how many there are, of which the first @max are
 * written to @frames; 0 if nothing is known of @addr.
 */
unsigned debug_info_frames(DebugInfo *info, uint64_t addr, DebugFrame *frames,
                           unsigned max);

/*
 * Only the file, line, column and discriminator of the innermost frame, which
 * takes no reading of functions. Returns false if no line is known of @addr;
 * *@frame is not set then.
 */
bool debug_info_line(DebugInfo *info, uint64_t addr, DebugFrame *frame);

/*
 * Every row of the line tables that has addresses, sorted by address within
 * each compilation unit. The row is only valid in @fn.
 */
void debug_info_lines(DebugInfo *info, DebugLineFn *fn, void *opaque);

/*
 * Every function that has code of its own goes to @function, followed by what
 * was inlined into it to @inlined, callers first. Either may be NULL.
 */
void debug_info_functions(DebugInfo *info, DebugFunctionFn *function,
                          DebugFunctionFn *inlined, void *opaque);

#endif /* ETRACE_DEBUG_INFO_H */
