/*
 * Faults: which exceptions were taken, by cause, place and task
 *
 * System calls and breakpoints are meant, and no faults.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/trap-text.h"
#include "views/questions/faults.h"
#include "views/questions/sheet.h"

/* What rows are distinguished by; without padding */
typedef struct FaultKey {
    uint64_t epc;
    uint32_t task;              /* its id */
    uint8_t cause, priv, epc_known, padding;
} FaultKey;

typedef struct Fault {
    FaultKey key;
    unsigned hart;
    const Task *task;
    const Object *object;       /* of epc; NULL: not known */
    const Symbol *symbol;       /* NULL: it has none there */
    uint64_t count, in_row;     /* in_row: most of them one after the other */
    uint64_t first, last;       /* places */
    uint64_t least, most;       /* tval */
} Fault;

struct FaultsHart {
    const Faults *faults;
    unsigned hart;
    const Names *names;
    const TaskTable *tasks;
    GHashTable *rows;           /* FaultKey * of the Fault -> Fault */
    Fault *row;                 /* of the last one; NULL: none has room */
    uint64_t in_row;            /* ... and so many like that */
    uint64_t dropped;           /* exceptions that have no row */
};

struct Faults {
    FaultsOptions options;
    GPtrArray *harts;           /* FaultsHart */
};

static guint hash_key(gconstpointer p)
{
    const FaultKey *k = p;

    return (k->epc >> 1 ^ k->task << 7 ^ k->cause << 24 ^ k->priv << 20) *
           2654435761u;
}

static gboolean equal_keys(gconstpointer a, gconstpointer b)
{
    return !memcmp(a, b, sizeof(FaultKey));
}

static void hart_free(gpointer opaque)
{
    FaultsHart *h = opaque;

    g_hash_table_unref(h->rows);
    g_free(h);
}

Faults *faults_new(const FaultsOptions *options)
{
    Faults *f = g_new0(Faults, 1);

    f->options = *options;
    f->harts = g_ptr_array_new_with_free_func(hart_free);
    return f;
}

void faults_free(Faults *f)
{
    g_ptr_array_unref(f->harts);
    g_free(f);
}

FaultsHart *faults_hart(Faults *f, unsigned hart, const Names *names,
                        const TaskTable *tasks)
{
    FaultsHart *h = g_new0(FaultsHart, 1);

    h->faults = f;
    h->hart = hart;
    h->names = names;
    h->tasks = tasks;
    h->rows = g_hash_table_new_full(hash_key, equal_keys, NULL, g_free);
    g_ptr_array_add(f->harts, h);
    return h;
}

/* Where the exception was is looked up once for each row. */
static Fault *add_row(FaultsHart *h, const FaultKey *key, const Task *task,
                      const CallStackSite *site)
{
    Fault *row = g_new0(Fault, 1);
    NamePlace place;

    row->key = *key;
    row->hart = h->hart;
    row->task = task;
    row->least = UINT64_MAX;
    if (key->epc_known) {
        names_find(h->names, site->image, key->priv, key->epc, &place);
        row->object = place.object;
        row->symbol = place.symbol;
    }
    g_hash_table_insert(h->rows, &row->key, row);
    return row;
}

static bool is_meant(const FlowTrap *trap)
{
    return trap->interrupt || trap->cause == 3 ||
           (trap->cause >= 8 && trap->cause <= 11);
}

void faults_trap(void *hart, uint64_t place, const FlowTrap *trap,
                 const CallStackSite *site)
{
    FaultsHart *h = hart;
    const Task *task = site->task ?: task_get(h->tasks, TASK_NONE);
    FaultKey key = {
        .epc = trap->epc_known ? trap->epc : 0,
        .task = task->id,
        .cause = trap->cause,
        .priv = trap->priv,
        .epc_known = trap->epc_known,
    };
    Fault *row;

    if (is_meant(trap)) {
        return;
    }
    row = g_hash_table_lookup(h->rows, &key);
    if (!row && g_hash_table_size(h->rows) < FAULTS_MAX_ROWS) {
        row = add_row(h, &key, task, site);
        row->first = place;
    }
    h->in_row = row && row == h->row ? h->in_row + 1 : 1;
    h->row = row;
    if (!row) {
        h->dropped++;
        return;
    }
    row->count++;
    row->in_row = MAX(row->in_row, h->in_row);
    row->last = place;
    row->least = MIN(row->least, trap->tval);
    row->most = MAX(row->most, trap->tval);
}

static gint compare(gconstpointer a, gconstpointer b)
{
    const Fault *x = *(Fault *const *)a, *y = *(Fault *const *)b;
    uint64_t storm_x = x->in_row >= FAULTS_STORM ? x->in_row : 0;
    uint64_t storm_y = y->in_row >= FAULTS_STORM ? y->in_row : 0;

    if (storm_x != storm_y) {
        return storm_x > storm_y ? -1 : 1;
    }
    if (x->count != y->count) {
        return x->count > y->count ? -1 : 1;
    }
    return x->hart != y->hart ? (x->hart > y->hart ? 1 : -1) :
           (x->first > y->first) - (x->first < y->first);
}

static bool is_wanted(const FaultsOptions *o, const Fault *row)
{
    const Symbol *s = row->symbol;

    return text_is_like(row->task->name, o->comm) &&
           (!o->dso || (row->object &&
                        text_is_like(row->object->name, o->dso))) &&
           (!o->sym || (s && (text_is_like(s->name, o->sym) ||
                              text_is_like(s->linkage, o->sym))));
}

/* All rows that are wanted, in order; the caller frees the array. */
static GPtrArray *all_rows(const Faults *f, uint64_t *count, uint64_t *dropped)
{
    GPtrArray *rows = g_ptr_array_new();
    GHashTableIter iter;
    gpointer value;

    for (guint i = 0; i < f->harts->len; i++) {
        const FaultsHart *h = f->harts->pdata[i];

        *dropped += h->dropped;
        *count += h->dropped;
        g_hash_table_iter_init(&iter, h->rows);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
            if (is_wanted(&f->options, value)) {
                g_ptr_array_add(rows, value);
                *count += ((Fault *)value)->count;
            }
        }
    }
    g_ptr_array_sort(rows, compare);
    return rows;
}

static void add_hex(Sheet *s, bool known, uint64_t value)
{
    g_autofree char *text = g_strdup_printf("0x%" PRIx64, value);

    sheet_text(s, known ? text : NULL);
}

static void add_fault(Sheet *s, const Fault *row)
{
    g_autofree char *cause = trap_text(false, row->key.cause);

    sheet_number(s, row->count);
    sheet_number(s, row->in_row);
    sheet_text(s, cause);
    sheet_text(s, priv_text(row->key.priv));
    add_hex(s, row->key.epc_known, row->key.epc);
    sheet_text(s, row->symbol ? row->symbol->name : NULL);
    sheet_text(s, row->object ? row->object->name : NULL);
    add_hex(s, true, row->least);
    add_hex(s, true, row->most);
    sheet_task(s, row->task);
    sheet_number(s, row->hart);
    sheet_number(s, row->first);
    sheet_number(s, row->last);
}

static void add_columns(Sheet *s)
{
    sheet_column(s, "count", true);
    sheet_column(s, "in_row", true);
    sheet_column(s, "cause", false);
    sheet_column(s, "priv", false);
    sheet_column(s, "epc", false);
    sheet_column(s, "sym", false);
    sheet_column(s, "dso", false);
    sheet_column(s, "tval_min", false);
    sheet_column(s, "tval_max", false);
    sheet_task_columns(s);
    sheet_column(s, "hart", true);
    sheet_column(s, "first", true);
    sheet_column(s, "last", true);
}

uint64_t faults_write(const Faults *f, FILE *out)
{
    const FaultsOptions *o = &f->options;
    g_autoptr(Sheet) s = sheet_new(o->format);
    uint64_t count = 0, dropped = 0;
    g_autoptr(GPtrArray) rows = all_rows(f, &count, &dropped);

    add_columns(s);
    for (guint i = 0; i < rows->len; i++) {
        if (o->max_rows && i >= o->max_rows) {
            dropped += ((Fault *)rows->pdata[i])->count;
        } else {
            add_fault(s, rows->pdata[i]);
        }
    }
    if (o->format == TABLE_JSON) {
        table_begin_json("faults", out);
        fprintf(out, "\"exceptions\": %" PRIu64 ", \"left_out\": %" PRIu64
                ", \"rows\": ", count, dropped);
    } else if (o->format == TABLE_TEXT) {
        fprintf(out, "# %" PRIu64 " exceptions; first those that were taken %u "
                "times in a row or more\n", count, FAULTS_STORM);
    }
    sheet_write(s, out);
    if (o->format == TABLE_JSON) {
        fputs("}\n", out);
    } else if (o->format == TABLE_TEXT && dropped) {
        fprintf(out, "# %" PRIu64 " exceptions are not listed\n", dropped);
    }
    return count;
}
