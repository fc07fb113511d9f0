/*
 * Packages of split debug info: what dwp makes of many .dwo files
 *
 * DWARF 5, 7.3.5, has the format; that of GNU, for DWARF 4, differs little.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_DWP_H
#define ETRACE_DWP_H

#include "elf/elf-file.h"

typedef struct Dwp Dwp;

/* The package @path; NULL: there is none that can be read. */
Dwp *dwp_open(const char *path);
void dwp_free(Dwp *dwp);

/* Has it a unit with this id? */
bool dwp_has(const Dwp *dwp, uint64_t id);

/*
 * The unit with this id, as the .dwo file that it was; a new reference. NULL if
 * there is none, or if it is damaged, or if all that have been made are larger
 * than ELF_WRITE_MAX.
 */
GBytes *dwp_unit(Dwp *dwp, uint64_t id);

#endif /* ETRACE_DWP_H */
