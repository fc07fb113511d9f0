/*
 * The kernel's modules among the files that may have run
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SYSROOT_MODULES_H
#define ETRACE_SYSROOT_MODULES_H

#include "names/names.h"

typedef struct ModuleFiles ModuleFiles;

ModuleFiles *module_files_new(void);
void module_files_free(ModuleFiles *files);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ModuleFiles, module_files_free)

/*
 * If the file is called as modules are, add it, to be tried when all others
 * have been, and return true. @path: as the guest knows it; @file: here.
 */
bool module_files_add(ModuleFiles *files, const char *path, const char *file,
                      const struct stat *st);

/*
 * Look for code of these files in what ran, if some of the kernel's code is in
 * no other file, or for those alone that the guest said it had loaded. If they
 * are many, their code is kept beside the folder @root, see module-cache.h, and
 * taken from there when the files are the same.
 */
void module_files_try(const ModuleFiles *files, Names *names,
                      const char *root);

/* So many modules are many. Tests set less. */
extern unsigned module_files_many;

#endif /* ETRACE_SYSROOT_MODULES_H */
