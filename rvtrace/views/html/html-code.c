/*
 * Reports: the code of the hottest functions
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/report/annotate-private.h"
#include "code/disasm.h"
#include "views/html/html-code.h"

/* Instructions in a row that did not run, and are shown nevertheless */
#define MAX_COLD    6

typedef struct Builder {
    HtmlCodes *codes;
    const Counts *counts;
    AnnotateOptions o;
    /* of the function that is being added */
    const AnnotatedFunction *fn;
    InsnIsa isa;
    Disasm *disasm;
    GArray *rows;               /* HtmlCodeLine */
} Builder;

static const char *keep(Builder *b, const char *text)
{
    return text ? g_string_chunk_insert_const(b->codes->text, text) : NULL;
}

static void add_source(Builder *b, const GArray *lines, guint at,
                       const char *file)
{
    const AnnotatedLine *line = &g_array_index(lines, AnnotatedLine, at);
    g_autofree char *text = annotate_source_text(b->o.sources, &line->source);
    g_autofree char *base = line->source.file ?
        g_path_get_basename(line->source.file) : NULL;
    g_autofree char *shown = NULL;
    HtmlCodeLine row = {
        .line = line->source.line,
        .count = annotate_stretch(lines, at, NULL),
    };

    if (!row.line) {
        return;
    }
    /* What is inlined from another file says so. */
    shown = text && line->source.file == file ? g_strdup(text) :
            g_strconcat(base, text ? ": " : "", text, NULL);
    row.text = keep(b, shown);
    g_array_append_val(b->rows, row);
}

static void add_insn(Builder *b, const AnnotatedLine *line)
{
    const AnnotatedInsn *ran = line->ran;
    g_autofree char *text = disasm_text(b->disasm, line->addr, line->code,
                                        line->length);
    g_autofree char *notes = annotate_line_notes(b->counts, b->fn, line,
                                                 &b->isa);
    HtmlCodeLine row = {
        .address = line->addr,
        .count = ran ? ran->count : 0,
        .text = keep(b, text),
        .branch = ran && ran->taken + ran->not_taken,
        .taken = ran ? ran->taken : 0,
        .not_taken = ran ? ran->not_taken : 0,
        .note = *notes ? keep(b, notes) : NULL,
    };

    g_array_append_val(b->rows, row);
}

/* How many instructions from @at on did not run, all in a row */
static guint cold(const GArray *lines, guint at)
{
    guint i = at;

    while (i < lines->len && !g_array_index(lines, AnnotatedLine, i).ran) {
        i++;
    }
    return i - at;
}

static void add_gap(Builder *b, const AnnotatedLine *first, guint n)
{
    g_autofree char *text = g_strdup_printf("... %u instructions did not run",
                                            n);
    HtmlCodeLine row = { .address = first->addr, .text = keep(b, text) };

    g_array_append_val(b->rows, row);
}

static void add_rows(Builder *b, const GArray *lines)
{
    const char *file = g_array_index(lines, AnnotatedLine, 0).source.file;
    guint i = 0;

    while (i < lines->len) {
        const AnnotatedLine *line = &g_array_index(lines, AnnotatedLine, i);
        guint n = cold(lines, i);

        if (b->rows->len >= HTML_MAX_CODE_ROWS) {
            break;
        }
        if (n > MAX_COLD) {
            add_gap(b, line, n);
            i += n;
            continue;
        }
        if (b->o.places && (!i || !annotate_same_source(&line->source,
                                                        &line[-1].source))) {
            add_source(b, lines, i, file);
        }
        add_insn(b, line);
        i++;
    }
}

static void add_function(void *opaque, const AnnotatedFunction *fn)
{
    Builder *b = opaque;
    g_autoptr(GArray) lines = annotate_lines(fn, &b->o);
    HtmlCode code = {
        .function = keep(b, fn->symbol->name),
        .object = keep(b, fn->object->name),
        .insns = fn->own,
    };

    if (!lines->len) {
        return;
    }
    b->fn = fn;
    b->isa = b->o.isa;
    b->isa.xlen = fn->object->xlen;
    b->disasm = disasm_new(&b->isa);
    b->rows = g_array_new(false, false, sizeof(HtmlCodeLine));
    add_rows(b, lines);
    disasm_free(b->disasm);
    code.file = keep(b, g_array_index(lines, AnnotatedLine, 0).source.file);
    code.nr_lines = b->rows->len;
    code.lines = (HtmlCodeLine *)g_array_free(b->rows, false);
    g_array_append_val(b->codes->list, code);
}

static void clear_code(gpointer code)
{
    g_free((gpointer)((HtmlCode *)code)->lines);
}

HtmlCodes *html_codes_new(const Counts *counts, const AnnotateOptions *o)
{
    HtmlCodes *codes = g_new0(HtmlCodes, 1);
    Builder b = { .codes = codes, .counts = counts, .o = *o };

    codes->list = g_array_new(false, false, sizeof(HtmlCode));
    g_array_set_clear_func(codes->list, clear_code);
    codes->text = g_string_chunk_new(1 << 16);
    b.o.max_functions = HTML_MAX_CODE;
    annotate_functions(counts, &b.o, add_function, &b);
    return codes;
}

void html_codes_free(HtmlCodes *codes)
{
    g_array_unref(codes->list);
    g_string_chunk_free(codes->text);
    g_free(codes);
}
