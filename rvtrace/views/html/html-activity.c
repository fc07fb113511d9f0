/*
 * Reports: what harts did when, as JSON
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/json.h"
#include "base/trap-text.h"
#include "views/html/html-activity.h"

/* Kinds of marks that are no ETraceSbNoteKind */
enum { HTML_LOST = 0, HTML_RESET = 4 };

/* Rows of a table of counts, before those of tasks */
enum { NOBODY, OTHERS, FIRST_TASK };

#define NR_TRAPS    (2 * MOMENT_INTERRUPT)

typedef struct Writer {
    GString *s;
    const HtmlReport *r;
    const HtmlAxis *axis;
    uint64_t *sums;             /* instructions by Task.id */
    unsigned *rows;             /* row of a table by Task.id */
    GArray *tasks;              /* unsigned: Task.id, the busiest first */
    unsigned rows_of_tasks;     /* of a table: FIRST_TASK and those shown */
    unsigned trap_rows[NR_TRAPS];   /* by cause */
    unsigned nr_traps;
} Writer;

static void put_axis(const Writer *w)
{
    const HtmlAxis *axis = w->axis;
    bool timed = w->r->nr_harts && w->r->harts[0]->timed;

    g_string_append_printf(w->s, "\"axis\":{\"unit\":\"%s\",\"from\":%" PRIu64
                           ",\"to\":%" PRIu64 ",\"start\":%" PRIu64
                           ",\"width\":%" PRIu64 ",\"bins\":%u,\"per\":%u,"
                           "\"nodeBins\":%u},",
                           timed ? "ns" : "instructions", axis->from, axis->to,
                           axis->start, axis->width, axis->bins, axis->per,
                           axis->node_bins);
}

static int by_sum(gconstpointer a, gconstpointer b, gpointer opaque)
{
    const Writer *w = opaque;
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    const Task *task = task_get(w->r->tasks, x);
    const Task *other = task_get(w->r->tasks, y);

    if (w->sums[x] != w->sums[y]) {
        return w->sums[x] > w->sums[y] ? -1 : 1;
    }
    /* Ids depend on which hart was decoded first. */
    return task->tid != other->tid ? (task->tid < other->tid ? -1 : 1) :
           strcmp(task->name, other->name);
}

static void choose_tasks(Writer *w)
{
    unsigned n = w->r->tasks ? task_table_size(w->r->tasks) : 1;

    w->sums = g_new0(uint64_t, n);
    w->rows = g_new0(unsigned, n);
    w->tasks = g_array_new(false, false, sizeof(unsigned));
    for (unsigned i = 0; i < w->r->nr_harts; i++) {
        const GArray *counts = w->r->harts[i]->tasks->counts;

        for (guint j = 0; j < counts->len; j++) {
            const BinCount *c = &g_array_index(counts, BinCount, j);

            w->sums[c->id] += c->count;
        }
    }
    for (unsigned id = TASK_NONE + 1; id < n; id++) {
        w->rows[id] = OTHERS;
        if (w->sums[id]) {
            g_array_append_val(w->tasks, id);
        }
    }
    g_array_sort_with_data(w->tasks, by_sum, w);
    if (w->tasks->len > HTML_MAX_TASKS) {
        g_array_set_size(w->tasks, HTML_MAX_TASKS);
    }
    for (guint i = 0; i < w->tasks->len; i++) {
        w->rows[g_array_index(w->tasks, unsigned, i)] = FIRST_TASK + i;
    }
    w->rows_of_tasks = FIRST_TASK + w->tasks->len;
}

static void put_tasks(const Writer *w)
{
    g_string_append(w->s, "\"tasks\":[");
    for (guint i = 0; i < w->tasks->len; i++) {
        const Task *task = task_get(w->r->tasks, g_array_index(w->tasks,
                                                               unsigned, i));

        json_comma(w->s);
        g_string_append_c(w->s, '[');
        json_string(w->s, task->name, HTML_MAX_NAME);
        g_string_append_printf(w->s, ",%u,%u,%d]", task->tgid, task->tid,
                               task_is_known(task));
    }
    g_string_append(w->s, "],");
}

/* Which traps there were, in the order of their causes, with their names */
static void put_traps(Writer *w)
{
    bool seen[NR_TRAPS] = { false };

    for (unsigned i = 0; i < w->r->nr_harts; i++) {
        const GArray *counts = w->r->harts[i]->traps->counts;

        for (guint j = 0; j < counts->len; j++) {
            seen[g_array_index(counts, BinCount, j).id] = true;
        }
    }
    g_string_append(w->s, "\"traps\":[");
    for (unsigned i = 0; i < NR_TRAPS; i++) {
        bool interrupt = i >= MOMENT_INTERRUPT;
        unsigned cause = i % MOMENT_INTERRUPT;
        g_autofree char *name = trap_text(interrupt, cause);

        if (seen[i]) {
            w->trap_rows[i] = w->nr_traps++;
            json_comma(w->s);
            json_string(w->s, name, HTML_MAX_NAME);
        }
    }
    g_string_append(w->s, "],");
}

/* @row_of: in which of @rows rows of a table the counts of a thing are */
static void put_bins(const Writer *w, const char *name, const Bins *b,
                     unsigned rows, const unsigned *row_of)
{
    const HtmlAxis *axis = w->axis;
    g_autofree uint64_t *table = g_new0(uint64_t, (size_t)rows * axis->bins);
    g_autoptr(GByteArray) bytes = g_byte_array_new();

    for (guint i = 0; i < b->counts->len; i++) {
        const BinCount *c = &g_array_index(b->counts, BinCount, i);
        uint32_t bin = bins_place(b, c, axis->width, axis->start);

        table[(size_t)row_of[c->id] * axis->bins +
              MIN(bin, axis->bins - 1)] += c->count;
    }
    for (unsigned i = 0; i < rows; i++) {
        html_pack_counts(bytes, table + (size_t)i * axis->bins, axis->bins);
    }
    g_string_append_printf(w->s, ",\"%s\":", name);
    html_put_packed(w->s, bytes);
}

static void put_marks(const Writer *w, const Activity *a)
{
    g_string_append(w->s, ",\"marks\":[");
    for (guint i = 0; i < a->marks->len; i++) {
        const ActivityMark *m = &g_array_index(a->marks, ActivityMark, i);
        g_autofree char *text = g_strndup(m->mark->text, m->mark->len);

        json_comma(w->s);
        g_string_append_printf(w->s, "[%" PRIu64 ",%u,", m->at,
                               m->mark->kind == MOMENT_NOTE ?
                               m->mark->number :
                               m->mark->kind == MOMENT_RESET ?
                               HTML_RESET : HTML_LOST);
        json_string(w->s, text, HTML_MAX_MARK);
        g_string_append_c(w->s, ']');
    }
    g_string_append_printf(w->s, "],\"moreMarks\":%" PRIu64, a->more_marks);
}

static void put_hart(const Writer *w, const Activity *a)
{
    json_comma(w->s);
    g_string_append_printf(w->s, "{\"hart\":%u,\"insns\":%" PRIu64, a->hart,
                           a->insns);
    put_bins(w, "tasks", a->tasks, w->rows_of_tasks, w->rows);
    if (a->times && w->r->times) {
        put_bins(w, "times", a->times, w->rows_of_tasks, w->rows);
    }
    put_bins(w, "traps", a->traps, w->nr_traps, w->trap_rows);
    put_marks(w, a);
    g_string_append_c(w->s, '}');
}

void html_put_activity(GString *s, const HtmlReport *r, const HtmlAxis *axis)
{
    Writer w = { .s = s, .r = r, .axis = axis };

    put_axis(&w);
    choose_tasks(&w);
    put_tasks(&w);
    put_traps(&w);
    g_string_append(s, "\"harts\":[");
    for (unsigned i = 0; i < r->nr_harts; i++) {
        put_hart(&w, r->harts[i]);
    }
    g_string_append_c(s, ']');
    g_free(w.sums);
    g_free(w.rows);
    g_array_unref(w.tasks);
}
