/*
 * Annotated code: the instructions of a function, and where they are from
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/report/annotate-private.h"
#include "views/report/table.h"

static const AnnotatedInsn *insn_at(const AnnotatedFunction *fn, uint64_t addr)
{
    return g_hash_table_lookup(fn->insns, &addr);
}

static bool is_of(const AnnotatedFunction *fn, uint64_t addr)
{
    return symbols_find(fn->object->symbols, addr, NULL, NULL) == fn->symbol;
}

/*
 * Instructions that ran begin where they did; others where the one before
 * ends. Data between them must not hide one that ran.
 */
static AnnotatedLine line_at(const AnnotatedFunction *fn,
                             const AnnotateOptions *o, uint64_t addr,
                             const uint8_t *code, size_t left)
{
    AnnotatedLine line = {
        .addr = addr,
        .code = code,
        .ran = insn_at(fn, addr),
    };

    line.length = left < 2 ? left :
                  MIN(left, insn_length(code[0] | code[1] << 8));
    line.size = line.length;
    if (line.size > 2 && insn_at(fn, addr + 2)) {
        line.size = 2;
        line.length = line.ran ? line.length : 2;
    }
    if (o->places) {
        line.source = source_place_find(o->places, fn->object, addr);
    }
    return line;
}

GArray *annotate_lines(const AnnotatedFunction *fn, const AnnotateOptions *o)
{
    GArray *lines = g_array_new(false, false, sizeof(AnnotatedLine));
    uint64_t addr = fn->symbol->start, end = fn->symbol->end;

    while (addr < end) {
        const uint8_t *code;
        size_t left = object_bytes(fn->object, addr, end - addr, &code);
        AnnotatedLine line;

        if (!left) {
            break;
        }
        line = line_at(fn, o, addr, code, left);
        if (is_of(fn, addr)) {
            g_array_append_val(lines, line);
        }
        addr += line.size;
    }
    return lines;
}

void annotate_line_insn(const AnnotatedLine *line, const InsnIsa *isa,
                        Insn *insn)
{
    uint32_t raw = 0;

    for (unsigned i = 0; i < line->length; i++) {
        raw |= (uint32_t)line->code[i] << i * 8;
    }
    insn_classify(isa, raw, insn);
}

char *annotate_line_notes(const Counts *counts, const AnnotatedFunction *fn,
                          const AnnotatedLine *line, const InsnIsa *isa)
{
    Insn insn;

    if (!line->ran) {
        return g_strdup("");
    }
    annotate_line_insn(line, isa, &insn);
    return annotate_notes(counts, fn, line->ran, &insn);
}

bool annotate_same_source(const SourcePlace *a, const SourcePlace *b)
{
    return a->file == b->file && a->line == b->line;
}

uint64_t annotate_stretch(const GArray *lines, guint from, guint *end)
{
    const AnnotatedLine *first = &g_array_index(lines, AnnotatedLine, from);
    uint64_t sum = 0;
    guint i;

    for (i = from; i < lines->len; i++) {
        const AnnotatedLine *l = &g_array_index(lines, AnnotatedLine, i);

        if (!annotate_same_source(&first->source, &l->source)) {
            break;
        }
        sum += l->ran ? l->ran->count : 0;
    }
    if (end) {
        *end = i;
    }
    return sum;
}

char *annotate_source_text(SourceTree *sources, const SourcePlace *source)
{
    const char *text = sources && source->line ?
        source_line(sources, source->file, source->line) : NULL;
    /* What is indented by tabs would not be where it was. */
    g_auto(GStrv) parts = g_strsplit(text ? text : "", "\t", -1);
    g_autofree char *spaced = g_strjoinv("    ", parts);

    return text ? table_clean(spaced) : NULL;
}
