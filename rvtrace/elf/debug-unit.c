/*
 * The functions of a compilation unit
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <dwarf.h>
#include "base/text-plain.h"
#include "elf/debug-unit.h"

/* Blocks in blocks; more are not what a compiler makes. */
#define MAX_DEPTH 512

/* Which libdw's dwarf.h does not know */
#define AT_GNU_DISCRIMINATOR 0x2136

#define NO_FUNCTION UINT32_MAX

/* While the tree is walked, callers and ranges are known by their index. */
typedef struct Entry {
    DebugFunction f;
    uint32_t caller;
    guint first_range;
} Entry;

typedef struct Walk {
    DebugUnit *unit;
    GArray *entries;            /* Entry */
    Dwarf_Files *files;
    size_t nr_files;
    DebugLimits *limits;
    Dwarf_Off last;             /* offset of the last DIE */
} Walk;

static int compare_spans(gconstpointer a, gconstpointer b)
{
    const DebugSpan *x = a, *y = b;

    if (x->lo != y->lo) {
        return x->lo < y->lo ? -1 : 1;
    }
    if (x->depth != y->depth) {
        return x->depth < y->depth ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

/* @span from @lo to @hi, joined to what was added before if it can be */
static void add_flat(GArray *flat, const DebugSpan *span, uint64_t lo,
                     uint64_t hi)
{
    DebugSpan piece = *span, *last;

    if (lo >= hi) {
        return;
    }
    last = flat->len ? &g_array_index(flat, DebugSpan, flat->len - 1) : NULL;
    if (last && last->hi == lo && last->index == span->index) {
        last->hi = hi;
        return;
    }
    piece.lo = lo;
    piece.hi = hi;
    g_array_append_val(flat, piece);
}

/*
 * Add what is on the stack until @to. What is below the top, and ends later,
 * comes to light when the top has ended.
 */
static void flatten_until(GArray *flat, GArray *stack, uint64_t *at,
                          uint64_t to)
{
    while (stack->len && *at < to) {
        const DebugSpan *top = &g_array_index(stack, DebugSpan,
                                              stack->len - 1);
        uint64_t end = MIN(top->hi, to);

        if (*at < end) {
            add_flat(flat, top, *at, end);
            *at = end;
        }
        if (top->hi <= *at) {
            g_array_set_size(stack, stack->len - 1);
        }
    }
    *at = to;
}

void debug_spans_flatten(GArray *spans)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(DebugSpan));
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(DebugSpan));
    uint64_t at = 0;

    g_array_append_vals(all, spans->data, spans->len);
    g_array_sort(all, compare_spans);
    g_array_set_size(spans, 0);
    for (guint i = 0; i < all->len; i++) {
        const DebugSpan *span = &g_array_index(all, DebugSpan, i);

        flatten_until(spans, stack, &at, span->lo);
        g_array_append_val(stack, *span);
    }
    flatten_until(spans, stack, &at, UINT64_MAX);
}

const DebugSpan *debug_spans_find(const GArray *spans, uint64_t addr,
                                  guint *hint)
{
    const DebugSpan *s = (const DebugSpan *)spans->data;
    guint first = 0, last = spans->len;

    if (*hint < spans->len && s[*hint].lo <= addr && addr < s[*hint].hi) {
        return &s[*hint];
    }
    while (first < last) {          /* first one behind addr */
        guint mid = first + (last - first) / 2;

        if (s[mid].lo <= addr) {
            first = mid + 1;
        } else {
            last = mid;
        }
    }
    if (!first || addr >= s[first - 1].hi) {
        return NULL;
    }
    *hint = first - 1;
    return &s[first - 1];
}

bool debug_is_code(DebugLimits *limits, uint64_t lo, uint64_t hi)
{
    return lo < hi && (!limits->code->len ||
                       debug_spans_find(limits->code, lo,
                                        &limits->code_hint));
}

/* Names stay where they are: which one it is, its address says. */
const char *debug_unit_path(DebugUnit *unit, Dwarf_Die *die, const char *name)
{
    Dwarf_Attribute attr;
    const char *dir;
    char *path;

    if (!name || name[0] == '/') {
        return name ? text_plain(name) : NULL;
    }
    if (!unit->paths) {
        unit->paths = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    }
    path = g_hash_table_lookup(unit->paths, name);
    if (!path) {
        /* What is split off leaves it to the skeleton. */
        dir = dwarf_attr(die, DW_AT_comp_dir, &attr) ||
              dwarf_attr(&unit->die, DW_AT_comp_dir, &attr) ?
            dwarf_formstring(&attr) : NULL;
        path = dir ? g_build_filename(text_plain(dir), text_plain(name), NULL) :
                     g_strdup(text_plain(name));
        g_hash_table_insert(unit->paths, (void *)name, path);
    }
    return path;
}

static unsigned number(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attr;
    Dwarf_Word value;

    return dwarf_attr(die, name, &attr) && !dwarf_formudata(&attr, &value) &&
           value <= UINT_MAX ? value : 0;
}

static const char *string(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attr;

    return dwarf_attr_integrate(die, name, &attr) ? dwarf_formstring(&attr)
                                                  : NULL;
}

static const char *function_name(Dwarf_Die *die)
{
    const char *name = string(die, DW_AT_linkage_name);

    if (!name) {
        name = string(die, DW_AT_MIPS_linkage_name);
    }
    return name ? name : string(die, DW_AT_name);
}

/* The unit that has the declaration may be another one. */
static const char *decl_file(Walk *w, Dwarf_Die *die)
{
    const char *name = dwarf_decl_file(die);
    Dwarf_Attribute attr;
    Dwarf_Die unit;

    if (name && dwarf_attr_integrate(die, DW_AT_decl_file, &attr) &&
        dwarf_cu_die(attr.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL)) {
        return debug_unit_path(w->unit, &unit, name);
    }
    return name;
}

/*
 * Lengths in .dwo files would need relocations, which these cannot have; gcc 12
 * for RISC-V writes 0. Functions then take the length of their symbol; inlined
 * functions have no symbol, so their length stays unknown.
 */
static uint64_t missing_end(Walk *w, Dwarf_Die *die, uint64_t lo)
{
    const Symbol *symbol = dwarf_tag(die) == DW_TAG_subprogram ?
        symbols_find(w->limits->symbols, lo, NULL, NULL) : NULL;

    w->limits->lengths_missing = true;
    return symbol && symbol->start == lo ? symbol->end : lo;
}

/* False if there are more ranges than there can be */
static bool read_ranges(Walk *w, Dwarf_Die *die, Entry *e)
{
    GArray *ranges = w->unit->ranges;
    Dwarf_Addr base, lo, hi;
    ptrdiff_t at = 0;

    e->first_range = ranges->len;
    while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
        DebugRange range = { lo, hi };

        if (!w->limits->budget) {
            return false;
        }
        w->limits->budget--;
        if (lo == hi && w->limits->symbols) {
            range.hi = missing_end(w, die, lo);
        }
        if (debug_is_code(w->limits, lo, range.hi)) {
            g_array_append_val(ranges, range);
            e->f.nr_ranges++;
        }
    }
    return true;
}

static bool in_ranges(Walk *w, const Entry *e, uint64_t addr)
{
    for (guint i = 0; i < e->f.nr_ranges; i++) {
        const DebugRange *r = &g_array_index(w->unit->ranges, DebugRange,
                                             e->first_range + i);

        if (r->lo <= addr && addr < r->hi) {
            return true;
        }
    }
    return false;
}

static void read_entry_pc(Walk *w, Dwarf_Die *die, Entry *e)
{
    Dwarf_Addr entry;

    if (!dwarf_entrypc(die, &entry) && in_ranges(w, e, entry)) {
        e->f.entry = entry;
    } else if (e->f.nr_ranges) {
        e->f.entry = g_array_index(w->unit->ranges, DebugRange,
                                   e->first_range).lo;
    }
}

static void add_entry(Walk *w, Dwarf_Die *die, Entry *e, uint32_t depth)
{
    const char *call_file = NULL;
    uint32_t index = w->entries->len;
    int line;

    e->f.name = function_name(die);
    e->f.name = e->f.name ? text_plain(e->f.name) : NULL;
    e->f.file = decl_file(w, die);
    e->f.line = dwarf_decl_line(die, &line) ? 0 : line;
    read_entry_pc(w, die, e);
    if (e->caller != NO_FUNCTION) {
        unsigned file = number(die, DW_AT_call_file);

        if (w->files && file < w->nr_files) {
            call_file = dwarf_filesrc(w->files, file, NULL, NULL);
        }
        e->f.call_file = debug_unit_path(w->unit, &w->unit->die, call_file);
        e->f.call_line = number(die, DW_AT_call_line);
        e->f.call_column = number(die, DW_AT_call_column);
        e->f.call_discriminator = number(die, AT_GNU_DISCRIMINATOR);
    }
    for (guint i = 0; i < e->f.nr_ranges; i++) {
        const DebugRange *r = &g_array_index(w->unit->ranges, DebugRange,
                                             e->first_range + i);
        DebugSpan span = { r->lo, r->hi, depth, index };

        g_array_append_val(w->unit->spans, span);
    }
    g_array_append_val(w->entries, *e);
}

static bool walk_children(Walk *w, Dwarf_Die *parent, uint32_t caller,
                          uint32_t depth);

/*
 * A function that is not inlined begins anew, even in another one. Without
 * code of its own, it only says what those with code have in common.
 */
static bool walk_function(Walk *w, Dwarf_Die *die, uint32_t depth)
{
    Entry e = { .caller = NO_FUNCTION };
    uint32_t self = NO_FUNCTION;
    bool ok = read_ranges(w, die, &e);

    if (ok && e.f.nr_ranges) {
        self = w->entries->len;
        add_entry(w, die, &e, depth);
    }
    return ok && walk_children(w, die, self, depth);
}

/* The code that was inlined may be nothing but other inlined code. */
static bool walk_inlined(Walk *w, Dwarf_Die *die, uint32_t caller,
                         uint32_t depth)
{
    Entry e = { .caller = caller };
    uint32_t self = w->entries->len;

    if (caller == NO_FUNCTION) {
        return true;
    }
    if (!read_ranges(w, die, &e)) {
        return false;
    }
    add_entry(w, die, &e, depth);
    return walk_children(w, die, self, depth);
}

static bool walk_die(Walk *w, Dwarf_Die *die, uint32_t caller, uint32_t depth)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_subprogram:
        return walk_function(w, die, depth);
    case DW_TAG_inlined_subroutine:
        return walk_inlined(w, die, caller, depth);
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
        return walk_children(w, die, caller, depth);
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_interface_type:
        return walk_children(w, die, NO_FUNCTION, depth);
    default:
        return true;
    }
}

/*
 * Each DIE comes behind the one before it, or siblings lead into children,
 * and a damaged tree into more work than there are DIEs.
 */
static bool walk_children(Walk *w, Dwarf_Die *parent, uint32_t caller,
                          uint32_t depth)
{
    Dwarf_Die die;
    int more;

    if (depth >= MAX_DEPTH) {
        return false;
    }
    for (more = dwarf_child(parent, &die); more == 0;
         more = dwarf_siblingof(&die, &die)) {
        Dwarf_Off offset = dwarf_dieoffset(&die);

        if (offset <= w->last) {
            return false;
        }
        w->last = offset;
        if (!walk_die(w, &die, caller, depth + 1)) {
            return false;
        }
    }
    return more == 1;
}

/* Arrays do not move any more: indices become pointers. */
static void settle(Walk *w)
{
    DebugUnit *u = w->unit;

    g_array_set_size(u->functions, w->entries->len);
    for (guint i = 0; i < w->entries->len; i++) {
        const Entry *e = &g_array_index(w->entries, Entry, i);
        DebugFunction *f = &g_array_index(u->functions, DebugFunction, i);

        *f = e->f;
        f->ranges = &g_array_index(u->ranges, DebugRange, e->first_range);
        if (e->caller != NO_FUNCTION) {
            f->caller = &g_array_index(u->functions, DebugFunction,
                                       e->caller);
        }
    }
}

bool debug_unit_read(DebugUnit *unit, Dwarf_Die *die, DebugLimits *limits)
{
    g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(Entry));
    Walk w = {
        .unit = unit, .entries = entries, .limits = limits,
        .last = dwarf_dieoffset(die),
    };
    bool ok;

    unit->functions_read = true;
    unit->ranges = g_array_new(FALSE, FALSE, sizeof(DebugRange));
    unit->functions = g_array_new(FALSE, FALSE, sizeof(DebugFunction));
    unit->spans = g_array_new(FALSE, FALSE, sizeof(DebugSpan));
    if (dwarf_getsrcfiles(die, &w.files, &w.nr_files)) {
        w.files = NULL;
    }
    ok = walk_children(&w, die, NO_FUNCTION, 0);
    settle(&w);
    debug_spans_flatten(unit->spans);
    return ok;
}

void debug_unit_clear(DebugUnit *unit)
{
    g_clear_pointer(&unit->ranges, g_array_unref);
    g_clear_pointer(&unit->functions, g_array_unref);
    g_clear_pointer(&unit->spans, g_array_unref);
    g_clear_pointer(&unit->paths, g_hash_table_unref);
}
