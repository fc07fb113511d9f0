/*
 * Annotated code: a function as text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/report/annotate-private.h"
#include "code/disasm.h"
#include "views/report/table.h"

/* What is the same for all instructions of a function */
typedef struct Writer {
    const Counts *counts;
    const AnnotatedFunction *fn;
    const AnnotateOptions *o;
    InsnIsa isa;
    Disasm *disasm;
    unsigned width;         /* of addresses */
    FILE *f;
} Writer;

static void write_share(const Writer *w, uint64_t count)
{
    if (count) {
        fprintf(w->f, "%6.2f%% ", 100.0 * count / w->fn->own);
    } else {
        fprintf(w->f, "%7s ", "");
    }
    fprintf(w->f, "%14" PRIu64 "  ", count);
}

static void write_insn(const Writer *w, const AnnotatedLine *line)
{
    g_autofree char *text = disasm_text(w->disasm, line->addr, line->code,
                                        line->length);
    g_autofree char *notes = annotate_line_notes(w->counts, w->fn, line,
                                                 &w->isa);

    write_share(w, line->ran ? line->ran->count : 0);
    fprintf(w->f, "%*" PRIx64 ":  ", w->width, line->addr);
    if (*notes) {
        fprintf(w->f, "%-32s # %s\n", text, notes);
    } else {
        fprintf(w->f, "%s\n", text);
    }
}

/* @file: as it is to be shown */
static void write_source(const Writer *w, uint64_t count,
                         const SourcePlace *source, const char *file)
{
    g_autofree char *text = annotate_source_text(w->o->sources, source);

    write_share(w, count);
    if (!source->file) {
        fprintf(w->f, "; [no line]\n");
    } else {
        fprintf(w->f, "; %s:%u%s%s\n", file, source->line, text ? ": " : "",
                text ?: "");
    }
}

static void write_code(const Writer *w, const GArray *lines)
{
    for (guint i = 0; i < lines->len; i++) {
        const AnnotatedLine *line = &g_array_index(lines, AnnotatedLine, i);

        if (w->o->places && (!i || !annotate_same_source(&line->source,
                                                &line[-1].source))) {
            g_autofree char *file = NULL;
            uint64_t sum = annotate_stretch(lines, i, NULL);

            file = line->source.file ? g_path_get_basename(line->source.file)
                                     : NULL;
            write_source(w, sum, &line->source, file);
        }
        write_insn(w, line);
    }
}

typedef struct SourceSum {
    SourcePlace source;
    uint64_t count;
} SourceSum;

static gint compare_sources(gconstpointer a, gconstpointer b)
{
    const SourceSum *x = a, *y = b;
    int d = g_strcmp0(x->source.file, y->source.file);

    return d ? d : (x->source.line > y->source.line) -
                   (x->source.line < y->source.line);
}

static gint compare_sums(gconstpointer a, gconstpointer b)
{
    const SourceSum *x = a, *y = b;

    return x->count != y->count ? (x->count > y->count ? -1 : 1) :
                                  compare_sources(a, b);
}

/* What each line ran, wherever its instructions are */
static GArray *sum_sources(const GArray *lines)
{
    g_autoptr(GArray) all = g_array_new(false, false, sizeof(SourceSum));
    GArray *sums = g_array_new(false, false, sizeof(SourceSum));

    for (guint i = 0; i < lines->len; i++) {
        const AnnotatedLine *line = &g_array_index(lines, AnnotatedLine, i);
        SourceSum one = { line->source, line->ran ? line->ran->count : 0 };

        if (one.count) {
            g_array_append_val(all, one);
        }
    }
    g_array_sort(all, compare_sources);
    for (guint i = 0; i < all->len; i++) {
        const SourceSum *one = &g_array_index(all, SourceSum, i);

        if (i && annotate_same_source(&one->source, &one[-1].source)) {
            g_array_index(sums, SourceSum, sums->len - 1).count += one->count;
        } else {
            g_array_append_vals(sums, one, 1);
        }
    }
    g_array_sort(sums, compare_sums);
    return sums;
}

static void write_sources(const Writer *w, const GArray *lines)
{
    g_autoptr(GArray) sums = sum_sources(lines);
    g_autoptr(GHashTable) missing = g_hash_table_new(NULL, NULL);
    g_autofree char *note = source_place_note(w->o->places, w->fn->object);

    if (note) {
        fprintf(w->f, "# %s\n", note);
    }
    fprintf(w->f, "# by line\n");
    for (guint i = 0; i < sums->len; i++) {
        const SourceSum *sum = &g_array_index(sums, SourceSum, i);

        write_source(w, sum->count, &sum->source, sum->source.file);
    }
    for (guint i = 0; i < sums->len; i++) {
        const char *file = g_array_index(sums, SourceSum, i).source.file;

        if (file && w->o->sources && !source_path(w->o->sources, file) &&
            g_hash_table_add(missing, (gpointer)file)) {
            fprintf(w->f, "# %s is not here: --source-prefix OLD=NEW says "
                    "where sources are\n", file);
        }
    }
}

bool annotate_write_function(const Counts *counts, const AnnotatedFunction *fn,
                             const AnnotateOptions *o, uint64_t all, FILE *f)
{
    g_autofree char *sym = table_clean(fn->symbol->name);
    g_autofree char *dso = table_clean(fn->object->path);
    g_autofree char *end = g_strdup_printf("%" PRIx64, fn->symbol->end - 1);
    g_autoptr(GArray) lines = NULL;
    Writer w = {
        .counts = counts,
        .fn = fn,
        .o = o,
        .isa = o->isa,
        .width = strlen(end),
        .f = f,
    };

    w.isa.xlen = fn->object->xlen;
    fprintf(f, "# %s of %s: %" PRIu64 " instructions, %.2f%% of all\n", sym,
            dso, fn->own, 100.0 * fn->own / all);
    lines = annotate_lines(fn, o);
    if (!lines->len) {
        fprintf(f, "# its code is not known: give its file with --elf or "
                "--sysroot\n");
        return false;
    }
    if (fn->elsewhere) {
        fprintf(f, "# %" PRIu64 " of them (%.2f%%) ran where the file has "
                "other code\n", fn->elsewhere,
                100.0 * fn->elsewhere / fn->own);
    }
    fprintf(f, "%7s %14s  %*s\n", "own", "count", w.width, "address");
    w.disasm = disasm_new(&w.isa);
    write_code(&w, lines);
    disasm_free(w.disasm);
    if (o->places) {
        write_sources(&w, lines);
    }
    return true;
}
