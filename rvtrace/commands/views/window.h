/*
 * rvtrace: --window, a part of a run in front of an event or behind it
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_WINDOW_H
#define ETRACE_WINDOW_H

#include "commands/cli/cli.h"

/*
 * If @ct has a window, look for its event in @t, and have job.selection be what
 * is around it: if its length is a time, the same time of all harts, which
 * begins or ends on the hart of the event exactly there; if it is a number of
 * instructions, that hart alone. Prints where it is. Prints what is wrong and
 * returns false if it is not there.
 */
bool window_find(CliTrace *ct, Trace *t);

#endif /* ETRACE_WINDOW_H */
