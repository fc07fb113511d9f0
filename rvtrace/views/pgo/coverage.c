/*
 * Coverage: from what ran of an object to lines of source files
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/pgo/coverage-private.h"
#include "elf/debug-info.h"
#include "names/kernel-image.h"

/* Calls that were inlined into each other, of which more is not looked at */
#define MAX_DEPTH   64

/* A line in one function, or in one inlined copy of it */
typedef struct LineCopy {
    const DebugFunction *function;  /* NULL: not known */
    CoverageFile *file;
    unsigned line;
    uint64_t count;
} LineCopy;

typedef struct Work {
    Coverage *cv;
    ObjectCounts *oc;
    const ObjectText *text;
    DebugInfo *debug;
    GHashTable *copies;     /* LineCopy */
    GHashTable *taken, *not_taken;  /* address -> uint64_t * */
} Work;

static guint copy_hash(gconstpointer key)
{
    const LineCopy *c = key;

    return g_direct_hash(c->function) * 31 + g_direct_hash(c->file) +
           c->line * 2654435761u;
}

static gboolean copy_equal(gconstpointer a, gconstpointer b)
{
    const LineCopy *x = a, *y = b;

    return x->function == y->function && x->file == y->file &&
           x->line == y->line;
}

/* @line of @function ran @count times, some instruction of it. */
static void add_line(Work *w, const DebugFunction *function,
                     CoverageFile *file, unsigned line, uint64_t count)
{
    LineCopy key = { .function = function, .file = file, .line = line };
    LineCopy *copy = g_hash_table_lookup(w->copies, &key);

    if (!copy) {
        copy = g_memdup2(&key, sizeof(key));
        g_hash_table_add(w->copies, copy);
    }
    copy->count = MAX(copy->count, count);
}

static void on_row(void *opaque, const DebugLine *row)
{
    Work *w = opaque;
    uint64_t count = object_counts_most(w->oc, row->lo, row->hi);
    CoverageFile *file = row->line ? coverage_file(w->cv, row->file) : NULL;
    DebugFrame frame;

    if (file && (count || row->is_stmt)) {
        bool known = debug_info_frames(w->debug, row->lo, &frame, 1);

        add_line(w, known ? frame.function : NULL, file, row->line, count);
    }
}

/* How often @f was entered */
static uint64_t entries(const Work *w, const DebugFunction *f)
{
    uint64_t count = object_counts_at(w->oc, f->entry);

    /*
     * Code moves across the beginning of what was inlined: then the first
     * instruction of it that ran says more.
     */
    for (unsigned i = 0; !count && i < f->nr_ranges; i++) {
        for (uint64_t a = f->ranges[i].lo; !count && a < f->ranges[i].hi;
             a += 2) {
            count = object_counts_at(w->oc, a);
        }
    }
    return count;
}

/*
 * Where @f is declared. In DWARF 5 that may be file 0, which libdw before 0.190
 * takes for none: it is the one that the first instruction's line is in, then.
 */
static const char *file_of(Work *w, const DebugFunction *f)
{
    DebugFrame frames[MAX_DEPTH];
    unsigned n = f->file ? 0 :
                 debug_info_frames(w->debug, f->entry, frames, MAX_DEPTH);

    for (unsigned i = 0; i < MIN(n, MAX_DEPTH); i++) {
        if (frames[i].function == f) {
            return frames[i].file;
        }
    }
    return f->file;
}

/*
 * Parts of a function that the compiler took out are no functions; one that
 * was copied is the same in each copy.
 */
static CoverageFunction *function_of(Work *w, const DebugFunction *f)
{
    CoverageFile *file = f->line ? coverage_file(w->cv, file_of(w, f)) : NULL;
    g_autofree char *stem = NULL;

    if (!file || !f->name || strstr(f->name, ".part.") ||
        g_str_has_suffix(f->name, ".cold")) {
        return NULL;
    }
    stem = g_strndup(f->name, strcspn(f->name, ".") ?: strlen(f->name));
    g_strdelimit(stem, ", \t\n\r", '_');
    return coverage_function(file, f->line, stem);
}

static void add_branch(Work *w, uint64_t addr)
{
    CoverageBranch b = { 0 };
    CoverageFile *file;
    DebugFrame frame;
    uint64_t *count;

    if (!debug_info_frames(w->debug, addr, &frame, 1) || !frame.line) {
        return;
    }
    file = coverage_file(w->cv, frame.file);
    if (!file) {
        return;
    }
    b.line = frame.line;
    count = g_hash_table_lookup(w->taken, &addr);
    b.taken = count ? *count : 0;
    count = g_hash_table_lookup(w->not_taken, &addr);
    b.not_taken = count ? *count : 0;
    g_array_append_val(file->branches, b);
    add_line(w, frame.function, file, frame.line,
             object_counts_at(w->oc, addr));
}

static void add_branches(Work *w, const DebugRange *range)
{
    uint64_t addr = range->lo;
    Insn insn;

    while (addr < range->hi && object_text_insn(w->text, addr, &insn)) {
        if (insn.kind == INSN_BRANCH) {
            add_branch(w, addr);
        }
        addr += insn.size;
    }
}

static void on_function(void *opaque, const DebugFunction *f)
{
    Work *w = opaque;
    CoverageFunction *cf = function_of(w, f);

    if (cf) {
        cf->count += entries(w, f);
    }
    for (unsigned i = 0; i < f->nr_ranges; i++) {
        add_branches(w, &f->ranges[i]);
    }
}

/* The call's own line may have no instruction: it ran if what it calls did. */
static void on_inlined(void *opaque, const DebugFunction *f)
{
    Work *w = opaque;
    CoverageFunction *cf = function_of(w, f);
    CoverageFile *file = f->call_line ? coverage_file(w->cv, f->call_file) :
                                        NULL;
    uint64_t count = cf || file ? entries(w, f) : 0;

    if (cf) {
        cf->count += count;
    }
    if (file) {
        add_line(w, f->caller, file, f->call_line, count);
    }
}

static void index_branches(Work *w)
{
    for (guint i = 0; i < w->oc->blocks->len; i++) {
        const ObjectBlock *b = object_block(w->oc, i);
        bool taken = b->itype == ETRACE_ITYPE_TAKEN_BRANCH;
        GHashTable *index = taken ? w->taken : w->not_taken;
        uint64_t *count;

        if (!taken && b->itype != ETRACE_ITYPE_NONTAKEN_BRANCH) {
            continue;
        }
        count = g_hash_table_lookup(index, &b->last);
        if (!count) {
            count = g_new0(uint64_t, 1);
            g_hash_table_insert(index, g_memdup2(&b->last, sizeof(b->last)),
                                count);
        }
        *count += b->count;
    }
}

/*
 * System calls and breakpoints trap and do not retire, so that no block has
 * them; but they are what the block before them ran into.
 */
static void add_traps(Work *w)
{
    guint n = w->oc->blocks->len;

    for (guint i = 0; i < n; i++) {
        const ObjectBlock *b = object_block(w->oc, i);
        Insn insn;

        if (b->itype == ETRACE_ITYPE_EXCEPTION &&
            object_text_is_env(w->text, b->end) &&
            object_text_insn(w->text, b->end, &insn)) {
            ObjectBlock trap = {
                .start = b->end,
                .last = b->end,
                .end = b->end + insn.size,
                .count = b->count,
                .itype = ETRACE_ITYPE_EXCEPTION,
            };

            g_array_append_val(w->oc->blocks, trap);
        }
    }
}

static void add_copies(Work *w)
{
    GHashTableIter iter;
    gpointer key;

    g_hash_table_iter_init(&iter, w->copies);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        const LineCopy *c = key;

        *coverage_line(c->file, c->line) += c->count;
    }
}

static bool is_flat_image(const Object *object)
{
    gsize size;
    const uint8_t *data = object->bytes ?
                          g_bytes_get_data(object->bytes, &size) : NULL;

    return data && kernel_image_is(data, size);
}

bool coverage_add(Coverage *cv, const Counts *c, const Object *object,
                  char **note, GError **errp)
{
    g_autoptr(ObjectText) text = NULL;
    g_autoptr(ObjectCounts) oc = NULL;
    g_autoptr(DebugInfo) debug = NULL;
    Work w = { .cv = cv };

    *note = NULL;
    if (object->kind == OBJECT_MODULE) {
        *note = g_strdup_printf("%s: lines of the kernel's modules are not "
                                "known", object->path);
        return true;
    }
    if (is_flat_image(object)) {
        *note = g_strdup_printf("%s: a flat Image has no lines; its vmlinux "
                                "would have, with --elf", object->path);
        return true;
    }
    text = object_text_open(object, NULL, errp);
    if (!text) {
        return false;
    }
    oc = object_counts_new(c, object);
    if (!object_counts_check(oc, text, errp)) {
        return false;
    }
    debug = debug_info_open(text->path, cv->options->sysroots, errp);
    if (!debug) {
        return false;
    }
    w.oc = oc;
    w.text = text;
    w.debug = debug;
    w.copies = g_hash_table_new_full(copy_hash, copy_equal, g_free, NULL);
    w.taken = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                    g_free);
    w.not_taken = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                        g_free);
    index_branches(&w);
    add_traps(&w);
    object_counts_spread(oc);
    debug_info_lines(debug, on_row, &w);
    debug_info_functions(debug, on_function, on_inlined, &w);
    add_copies(&w);
    *note = g_strdup(debug_info_note(debug));
    g_hash_table_unref(w.copies);
    g_hash_table_unref(w.taken);
    g_hash_table_unref(w.not_taken);
    return true;
}
