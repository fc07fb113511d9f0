/*
 * Timelines: what timeline.c and timeline-file.c share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_TIMELINE_PRIVATE_H
#define ETRACE_TIMELINE_PRIVATE_H

#include "views/time/timeline.h"

/* What a name or a category stands for; numbered apart from each other */
typedef enum NameSpace {
    NAME_FRAME,                 /* of the profile */
    NAME_TASK,                  /* by its number */
    NAME_PRIV,
    NAME_LOSS,
    NAME_CATEGORY,              /* one of TIMELINE_CATEGORIES */
    NAME_OBJECT,                /* by its number; a category, too */
} NameSpace;

typedef enum TimelineCategory {
    CATEGORY_USER,
    CATEGORY_SUPERVISOR,
    CATEGORY_MACHINE,
    CATEGORY_GUEST,
    CATEGORY_IRQ,
    CATEGORY_SYSCALL,
    CATEGORY_PAGE_FAULT,
    CATEGORY_EXCEPTION,
    CATEGORY_TASK,
    CATEGORY_IDLE,
    CATEGORY_PRIVILEGE,
    CATEGORY_LOSS,
} TimelineCategory;

/* A name in a hart's packets, and its text */
typedef struct TimelineName {
    NameSpace space;
    unsigned number;
    const char *text;
} TimelineName;

/* What an event's packet says */
typedef struct TimelineEvent {
    unsigned type;              /* TrackEvent.Type */
    uint64_t track;             /* TrackDescriptor.uuid */
    uint64_t time;
    /* not for ends */
    TimelineName name;
    TimelineCategory category;
    const Object *object;       /* or NULL */
} TimelineEvent;

/* TrackEvent.Type */
enum { EVENT_BEGIN = 1, EVENT_END = 2, EVENT_INSTANT = 3 };

struct TimelineHart {
    Timeline *timeline;
    unsigned hart;
    const Profile *profile;
    /* Frames of the call stack, from the profile's root on: by their depth */
    GArray *open;               /* OpenSpan */
    unsigned written;           /* of those, from the outermost one on */
    bool running;               /* there has been a moment */
    const Task *task;           /* who runs; NULL: nobody that is known */
    uint64_t task_since;        /* time */
    uint8_t priv;
    uint64_t priv_since;

    /* timeline-file.c */
    FILE *f;
    GByteArray *packet;
    GHashTable *names;          /* NameSpace and number -> interning ID */
    GHashTable *tasks;          /* Task that has spans -> uint64_t: the last */
};

struct Timeline {
    TimelineOptions options;
    char *title;
    GPtrArray *harts;           /* TimelineHart */
};

/* A temporary file for @h; see timeline_hart() */
bool timeline_file_open(TimelineHart *h, GError **errp);
void timeline_file_close(TimelineHart *h);

void timeline_put(TimelineHart *h, const TimelineEvent *event);

/* Tracks of a hart: what it ran, and at which level; what it did for @task */
uint64_t timeline_run_track(const TimelineHart *h);
uint64_t timeline_priv_track(const TimelineHart *h);
uint64_t timeline_task_track(const TimelineHart *h, const Task *task);

/* Linux' idle tasks are those with the number 0. */
static inline bool timeline_is_idle(const Task *task)
{
    return task_is_known(task) && !task->tid;
}

#endif /* ETRACE_TIMELINE_PRIVATE_H */
