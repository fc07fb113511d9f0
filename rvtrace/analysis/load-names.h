/*
 * rvtrace: the names of what ran, from its files and from what the guest said
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_LOAD_NAMES_H
#define ETRACE_LOAD_NAMES_H

#include "analysis/cli.h"
#include "names/names.h"

/*
 * Fill @table with the ELF files of @ct, the kernel's symbols and what ran of
 * @t, as ct->names says; prints what is wrong and returns NULL.
 */
Names *load_names(const CliTrace *ct, const Trace *t, ObjectTable *table);

#endif /* ETRACE_LOAD_NAMES_H */
