/*
 * Which files are read, and which are written: none may be both
 *
 * Files are compared by device and inode, so a file is recognised under any
 * name: through a link, another spelling of its path, or a redirection.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_FILE_ROLE_H
#define ETRACE_FILE_ROLE_H

#include <stdbool.h>
#include <sys/types.h>
#include <glib.h>

/*
 * @fd, which is @path, is going to be read. Returns false and sets @errp if it
 * is standard output, or a file that is being written. Any thread may ask.
 */
bool file_role_read(int fd, const char *path, GError **errp);

/*
 * @path, a regular file or none yet, is going to be replaced. Returns false
 * and sets @errp if it is read, or is an output already; else the caller says
 * file_role_written() when that is over.
 */
bool file_role_write(const char *path, GError **errp);
void file_role_written(const char *path);

/*
 * Against other programs: lock the file @path, which need not be there yet, for
 * writing. Returns a descriptor that programs that are started inherit: it is
 * locked until all have closed it. Returns -1 if it is not locked: @errp is set
 * if another program holds the lock, and not set if there is nothing to lock:
 * a pipe, a file that cannot be written, or a file system without locks.
 */
int file_role_lock(const char *path, GError **errp);

#endif /* ETRACE_FILE_ROLE_H */
