/*
 * Instruction flow: the lines in the middle of a walk
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_FLOW_HURRY_H
#define ETRACE_FLOW_HURRY_H

#include "flow/flow-line.h"

/*
 * Lines that nothing can happen in: more branches are left than one, so that
 * the walk does not end. This is most of what a walk does, and does the same
 * as walk_lines(), which is left what does not fit. The state that each line
 * changes is in local variables, for speed.
 */
void flow_walk_hurry(Walk *w);

#endif /* ETRACE_FLOW_HURRY_H */
