/*
 * script: samples as text
 *
 * What perf script writes of the perf.data with the same samples, for tools
 * that read that.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_SCRIPT_H
#define ETRACE_VIEWS_SCRIPT_H

#include "views/perf/spool.h"

/* As perf_data_write(); @event is what the samples are of. */
bool script_write(Spool **spools, unsigned n, const ObjectTable *objects,
                  const TaskTable *tasks, const char *event, FILE *f,
                  GError **errp);

#endif /* ETRACE_VIEWS_SCRIPT_H */
