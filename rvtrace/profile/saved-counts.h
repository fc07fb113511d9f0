/*
 * Profiles and counts of a hart as bytes, to be added up
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SAVED_COUNTS_H
#define ETRACE_SAVED_COUNTS_H

#include "profile/counts.h"
#include "profile/stack-tree.h"

/*
 * Append all that @profile, which has all layers (stack_tree_layers()), and
 * @counts, which tells tasks apart, say.
 */
void saved_counts_put(const Profile *profile, const Counts *counts,
                      GByteArray *out);

/*
 * Add what saved_counts_put() wrote of @hart to @profile, with the layers of
 * @options, and to @counts; either may be NULL. Both have the same objects as
 * those that were written; tasks are interned in @tasks. Returns false, with
 * some of it added perhaps, if it makes no sense.
 */
bool saved_counts_get(ByteReader *in, unsigned hart, TaskTable *tasks,
                      const ObjectTable *objects, Profile *profile,
                      const CallStackOptions *options, Counts *counts);

#endif /* ETRACE_SAVED_COUNTS_H */
