/*
 * Latency: the tables
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "base/trap-text.h"
#include "views/questions/latency-private.h"
#include "views/questions/sheet.h"
#include "views/questions/syscalls.h"

/* Of all harts: whose frames are those of one profile */
typedef struct Sum {
    const Latency *latency;
    Profile *profile;
    GHashTable *series;
    GHashTable *numbers;        /* frame -> system call: see learn_numbers() */
    GPtrArray *list;            /* Series, those that took most time first */
    uint64_t count, dropped, forgotten;
} Sum;

static const char *const kinds[] = {
    [CALL_FUNCTION] = "function",
    [CALL_INTERRUPT] = "interrupt",
    [CALL_SYSCALL] = "syscall",
    [CALL_PAGE_FAULT] = "page fault",
    [CALL_EXCEPTION] = "exception",
};

static gint compare(gconstpointer a, gconstpointer b, gpointer opaque)
{
    const Series *x = *(Series *const *)a, *y = *(Series *const *)b;
    const Sum *sum = opaque;
    int order;

    if (x->spread.sum != y->spread.sum) {
        return x->spread.sum > y->spread.sum ? -1 : 1;
    }
    order = strcmp(profile_frame(sum->profile, x->frame)->name,
                   profile_frame(sum->profile, y->frame)->name);
    return order ?: (x->number > y->number) - (x->number < y->number);
}

/* The frame in @sum's profile for one of the hart's series */
static unsigned take_frame(const Sum *sum, const LatencyHart *h,
                           unsigned frame)
{
    g_autofree char *cause = NULL;
    g_autofree char *name = NULL;

    if (frame < LATENCY_TRAP_FRAME) {
        return profile_take_frame(sum->profile,
                                  profile_frame(h->profile, frame));
    }
    cause = trap_text(frame & MOMENT_INTERRUPT,
                      frame & ~(LATENCY_TRAP_FRAME | MOMENT_INTERRUPT));
    name = g_strdup_printf("[%s]", cause);
    return profile_label(sum->profile, FRAME_TRAP, name);
}

/*
 * The number that calls of one function of the kernel have where it is known;
 * SYSCALL_UNKNOWN if there are several.
 */
static void learn_numbers(Sum *sum, const LatencyHart *h)
{
    GHashTableIter iter;
    gpointer value, known;

    g_hash_table_iter_init(&iter, h->series);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Series *one = value;
        gpointer frame = GUINT_TO_POINTER(take_frame(sum, h, one->frame));
        unsigned number = one->number;

        if (one->kind != CALL_SYSCALL || number == SYSCALL_UNKNOWN) {
            continue;
        }
        if (g_hash_table_lookup_extended(sum->numbers, frame, NULL, &known) &&
            GPOINTER_TO_UINT(known) != number) {
            number = SYSCALL_UNKNOWN;
        }
        g_hash_table_insert(sum->numbers, frame, GUINT_TO_POINTER(number));
    }
}

static unsigned number_of(const Sum *sum, const Series *one, unsigned frame)
{
    gpointer known;

    return one->kind == CALL_SYSCALL && one->number == SYSCALL_UNKNOWN &&
           syscall_name(profile_frame(sum->profile, frame)->name) &&
           g_hash_table_lookup_extended(sum->numbers, GUINT_TO_POINTER(frame),
                                        NULL, &known) ?
           GPOINTER_TO_UINT(known) : one->number;
}

static void add_hart(Sum *sum, const LatencyHart *h)
{
    GHashTableIter iter;
    gpointer value;

    sum->dropped += h->dropped;
    sum->forgotten += follow_dropped(h->follower);
    g_hash_table_iter_init(&iter, h->series);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Series *one = value;
        unsigned frame = take_frame(sum, h, one->frame);
        Series *s = series_get(sum->series, one->kind, frame,
                               number_of(sum, one, frame), UINT_MAX);

        spread_merge(&s->spread, &one->spread);
        for (guint i = 0; i < one->worst->len; i++) {
            series_add_worst(s, &g_array_index(one->worst, Worst, i),
                             sum->latency->options.worst);
        }
        sum->count += one->spread.count;
    }
}

static void sum_up(Sum *sum, const Latency *l)
{
    GHashTableIter iter;
    gpointer value;

    *sum = (Sum) {
        .latency = l,
        .profile = profile_new(),
        .series = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                        series_free),
        .numbers = g_hash_table_new(NULL, NULL),
        .list = g_ptr_array_new(),
    };
    for (guint i = 0; i < l->harts->len; i++) {
        learn_numbers(sum, l->harts->pdata[i]);
    }
    for (guint i = 0; i < l->harts->len; i++) {
        add_hart(sum, l->harts->pdata[i]);
    }
    g_hash_table_iter_init(&iter, sum->series);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        g_ptr_array_add(sum->list, value);
    }
    g_ptr_array_sort_with_data(sum->list, compare, sum);
}

static void sum_clear(Sum *sum)
{
    g_ptr_array_unref(sum->list);
    g_hash_table_unref(sum->series);
    g_hash_table_unref(sum->numbers);
    profile_free(sum->profile);
}

static void name_columns(Sheet *s)
{
    sheet_column(s, "kind", false);
    sheet_column(s, "name", false);
    sheet_column(s, "number", true);
}

static void add_name(Sheet *s, const Sum *sum, const Series *one)
{
    const LatencyOptions *o = &sum->latency->options;
    const char *name = profile_frame(sum->profile, one->frame)->name;
    g_autofree char *text = NULL;

    if (o->first) {
        text = g_strdup_printf("%s..%s", o->first, name);
    } else if (one->kind == CALL_SYSCALL) {
        name = syscall_name(name) ?: syscall_number_name(one->number);
    } else if (one->kind != CALL_FUNCTION && g_str_has_prefix(name, "[")) {
        text = g_strndup(name + 1, strlen(name) - 2);
    }
    sheet_text(s, o->first ? "way" : kinds[one->kind]);
    sheet_text(s, text ?: name);
    if (one->number == SYSCALL_UNKNOWN) {
        sheet_none(s);
    } else {
        sheet_number(s, one->number);
    }
}

static void fill_summary(Sheet *s, const Sum *sum)
{
    bool timed = sum->latency->options.virtual_time;
    static const double shares[] = { 0.5, 0.9, 0.99 };

    name_columns(s);
    sheet_column(s, "count", true);
    sheet_column(s, timed ? "min_ns" : "min", true);
    sheet_column(s, timed ? "p50_ns" : "p50", true);
    sheet_column(s, timed ? "p90_ns" : "p90", true);
    sheet_column(s, timed ? "p99_ns" : "p99", true);
    sheet_column(s, timed ? "max_ns" : "max", true);
    sheet_column(s, timed ? "total_ns" : "total", true);
    for (guint i = 0; i < sum->list->len; i++) {
        const Series *one = sum->list->pdata[i];

        add_name(s, sum, one);
        sheet_number(s, one->spread.count);
        sheet_number(s, one->spread.least);
        for (unsigned k = 0; k < G_N_ELEMENTS(shares); k++) {
            sheet_number(s, spread_percentile(&one->spread, shares[k]));
        }
        sheet_number(s, one->spread.most);
        sheet_number(s, one->spread.sum);
    }
}

static void fill_worst(Sheet *s, const Sum *sum)
{
    bool timed = sum->latency->options.virtual_time;

    name_columns(s);
    if (timed) {
        sheet_column(s, "ns", true);
    }
    sheet_column(s, "insns", true);
    sheet_column(s, "hart", true);
    sheet_column(s, "from", true);
    sheet_column(s, "to", true);
    sheet_task_columns(s);
    for (guint i = 0; i < sum->list->len; i++) {
        const Series *one = sum->list->pdata[i];

        for (guint k = 0; k < one->worst->len; k++) {
            const Worst *w = &g_array_index(one->worst, Worst, k);

            add_name(s, sum, one);
            if (timed) {
                sheet_number(s, w->value);
            }
            sheet_number(s, w->to.insns - w->from.insns);
            sheet_number(s, w->hart);
            sheet_number(s, w->from.insns);
            sheet_number(s, w->to.insns);
            sheet_task(s, w->task);
        }
    }
}

static void fill_histogram(Sheet *s, const Sum *sum)
{
    const LatencyOptions *o = &sum->latency->options;

    name_columns(s);
    sheet_column(s, o->virtual_time ? "from_ns" : "from", true);
    sheet_column(s, "count", true);
    if (o->format == TABLE_TEXT) {
        sheet_column(s, "share", false);
    }
    for (guint i = 0; i < sum->list->len; i++) {
        const Series *one = sum->list->pdata[i];
        const Spread *spread = &one->spread;

        for (unsigned bit = 0; bit <= 64; bit++) {
            uint64_t from = bit ? UINT64_C(1) << (bit - 1) : 0;
            uint64_t n = spread_octave(spread, from);
            g_autofree char *bar = NULL;

            if (!n) {
                continue;
            }
            add_name(s, sum, one);
            sheet_number(s, from);
            sheet_number(s, n);
            if (o->format == TABLE_TEXT) {
                bar = g_strnfill(1 + 39 * n / spread->count, '#');
                sheet_text(s, bar);
            }
        }
    }
}

static void (*const fills[LATENCY_NR_TABLES])(Sheet *s, const Sum *sum) = {
    [LATENCY_SUMMARY] = fill_summary,
    [LATENCY_WORST] = fill_worst,
    [LATENCY_HISTOGRAM] = fill_histogram,
};

static void write_table(const Sum *sum, LatencyTable table, FILE *f)
{
    g_autoptr(Sheet) s = sheet_new(sum->latency->options.format);

    fills[table](s, sum);
    sheet_write(s, f);
}

static void write_text(const Sum *sum, FILE *f)
{
    fprintf(f, "# %" PRIu64 " times; time is %s\n", sum->count,
            sheet_clock(sum->latency->options.virtual_time));
    write_table(sum, LATENCY_SUMMARY, f);
    fputs("\n# the longest ones\n", f);
    write_table(sum, LATENCY_WORST, f);
    fputs("\n# how many took from so long to twice that\n", f);
    write_table(sum, LATENCY_HISTOGRAM, f);
    if (sum->dropped) {
        fprintf(f, "# %" PRIu64 " times are of things more than %u, and not "
                "listed\n", sum->dropped, LATENCY_MAX_SERIES);
    }
    if (sum->forgotten) {
        fprintf(f, "# the end of %" PRIu64 " calls was forgotten: too many "
                "stacks waited\n", sum->forgotten);
    }
}

static void write_json(const Sum *sum, FILE *f)
{
    table_begin_json("latency", f);
    fprintf(f, "\"clock\": \"%s\", \"count\": %" PRIu64 ", \"left_out\": %"
            PRIu64 ", \"rows\": ",
            sheet_clock(sum->latency->options.virtual_time), sum->count,
            sum->dropped);
    write_table(sum, LATENCY_SUMMARY, f);
    fputs(", \"worst\": ", f);
    write_table(sum, LATENCY_WORST, f);
    fputs(", \"histogram\": ", f);
    write_table(sum, LATENCY_HISTOGRAM, f);
    fputs("}\n", f);
}

uint64_t latency_write(const Latency *l, FILE *f)
{
    Sum sum;

    sum_up(&sum, l);
    if (l->options.format == TABLE_TEXT) {
        write_text(&sum, f);
    } else if (l->options.format == TABLE_JSON) {
        write_json(&sum, f);
    } else {
        write_table(&sum, l->options.table, f);
    }
    sum_clear(&sum);
    return sum.count;
}
