/*
 * Annotated code: where control went behind an instruction
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/report/annotate-private.h"
#include "views/report/table.h"

/* So many targets of a jump are named. */
#define MAX_TARGETS 4

typedef struct Target {
    const Object *object;
    uint64_t addr;
    uint64_t count;
    uint8_t itype;
} Target;

static gint compare_targets(gconstpointer a, gconstpointer b)
{
    const Target *x = a, *y = b;

    if (x->count != y->count) {
        return x->count > y->count ? -1 : 1;
    }
    if (x->object != y->object) {
        return x->object->id < y->object->id ? -1 : 1;
    }
    return (x->addr > y->addr) - (x->addr < y->addr);
}

/* The index of the first edge from @addr on; they are sorted. */
static guint first_edge(const AnnotatedFunction *fn, uint64_t addr)
{
    guint lo = 0, hi = fn->edges->len;

    while (lo < hi) {
        guint mid = lo + (hi - lo) / 2;
        const CountEdge *e = fn->edges->pdata[mid];

        if (e->from < addr) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/*
 * Targets of the jump at @addr, whoever made it; not those of a branch, which
 * has but one, and not those that the text of a jump within @fn shows
 */
static GArray *find_targets(const Counts *c, const AnnotatedFunction *fn,
                            uint64_t addr)
{
    GArray *targets = g_array_new(false, false, sizeof(Target));

    for (guint i = first_edge(fn, addr); i < fn->edges->len; i++) {
        const CountEdge *e = fn->edges->pdata[i];
        const CountPlace *to = count_place(c, e->to_place);
        Target t = {
            .object = object_get(c->objects, to->object),
            .addr = e->to,
            .count = e->count,
            .itype = e->itype,
        };
        Target *last = targets->len ? &g_array_index(targets, Target,
                                                     targets->len - 1) : NULL;

        if (e->from != addr) {
            break;
        }
        if (e->itype == ETRACE_ITYPE_TAKEN_BRANCH ||
            ((e->itype == ETRACE_ITYPE_INFERABLE_JUMP ||
              e->itype == ETRACE_ITYPE_OTHER_INFERABLE_JUMP) &&
             symbols_find(t.object->symbols, t.addr, NULL, NULL) ==
             fn->symbol)) {
            continue;
        }
        if (last && last->object == t.object && last->addr == t.addr) {
            last->count += t.count;
        } else {
            g_array_append_val(targets, t);
        }
    }
    g_array_sort(targets, compare_targets);
    return targets;
}

static void add_target(GString *s, const AnnotatedFunction *fn,
                       const Target *t)
{
    const Symbol *symbol = symbols_find(t->object->symbols, t->addr, NULL,
                                        NULL);

    if (!symbol) {
        g_string_append_printf(s, "0x%" PRIx64, t->addr);
    } else {
        g_string_append(s, symbol->name);
        if (t->addr != symbol->start) {
            g_string_append_printf(s, "+0x%" PRIx64, t->addr - symbol->start);
        }
    }
    if (t->object != fn->object) {
        g_string_append_printf(s, " in %s", t->object->name);
    }
    g_string_append_printf(s, " %" PRIu64, t->count);
}

static const char *verb(uint8_t itype)
{
    switch (itype) {
    case ETRACE_ITYPE_UNINFERABLE_CALL:
    case ETRACE_ITYPE_INFERABLE_CALL:
        return "calls";
    case ETRACE_ITYPE_RETURN:
    case ETRACE_ITYPE_TRAP_RETURN:
        return "returns to";
    default:
        return "to";
    }
}

static void add_targets(GString *s, const AnnotatedFunction *fn,
                        const GArray *targets)
{
    uint64_t others = 0;

    for (guint i = 0; i < targets->len; i++) {
        const Target *t = &g_array_index(targets, Target, i);

        if (i >= MAX_TARGETS) {
            others += t->count;
            continue;
        }
        g_string_append(s, i ? ", " : "");
        add_target(s, fn, t);
    }
    if (others) {
        g_string_append_printf(s, ", %u others %" PRIu64,
                               targets->len - MAX_TARGETS, others);
    }
}

static void G_GNUC_PRINTF(2, 3) add_note(GString *s, const char *fmt, ...)
{
    va_list ap;

    if (s->len) {
        g_string_append(s, "; ");
    }
    va_start(ap, fmt);
    g_string_append_vprintf(s, fmt, ap);
    va_end(ap);
}

char *annotate_notes(const Counts *counts, const AnnotatedFunction *fn,
                     const AnnotatedInsn *at, const Insn *insn)
{
    g_autoptr(GArray) targets = find_targets(counts, fn, at->addr);
    g_autoptr(GString) s = g_string_new(NULL);
    uint64_t known = at->taken + at->not_taken;

    if (insn->kind == INSN_BRANCH || known) {
        add_note(s, "taken %" PRIu64 ", not taken %" PRIu64, at->taken,
                 at->not_taken);
        /* The trace ends there, or something of it is lost. */
        if (at->count > known) {
            g_string_append_printf(s, ", not known %" PRIu64,
                                   at->count - known);
        }
    }
    if (targets->len) {
        add_note(s, "%s ", verb(g_array_index(targets, Target, 0).itype));
        add_targets(s, fn, targets);
    }
    if (at->exceptions) {
        add_note(s, "then %" PRIu64 " exceptions", at->exceptions);
    }
    if (at->interrupts) {
        add_note(s, "then %" PRIu64 " interrupts", at->interrupts);
    }
    if (insn->kind == INSN_SEQUENTIAL && (known || targets->len)) {
        add_note(s, "other code ran here");
    }
    return table_clean(s->str);
}
