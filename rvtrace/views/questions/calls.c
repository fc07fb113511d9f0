/*
 * Calls: each call of some functions, or who called them how often
 *
 * A call has its row from its beginning on, so that rows are in the order in
 * which calls begin.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/questions/calls.h"
#include "views/questions/sheet.h"

/* Of a frame: not looked at yet, or does it match? */
enum { FRAME_NEW, FRAME_OTHER, FRAME_MATCHES };

#define NO_CALLER   UINT_MAX

typedef struct CallRow {
    Place from, to;
    Place away;
    const Task *task;
    unsigned frame, caller;     /* of the profile; or NO_CALLER */
    bool ended;
} CallRow;

/* Calls of a function by another one */
typedef struct CallPair {
    unsigned frame, caller;
    uint64_t calls, ended;
    uint64_t insns, time, longest;      /* of those that ended */
} CallPair;

struct CallsHart {
    const Calls *calls;
    unsigned hart;
    const Profile *profile;
    Follower *follower;
    GByteArray *matches;        /* by frame */
    GArray *rows;               /* CallRow */
    GHashTable *pairs;          /* guint64 * -> CallPair */
    uint64_t all, dropped;      /* calls; those that are in no row or pair */
};

struct Calls {
    CallsOptions options;
    GPtrArray *harts;           /* CallsHart */
};

static bool frame_matches(const CallsHart *h, const ProfileFrame *frame)
{
    const CallsOptions *o = &h->calls->options;

    return frame->kind != FRAME_TRAP && frame->kind != FRAME_GROUP &&
           frame_is_like(frame, o->sym, o->dso);
}

static bool is_wanted(CallsHart *h, unsigned frame)
{
    guint known = h->matches->len;

    if (frame >= known) {
        g_byte_array_set_size(h->matches, frame + 1);
        memset(h->matches->data + known, FRAME_NEW, frame + 1 - known);
    }
    if (h->matches->data[frame] == FRAME_NEW) {
        h->matches->data[frame] =
            frame_matches(h, profile_frame(h->profile, frame)) ?
            FRAME_MATCHES : FRAME_OTHER;
    }
    return h->matches->data[frame] == FRAME_MATCHES;
}

static void add_row(CallsHart *h, OpenCall *call, unsigned caller,
                    const Task *task)
{
    const CallsOptions *o = &h->calls->options;
    CallRow row = {
        .from = call->from, .task = task, .frame = call->frame,
        .caller = caller,
    };

    if (h->rows->len >= (o->max_rows ? MIN(o->max_rows, CALLS_MAX_ROWS) :
                                       CALLS_MAX_ROWS)) {
        h->dropped++;
        return;
    }
    g_array_append_val(h->rows, row);
    call->number = h->rows->len;
}

static void add_pair(CallsHart *h, OpenCall *call, unsigned caller)
{
    guint64 key = (guint64)caller << 32 | call->frame;
    CallPair *pair = g_hash_table_lookup(h->pairs, &key);

    if (!pair && g_hash_table_size(h->pairs) >= CALLS_MAX_PAIRS) {
        h->dropped++;
        return;
    }
    if (!pair) {
        pair = g_new0(CallPair, 1);
        pair->frame = call->frame;
        pair->caller = caller;
        g_hash_table_insert(h->pairs, g_memdup2(&key, sizeof(key)), pair);
    }
    pair->calls++;
    call->number = caller + 1;      /* 0: there is none */
}

static void on_begin(void *opaque, OpenCall *calls, unsigned n,
                     const Task *task)
{
    CallsHart *h = opaque;
    OpenCall *call = &calls[n - 1];
    unsigned caller = n > 1 ? calls[n - 2].frame : NO_CALLER;

    if (!is_wanted(h, call->frame) ||
        !text_is_like(task->name, h->calls->options.comm)) {
        return;
    }
    h->all++;
    if (h->calls->options.by_caller) {
        add_pair(h, call, caller);
    } else {
        add_row(h, call, caller, task);
    }
}

static void end_pair(CallsHart *h, const EndedCall *e)
{
    guint64 key = (guint64)(e->call->number - 1) << 32 | e->call->frame;
    CallPair *pair = g_hash_table_lookup(h->pairs, &key);
    uint64_t time = e->to.time - e->call->from.time;

    if (pair) {
        pair->ended++;
        pair->insns += e->to.insns - e->call->from.insns - e->away.insns;
        pair->time += time;
        pair->longest = MAX(pair->longest, time);
    }
}

static void on_end(void *opaque, const EndedCall *e)
{
    CallsHart *h = opaque;

    if (!is_wanted(h, e->call->frame) || e->end == CALL_UNSEEN) {
        return;
    }
    if (h->calls->options.by_caller) {
        end_pair(h, e);
    } else if (e->call->number) {
        CallRow *row = &g_array_index(h->rows, CallRow, e->call->number - 1);

        row->to = e->to;
        row->away = e->away;
        row->ended = true;
    }
}

static const FollowOps follow_ops = { .begin = on_begin, .end = on_end };

static void hart_free(gpointer opaque)
{
    CallsHart *h = opaque;

    follow_free(h->follower);
    g_byte_array_unref(h->matches);
    g_array_unref(h->rows);
    g_hash_table_unref(h->pairs);
    g_free(h);
}

Calls *calls_new(const CallsOptions *options)
{
    Calls *c = g_new0(Calls, 1);

    c->options = *options;
    c->harts = g_ptr_array_new_with_free_func(hart_free);
    return c;
}

void calls_free(Calls *c)
{
    g_ptr_array_unref(c->harts);
    g_free(c);
}

CallsHart *calls_hart(Calls *c, unsigned hart, const Profile *profile,
                      const TaskTable *tasks)
{
    CallsHart *h = g_new0(CallsHart, 1);

    h->calls = c;
    h->hart = hart;
    h->profile = profile;
    h->follower = follow_new(profile, tasks, &follow_ops, h);
    h->matches = g_byte_array_new();
    h->rows = g_array_new(false, false, sizeof(CallRow));
    h->pairs = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                     g_free);
    g_ptr_array_add(c->harts, h);
    return h;
}

void calls_moment(void *hart, const CallStackMoment *moment)
{
    follow_moment(((CallsHart *)hart)->follower, moment);
}

void calls_mark(void *hart, const CallStackMoment *when, const MomentMark *mark)
{
    follow_mark(((CallsHart *)hart)->follower, when, mark);
}

void calls_end(void *hart, const CallStackMoment *when)
{
    follow_end(((CallsHart *)hart)->follower, when);
}

/* NULL: not known */
static const char *name_of(const CallsHart *h, unsigned frame)
{
    return frame == NO_CALLER ? NULL : profile_frame(h->profile, frame)->name;
}

static void add_function(Sheet *s, const CallsHart *h, unsigned frame,
                         unsigned caller)
{
    const ProfileFrame *f = profile_frame(h->profile, frame);

    sheet_text(s, f->name);
    sheet_text(s, f->object ? f->object->name : NULL);
    sheet_text(s, name_of(h, caller));
}

static void number_if(Sheet *s, bool known, uint64_t n)
{
    if (known) {
        sheet_number(s, n);
    } else {
        sheet_none(s);
    }
}

static Sheet *list_rows(const Calls *c)
{
    bool timed = c->options.virtual_time;
    Sheet *s = sheet_new(c->options.format);

    sheet_column(s, "hart", true);
    sheet_column(s, "from", true);
    sheet_column(s, "to", true);
    sheet_column(s, "insns", true);
    if (timed) {
        sheet_column(s, "time", true);
        sheet_column(s, "ns", true);
        sheet_column(s, "away_ns", true);
    }
    sheet_task_columns(s);
    sheet_column(s, "sym", false);
    sheet_column(s, "dso", false);
    sheet_column(s, "caller", false);
    for (guint i = 0; i < c->harts->len; i++) {
        const CallsHart *h = c->harts->pdata[i];

        for (guint k = 0; k < h->rows->len; k++) {
            const CallRow *row = &g_array_index(h->rows, CallRow, k);

            sheet_number(s, h->hart);
            sheet_number(s, row->from.insns);
            number_if(s, row->ended, row->to.insns);
            number_if(s, row->ended, row->to.insns - row->from.insns -
                      row->away.insns);
            if (timed) {
                sheet_number(s, row->from.time);
                number_if(s, row->ended, row->to.time - row->from.time);
                number_if(s, row->ended, row->away.time);
            }
            sheet_task(s, row->task);
            add_function(s, h, row->frame, row->caller);
        }
    }
    return s;
}

/* A pair, of whichever harts */
typedef struct NamedPair {
    const CallsHart *hart;
    CallPair sum;
} NamedPair;

static gint compare_pairs(gconstpointer a, gconstpointer b)
{
    const NamedPair *x = a, *y = b;
    int order;

    if (x->sum.calls != y->sum.calls) {
        return x->sum.calls > y->sum.calls ? -1 : 1;
    }
    order = strcmp(name_of(x->hart, x->sum.frame),
                   name_of(y->hart, y->sum.frame));
    return order ?: g_strcmp0(name_of(x->hart, x->sum.caller),
                              name_of(y->hart, y->sum.caller));
}

/* One frame for the same function of all harts; the same for NO_CALLER */
static unsigned common_frame(Profile *all, const CallsHart *h, unsigned frame)
{
    return frame == NO_CALLER ? frame :
           profile_take_frame(all, profile_frame(h->profile, frame));
}

static void add_up(GHashTable *sums, Profile *all, const CallsHart *h,
                   const CallPair *pair)
{
    guint64 key = (guint64)common_frame(all, h, pair->caller) << 32 |
                  common_frame(all, h, pair->frame);
    NamedPair *sum = g_hash_table_lookup(sums, &key);

    if (!sum) {
        sum = g_new0(NamedPair, 1);
        sum->hart = h;
        sum->sum = *pair;
        g_hash_table_insert(sums, g_memdup2(&key, sizeof(key)), sum);
        return;
    }
    sum->sum.calls += pair->calls;
    sum->sum.ended += pair->ended;
    sum->sum.insns += pair->insns;
    sum->sum.time += pair->time;
    sum->sum.longest = MAX(sum->sum.longest, pair->longest);
}

/* The pairs of all harts, NamedPair, in order; the caller frees the array. */
static GArray *all_pairs(const Calls *c)
{
    g_autoptr(Profile) all = profile_new();
    g_autoptr(GHashTable) sums = g_hash_table_new_full(
        g_int64_hash, g_int64_equal, g_free, g_free);
    GArray *list = g_array_new(false, false, sizeof(NamedPair));
    GHashTableIter iter;
    gpointer value;

    for (guint i = 0; i < c->harts->len; i++) {
        const CallsHart *h = c->harts->pdata[i];

        g_hash_table_iter_init(&iter, h->pairs);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
            add_up(sums, all, h, value);
        }
    }
    g_hash_table_iter_init(&iter, sums);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        g_array_append_vals(list, value, 1);
    }
    g_array_sort(list, compare_pairs);
    return list;
}

static Sheet *list_pairs(const Calls *c, uint64_t *left_out)
{
    bool timed = c->options.virtual_time;
    g_autoptr(GArray) pairs = all_pairs(c);
    Sheet *s = sheet_new(c->options.format);

    sheet_column(s, "calls", true);
    sheet_column(s, "ended", true);
    sheet_column(s, "insns", true);
    if (timed) {
        sheet_column(s, "ns", true);
    }
    sheet_column(s, timed ? "longest_ns" : "longest", true);
    sheet_column(s, "sym", false);
    sheet_column(s, "dso", false);
    sheet_column(s, "caller", false);
    for (guint i = 0; i < pairs->len; i++) {
        const NamedPair *p = &g_array_index(pairs, NamedPair, i);

        if (c->options.max_rows && i >= c->options.max_rows) {
            *left_out += p->sum.calls;
            continue;
        }
        sheet_number(s, p->sum.calls);
        sheet_number(s, p->sum.ended);
        sheet_number(s, p->sum.insns);
        if (timed) {
            sheet_number(s, p->sum.time);
        }
        sheet_number(s, p->sum.longest);
        add_function(s, p->hart, p->sum.frame, p->sum.caller);
    }
    return s;
}

uint64_t calls_write(const Calls *c, FILE *f)
{
    const CallsOptions *o = &c->options;
    uint64_t all = 0, left_out = 0, forgotten = 0;
    g_autoptr(Sheet) s = NULL;

    for (guint i = 0; i < c->harts->len; i++) {
        const CallsHart *h = c->harts->pdata[i];

        all += h->all;
        left_out += h->dropped;
        forgotten += follow_dropped(h->follower);
    }
    s = o->by_caller ? list_pairs(c, &left_out) : list_rows(c);
    if (o->format == TABLE_JSON) {
        table_begin_json("calls", f);
        fprintf(f, "\"clock\": \"%s\", \"calls\": %" PRIu64
                ", \"left_out\": %" PRIu64 ", \"rows\": ",
                sheet_clock(o->virtual_time), all, left_out);
    } else if (o->format == TABLE_TEXT) {
        fprintf(f, "# %" PRIu64 " calls of %s; time is %s\n", all,
                o->sym ?: "*", sheet_clock(o->virtual_time));
    }
    sheet_write(s, f);
    if (o->format == TABLE_JSON) {
        fputs("}\n", f);
    } else if (o->format == TABLE_TEXT && left_out) {
        fprintf(f, "# %" PRIu64 " calls are not listed\n", left_out);
    }
    if (o->format == TABLE_TEXT && forgotten) {
        fprintf(f, "# the end of %" PRIu64 " calls was forgotten: too many "
                "stacks waited\n", forgotten);
    }
    return all;
}
