/*
 * Lines of source files
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_SOURCE_H
#define ETRACE_SOURCE_H

#include <glib.h>

typedef struct SourceTree SourceTree;

/*
 * Where source files are: @prefixes, NULL or a list that ends with NULL, has
 * "OLD=NEW", for what begins with OLD and is below NEW here, or an absolute
 * path, which is both; of several that fit, the last one counts. A file is
 * looked for there, then below each of @sysroots (may be NULL), and nowhere
 * else: its name is that of an ELF file that somebody may have sent, and could
 * be that of any file of this machine. Returns NULL and sets @errp if one of
 * @prefixes is neither.
 */
SourceTree *source_tree_new(char **prefixes, char **sysroots, GError **errp);
void source_tree_free(SourceTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SourceTree, source_tree_free)

/*
 * Line @line, counted from 1, of the file that DWARF calls @file, without its
 * end. NULL if there is no such file or line, or if the file is not text of
 * less than 64 MiB. The string belongs to @tree.
 */
const char *source_line(SourceTree *tree, const char *file, unsigned line);

/* How many lines the file has; 0 if source_line() has none. */
unsigned source_nr_lines(SourceTree *tree, const char *file);

/* Where the file was found, or NULL. The string belongs to @tree. */
const char *source_path(SourceTree *tree, const char *file);

#endif /* ETRACE_SOURCE_H */
