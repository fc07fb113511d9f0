/*
 * Source-level names for addresses
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <dwarf.h>
#include "elf/debug-file.h"
#include "base/text-plain.h"
#include "elf/debug-info.h"
#include "elf/debug-split.h"
#include "elf/debug-unit.h"

struct DebugInfo {
    DebugFile *file;
    Dwarf *dwarf;               /* NULL: no debug info */
    Dwarf *alt;
    char *path;
    char *note;
    DebugSplit *split;          /* what is in files of its own */
    DebugLimits limits;
    GArray *units;              /* DebugUnit, those with code */
    GArray *spans;              /* DebugSpan, disjoint, of units */
    guint span_hint;
};

static void add_note(DebugInfo *info, const char *what)
{
    if (!info->note) {
        info->note = g_strdup_printf("%s: %s", info->path, what);
    }
}

/* Where the program has code. A file of nothing but debug info says so, too. */
static void read_segments(DebugInfo *info)
{
    Elf *elf = info->file->file->elf;
    size_t n = 0;

    if (elf_getphdrnum(elf, &n)) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        DebugSpan span = { .depth = 0 };
        GElf_Phdr phdr;

        if (gelf_getphdr(elf, i, &phdr) && phdr.p_type == PT_LOAD &&
            (phdr.p_flags & PF_X) && phdr.p_memsz &&
            phdr.p_vaddr + phdr.p_memsz > phdr.p_vaddr) {
            span.lo = phdr.p_vaddr;
            span.hi = phdr.p_vaddr + phdr.p_memsz;
            g_array_append_val(info->limits.code, span);
        }
    }
    debug_spans_flatten(info->limits.code);
}

/*
 * A range of addresses, and a row of a line table, takes a byte or more of
 * debug info, each of its own: many that name the same ones are no program's.
 */
static uint64_t debug_size(Elf *elf)
{
    Elf_Scn *scn = NULL;
    uint64_t size = 0;
    size_t strings;
    GElf_Shdr shdr;

    if (elf_getshdrstrndx(elf, &strings)) {
        return 0;
    }
    while ((scn = elf_nextscn(elf, scn))) {
        const char *name;
        GElf_Chdr chdr;

        if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS) {
            continue;
        }
        name = elf_strptr(elf, strings, shdr.sh_name);
        if (name && (g_str_has_prefix(name, ".debug_") ||
                     g_str_has_prefix(name, ".zdebug_"))) {
            size += gelf_getchdr(scn, &chdr) ? chdr.ch_size : shdr.sh_size;
        }
    }
    return size;
}

/* The functions of a skeleton are in another file. */
static void find_split(DebugInfo *info, DebugUnit *unit)
{
    const char *missing;

    unit->is_split = debug_split_add(info->split, &unit->die, &unit->split,
                                     &missing);
    if (unit->is_split && missing) {
        g_autofree char *what = g_strdup_printf(
            "functions are in %s (-gsplit-dwarf), which is missing; lines are "
            "known", text_plain(missing));

        add_note(info, what);
    }
}

/* False if the ranges of the unit's addresses are more than there can be */
static bool add_unit(DebugInfo *info, Dwarf_Die *die)
{
    DebugUnit unit = { .die = *die };
    DebugSpan span = { .index = info->units->len };
    ptrdiff_t at = 0;
    Dwarf_Addr base;
    bool any = false;

    while ((at = dwarf_ranges(die, at, &base, &span.lo, &span.hi)) > 0) {
        if (!info->limits.budget) {
            return false;
        }
        info->limits.budget--;
        if (debug_is_code(&info->limits, span.lo, span.hi)) {
            g_array_append_val(info->spans, span);
            any = true;
        }
    }
    if (any) {
        find_split(info, &unit);
        g_array_append_val(info->units, unit);
    }
    return true;
}

static bool may_have_code(int tag)
{
    return tag == DW_TAG_compile_unit || tag == DW_TAG_partial_unit ||
           tag == DW_TAG_skeleton_unit;
}

static void read_units(DebugInfo *info)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    int more;

    while ((more = dwarf_get_units(info->dwarf, cu, &cu, NULL, NULL, &die,
                                   NULL)) == 0) {
        if (may_have_code(dwarf_tag(&die)) && !add_unit(info, &die)) {
            break;
        }
    }
    if (more != 1) {
        add_note(info, "the debug info is damaged, some of it is not read");
    }
    debug_spans_flatten(info->spans);
}

static void open_dwarf(DebugInfo *info)
{
    DebugFile *f = info->file;

    info->dwarf = dwarf_begin_elf(f->file->elf, DWARF_C_READ, NULL);
    if (info->dwarf && f->alt) {
        info->alt = dwarf_begin_elf(f->alt->elf, DWARF_C_READ, NULL);
        if (info->alt) {
            dwarf_setalt(info->dwarf, info->alt);
        } else {
            /* libdw would look for another one by itself. */
            g_clear_pointer(&info->dwarf, dwarf_end);
        }
    }
    if (!info->dwarf) {
        add_note(info, "the debug info cannot be read");
        return;
    }
    info->limits.budget = debug_size(f->file->elf);
    read_segments(info);
    read_units(info);
}

DebugInfo *debug_info_open(const char *path, char **sysroots, GError **errp)
{
    DebugFile *file = debug_file_open(path, sysroots, errp);
    DebugInfo *info;

    if (!file) {
        return NULL;
    }
    info = g_new0(DebugInfo, 1);
    info->file = file;
    info->path = g_strdup(path);
    info->split = debug_split_new(path, sysroots);
    info->limits.code = g_array_new(FALSE, FALSE, sizeof(DebugSpan));
    info->units = g_array_new(FALSE, FALSE, sizeof(DebugUnit));
    info->spans = g_array_new(FALSE, FALSE, sizeof(DebugSpan));
    if (file->file) {
        open_dwarf(info);
    } else {
        info->note = g_strdup(file->note);
    }
    return info;
}

void debug_info_free(DebugInfo *info)
{
    for (guint i = 0; i < info->units->len; i++) {
        debug_unit_clear(&g_array_index(info->units, DebugUnit, i));
    }
    debug_split_free(info->split);
    g_clear_pointer(&info->dwarf, dwarf_end);
    g_clear_pointer(&info->alt, dwarf_end);
    g_array_unref(info->units);
    g_array_unref(info->spans);
    g_array_unref(info->limits.code);
    g_clear_pointer(&info->limits.symbols, symbols_free);
    debug_file_close(info->file);
    g_free(info->path);
    g_free(info->note);
    g_free(info);
}

const char *debug_info_note(const DebugInfo *info)
{
    return info->note;
}

static void read_symbols(DebugInfo *info)
{
    SymbolTable *symbols = info->limits.symbols;

    if (!symbols) {
        info->limits.symbols = symbols = symbols_new();
        symbols_add_elf_file(symbols, info->file->file, 0, NULL);
        symbols_sort(symbols);
    }
}

static void read_functions(DebugInfo *info, DebugUnit *unit)
{
    Dwarf_Die die = unit->die;

    if (unit->functions_read) {
        return;
    }
    if (unit->is_split) {
        if (debug_split_find(info->split, info->file->file->elf, unit->split,
                             &die)) {
            info->limits.budget +=
                debug_size(dwarf_getelf(dwarf_cu_getdwarf(die.cu)));
            read_symbols(info);
        } else {
            die = unit->die;
            add_note(info, "a file that has functions of it (-gsplit-dwarf) "
                     "is of another build; lines are known");
        }
    }
    if (!debug_unit_read(unit, &die, &info->limits)) {
        add_note(info, "the debug info is damaged, some of it is not read");
    }
    if (info->limits.lengths_missing) {
        add_note(info, "what was inlined is not known: the .dwo files "
                 "(-gsplit-dwarf) have no lengths of it");
    }
}

static void read_lines(DebugInfo *info, DebugUnit *unit)
{
    if (unit->lines_read) {
        return;
    }
    unit->lines_read = true;
    if (!info->limits.budget ||
        dwarf_getsrclines(&unit->die, &unit->lines, &unit->nr_lines)) {
        unit->lines = NULL;
        unit->nr_lines = 0;
    }
    info->limits.budget -= MIN(info->limits.budget, unit->nr_lines);
}

static uint64_t row_address(const DebugUnit *unit, size_t row)
{
    Dwarf_Addr addr = UINT64_MAX;

    if (row < unit->nr_lines) {
        dwarf_lineaddr(dwarf_onesrcline(unit->lines, row), &addr);
    }
    return addr;
}

/* The last row that is not behind @addr. False if there is none. */
static bool find_row(DebugUnit *unit, uint64_t addr, size_t *row)
{
    size_t first = 0, last = unit->nr_lines;

    if (unit->line_hint < unit->nr_lines &&
        row_address(unit, unit->line_hint) <= addr &&
        addr < row_address(unit, unit->line_hint + 1)) {
        *row = unit->line_hint;
        return true;
    }
    while (first < last) {          /* first one behind addr */
        size_t mid = first + (last - first) / 2;

        if (row_address(unit, mid) <= addr) {
            first = mid + 1;
        } else {
            last = mid;
        }
    }
    if (!first) {
        return false;
    }
    *row = unit->line_hint = first - 1;
    return true;
}

/* False if the row only says where a sequence of addresses ends */
static bool read_row(DebugUnit *unit, size_t row, DebugLine *line)
{
    Dwarf_Line *l = dwarf_onesrcline(unit->lines, row);
    unsigned discriminator = 0;
    int nr = 0, column = 0;
    bool end, is_stmt;

    if (dwarf_lineendsequence(l, &end) || end) {
        return false;
    }
    dwarf_lineno(l, &nr);
    dwarf_linecol(l, &column);
    dwarf_linediscriminator(l, &discriminator);
    dwarf_linebeginstatement(l, &is_stmt);
    *line = (DebugLine) {
        .lo = row_address(unit, row),
        .hi = row_address(unit, row + 1),
        .file = debug_unit_path(unit, &unit->die,
                                dwarf_linesrc(l, NULL, NULL)),
        .line = MAX(nr, 0),
        .column = MAX(column, 0),
        .discriminator = discriminator,
        .is_stmt = is_stmt,
    };
    return true;
}

static bool find_line(DebugInfo *info, DebugUnit *unit, uint64_t addr,
                      DebugFrame *frame)
{
    DebugLine line;
    size_t row;

    read_lines(info, unit);
    if (!find_row(unit, addr, &row) || !read_row(unit, row, &line)) {
        return false;
    }
    *frame = (DebugFrame) {
        .file = line.file,
        .line = line.line,
        .column = line.column,
        .discriminator = line.discriminator,
    };
    return true;
}

static DebugUnit *find_unit(DebugInfo *info, uint64_t addr)
{
    const DebugSpan *span = debug_spans_find(info->spans, addr,
                                             &info->span_hint);

    return span ? &g_array_index(info->units, DebugUnit, span->index) : NULL;
}

bool debug_info_line(DebugInfo *info, uint64_t addr, DebugFrame *frame)
{
    DebugUnit *unit = find_unit(info, addr);

    return unit && find_line(info, unit, addr, frame);
}

unsigned debug_info_frames(DebugInfo *info, uint64_t addr, DebugFrame *frames,
                           unsigned max)
{
    DebugUnit *unit = find_unit(info, addr);
    const DebugFunction *function = NULL;
    DebugFrame frame = { .file = NULL };
    const DebugSpan *span;
    unsigned n = 0;
    bool known;

    if (!unit) {
        return 0;
    }
    known = find_line(info, unit, addr, &frame);
    read_functions(info, unit);
    span = debug_spans_find(unit->spans, addr, &unit->span_hint);
    if (span) {
        function = &g_array_index(unit->functions, DebugFunction,
                                  span->index);
        known = true;
    }
    while (known) {
        frame.function = function;
        if (n < max) {
            frames[n] = frame;
        }
        n++;
        known = function && function->caller;
        if (known) {
            frame.file = function->call_file;
            frame.line = function->call_line;
            frame.column = function->call_column;
            frame.discriminator = function->call_discriminator;
            function = function->caller;
        }
    }
    return n;
}

void debug_info_lines(DebugInfo *info, DebugLineFn *fn, void *opaque)
{
    for (guint i = 0; i < info->units->len; i++) {
        DebugUnit *unit = &g_array_index(info->units, DebugUnit, i);

        read_lines(info, unit);
        for (size_t row = 0; row < unit->nr_lines; row++) {
            DebugLine line;

            if (read_row(unit, row, &line) &&
                debug_is_code(&info->limits, line.lo, line.hi)) {
                fn(opaque, &line);
            }
        }
    }
}

void debug_info_functions(DebugInfo *info, DebugFunctionFn *function,
                          DebugFunctionFn *inlined, void *opaque)
{
    for (guint i = 0; i < info->units->len; i++) {
        DebugUnit *unit = &g_array_index(info->units, DebugUnit, i);

        read_functions(info, unit);
        for (guint j = 0; j < unit->functions->len; j++) {
            const DebugFunction *f = &g_array_index(unit->functions,
                                                    DebugFunction, j);
            DebugFunctionFn *fn = f->caller ? inlined : function;

            if (fn) {
                fn(opaque, f);
            }
        }
    }
}
