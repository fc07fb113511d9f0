/*
 * Switches: which task ran when, for how long, and why it left
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/questions/switches-private.h"

static void hart_free(gpointer opaque)
{
    SwitchesHart *h = opaque;

    follow_free(h->follower);
    g_array_unref(h->runs);
    g_free(h);
}

Switches *switches_new(const SwitchesOptions *options)
{
    Switches *s = g_new0(Switches, 1);

    s->options = *options;
    s->harts = g_ptr_array_new_with_free_func(hart_free);
    return s;
}

void switches_free(Switches *s)
{
    g_ptr_array_unref(s->harts);
    g_free(s);
}

static void put_run(SwitchesHart *h, const TaskRun *run)
{
    if (h->runs->len < SWITCHES_MAX_RUNS) {
        g_array_append_vals(h->runs, run, 1);
    } else {
        h->dropped++;
    }
}

static void on_leave(void *opaque, OpenCall *calls, unsigned n,
                     const Task *task, const Task *next, const Place *at)
{
    SwitchesHart *h = opaque;
    TaskRun run = {
        .from = h->since, .to = *at, .task = task, .next = next,
        .leave = leave_reason(h->profile, task, calls, n),
    };

    h->left++;
    put_run(h, &run);
    h->since = *at;
    h->task = next;
}

static const FollowOps follow_ops = { .leave = on_leave };

SwitchesHart *switches_hart(Switches *s, unsigned hart, const Profile *profile,
                            const TaskTable *tasks)
{
    SwitchesHart *h = g_new0(SwitchesHart, 1);

    h->switches = s;
    h->hart = hart;
    h->profile = profile;
    h->follower = follow_new(profile, tasks, &follow_ops, h);
    h->runs = g_array_new(false, false, sizeof(TaskRun));
    h->task = task_get(tasks, TASK_NONE);
    g_ptr_array_add(s->harts, h);
    return h;
}

void switches_moment(void *hart, const CallStackMoment *moment)
{
    SwitchesHart *h = hart;

    if (!h->begun) {
        h->begun = true;
        h->since = (Place) { moment->place, moment->time };
        h->task = moment->task ?: h->task;
    }
    follow_moment(h->follower, moment);
}

void switches_mark(void *hart, const CallStackMoment *when,
                   const MomentMark *mark)
{
    follow_mark(((SwitchesHart *)hart)->follower, when, mark);
}

void switches_end(void *hart, const CallStackMoment *when)
{
    SwitchesHart *h = hart;

    follow_end(h->follower, when);
    if (h->begun) {
        put_run(h, &(TaskRun) {
            .from = h->since,
            .to = { when->place, when->time },
            .task = h->task,
            .leave = { LEAVE_RUNS, NO_FRAME, NO_FRAME },
        });
    }
}
