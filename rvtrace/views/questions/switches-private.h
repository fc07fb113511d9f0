/*
 * Switches: what switches.c and switches-write.c share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SWITCHES_PRIVATE_H
#define ETRACE_SWITCHES_PRIVATE_H

#include "views/questions/switches.h"

/* Why a task ran no longer, by its call stack */
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

/* A task runs on a hart */
typedef struct TaskRun {
    Place from, to;
    const Task *task, *next;    /* next: NULL, if there is none */
    LeaveReason why;
    /* Of the profile, or NO_FRAME: the trap or system call; what waits */
    unsigned what, in;
} TaskRun;

struct SwitchesHart {
    const Switches *switches;
    unsigned hart;
    const Profile *profile;
    Follower *follower;
    GArray *runs;               /* TaskRun */
    bool begun;
    Place since;                /* of the run that has not ended */
    const Task *task;           /* ... and whose it is */
    uint64_t left, dropped;     /* switches; those that are not in runs */
};

struct Switches {
    SwitchesOptions options;
    GPtrArray *harts;           /* SwitchesHart */
};

#endif /* ETRACE_SWITCHES_PRIVATE_H */
