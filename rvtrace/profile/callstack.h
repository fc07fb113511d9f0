/*
 * Call stacks from an instruction flow
 *
 * Programs do not always return from what they call: there are tail calls,
 * longjmp, exceptions and switches of stacks. A stack is therefore a belief
 * that is corrected as soon as the program shows it to be wrong, and never
 * more than that.
 *
 * A hart has a stack for each privilege level, and one for each user address
 * space. A trap into another privilege level starts a stack that hangs below
 * the one that was interrupted; a trap into the same level is a frame like a
 * call, which its xRET removes. Where a return or an xRET does not fit, another
 * stack has been switched to: those are kept, too, and found again by what they
 * return to, or by where they were interrupted. A known task that goes on
 * elsewhere than where it was interrupted handles a signal.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_CALLSTACK_H
#define ETRACE_CALLSTACK_H

#include "flow/flow.h"
#include "profile/profile.h"
#include "profile/task.h"

typedef struct CallStack CallStack;

/* What there is a node for between the top and the outermost function */
typedef enum CallStackLayer {
    CALLSTACK_LAYER_COMM,       /* the task's name */
    CALLSTACK_LAYER_PROCESS,    /* ... and the number of its process */
    CALLSTACK_LAYER_THREAD,     /* ... and its own */
    CALLSTACK_LAYER_PRIV,       /* the privilege level */
    CALLSTACK_NR_LAYERS,
} CallStackLayer;

/*
 * The innermost function, or who runs, is another one from here on. The path
 * from the profile's root to @node is the whole call stack; what differs from
 * that of the moment before has been entered and left. (A function that
 * returns and is called again is left in between, since its caller runs. The
 * handler of a trap begins with a moment, though the same one may have returned
 * right before it.)
 */
typedef struct CallStackMoment {
    /* of the hart, that retired before and were selected */
    uint64_t insns;
    /*
     * What the clock showed, ns, if something that knows it stands between;
     * else the same as insns
     */
    uint64_t time;
    /*
     * As insns, but with those that were not selected, if something that knows
     * them stands between: what --from and --to count
     */
    uint64_t place;
    unsigned node;              /* of the profile */
    const Task *task;           /* NULL: not known */
    uint8_t priv;               /* ETracePriv */
    /* The innermost function's first instruction is next. */
    bool begins;
} CallStackMoment;

/* Where in the trace something happens */
typedef struct CallStackSite {
    Image *image;               /* the decoder's; see names_find() */
    /* trace_decoder_space() of the run's or the trap's privilege level */
    unsigned space;
    const Task *task;           /* who runs; NULL: not known */
} CallStackSite;

typedef struct CallStackOptions {
    const Names *names;         /* not ours */
    /* The outermost one first; programs may share one, their stacks never */
    CallStackLayer layers[CALLSTACK_NR_LAYERS];
    unsigned nr_layers;
    /*
     * Called with @opaque whenever it is so; may be NULL. Rounds of loops that
     * callstack_repeat() adds have no moments of their own.
     */
    void (*moment)(void *opaque, const CallStackMoment *moment);
    /*
     * Called with @opaque where the handler of a trap or of a signal begins, at
     * @pc and privilege level @priv: no jump leads there. May be NULL.
     */
    void (*handler)(void *opaque, uint64_t pc, unsigned priv,
                    const CallStackSite *site);
    void *opaque;
} CallStackOptions;

/*
 * @top is the node of @profile below which everything goes. @profile must
 * live as long as the stack.
 */
CallStack *callstack_new(Profile *profile, unsigned top,
                         const CallStackOptions *options);
void callstack_free(CallStack *cs);

/*
 * What happens, in order. The @n runs of callstack_runs() are all of one
 * privilege level.
 */
void callstack_runs(CallStack *cs, const FlowRun *runs, unsigned n,
                    const CallStackSite *site);
void callstack_run(CallStack *cs, const FlowRun *run,
                   const CallStackSite *site);
void callstack_trap(CallStack *cs, const FlowTrap *trap,
                    const CallStackSite *site);

/*
 * A round of a loop begins; it was gone round @times times more, each like what
 * was run since. callstack_can_repeat() has to say before that reporting round
 * by round would give the same result.
 */
void callstack_mark(CallStack *cs);
bool callstack_can_repeat(const CallStack *cs);
void callstack_repeat(CallStack *cs, uint64_t times);

/*
 * What happens from here on is only followed, if not @selected: it is not
 * counted and has no moments, and their clock stands still.
 */
void callstack_select(CallStack *cs, bool selected);

/* A function that is on the call stack */
typedef struct CallStackCaller {
    uint64_t pc;                /* where it goes on */
    uint8_t priv;               /* ETracePriv */
    /* A trap or a signal interrupted it there: it has called nothing. */
    bool interrupted;
    unsigned trap;              /* the trap's node of the profile; 0: none */
} CallStackCaller;

/*
 * Who waits for the innermost function to return, the innermost one first, and
 * across privilege levels what traps interrupted; the first @most of them are
 * put into @callers. Functions that were there before the trace began, and where
 * it is not known where they go on, are left out. If a task was interrupted, and
 * *@task is NULL, that task is put there. Returns how many there are in all.
 */
unsigned callstack_callers(const CallStack *cs, CallStackCaller *callers,
                           unsigned most, const Task **task);

/*
 * What runs from here on is not traced, by a filter; what happens next is where
 * it is again. If @fenced, the trace is interrupted for the sideband's sake:
 * most likely, nothing has run in between.
 */
void callstack_gap(CallStack *cs, bool fenced);

/*
 * The task @tid comes from another hart: what it left here before is no longer
 * so. callstack_load_task() has what it has brought.
 */
void callstack_drop_task(CallStack *cs, uint32_t tid);

/* Something was lost: no stack can be believed any more. */
void callstack_lost(CallStack *cs);

#endif /* ETRACE_CALLSTACK_H */
