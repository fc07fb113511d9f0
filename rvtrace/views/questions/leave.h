/*
 * Why a task ran no longer, by its call stack
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_LEAVE_H
#define ETRACE_LEAVE_H

#include "views/questions/follow.h"

typedef enum LeaveReason {
    LEAVE_UNKNOWN,
    LEAVE_PREEMPTED,            /* within an interrupt, or by the scheduler */
    LEAVE_SYSCALL,
    LEAVE_FAULT,                /* a page fault, or another exception */
    LEAVE_KERNEL,               /* a thread of the kernel, by itself */
    LEAVE_EXITED,
    LEAVE_IDLE,                 /* it is the idle task */
    LEAVE_RUNS,                 /* it has not: the trace ends */
} LeaveReason;

#define NO_FRAME    UINT_MAX

typedef struct Leave {
    LeaveReason why;
    /* Of the profile, or NO_FRAME: the trap or system call; what waits */
    unsigned what, in;
} Leave;

/*
 * @task runs no longer on a hart whose call tree is @profile, where the @n
 * @calls were open, the outermost one first.
 */
Leave leave_reason(const Profile *profile, const Task *task, OpenCall *calls,
                   unsigned n);

#endif /* ETRACE_LEAVE_H */
