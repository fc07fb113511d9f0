/*
 * Faults: which exceptions were taken, by cause, place and task
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_FAULTS_H
#define ETRACE_FAULTS_H

#include "views/questions/follow.h"
#include "views/report/table.h"

/* Rows of a hart at most; and so many in a row are a storm. */
#define FAULTS_MAX_ROWS 65536
#define FAULTS_STORM    100

typedef struct FaultsOptions {
    /* Globs, or NULL: of the task, and of the function that was interrupted */
    const char *comm, *dso, *sym;
    unsigned max_rows;          /* 0: all */
    TableFormat format;
} FaultsOptions;

/* Of a trace, and of one of its harts */
typedef struct Faults Faults;
typedef struct FaultsHart FaultsHart;

/* The strings of @options must live as long. */
Faults *faults_new(const FaultsOptions *options);
void faults_free(Faults *f);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Faults, faults_free)

/*
 * What hart number @hart takes; @names and @tasks must live as long as @f,
 * which the result belongs to.
 */
FaultsHart *faults_hart(Faults *f, unsigned hart, const Names *names,
                        const TaskTable *tasks);

/* For Watcher: @hart is a FaultsHart. */
void faults_trap(void *hart, uint64_t place, const FlowTrap *trap,
                 const CallStackSite *site);

/* When all harts have ended. Returns how many exceptions there were. */
uint64_t faults_write(const Faults *f, FILE *out);

#endif /* ETRACE_FAULTS_H */
