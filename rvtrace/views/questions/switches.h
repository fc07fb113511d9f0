/*
 * Switches: which task ran when, for how long, and why it left
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SWITCHES_H
#define ETRACE_SWITCHES_H

#include "views/questions/follow.h"
#include "views/report/table.h"

/* Times that a hart ran a task, at most */
#define SWITCHES_MAX_RUNS   (1u << 20)

typedef struct SwitchesOptions {
    const char *comm;           /* a glob, or NULL: only such tasks */
    bool list;                  /* each run, in place of sums by task */
    unsigned max_rows;          /* 0: all */
    bool virtual_time;          /* moments are in ns of it, or instructions */
    TableFormat format;
} SwitchesOptions;

/* Of a trace, and of one of its harts */
typedef struct Switches Switches;
typedef struct SwitchesHart SwitchesHart;

/* The strings of @options must live as long. */
Switches *switches_new(const SwitchesOptions *options);
void switches_free(Switches *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Switches, switches_free)

/*
 * What hart number @hart runs. @profile and @tasks must live as long as @s,
 * which the result belongs to.
 */
SwitchesHart *switches_hart(Switches *s, unsigned hart, const Profile *profile,
                            const TaskTable *tasks);

/* For Watcher: @hart is a SwitchesHart. */
void switches_moment(void *hart, const CallStackMoment *moment);
void switches_mark(void *hart, const CallStackMoment *when,
                   const MomentMark *mark);
void switches_end(void *hart, const CallStackMoment *when);

/* When all harts have ended. Returns how many switches between tasks. */
uint64_t switches_write(const Switches *s, FILE *f);

#endif /* ETRACE_SWITCHES_H */
