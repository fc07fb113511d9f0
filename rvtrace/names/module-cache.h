/*
 * Code of the kernel's modules, in a file beside the folder that has them
 *
 * Distributions have thousands of modules, packed: to unpack them all takes ten
 * times as long as to search their code, of which there is little. So that is
 * kept unpacked. A module of which something ran is read from its own file.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_MODULE_CACHE_H
#define ETRACE_MODULE_CACHE_H

#include <sys/stat.h>
#include "names/object.h"

/* The file for the folder @root, which the caller frees */
char *module_cache_path(const char *root);

typedef struct ModuleCache ModuleCache;

/* What was written to @path; NULL: there is none, or it makes no sense. */
ModuleCache *module_cache_open(const char *path);
void module_cache_free(ModuleCache *cache);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ModuleCache, module_cache_free)

/* Does it have the file @path of the folder, as @st says that it is now? */
bool module_cache_has(const ModuleCache *cache, const char *path,
                      const struct stat *st);

/*
 * A new object of @table with the code of that file, @file here, and the mark
 * Object.brief. Returns NULL if the file is none of a module, or not there.
 */
Object *module_cache_load(const ModuleCache *cache, ObjectTable *table,
                          const char *path, const char *file);

/* What has been loaded up to @path need not be in memory for now. */
void module_cache_let_go(ModuleCache *cache, const char *path);

typedef struct ModuleCacheWriter ModuleCacheWriter;

/* Begin to write @path; NULL, with @errp set: that cannot be. */
ModuleCacheWriter *module_cache_writer_new(const char *path, GError **errp);

/* One more file; @o: its code, or NULL if it is none of a module */
void module_cache_add(ModuleCacheWriter *w, const char *path,
                      const struct stat *st, const Object *o);

/* All is there. Returns false and sets @errp if it cannot be; frees @w. */
bool module_cache_commit(ModuleCacheWriter *w, GError **errp);

#endif /* ETRACE_MODULE_CACHE_H */
