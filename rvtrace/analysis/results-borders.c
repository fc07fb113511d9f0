/*
 * rvtrace: functions as borders of what is selected
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "analysis/results-private.h"
#include "base/say.h"

/* Runs in which no such function begins; a power of two */
#define KNOWN_RUNS  4096

typedef struct KnownRun {
    uint64_t pc;
    unsigned generation, space, count;
    uint8_t priv;
} KnownRun;

typedef struct BorderSearch {
    KnownRun known[KNOWN_RUNS];
} BorderSearch;

/* As it is shown, or as linkers know it */
static bool is_called(const Symbol *symbol, const char *name)
{
    return g_str_equal(symbol->name, name) ||
           g_str_equal(symbol->linkage, name);
}

static bool has_function(const Results *r, const char *name)
{
    const ObjectTable *objects = names_objects(r->names);

    for (unsigned i = 0; i < object_table_size(objects); i++) {
        unsigned n;
        const Symbol *all = symbols_all(object_get(objects, i)->symbols, &n);

        for (unsigned k = 0; k < n; k++) {
            if (is_called(&all[k], name)) {
                return true;
            }
        }
    }
    return false;
}

bool results_borders_exist(const Results *r)
{
    for (unsigned i = 0; r->names && r->job->selection && i < 2; i++) {
        const char *name = selection_function(r->job->selection, i);

        if (name && !has_function(r, name)) {
            say_error("--%s sym:%s: no program that ran has such a function; "
                      "give its name as 'rvtrace report --sort sym' writes "
                      "it, and where programs are with --sysroot or --elf",
                      i ? "to" : "from", name);
            return false;
        }
    }
    return true;
}

/* The function that begins at @pc, or NULL; from *@hi on it is another one. */
static const Symbol *function_at(const HartResult *h, uint64_t pc,
                                 unsigned priv, const CallStackSite *site,
                                 uint64_t *hi)
{
    NamePlace place;

    names_find(h->all->names, site->image, priv, pc, &place);
    *hi = place.hi;
    return place.symbol && place.symbol->start == pc - place.bias ?
           place.symbol : NULL;
}

/* The name by which it is a border, or NULL */
static const char *border_name(const HartResult *h, const Symbol *symbol)
{
    for (unsigned i = 0; symbol && i < 2; i++) {
        const char *name = selection_function(h->all->job->selection, i);

        if (name && is_called(symbol, name)) {
            return name;
        }
    }
    return NULL;
}

static unsigned search(const HartResult *h, const FlowRun *run,
                       const CallStackSite *site, const char **name)
{
    uint64_t pc = run->pc, hi = 0;
    const uint8_t *code = run->code;

    for (unsigned i = 0; i < run->count; i++) {
        unsigned size = flow_insn_length(code);

        if (!i || pc >= hi) {
            *name = border_name(h, function_at(h, pc, run->priv, site, &hi));
            if (*name) {
                return i;
            }
        }
        pc += size;
        code += size;
    }
    return run->count;
}

unsigned hart_find_border(HartResult *h, const FlowRun *run,
                          const CallStackSite *site, const char **name)
{
    KnownRun what = {
        .pc = run->pc,
        .generation = site->image ? site->image->generation : 1,
        .space = site->space,
        .count = run->count,
        .priv = run->priv,
    };
    KnownRun *known;
    unsigned before;

    if (!h->borders) {
        h->borders = g_new0(BorderSearch, 1);
    }
    known = &h->borders->known[(run->pc >> 1 ^ run->pc >> 13) % KNOWN_RUNS];
    if (known->pc == what.pc && known->generation == what.generation &&
        known->space == what.space && known->count == what.count &&
        known->priv == what.priv) {
        return run->count;
    }
    before = search(h, run, site, name);
    if (before == run->count) {
        *known = what;
    }
    return before;
}
