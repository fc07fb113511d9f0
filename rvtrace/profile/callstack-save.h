/*
 * Call stacks: all that is believed at a place of the trace, as bytes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_CALLSTACK_SAVE_H
#define ETRACE_CALLSTACK_SAVE_H

#include "profile/callstack.h"
#include "profile/stack-pool.h"
#include "profile/stack-tree.h"

/*
 * Append to @out what callstack_load() needs to go on from here. Nodes and
 * tasks go to @tree, whose profile is that of @cs, which has all layers
 * (stack_tree_layers()); each stack to @pool: most of them are the same as the
 * last time. Returns false, and leaves @out alone, between a trap and its
 * handler, and where nothing ran yet.
 */
bool callstack_save(const CallStack *cs, TreeWriter *tree, StackPool *pool,
                    GByteArray *out);

/*
 * Go on from there: @cs is new, @tree bound to its profile and layers, and
 * @pieces what stack_pool_get() read. Returns false if it makes no sense.
 */
bool callstack_load(CallStack *cs, TreeReader *tree, const GArray *pieces,
                    ByteReader *in);

/*
 * The same of what the task @tid has, alone. Returns false, and leaves @out
 * alone, if it has nothing here, or has too deep a stack.
 */
bool callstack_save_task(const CallStack *cs, uint32_t tid, TreeWriter *tree,
                         StackPool *pool, GByteArray *out);

/*
 * Read what callstack_save_task() wrote: from here on, the task @tid has these
 * stacks and no others. Returns false if some of it makes no sense; what came
 * before that is loaded.
 */
bool callstack_load_task(CallStack *cs, uint32_t tid, TreeReader *tree,
                         const GArray *pieces, ByteReader *in);

#endif /* ETRACE_CALLSTACK_SAVE_H */
