/*
 * Instruction flow: paths that are known
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_FLOW_ALONG_H
#define ETRACE_FLOW_ALONG_H

#include "flow/flow-private.h"

/*
 * Paths are kept where all branches are reported one by one, and nothing but
 * these decides about the way: no stack. Where a predictor learns, or a stack
 * is there, only short ones are, of which the same come again.
 */
bool flow_may_keep(const Flow *f, const Goal *g);

/*
 * Go along a path that is known. Returns WALK_ERROR, and has done nothing, if
 * there is none, or if it is not quite what the packet says.
 */
WalkResult flow_walk_path(Flow *f, const Goal *g);

/* The packet says where the jump that was reported last led. */
WalkResult flow_arrive(Flow *f, const Goal *g);

#endif /* ETRACE_FLOW_ALONG_H */
