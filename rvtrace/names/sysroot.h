/*
 * The files that may have run: a folder with a copy of the guest's
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SYSROOT_H
#define ETRACE_SYSROOT_H

#include "names/names.h"

/*
 * Look for code that ran in every file below @root: RISC-V ELF files of any
 * sort, flat Images of the kernel, either of them packed or not. What was
 * found is added to the objects of @names. @root may be a file, too. Links are
 * not followed: they lead to files that are there anyway, or out of the
 * folder. Returns false and sets @errp if @root cannot be read.
 */
bool sysroot_scan(Names *names, const char *root, GError **errp);

#endif /* ETRACE_SYSROOT_H */
