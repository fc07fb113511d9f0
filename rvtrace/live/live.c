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
#include "live/live-private.h"
#include "base/say.h"

/* How often to see whether there is more, and to be asked, microseconds */
#define LOOK_PERIOD     (20 * 1000)
/* Bytes that are decoded at a time, so that answers do not take long */
#define PIECE_BYTES     (64 * 1024)
/* Work that is left out is more than this, bytes */
#define SKIP_MIN        (2 * PIECE_BYTES)
#define NICE            5

/* At most that long: less if there is something else to do */
static void wait_for(Live *l, gint64 us)
{
    gint64 until = g_get_monotonic_time() + us;

    g_mutex_lock(&l->lock);
    while (!l->stop && !l->redraw &&
           g_cond_wait_until(&l->wake, &l->lock, until)) {
        /* It may have been something else. */
    }
    g_mutex_unlock(&l->lock);
}

/*
 * Pieces of the trace
 */

static void next_piece(Live *l)
{
    gint64 start = g_get_monotonic_time(), took;
    size_t end = growing_place(l->growing, l->pos + PIECE_BYTES);
    size_t bytes = end - l->pos;

    live_decode_to(l, end);
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
    live_skip_to(l, to);
}

/*
 * Intervals
 */

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
        live_names_free(s->names);
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
        LiveSum sum = live_sum_of(&l->harts[i]), *b = &l->before[i];

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
        .counts = live_end_counts(l),
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
    live_renew_names(l);
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
        l->t = !l->o.ready || l->o.ready(l->o.opaque) ?
               growing_open(l->growing, ended, &err) : NULL;
        if (err) {
            say_error("%s", err->message);
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
            live_begin_counts(l);
        }
    } while (!at_end && !is_stopped(l));
    live_end_harts(l);
    finish_interval(l, g_get_monotonic_time());
    live_forget_harts(l);
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
        if (!live_begin_harts(l)) {
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
        say_error("nothing was traced");
        ok = false;
    }
    if (ok && show) {
        show_total(l, show);
    }
    shown_clear(l, &l->shown);
    if (l->names) {
        live_names_free(l->names);
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
