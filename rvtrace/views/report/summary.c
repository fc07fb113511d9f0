/*
 * What a run was, in some ten lines for people
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/trap-text.h"
#include "views/report/flamegraph.h"
#include "views/report/range-walk.h"
#include "views/report/summary.h"

/* Shares in a line; the others are one */
#define MAX_SHARES  4

/* Per cent: smaller shares are no news. */
#define LEAST   0.05
/* From here on it is worth while to look for a file. */
#define MUCH    1.0

/* Instructions of something: its name is constant, or lives with the counts */
typedef struct Share {
    const char *name, *of;
    uint64_t insns;
} Share;

typedef struct Summary {
    const Counts *counts;
    uint64_t all;
    GHashTable *functions;      /* symbol's or object's address: Share */
    GHashTable *privs, *tasks;  /* name: Share */
    GHashTable *nameless;       /* object: Share */
    const Object *object;       /* of the range that is added now */
} Summary;

static void add_share(GHashTable *shares, gconstpointer key, const char *name,
                      const char *of, uint64_t insns)
{
    Share *share = g_hash_table_lookup(shares, key);

    if (!share) {
        share = g_new0(Share, 1);
        share->name = name;
        share->of = of;
        g_hash_table_insert(shares, (gpointer)key, share);
    }
    share->insns += insns;
}

/* Functions of a file without symbols are called after it: FILE+0x1234. */
static bool is_made_up(const Object *o, const Symbol *symbol)
{
    size_t len = strlen(o->name);

    return !strncmp(symbol->linkage, o->name, len) &&
           g_str_has_prefix(symbol->linkage + len, "+0x");
}

static void add_part(void *opaque, const CountRange *range, uint64_t start,
                     uint64_t insns, const Symbol *symbol)
{
    Summary *s = opaque;
    uint64_t n = insns * range->count;
    const Object *o = s->object;

    if (symbol) {
        add_share(s->functions, symbol, symbol->name, o->name, n);
    }
    if (!symbol || is_made_up(o, symbol)) {
        add_share(s->nameless, o, object_is_unfiled(o) ? NULL : o->name,
                  NULL, n);
    }
}

static void add_ranges(Summary *s)
{
    const Counts *c = s->counts;

    for (guint i = 0; i < c->ranges->len; i++) {
        const CountRange *range = &g_array_index(c->ranges, CountRange, i);
        const CountPlace *place = count_place(c, range->place);
        const char *priv = priv_text(place->priv);
        uint64_t n = range->insns * range->count;

        s->all += n;
        s->object = object_get(c->objects, place->object);
        add_share(s->privs, priv, priv, NULL, n);
        range_by_function(s->object, range, add_part, s);
    }
}

/* Tasks of one name are one. */
static void add_tasks(Summary *s, const SummaryFacts *facts)
{
    for (guint i = 0; i < facts->by_task->len; i++) {
        uint64_t n = g_array_index(facts->by_task, uint64_t, i);
        const char *name = g_intern_string(task_get(facts->tasks, i)->name);

        if (n) {
            add_share(s->tasks, name, name, NULL, n);
        }
    }
}

static gint compare(gconstpointer a, gconstpointer b)
{
    const Share *x = *(Share *const *)a, *y = *(Share *const *)b;
    int d = (x->insns < y->insns) - (x->insns > y->insns);

    d = d ? d : g_strcmp0(x->name, y->name);
    return d ? d : g_strcmp0(x->of, y->of);
}

/* The largest first; the caller frees the array. */
static GPtrArray *sorted(GHashTable *shares)
{
    GPtrArray *list = g_ptr_array_new();
    GHashTableIter iter;
    gpointer share;

    g_hash_table_iter_init(&iter, shares);
    while (g_hash_table_iter_next(&iter, NULL, &share)) {
        g_ptr_array_add(list, share);
    }
    g_ptr_array_sort(list, compare);
    return list;
}

static double percent(const Summary *s, uint64_t insns)
{
    return s->all ? 100.0 * insns / s->all : 0;
}

static void write_functions(const Summary *s, unsigned most, FILE *f)
{
    g_autoptr(GPtrArray) list = sorted(s->functions);

    for (guint i = 0; i < list->len && i < most; i++) {
        const Share *share = list->pdata[i];
        g_autofree char *name = table_clean(share->name);
        g_autofree char *of = table_clean(share->of);

        if (percent(s, share->insns) < LEAST) {
            break;
        }
        fprintf(f, "  %5.1f %%  %s  %s\n", percent(s, share->insns), name,
                of);
    }
}

/* "swapper 80.0 %, sh 15.0 %, 7 others 5.0 %" */
static void write_shares(const Summary *s, const char *what,
                         GHashTable *shares, FILE *f)
{
    g_autoptr(GPtrArray) list = sorted(shares);
    uint64_t rest = s->all;
    guint i;

    fprintf(f, "%s: ", what);
    for (i = 0; i < list->len; i++) {
        const Share *share = list->pdata[i];
        g_autofree char *name = table_clean(share->name);

        if (percent(s, share->insns) < LEAST ||
            (i == MAX_SHARES && list->len > i + 1)) {
            break;
        }
        fprintf(f, "%s%s %.1f %%", i ? ", " : "", name,
                percent(s, share->insns));
        rest -= share->insns;
    }
    if (i < list->len) {
        guint others = list->len - i;

        fprintf(f, "%s%u other%s %.1f %%", i ? ", " : "", others,
                others == 1 ? "" : "s", percent(s, rest));
    }
    fprintf(f, "\n");
}

/* Code of no known function: what has none, and what would help */
static void write_nameless(const Summary *s, FILE *f)
{
    g_autoptr(GPtrArray) list = sorted(s->nameless);
    uint64_t filed = 0, unfiled = 0;
    const Share *largest = NULL;

    for (guint i = 0; i < list->len; i++) {
        const Share *share = list->pdata[i];

        *(share->name ? &filed : &unfiled) += share->insns;
        largest = largest ?: share->name ? share : NULL;
    }
    if (percent(s, unfiled) >= LEAST) {
        /* A boot ROM has no file. */
        fprintf(f, "without names: %.1f %% in no known file%s\n",
                percent(s, unfiled), percent(s, unfiled) < MUCH ? "" :
                "; give --sysroot DIR or --elf FILE");
    }
    if (percent(s, filed) >= LEAST) {
        g_autofree char *name = table_clean(largest->name);

        fprintf(f, "without names: %.1f %% in files without symbols, most of "
                "it in %s\n", percent(s, filed), name);
    }
}

static void write_amount(const Summary *s, const SummaryFacts *facts, FILE *f)
{
    g_autofree char *insns = flamegraph_commas(facts->insns);

    fprintf(f, "%s instructions of %u hart%s", insns, facts->harts,
            facts->harts == 1 ? "" : "s");
    if (facts->ns) {
        fprintf(f, ", %.4g s of virtual time", facts->ns / 1e9);
    }
    if (s->all < facts->insns) {
        g_autofree char *selected = flamegraph_commas(s->all);

        fprintf(f, "; shares are of %s that are selected", selected);
    }
    fprintf(f, "\n");
}

static void write_text(const Summary *s, const SummaryFacts *facts, FILE *f)
{
    g_autofree char *exceptions = flamegraph_commas(facts->exceptions);
    g_autofree char *interrupts = flamegraph_commas(facts->interrupts);
    g_autofree char *losses = flamegraph_commas(facts->losses);

    write_amount(s, facts, f);
    write_functions(s, facts->max_functions, f);
    if (s->all) {
        write_nameless(s, f);
        write_shares(s, "by privilege", s->privs, f);
    }
    if (g_hash_table_size(s->tasks) > 1) {
        write_shares(s, "by task", s->tasks, f);
    }
    fprintf(f, "traps: %s exceptions, %s interrupts\n", exceptions,
            interrupts);
    if (facts->losses) {
        fprintf(f, "LOST: something is missing in %s places\n", losses);
    } else {
        fprintf(f, "nothing was lost\n");
    }
}

/* All of @shares, with what they are of in a column @of, if that is not NULL */
static void write_table(GHashTable *shares, const char *name, const char *of,
                        TableFormat format, FILE *f)
{
    g_autoptr(GPtrArray) list = sorted(shares);
    g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
    const TableColumn columns[] = {
        { "instructions", true }, { name, false }, { of, false },
    };

    for (guint i = 0; i < list->len; i++) {
        const Share *share = list->pdata[i];

        table_add_number(cells, share->insns);
        g_ptr_array_add(cells, share->name ? table_clean(share->name) : NULL);
        if (of) {
            g_ptr_array_add(cells, share->of ? table_clean(share->of) : NULL);
        }
    }
    table_write(columns, of ? 3 : 2, cells, format, f);
}

static void write_json(const Summary *s, const SummaryFacts *facts, FILE *f)
{
    table_begin_json("summary", f);
    fprintf(f, "\"harts\": %u, \"instructions\": %" PRIu64
            ", \"selected\": %" PRIu64 ", \"exceptions\": %" PRIu64
            ", \"interrupts\": %" PRIu64 ", \"losses\": %" PRIu64, facts->harts,
            facts->insns, s->all, facts->exceptions, facts->interrupts,
            facts->losses);
    if (facts->ns) {
        fprintf(f, ", \"ns\": %" PRIu64, facts->ns);
    }
    fputs(", \"rows\": ", f);
    write_table(s->functions, "sym", "dso", TABLE_JSON, f);
    fputs(", \"privileges\": ", f);
    write_table(s->privs, "priv", NULL, TABLE_JSON, f);
    fputs(", \"tasks\": ", f);
    write_table(s->tasks, "comm", NULL, TABLE_JSON, f);
    fputs(", \"without_names\": ", f);
    write_table(s->nameless, "dso", NULL, TABLE_JSON, f);
    fputs("}\n", f);
}

void summary_write(const Counts *counts, const SummaryFacts *facts, FILE *f)
{
    Summary s = {
        .counts = counts,
        .functions = g_hash_table_new_full(NULL, NULL, NULL, g_free),
        .privs = g_hash_table_new_full(NULL, NULL, NULL, g_free),
        .tasks = g_hash_table_new_full(NULL, NULL, NULL, g_free),
        .nameless = g_hash_table_new_full(NULL, NULL, NULL, g_free),
    };

    add_ranges(&s);
    add_tasks(&s, facts);
    if (facts->format == TABLE_TEXT) {
        write_text(&s, facts, f);
    } else if (facts->format == TABLE_JSON) {
        write_json(&s, facts, f);
    } else {
        write_table(s.functions, "sym", "dso", TABLE_TSV, f);
    }
    g_hash_table_unref(s.functions);
    g_hash_table_unref(s.privs);
    g_hash_table_unref(s.tasks);
    g_hash_table_unref(s.nameless);
}
