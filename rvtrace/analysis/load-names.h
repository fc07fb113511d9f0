/*
 * rvtrace: load the names of functions: of ELF files, and those the guest sent
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_LOAD_NAMES_H
#define ETRACE_LOAD_NAMES_H

#include "analysis/job.h"
#include "names/names.h"

/*
 * Fill @table with the ELF files of @job, the kernel's symbols and what ran of
 * @t, as job->names says; prints what is wrong and returns NULL.
 */
Names *load_names(const Job *job, const Trace *t, ObjectTable *table);

#endif /* ETRACE_LOAD_NAMES_H */
