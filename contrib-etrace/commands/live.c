/*
 * Live: what runs, interval by interval, while the trace is being written
 *
 * Harts decode a piece of the trace at the same time; between two pieces
 * nobody decodes, and everything else is done: to see what has come, to show
 * an interval, to leave something out, to look for names anew.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <sys/resource.h>
#include <unistd.h>
#include "growing.h"
#include "live.h"

/* How often to see whether there is more, and to be asked, microseconds */
#define LOOK_PERIOD     (20 * 1000)
/* Bytes that are decoded at a time, so that answers do not take long */
#define PIECE_BYTES     (64 * 1024)
/* Work that is left out is more than this, bytes */
#define SKIP_MIN        (2 * PIECE_BYTES)
#define NICE            10
/* Names are looked for again when there is so much more code, per cent ... */
#define NAMES_GROWTH    20
/* ... but that takes at most one part of the time in so many */
#define NAMES_SHARE     10

/* Names that were found at some time: their objects are those of counts. */
typedef struct LiveNames {
    ObjectTable *table;
    Names *names;
} LiveNames;

typedef struct LiveHart {
    Live *live;
    TraceDecoder d;
    Who who;
    LiveSum sum;            /* since the beginning, but for skipped in d */
    uint64_t insns_at_mark;
    uint64_t skipped;       /* by trace_decoder_skip(), in this session */
    bool skipping;          /* a loss is our own doing */
    Counts *counts;
    Counter *counter;
} LiveHart;

/* An interval that was shown, to be shown again */
typedef struct LiveShown {
    LiveBlock block;
    Counts *counts;
    LiveSum *harts;
    LiveNames *names;
} LiveShown;

struct Live {
    LiveOptions o;
    GThread *thread;
    GMutex lock;
    GCond wake;             /* of the thread */
    /* under lock */
    bool ended, stop, redraw, paused, done;

    /* the thread's */
    Growing *growing;
    Trace *t;               /* NULL: not open */
    TaskTable *tasks;
    LiveNames *names;
    size_t named;           /* bytes of the sideband that names know */
    gint64 named_at, naming_took;
    unsigned nr_harts;
    LiveHart *harts;        /* those that were not asked for are all 0 */
    LiveSum *before;        /* what harts had when the interval began */
    GThreadPool *pool;      /* NULL: one hart at a time */
    GMutex crew_lock;
    GCond crew_done;
    unsigned crew_left;
    size_t pos, piece_end;  /* bytes of the trace: decoded; being decoded */
    size_t known, size;     /* that can be decoded, that are there */
    double rate;            /* bytes a second; 0: not known */
    uint64_t number;
    gint64 started, since;  /* of everything, of the interval */
    LiveShown shown;
    bool failed;
};

static void names_free_all(LiveNames *n)
{
    g_clear_pointer(&n->names, names_free);
    g_clear_pointer(&n->table, object_table_free);
    g_free(n);
}

/*
 * What happens in a hart
 */

static void on_runs(void *opaque, const FlowRun *runs, unsigned n,
                    uint64_t insns)
{
    LiveHart *h = opaque;

    h->sum.insns += insns;
    for (unsigned from = 0, i = 1; i <= n; i++) {
        if (i == n || runs[i].priv != runs[from].priv) {
            CallStackSite site = who_site(&h->who, &h->d, runs[from].priv);

            counter_runs(h->counter, runs + from, i - from, &site);
            from = i;
        }
    }
}

static void on_mark(void *opaque)
{
    LiveHart *h = opaque;

    h->insns_at_mark = h->sum.insns;
    counter_mark(h->counter);
}

static bool on_repeat(void *opaque, uint64_t times)
{
    LiveHart *h = opaque;

    if (!counter_can_repeat(h->counter)) {
        return false;
    }
    counter_repeat(h->counter, times);
    h->sum.insns += (h->sum.insns - h->insns_at_mark) * times;
    return true;
}

static void on_trap(void *opaque, const FlowTrap *trap)
{
    LiveHart *h = opaque;
    CallStackSite site = who_site(&h->who, &h->d, trap->priv);

    counter_trap(h->counter, trap, &site);
}

static void on_loss(void *opaque, const TraceLoss *loss)
{
    LiveHart *h = opaque;

    h->sum.losses += !h->skipping;
    counter_lost(h->counter);
}

static const TraceConsumer live_consumer = {
    .flow = {
        .runs = on_runs,
        .mark = on_mark,
        .repeat = on_repeat,
        .trap = on_trap,
    },
    .loss = on_loss,
};

/*
 * Pieces
 */

static void decode_piece(gpointer data, gpointer opaque)
{
    LiveHart *h = data;
    Live *l = opaque;

    trace_decoder_go_on(&h->d, l->piece_end);
    g_mutex_lock(&l->crew_lock);
    l->crew_left--;
    g_cond_signal(&l->crew_done);
    g_mutex_unlock(&l->crew_lock);
}

static void decode_to(Live *l, size_t end)
{
    l->piece_end = end;
    for (unsigned i = 0; i < l->nr_harts; i++) {
        l->crew_left += l->harts[i].live != NULL;
    }
    for (unsigned i = 0; i < l->nr_harts; i++) {
        if (!l->harts[i].live) {
            continue;
        }
        if (l->pool) {
            g_thread_pool_push(l->pool, &l->harts[i], NULL);
        } else {
            decode_piece(&l->harts[i], l);
        }
    }
    g_mutex_lock(&l->crew_lock);
    while (l->crew_left) {
        g_cond_wait(&l->crew_done, &l->crew_lock);
    }
    g_mutex_unlock(&l->crew_lock);
    l->pos = end;
}

/* Returns false when there is something else to do than to wait. */
static bool wait_for(Live *l, gint64 us)
{
    gint64 until = g_get_monotonic_time() + us;
    bool on;

    g_mutex_lock(&l->lock);
    while (!l->stop && !l->redraw &&
           g_cond_wait_until(&l->wake, &l->lock, until)) {
        /* It may have been something else. */
    }
    on = !l->stop && !l->redraw;
    g_mutex_unlock(&l->lock);
    return on;
}

static void next_piece(Live *l)
{
    gint64 start = g_get_monotonic_time(), took;
    size_t end = growing_place(l->growing, l->pos + PIECE_BYTES);
    size_t bytes = end - l->pos;

    decode_to(l, end);
    took = g_get_monotonic_time() - start;
    if (l->o.load < 100) {
        gint64 rest = took * (100 - l->o.load) / l->o.load;

        wait_for(l, rest);
        took += rest;
    }
    if (bytes) {
        double rate = bytes * 1e6 / MAX(took, 1);

        l->rate = l->rate ? 0.9 * l->rate + 0.1 * rate : rate;
    }
}

/* Behind by too much? Then go to where half an interval's work is left. */
static void catch_up(Live *l)
{
    size_t wait = l->known - l->pos, left, to;

    if (!l->o.max_lag || !l->rate || wait < SKIP_MIN ||
        wait <= l->rate * l->o.max_lag) {
        return;
    }
    left = MIN(l->rate * l->o.interval / 2, wait);
    to = growing_skip_to(l->growing, l->known - left);
    for (unsigned i = 0; i < l->nr_harts; i++) {
        LiveHart *h = &l->harts[i];
        uint64_t packets = 0;

        h->skipping = true;
        if (h->live && trace_decoder_skip(&h->d, to, &packets)) {
            h->skipped += packets;
            l->pos = to;
        }
        h->skipping = false;
    }
}

/*
 * Names
 */

static bool find_names(Live *l)
{
    gint64 start = g_get_monotonic_time();
    LiveNames *n = g_new0(LiveNames, 1);

    n->table = object_table_new();
    n->names = profile_load_names(l->o.ct, l->o.profile, l->t, n->table);
    if (!n->names) {
        names_free_all(n);
        return false;
    }
    if (l->names && l->names != l->shown.names) {
        names_free_all(l->names);
    }
    l->names = n;
    l->named = growing_sideband_size(l->growing);
    l->named_at = g_get_monotonic_time();
    l->naming_took = l->named_at - start;
    return true;
}

/* Those that lie where their bytes are, if there is much more to look at */
static void renew_names(Live *l)
{
    size_t size = growing_sideband_size(l->growing);
    gint64 ago = g_get_monotonic_time() - l->named_at;

    if (l->o.profile->sysroots && ago > l->naming_took * NAMES_SHARE &&
        size > l->named + l->named * NAMES_GROWTH / 100) {
        find_names(l);
    }
}

/*
 * Intervals
 */

static void begin_counts(Live *l)
{
    for (unsigned i = 0; i < l->nr_harts; i++) {
        LiveHart *h = &l->harts[i];

        if (h->live) {
            h->counts = counts_new(l->names->table, l->tasks);
            h->counter = counter_new(h->counts, l->names->names, i);
            h->who.names = l->names->names;
            h->who.space_task = NULL;
        }
    }
}

/* What all harts have run since begin_counts(), sorted */
static Counts *end_counts(Live *l)
{
    Counts *all = counts_new(l->names->table, l->tasks);

    for (unsigned i = 0; i < l->nr_harts; i++) {
        LiveHart *h = &l->harts[i];

        if (h->live) {
            g_clear_pointer(&h->counter, counter_free);
            counts_merge(all, h->counts);
            g_clear_pointer(&h->counts, counts_free);
        }
    }
    counts_sort(all);
    return all;
}

static LiveSum sum_of(const LiveHart *h)
{
    LiveSum sum = h->sum;
    uint64_t skipped = h->skipped + h->d.flow.skipped;

    sum.packets += h->d.packets - MIN(skipped, h->d.packets);
    sum.skipped += skipped;
    return sum;
}

static void add_sum(LiveSum *sum, const LiveSum *more)
{
    sum->insns += more->insns;
    sum->packets += more->packets;
    sum->skipped += more->skipped;
    sum->losses += more->losses;
}

static void shown_clear(Live *l, LiveShown *s)
{
    g_clear_pointer(&s->counts, counts_free);
    g_clear_pointer(&s->harts, g_free);
    if (s->names && s->names != l->names) {
        names_free_all(s->names);
    }
    s->names = NULL;
}

/* @l->before becomes what there is by now. */
static LiveBlock make_block(Live *l, LiveSum *harts, gint64 now)
{
    LiveBlock block = {
        .number = ++l->number,
        .seconds = (now - l->since) / 1e6,
        .behind = l->size - l->pos,
        .nr_harts = l->nr_harts,
        .harts = harts,
        .ended = l->ended,
    };

    for (unsigned i = 0; i < l->nr_harts; i++) {
        LiveSum sum = sum_of(&l->harts[i]), *b = &l->before[i];

        harts[i] = (LiveSum) {
            .insns = sum.insns - b->insns,
            .packets = sum.packets - b->packets,
            .skipped = sum.skipped - b->skipped,
            .losses = sum.losses - b->losses,
        };
        add_sum(&block.all, &harts[i]);
        *b = sum;
    }
    return block;
}

static void finish_interval(Live *l, gint64 now)
{
    LiveSum *harts = g_new0(LiveSum, l->nr_harts);
    LiveShown next = {
        .block = make_block(l, harts, now),
        .counts = end_counts(l),
        .harts = harts,
        .names = l->names,
    };
    bool paused;

    next.block.counts = next.counts;
    g_mutex_lock(&l->lock);
    paused = l->paused;
    g_mutex_unlock(&l->lock);
    if (paused && l->shown.counts) {
        shown_clear(l, &next);
    } else {
        shown_clear(l, &l->shown);
        l->shown = next;
        l->o.show(l->o.opaque, &l->shown.block);
    }
    renew_names(l);
    l->since = now;
}

static void answer(Live *l)
{
    bool redraw;

    g_mutex_lock(&l->lock);
    redraw = l->redraw;
    l->redraw = false;
    g_mutex_unlock(&l->lock);
    if (redraw && l->shown.counts) {
        l->o.show(l->o.opaque, &l->shown.block);
    }
}

/*
 * Sessions
 */

static bool is_stopped(Live *l)
{
    bool stop;

    g_mutex_lock(&l->lock);
    stop = l->stop;
    g_mutex_unlock(&l->lock);
    return stop;
}

static bool is_ended(Live *l)
{
    bool ended;

    g_mutex_lock(&l->lock);
    ended = l->ended;
    g_mutex_unlock(&l->lock);
    return ended;
}

/* Returns false when there is none, or an error, which is printed. */
static bool open_trace(Live *l)
{
    bool ended;

    do {
        g_autoptr(GError) err = NULL;

        ended = is_ended(l);
        l->t = growing_open(l->growing, ended, &err);
        if (err) {
            cli_error("%s", err->message);
            l->failed = true;
            return false;
        }
        if (!l->t && !ended) {
            wait_for(l, LOOK_PERIOD);
            answer(l);
        }
    } while (!l->t && !ended && !is_stopped(l));
    return l->t;
}

/* Of a session behind another one, the sums go on. */
static bool begin_harts(Live *l)
{
    unsigned present = 0;

    if (l->o.ct->hart >= (int)l->t->nr_harts) {
        cli_error("hart %d is not in the trace; it has %u hart%s from 0 on",
                  l->o.ct->hart, l->t->nr_harts,
                  l->t->nr_harts == 1 ? "" : "s");
        return false;
    }
    if (l->nr_harts < l->t->nr_harts) {
        l->harts = g_renew(LiveHart, l->harts, l->t->nr_harts);
        l->before = g_renew(LiveSum, l->before, l->t->nr_harts);
        for (unsigned i = l->nr_harts; i < l->t->nr_harts; i++) {
            l->harts[i] = (LiveHart) { 0 };
            l->before[i] = (LiveSum) { 0 };
        }
        l->nr_harts = l->t->nr_harts;
    }
    for (unsigned i = 0; i < l->t->nr_harts; i++) {
        if (cli_hart_selected(l->o.ct, l->t, i)) {
            l->harts[i].live = l;
            l->harts[i].who = (Who) { .tasks = l->tasks };
            present++;
        }
    }
    if (!find_names(l)) {
        return false;
    }
    begin_counts(l);
    for (unsigned i = 0; i < l->nr_harts; i++) {
        if (l->harts[i].live) {
            trace_decoder_begin(&l->harts[i].d, l->t, i, &live_consumer,
                                &l->harts[i]);
        }
    }
    l->pos = l->t->begin;
    if (present > 1 && l->o.ct->jobs != 1) {
        l->pool = g_thread_pool_new(decode_piece, l, l->o.ct->jobs ? :
                                    (int)g_get_num_processors(), false, NULL);
    }
    return true;
}

/* Their sums become those of all sessions so far. */
static void end_harts(Live *l)
{
    if (l->pool) {
        g_thread_pool_free(l->pool, false, true);
        l->pool = NULL;
    }
    for (unsigned i = 0; i < l->nr_harts; i++) {
        LiveHart *h = &l->harts[i];

        if (h->live) {
            /* Who has not been to the end does not know what is missing. */
            h->d.stop |= l->pos < l->size;
            trace_decoder_end(&h->d);
            h->sum = sum_of(h);
            h->d = (TraceDecoder) { 0 };
            h->skipped = 0;
        }
    }
}

static void forget_harts(Live *l)
{
    for (unsigned i = 0; i < l->nr_harts; i++) {
        l->harts[i].live = NULL;
    }
}

/* Returns true if another session follows. */
static bool decode_session(Live *l)
{
    GrowingLook look;
    bool ended, at_end;

    do {
        gint64 now;

        ended = is_ended(l);
        growing_look(l->growing, ended, &look);
        l->known = look.known;
        l->size = look.size;
        for (unsigned i = 0; look.sideband_grew && i < l->nr_harts; i++) {
            if (l->harts[i].live) {
                trace_decoder_grown(&l->harts[i].d);
            }
        }
        catch_up(l);
        if (l->pos < l->known) {
            next_piece(l);
        } else if (!ended && !look.other_session) {
            wait_for(l, LOOK_PERIOD);
        }
        answer(l);
        now = g_get_monotonic_time();
        at_end = l->pos >= l->known && (ended || look.other_session);
        if (now - l->since >= l->o.interval * 1e6 && !at_end) {
            finish_interval(l, now);
            begin_counts(l);
        }
    } while (!at_end && !is_stopped(l));
    end_harts(l);
    finish_interval(l, g_get_monotonic_time());
    forget_harts(l);
    return look.other_session && !is_stopped(l);
}

static gpointer live_thread(gpointer opaque)
{
    Live *l = opaque;

    /* Of this thread alone, and of those that it starts */
    setpriority(PRIO_PROCESS, 0, NICE);
    do {
        if (!open_trace(l)) {
            break;
        }
        l->started = l->started ?: g_get_monotonic_time();
        l->since = g_get_monotonic_time();
        if (!begin_harts(l)) {
            l->failed = true;
            break;
        }
    } while (decode_session(l));
    g_mutex_lock(&l->lock);
    l->done = true;
    g_mutex_unlock(&l->lock);
    return NULL;
}

/*
 * From other threads
 */

Live *live_new(const LiveOptions *o)
{
    Live *l = g_new0(Live, 1);

    l->o = *o;
    l->growing = growing_new(o->trace, o->sideband);
    l->tasks = task_table_new();
    g_mutex_init(&l->lock);
    g_cond_init(&l->wake);
    g_mutex_init(&l->crew_lock);
    g_cond_init(&l->crew_done);
    l->thread = g_thread_new("live", live_thread, l);
    return l;
}

static void set_flag(Live *l, bool *flag, bool value)
{
    g_mutex_lock(&l->lock);
    *flag = value;
    g_cond_signal(&l->wake);
    g_mutex_unlock(&l->lock);
}

void live_end(Live *l)
{
    set_flag(l, &l->ended, true);
}

void live_stop(Live *l)
{
    set_flag(l, &l->stop, true);
}

void live_redraw(Live *l)
{
    set_flag(l, &l->redraw, true);
}

void live_pause(Live *l, bool paused)
{
    set_flag(l, &l->paused, paused);
}

bool live_is_done(Live *l)
{
    bool done;

    g_mutex_lock(&l->lock);
    done = l->done;
    g_mutex_unlock(&l->lock);
    return done;
}

static void show_total(Live *l,
                       void (*show)(void *opaque, const LiveBlock *block))
{
    g_autofree LiveSum *harts = g_new0(LiveSum, l->nr_harts);
    LiveBlock block = {
        .seconds = (l->since - l->started) / 1e6,
        .behind = l->size - l->pos,
        .nr_harts = l->nr_harts,
        .harts = harts,
        .ended = true,
    };

    for (unsigned i = 0; i < l->nr_harts; i++) {
        harts[i] = l->harts[i].sum;
        add_sum(&block.all, &harts[i]);
    }
    show(l->o.opaque, &block);
}

bool live_finish(Live *l, void (*show)(void *opaque, const LiveBlock *block))
{
    bool ok;

    g_thread_join(l->thread);
    ok = !l->failed;
    if (!l->started && ok && !l->stop) {
        cli_error("nothing was traced");
        ok = false;
    }
    if (ok && show) {
        show_total(l, show);
    }
    shown_clear(l, &l->shown);
    if (l->names) {
        names_free_all(l->names);
    }
    g_free(l->harts);
    g_free(l->before);
    task_table_free(l->tasks);
    growing_free(l->growing);
    g_mutex_clear(&l->lock);
    g_cond_clear(&l->wake);
    g_mutex_clear(&l->crew_lock);
    g_cond_clear(&l->crew_done);
    g_free(l);
    return ok;
}
