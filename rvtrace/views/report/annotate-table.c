/*
 * Annotated code: a row for each instruction
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/report/annotate-private.h"
#include "code/disasm.h"

/* Those of the source come last. */
static const TableColumn columns[] = {
    { "dso" }, { "sym" }, { "addr" }, { "count", true }, { "taken", true },
    { "not_taken", true }, { "not_known", true }, { "exceptions", true },
    { "interrupts", true }, { "insn" }, { "notes" }, { "file" },
    { "line", true },
};
#define SOURCE_COLUMNS  2

struct AnnotateTable {
    const Counts *counts;
    const AnnotateOptions *o;
    GPtrArray *cells;
};

AnnotateTable *annotate_table_new(const Counts *counts,
                                  const AnnotateOptions *o)
{
    AnnotateTable *t = g_new0(AnnotateTable, 1);

    t->counts = counts;
    t->o = o;
    t->cells = g_ptr_array_new_with_free_func(g_free);
    return t;
}

/* Of something that instructions of another kind do not have */
static void add_if(AnnotateTable *t, bool has, uint64_t n)
{
    if (has) {
        table_add_number(t->cells, n);
    } else {
        g_ptr_array_add(t->cells, NULL);
    }
}

static void add_source(AnnotateTable *t, const SourcePlace *source)
{
    g_ptr_array_add(t->cells, source->file ? table_clean(source->file) : NULL);
    add_if(t, source->line, source->line);
}

static void add_line(AnnotateTable *t, const AnnotatedFunction *fn,
                     const AnnotatedLine *line, const InsnIsa *isa,
                     Disasm *disasm)
{
    static const AnnotatedInsn never;
    char *notes = annotate_line_notes(t->counts, fn, line, isa);
    const AnnotatedInsn *ran = line->ran ?: &never;
    uint64_t known = ran->taken + ran->not_taken;
    bool branch;
    Insn insn;

    annotate_line_insn(line, isa, &insn);
    branch = known || (ran->count && insn.kind == INSN_BRANCH);

    g_ptr_array_add(t->cells, table_clean(fn->object->name));
    g_ptr_array_add(t->cells, table_clean(fn->symbol->name));
    g_ptr_array_add(t->cells, g_strdup_printf("0x%" PRIx64, line->addr));
    table_add_number(t->cells, ran->count);
    add_if(t, branch, ran->taken);
    add_if(t, branch, ran->not_taken);
    add_if(t, branch, ran->count - known);
    table_add_number(t->cells, ran->exceptions);
    table_add_number(t->cells, ran->interrupts);
    g_ptr_array_add(t->cells, disasm_text(disasm, line->addr, line->code,
                                          line->length));
    g_ptr_array_add(t->cells, *notes ? notes : (g_free(notes), NULL));
    if (t->o->places) {
        add_source(t, &line->source);
    }
}

bool annotate_table_add(AnnotateTable *t, const AnnotatedFunction *fn)
{
    g_autoptr(GArray) lines = annotate_lines(fn, t->o);
    InsnIsa isa = t->o->isa;
    Disasm *disasm;

    isa.xlen = fn->object->xlen;
    disasm = disasm_new(&isa);
    for (guint i = 0; i < lines->len; i++) {
        add_line(t, fn, &g_array_index(lines, AnnotatedLine, i), &isa,
                 disasm);
    }
    disasm_free(disasm);
    return lines->len;
}

void annotate_table_end(AnnotateTable *t, uint64_t left_out, FILE *f)
{
    bool json = t->o->format == TABLE_JSON;

    if (json) {
        table_begin_json("annotate", f);
        fprintf(f, "\"instructions\": %" PRIu64 ", \"left_out\": %" PRIu64
                ", \"rows\": ", counts_insns(t->counts), left_out);
    }
    table_write(columns, ARRAY_SIZE(columns) -
                (t->o->places ? 0 : SOURCE_COLUMNS), t->cells, t->o->format,
                f);
    fputs(json ? "}\n" : "", f);
    g_ptr_array_unref(t->cells);
    g_free(t);
}
