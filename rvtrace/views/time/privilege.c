/*
 * Privilege levels: how many instructions ran in each, by intervals of time
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/trap-text.h"
#include "views/time/bins.h"
#include "views/time/privilege.h"

/* ETracePriv has 3 bits; two of their values mean nothing. */
#define NR_LEVELS   8
#define UNKNOWN     2

/* In the order of their columns; the first ones have one in any case. */
static const unsigned levels[] = {
    ETRACE_PRIV_U, ETRACE_PRIV_S, ETRACE_PRIV_M,
    ETRACE_PRIV_VU, ETRACE_PRIV_VS, ETRACE_PRIV_D, UNKNOWN,
};
#define ALWAYS  3

struct PrivilegeHart {
    Bins *insns;                /* by level */
    bool known;                 /* there was a moment */
    unsigned level;             /* since the last one */
    uint64_t since, before;     /* its time; instructions up to it */
};

struct PrivilegeTable {
    uint64_t interval;
    bool virtual_time;
    GPtrArray *harts;           /* PrivilegeHart */
};

static void hart_free(void *opaque)
{
    PrivilegeHart *h = opaque;

    bins_free(h->insns);
    g_free(h);
}

PrivilegeTable *privilege_new(uint64_t interval, bool virtual_time)
{
    PrivilegeTable *t = g_new0(PrivilegeTable, 1);

    t->interval = interval;
    t->virtual_time = virtual_time;
    t->harts = g_ptr_array_new_with_free_func(hart_free);
    return t;
}

void privilege_free(PrivilegeTable *t)
{
    g_ptr_array_unref(t->harts);
    g_free(t);
}

PrivilegeHart *privilege_hart(PrivilegeTable *t)
{
    PrivilegeHart *h = g_new0(PrivilegeHart, 1);

    h->insns = bins_new(t->interval, PRIVILEGE_MAX_INTERVALS,
                        PRIVILEGE_MAX_INTERVALS * NR_LEVELS);
    g_ptr_array_add(t->harts, h);
    return h;
}

static void advance(PrivilegeHart *h, uint64_t insns, uint64_t time)
{
    if (h->known) {
        bins_put(h->insns, h->level, h->since, time, insns - h->before);
    }
    h->before = insns;
    h->since = time;
}

void privilege_moment(void *opaque, const CallStackMoment *m)
{
    PrivilegeHart *h = opaque;
    unsigned level = m->priv % NR_LEVELS;

    advance(h, m->insns, m->time);
    h->known = true;
    h->level = level == 7 ? UNKNOWN : level;
}

void privilege_end(PrivilegeHart *h, uint64_t insns, uint64_t time)
{
    advance(h, insns, time);
    bins_end(h->insns);
}

/* While it is written: all harts as one */
typedef struct Writer {
    const PrivilegeTable *t;
    uint64_t width;             /* of the intervals of all harts */
    guint *next;                /* of each hart: the count that comes next */
    uint64_t from;              /* where the interval begins, ... */
    uint64_t insns[NR_LEVELS];  /* ... and what ran in it; by level */
    uint64_t all, levels[NR_LEVELS];    /* in all intervals */
} Writer;

static void look_at_all(Writer *w)
{
    w->width = w->t->interval;
    for (guint i = 0; i < w->t->harts->len; i++) {
        const PrivilegeHart *h = w->t->harts->pdata[i];
        const GArray *counts = h->insns->counts;

        w->width = MAX(w->width, h->insns->width);
        for (guint k = 0; k < counts->len; k++) {
            const BinCount *c = &g_array_index(counts, BinCount, k);

            w->levels[c->id] += c->count;
            w->all += c->count;
        }
    }
}

/* The count of hart @i that comes next, and its interval, or NULL */
static const BinCount *next_count(const Writer *w, guint i, uint64_t *from)
{
    const PrivilegeHart *h = w->t->harts->pdata[i];
    const Bins *b = h->insns;
    const BinCount *c;

    if (w->next[i] == b->counts->len) {
        return NULL;
    }
    c = &g_array_index(b->counts, BinCount, w->next[i]);
    *from = (b->first + c->bin) * b->width;
    *from -= *from % w->width;
    return c;
}

/* Go on with the first interval that has not been written. */
static bool next_row(Writer *w)
{
    const BinCount *c;
    bool any = false;
    uint64_t from;

    memset(w->insns, 0, sizeof(w->insns));
    for (guint i = 0; i < w->t->harts->len; i++) {
        if (next_count(w, i, &from)) {
            w->from = any ? MIN(w->from, from) : from;
            any = true;
        }
    }
    for (guint i = 0; i < w->t->harts->len; i++) {
        while ((c = next_count(w, i, &from)) && from == w->from) {
            w->insns[c->id] += c->count;
            w->next[i]++;
        }
    }
    return any;
}

static bool has_column(const Writer *w, unsigned column)
{
    return column < ALWAYS || w->levels[levels[column]];
}

static uint64_t row_insns(const Writer *w)
{
    uint64_t insns = 0;

    for (unsigned i = 0; i < NR_LEVELS; i++) {
        insns += w->insns[i];
    }
    return insns;
}

/* A place on the axis as --from takes it, as exact as intervals need it */
static char *axis_text(const Writer *w, uint64_t at)
{
    uint64_t second = 1000000000, unit = second;
    int digits = 0;

    if (!w->t->virtual_time) {
        return g_strdup_printf("%" PRIu64, at);
    }
    while (w->width % unit) {
        unit /= 1000;
        digits += 3;
    }
    return !digits ? g_strdup_printf("%" PRIu64 "s", at / second) :
           g_strdup_printf("%" PRIu64 ".%0*" PRIu64 "s", at / second, digits,
                           at % second / unit);
}

static void write_text(Writer *w, FILE *f)
{
    g_autofree char *width = axis_text(w, w->width);

    fprintf(f, "# %" PRIu64 " instructions, in intervals of %s%s\n", w->all,
            width, w->t->virtual_time ? " of virtual time" :
                                        " instructions of each hart");
    fprintf(f, "%16s %16s", "from", "instructions");
    for (unsigned i = 0; i < ARRAY_SIZE(levels); i++) {
        if (has_column(w, i)) {
            fprintf(f, " %12s", priv_text(levels[i]));
        }
    }
    fputc('\n', f);
    while (next_row(w)) {
        g_autofree char *from = axis_text(w, w->from);
        uint64_t insns = row_insns(w);

        fprintf(f, "%16s %16" PRIu64, from, insns);
        for (unsigned i = 0; i < ARRAY_SIZE(levels); i++) {
            if (has_column(w, i)) {
                fprintf(f, " %11.2f%%", 100.0 * w->insns[levels[i]] / insns);
            }
        }
        fputc('\n', f);
    }
}

static void write_data(Writer *w, TableFormat format, FILE *f)
{
    g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
    const char *ns = w->t->virtual_time ? "_ns" : "";
    g_autofree char *from = g_strdup_printf("from%s", ns);
    TableColumn columns[2 + ARRAY_SIZE(levels)] = {
        { from, true }, { "instructions", true },
    };
    unsigned n = 2;

    for (unsigned i = 0; i < ARRAY_SIZE(levels); i++) {
        if (has_column(w, i)) {
            columns[n++] = (TableColumn) { priv_text(levels[i]), true };
        }
    }
    while (next_row(w)) {
        table_add_number(cells, w->from);
        table_add_number(cells, row_insns(w));
        for (unsigned i = 0; i < ARRAY_SIZE(levels); i++) {
            if (has_column(w, i)) {
                table_add_number(cells, w->insns[levels[i]]);
            }
        }
    }
    if (format == TABLE_JSON) {
        table_begin_json("privilege", f);
        fprintf(f, "\"instructions\": %" PRIu64 ", \"interval%s\": %" PRIu64
                ", \"rows\": ", w->all, ns, w->width);
    }
    table_write(columns, n, cells, format, f);
    if (format == TABLE_JSON) {
        fprintf(f, "}\n");
    }
}

uint64_t privilege_write(const PrivilegeTable *t, TableFormat format, FILE *f)
{
    g_autofree guint *next = g_new0(guint, t->harts->len + 1);
    Writer w = { .t = t, .next = next };

    look_at_all(&w);
    if (format == TABLE_TEXT) {
        write_text(&w, f);
    } else {
        write_data(&w, format, f);
    }
    return w.width > t->interval ? w.width : 0;
}
