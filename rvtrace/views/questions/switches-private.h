/*
 * Switches: what switches.c and switches-write.c share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SWITCHES_PRIVATE_H
#define ETRACE_SWITCHES_PRIVATE_H

#include "views/questions/leave.h"
#include "views/questions/switches.h"

/* A task runs on a hart */
typedef struct TaskRun {
    Place from, to;
    const Task *task, *next;    /* next: NULL, if there is none */
    Leave leave;
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
