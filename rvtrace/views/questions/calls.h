/*
 * Calls: each call of some functions, or who called them how often
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_CALLS_H
#define ETRACE_CALLS_H

#include "views/questions/follow.h"
#include "views/report/table.h"

/* Calls of a hart that are listed, and pairs of functions, at most */
#define CALLS_MAX_ROWS  (1u << 20)
#define CALLS_MAX_PAIRS (1u << 18)

typedef struct CallsOptions {
    /* Globs, or NULL: as linkers know a function will do for sym */
    const char *comm, *dso, *sym;
    bool by_caller;             /* sums by caller, in place of each call */
    unsigned max_rows;          /* 0: as many as there is room for */
    bool virtual_time;          /* moments are in ns of it, or instructions */
    TableFormat format;
} CallsOptions;

/* Of a trace, and of one of its harts */
typedef struct Calls Calls;
typedef struct CallsHart CallsHart;

/* The strings of @options must live as long. */
Calls *calls_new(const CallsOptions *options);
void calls_free(Calls *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Calls, calls_free)

/*
 * What hart number @hart calls. @profile and @tasks must live as long as @c,
 * which the result belongs to.
 */
CallsHart *calls_hart(Calls *c, unsigned hart, const Profile *profile,
                      const TaskTable *tasks);

/* For Watcher: @hart is a CallsHart. */
void calls_moment(void *hart, const CallStackMoment *moment);
void calls_mark(void *hart, const CallStackMoment *when,
                const MomentMark *mark);
void calls_end(void *hart, const CallStackMoment *when);

/* When all harts have ended. Returns how many calls there were. */
uint64_t calls_write(const Calls *c, FILE *f);

#endif /* ETRACE_CALLS_H */
