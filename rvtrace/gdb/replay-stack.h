/*
 * Replay: call stacks
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_GDB_REPLAY_STACK_H
#define ETRACE_GDB_REPLAY_STACK_H

#include "gdb/replay.h"
#include "profile/task.h"

/* A function on the call stack */
typedef struct ReplayFrame {
    uint64_t pc;                /* that it executes, or where it goes on */
    uint8_t priv;               /* ETracePriv */
    /* It has not called the function inside: a trap or a signal came there. */
    bool interrupted;
    const char *trap;           /* ... this trap; NULL: none, or not known */
    const Object *object;       /* what the code belongs to */
    const Symbol *symbol;       /* the object's; NULL: it has none there */
    uint64_t bias;              /* object address = pc - bias */
} ReplayFrame;

typedef struct ReplayStacks ReplayStacks;

/*
 * The call stacks of @r, whose length and points must be known. What @names
 * says decides where functions begin. @index, which may be NULL, is the index
 * that replay_take_index() has taken, if it was made with the same names. All
 * of them must live as long.
 */
ReplayStacks *replay_stacks_new(Replay *r, const Names *names,
                                TaskTable *tasks, const IndexHart *index);
void replay_stacks_free(ReplayStacks *s);

/*
 * @wait is told from here on how far replay_stack() has come, and may end it:
 * then its answer is NULL, and the same question goes on later where it was. It
 * must live as long as @s.
 */
void replay_stacks_set_wait(ReplayStacks *s, const ReplayWait *wait);

/*
 * The call stack at instruction @i, less than the length, as an array of
 * ReplayFrame with at least one element, the innermost function first. Of
 * functions that were there before the trace began, and where it is not known
 * where they go on, nothing is said; and no more than REPLAY_MAX_FRAMES are
 * there: *@depth says how many there would be. Valid until another stack is
 * asked for. NULL if it cannot be decoded, see replay_insn(). Takes as long as
 * decoding what lies between places that were asked for before and @i.
 */
const GArray *replay_stack(ReplayStacks *s, uint64_t i, unsigned *depth);

#define REPLAY_MAX_FRAMES   4096

#endif /* ETRACE_GDB_REPLAY_STACK_H */
