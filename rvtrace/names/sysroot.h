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
 * folder. Modules come last, and only if they are needed. Returns false and
 * sets @errp if @root cannot be read.
 */
bool sysroot_scan(Names *names, const char *root, GError **errp);

/*
 * The ELF files, as far as they are there, that a firmware @path, NAME.bin, may
 * be made of: NAME.elf beside it, or in sysroot/boot/ there, where `make demo`
 * has it. If @path is a link, they may also be beside the file it leads to.
 * Their paths are added to @files, as new strings, unless they are there.
 */
void firmware_elfs(GPtrArray *files, const char *path);

/*
 * Likewise those of QEMU's default, where it is installed or built together
 * with @program, a path; links are followed.
 */
void firmware_default_elfs(GPtrArray *files, const char *program);

#endif /* ETRACE_SYSROOT_H */
