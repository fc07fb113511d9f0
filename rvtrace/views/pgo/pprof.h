/*
 * pprof: a call tree as profile.proto
 *
 * For 'go tool pprof', and whatever else reads it. Each sample is a call stack
 * with the number of instructions that were executed in its innermost frame.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_PPROF_H
#define ETRACE_VIEWS_PPROF_H

#include "profile/profile.h"

/* Of a stack that has more, the outermost frames are left out. */
#define PPROF_MAX_DEPTH 1024

/*
 * Compressed, as pprof writes it. Addresses are those of the objects. @by_time:
 * weights are ns and not instructions. Returns false and sets @errp if it
 * cannot be written.
 */
bool pprof_write(const Profile *p, const ObjectTable *objects, bool by_time,
                 FILE *f, GError **errp);

#endif /* ETRACE_VIEWS_PPROF_H */
