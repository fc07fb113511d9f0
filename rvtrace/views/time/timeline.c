/*
 * Timelines: spans from the moments of call stacks
 *
 * A span is written when it is known to be long enough, its beginning then and
 * its end when it comes. Those around it are at least as old, so they have been
 * written before: what is on one track stands in the order of time.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/time/timeline-private.h"

typedef struct OpenSpan {
    unsigned node;
    uint64_t since;
} OpenSpan;

static void hart_free(gpointer opaque)
{
    TimelineHart *h = opaque;

    timeline_file_close(h);
    g_array_unref(h->open);
    g_free(h);
}

Timeline *timeline_new(const TimelineOptions *options)
{
    Timeline *t = g_new0(Timeline, 1);

    t->options = *options;
    t->title = g_strdup(options->title);
    t->harts = g_ptr_array_new_with_free_func(hart_free);
    return t;
}

void timeline_free(Timeline *t)
{
    g_ptr_array_unref(t->harts);
    g_free(t->title);
    g_free(t);
}

TimelineHart *timeline_hart(Timeline *t, unsigned hart, const Profile *profile,
                            GError **errp)
{
    TimelineHart *h = g_new0(TimelineHart, 1);

    h->timeline = t;
    h->hart = hart;
    h->profile = profile;
    h->open = g_array_new(false, false, sizeof(OpenSpan));
    if (!timeline_file_open(h, errp)) {
        hart_free(h);
        return NULL;
    }
    g_ptr_array_add(t->harts, h);
    return h;
}

static bool long_enough(const TimelineHart *h, uint64_t from, uint64_t to)
{
    return to - from >= h->timeline->options.min_duration;
}

static const ProfileFrame *frame_of(const TimelineHart *h, unsigned node)
{
    return profile_frame(h->profile, profile_node(h->profile, node)->frame);
}

/* Labels that stand for a hart, a task, a level: tracks are theirs. */
static bool is_group(const TimelineHart *h, unsigned node)
{
    return node == PROFILE_ROOT || frame_of(h, node)->kind == FRAME_GROUP;
}

static TimelineCategory trap_category(const char *name)
{
    if (strstr(name, "interrupt")) {
        return CATEGORY_IRQ;
    }
    if (strstr(name, "ecall from")) {
        return CATEGORY_SYSCALL;
    }
    return strstr(name, "page fault") ? CATEGORY_PAGE_FAULT :
                                        CATEGORY_EXCEPTION;
}

static TimelineCategory frame_category(const ProfileFrame *frame)
{
    switch (frame->kind) {
    case FRAME_USER:
        return CATEGORY_USER;
    case FRAME_SUPERVISOR:
        return CATEGORY_SUPERVISOR;
    case FRAME_GUEST:
        return CATEGORY_GUEST;
    case FRAME_TRAP:
        return trap_category(frame->name);
    default:
        return CATEGORY_MACHINE;
    }
}

static OpenSpan *open_span(const TimelineHart *h, unsigned i)
{
    return &g_array_index(h->open, OpenSpan, i);
}

/* A span of the task that runs now begins at @time. */
static void note_use(TimelineHart *h, uint64_t time)
{
    uint64_t *last = g_hash_table_lookup(h->tasks, h->task);

    if (!last) {
        last = g_new(uint64_t, 1);
        g_hash_table_insert(h->tasks, (gpointer)h->task, last);
    }
    *last = time;
}

/* Write the beginnings of what has become long enough by @now. */
static void write_aged(TimelineHart *h, uint64_t now)
{
    for (; h->written < h->open->len; h->written++) {
        const OpenSpan *s = open_span(h, h->written);
        const ProfileFrame *frame;

        if (!long_enough(h, s->since, now)) {
            break;
        }
        if (is_group(h, s->node)) {
            continue;
        }
        frame = frame_of(h, s->node);
        note_use(h, s->since);
        timeline_put(h, &(TimelineEvent) {
            .type = EVENT_BEGIN,
            .track = timeline_task_track(h, h->task),
            .time = s->since,
            .name = {
                NAME_FRAME, profile_node(h->profile, s->node)->frame,
                frame->name,
            },
            .category = frame_category(frame),
            .object = frame->object,
        });
    }
}

/* All but the @left outermost ones end. */
static void close_spans(TimelineHart *h, unsigned left, uint64_t now)
{
    for (; h->open->len > left; g_array_set_size(h->open, h->open->len - 1)) {
        unsigned last = h->open->len - 1;

        if (last >= h->written) {
            continue;
        }
        h->written = last;
        if (!is_group(h, open_span(h, last)->node)) {
            timeline_put(h, &(TimelineEvent) {
                .type = EVENT_END,
                .track = timeline_task_track(h, h->task),
                .time = now,
            });
        }
    }
}

/* How many of the open spans are on the way from the root to @node? */
static unsigned common_depth(const TimelineHart *h, unsigned node)
{
    for (;;) {
        const ProfileNode *n = profile_node(h->profile, node);

        if (n->depth < h->open->len &&
            open_span(h, n->depth)->node == node) {
            return n->depth + 1;
        }
        if (node == PROFILE_ROOT) {
            return 0;
        }
        node = n->parent;
    }
}

static void open_spans(TimelineHart *h, unsigned node, uint64_t now)
{
    unsigned depth = profile_node(h->profile, node)->depth;
    unsigned from = h->open->len;

    g_array_set_size(h->open, depth + 1);
    for (unsigned i = depth + 1; i > from; i--) {
        *open_span(h, i - 1) = (OpenSpan) { .node = node, .since = now };
        node = profile_node(h->profile, node)->parent;
    }
}

/* A span that is the only one on its track, and over */
static void put_span(TimelineHart *h, const TimelineEvent *begin,
                     uint64_t since, uint64_t now)
{
    TimelineEvent event = *begin;

    if (long_enough(h, since, now) && now > since) {
        event.time = since;
        event.type = EVENT_BEGIN;
        timeline_put(h, &event);
        event.time = now;
        event.type = EVENT_END;
        timeline_put(h, &event);
    }
}

static void end_task(TimelineHart *h, uint64_t now)
{
    if (h->task) {
        put_span(h, &(TimelineEvent) {
            .track = timeline_run_track(h),
            .name = { NAME_TASK, h->task->id, h->task->name },
            .category = timeline_is_idle(h->task) ? CATEGORY_IDLE :
                                                    CATEGORY_TASK,
        }, h->task_since, now);
    }
}

static void end_priv(TimelineHart *h, uint64_t now)
{
    static const char *const names[8] = {
        [ETRACE_PRIV_U] = "U",
        [ETRACE_PRIV_S] = "S",
        [ETRACE_PRIV_M] = "M",
        [ETRACE_PRIV_D] = "D",
        [ETRACE_PRIV_VU] = "VU",
        [ETRACE_PRIV_VS] = "VS",
    };

    put_span(h, &(TimelineEvent) {
        .track = timeline_priv_track(h),
        .name = { NAME_PRIV, h->priv & 7, names[h->priv & 7] ?: "?" },
        .category = CATEGORY_PRIVILEGE,
    }, h->priv_since, now);
}

/*
 * Nobody says for whom the firmware runs; if it was called, for who called it.
 */
static const Task *task_of(const TimelineHart *h, const CallStackMoment *m,
                           unsigned common)
{
    if (m->task || !common || is_group(h, open_span(h, common - 1)->node)) {
        return m->task;
    }
    return h->task;
}

void timeline_moment(void *opaque, const CallStackMoment *m)
{
    TimelineHart *h = opaque;
    unsigned common = common_depth(h, m->node);
    const Task *task = task_of(h, m, common);
    uint64_t now = m->time;

    write_aged(h, now);
    if (!h->running || task != h->task) {
        close_spans(h, 0, now);
        end_task(h, now);
        h->task = task;
        h->task_since = now;
    }
    if (!h->running || m->priv != h->priv) {
        if (h->running) {
            end_priv(h, now);
        }
        h->priv = m->priv;
        h->priv_since = now;
    }
    h->running = true;
    close_spans(h, MIN(common, h->open->len), now);
    open_spans(h, m->node, now);
}

void timeline_lost(TimelineHart *h, uint64_t time, const char *what)
{
    timeline_put(h, &(TimelineEvent) {
        .type = EVENT_INSTANT,
        .track = timeline_run_track(h),
        .time = time,
        /* There are few texts, and each stands where it is constant. */
        .name = { NAME_LOSS, g_str_hash(what), what },
        .category = CATEGORY_LOSS,
    });
}

void timeline_end(TimelineHart *h, uint64_t now)
{
    if (h->running) {
        write_aged(h, now);
        close_spans(h, 0, now);
        end_task(h, now);
        end_priv(h, now);
    }
    h->running = false;
    h->task = NULL;
}
