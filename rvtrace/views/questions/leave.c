/*
 * Why a task ran no longer, by its call stack
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/questions/leave.h"
#include "views/questions/syscalls.h"

static const char *name_of(const Profile *profile, const OpenCall *call)
{
    return profile_frame(profile, call->frame)->name;
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
static unsigned find_call(const Profile *profile, const OpenCall *calls,
                          unsigned from, unsigned n,
                          const char *const *prefixes)
{
    unsigned i = from;

    while (i < n && !is_one_of(name_of(profile, &calls[i]), prefixes)) {
        i++;
    }
    return i;
}

static bool is_idle(const Task *task)
{
    return task_is_known(task) && !task->tid;
}

Leave leave_reason(const Profile *profile, const Task *task, OpenCall *calls,
                   unsigned n)
{
    Leave leave = { LEAVE_UNKNOWN, NO_FRAME, NO_FRAME };
    OpenCall *trap = follow_trap(calls, n);
    unsigned first = trap ? trap - calls + 1 : 0;
    unsigned scheduler = find_call(profile, calls, first, n, schedulers);

    if (trap) {
        leave.what = trap->frame;
    }
    if (scheduler < n && scheduler > first) {
        leave.in = calls[scheduler - 1].frame;
    }
    if (is_idle(task)) {
        leave.why = LEAVE_IDLE;
    } else if (find_call(profile, calls, first, n, preempters) < n ||
               (trap && trap->kind == CALL_INTERRUPT)) {
        leave.why = LEAVE_PREEMPTED;
    } else if (leave.in != NO_FRAME &&
               is_one_of(profile_frame(profile, leave.in)->name, exits)) {
        leave.why = LEAVE_EXITED;
    } else if (trap && trap->kind == CALL_SYSCALL) {
        leave.why = LEAVE_SYSCALL;
    } else if (trap) {
        leave.why = LEAVE_FAULT;
    } else if (n && profile_frame(profile, calls[0].frame)->kind ==
               FRAME_SUPERVISOR) {
        leave.why = LEAVE_KERNEL;
    }
    /* The first function that says which system call it is */
    for (unsigned i = first; trap && trap->kind == CALL_SYSCALL && i < n;
         i++) {
        if (syscall_name(name_of(profile, &calls[i]))) {
            leave.what = calls[i].frame;
            break;
        }
    }
    return leave;
}
