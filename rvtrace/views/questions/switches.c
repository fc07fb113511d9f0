/*
 * Switches: which task ran when, for how long, and why it left
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/questions/switches-private.h"
#include "views/questions/syscalls.h"

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

static const char *name_of(const SwitchesHart *h, const OpenCall *call)
{
    return profile_frame(h->profile, call->frame)->name;
}

static bool is_one_of(const char *name, const char *const *prefixes)
{
    for (; *prefixes; prefixes++) {
        if (g_str_has_prefix(name, *prefixes)) {
            return true;
        }
    }
    return false;
}

/* Linux' own functions */
static const char *const schedulers[] = {
    "schedule", "__schedule", "io_schedule", "preempt_schedule", NULL,
};
static const char *const preempters[] = {
    "preempt_schedule", "__cond_resched", "irqentry_exit",
    "exit_to_user_mode", "syscall_exit_to_user_mode", "do_sched_yield", NULL,
};
/* What calls the scheduler for the last time; others of do_exit may wait. */
static const char *const exits[] = {
    "do_exit", "make_task_dead", "do_task_dead", NULL,
};

/* The outermost call from number @from on with such a name; @n: none has */
static unsigned find_call(const SwitchesHart *h, const OpenCall *calls,
                          unsigned from, unsigned n,
                          const char *const *prefixes)
{
    unsigned i = from;

    while (i < n && !is_one_of(name_of(h, &calls[i]), prefixes)) {
        i++;
    }
    return i;
}

static bool is_idle(const Task *task)
{
    return task_is_known(task) && !task->tid;
}

/* Why, and in what: by the calls that are open where @run ends */
static void find_reason(const SwitchesHart *h, OpenCall *calls, unsigned n,
                        TaskRun *run)
{
    OpenCall *trap = follow_trap(calls, n);
    unsigned first = trap ? trap - calls + 1 : 0;
    unsigned scheduler = find_call(h, calls, first, n, schedulers);

    if (trap) {
        run->what = trap->frame;
    }
    if (scheduler < n && scheduler > first) {
        run->in = calls[scheduler - 1].frame;
    }
    if (is_idle(run->task)) {
        run->why = LEAVE_IDLE;
    } else if (find_call(h, calls, first, n, preempters) < n ||
               (trap && trap->kind == CALL_INTERRUPT)) {
        run->why = LEAVE_PREEMPTED;
    } else if (run->in != NO_FRAME &&
               is_one_of(profile_frame(h->profile, run->in)->name, exits)) {
        run->why = LEAVE_EXITED;
    } else if (trap && trap->kind == CALL_SYSCALL) {
        run->why = LEAVE_SYSCALL;
    } else if (trap) {
        run->why = LEAVE_FAULT;
    } else if (n && profile_frame(h->profile, calls[0].frame)->kind ==
               FRAME_SUPERVISOR) {
        run->why = LEAVE_KERNEL;
    }
    /* The first function that says which system call it is */
    for (unsigned i = first; trap && trap->kind == CALL_SYSCALL && i < n;
         i++) {
        if (syscall_name(name_of(h, &calls[i]))) {
            run->what = calls[i].frame;
            break;
        }
    }
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
        .what = NO_FRAME, .in = NO_FRAME,
    };

    h->left++;
    find_reason(h, calls, n, &run);
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
            .why = LEAVE_RUNS,
            .what = NO_FRAME,
            .in = NO_FRAME,
        });
    }
}
