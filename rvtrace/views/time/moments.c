/*
 * Moments: who ran which function since when, put aside while harts are decoded
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <gio/gio.h>
#include "views/time/moments.h"
#include "views/perf/view-file.h"

/* As it is in the file */
typedef struct Stored {
    uint64_t time;
    uint32_t node;
    uint32_t task;          /* UINT32_MAX: not known */
} Stored;

struct Moments {
    FILE *f;
    bool failed;
};

/* A span that has begun; whether it will be long enough is not known yet */
typedef struct Open {
    unsigned frame;
    uint64_t since;
} Open;

/* What goes through a hart's moments */
typedef struct Walk {
    const Profile *p;
    const SpanOps *ops;
    void *opaque;
    unsigned hart;
    GPtrArray *tracks;
    GHashTable *of_task;    /* task's id + 1 -> Track */
    Track *now;
    uint64_t since;
} Walk;

Moments *moments_new(GError **errp)
{
    FILE *f = view_temporary(errp);
    Moments *m;

    if (!f) {
        return NULL;
    }
    m = g_new0(Moments, 1);
    m->f = f;
    return m;
}

void moments_free(Moments *m)
{
    fclose(m->f);
    g_free(m);
}

void moments_put(void *opaque, const CallStackMoment *moment)
{
    Moments *m = opaque;
    Stored s = {
        .time = moment->time,
        .node = moment->node,
        .task = moment->task ? moment->task->id : UINT32_MAX,
    };

    m->failed |= fwrite(&s, sizeof(s), 1, m->f) != 1;
}

static void track_free(gpointer opaque)
{
    Track *t = opaque;

    g_array_unref(t->open);
    g_free(t);
}

GPtrArray *tracks_new(void)
{
    return g_ptr_array_new_with_free_func(track_free);
}

static Track *track_of(Walk *w, const Task *task)
{
    gpointer key = GUINT_TO_POINTER(task->id + 1);
    Track *t = g_hash_table_lookup(w->of_task, key);

    if (!t) {
        t = g_new0(Track, 1);
        t->index = w->tracks->len;
        t->hart = w->hart;
        t->task = task;
        t->node = PROFILE_ROOT;
        t->open = g_array_new(false, false, sizeof(Open));
        g_ptr_array_add(w->tracks, t);
        g_hash_table_insert(w->of_task, key, t);
    }
    return t;
}

static bool is_span(const Walk *w, unsigned node)
{
    return profile_frame(w->p, profile_node(w->p, node)->frame)->kind !=
           FRAME_GROUP;
}

/* The innermost span is left. */
static void leave(Walk *w, Track *t)
{
    guint last = t->open->len - 1;
    Open open = g_array_index(t->open, Open, last);

    /* If it is long enough, so are those around it. */
    while (t->reported <= last &&
           t->time - open.since >= w->ops->min_duration) {
        const Open *o = &g_array_index(t->open, Open, t->reported++);

        w->ops->enter(w->opaque, t, o->frame, o->since);
    }
    if (t->reported > last) {
        w->ops->leave(w->opaque, t, open.frame, t->time);
        t->reported = last;
    }
    g_array_set_size(t->open, last);
}

static void enter(Walk *w, Track *t, unsigned node)
{
    Open open = {
        .frame = profile_node(w->p, node)->frame,
        .since = t->time,
    };

    g_array_append_val(t->open, open);
}

/* Leave and enter what it takes to get from the track's node to @node. */
static void go_to(Walk *w, Track *t, unsigned node)
{
    unsigned path[PROFILE_MAX_DEPTH + 1], n = 0;
    unsigned from = t->node, to = node;

    while (from != to) {
        if (profile_node(w->p, from)->depth >=
            profile_node(w->p, to)->depth) {
            if (is_span(w, from)) {
                leave(w, t);
            }
            from = profile_node(w->p, from)->parent;
        } else {
            path[n++] = to;
            to = profile_node(w->p, to)->parent;
        }
    }
    while (n) {
        if (is_span(w, path[--n])) {
            enter(w, t, path[n]);
        }
    }
    t->node = node;
}

/* The outermost node of those that @node is below of; the root for itself */
static unsigned outermost(const Walk *w, unsigned node)
{
    while (profile_node(w->p, node)->depth > 1) {
        node = profile_node(w->p, node)->parent;
    }
    return node;
}

/*
 * Whose moment it is. Where no task is known, the kernel or the firmware works
 * for the one that ran before if their stacks hang below its.
 */
static Track *whose(Walk *w, const Stored *s, const TaskTable *tasks)
{
    if (s->task != UINT32_MAX) {
        return track_of(w, task_get(tasks, s->task));
    }
    if (w->now && w->now->task->id != TASK_NONE &&
        outermost(w, w->now->node) == outermost(w, s->node)) {
        return w->now;
    }
    return track_of(w, task_get(tasks, TASK_NONE));
}

static void end_tracks(Walk *w, unsigned first)
{
    for (guint i = first; i < w->tracks->len; i++) {
        Track *t = w->tracks->pdata[i];

        while (t->open->len) {
            leave(w, t);
        }
        t->node = PROFILE_ROOT;
    }
}

bool moments_spans(Moments *m, unsigned hart, const Profile *p,
                   uint64_t end, const TaskTable *tasks,
                   GPtrArray *tracks, const SpanOps *ops, void *opaque,
                   GError **errp)
{
    Walk w = {
        .p = p, .ops = ops, .opaque = opaque, .hart = hart, .tracks = tracks,
        .of_task = g_hash_table_new(NULL, NULL),
    };
    unsigned first = tracks->len;
    Stored s;

    m->failed |= fflush(m->f) != 0;
    rewind(m->f);
    while (fread(&s, sizeof(s), 1, m->f) == 1) {
        Track *t = whose(&w, &s, tasks);

        if (w.now) {
            w.now->time += s.time - w.since;
        }
        w.since = s.time;
        go_to(&w, t, s.node);
        w.now = t;
    }
    if (w.now) {
        w.now->time += end - w.since;
    }
    end_tracks(&w, first);
    g_hash_table_unref(w.of_task);
    if (m->failed || ferror(m->f)) {
        g_set_error(errp, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
                    "no room for what was called in the folder of temporary "
                    "files (TMPDIR)");
        return false;
    }
    return true;
}
