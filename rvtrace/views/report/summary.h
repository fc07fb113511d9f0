/*
 * What a run was, in some ten lines for people
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SUMMARY_H
#define ETRACE_SUMMARY_H

#include <stdio.h>
#include "profile/counts.h"
#include "views/report/table.h"

/* What there is to say besides what ran */
typedef struct SummaryFacts {
    unsigned harts;             /* that have run */
    uint64_t insns;             /* all, selected or not */
    uint64_t exceptions, interrupts, losses;
    uint64_t ns;                /* of virtual time; 0: it is not known */
    unsigned max_functions;     /* that are listed */
    const TaskTable *tasks;
    /* uint64_t: selected instructions, by Task.id */
    const GArray *by_task;
    TableFormat format;         /* TSV: the functions */
} SummaryFacts;

/*
 * Write how much ran, the functions that ran most, which privilege levels and
 * tasks had which shares, how many traps there were, whether something was
 * lost, and what has no name, with the remedy. @counts has been sorted, and
 * need not tell tasks apart. As data, all functions, levels and tasks are there.
 */
void summary_write(const Counts *counts, const SummaryFacts *facts, FILE *f);

#endif /* ETRACE_SUMMARY_H */
