/*
 * rvtrace: harts that are decoded at the same time
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <unistd.h>
#include "analysis/results-private.h"
#include "base/say.h"

/* How often the progress is shown, and from when on, microseconds */
#define PROGRESS_PERIOD (G_USEC_PER_SEC / 4)
#define PROGRESS_FROM   (2 * G_USEC_PER_SEC)

/* Harts that are being decoded */
typedef struct DecodePool {
    Moves *moves;           /* or NULL */
    GMutex lock;
    GCond done;
    unsigned left;
} DecodePool;

static void decode_hart(gpointer opaque_hart, gpointer opaque)
{
    DecodePool *pool = opaque;
    HartResult *h = opaque_hart;

    if (pool->moves) {
        moves_begin_turn(pool->moves);
    }
    hart_decode(h);
    if (pool->moves) {
        moves_end_hart(pool->moves, h->hart);
        moves_end_turn(pool->moves);
    }
    g_mutex_lock(&pool->lock);
    pool->left--;
    g_cond_signal(&pool->done);
    g_mutex_unlock(&pool->lock);
}

/* How much of the trace all harts have seen, of 1 */
static double progress(const Results *r)
{
    uint64_t done = 0, all = 0;

    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            done += trace_decoder_progress(&r->harts[i]->d);
            for (const Trace *p = r->t; p; p = p->next) {
                all += p->end - p->begin;
            }
        }
    }
    return all ? (double)done / all : 1;
}

/* Decoding began at @since, and goes on as fast as it has been up to now. */
static void show_progress(const Results *r, gint64 since)
{
    double share = progress(r);
    double passed = (g_get_monotonic_time() - since) / (double)G_USEC_PER_SEC;

    fprintf(stderr, "\r%3.0f %% decoded", 100 * share);
    if (share > 0) {
        fprintf(stderr, ", %.0f s left", passed * (1 - share) / share);
    }
    fprintf(stderr, "\033[K");
}

/* Is there a terminal for it, and no output that it would break up? */
static bool can_show(const Results *r)
{
    return isatty(STDERR_FILENO) &&
           !((r->what & RESULT_RUNS) && isatty(STDOUT_FILENO));
}

static void wait_for(const Results *r, DecodePool *pool)
{
    bool show = can_show(r), shown = false;
    gint64 since = g_get_monotonic_time();

    g_mutex_lock(&pool->lock);
    while (pool->left) {
        gint64 until = g_get_monotonic_time() + PROGRESS_PERIOD;

        if (!show) {
            g_cond_wait(&pool->done, &pool->lock);
        } else if (!g_cond_wait_until(&pool->done, &pool->lock, until)) {
            if (until - since >= PROGRESS_FROM) {
                show_progress(r, since);
                shown = true;
            }
        }
    }
    g_mutex_unlock(&pool->lock);
    if (shown) {
        fprintf(stderr, "\r\033[K");
    }
}

/* Pages of code from ELF files are shared, so harts take turns with them. */
static unsigned threads(const Results *r)
{
    if (r->t->elf) {
        return 1;
    }
    return r->job->jobs ? (unsigned)r->job->jobs : g_get_num_processors();
}

bool results_make_harts(Results *r)
{
    r->harts = g_new0(HartResult *, r->t->nr_harts);
    if (r->what & RESULT_PROFILE || r->spacing) {
        r->moves = moves_new(r->t);
    }
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        g_autoptr(GError) err = NULL;

        if (!job_has_hart(r->job, r->t, i) ||
            (r->what == RESULT_VERIFY && !hart_truth(r, i))) {
            continue;
        }
        r->harts[i] = hart_new(r, i, &err);
        if (!r->harts[i]) {
            say_error("%s", err->message);
            return false;
        }
        if (!hart_time_begin(r->harts[i]) ||
            !hart_begin_watchers(r->harts[i])) {
            return false;
        }
    }
    return true;
}

void results_decode_harts(Results *r)
{
    DecodePool pool = { .moves = r->moves };
    unsigned n = threads(r);
    GThreadPool *workers;

    g_mutex_init(&pool.lock);
    g_cond_init(&pool.done);
    if (pool.moves) {
        n = moves_begin(pool.moves, r, n);
    }
    workers = g_thread_pool_new(decode_hart, &pool, n, false, NULL);
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        pool.left += r->harts[i] != NULL;
    }
    for (unsigned i = 0; i < r->t->nr_harts; i++) {
        if (r->harts[i]) {
            g_thread_pool_push(workers, r->harts[i], NULL);
        }
    }
    wait_for(r, &pool);
    g_thread_pool_free(workers, false, true);
    g_mutex_clear(&pool.lock);
    g_cond_clear(&pool.done);
}

void results_clear(Results *r)
{
    for (unsigned i = 0; r->harts && i < r->t->nr_harts; i++) {
        g_clear_pointer(&r->harts[i], hart_free);
    }
    g_clear_pointer(&r->harts, g_free);
    if (r->moves) {
        moves_free(r->moves, r->t->nr_harts);
        r->moves = NULL;
    }
    g_clear_pointer(&r->watchers, g_array_unref);
    g_clear_pointer(&r->made, trace_index_free);
    g_clear_pointer(&r->index, trace_index_free);
    g_clear_pointer(&r->everything, selection_free);
}
