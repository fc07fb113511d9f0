/*
 * Calls and traps of a hart, from the moments of its call stacks
 *
 * A moment says what the call stack is. What has begun and ended since the one
 * before follows from both, for each task by itself: a function that waits
 * while another task runs has not returned. Where there are no tasks, stacks
 * that have been switched away from are remembered by where they are.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_FOLLOW_H
#define ETRACE_FOLLOW_H

#include "views/questions/syscalls.h"
#include "views/time/moment-clock.h"

/* Stacks that wait without a task: frames that are remembered, at most */
#define FOLLOW_SUSPENDED    65536

/* Traps at one place whose handlers have not begun: the last ones are known. */
#define FOLLOW_TRAPS        8

/* When it was: behind so many instructions of the hart, and at a time */
typedef struct Place {
    uint64_t insns;             /* as --from and --to count them */
    uint64_t time;              /* as that of moments */
} Place;

/* What a frame of the call stack is there for */
typedef enum CallKind {
    CALL_FUNCTION,
    CALL_INTERRUPT,
    CALL_SYSCALL,               /* ecall of U or VU mode */
    CALL_PAGE_FAULT,
    CALL_EXCEPTION,             /* any other one */
} CallKind;

/* Of a trap: its cause is not known */
#define CAUSE_UNKNOWN   UINT_MAX

/* What a trap is, as far as the trace says it */
typedef struct TrapKind {
    unsigned cause;             /* MomentMark's number; CAUSE_UNKNOWN */
    unsigned syscall;           /* its number; SYSCALL_UNKNOWN */
} TrapKind;

/* A call or a trap that has not ended */
typedef struct OpenCall {
    unsigned node, frame;       /* of the profile */
    CallKind kind;
    TrapKind trap;              /* if it is one */
    bool began;                 /* its beginning was seen: from is right */
    bool handled;               /* an interrupt that has ended by a switch */
    unsigned number, name;      /* the consumer's; 0 at first */
    Place from;
    Place away;                 /* that other tasks had had by then */
} OpenCall;

typedef enum CallEnd {
    CALL_RETURNED,
    CALL_SWITCHED,              /* an interrupt: another task runs */
    CALL_UNSEEN,                /* the trace ends, or something was lost */
} CallEnd;

/* How it went; what has not been seen to begin has no end either. */
typedef struct EndedCall {
    const OpenCall *call;
    const Task *task;           /* TASK_NONE's: not known */
    Place to;
    Place away;                 /* of the time in between: other tasks' */
    CallEnd end;
} EndedCall;

/* A trap that is over, and whose handler is not traced */
typedef struct PassedTrap {
    TrapKind trap;
    const Task *task;           /* TASK_NONE's: not known */
    Place from, to;             /* where the program goes on */
    bool returned;              /* false: the thread has ended there */
} PassedTrap;

/*
 * @calls: the @n that are open on the stack of @task, the outermost one first;
 * valid during the call. Each may be NULL.
 */
typedef struct FollowOps {
    /* The last one begins. */
    void (*begin)(void *opaque, OpenCall *calls, unsigned n, const Task *task);
    /* One ends whose beginning was seen, innermost ones first. */
    void (*end)(void *opaque, const EndedCall *ended);
    /* @task, whose calls these are, runs no longer, but @next does. */
    void (*leave)(void *opaque, OpenCall *calls, unsigned n, const Task *task,
                  const Task *next, const Place *at);
    /* The handler of a trap was not seen, but what it hit goes on. */
    void (*passed)(void *opaque, const PassedTrap *passed);
} FollowOps;

typedef struct Follower Follower;

/*
 * @profile has the nodes of moments, @tasks who it is if that is not known;
 * they and @ops must live as long as what is returned.
 */
Follower *follow_new(const Profile *profile, const TaskTable *tasks,
                     const FollowOps *ops, void *opaque);
void follow_free(Follower *f);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Follower, follow_free)

/*
 * What a watcher is told, in order; see Watcher. follow_taken() is for its
 * trap(): without that, no system call has a number.
 */
void follow_taken(Follower *f, const FlowTrap *trap, const CallStackSite *site);
void follow_moment(Follower *f, const CallStackMoment *moment);
void follow_mark(Follower *f, const CallStackMoment *when,
                 const MomentMark *mark);

/* The trace ends @when: so does everything else. */
void follow_end(Follower *f, const CallStackMoment *when);

/* The *@n calls that are open now, the outermost one first; until it goes on */
const OpenCall *follow_open(const Follower *f, unsigned *n);

/* The innermost call of @calls, of @n, that is a trap; NULL: there is none */
OpenCall *follow_trap(OpenCall *calls, unsigned n);

/* Is @text like @glob? If that is NULL, it is. */
bool text_is_like(const char *text, const char *glob);

/*
 * Has @frame a name like @sym, as it is shown or as linkers know it, and is it
 * of an object with a name like @dso? Either may be NULL.
 */
bool frame_is_like(const ProfileFrame *frame, const char *sym,
                   const char *dso);

/* How many calls were forgotten, because too many stacks were waiting */
uint64_t follow_dropped(const Follower *f);

#endif /* ETRACE_FOLLOW_H */
