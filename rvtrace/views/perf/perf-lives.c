/*
 * Exits of perf.data: behind which sample a thread was gone
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/perf/perf-lives.h"

/* A thread, with the numbers of its first and of its last sample */
typedef struct Life {
    ThreadKey id;           /* first: it is the key of lives */
    uint32_t tgid;
    uint64_t first, last;
    bool over;
} Life;

struct PerfLives {
    GArray *exits;          /* uint64_t: numbers of samples, ascending */
    guint next;             /* of exits */
    uint64_t samples;       /* so far, of perf_lives_over() */
};

/* What is found out while the samples are read */
typedef struct Reading {
    const TaskTable *tasks;
    GHashTable *lives;      /* set of Life, by thread */
    uint64_t samples;
} Reading;

static void see_sample(void *opaque, const Sample *sample)
{
    Reading *r = opaque;
    const Task *task = task_get(r->tasks, sample->task);
    uint64_t number = r->samples++;
    ThreadKey key = { .descriptor = sample->descriptor, .tid = task->tid };
    Life *life;

    if (!task_is_known(task) || !task->tid) {
        return;
    }
    life = g_hash_table_lookup(r->lives, &key);
    if (!life) {
        life = g_new0(Life, 1);
        life->id = key;
        life->first = number;
        g_hash_table_add(r->lives, life);
    }
    life->tgid = task->tgid;
    life->last = number;
}

static gint compare_lives(gconstpointer a, gconstpointer b)
{
    const Life *x = *(Life *const *)a, *y = *(Life *const *)b;

    return x->id.tid != y->id.tid ? (x->id.tid < y->id.tid ? -1 : 1) :
           x->first < y->first ? -1 : x->first > y->first;
}

/* Lives of one number that are there at the same time are not over. */
static void part_lives(GPtrArray *lives)
{
    const Life *longest = NULL;     /* of those of the same number so far */

    for (guint i = 0; i < lives->len; i++) {
        Life *life = lives->pdata[i];
        const Life *next = i + 1 < lives->len ? lives->pdata[i + 1] : NULL;

        if (longest && longest->id.tid != life->id.tid) {
            longest = NULL;
        }
        if ((longest && longest->last > life->first) ||
            (next && next->id.tid == life->id.tid &&
             next->first < life->last)) {
            life->over = false;
        }
        if (!longest || life->last > longest->last) {
            longest = life;
        }
    }
}

/* A process goes on while any of its threads does. */
static void keep_processes(GPtrArray *lives)
{
    /* tgid -> the Life of its threads that ends last */
    g_autoptr(GHashTable) ends = g_hash_table_new(NULL, NULL);

    for (guint i = 0; i < lives->len; i++) {
        Life *life = lives->pdata[i];
        gpointer key = GUINT_TO_POINTER(life->tgid);
        const Life *last = g_hash_table_lookup(ends, key);

        if (life->id.tid != life->tgid && (!last || last->last < life->last)) {
            g_hash_table_insert(ends, key, life);
        }
    }
    for (guint i = 0; i < lives->len; i++) {
        Life *life = lives->pdata[i];
        const Life *last = g_hash_table_lookup(ends,
                                               GUINT_TO_POINTER(life->tgid));

        if (life->id.tid == life->tgid && last && last->last > life->last) {
            life->over = false;
        }
    }
}

static gint compare_numbers(gconstpointer a, gconstpointer b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void decide(PerfLives *p, const Reading *r, const TaskEnds *ends)
{
    g_autoptr(GPtrArray) lives = g_ptr_array_new();
    GHashTableIter iter;
    gpointer key;

    g_hash_table_iter_init(&iter, r->lives);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        Life *life = key;

        life->over = task_ends_has(ends, life->id.descriptor, life->id.tid);
        g_ptr_array_add(lives, life);
    }
    g_ptr_array_sort(lives, compare_lives);
    part_lives(lives);
    keep_processes(lives);
    for (guint i = 0; i < lives->len; i++) {
        const Life *life = lives->pdata[i];

        if (life->over) {
            g_array_append_val(p->exits, life->last);
        }
    }
    g_array_sort(p->exits, compare_numbers);
}

PerfLives *perf_lives_new(Spool **spools, unsigned n, const TaskTable *tasks,
                          const TaskEnds *ends, GError **errp)
{
    PerfLives *p = g_new0(PerfLives, 1);
    Reading r = { .tasks = tasks };
    bool ok = true;

    p->exits = g_array_new(false, false, sizeof(uint64_t));
    if (!ends) {
        return p;
    }
    r.lives = g_hash_table_new_full(thread_key_hash, thread_key_equal, g_free,
                                    NULL);
    ok = spool_merge(spools, n, see_sample, &r, errp);
    if (ok) {
        decide(p, &r, ends);
    } else {
        g_clear_pointer(&p, perf_lives_free);
    }
    g_hash_table_unref(r.lives);
    return p;
}

void perf_lives_free(PerfLives *p)
{
    g_array_unref(p->exits);
    g_free(p);
}

bool perf_lives_over(PerfLives *p)
{
    uint64_t number = p->samples++;

    if (p->next == p->exits->len ||
        g_array_index(p->exits, uint64_t, p->next) != number) {
        return false;
    }
    p->next++;
    return true;
}
