/*
 * Folders that views are: whole, or not there
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_VIEW_FOLDER_H
#define ETRACE_VIEWS_VIEW_FOLDER_H

#include <stdio.h>
#include <glib.h>

typedef struct ViewFolder ViewFolder;

/*
 * Make the folder @path, which may be there if it is empty. Returns NULL and
 * sets @errp if that cannot be done.
 */
ViewFolder *view_folder_new(const char *path, GError **errp);

/* Without view_folder_finish(), what was written to it is removed. */
void view_folder_free(ViewFolder *folder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ViewFolder, view_folder_free)

/*
 * fopen() of a file of it. NULL if that fails, or something has before:
 * view_folder_check() tells why.
 */
FILE *view_folder_open(ViewFolder *folder, const char *name, const char *mode);

/* fclose() of one, which notes whether all of it could be written */
void view_folder_close(ViewFolder *folder, FILE *f);

/* Returns false and sets @errp if something has failed. */
bool view_folder_check(const ViewFolder *folder, GError **errp);

/* The same; if nothing has, the folder stays. */
bool view_folder_finish(ViewFolder *folder, GError **errp);

#endif /* ETRACE_VIEWS_VIEW_FOLDER_H */
