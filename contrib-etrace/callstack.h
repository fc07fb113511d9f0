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
 * call, which its xRET removes. Where a return does not fit, another stack has
 * been switched to: those are kept, too, and found again by what they return
 * to.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_CALLSTACK_H
#define ETRACE_CALLSTACK_H

#include "flow.h"
#include "profile.h"

typedef struct CallStack CallStack;

/*
 * @top is the node of @profile below which everything goes. @profile must
 * live as long as the stack. Programs are told apart by their address spaces,
 * unless @merge_spaces; their stacks always are.
 */
CallStack *callstack_new(Profile *profile, unsigned top, bool merge_spaces);
void callstack_free(CallStack *cs);

/*
 * What happens, in order. @space is that of run->priv, or of trap->priv. The
 * @n runs of callstack_runs() are all of one privilege level.
 */
void callstack_runs(CallStack *cs, const FlowRun *runs, unsigned n,
                    unsigned space);
void callstack_run(CallStack *cs, const FlowRun *run, unsigned space);
void callstack_trap(CallStack *cs, const FlowTrap *trap, unsigned space);

/*
 * A round of a loop begins; it was gone round @times times more, each like what
 * was run since. Returns false if that would not be the same as being told.
 */
void callstack_mark(CallStack *cs);
bool callstack_repeat(CallStack *cs, uint64_t times);

/* Something was lost: no stack can be believed any more. */
void callstack_lost(CallStack *cs);

#endif /* ETRACE_CALLSTACK_H */
