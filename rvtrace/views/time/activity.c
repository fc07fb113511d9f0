/*
 * Activity: what a hart did when, in counts by time
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/time/activity.h"

/* The least width of bins: instructions or ns */
#define WIDTH           16
/* Counts that are kept: 16 bytes each */
#define MAX_TASK_COUNTS (1u << 18)
#define MAX_NODE_COUNTS (1u << 21)

Activity *activity_new(unsigned hart, const Profile *profile, bool timed)
{
    Activity *a = g_new0(Activity, 1);

    a->hart = hart;
    a->profile = profile;
    a->timed = timed;
    a->tasks = bins_new(WIDTH, ACTIVITY_TASK_BINS, MAX_TASK_COUNTS);
    a->times = timed ? bins_new(WIDTH, ACTIVITY_TASK_BINS, MAX_TASK_COUNTS) :
                       NULL;
    a->nodes = bins_new(WIDTH, ACTIVITY_NODE_BINS, MAX_NODE_COUNTS);
    a->traps = bins_new(WIDTH, ACTIVITY_TASK_BINS, MAX_TASK_COUNTS);
    a->marks = g_array_new(false, false, sizeof(ActivityMark));
    return a;
}

void activity_free(Activity *a)
{
    bins_free(a->tasks);
    g_clear_pointer(&a->times, bins_free);
    bins_free(a->nodes);
    bins_free(a->traps);
    g_array_unref(a->marks);
    g_free(a);
}

/* Is @node below a trap? */
static bool is_handler(const Activity *a, unsigned node)
{
    while (node != PROFILE_ROOT) {
        const ProfileNode *n = profile_node(a->profile, node);

        if (profile_frame(a->profile, n->frame)->kind == FRAME_TRAP) {
            return true;
        }
        node = n->parent;
    }
    return false;
}

/* What was going on did so until @insns instructions had retired, at @time. */
static void advance(Activity *a, uint64_t insns, uint64_t time)
{
    unsigned task = a->task ? a->task->id : TASK_NONE;
    uint64_t ran = insns - a->insns;

    if (ran) {
        bins_put(a->tasks, task, a->since, time, ran);
        bins_put(a->nodes, a->node, a->since, time, ran);
    }
    if (a->times) {
        bins_put(a->times, task, a->since, time, time - a->since);
    }
    a->insns = insns;
    a->since = time;
}

void activity_moment(void *opaque, const CallStackMoment *m)
{
    Activity *a = opaque;

    if (a->known) {
        advance(a, m->insns, m->time);
    } else {
        a->known = true;
        a->from = a->since = m->time;
        a->insns = m->insns;
    }
    a->node = m->node;
    if (m->task || !a->task || !is_handler(a, m->node)) {
        a->task = m->task;
    }
}

void activity_mark(Activity *a, uint64_t time, const MomentMark *mark)
{
    ActivityMark seen = { .at = time, .mark = mark };

    if (mark->kind == MOMENT_TRAP) {
        bins_put(a->traps, mark->number, time, time, 1);
    } else if (mark->kind == MOMENT_RESUMED || mark->kind == MOMENT_ENDED) {
        return;
    } else if (a->marks->len < ACTIVITY_MAX_MARKS) {
        g_array_append_val(a->marks, seen);
    } else {
        a->more_marks++;
    }
}

void activity_end(Activity *a, uint64_t insns, uint64_t time)
{
    if (a->known) {
        advance(a, insns, time);
        a->to = time;
    }
    bins_end(a->tasks);
    bins_end(a->nodes);
    bins_end(a->traps);
    if (a->times) {
        bins_end(a->times);
    }
}
