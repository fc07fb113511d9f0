/*
 * Samples in the place of a trace
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SAMPLES_OPEN_H
#define ETRACE_SAMPLES_OPEN_H

#include "trace/trace.h"

/*
 * If @path is a perf.data file with branch stacks: those, as an entry without
 * a trace. *@is is set if it is one. Returns NULL and sets @errp if it is
 * damaged; NULL without it if *@is is not set.
 */
Trace *samples_open(const char *path, const InsnIsa *isa, bool *is,
                    GError **errp);

#endif /* ETRACE_SAMPLES_OPEN_H */
