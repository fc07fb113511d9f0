/*
 * Debug info of functions that is in files of its own: gcc -gsplit-dwarf
 *
 * The linked file has "skeletons" of compilation units, which say what other
 * file has the unit: a .dwo file, or one of the same name in FILE.dwp, a
 * package of all of them. Addresses of both are in the linked file.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_DEBUG_SPLIT_H
#define ETRACE_DEBUG_SPLIT_H

#include <elfutils/libdw.h>
#include <glib.h>

typedef struct DebugSplit DebugSplit;

/*
 * For the skeletons of the file @path. Its units are looked for in the package
 * beside it, then in .dwo files: in the folder of @path; where the skeleton
 * says, below each of @sysroots (may be NULL); and where it says on this
 * machine, if that is in a folder above @path, as where programs are built.
 */
DebugSplit *debug_split_new(const char *path, char **sysroots);
/* To be called before the skeletons' Dwarf is ended. */
void debug_split_free(DebugSplit *split);

/*
 * Is @die, of a compilation unit, a skeleton? If so it is remembered, under the
 * number *@index, and *@missing is set to the name of the file that has its
 * functions if that is not there, else NULL.
 */
bool debug_split_add(DebugSplit *split, Dwarf_Die *die, unsigned *index,
                     const char **missing);

/*
 * Set *@die to the unit that belongs to skeleton number @index. To be called
 * when all have been added. @elf is the file that has them. Returns false if
 * the unit is missing, or comes from another build.
 */
bool debug_split_find(DebugSplit *split, Elf *elf, unsigned index,
                      Dwarf_Die *die);

#endif /* ETRACE_DEBUG_SPLIT_H */
