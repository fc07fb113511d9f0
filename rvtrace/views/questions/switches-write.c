/*
 * Switches: the tables
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/questions/sheet.h"
#include "views/questions/switches-private.h"
#include "views/questions/syscalls.h"

/* A run, of whichever hart */
typedef struct AnyRun {
    const SwitchesHart *hart;
    const TaskRun *run;
} AnyRun;

/* Of a task: what all its runs are together */
typedef struct TaskSum {
    const Task *task;
    uint64_t runs, insns, time, longest;
    uint64_t preempted, blocked, exited;
    uint64_t ready, waited, longest_wait;   /* time between its runs */
    const TaskRun *last;
} TaskSum;

static gint compare_starts(gconstpointer a, gconstpointer b)
{
    const AnyRun *x = a, *y = b;

    if (x->run->from.time != y->run->from.time) {
        return x->run->from.time > y->run->from.time ? 1 : -1;
    }
    return x->hart->hart != y->hart->hart ?
           (x->hart->hart > y->hart->hart ? 1 : -1) :
           (x->run > y->run) - (x->run < y->run);
}

/* All runs of all harts, as they began; the caller frees the array. */
static GArray *all_runs(const Switches *s)
{
    GArray *runs = g_array_new(false, false, sizeof(AnyRun));

    for (guint i = 0; i < s->harts->len; i++) {
        const SwitchesHart *h = s->harts->pdata[i];

        for (guint k = 0; k < h->runs->len; k++) {
            AnyRun run = { h, &g_array_index(h->runs, TaskRun, k) };

            g_array_append_val(runs, run);
        }
    }
    g_array_sort(runs, compare_starts);
    return runs;
}

/* NULL: not known */
static const char *frame_name(const SwitchesHart *h, unsigned frame)
{
    const char *name;

    if (frame == NO_FRAME) {
        return NULL;
    }
    name = profile_frame(h->profile, frame)->name;
    return syscall_name(name) ?: name;
}

static Sheet *list_runs(const Switches *s, GArray *runs, uint64_t *left_out)
{
    static const char *const reasons[] = {
        [LEAVE_UNKNOWN] = NULL,
        [LEAVE_PREEMPTED] = "preempted",
        [LEAVE_SYSCALL] = "syscall",
        [LEAVE_FAULT] = "fault",
        [LEAVE_KERNEL] = "kernel",
        [LEAVE_EXITED] = "exited",
        [LEAVE_IDLE] = "idle",
        [LEAVE_RUNS] = "runs",
    };
    const SwitchesOptions *o = &s->options;
    Sheet *t = sheet_new(o->format);

    sheet_column(t, "hart", true);
    sheet_column(t, "from", true);
    sheet_column(t, "to", true);
    sheet_column(t, "insns", true);
    if (o->virtual_time) {
        sheet_column(t, "time", true);
        sheet_column(t, "ns", true);
    }
    sheet_task_columns(t);
    sheet_column(t, "why", false);
    sheet_column(t, "what", false);
    sheet_column(t, "in", false);
    sheet_column(t, "next", false);
    for (guint i = 0; i < runs->len; i++) {
        const AnyRun *any = &g_array_index(runs, AnyRun, i);
        const TaskRun *run = any->run;

        if (!text_is_like(run->task->name, o->comm)) {
            continue;
        }
        if (o->max_rows && sheet_rows(t) >= o->max_rows) {
            ++*left_out;
            continue;
        }
        sheet_number(t, any->hart->hart);
        sheet_number(t, run->from.insns);
        sheet_number(t, run->to.insns);
        sheet_number(t, run->to.insns - run->from.insns);
        if (o->virtual_time) {
            sheet_number(t, run->from.time);
            sheet_number(t, run->to.time - run->from.time);
        }
        sheet_task(t, run->task);
        sheet_text(t, reasons[run->leave.why]);
        sheet_text(t, frame_name(any->hart, run->leave.what));
        sheet_text(t, frame_name(any->hart, run->leave.in));
        sheet_text(t, run->next ? run->next->name : NULL);
    }
    return t;
}

/* The task waited from the end of its last run to the beginning of @run. */
static void add_wait(TaskSum *sum, const TaskRun *run)
{
    uint64_t wait = run->from.time - MIN(sum->last->to.time, run->from.time);

    if (sum->last->leave.why == LEAVE_PREEMPTED) {
        sum->ready += wait;
    } else {
        sum->waited += wait;
    }
    sum->longest_wait = MAX(sum->longest_wait, wait);
}

static void add_run(TaskSum *sum, const TaskRun *run)
{
    uint64_t time = run->to.time - run->from.time;

    if (sum->last) {
        add_wait(sum, run);
    }
    sum->last = run;
    sum->task = run->task;      /* its latest name */
    sum->runs++;
    sum->insns += run->to.insns - run->from.insns;
    sum->time += time;
    sum->longest = MAX(sum->longest, time);
    sum->preempted += run->leave.why == LEAVE_PREEMPTED;
    sum->exited += run->leave.why == LEAVE_EXITED;
    sum->blocked += run->leave.why == LEAVE_SYSCALL ||
                    run->leave.why == LEAVE_FAULT ||
                    run->leave.why == LEAVE_KERNEL;
}

static gint compare_sums(gconstpointer a, gconstpointer b)
{
    const TaskSum *x = *(TaskSum *const *)a, *y = *(TaskSum *const *)b;

    if (x->time != y->time) {
        return x->time > y->time ? -1 : 1;
    }
    return (x->task->id > y->task->id) - (x->task->id < y->task->id);
}

/*
 * TaskSum of each task that is wanted; the caller frees it. Threads have their
 * numbers, whatever their name is, but idle ones are all number 0: those of
 * harts have other names.
 */
static GPtrArray *sum_up(const Switches *s, const GArray *runs)
{
    g_autoptr(GHashTable) sums = g_hash_table_new(NULL, NULL);
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; i < runs->len; i++) {
        const TaskRun *run = g_array_index(runs, AnyRun, i).run;
        gssize number = task_is_known(run->task) && run->task->tid ?
                        (gssize)run->task->tid : -1 - (gssize)run->task->id;
        TaskSum *sum = g_hash_table_lookup(sums, GSIZE_TO_POINTER(number));

        if (!text_is_like(run->task->name, s->options.comm)) {
            continue;
        }
        if (!sum) {
            sum = g_new0(TaskSum, 1);
            g_hash_table_insert(sums, GSIZE_TO_POINTER(number), sum);
            g_ptr_array_add(list, sum);
        }
        add_run(sum, run);
    }
    g_ptr_array_sort(list, compare_sums);
    return list;
}

static Sheet *list_sums(const Switches *s, const GArray *runs,
                        uint64_t *left_out)
{
    const SwitchesOptions *o = &s->options;
    bool timed = o->virtual_time;
    /* Instructions of harts are not the same clock. */
    bool waits = timed || s->harts->len == 1;
    g_autoptr(GPtrArray) sums = sum_up(s, runs);
    Sheet *t = sheet_new(o->format);

    sheet_task_columns(t);
    sheet_column(t, "runs", true);
    sheet_column(t, "insns", true);
    if (timed) {
        sheet_column(t, "ns", true);
    }
    sheet_column(t, timed ? "longest_ns" : "longest", true);
    sheet_column(t, "preempted", true);
    sheet_column(t, "blocked", true);
    sheet_column(t, "exited", true);
    if (waits) {
        sheet_column(t, timed ? "ready_ns" : "ready", true);
        sheet_column(t, timed ? "blocked_ns" : "waited", true);
        sheet_column(t, timed ? "longest_wait_ns" : "longest_wait", true);
    }
    for (guint i = 0; i < sums->len; i++) {
        const TaskSum *sum = sums->pdata[i];

        if (o->max_rows && i >= o->max_rows) {
            *left_out += sum->runs;
            continue;
        }
        sheet_task(t, sum->task);
        sheet_number(t, sum->runs);
        sheet_number(t, sum->insns);
        if (timed) {
            sheet_number(t, sum->time);
        }
        sheet_number(t, sum->longest);
        sheet_number(t, sum->preempted);
        sheet_number(t, sum->blocked);
        sheet_number(t, sum->exited);
        if (waits) {
            sheet_number(t, sum->ready);
            sheet_number(t, sum->waited);
            sheet_number(t, sum->longest_wait);
        }
    }
    return t;
}

uint64_t switches_write(const Switches *s, FILE *f)
{
    const SwitchesOptions *o = &s->options;
    g_autoptr(GArray) runs = all_runs(s);
    g_autoptr(Sheet) t = NULL;
    uint64_t switches = 0, left_out = 0;

    for (guint i = 0; i < s->harts->len; i++) {
        const SwitchesHart *h = s->harts->pdata[i];

        switches += h->left;
        left_out += h->dropped;
    }
    t = o->list ? list_runs(s, runs, &left_out) :
                  list_sums(s, runs, &left_out);
    if (o->format == TABLE_JSON) {
        table_begin_json("switches", f);
        fprintf(f, "\"clock\": \"%s\", \"switches\": %" PRIu64
                ", \"left_out\": %" PRIu64 ", \"rows\": ",
                sheet_clock(o->virtual_time), switches, left_out);
    } else if (o->format == TABLE_TEXT) {
        fprintf(f, "# %" PRIu64 " switches between tasks; time is %s\n",
                switches, sheet_clock(o->virtual_time));
    }
    sheet_write(t, f);
    if (o->format == TABLE_JSON) {
        fputs("}\n", f);
    } else if (o->format == TABLE_TEXT && left_out) {
        fprintf(f, "# %" PRIu64 " runs of tasks are left out\n", left_out);
    }
    return switches;
}
