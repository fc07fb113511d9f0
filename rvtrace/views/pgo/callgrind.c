/*
 * callgrind: exact costs of instructions, calls and jumps
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/pgo/callgrind.h"
#include "views/pgo/cost.h"

#define NO_NAME "???"

typedef struct Writer {
    const Costs *costs;
    const ObjectTable *objects;
    const CallgrindOptions *o;
    FILE *f;
    GHashTable *files;      /* name -> number */
    unsigned nr_files;
    const char *own, *now;  /* files: of the function, of what comes next */
    bool *named_functions, *named_objects;
    guint call, jump;       /* the next ones of the arrays */
} Writer;

static const CostFunction *function(const Writer *w, unsigned i)
{
    return &g_array_index(w->costs->functions, CostFunction, i);
}

/* "KEY=(NUMBER) NAME", and the next time without the name */
static void put_object(Writer *w, const char *key, unsigned object)
{
    fprintf(w->f, "%s=(%u)", key, object + 1);
    if (!w->named_objects[object]) {
        w->named_objects[object] = true;
        fprintf(w->f, " %s", object_get(w->objects, object)->path);
    }
    fputc('\n', w->f);
}

/* Functions of one name are one to readers, also of several objects. */
static void put_function(Writer *w, const char *key, unsigned i)
{
    const CostFunction *fn = function(w, i);

    fprintf(w->f, "%s=(%u)", key, i + 1);
    if (!w->named_functions[i]) {
        g_autofree char *unnamed = fn->symbol ? NULL :
            profile_unnamed(object_get(w->objects, fn->object), fn->called);

        w->named_functions[i] = true;
        fprintf(w->f, " %s", fn->symbol ? fn->symbol->name : unnamed);
    }
    fputc('\n', w->f);
}

static void put_file(Writer *w, const char *key, const char *file)
{
    unsigned number = GPOINTER_TO_UINT(g_hash_table_lookup(w->files, file));

    if (number) {
        fprintf(w->f, "%s=(%u)\n", key, number);
        return;
    }
    number = ++w->nr_files;
    g_hash_table_insert(w->files, (gpointer)file, GUINT_TO_POINTER(number));
    fprintf(w->f, "%s=(%u) %s\n", key, number, file);
}

/* Sets *@line to 0 if it is not known. */
static const char *source(const Writer *w, unsigned fn, uint64_t addr,
                          unsigned *line)
{
    const Object *o = object_get(w->objects, function(w, fn)->object);
    const char *file;

    const LineFinder *lines = &w->o->lines;

    if (lines->find && lines->find(lines->opaque, o, addr, &file, line)) {
        return file;
    }
    *line = 0;
    return NO_NAME;
}

/* Code that is inlined is of another file than its function. */
static void put_file_of(Writer *w, unsigned fn, uint64_t addr)
{
    unsigned line;
    const char *file = source(w, fn, addr, &line);

    if (!g_str_equal(file, w->now)) {
        put_file(w, g_str_equal(file, w->own) ? "fe" : "fi", file);
        w->now = file;
    }
}

static void put_position(const Writer *w, unsigned fn, uint64_t addr)
{
    unsigned line;

    source(w, fn, addr, &line);
    fprintf(w->f, "0x%" PRIx64 " %u", addr, line);
}

static void put_call(Writer *w, const CostCall *call)
{
    unsigned line;

    put_file_of(w, call->from, call->addr);
    put_object(w, "cob", function(w, call->to)->object);
    put_file(w, "cfi", source(w, call->to, function(w, call->to)->entry,
                              &line));
    put_function(w, "cfn", call->to);
    /* Readers do not expect none. */
    fprintf(w->f, "calls=%" PRIu64 " ", MAX(call->count, 1));
    put_position(w, call->to, call->target);
    fputc('\n', w->f);
    put_position(w, call->from, call->addr);
    fprintf(w->f, " %" PRIu64 "\n", call->inclusive);
}

static void put_jump(Writer *w, const CostJump *jump)
{
    unsigned line;
    const char *to;

    put_file_of(w, jump->function, jump->addr);
    to = source(w, jump->function, jump->target, &line);
    if (!g_str_equal(to, w->now)) {
        put_file(w, "jfi", to);
    }
    if (jump->executed) {
        fprintf(w->f, "jcnd=%" PRIu64 "/%" PRIu64 " ", jump->count,
                jump->executed);
    } else {
        fprintf(w->f, "jump=%" PRIu64 " ", jump->count);
    }
    put_position(w, jump->function, jump->target);
    fputc('\n', w->f);
    put_position(w, jump->function, jump->addr);
    fputc('\n', w->f);
}

/* The calls and jumps of function @fn up to address @addr, or @all */
static void put_transfers(Writer *w, unsigned fn, uint64_t addr, bool all)
{
    const GArray *calls = w->costs->calls, *jumps = w->costs->jumps;

    while (w->jump < jumps->len) {
        const CostJump *j = &g_array_index(jumps, CostJump, w->jump);

        if (j->function != fn || (j->addr > addr && !all)) {
            break;
        }
        put_jump(w, j);
        w->jump++;
    }
    while (w->call < calls->len) {
        const CostCall *c = &g_array_index(calls, CostCall, w->call);

        if (c->from != fn || (c->addr > addr && !all)) {
            break;
        }
        put_call(w, c);
        w->call++;
    }
}

static void put_insn(Writer *w, const CostInsn *insn)
{
    put_file_of(w, insn->function, insn->addr);
    put_position(w, insn->function, insn->addr);
    fprintf(w->f, " %" PRIu64 "\n", insn->cost);
    put_transfers(w, insn->function, insn->addr, false);
}

static void put_all(Writer *w)
{
    const GArray *insns = w->costs->insns;
    guint at = 0;

    for (unsigned fn = 0; fn < w->costs->functions->len; fn++) {
        unsigned line;

        w->own = source(w, fn, function(w, fn)->entry, &line);
        w->now = w->own;
        fputc('\n', w->f);
        put_object(w, "ob", function(w, fn)->object);
        put_file(w, "fl", w->own);
        put_function(w, "fn", fn);
        for (; at < insns->len; at++) {
            const CostInsn *insn = &g_array_index(insns, CostInsn, at);

            if (insn->function != fn) {
                break;
            }
            put_insn(w, insn);
        }
        put_transfers(w, fn, 0, true);
    }
}

void callgrind_write(const Counts *c, const Profile *p,
                     const CallgrindOptions *o, FILE *f)
{
    g_autoptr(Costs) costs = costs_new(c, p);
    Writer w = { .costs = costs, .objects = c->objects, .o = o, .f = f };

    w.files = g_hash_table_new(g_str_hash, g_str_equal);
    w.named_functions = g_new0(bool, costs->functions->len);
    w.named_objects = g_new0(bool, object_table_size(c->objects));
    fprintf(f, "# callgrind format\nversion: 1\ncreator: rvtrace\n"
            "cmd: %s\npart: 1\n\npositions: instr line\nevents: Ir\n"
            "summary: %" PRIu64 "\n", o->command ? o->command : NO_NAME,
            costs->total);
    put_all(&w);
    fprintf(f, "\ntotals: %" PRIu64 "\n", costs->total);
    g_hash_table_unref(w.files);
    g_free(w.named_functions);
    g_free(w.named_objects);
}
